//! The parser: round trips, positions of errors, and text that must be refused.

use super::HEADER;
use crate::codegen::{self, Flavour};
use crate::ir::lower::lower;
use crate::link::with_library;
use crate::module::image;
use crate::ptx::{self, FunctionKind, Item, Module, parse};

const SAMPLE: &str = r#"
.version 7.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.global .align 4 .b32 table[4] = {1, -2, 0x3, 4};
.const .f32 half = 0f3F000000;
.func (.param .b32 ret) twice(.param .b32 x) .noreturn { .reg .b32 %r<3>; ld.param.b32 %r1, [x];
  add.s32 %r2, %r1, %r1; st.param.b32 [ret], %r2; ret; }
.visible .entry k(.param .u64 .ptr .global .align 1 k_param_0, .param .align 4 .b8 k_param_1[12])
.maxntid 256, 1, 1
{
  .local .align 8 .b8 __local_depot0[16];
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  .loc 1 2 3
  { .param .b32 param0; .param .b32 retval0;
  st.param.b32 [param0], %r1;
  call.uni (retval0), twice, (param0);
  ld.param.b32 %r2, [retval0]; }
  @!%p1 bra $L__BB0_1;
  setp.lt.and.s32 %p1|%p2, %r1, -5, !%p2;
  ld.global.nc.v2.b32 {%r3, _}, [%rd1+-8];
  fma.rn.ftz.f32 %r4, %r1, 0f40490FDB, %r3;
$L__BB0_1: // a label
  mov.u64 %rd2, table+4;
  mov.u64 %rd2, table[1];
  .reg .v4 .f32 %v<2>; mov.v4.f32 %v1, {%v0.y, %v0.x, 0f00000000, %v0.a};
  ld.global.u32 %r3, table[%r1+-2];
  atom.acq_rel.sys.global.cas.b32 %r5, [%rd2], 0, 1;
  mov.b64 %rd3, {%r1, %r2};
  bar.sync 0;
  barrier.sync.aligned 1, 64;
  bar.red.popc.u32 %r1, 0, 64, !%p1;
  shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;
  match.all.sync.b64 _|%p1, %rd1, -1;
  ret;
}
"#;

/// Matrices, asynchronous copies, and barriers in shared memory.
const MATRICES: &str = r#"
.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .pred %p<3>; .reg .b16 %h<2>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %rd<4>;
  .shared .align 16 .b8 s[64]; .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [p];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, _, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {0f00000000, %f1, %f2, %f3};
  @%p1 mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d0, %d1};
  mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r2, %r3}, {%r0, %r1, %r2, %r3};
  mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {0, 0, 0, 1};
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r0, %r1}, [s+16];
  stmatrix.sync.aligned.m8n8.x4.b16 [%rd1], {%r0, %r1, %r2, %r3};
  movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;
  wmma.load.a.sync.aligned.col.m16n16k16.global.u8 {%r0, %r1}, [%rd1+4], %r2;
  wmma.load.c.sync.aligned.row.m8n32k16.shared.f16 {%r0, %r1, %r2, %r3}, [s], 40;
  wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32.satfinite {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r0, %r1}, {%r2, %r3},
    {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};
  wmma.store.d.sync.aligned.col.m16n16k8.f32 [%rd1], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
  cp.async.ca.shared.global.L2::cache_hint.L2::128B [s], [%rd1], 8, %r1, %rd2;
  cp.async.cg.shared.global [s], [%rd1], 16, %p1;
  cp.async.commit_group; cp.async.wait_group 1; cp.async.wait_all;
  mbarrier.init.shared.b64 [bar], 32;
  cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd3, [bar], 64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%rd1], 64, [bar], %h1;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], %r1;
$W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0, 100; @!%p1 bra $W;
  mbarrier.pending_count.b64 %r1, %rd3;
  ret;
}
"#;

#[test]
fn text_round_trips() {
    for text in [SAMPLE, MATRICES] {
        let module = parse(text).unwrap();
        let printed = module.to_string();
        assert_eq!(parse(&printed).unwrap(), module, "{printed}");
        assert_eq!(parse(&printed).unwrap().to_string(), printed);
    }
}

/// nvcc's text with debug information, and the same without it.
#[test]
fn what_debuggers_are_told_is_kept_and_changes_no_code() {
    let text = include_str!("../../tests/samples/nvcc13_debug.ptx");
    let mut module = parse(text).unwrap();
    let is_section = |item: &Item| matches!(item, Item::Note(text) if text.starts_with(".section"));
    let kept = module.items.iter().filter(|item| is_section(item)).count();
    assert_eq!(kept, text.matches(".section").count());
    let last = module.items.iter().rfind(|item| is_section(item));
    assert_eq!(last, Some(&Item::Note(text[text.rfind(".section").unwrap()..].trim_end().to_owned())));
    let code = |module: Module| {
        let program = lower(&with_library(module)).unwrap();
        let is_kernel = |index: &usize| program.functions[*index].kind == FunctionKind::Entry;
        let kernels = (0..program.functions.len()).filter(is_kernel);
        let texts = |index| codegen::emit(&program, index, Flavour::default()).unwrap().texts.all().unwrap();
        kernels.flat_map(texts).collect::<Vec<_>>()
    };
    let with = code(module.clone());
    module.items.retain(|item| !is_section(item));
    assert_eq!(code(module), with);
}

/// Two stores to a slot in a long block would take LLVM quadratic time.
#[test]
fn only_registers_that_may_be_read_first_start_at_zero() {
    let module = parse(&format!(
        "{HEADER}.func (.param .b32 ret) f(.param .b32 x) {{ .reg .b32 %r<9>; ld.param.b32 %r1, [x];
         add.s32 %r2, %r1, %r8; st.param.b32 [ret], %r2; ret; }}
         .visible .entry k(.param .u64 a) {{ .reg .b32 %r<9>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [a];
         add.s32 %r1, %r7, 1; add.s32 %r2, %r1, 1; call.uni (%r3), f, (%r2); st.global.u32 [%rd1], %r3; ret; }}"
    ));
    let program = lower(&with_library(module.unwrap())).unwrap();
    let is_kernel = |index: &usize| program.functions[*index].kind == FunctionKind::Entry;
    let index = (0..program.functions.len()).find(is_kernel).unwrap();
    let code = codegen::emit(&program, index, Flavour::default()).unwrap();
    let fiber = codegen::emit_fiber(&program, &code, Flavour::default()).unwrap().0;
    for text in code.texts.all().unwrap().iter().chain([&fiber]) {
        let zeros = text.lines().filter(|line| line.trim().starts_with("store i32 0, ptr %r")).count();
        assert_eq!(zeros, 2, "one of the kernel, one of the function: {text}");
    }
}

fn error(body: &str) -> ptx::Error {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 a) {{\n.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n{body}\n}}"
    );
    match image(&text) {
        Ok(_) => panic!("'{body}' was accepted"),
        Err(error) => error,
    }
}

#[test]
fn errors_name_place_and_instruction() {
    for (body, column, words) in [
        ("frob.b32 %r1;", 1, "frob"),
        ("  add.s32 %r1, %r2;", 19, "','"),
        ("add.s32 %r1, %r2, %nope;", 1, "%nope"),
        ("add.s32 %r1, %rd2, %r3;", 1, "%rd2"),
        ("add.q32 %r1, %r2, %r3;", 1, "q32"),
        ("add.rn.s32 %r1, %r2, %r3;", 1, "add.rn.s32"),
        ("mov.u32 %r1, 5", 1, "';'"),
        ("bra NOWHERE;", 1, "NOWHERE"),
        ("mul.s32 %r1, %r2, %r3;", 1, "missing"),
        ("st.global.b32 [a], %r1;", 1, "'a'"),
        ("call.uni gone, ();", 1, "gone"),
        ("mov.u32 %r1, 99999999999999999999;", 14, "64 bits"),
        ("ld.global.v2.b32 {%r1}, [%rd1];", 1, "element"),
    ] {
        let error = error(body);
        assert!(error.message.contains(words), "{body}: {error}");
        let line = if body.ends_with('5') { 7 } else { 6 };
        assert_eq!((error.position.line, error.position.column), (line, column), "{body}: {error}");
    }
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    for body in [
        "barrier.cta.sync.aligned.all 0;",
        // Textures and surfaces.
        "tex.1d.v4.f32.s32 {%r1}, [%rd1];",
        "tld4.r.2d.v4.f32.f32 {%r1}, [%rd1];",
        "txq.width.b32 %r1, [%rd1];",
        "suld.b.1d.b32.trap %r1, [%rd1, {%r2}];",
        "sust.b.1d.b32.trap [%rd1, {%r1}], %r2;",
        "sured.b.add.1d.u32.trap [%rd1, {%r1}], %r2;",
        "suq.width.b32 %r1, [%rd1];",
        // Matrices.
        "wgmma.fence.sync.aligned ;",
        "tcgen05.wait::ld.sync.aligned ;",
        // Asynchronous copies, and instructions that wait for them.
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%rd2], %r1;",
        "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;",
        // Cluster launch control, and barriers and copies that access other blocks of a cluster.
        "clusterlaunchcontrol.try_cancel.async.b128 [%rd1], [%rd2];",
        "mapa.u32 %r1, %r2, %r3;",
        "multimem.ld_reduce.global.add.u32 %r1, [%rd1];",
        // Vectors of atomics, dynamic stack allocation.
        "red.global.add.noftz.v2.f16x2 [%rd1], {%r1, %r2};",
        "stacksave.u64 %rd1;",
        "alloca.u64 %rd1, %rd2;",
    ] {
        let error = error(&format!("  {body}"));
        let name = body.split(' ').next().unwrap();
        assert!(error.unsupported && error.message.contains(name), "{body}: {error}");
        assert_eq!((error.position.line, error.position.column), (6, 3), "{body}");
    }
}

/// Every prefix of a module gives a result and no panic.
#[test]
fn no_prefix_panics() {
    for end in 0..SAMPLE.len() {
        let _ = parse(&SAMPLE[..end]);
    }
}

/// Pieces that mutations insert: tokens of the grammar and the table, and extreme numbers.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ",",
    ".",
    "@",
    "%",
    "-",
    "!",
    "|",
    ":",
    "<",
    ">",
    "=",
    "\"",
    "/*",
    "//",
    "_",
    ".v4",
    ".f16x2",
    ".b128",
    ".pred",
    ".cc",
    ".sat",
    ".extern",
    ".weak",
    ".param",
    ".shared",
    ".local",
    ".reg .b64 %x;",
    "0",
    "-1",
    "18446744073709551615",
    "0f7FC00000",
    "0d7FF0000000000000",
    "4294967296",
    "1048577",
    "9e999",
    "generic(x)",
    "bra",
    "call",
    "cvt",
    "atom",
    "brx.idx",
    ".branchtargets",
    ".callprototype",
    ".section",
    ".loc",
    "ret;",
    "%r0",
    "%p1",
];

/// Mutates a text in a few places: a piece is inserted, a range dropped, duplicated or moved, a byte replaced.
fn mutated(text: &str, next: &mut impl FnMut() -> usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + next() % 3 {
        let at = next() % bytes.len();
        let end = (at + 1 + next() % 12).min(bytes.len());
        match next() % 5 {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let range = bytes[at..end].to_vec();
                bytes.splice(at..at, range);
            }
            2 => {
                let range: Vec<u8> = bytes.drain(at..end).collect();
                let to = next() % (bytes.len() + 1);
                bytes.splice(to..to, range);
            }
            3 => bytes[at] = (next() % 127) as u8,
            _ => drop(bytes.splice(at..at, PIECES[next() % PIECES.len()].bytes())),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Any text gives a module or an error, including in the code generator; the texts are the same in every run.
#[test]
fn no_mutation_panics() {
    let add = format!("{HEADER}{}", super::kernels::CHECKED_ADD);
    let other = format!("{HEADER}{}", super::programs::OTHER);
    let corpus = [SAMPLE, MATRICES, include_str!("../../tests/samples/llvm22.ptx"), &add, &other];
    assert!(corpus[1..].iter().all(|text| image(text).is_ok()));
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize
    };
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..7500 {
        let text = mutated(corpus[round % corpus.len()], &mut next);
        match image(&text) {
            Ok(_) => accepted += 1,
            Err(error) => {
                assert!(error.position.line as usize <= text.lines().count() + 1, "{error}");
                refused += 1;
            }
        }
    }
    // Most mutations break a text, some do not matter: both cases must occur.
    assert!(accepted > 100 && refused > 1000, "{accepted} accepted, {refused} refused");
}

/// A module of two kernels: loading it checks both and emits neither.
#[test]
fn a_kernel_is_emitted_when_it_is_launched_and_checked_when_it_is_loaded() {
    let two = |other: &str| {
        let registers = ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .f32 %f<2>;";
        image(&format!(
            "{HEADER}.func (.param .b32 r) callee() {{ {registers} {other} ret; }}
             .visible .entry one() {{ ret; }}
             .visible .entry other() {{ {registers} .local .b32 l; st.local.b32 [l], 1; {other} ret; }}"
        ))
    };
    let image = two("shfl.sync.idx.b32 %r1|%p1, %r2, 1, 31, -1;").unwrap();
    let kernel = |name: &str| &image.kernels[name];
    assert_eq!(kernel("other").local_bytes(), 16);
    assert!(!kernel("one").has_code() && !kernel("other").has_code());
    super::run(&image, "one", [1, 1, 1], [1, 1, 1], &[]).unwrap();
    assert!(kernel("one").has_code() && !kernel("other").has_code());
    // The instruction table has this form, the code generator does not support it.
    let error = two("cvt.s32.f32 %r1, %f1;").err().unwrap();
    assert!(error.unsupported && error.message.contains(".rzi"), "{error}");
}
