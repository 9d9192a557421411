//! Memory: state spaces, widths, vectors, orders, atomics.

use crate::control::words;
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::exact::{Operation, arithmetic, flush};
use crate::instance::{Instance, forms, instances};
use cuda_sim::ptx::{Modifier as M, Opcode, Type};
use cuda_sys::CUresult;
use rustc_apfloat::Round;

/// The instructions that are tested here.
pub(crate) const COVERED: &[Opcode] = &[
    Opcode::Ld,
    Opcode::Ldu,
    Opcode::St,
    Opcode::Atom,
    Opcode::Red,
    Opcode::Fence,
    Opcode::Membar,
    Opcode::Prefetch,
    Opcode::Prefetchu,
    Opcode::Applypriority,
    Opcode::Discard,
    Opcode::Createpolicy,
    Opcode::Cvta,
    Opcode::IsSpaceP,
    Opcode::Mapa,
    Opcode::GetCtaRank,
];

#[track_caller]
fn gives(extra: &str, body: &str, expected: &[u64]) {
    assert_eq!(words(extra, body, expected.len() as u32), Ok(expected.to_vec()), "{body}");
}

const SPACES: &str =
    ".global .align 16 .b8 g[64]; .const .align 16 .b8 c[16] = {0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12};
    .shared .align 16 .b8 s[64];";
const VALUE: u64 = 0x1234_5678_9abc_def0;

#[test]
fn every_width_extends_as_its_type_says() {
    let cases: &[(&str, u64)] = &[
        ("b8", 0xf0),
        ("u8", 0xf0),
        ("s8", 0xffff_ffff_ffff_fff0),
        ("b16", 0xdef0),
        ("u16", 0xdef0),
        ("s16", 0xffff_ffff_ffff_def0),
        ("b32", 0x9abc_def0),
        ("u32", 0x9abc_def0),
        ("s32", 0xffff_ffff_9abc_def0),
        ("b64", VALUE),
        ("u64", VALUE),
        ("s64", VALUE),
        ("f64", VALUE),
        ("f32", 0x9abc_def0),
    ];
    for (ty, expected) in cases {
        for space in ["global", "shared", "local"] {
            let name = &space[..1];
            let local = if space == "local" { ".local .align 16 .b8 l[64];" } else { "" };
            let body = format!(
                "{local} mov.u64 %rd1, 0x{VALUE:x}; mov.u64 %rd2, -1; st.{space}.v2.b64 [{name}+16], {{%rd2, %rd2}};
                st.{space}.b64 [{name}], %rd1; ld.{space}.{ty} %rd3, [{name}]; st.{space}.{ty} [{name}+16], %rd3;
                ld.{space}.b64 %rd4, [{name}+16]; st.b64 [%out], %rd3; st.b64 [%out+8], %rd4;"
            );
            let bits: u32 = ty[1..].parse().unwrap();
            let mask = u64::MAX >> (64 - bits);
            let got = pair(SPACES, &body);
            assert_eq!(got, [*expected, VALUE & mask | !mask], "{ty} in {space}");
        }
        gives(SPACES, &format!("ld.const.{ty} %rd3, [c]; st.b64 [%out], %rd3;"), &[*expected]);
    }
}

/// Two words of one thread.
#[track_caller]
fn pair(extra: &str, body: &str) -> [u64; 2] {
    let all = words(extra, &format!("setp.ne.u32 %p3, %r0, 0; @%p3 ret;\n{body}"), 2).unwrap();
    [all[0], all[1]]
}

#[test]
fn vectors_and_sixteen_bytes() {
    let body = "st.global.v4.b16 [g], {1, 2, 3, 4}; ld.global.v4.u16 {%h1, %h2, _, %h4}, [g]; cvt.u64.u16 %rd1, %h4;
        ld.global.b64 %rd2, [g]; st.b64 [%out], %rd1; st.b64 [%out+8], %rd2;";
    assert_eq!(pair(SPACES, body), [4, 0x0004_0003_0002_0001]);
    let body = "mov.u64 %rd1, 5; mov.u64 %rd2, 9; mov.b128 %q0, {%rd1, %rd2}; st.global.b128 [g+16], %q0;
        ld.global.b128 %q1, [g+16]; mov.b128 {%rd3, %rd4}, %q1; st.b64 [%out], %rd3; st.b64 [%out+8], %rd4;";
    assert_eq!(pair(SPACES, body), [5, 9]);
    let body = "st.global.v2.f32 [g], {0f3F800000, 0f40000000}; ld.global.v2.b32 {%r1, %r2}, [g];
        mov.b64 %rd1, {%r1, %r2}; st.b64 [%out], %rd1;";
    assert_eq!(pair(SPACES, body), [0x4000_0000_3f80_0000, 0]);
    // 32 bytes at once, for devices from sm_100 on.
    let body =
        "mov.u64 %rd1, 3; st.global.v4.b64 [g], {%rd1, 4, 5, 6}; ld.global.v8.b32 {%r1, _, _, _, _, _, %r7, _}, [g];
        ld.global.v4.u64 {%rd2, %rd3, _, %rd5}, [g]; mov.b64 %rd6, {%r1, %r7}; mad.lo.u64 %rd3, %rd3, 10, %rd5;
        st.b64 [%out], %rd6; st.b64 [%out+8], %rd3;";
    assert_eq!(pair(SPACES, body), [6 << 32 | 3, 46]);
}

/// Memory orders, scopes and cache operators have no effect that one thread can observe.
#[test]
fn qualifiers_change_no_value() {
    let mut seen = 0;
    for qualifiers in [
        "",
        ".weak",
        ".volatile",
        ".relaxed.cta",
        ".relaxed.gpu",
        ".relaxed.sys",
        ".acquire.gpu",
        ".acquire.sys",
        ".relaxed.cluster",
        ".mmio.relaxed.sys",
    ] {
        for space in ["", ".global"] {
            let store = qualifiers.replace("acquire", "release");
            let body = format!(
                "mov.u64 %rd1, g; st{store}{space}.b32 [%rd1], 77; ld{qualifiers}{space}.u32 %rd2, [%rd1]; st.b64 [%out], %rd2;"
            );
            gives(SPACES, &body, &[77]);
            seen += 1;
        }
    }
    for cache in [".ca", ".cg", ".cs", ".lu", ".cv"] {
        gives(SPACES, &format!("st.global.b32 [g], 5; ld.global{cache}.u32 %rd1, [g]; st.b64 [%out], %rd1;"), &[5]);
    }
    for cache in [".wb", ".cg", ".cs", ".wt"] {
        gives(SPACES, &format!("st.global{cache}.b32 [g], 6; ld.global.u32 %rd1, [g]; st.b64 [%out], %rd1;"), &[6]);
    }
    for cache in [".nc", ".nc.L1::evict_last", ".L1::no_allocate", ".L1::evict_first.L2::128B", ".nc.L2::64B", ".cg.nc"]
    {
        gives(SPACES, &format!("ld.global{cache}.u32 %rd1, [g]; st.b64 [%out], %rd1;"), &[0]);
    }
    gives(SPACES, "ldu.global.v2.b32 {%r1, %r2}, [g]; st.b32 [%out], %r2;", &[0]);
    for (store, load) in [
        ("st.global", "ld.global"),
        ("st", "ld"),
        ("st.global.L1::no_allocate", "ld.global.L1::no_allocate.L2::128B"),
        ("st.release.gpu.global", "ld.acquire.gpu.global"),
    ] {
        let body = format!(
            "mov.u64 %rd1, g; createpolicy.fractional.L2::evict_last.b64 %rd2, 0.5;
            {store}.L2::cache_hint.v2.b32 [%rd1], {{7, 8}}, %rd2; {load}.L2::cache_hint.u32 %rd3, [%rd1+4], 5; st.b64 [%out], %rd3;"
        );
        gives(SPACES, &body, &[8]);
    }
    assert_eq!(seen, 20);
}

#[test]
fn order_and_caches_compile_to_nothing_wrong() {
    for form in forms().filter(|f| {
        matches!(
            f.opcode,
            Opcode::Fence
                | Opcode::Membar
                | Opcode::Prefetch
                | Opcode::Prefetchu
                | Opcode::Applypriority
                | Opcode::Discard
                | Opcode::Createpolicy
        )
    }) {
        for instance in instances(form) {
            let operands = match form.operands.len() {
                0 => "",
                1 if form.opcode == Opcode::Createpolicy => " %rd1",
                2 if instance.has(M::Fractional) => " %rd1, 0.25",
                2 if instance.has(M::Cvt) => " %rd1, 5",
                4 => " %rd1, [g], 32, 64",

                1 if instance.has(M::Local) => " [l]",
                1 => " [g]",
                _ => " [g], 128",
            };
            let body = format!(".local .align 16 .b8 l[64]; {}{operands}; st.b64 [%out], 3;", instance.name());
            gives(SPACES, &body, &[3]);
        }
    }
}

#[test]
fn addresses_know_their_space() {
    let spaces = ["const", "global", "local", "shared", "shared::cta", "shared::cluster"];
    for (actual, name) in [("const", "c"), ("global", "g"), ("local", "l"), ("shared", "s")] {
        for asked in spaces {
            let body = format!(
                ".local .align 16 .b8 l[64]; mov.u64 %rd1, {name}; cvta.{actual}.u64 %rd2, %rd1; isspacep.{asked} %p1, %rd2;
                cvta.to.{actual}.u64 %rd3, %rd2; setp.eq.u64 %p2, %rd3, %rd1; selp.b64 %rd4, 1, 0, %p1;
                selp.b64 %rd5, 2, 0, %p2; or.b64 %rd4, %rd4, %rd5; st.b64 [%out], %rd4;"
            );
            let inside = asked == actual || (actual == "shared" && asked.starts_with("shared"));
            gives(SPACES, &body, &[2 | u64::from(inside)]);
        }
    }
    gives(
        "",
        "mov.u64 %rd1, out; cvta.param.u64 %rd1, %rd1; isspacep.param %p1, %rd1; isspacep.global %p2, %rd1;
        selp.b64 %rd2, 1, 0, %p1; selp.b64 %rd3, 2, 0, %p2; or.b64 %rd2, %rd2, %rd3; st.b64 [%out], %rd2;",
        &[1],
    );
}

/// In a cluster of one block, an address of another block's memory is invalid, and can be mapped back.
#[test]
fn addresses_tell_the_rank_of_their_block() {
    let all: Vec<Instance> =
        forms().filter(|f| matches!(f.opcode, Opcode::Mapa | Opcode::GetCtaRank)).flat_map(instances).collect();
    assert_eq!(all.len(), 2 * 3, "with a space, of two widths, and generic");
    for i in &all {
        let (space, ty) = (if i.has(M::SharedCluster) { ".shared::cluster" } else { "" }, i.ty());
        let (r, bits) = if ty.bits() == 32 { ("%r", 32) } else { ("%rd", 64) };
        let generic = if space.is_empty() { "cvta.shared.u64 %rd1, %rd1;" } else { "" };
        let [map, rank] = ["mapa", "getctarank"].map(|name| format!("{name}{space}.{}", ty.name()));
        assert!([&map, &rank].contains(&&i.name()), "{}", i.name());
        let body = format!(
            "mov.u{bits} {r}1, s; add.u{bits} {r}1, {r}1, 12; {generic} mov.u32 %r7, 5; {map} {r}2, {r}1, %r7;
             {map} {r}3, {r}2, 0; setp.eq.u{bits} %p1, {r}3, {r}1; setp.ne.u{bits} %p2, {r}2, {r}1;
             {rank} %r8, {r}2; {rank} %r9, {r}1; mad.lo.u32 %r8, %r9, 100, %r8; @!%p1 mov.u32 %r8, 1000;
             @!%p2 mov.u32 %r8, 2000; cvt.u64.u32 %rd9, %r8; st.b64 [%out], %rd9;"
        );
        gives(SPACES, &body, &[5]);
    }
    // A variable may be named, and a rank that no cluster has, of which a card takes eight bits.
    let body = "mapa.shared::cluster.u32 %r1, s+4, 300; getctarank.shared::cluster.u32 %r2, %r1;
        getctarank.shared::cluster.u64 %r3, s; mad.lo.u32 %r2, %r3, 1000, %r2; cvt.u64.u32 %rd1, %r2; st.b64 [%out], %rd1;";
    gives(SPACES, body, &[300 - 256]);
}

/// Returns the memory after an atomic operation.
fn updated(i: &Instance, old: u128, b: u128, c: u128) -> u128 {
    let ty = i.ty();
    let bits = ty.bits();
    let mask = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    let signed = |x: u128| ((x << (128 - bits)) as i128) >> (128 - bits);
    if i.has(M::Cas) {
        return if old == b { c } else { old };
    }
    let (lane, packed) = ty.lane();
    if i.has(M::Add) && lane.is_float() {
        let flushed = lane == Type::F32 && !i.has(M::Shared) && !i.has(M::SharedCta) && !i.has(M::SharedCluster);
        let cut = |x: u64| if flushed { flush(lane, x) } else { x };
        let half = |x: u128, k: u32| (x >> (k * lane.bits())) as u64 & (u64::MAX >> (64 - lane.bits()));
        return (0..if packed { 2 } else { 1 })
            .map(|k| {
                let sum =
                    arithmetic(lane, Operation::Add, &[cut(half(old, k)), cut(half(b, k))], Round::NearestTiesToEven);
                u128::from(cut(sum)) << (k * lane.bits())
            })
            .sum();
    }
    let result = match *i.modifiers.iter().rfind(|m| **m != M::L2CacheHint).unwrap() {
        M::Exch => b,
        M::Add => old.wrapping_add(b),
        M::And => old & b,
        M::Or => old | b,
        M::Xor => old ^ b,
        M::Min if ty.is_signed() => signed(old).min(signed(b)) as u128,
        M::Min => old.min(b),
        M::Max if ty.is_signed() => signed(old).max(signed(b)) as u128,
        M::Max => old.max(b),
        M::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        M::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        other => panic!("{other:?} has no reference"),
    };
    result & mask
}

/// Old value, operand and second operand; each case uses their low bits.
fn operands(ty: Type) -> Vec<[u128; 3]> {
    let float: &[u64] = match ty.lane().0 {
        Type::F32 => &[0x3f80_0000, 0x4000_0000, 0x0000_0003, 0x8000_0001, 0x7f7f_ffff, 0xc120_0000, 0x0080_0001],
        Type::F64 => &[0x3ff0_0000_0000_0000, 0x4000_0000_0000_0001, 5, 0x7fef_ffff_ffff_ffff, 0xbff8_0000_0000_0000],
        Type::F16 => &[0x3c00_3c01, 0x0001_7bff, 0x8003_bc00, 0x4248_0400],
        Type::Bf16 => &[0x3f80_3f81, 0x0001_7f7f, 0x8003_bf80, 0x4049_0080],
        _ => &[0, 1, 5, 9, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_ffff_ffff_fffe, 0x8000_0000_0000_0000],
    };
    let mask = if ty.bits() >= 64 { u128::MAX } else { (1 << ty.bits()) - 1 };
    let fill = |x: u64| if ty.bits() == 128 { u128::from(x) << 64 | u128::from(!x) } else { u128::from(x) };
    let values: Vec<u128> = float.iter().map(|x| fill(*x) & mask).collect();
    let n = values.len();
    let mut all = Vec::new();
    for (k, a) in values.iter().enumerate() {
        for (m, b) in values.iter().enumerate() {
            all.push([*a, *b, values[(k + m + 1) % n]]);
        }
    }
    all
}

/// Returns the space of an instance's address, in a register.
fn space(i: &Instance) -> Option<&'static str> {
    match i.modifiers.iter().find(|m| {
        matches!(
            m,
            M::Global
                | M::Shared
                | M::SharedCta
                | M::SharedCluster
                | M::Local
                | M::Const
                | M::Param
                | M::ParamEntry
                | M::ParamFunc
        )
    }) {
        None | Some(M::Global) => Some("global"),
        Some(M::Shared | M::SharedCta | M::SharedCluster) => Some("shared"),
        _ => None,
    }
}

fn atomic_text(instances: &[&Instance]) -> String {
    let mut body = String::new();
    for i in instances {
        let bits = i.ty().bits();
        let address = if space(i) == Some("shared") { "%window" } else { "%cell" };
        let (store, load) = match space(i) {
            Some("shared") => ("st.shared.b128 [%window], %old;", "ld.shared.b128 %new, [%window];"),
            _ => ("", "ld.global.b128 %new, [%cell];"),
        };
        let part = |name: &str, of: &str| match bits {
            16 => format!(".reg .b16 {name}; cvt.u16.u64 {name}, {of}0;"),
            32 => format!(".reg .b32 {name}; cvt.u32.u64 {name}, {of}0;"),
            64 => format!(".reg .b64 {name}; mov.b64 {name}, {of}0;"),
            _ => format!(".reg .b128 {name}; mov.b128 {name}, {{{of}0, {of}1}};"),
        };
        let sources = match (i.has(M::Cas), i.has(M::L2CacheHint)) {
            (true, _) => "%b, %c",
            (_, true) => "%b, %n",
            _ => "%b",
        };
        let (returned, keep) = match i.opcode() {
            Opcode::Red => ("", String::new()),
            _ => (
                "%d, ",
                match bits {
                    16 => "cvt.u64.u16 %x, %d;".to_owned(),
                    32 => "cvt.u64.u32 %x, %d;".to_owned(),
                    64 => "mov.b64 %x, %d;".to_owned(),
                    _ => "mov.b128 {%x, _}, %d;".to_owned(),
                },
            ),
        };
        body.push_str(&format!(
            "{{ .reg .b64 %b0, %b1, %c0, %c1, %x, %y, %z; .reg .b128 %old, %new; .reg .b{bits} %d; {} {}
            ld.global.v2.b64 {{%y, %z}}, [%from]; mov.b128 %old, {{%y, %z}}; st.global.b128 [%cell], %old; {store}
            ld.global.v2.b64 {{%b0, %b1}}, [%from+16]; ld.global.v2.b64 {{%c0, %c1}}, [%from+32]; mov.u64 %x, %y;
            {} {}
            {} {returned}[{address}], {sources}; {keep} {load} mov.b128 {{%y, %z}}, %new;
            st.global.b64 [%to], %x; st.global.v2.b64 [%to+16], {{%y, %z}}; add.u64 %to, %to, 32; }}\n",
            "",
            "",
            part("%b", "%b"),
            part("%c", "%c"),
            i.name()
        ));
    }
    format!(
        "{HEADER}.shared .align 16 .b8 window[2048];
        .visible .entry k(.param .u64 in, .param .u64 cells, .param .u64 out, .param .u64 stride) {{
        .reg .b32 %t; .reg .b64 %i, %from, %cell, %to, %n, %window, %w;
        mov.u32 %t, %tid.x; cvt.u64.u32 %i, %t; ld.param.u64 %from, [in]; mad.lo.u64 %from, %i, 48, %from;
        ld.param.u64 %cell, [cells]; mad.lo.u64 %cell, %i, 16, %cell; ld.param.u64 %n, [stride];
        ld.param.u64 %to, [out]; mad.lo.u64 %to, %i, %n, %to; mov.u64 %window, window; mul.lo.u64 %w, %i, 16;
        add.u64 %window, %window, %w;\n{body}ret; }}"
    )
}

/// Each atomic operation alone on its cell: its result and the memory after it.
#[test]
fn atomics() {
    let mut count = 0;
    for form in forms().filter(|f| matches!(f.opcode, Opcode::Atom | Opcode::Red)) {
        let all = instances(form);
        // Orders and scopes make no difference on one thread: each is tested once, not all combinations.
        let plain = |i: &&Instance| {
            let orders = i.modifiers.iter().filter(|m| {
                matches!(
                    m,
                    M::Weak
                        | M::Volatile
                        | M::Relaxed
                        | M::Acquire
                        | M::Release
                        | M::AcqRel
                        | M::Sc
                        | M::Cta
                        | M::Cluster
                        | M::Gpu
                        | M::Sys
                )
            });
            // Vectors are tested separately.
            // So are those that signal a barrier (`signals`).
            let signals = i.has(M::CompleteBytes);
            !signals && space(i).is_some() && orders.count() <= 1 && !i.has(M::V2) && !i.has(M::V4)
        };
        let all: Vec<&Instance> = all.iter().filter(plain).collect();
        for ty in form.types[0] {
            let of_type: Vec<&Instance> = all.iter().copied().filter(|i| i.ty() == *ty).collect();
            for chunk in of_type.chunks(16) {
                check_atomics(*ty, chunk);
                count += chunk.len();
            }
        }
    }
    assert!(count > 1000, "{count}");
}

fn check_atomics(ty: Type, instances: &[&Instance]) {
    let cases = operands(ty);
    let split = |x: u128| [x as u64, (x >> 64) as u64];
    let flat: Vec<u64> = cases.iter().flatten().flat_map(|x| split(*x)).collect();
    let text = atomic_text(instances);
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let n = cases.len();
    let (from, cells) = (Memory::new(&flat), Memory::new(&vec![0; n * 2]));
    let out = Memory::new(&vec![0; n * instances.len() * 4]);
    let stride = instances.len() as u64 * 32;
    let params = [from.address(), cells.address(), out.address(), stride];
    assert_eq!(launch(module, 1, n as u32, &params), CUresult::CUDA_SUCCESS);
    unload(module);
    let words = out.read(n * instances.len() * 4);
    for (case, results) in cases.iter().zip(words.chunks(instances.len() * 4)) {
        for (i, result) in instances.iter().zip(results.chunks(4)) {
            let new = u128::from(result[2]) | u128::from(result[3]) << 64;
            let want = updated(i, case[0], case[1], case[2]);
            assert_eq!((result[0], new), (case[0] as u64, want), "{} of {case:x?}", i.name());
        }
    }
}

/// `f32` is flushed in global memory and not in shared memory, with each kind of address.
#[test]
fn generic_atomics_follow_the_memory_that_they_meet() {
    for (add, result) in [("atom.add.f32 %r3, ", true), ("red.add.f32 ", false)] {
        let body = format!(
            ".reg .u64 %at<2>; mov.u64 %at0, s; cvta.shared.u64 %at0, %at0; mov.u64 %at1, g; mov.b32 %r1, 3; mov.b32 %r2, 5;
            st.b32 [%at0], %r1; st.b32 [%at1], %r1; mov.b32 %r3, 3; {add}[%at0], %r2; mov.b32 %r4, %r3; {add}[%at1], %r2;
            ld.shared.b32 %r5, [s]; ld.global.b32 %r6, [g]; mov.b64 %rd1, {{%r5, %r6}}; mov.b64 %rd2, {{%r4, %r3}};
            st.b64 [%out], %rd1; st.b64 [%out+8], %rd2;"
        );
        assert_eq!(pair(SPACES, &body), [8, 3 << 32 | 3], "{add} gives a result: {result}");
    }
}

/// The conversion in CUDA's header: through a register of eight bits.
#[test]
fn registers_of_eight_bits_take_what_is_converted() {
    for (ty, expected) in [("s8", [0xfd, 0x80, 0x7f]), ("u8", [0, 0, 0xff])] {
        for (value, expected) in [0xc060u32, 0xc4fa, 0x44fa].into_iter().zip(expected) {
            let body = format!(
                "mov.b16 %h1, 0x{value:x}; {{ .reg .b8 %narrow; cvt.rzi.{ty}.bf16 %narrow, %h1;
                mov.b16 %h2, {{%narrow, 0}}; }} cvt.u64.u16 %rd1, %h2; st.b64 [%out], %rd1;"
            );
            gives("", &body, &[expected]);
        }
    }
}

/// Each element is added separately; other memory is not written.
#[test]
fn vectors_of_floats_are_added_element_by_element() {
    let float = |x: f32| u64::from(x.to_bits());
    let both = |low: f32, high: f32| float(high) << 32 | float(low);
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .b64 %a; .reg .f32 %f<9>; ld.param.u64 %a, [p];
        mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40800000; mov.f32 %f4, 0f00000001;
        red.global.add.v2.f32 [%a], {{%f1, %f2}}; atom.relaxed.gpu.global.v2.f32.add {{%f5, _}}, [%a], {{%f2, %f1}};
        atom.add.v4.f32 {{%f1, %f2, %f3, %f4}}, [%a+16], {{%f1, %f2, %f3, %f4}};
        red.relaxed.sys.global.v4.f32.add [%a+32], {{%f1, %f2, %f3, %f4}}; st.global.f32 [%a+48], %f5; ret; }}"
    );
    let module = load(&text).unwrap();
    let start = [both(10., 20.), 7, both(0.5, 1.5), both(2.5, 0.), both(1., 1.), both(1., 1.), 0];
    let cells = Memory::new(&start);
    assert_eq!(launch(module, 1, 1, &[cells.address()]), CUresult::CUDA_SUCCESS);
    let expected = [both(13., 23.), 7, both(1.5, 3.5), both(6.5, 0.), both(1.5, 2.5), both(3.5, 1.), float(11.)];
    assert_eq!(cells.read(7), expected);
    // Many threads, each with its own registers: no address is torn.
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .b64 %a; .reg .f32 %f<3>; ld.param.u64 %a, [p];
        mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; red.global.add.v2.f32 [%a], {{%f1, %f2}}; ret; }}"
    );
    let module = load(&text).unwrap();
    let cells = Memory::new(&[0]);
    assert_eq!(launch(module, 64, 128, &[cells.address()]), CUresult::CUDA_SUCCESS);
    assert_eq!(cells.read(1), [both(8192., 16384.)]);
    // The vector must have this many registers; shared memory has no such operation.
    for (instruction, what) in [
        ("red.global.add.v2.f32 [%a], {%f1, %f2, %f3, %f4}", "needs 2 element(s), but 4 are given"),
        ("atom.global.add.v4.f32 {%f1, %f2}, [%a], {%f1, %f2, %f3, %f4}", "needs 4 element(s), but 2 are given"),
        ("atom.global.add.v2.f32 %f1, [%a], {%f1, %f2}", "needs 2 element(s), but 1 are given"),
        ("red.global.add.v2.f32 [%a], %f1", "needs 2 element(s), but 1 are given"),
        ("red.shared.add.v2.f32 [%a], {%f1, %f2}", "red.shared.add.v2.f32"),
        ("red.global.add.v2.f64 [%a], {%f1, %f2}", "red.global.add.v2.f64"),
    ] {
        let text = format!(
            "{HEADER}.visible .entry k() {{ .reg .b64 %a; .reg .f32 %f<9>; mov.b64 %a, 0; {instruction}; ret; }}"
        );
        let log = load(&text).unwrap_err();
        assert!(log.contains(what), "{instruction}: {log}");
    }
}

#[test]
fn many_threads_add_to_one_half() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .b64 %a; .reg .b32 %one; ld.param.u64 %a, [p];
        mov.b32 %one, 0x3c003c00; red.global.add.noftz.f16x2 [%a], %one; red.global.add.noftz.bf16 [%a+4], 0x3f80;
        red.global.add.f64 [%a+8], 0d3FF0000000000000; ret; }}"
    );
    let text = text
        .replace("[%a+4], 0x3f80", "[%a+4], %h")
        .replace(".reg .b32 %one;", ".reg .b32 %one; .reg .b16 %h; mov.b16 %h, 0x3f80;");
    let module = load(&text).unwrap();
    let cell = Memory::new(&[0, 0]);
    assert_eq!(launch(module, 8, 128, &[cell.address()]), CUresult::CUDA_SUCCESS);
    // 1024 in halves; `bf16` stops at 256, where adding 1 rounds back.
    assert_eq!(cell.read(2), [0x4380_6400_6400, 1024f64.to_bits()]);
}
