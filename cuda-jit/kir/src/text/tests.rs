//! Corner cases of the text form; `tests/generated` round-trips generated modules.

use super::parse;
use crate::{
    Access, Const, Function, Inst, LibFn, Location, Module, Op, Param, Role, Scalar, Site, Terminator, Type, Value,
};

/// A module with one function of one block with these operations.
fn module(ops: Vec<Op>) -> Module {
    let insts = ops.into_iter().enumerate().map(|(index, op)| {
        let result = Some((Value(index as u32), Type::Scalar(Scalar::Bool)));
        Inst { op, result }
    });
    let block = crate::Block { insts: insts.collect(), end: Terminator::Return(None) };
    let function = Function {
        name: "f".to_owned(),
        params: Vec::new(),
        result: None,
        slots: Vec::new(),
        arrays: Vec::new(),
        scopes: Vec::new(),
        variables: Vec::new(),
        blocks: vec![block],
    };
    Module {
        contract: false,
        exported: false,
        functions: vec![function],
        sites: Vec::new(),
        shared: Vec::new(),
        constants: Vec::new(),
        types: Vec::new(),
    }
}

fn round_trips(module: &Module) {
    let text = module.to_string();
    assert_eq!(parse(&text).as_ref(), Ok(module), "{text}");
}

#[test]
fn constants_keep_their_bits() {
    let interesting = [
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        0x8000,
        0xffff_ffff,
        0x8000_0000,
        1 << 63,
        u64::MAX.into(),
        1 << 127,
        u128::MAX,
        f32::NAN.to_bits().into(),
        0x7f80_0001, // a signalling NaN
        f32::MAX.to_bits().into(),
        f32::INFINITY.to_bits().into(),
        f64::NEG_INFINITY.to_bits().into(),
        f64::MIN_POSITIVE.to_bits().into(),
        0.1f64.to_bits().into(),
        (-0.0f64).to_bits().into(),
    ];
    let constants = Scalar::ALL.iter().flat_map(|&ty| interesting.map(|bits| Op::Const(Const { ty, bits })));
    round_trips(&module(constants.collect()));
}

#[test]
fn locations_round_trip() {
    let place = |file: &str, line| Op::Line(Location { file: file.into(), line, column: 7 }, None);
    let mut module = module(vec![place("src/main.rs", 12), place("\"\\\n", 0)]);
    module.functions[0].blocks[0].insts.iter_mut().for_each(|inst| inst.result = None);
    assert!(module.to_string().contains("  line \"src/main.rs\":12:7\n"), "{module}");
    round_trips(&module);
}

#[test]
fn calls_of_libdevice_round_trip() {
    let call = |&function: &LibFn| Op::Math(function, vec![Value(0); function.args.len()]);
    round_trips(&module(LibFn::ALL.iter().map(call).collect()));
}

#[test]
fn constants_are_readable() {
    let shown = |ty, bits| Const { ty, bits }.to_string();
    assert_eq!(shown(Scalar::F32, 1.5f32.to_bits().into()), "f32 1.5");
    assert_eq!(shown(Scalar::F32, f32::MIN_POSITIVE.to_bits().into()), "f32 1.1754944e-38");
    assert_eq!(shown(Scalar::F64, 0x7ff8_0000_0000_0001), "f64 0x7ff8000000000001");
    assert_eq!(shown(Scalar::I8, 0xff), "i8 -1");
    assert_eq!(shown(Scalar::U8, 0xff), "u8 255");
    assert_eq!(shown(Scalar::I128, u128::MAX), "i128 -1");
    assert_eq!(shown(Scalar::U128, u128::MAX), format!("u128 {}", u128::MAX));
    assert_eq!(shown(Scalar::Bool, 1), "bool true");
}

#[test]
fn modules_that_break_every_rule_round_trip() {
    let mut module = module(vec![Op::Get(crate::SlotId(7))]);
    module.contract = true;
    module.functions[0].name = "1 \"é\"\n".to_owned();
    module.functions[0].blocks[0].insts[0].result = Some((Value(u32::MAX), Scalar::U8.into()));
    module.functions[0].params =
        vec![Param { name: String::new(), ty: Scalar::F32.into(), access: Access::ReadWrite, role: Role::Extent }];
    module.functions.push(Function { name: "f".to_owned(), blocks: Vec::new(), ..module.functions[0].clone() });
    module.sites.push(Site { message: "\\\"\u{0}\r\n".to_owned(), file: String::new(), line: 0, column: u32::MAX });
    round_trips(&module);
    round_trips(&Module {
        contract: false,
        exported: true,
        functions: Vec::new(),
        sites: Vec::new(),
        shared: Vec::new(),
        constants: Vec::new(),
        types: Vec::new(),
    });
}

#[test]
fn constants_in_memory_round_trip() {
    let text = "kir 1\nconstant c0 a: record 4 align 2 2 constant host \"0102030405060708\"\n\
                constant c1 \"\": u8 0 global \"\"\nkernel f() {\nb0:\n  v0: ptr constant record 4 align 2 = constant c0\n  \
                return\n}\n";
    let module = parse(text).unwrap();
    assert_eq!(module.to_string(), text);
    assert_eq!((module.constants[0].bytes[7], module.constant_memory()), (8, 16));
}

#[test]
fn errors_name_the_place() {
    let errors = [
        ("kir 1 kernel f() { b0: v0: f32 = math sine() }", "1:39: expected a function of libdevice, found `sine`"),
        ("", "1:1: expected `kir`, found the end of the text"),
        ("kir 2", "1:5: expected version 1 of the text form, found `2`"),
        ("kir 1 device f() {}", "1:7: expected `kernel`, found `device`"),
        ("kir 1 exported kernel f() {}", "1:16: expected `device`, found `kernel`"),
        ("kir 1\nkernel f(v1 x: u8) {}", "2:10: expected index 0, found `v1`"),
        ("kir 1 kernel f(v0 x: ptr global u8) {}", "1:35: expected `read` or `readwrite`, found `)`"),
        ("kir 1 kernel f() { b0: v0: u8 = const u8 256 return }", "1:42: expected a literal of type u8, found `256`"),
        ("kir 1 kernel f() { b0: v0: i8 = const i8 -129 return }", "1:42: expected a literal of type i8, found `-129`"),
        (
            "kir 1 kernel f() { b0: v0: f32 = const f32 inf return }",
            "1:44: expected a literal of type f32, found `inf`",
        ),
        ("kir 1 kernel f() { b0: jump b01 }", "1:29: expected a block, such as `b0`, found `b01`"),
        ("kir 1 kernel f() { b0: v0: u8 = special tid }", "1:41: expected a special register, found `tid`"),
        ("kir 1 site 0 \"a", "1:14: this string has no closing `\"`"),
        (
            "kir 1 constant c0 a: u8 1 global \"0g\"",
            "1:34: expected bytes of two hexadecimal digits, found the string \"0g\"",
        ),
        ("kir 1 ; é\n  #", "2:3: no token begins with '#'"),
        (
            "kir 1 kernel f() { variable \"v\": u8 b0: return }",
            "1:34: expected a type of the source, such as `t0`, found `u8`",
        ),
        ("kir 1 type t0 \"a\": u8 type t0 \"b\": u8", "1:28: expected index 1, found `t0`"),
        ("kir 1 kernel f() { b0: return", "1:30: expected a block, such as `b0`, found the end of the text"),
    ];
    for (text, expected) in errors {
        assert_eq!(parse(text).expect_err(text).to_string(), expected, "{text}");
    }
}
