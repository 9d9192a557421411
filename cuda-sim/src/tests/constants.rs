//! Constant expressions: their values are those that ptxas writes to a variable.

use super::HEADER;
use super::sync::check;
use super::variables::refused;
use crate::module::image;
use crate::ptx::{Init, Item, parse};

/// Returns the initial value of a variable of this type.
fn value(ty: &str, expression: &str) -> Init {
    let module = parse(&format!("{HEADER}.global .{ty} a = {expression};")).unwrap_or_else(|e| panic!("{e}"));
    match &module.items[..] {
        [Item::Variable(variable)] => variable.init.clone().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn integers_have_signs_as_ptxas_gives_them() {
    for (expression, expected) in [
        ("-1>>1", -1),
        ("0xffffffffffffffff>>63", 1),
        ("9223372036854775808>>60", 8),
        ("(-1)>0U", 1),
        ("-1>0", 0),
        ("-1 < 0xffffffffffffffff", 0),
        ("~0>>60", 15),
        ("-7/2", -3),
        ("7 % 3", 1),
        ("-7 % 3", 0),
        ("4 % -3", 4),
        ("(7 % 3)-2>>60", 15),
        ("(1|0)-2>>60", -1),
        ("(1U|0)-2>>60", 15),
        ("(~0&1)-2>>60", 15),
        ("5-10U>>60", 15),
        ("(1^1)-1>>60", -1),
        ("!5", 0),
        ("!0", 1),
        ("!(1U)-2>>60", -1),
        ("5 && 3", 1),
        ("0||7", 1),
        ("1&&0", 0),
        ("0 || 0", 0),
        ("(1?-1:0U)>>60", -1),
        ("(.u64)-1>>60", 15),
        ("(.s64)0xffffffffffffffff>>60", -1),
        ("1<<63>>60", -8),
        ("1U<<63>>60", 8),
        ("1<<65", 2),
        ("1>>64", 1),
        ("(1U>>0)-2>>60", 15),
        ("(1>>0U)-2>>60", -1),
        ("0x7fffffffffffffff+1>>60", -8),
        ("(.s64)0x8000000000000000/-1", i128::from(i64::MIN)),
        ("--5", 5),
        ("+5", 5),
        ("~5", 0xffff_ffff_ffff_fffa),
        ("1-1-1", -1),
        ("2*3+4*5", 26),
        ("1+2<<3", 24),
        ("8>>1+1", 2),
        ("1|2&3", 3),
        ("1^3&2", 3),
        ("1==1==1", 1),
        ("1<2<3", 1),
        ("3>=3", 1),
        ("3<=2", 0),
        ("1!=2", 1),
        ("1?2:3?4:5", 2),
        ("0?1:0?2:3", 3),
        ("WARP_SZ/2", 16),
        ("-WARP_SZ", -32),
        ("077U", 63),
        ("1.5<2.5", 1),
        ("1.5==2.5 || 1.5!=2.5 && 2.0>=2.0 && 1.0<=1.0 && 2.0>1.0", 1),
    ] {
        assert_eq!(value("u64", expression), Init::Int(expected), "{expression}");
    }
    for (expression, expected) in
        [("1.0+2.0*3.0", 7.0), ("-1.0/2.0", -0.5), ("1.5-0.5-1.0", 0.0), ("-(1.0)", -1.0), (".5", 0.5), ("+1e3", 1e3)]
    {
        assert_eq!(value("f64", expression), Init::F64(f64::to_bits(expected)), "{expression}");
    }
    assert_eq!(value("f32", "-0f3F800000"), Init::F32(0xbf80_0000));
}

/// Printed numbers have the same value, including the smallest signed one, which cannot be written as a literal.
#[test]
fn printed_constants_are_read_again() {
    for constant in ["1<<63", "-9223372036854775808", "(.s64)0x8000000000000000", "-1", "~0", "0x7fffffffffffffff"] {
        let text = format!(
            "{HEADER}.global .s64 a = {constant}; .global .s64 at = a+{constant}; .visible .entry k() {{ .reg .b64 %rd<2>;
            .reg .b32 %r; add.s64 %rd1, %rd0, {constant}; ld.global.u32 %r, [%rd1+{constant}]; mov.u64 %rd1, a[{constant}];
            ret; }}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let printed = module.to_string();
        assert_eq!(parse(&printed).unwrap_or_else(|error| panic!("{error} in {printed}")), module, "{printed}");
    }
}

/// Expressions as operands, offsets, indices and initial values; a symbol or a register with one as a source.
#[test]
fn expressions_stand_wherever_constants_do() {
    let text = ".global .u64 table[4] = {1+1, 2*3, (4|1), 1<<4}; .global .u64 there = table+2*4;
        .visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b16 %h<2>; .reg .pred %p;
        .shared .align 4 .u32 near[4]; ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [there];
        ld.global.u64 %rd3, [%rd2+(1+1)*4]; st.global.u64 [%rd1], %rd3;
        add.u32 %r1, WARP_SZ-30, 2 ? 5 : 6; shl.b32 %r1, %r1, ~0xfffffffe & 3; st.global.u32 [%rd1+8], %r1;
        mov.u64 %rd4, table[2-1]; ld.global.u64 %rd4, [%rd4+-8]; st.global.u64 [%rd1+2*8], %rd4;
        mov.u32 %r2, near+4; st.global.u32 [%rd1+24], near+8; sub.u32 %r2, %r2, near+1; st.global.u32 [%rd1+28], %r2;
        mov.u16 %h1, 7; st.global.u16 [%rd1+32], %h1+-2; mul.wide.u32 %rd5, %r2+1, %r2+4*2;
        st.global.u64 [%rd1+40], %rd5; add.u64 %rd6, %rd5, table+8; sub.u64 %rd6, %rd6, %rd2+-8;
        st.global.u64 [%rd1+48], %rd6; lop3.b32 %r3, 1, 2, 4, (0xF0 & 0xCC) | 0xAA; mov.pred %p, !5;
        @!%p st.global.u32 [%rd1+56], %r3; mov.b64 %rd7, {1+1, 2}; st.global.u64 [%rd1+64], %rd7; ret; }";
    check(text, 1, [1, 1, 1], &[vec![0; 9]], |after| {
        assert_eq!(after[0], [5, 14, 2, 8 | 3 << 32, 5, 44, 52, 4, 2 | 2 << 32]);
    });
}

/// Addresses as initial values: whole, their low 32 bits, and single bytes of them, of variables and of functions.
#[test]
fn initial_values_are_addresses_and_parts_of_them() {
    let text = ".global .align 4 .u32 x[4] = {1, 2, 3, 4}; .func f() { ret; } .global .u64 whole = x+4; .global .u32 low = x+4;
        .global .align 8 .u8 parts[8] = {0xff(x+4), 0xff00(x+4), 0xff0000(generic(x)+4), 0xff000000(x+4), 0xff00000000(x+4),
        0xff0000000000(x+4), 0xff000000000000(x+4), 0xff00000000000000(x+4)}; .global .u32 wide[2] = {0xff00(x+4), 7};
        .global .u64 function = f; .global .align 8 .u8 of_function[8] = {0xff(f), 0xff00(f), 0xff0000(f), 0xff000000(f),
        0xff00000000(f), 0xff0000000000(f), 0xff000000000000(f), 0xff00000000000000(f)};
        .visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>; ld.param.u64 %rd1, [out];
        ld.global.u64 %rd2, [whole]; ld.global.u64 %rd3, [parts]; setp.eq.u64 %p0, %rd2, %rd3;
        cvt.u32.u64 %r1, %rd2; ld.global.u32 %r2, [low]; setp.eq.and.u32 %p0, %r1, %r2, %p0;
        bfe.u32 %r1, %r1, 8, 8; ld.global.u32 %r2, [wide]; setp.eq.and.u32 %p0, %r1, %r2, %p0;
        ld.global.u64 %rd4, [function]; ld.global.u64 %rd5, [of_function]; setp.eq.and.u64 %p0, %rd4, %rd5, %p0;
        selp.u64 %rd6, 1, 0, %p0; st.global.u64 [%rd1], %rd6; ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, wide[1];
        st.global.v2.u32 [%rd1+8], {%r3, %r4}; ret; }";
    check(text, 1, [1, 1, 1], &[vec![9; 2]], |after| assert_eq!(after[0], [1, 2 | 7 << 32]));
    let module = parse(&format!("{HEADER}{text}")).unwrap();
    assert_eq!(parse(&module.to_string()).unwrap().to_string(), module.to_string());
    for (declaration, words) in [
        (".global .u8 y = 0xfff(x);", "0xfff selects no byte of an address: the masks are 0xff, 0xff00 and so on"),
        (".global .u16 y = x;", "'x' cannot be an initial value here"),
        (".global .u8 y = x;", "'x' cannot be an initial value here"),
        (".global .u8 y = 0xff(1);", "a symbol expected"),
        (".global .u8 y = 0xff(z);", "'z' cannot be an initial value here"),
    ] {
        let error = image(&format!("{HEADER}.global .u32 x; {declaration}")).map(|_| ()).unwrap_err();
        assert!(error.message.contains(words), "{declaration}: {error}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    for (body, words) in [
        ("mov.u32 %r1, 1/0;", "a constant expression divides by zero"),
        ("mov.u32 %r1, 1 % 0;", "a constant expression divides by zero"),
        ("mov.f32 %r1, 1.0/0.0;", "a constant expression divides by zero"),
        ("mov.f32 %r1, 1+1.0;", "'+' does not take '1' and '0d3FF0000000000000'"),
        ("mov.f32 %r1, 0f3F800000*2.0;", "'*' does not take '0f3F800000' and '0d4000000000000000'"),
        ("mov.f32 %r1, 1.0 % 2.0;", "'%' does not take '0d3FF0000000000000' and '0d4000000000000000'"),
        ("mov.f32 %r1, ~1.0;", "'~' takes an integer, '0d3FF0000000000000' found"),
        ("mov.u32 %r1, !1.5;", "'!' takes an integer, '0d3FF8000000000000' found"),
        ("mov.f32 %r1, 1 ? 1.5 : 2.5;", "the operands of '?' must be integers"),
        ("mov.u32 %r1, 1 ? 2;", "':' expected, ';' found"),
        ("mov.u32 %r1, (.u32)5;", "'(.u32)' is not a cast: the casts are (.u64) and (.s64)"),
        ("mov.u32 %r1, (.u64)1.5;", "'(.u64)' is not a cast: the casts are (.u64) and (.s64)"),
        ("mov.u32 %r1, (1+2;", "')' expected, ';' found"),
        ("mov.u32 %r1, 1+;", "a constant expected, ';' found"),
        ("mov.u32 %r1, 1+%r2;", "a constant expected, '%r2' found"),
        ("mov.u32 %r1, 1<<<2;", "a constant expected, '<' found"),
        ("ld.global.u32 %r1, [%rd1+1.5];", "an offset is an integer, '0d3FF8000000000000' found"),
        ("mov.u16 %h1, near+4;", "an address does not fit 16 bits"),
        ("mov.pred %p1, %p1+1;", "'%p1+1' is not a sum of integers"),
        ("add.f32 %r1, %r1, %r1+1;", "'%r1+1' is not a sum of integers"),
        ("ld.global.u32 %r1+1, [%rd1];", "operand 1 of 'ld.global.u32' cannot be '%r1+1'"),
        ("add.u32 %r1, %nope+1, %r1;", "'%nope' is not a variable"),
    ] {
        let error = refused(".shared .u32 near;", body);
        assert!(error.contains(words), "{body}: {error}");
    }
    let deep = |open: &str, close: &str| format!("mov.u32 %r1, {}1{};", open.repeat(40), close.repeat(40));
    for body in [deep("(", ")"), deep("-", ""), deep("1?", ":1")] {
        let error = refused("", &body);
        assert!(error.contains("this constant expression is nested too deeply"), "{error}");
    }
    assert!(image(&format!("{HEADER}.global .u32 a[2+2];")).is_err_and(|e| e.message.contains("']' expected")));
}
