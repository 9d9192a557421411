//! `wmma`: matrices in memory, row-major or column-major, are loaded, multiplied and stored by a warp. The assignment
//! of elements to lanes is up to the device, so whole products are compared.

use super::arithmetic::{self, Kind};
use super::layouts::Shape;
use super::{LANES, is_refused, register, value};
use crate::Expected;
use crate::assembler::are_ptx;
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::{Instance, forms, instances};
use crate::random::Random;
use cuda_sim::ptx::{Modifier as M, Opcode, Type};
use cuda_sys::CUresult;
use std::fmt::Write;

/// Matrices in the order `D`, `A`, `B`, `C`.
const NAMES: [&str; 4] = ["d", "a", "b", "c"];
/// The number of products that test an instance, each in a warp of its own.
const WARPS: usize = 6;
/// The limit on the bytes of a matrix.
const ROOM: usize = 4096;

/// A product with the instructions that load and store its matrices, in the order `D`, `A`, `B`, `C`.
struct Case<'a> {
    product: &'a Instance,
    moves: [&'a Instance; 4],
    shape: Shape,
    types: [Type; 4],
}

fn shape(i: &Instance) -> Shape {
    i.modifiers.iter().find_map(|m| Shape::named(m.name())).expect("a shape")
}

/// Types of `D`, `A`, `B` and `C`.
fn types(i: &Instance) -> [Type; 4] {
    match i.types.as_slice() {
        [d, c] => [*d, Type::F16, Type::F16, *c],
        [d, a, b, c] => [*d, *a, *b, *c],
        _ => panic!("{} is no product", i.name()),
    }
}

fn layouts(i: &Instance) -> Vec<M> {
    i.modifiers.iter().copied().filter(|m| matches!(m, M::Row | M::Col)).collect()
}

impl Case<'_> {
    fn extents(&self, matrix: usize) -> (usize, usize) {
        let s = self.shape;
        [(s.m, s.n), (s.m, s.k), (s.k, s.n), (s.m, s.n)][matrix]
    }

    fn by_columns(&self, matrix: usize) -> bool {
        self.moves[matrix].has(M::Col)
    }

    /// Returns the elements from one row (or column) in memory to the next: more than a row has if an instance
    /// specifies the stride.
    fn stride(&self, matrix: usize) -> usize {
        let (rows, columns) = self.extents(matrix);
        let length = if self.by_columns(matrix) { rows } else { columns };
        let extra = if self.has_stride(matrix) { 128 / self.types[matrix].bits() as usize } else { 0 };
        length + extra
    }

    fn has_stride(&self, matrix: usize) -> bool {
        self.moves[matrix].form.operands.len() == 3
    }

    /// Returns the bit offset of an element.
    fn bit(&self, matrix: usize, row: usize, column: usize) -> usize {
        let (line, at) = if self.by_columns(matrix) { (column, row) } else { (row, column) };
        (line * self.stride(matrix) + at) * self.types[matrix].bits() as usize
    }

    fn registers(&self, matrix: usize) -> usize {
        let (rows, columns) = self.extents(matrix);
        match self.types[matrix] {
            Type::F16 if matrix == 1 || matrix == 2 => 8,
            ty => rows * columns / LANES / register(ty).1,
        }
    }

    /// Returns the load or store of a matrix, in the warp's global memory or in shared memory.
    fn moved(&self, matrix: usize) -> String {
        let i = self.moves[matrix];
        let shared = i.has(M::Shared) || i.has(M::SharedCta);
        // A generic address may be of either.
        let address = if shared { format!("[memory+{}]", ROOM * matrix) } else { format!("[%g{matrix}]") };
        let all: Vec<String> = (0..self.registers(matrix)).map(|k| format!("%{}{k}", NAMES[matrix])).collect();
        let fragment = format!("{{{}}}", all.join(", "));
        let stride = match self.has_stride(matrix) {
            true if matrix.is_multiple_of(2) => format!(", {}", self.stride(matrix)),
            true => format!(", %stride{matrix}"),
            false => String::new(),
        };
        match matrix {
            0 => format!("{} {address}, {fragment}{stride};\n", i.name()),
            _ => format!("{} {fragment}, {address}{stride};\n", i.name()),
        }
    }

    fn is_shared(&self, matrix: usize) -> bool {
        self.moves[matrix].has(M::Shared) || self.moves[matrix].has(M::SharedCta)
    }

    /// Returns the kernel of a warp: each block has `4 * ROOM` bytes of global memory, which it copies to shared memory
    /// and back.
    fn text(&self) -> String {
        let mut declared = String::new();
        for (matrix, name) in NAMES.iter().enumerate() {
            let (bits, n) = (register(self.types[matrix]).0, self.registers(matrix));
            let _ = writeln!(
                declared,
                ".reg .b{bits} %{name}<{n}>; .reg .b64 %g{matrix}; .reg .b32 %stride{matrix}; mov.u32 %stride{matrix}, {};
                add.u64 %g{matrix}, %all, {};",
                self.stride(matrix),
                ROOM * matrix
            );
        }
        let all = |matrix: usize| {
            let names: Vec<String> = (0..self.registers(matrix)).map(|k| format!("%{}{k}", NAMES[matrix])).collect();
            format!("{{{}}}", names.join(", "))
        };
        let loads: String = (1..4).map(|matrix| self.moved(matrix)).collect();
        let copy = |loop_name: &str, from: &str, to: &str| {
            format!(
                "mul.wide.u32 %x, %t, 16; {loop_name}: add.u64 %y, %x, %all; mov.u64 %z, memory; add.u64 %z, %z, %x;
                ld{from}.v4.b32 {{%r0, %r1, %r2, %r3}}, [%{}]; st{to}.v4.b32 [%{}], {{%r0, %r1, %r2, %r3}};
                add.u64 %x, %x, 512; setp.lt.u64 %p, %x, {}; @%p bra {loop_name};\n",
                if from == ".global" { "y" } else { "z" },
                if to == ".global" { "y" } else { "z" },
                if to == ".global" { ROOM } else { 4 * ROOM }
            )
        };
        format!(
            "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .pred %p; .reg .b32 %t, %b, %r<4>; .reg .b64 %all, %x, %y, %z;
            .shared .align 32 .b8 memory[{}]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; ld.param.u64 %all, [p];
            mad.wide.u32 %all, %b, {}, %all;
            {declared}{}bar.sync 0;
            {loads}{} {}, {}, {}, {};
            {}bar.sync 0;
            {} ret; }}",
            4 * ROOM,
            4 * ROOM,
            copy("IN", ".global", ".shared"),
            self.product.name(),
            all(0),
            all(1),
            all(2),
            all(3),
            self.moved(0),
            if self.is_shared(0) { copy("OUT", ".shared", ".global") } else { String::new() },
        )
    }

    fn check(&self) {
        let mut random = Random(0x1bad_b002_dead_beef);
        let text = self.text();
        let mut bytes = vec![0x5au8; WARPS * 4 * ROOM];
        let mut wanted = Vec::new();
        for (warp, bytes) in bytes.chunks_mut(4 * ROOM).enumerate() {
            let mut elements: [Vec<Vec<u64>>; 4] = Default::default();
            for matrix in 1..4 {
                let ((rows, columns), ty) = (self.extents(matrix), self.types[matrix]);
                let all = (0..rows).map(|_| (0..columns).map(|_| value(ty, warp, &mut random)).collect()).collect();
                elements[matrix] = all;
                for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                    put(
                        &mut bytes[ROOM * matrix..],
                        self.bit(matrix, row, column),
                        ty.bits(),
                        elements[matrix][row][column],
                    );
                }
            }
            wanted.push(elements);
        }
        let words: Vec<u64> = bytes.chunks(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
        let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
        let memory = Memory::new(&words);
        let code = launch(module, WARPS as u32, LANES as u32, &[memory.address()]);
        assert_eq!(code, CUresult::CUDA_SUCCESS, "{text}");
        unload(module);
        let after: Vec<u8> = memory.read(words.len()).iter().flat_map(|w| w.to_le_bytes()).collect();
        let [d, a, b, c] = self.types;
        let kind = Kind { a, b, c, d, modifiers: &self.product.modifiers };
        for (warp, [_, a, b, c]) in wanted.iter().enumerate() {
            let mut left = bytes[warp * 4 * ROOM..][..ROOM].to_vec();
            let got = &after[warp * 4 * ROOM..][..ROOM];
            let (rows, columns) = self.extents(0);
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let right: Vec<u64> = b.iter().map(|row| row[column]).collect();
                let want: Expected = arithmetic::element(&kind, &a[row], &right, c[row][column]);
                let bit = self.bit(0, row, column);
                let found = take(got, bit, d.bits());
                assert!(
                    want.accepts(found),
                    "{} warp {warp} ({row}, {column}): {found:x}, not {want:x?}\n{text}",
                    self.product.name()
                );
                put(&mut left, bit, d.bits(), found);
            }
            assert!(left == got, "{} writes beside its elements\n{text}", self.moves[0].name());
        }
    }
}

fn put(bytes: &mut [u8], bit: usize, bits: u32, value: u64) {
    for k in 0..bits as usize {
        let (byte, mask) = ((bit + k) / 8, 1 << ((bit + k) % 8));
        bytes[byte] = if value >> k & 1 == 1 { bytes[byte] | mask } else { bytes[byte] & !mask };
    }
}

fn take(bytes: &[u8], bit: usize, bits: u32) -> u64 {
    (0..bits as usize).fold(0, |value, k| value | u64::from(bytes[(bit + k) / 8] >> ((bit + k) % 8) & 1) << k)
}

/// Returns the index of the matrix of a load or store.
fn matrix_of(i: &Instance) -> usize {
    [M::D, M::A, M::B, M::C].iter().position(|m| i.has(*m)).expect("a matrix")
}

/// All products, with loads and stores chosen such that each of them is used, with and without a stride.
#[test]
fn whole_products() {
    let all: Vec<Instance> = forms().filter(|f| f.opcode == Opcode::Wmma).flat_map(instances).collect();
    let (products, moves): (Vec<&Instance>, Vec<&Instance>) = all.iter().partition(|i| i.has(M::Mma));
    assert_eq!(products.len(), 3 * 4 * 4 + 3 * 4 + 4 + 4 * 5 + 2 * 3 * 4 * 2 + 2 * 2 + 2);
    let mut left: Vec<&Instance> = moves.clone();
    let mut texts = Vec::new();
    let mut turn = 0;
    let mut one = |product: &Instance, left: &mut Vec<&Instance>, turn: usize| {
        let (types, layouts) = (types(product), layouts(product));
        let chosen = [0, 1, 2, 3].map(|matrix| {
            let fits = |i: &&&Instance| {
                matrix_of(i) == matrix
                    && shape(i) == shape(product)
                    && i.types[0] == types[matrix]
                    && (matrix.is_multiple_of(3) || i.has(layouts[matrix - 1]))
            };
            // One that was not used yet, else any.
            if let Some(at) = left.iter().position(|i| fits(&i)) {
                return left.remove(at);
            }
            let all: Vec<&&Instance> = moves.iter().filter(fits).collect();
            *all[turn % all.len()]
        });
        let case = Case { product, moves: chosen, shape: shape(product), types };
        case.check();
        texts.push(case.text());
    };
    for product in &products {
        one(product, &mut left, turn);
        turn += 1;
    }
    while let Some(next) = left.first() {
        let matrix = matrix_of(next);
        let fits = |product: &&&Instance| {
            shape(product) == shape(next)
                && types(product)[matrix] == next.types[0]
                && (matrix.is_multiple_of(3) || next.has(layouts(product)[matrix - 1]))
        };
        let product = products.iter().find(fits).unwrap_or_else(|| panic!("no product for {}", next.name()));
        one(product, &mut left, turn);
        turn += 1;
    }
    are_ptx(&texts);
}

#[test]
fn what_is_no_product_is_refused() {
    let (f8, r8) = ("{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}", "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}");
    for (target, body, what) in [
        (
            "sm_75",
            "wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r0, %r1, %r2, %r3}, [%rd1];".to_owned(),
            "needs .target sm_80 or a newer one",
        ),
        (
            "sm_80",
            "wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r0, %r1}, [%rd1];".to_owned(),
            "has 4 register(s) in each lane, but 2 are given",
        ),
        (
            "sm_80",
            "wmma.load.b.sync.aligned.row.m8n8k32.global.u4 {%r0}, [%rd1];".to_owned(),
            "the modifier .row is not allowed here",
        ),
        (
            "sm_80",
            "wmma.load.a.sync.aligned.row.m16n8k16.global.f16 {%r0}, [%rd1];".to_owned(),
            "the modifier .m16n8k16 is not allowed here",
        ),
        (
            "sm_80",
            format!("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {r8}, {{%r0, %r1}}, {{%r0, %r1}}, {r8};"),
            "is not supported: the type .",
        ),
        ("sm_80", format!("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {f8}, {r8}, {r8}, {r8}, %r0;"), "expected"),
        (
            "sm_80",
            "wmma.mma.sync.aligned.col.row.m8n8k32.s32.s4.s4.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};".to_owned(),
            "A must be row-major and B column-major: '.row.col'",
        ),
        (
            "sm_80",
            format!("wmma.store.d.sync.aligned.row.m16n16k16.local.f32 [%rd1], {f8};"),
            "the modifier .local is not allowed here",
        ),
    ] {
        is_refused(target, &body, what);
    }
}
