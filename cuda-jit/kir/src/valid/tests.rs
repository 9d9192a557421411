//! Tests of the verifier: the smallest modules that break each rule, and valid corner cases.

use std::collections::HashSet;

use super::{Rule, verify};
use crate::text::parse;

/// The smallest module that breaks each rule; several for a rule with several parts.
const BROKEN: &[(Rule, &str)] = &[
    (Rule::Kernel, "kir 1"),
    (Rule::KernelResult, "kir 1 kernel f() -> u8 { b0: v0: u8 = const u8 1 return v0 }"),
    (Rule::FunctionName, "kir 1 kernel \"1a\"() { b0: return }"),
    (Rule::FunctionName, "kir 1 kernel \"\"() { b0: return }"),
    (Rule::FunctionName, "kir 1 kernel _() { b0: return }"),
    (Rule::FunctionName, "kir 1 kernel WARP_SZ() { b0: return }"),
    (Rule::FunctionName, "kir 1 kernel a.b() { b0: return }"),
    (Rule::UniqueName, "kir 1 kernel f() { b0: return } device f() { b0: return }"),
    (Rule::VariableName, "kir 1 kernel f(v0 \"a b\": u8) { b0: return }"),
    (Rule::VariableName, "kir 1 kernel f() { slot s0 \"é\": u8 b0: return }"),
    (Rule::ScalarAccess, "kir 1 kernel f(v0 x: u8 readwrite) { b0: return }"),
    (Rule::Extent, "kir 1 kernel f(v0 x: u32 extent) { b0: return }"),
    (Rule::Extent, "kir 1 kernel f(v0 x: u32 stride) { b0: return }"),
    (Rule::Extent, "kir 1 kernel f() { b0: return } device g(v0 x: u64 extent) { b0: return }"),
    (
        Rule::PointerResult,
        "kir 1 kernel f() { b0: return } device g(v0 p: ptr global u8 read) -> ptr global u8 { b0: return v0 }",
    ),
    (Rule::Entry, "kir 1 kernel f() { }"),
    (Rule::JumpToEntry, "kir 1 kernel f() { b0: jump b1 b1: jump b0 }"),
    (Rule::JumpToEntry, "kir 1 kernel f() { b0: v0: bool = const bool true branch v0, b1, b0 b1: return }"),
    (Rule::InRange, "kir 1 kernel f() { b0: jump b1 }"),
    (Rule::InRange, "kir 1 kernel f() { b0: v0: u8 = get s0 return }"),
    (Rule::InRange, "kir 1 kernel f(v0 x: u8) { b0: set s0, v0 return }"),
    (Rule::InRange, "kir 1 kernel f() { b0: call f1() return }"),
    (Rule::InRange, "kir 1 kernel f() { b0: panic 0 }"),
    (Rule::Numbering, "kir 1 kernel f() { b0: v1: u8 = const u8 1 return }"),
    (Rule::Numbering, "kir 1 kernel f(v0 x: u8) { b0: v0: u8 = const u8 1 return }"),
    (Rule::KernelPointer, "kir 1 kernel f(v0 p: ptr shared f32 read) { b0: return }"),
    (Rule::Array, "kir 1 shared m0 a: f32 0 kernel f() { b0: return }"),
    (Rule::Array, "kir 1 kernel f() { array a0 a: f64 1000000000 b0: return }"),
    (Rule::Array, "kir 1 constant c0 a: f32 0 constant \"\" kernel f() { b0: return }"),
    (Rule::Constant, "kir 1 constant c0 a: u16 2 constant \"010203\" kernel f() { b0: return }"),
    (Rule::Constant, "kir 1 constant c0 a: u16 1 shared \"0102\" kernel f() { b0: return }"),
    (Rule::Constant, "kir 1 constant c0 a: u16 1 global host \"0102\" kernel f() { b0: return }"),
    (Rule::InRange, "kir 1 kernel f() { b0: v0: ptr constant u8 = constant c0 return }"),
    (
        Rule::Result,
        "kir 1 constant c0 a: u8 1 global \"00\" kernel f() { b0: v0: ptr constant u8 = constant c0 return }",
    ),
    (
        Rule::StoreAccess,
        "kir 1 constant c0 a: u8 1 constant host \"00\" \
         kernel f() { b0: v0: ptr constant u8 = constant c0 v1: u8 = const u8 1 store v0, v1 return }",
    ),
    (Rule::SourceType, "kir 1 type t0 \"a\": array 2 t0 kernel f() { b0: return }"),
    (Rule::SourceType, "kir 1 type t0 \"a\": pointer global t1 type t1 \"b\": u8 kernel f() { b0: return }"),
    (Rule::SourceType, "kir 1 type t0 \"a\": u16 type t1 \"b\": struct 2 {\"x\" 1: t0} kernel f() { b0: return }"),
    (Rule::SourceType, "kir 1 type t0 \"a\": u16 type t1 \"b\": array 1073741824 t0 kernel f() { b0: return }"),
    (Rule::SourceScope, "kir 1 kernel f() { scope x0 \"f\":1:1 in x0 b0: return }"),
    (Rule::InRange, "kir 1 kernel f() { b0: line \"f\":1:1 in x0 return }"),
    (Rule::InRange, "kir 1 type t0 \"a\": u8 kernel f() { variable \"v\": t0 \"f\":1:1 in x0 at b0: return }"),
    (Rule::InRange, "kir 1 kernel f() { variable \"v\": t0 \"f\":1:1 at b0: return }"),
    (Rule::InRange, "kir 1 type t0 \"a\": u8 kernel f() { variable \"v\": t0 \"f\":1:1 at s0 0 b0: return }"),
    (Rule::InRange, "kir 1 type t0 \"a\": u8 kernel f() { variable \"v\": t0 \"f\":1:1 at a0 b0: return }"),
    (
        Rule::Variable,
        "kir 1 type t0 \"a\": u16 kernel f() { array a0 a: u8 1 variable \"v\": t0 \"f\":1:1 at a0 b0: return }",
    ),
    (
        Rule::Variable,
        "kir 1 type t0 \"a\": u8 kernel f() { slot s0 s: u16 variable \"v\": t0 \"f\":1:1 at s0 0 b0: return }",
    ),
    (
        Rule::Variable,
        "kir 1 type t0 \"a\": u64 kernel f() { slot s0 s: u16 variable \"v\": t0 \"f\":1:1 at s0 1 b0: return }",
    ),
    (
        Rule::Variable,
        "kir 1 type t0 \"a\": u64 kernel f() { slot s0 s: u16 slot s1 t: u16 \
         variable \"v\": t0 \"f\":1:1 at s0 2 s1 0 b0: return }",
    ),
    (
        Rule::Variable,
        "kir 1 type t0 \"a\": u64 kernel f() { slot s0 s: u16 \
         variable \"v\": t0 \"f\":1:1 at s0 0 variable \"w\": t0 \"f\":1:1 at s0 0 b0: return }",
    ),
    (Rule::Definition, "kir 1 kernel f() { b0: v0: u8 = not v1 v1: u8 = not v0 return }"),
    (
        Rule::Definition,
        "kir 1 kernel f(v0 c: bool) { b0: branch v0, b1, b2 b1: v1: u8 = const u8 1 jump b2 b2: v2: u8 = not v1 return }",
    ),
    (Rule::Definition, "kir 1 kernel f() { b0: branch v0, b1, b1 b1: return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: u8) { b0: v1: u8 = sqrt v0 return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: f64) { b0: v1: f32 = math sinf(v0) return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: f32, v1 y: f64) { b0: v2: f32 = math powf(v0, v1) return }"),
    (Rule::Arguments, "kir 1 kernel f(v0 x: f32) { b0: v1: f32 = math powf(v0) return }"),
    (
        Rule::Operand,
        "kir 1 kernel f(v0 x: f64, v1 p: ptr global i32 readwrite) { b0: v2: f64 = math frexp(v0, v1) return }",
    ),
    (Rule::Operand, "kir 1 kernel f(v0 n: i32, v1 p: ptr global f32 read) { b0: v2: f64 = math norm(v0, v1) return }"),
    (Rule::Result, "kir 1 kernel f(v0 x: f32) { b0: math sinf(v0) return }"),
    (Rule::Arguments, "kir 1 kernel f() { b0: v0: f32 = math sinf() return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: u8, v1 y: i8) { b0: v2: u8 = add v0, v1 return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: u8) { b0: v1: bool = cast v0 to bool return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: u8) { b0: v1: u16 = bitcast v0 to u16 return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: u8) { b0: v1: bool = overflows shl v0, v0 return }"),
    (
        Rule::Operand,
        "kir 1 kernel f(v0 p: ptr global u8 read, v1 n: u32) { b0: v2: ptr global u8 = offset v0, v1 return }",
    ),
    (Rule::Operand, "kir 1 kernel f(v0 p: ptr global u8 readwrite, v1 n: u32) { b0: store v0, v1 return }"),
    (Rule::Operand, "kir 1 kernel f(v0 p: ptr global u8 read) { b0: v1: bool = eq v0, v0 return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: u8) { slot s0 a: i8 b0: set s0, v0 return }"),
    (Rule::Result, "kir 1 kernel f(v0 x: u8) { b0: v1: i8 = not v0 return }"),
    (Rule::Result, "kir 1 kernel f(v0 x: u8) { b0: not v0 return }"),
    (Rule::Result, "kir 1 kernel f() { b0: v0: u8 = call f1() return } device g() { b0: return }"),
    (Rule::FunctionName, "kir 1 kernel vprintf() { b0: return }"),
    (Rule::FunctionName, "kir 1 kernel cudaGraphSetConditional() { b0: return }"),
    (Rule::Format, "kir 1 kernel f(v0 x: f64) { b0: print \"%d\" (v0) return }"),
    (Rule::Format, "kir 1 kernel f(v0 x: u32) { b0: print \"%u %u\" (v0) return }"),
    (Rule::Format, "kir 1 kernel f(v0 x: u32) { b0: print \"%n\" (v0) return }"),
    (Rule::ConstantBits, "kir 1 kernel f() { b0: v0: u8 = const u8 0x1ff return }"),
    (Rule::ConstantBits, "kir 1 kernel f() { b0: v0: bool = const bool 0x2 return }"),
    (Rule::Condition, "kir 1 kernel f(v0 x: u8) { b0: branch v0, b1, b1 b1: return }"),
    (Rule::Return, "kir 1 kernel f(v0 x: u8) { b0: return v0 }"),
    (Rule::Return, "kir 1 kernel f() { b0: return } device g() -> u8 { b0: return }"),
    (Rule::Return, "kir 1 kernel f() { b0: return } device g(v0 x: i8) -> u8 { b0: return v0 }"),
    (Rule::Arguments, "kir 1 kernel f() { b0: call f1() return } device g(v0 x: i8) { b0: return }"),
    (Rule::Arguments, "kir 1 kernel f(v0 x: u8) { b0: call f1(v0) return } device g(v0 x: i8) { b0: return }"),
    (
        Rule::Arguments,
        "kir 1 kernel f(v0 p: ptr global u8 readwrite) { b0: call f1(v0) return } device g(v0 p: ptr global u8 read) { b0: return }",
    ),
    (Rule::Exported, "kir 1 kernel f(v0 p: ptr global u8 readwrite by_value) { b0: return }"),
    (Rule::Exported, "kir 1 exported device f(v0 p: ptr local u8 read by_value) { b0: return }"),
    (Rule::Exported, "kir 1 exported device f(v0 p: ptr global u8 readwrite by_value) { b0: return }"),
    (Rule::Exported, "kir 1 exported device f(v0 x: u8, v1 p: ptr local u8 readwrite returned) { b0: return }"),
    (
        Rule::Exported,
        "kir 1 exported device f() { b0: return } device g(v0 p: ptr local u8 readwrite by_value) { b0: return }",
    ),
    (
        Rule::Exported,
        "kir 1 exported device f(v0 p: ptr local u8 readwrite returned) -> u8 { b0: v1: u8 = const u8 1 return v1 }",
    ),
    (Rule::ExportedLaunch, "kir 1 exported shared m0 a: u8 60000 device f() { b0: return }"),
    (Rule::ExportedLaunch, "kir 1 exported constant c0 a: u8 1 constant host \"00\" device f() { b0: return }"),
    (Rule::CallsKernel, "kir 1 kernel f() { b0: call f0() return }"),
    (
        Rule::PanicArguments,
        "kir 1 site 0 \"a\":1:1 \"b\" kernel f(v0 x: u64) { b0: panic 0 (v0, v0, v0, v0, v0, v0, v0, v0, v0) }",
    ),
    (Rule::PanicArguments, "kir 1 site 0 \"a\":1:1 \"b\" kernel f(v0 x: u32) { b0: panic 0 (v0) }"),
    (
        Rule::StoreAccess,
        "kir 1 kernel f(v0 p: ptr global u8 read, v1 n: u64, v2 x: u8) { b0: v3: ptr global u8 = offset v0, v1 store v3, v2 return }",
    ),
    (
        Rule::StoreAccess,
        "kir 1 kernel f(v0 p: ptr global u8 read, v1 x: u8) { slot s0 p: ptr global u8 b0: v2: ptr global u8 = get s0 store v2, v1 jump b1 b1: set s0, v0 return }",
    ),
    (
        Rule::StoreAccess,
        "kir 1 kernel f(v0 x: u8) { slot s0 p: ptr global u8 b0: v1: ptr global u8 = get s0 store v1, v0 return }",
    ),
    (
        Rule::Field,
        "kir 1 kernel f(v0 p: ptr global record 8 align 4 read) { b0: v1: ptr global u32 = field v0, 8 to u32 return }",
    ),
    (
        Rule::Field,
        "kir 1 kernel f(v0 p: ptr global record 8 align 4 read) { b0: v1: ptr global u64 = field v0, 0 to u64 return }",
    ),
    (Rule::Operand, "kir 1 kernel f(v0 p: ptr global record 8 align 4 read) { b0: v1: u32 = load v0 return }"),
    (Rule::Record, "kir 1 kernel f(v0 p: ptr global record 6 align 4 read) { b0: return }"),
    (Rule::Record, "kir 1 shared m0 a: record 4 align 3 1 kernel f() { b0: return }"),
    (Rule::StoreAccess, "kir 1 kernel f(v0 p: ptr global u32 read) { b0: v1: u32 = atomic_load v0 return }"),
    (Rule::LoadAccess, "kir 1 kernel f(v0 p: ptr global u8 readwrite) { b0: v1: u8 = load.nc v0 return }"),
    (
        Rule::Order,
        "kir 1 kernel f(v0 p: ptr global u32 readwrite) { b0: v1: u32 = atomic_load release block v0 return }",
    ),
    (
        Rule::Order,
        "kir 1 kernel f(v0 p: ptr global u32 readwrite, v1 x: u32) { b0: atomic_store acq_rel device v0, v1 return }",
    ),
    (Rule::Operand, "kir 1 kernel f(v0 p: ptr global bool readwrite) { b0: v1: bool = atomic_load v0 return }"),
    (
        Rule::Operand,
        "kir 1 kernel f(v0 p: ptr global u8 readwrite, v1 x: u8) { b0: v2: u8 = compare_exchange v0, v1, v1 return }",
    ),
    (Rule::ShuffleSegment, "kir 1 kernel f(v0 x: u32) { b0: v1: u32 = shuffle up within 12 v0, v0, v0 return }"),
    (Rule::ShuffleSegment, "kir 1 kernel f(v0 x: u32) { b0: v1: u32 = shuffle up within 64 v0, v0, v0 return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: u32, v1 y: f32) { b0: v2: f32 = reduce add v0, v1 return }"),
    (Rule::Operand, "kir 1 kernel f(v0 x: i32) { b0: v1: i32 = byte_perm v0, v0, v0 return }"),
    (
        Rule::MixedAccess,
        "kir 1 kernel f(v0 p: ptr global u8 read, v1 q: ptr global u8 readwrite) { slot s0 p: ptr global u8 b0: set s0, v0 set s0, v1 return }",
    ),
    (
        Rule::MixedAccess,
        "kir 1 kernel f(v0 p: ptr global u8 read, v1 q: ptr global u8 readwrite, v2 c: bool) { b0: v3: ptr global u8 = select v2, v0, v1 return }",
    ),
    (
        Rule::GenericAccess,
        "kir 1 kernel f(v0 p: ptr global u8 readwrite) { b0: v1: ptr generic u8 = generic v0 read return }",
    ),
    (Rule::Result, "kir 1 kernel f(v0 p: ptr global u8 read) { b0: v1: ptr global u8 = generic v0 read return }"),
    (
        Rule::StoreAccess,
        "kir 1 kernel f(v0 p: ptr global u8 read, v1 x: u8) { b0: v2: ptr generic u8 = generic v0 read store v2, v1 return }",
    ),
    (Rule::Operand, "kir 1 kernel f(v0 x: u64) { b0: v1: ptr generic u8 = generic v0 read return }"),
    (
        Rule::VectorWidth,
        "kir 1 kernel f(v0 x: ptr global u8 readwrite, v1 y: u8) { b0: store.cs v0, v1, v1, v1 return }",
    ),
    (
        Rule::VectorWidth,
        "kir 1 kernel f(v0 x: ptr global f64 read) { slot s0 a: f64 b0: load.cs v0, s0, s0, s0, s0 return }",
    ),
    (
        Rule::Operand,
        "kir 1 kernel f(v0 x: ptr global f32 read) { slot s0 a: f32 slot s1 b: u32 b0: load.cs v0, s0, s1 return }",
    ),
    (
        Rule::Operand,
        "kir 1 kernel f(v0 x: ptr global f32 readwrite, v1 y: f32, v2 z: u32) { b0: store.cs v0, v1, v2 return }",
    ),
    (Rule::StoreAccess, "kir 1 kernel f(v0 x: ptr global f32 read, v1 y: f32) { b0: store.cs v0, v1, v1 return }"),
    (
        Rule::LoadAccess,
        "kir 1 kernel f(v0 x: ptr global f32 readwrite) { slot s0 a: f32 b0: load.nc v0, s0, s0 return }",
    ),
];

#[test]
fn every_rule_is_checked() {
    let (bytes, body) = (|count: usize| "00".repeat(count), "kernel f() { b0: return }");
    let full = format!("kir 1 constant c0 a: u8 65536 constant \"{}\"", bytes(65536));
    verify(&parse(&format!("{full} {body}")).unwrap()).unwrap();
    let too_full = format!("{full} constant c1 a: u8 1 constant \"00\" {body}");
    for (rule, text) in BROKEN.iter().chain(&[(Rule::ConstantMemory, too_full.as_str())]) {
        let module = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let error = verify(&module).expect_err(text);
        assert_eq!(error.rule, *rule, "{text}: {error}");
    }
    let checked: HashSet<Rule> = BROKEN.iter().map(|(rule, _)| *rule).chain([Rule::ConstantMemory]).collect();
    for rule in Rule::ALL {
        assert!(checked.contains(rule), "{rule:?} is not tested");
    }
}

#[test]
fn modules_that_the_rules_allow() {
    let allowed = [
        "kir 1 kernel f(v0 x: f64, v1 n: i32, v2 p: ptr global f64 read) { array a0 e: i32 1 b0: \
         v3: ptr local i32 = local a0 v4: f64 = math frexp(v0, v3) v5: f64 = math norm(v1, v2) return }",
        "kir 1 kernel f() { b0: return b1: jump b1 }",
        "kir 1 kernel f() { slot s0 a: u8 slot s1 a: u8 b0: v0: u8 = get s0 set s1, v0 return }",
        "kir 1 kernel f() { b0: call f1() return } device g() { b0: call f1() return }",
        "kir 1 kernel f(v0 x: u8) { b0: jump b1 b1: v1: u8 = not v0 return }",
        "kir 1 kernel f(v0 x: u64 extent) { b0: return }",
        "kir 1 kernel f(v0 x: bool) { b0: v1: bool = lt v0, v0 v2: f32 = cast v0 to f32 return }",
        "kir 1 kernel f(v0 p: ptr global record 8 align 4 readwrite, v1 x: u32) { b0: \
         v2: ptr global record 4 align 4 = field v0, 4 to record 4 align 4 v3: ptr global u32 = field v2, 0 to u32 \
         store v3, v1 return }",
        "kir 1 kernel f(v0 p: ptr global u16 readwrite, v1 x: u16) { b0: v2: u16 = atomic_load seq_cst system v0 \
         v3: u16 = compare_exchange v0, v1, v2 atomic_store release block v0, v3 return }",
        "kir 1 kernel f(v0 p: ptr global u8 readwrite, v1 x: u8) { slot s0 p: ptr global u8 \
         b0: set s0, v0 jump b1 b1: v2: ptr global u8 = get s0 store v2, v1 return }",
    ];
    for text in allowed {
        verify(&parse(text).expect(text)).expect(text);
    }
}

#[test]
fn an_error_names_the_position() {
    let text = "kir 1 kernel f() { b0: return } device g(v0 x: f32) { b0: jump b1 b1: v1: f32 = neg v0 v2: f32 = add v0, v3 return }";
    let error = verify(&parse(text).expect(text)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid KIR in `g`, block b1, instruction 1: `v2: f32 = add v0, v3`: v3 is not defined yet. A value is used \
         after its definition, in the same block or in a later one that the definition's block dominates."
    );
}
