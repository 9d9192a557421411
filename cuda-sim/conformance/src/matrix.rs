//! Matrix operations of a warp: every product in every shape, type and layout, and moves between shared memory and
//! lanes.
//!
//! Layouts and arithmetic are implemented here a second time, from the tables of the PTX manual and with integers.
//! NVIDIA's assembler, if it is installed, must accept every instance.

mod arithmetic;
mod layouts;
mod program;
mod rows;
mod wmma;

use crate::Expected;
use crate::assembler::{assemble, is_ptx};
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::{Instance, forms, instances};
use crate::random::Random;
use arithmetic::Kind;
use cuda_sim::ptx::{Modifier as M, Opcode, Type};
use cuda_sys::CUresult;
use layouts::Shape;
use std::fmt::Write;

/// The instructions that are tested here.
pub(crate) const COVERED: &[Opcode] =
    &[Opcode::Ldmatrix, Opcode::Mma, Opcode::Movmatrix, Opcode::Stmatrix, Opcode::Wmma];

const LANES: usize = 32;
/// The number of warps that test an instance, two in a block.
const WARPS: usize = 24;

/// A product to be tested.
struct Case<'a> {
    shape: Shape,
    kind: Kind<'a>,
    /// True for `A` and `B` that are column-major, in the four small products of `m8n8k4`.
    quads: Option<[bool; 2]>,
}

/// Returns the bits of the register that holds elements of a type, and the number of elements in it.
fn register(ty: Type) -> (u32, usize) {
    let bits = if ty.bits() == 64 { 64 } else { 32 };
    (bits, (bits / ty.bits()) as usize)
}

impl<'a> Case<'a> {
    fn of(i: &'a Instance) -> Case<'a> {
        let shape = i.modifiers.iter().find_map(|m| Shape::named(m.name())).expect("a shape");
        let [d, a, b, c] = i.types.as_slice() else { panic!("{} has four types", i.name()) };
        let layouts: Vec<bool> =
            i.modifiers.iter().filter(|m| matches!(m, M::Row | M::Col)).map(|m| *m == M::Col).collect();
        let small = *a == Type::F16 && shape.m == 8;
        let kind = Kind { a: *a, b: *b, c: *c, d: *d, modifiers: &i.modifiers };
        Case { shape, kind, quads: small.then(|| [layouts[0], layouts[1]]) }
    }

    /// Returns the types of `D`, `A`, `B` and `C`, and the number of registers of a lane for each.
    fn registers(&self) -> [(Type, usize); 4] {
        let (s, lanes) = (self.shape, if self.quads.is_some() { 8 } else { LANES });
        let count = |ty: Type, elements: usize| (ty, elements / lanes / register(ty).1);
        let k = &self.kind;
        [count(k.d, s.m * s.n), count(k.a, s.m * s.k), count(k.b, s.k * s.n), count(k.c, s.m * s.n)]
    }

    fn position(&self, matrix: usize, lane: usize, i: usize) -> (usize, usize) {
        match (matrix, self.quads) {
            (1, Some([a, _])) => layouts::quad_a(lane, i, a),
            (2, Some([_, b])) => layouts::quad_b(lane, i, b),
            (0, Some(_)) => layouts::quad_c(lane, i, self.kind.d),
            (_, Some(_)) => layouts::quad_c(lane, i, self.kind.c),
            (1, None) => layouts::a(self.shape, self.kind.a, lane, i),
            (2, None) => layouts::b(self.shape, self.kind.b, lane, i),
            _ => layouts::c(lane, i),
        }
    }
}

/// Returns a pseudo-random element, often an extreme value.
fn value(ty: Type, style: usize, random: &mut Random) -> u64 {
    let bits = random.next() >> 8;
    let mask = u64::MAX >> (64 - ty.bits());
    // Sign, a few exponents, fraction.
    let near = |exponent_bits: u32, fraction_bits: u32, middle: u64, spread: u64| {
        let exponent = middle + (bits >> 40) % spread;
        (bits & 1) << (exponent_bits + fraction_bits)
            | exponent << fraction_bits
            | (bits >> 3) & ((1 << fraction_bits) - 1)
    };
    match (ty, style % 6) {
        // Any bits, including infinities and NaNs.
        (_, 0) => random.next() & mask,
        // Mostly zeros.
        (_, 1) if !bits.is_multiple_of(8) => {
            if bits & 8 == 0 {
                0
            } else {
                (1 << (ty.bits() - 1)) & mask
            }
        }
        // Subnormal and small numbers.
        (Type::F16, 2) => near(5, 10, 0, 3),
        (Type::Bf16, 2) => near(8, 7, 60, 8),
        (Type::F32 | Type::Tf32, 2) => near(8, 23, 0, 100),
        (Type::F64, 2) => near(11, 52, 0, 600),
        // Exponents near each other, or over the whole range without specials.
        (Type::F16, s) => near(5, 10, if s == 3 { 14 } else { 0 }, if s == 3 { 3 } else { 31 }),
        (Type::Bf16, s) => near(8, 7, if s == 3 { 126 } else { 90 }, if s == 3 { 3 } else { 70 }),
        (Type::Tf32, s) => near(8, 23, if s == 3 { 126 } else { 90 }, if s == 3 { 3 } else { 70 }),
        (Type::F32, s) => near(8, 23, if s == 3 { 126 } else { 110 }, if s == 3 { 5 } else { 40 }),
        (Type::F64, s) => near(11, 52, if s == 3 { 1022 } else { 900 }, if s == 3 { 3 } else { 240 }),
        (Type::E4m3, s) => near(4, 3, if s == 3 { 4 } else { 0 }, if s == 3 { 10 } else { 15 }),
        (Type::E5m2, s) => near(5, 2, if s == 3 { 8 } else { 0 }, if s == 3 { 14 } else { 31 }),
        // Accumulators near the limits of their range.
        (Type::S32, 3) => (i64::from(i32::MAX) + (bits % 4000) as i64 - 2000) as u64 & mask,
        _ => bits & mask,
    }
}

/// Returns the registers of all lanes, as words in the order of the operands `A`, `B`, `C`.
fn inputs(case: &Case<'_>, style: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let fill = |ty: Type, random: &mut Random| {
        let (bits, count) = register(ty);
        (0..count).fold(0, |word, at| word | value(ty, style, random) << (bits / count as u32 * at as u32))
    };
    (0..LANES)
        .map(|_| {
            case.registers()[1..]
                .iter()
                .flat_map(|(ty, n)| (0..*n).map(|_| fill(*ty, random)).collect::<Vec<_>>())
                .collect()
        })
        .collect()
}

/// Returns a matrix from the lanes' fragments; `quad` selects one of four.
fn gather(case: &Case<'_>, lanes: &[Vec<u64>], matrix: usize, quad: usize) -> Vec<Vec<u64>> {
    let (s, all) = (case.shape, case.registers());
    let (rows, columns) = [(s.m, s.n), (s.m, s.k), (s.k, s.n), (s.m, s.n)][matrix];
    let start: usize = all[1..matrix].iter().map(|(_, n)| n).sum();
    let (ty, count) = all[matrix];
    let per = register(ty).1;
    let mut found = vec![vec![u64::MAX; columns]; rows];
    for lane in (0..LANES).filter(|lane| case.quads.is_none() || lane / 4 % 4 == quad) {
        for i in 0..count * per {
            let (row, column) = case.position(matrix, lane, i);
            let word = lanes[lane][start + i / per];
            found[row][column] = word >> (ty.bits() * (i % per) as u32) & (u64::MAX >> (64 - ty.bits()));
        }
    }
    found
}

/// Returns the instruction, with registers `%a0..`, `%b0..`, `%c0..` and `%d0..`.
fn product_text(i: &Instance, case: &Case<'_>) -> (String, String) {
    let names = ["%d", "%a", "%b", "%c"];
    let (mut declared, mut operands) = (String::new(), Vec::new());
    for (name, (ty, count)) in names.iter().zip(case.registers()) {
        let _ = write!(declared, ".reg .b{} {name}<{count}>; ", register(ty).0);
        let all: Vec<String> = (0..count).map(|k| format!("{name}{k}")).collect();
        operands.push(format!("{{{}}}", all.join(", ")));
    }
    (declared, format!("{} {};", i.name(), operands.join(", ")))
}

fn kernel(i: &Instance, case: &Case<'_>) -> String {
    let (declared, product) = product_text(i, case);
    let (mut loads, mut stores, mut at) = (String::new(), String::new(), 0);
    let names = ["%d", "%a", "%b", "%c"];
    for (matrix, (ty, count)) in case.registers().into_iter().enumerate() {
        for k in 0..count {
            let (name, bits) = (names[matrix], register(ty).0);
            let _ = match matrix {
                0 => write!(stores, "st.global.b{bits} [%to+{}], {name}{k}; ", 8 * k),
                _ => write!(loads, "ld.global.b{bits} {name}{k}, [%from+{at}]; "),
            };
            at += if matrix == 0 { 0 } else { 8 };
        }
    }
    let out = 8 * case.registers()[0].1;
    format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .b32 %t<3>; .reg .b64 %from, %to; {declared}
        mov.u32 %t0, %tid.x; mov.u32 %t1, %ctaid.x; mov.u32 %t2, %ntid.x; mad.lo.u32 %t0, %t1, %t2, %t0;
        ld.param.u64 %from, [in]; mad.wide.u32 %from, %t0, {at}, %from; ld.param.u64 %to, [out]; mad.wide.u32 %to, %t0, {out}, %to;
        {loads}
        {product}
        {stores} ret; }}"
    )
}

/// Multiplies on the device and here.
fn check(i: &Instance) {
    let case = Case::of(i);
    let mut random = Random(0x0123_4567_89ab_cdef);
    let warps: Vec<Vec<Vec<u64>>> = (0..WARPS).map(|style| inputs(&case, style, &mut random)).collect();
    let text = kernel(i, &case);
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let flat: Vec<u64> = warps.iter().flatten().flatten().copied().collect();
    let (ty, registers) = case.registers()[0];
    let (from, to) = (Memory::new(&flat), Memory::new(&vec![0; WARPS * LANES * registers]));
    let code = launch(module, WARPS as u32 / 2, 64, &[from.address(), to.address()]);
    assert_eq!(code, CUresult::CUDA_SUCCESS, "{}", i.name());
    unload(module);
    let per = register(ty).1;
    for (warp, got) in to.read(WARPS * LANES * registers).chunks(LANES * registers).enumerate() {
        for quad in 0..if case.quads.is_some() { 4 } else { 1 } {
            let [a, b, c] = [1, 2, 3].map(|matrix| gather(&case, &warps[warp], matrix, quad));
            for lane in (0..LANES).filter(|lane| case.quads.is_none() || lane / 4 % 4 == quad) {
                for at in 0..registers * per {
                    let (row, column) = case.position(0, lane, at);
                    let word = got[lane * registers + at / per] >> (ty.bits() * (at % per) as u32);
                    let found = word & (u64::MAX >> (64 - ty.bits()));
                    let right: Vec<u64> = b.iter().map(|row| row[column]).collect();
                    let want: Expected = arithmetic::element(&case.kind, &a[row], &right, c[row][column]);
                    assert!(
                        want.accepts(found),
                        "{} in warp {warp}, lane {lane}, element {at}: {found:x}, not {want:x?} = {:x?} * {right:x?} + {:x}",
                        i.name(),
                        a[row],
                        c[row][column]
                    );
                }
            }
        }
    }
}

fn all(opcode: Opcode) -> Vec<Instance> {
    forms().filter(|f| f.opcode == opcode).flat_map(instances).collect()
}

#[test]
fn products() {
    let all = all(Opcode::Mma);
    // f16, bf16, tf32; 8-bit floats; f64 and its rounding; bytes, nibbles, bits.
    assert_eq!(all.len(), 4 * 3 + 2 + 2 + 2 + 2 + 2 * 8 + 4 * 5 + 3 * 8 + 3 * 8 + 3 * 2);
    all.iter().for_each(check);
}

/// The assembler accepts every product for its oldest target, and none for an older one.
#[test]
fn products_are_ptx() {
    let all = all(Opcode::Mma);
    let mut text = format!("{HEADER}.visible .entry k() {{\n");
    for i in &all {
        let (declared, product) = product_text(i, &Case::of(i));
        let _ = writeln!(text, "{{ {declared} {product} }}");
    }
    text.push_str("ret; }\n");
    is_ptx(&text);
    load(&text).unwrap_or_else(|log| panic!("{log}"));
    let mut targets = std::collections::BTreeMap::<u32, Vec<&Instance>>::new();
    for i in &all {
        let declared = product_text(i, &Case::of(i));
        let on = |target: u32| {
            format!(
                ".version 8.8\n.target sm_{target}\n.address_size 64\n.visible .entry k() {{ {} {} ret; }}",
                declared.0, declared.1
            )
        };
        let oldest = [75, 80, 89, 90].into_iter().find(|target| load(&on(*target)).is_ok()).expect("a target");
        let others = targets.entry(oldest).or_default();
        // One of each kind is passed to the assembler for the preceding target.
        let first = others.iter().all(|other| other.modifiers[2] != i.modifiers[2] || other.types[1] != i.types[1]);
        if first {
            others.push(i);
            is_ptx(&on(oldest));
            for older in [75, 80, 89].into_iter().filter(|older| *older < oldest) {
                assert!(assemble(&on(older)).is_none_or(|told| told.is_err()), "{} on sm_{older}", i.name());
            }
        }
    }
    assert_eq!(targets.keys().copied().collect::<Vec<_>>(), [75, 80, 89, 90]);
}

/// Asserts that this device and the assembler refuse the body of a kernel.
#[track_caller]
fn is_refused(target: &str, body: &str, what: &str) {
    let text = format!(
        ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k() {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;
        .reg .b16 %h; {body} ret; }}"
    );
    let log = load(&text).expect_err(body);
    assert!(log.contains(what), "{body}: {log}");
    assert!(assemble(&text).is_none_or(|told| told.is_err()), "{body}");
}

#[test]
fn matrices_that_are_none_are_refused() {
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let (f4, r4, r2) = ("{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r0, %r1}");
    for (target, body, what) in [
        (
            "sm_75",
            format!("{mma} {f4}, {r4}, {r2}, {f4};"),
            format!("'{mma}' needs .target sm_80 or a newer one, and this module is for sm_75"),
        ),
        (
            "sm_90",
            format!("{mma} {f4}, {r2}, {r2}, {f4};"),
            format!("the matrix A of '{mma}' has 4 register(s) in each lane, but 2 are given"),
        ),
        (
            "sm_90",
            format!("{mma} {r2}, {r4}, {r2}, {f4};"),
            format!("the matrix D of '{mma}' has 4 register(s) in each lane, but 2 are given"),
        ),
        (
            "sm_90",
            format!("{mma} {{%f0, %f1, %f2, %h}}, {r4}, {r2}, {f4};"),
            "'%h' has 16 bit(s) where the instruction needs 32".to_owned(),
        ),
        (
            "sm_90",
            "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 %r0, %r0, %r0, %r0;".to_owned(),
            "A must be row-major and B column-major: '.row.col'".to_owned(),
        ),
        (
            "sm_90",
            "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 %r0, %r0, %r0, %r0;".to_owned(),
            "'mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32' is not supported".to_owned(),
        ),
        (
            "sm_90",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 %r0, %r0, %r0, %r0;".to_owned(),
            "is not supported: the type .".to_owned(),
        ),
        (
            "sm_90",
            "mma.sync.m16n8k16.row.col.f32.f16.f16.f32 %r0, %r0, %r0, %r0;".to_owned(),
            "one of .aligned is missing".to_owned(),
        ),
        (
            "sm_90",
            format!("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r2}, [%rd1];"),
            "the fragment of 'ldmatrix.sync.aligned.m8n8.x4.shared.b16' has 4 register(s) in each lane, but 2 are given"
                .to_owned(),
        ),
        (
            "sm_80",
            format!("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%rd1], {r2};"),
            "'stmatrix.sync.aligned.m8n8.x2.shared.b16' needs .target sm_90 or a newer one".to_owned(),
        ),
        (
            "sm_90",
            format!("ldmatrix.sync.aligned.m8n8.x2.global.b16 {r2}, [%rd1];"),
            "the modifier .global is not allowed here".to_owned(),
        ),
        ("sm_90", ".reg .e4m3 %x;".to_owned(), "a type expected, '.e4m3' found".to_owned()),
        ("sm_90", ".shared .b1 x;".to_owned(), "'.b1' is not known in a variable".to_owned()),
    ] {
        is_refused(target, &body, &what);
    }
}
