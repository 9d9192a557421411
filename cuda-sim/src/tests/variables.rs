//! Names and declarations of variables: elements of arrays, declarations of other modules' variables.

use super::HEADER;
use super::sync::check;
use crate::link::{LinkError, link};
use crate::module::{Module, image};
use crate::ptx::parse;

/// Returns the text of the error of a kernel with these declarations and this body.
#[track_caller]
pub(super) fn refused(declarations: &str, body: &str) -> String {
    let text = format!(
        "{HEADER}{declarations} .visible .entry k(.param .u64 a) {{ .reg .b8 %b; .reg .b32 %r<8>; .reg .b64 %rd<8>;
        .reg .pred %p<2>; .reg .b16 %h<2>; {body} ret; }}"
    );
    image(&text).map(|_| ()).expect_err(body).to_string()
}

/// `name[index]` in `mov`, `cvta`, loads and stores, of every space: constant indices count elements of the scalar
/// type, and so do those in registers, which are truncated to 32 bits and unsigned.
#[test]
fn elements_of_arrays_have_addresses() {
    let text =
        ".global .align 8 .u64 table[4] = {10, 11, 12, 13}; .const .u16 words[2][3] = {{20, 21, 22}, {23, 24, 25}};
        .visible .entry k(.param .u64 out, .param .align 4 .b8 blob[8]) {
        .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b64 %local0, %out; .reg .b16 %h<4>; .reg .u32 %i;
        .shared .align 16 .b8 local0[64]; .local .align 4 .u32 mine[8]; .shared .align 4 .v2 .u32 pairs[8];
        ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mad.wide.u32 %out, %i, 64, %out;
        mov.u64 %local0, local0[0]; shl.b32 %r1, %i, 3; cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd1, %local0;
        st.shared.u64 [%rd1], 7; ld.shared.u64 %rd2, local0[%r1]; st.global.u64 [%out], %rd2;
        mov.u64 %rd1, table[3]; ld.global.u64 %rd2, [%rd1]; st.global.u64 [%out+8], %rd2;
        add.u32 %r1, %i, 2; ld.global.u64 %rd2, table[%r1+-1]; st.global.u64 [%out+16], %rd2;
        cvt.u16.u32 %h1, %i; ld.const.u16 %h2, words[%h1+3]; cvt.u64.u16 %rd2, %h2; st.global.u64 [%out+24], %rd2;
        st.local.u32 mine[%i], 5; st.local.u32 mine[2], %i; cvta.local.u64 %rd1, mine[%r1+-2]; ld.u32 %r2, [%rd1];
        ld.local.u32 %r3, mine[2]; shl.b32 %r3, %r3, 8; or.b32 %r3, %r3, %r2; cvt.u64.u32 %rd2, %r3;
        st.global.u64 [%out+32], %rd2;
        mov.u32 %r1, pairs[3]; mov.u32 %r2, pairs; sub.u32 %r3, %r1, %r2; mov.u32 %r4, pairs[-1];
        sub.u32 %r4, %r4, %r2; mov.b64 %rd2, {%r3, %r4}; st.global.u64 [%out+40], %rd2;
        mov.b64 %rd3, {%i, 9}; mov.u64 %rd1, table[%rd3]; ld.global.u64 %rd2, [%rd1]; st.global.u64 [%out+48], %rd2;
        mov.u32 %r1, local0[%i]; mov.u32 %r2, local0; sub.u32 %r1, %r1, %r2; ld.param.u32 %r3, blob[4];
        mov.b64 %rd2, {%r1, %r3}; st.global.u64 [%out+56], %rd2; ret; }";
    check(text, 1, [2, 1, 1], &[vec![0; 16]], |after| {
        for (t, got) in after[0].chunks(8).enumerate() {
            let t = t as u64;
            let kept = if t == 0 { 5 } else { 5 | 1 << 8 };
            assert_eq!(got[..6], [7, 13, 11 + t, 23 + t, kept, 0xffff_fffc_0000_000c], "thread {t}");
            assert_eq!((got[6], got[7] & 0xffff_ffff), (10 + t, t), "thread {t}");
        }
    });
}

#[test]
fn what_is_no_element_is_refused() {
    let declarations = ".global .u32 one; .global .u32 many[4]; .shared .u32 near[4];";
    for (body, words) in [
        ("mov.u64 %rd1, one[0];", "'one' is not an array, so it has no element to name"),
        ("mov.u64 %rd1, %rd2[0];", "'%rd2' is not an array, so it has no element to name"),
        ("mov.u64 %rd1, gone[0];", "'gone' is not declared"),
        ("mov.u64 %rd1, many[%gone];", "'%gone' is not declared"),
        ("mov.u64 %rd1, many[one];", "'one' is a variable, not a register"),
        ("mov.u64 %rd1, many[%p1];", "'%p1' has 1 bit(s); an index has 16, 32 or 64"),
        ("mov.u64 %rd1, many[1.5];", "an index is an integer, '0d3FF8000000000000' found"),
        ("mov.u64 %rd1, many[];", "a constant expected, ']' found"),
        ("mov.u64 %rd1, many[1][2];", "';' expected, '[' found"),
        ("mov.u16 %h1, many[1];", "the address of 'many[1]' has 32 or 64 bits, and the instruction needs 16"),
        ("add.u64 %rd1, %rd2, many[1];", "operand 3 of 'add.u64' cannot be 'many[1]'"),
        ("atom.global.add.u32 %r1, many[1], 1;", "'atom' takes no 'many[1]': its address is in brackets"),
        ("prefetch.global.L1 many[%r1+4];", "'prefetch' takes no 'many[%r1+4]': its address is in brackets"),
        ("ld.global.u32 %r1, [many[1]];", "']' expected, '[' found"),
        ("ld.global.u32 %r1, near[1];", "'near' is not in the state space of this access"),
        ("ld.global.u32 %r1, near[%r2];", "'near' is not in the state space of this access"),
    ] {
        let error = refused(declarations, body);
        assert!(error.contains(words), "{body}: {error}");
    }
}

/// As in ptxas: an `.extern` declaration with a size has memory if nothing else in the module defines it, and is part
/// of the kernel's static shared memory; an array without a size begins at its end.
#[test]
fn extern_variables_with_a_size_are_definitions() {
    let text =
        ".extern .shared .align 16 .b8 near[512]; .extern .shared .align 16 .b8 rest[]; .extern .shared .u32 one;
        .extern .shared .u32 one; .extern .global .align 8 .u64 far[2]; .extern .global .u64 there;
        .global .u64 there = 5;
        .visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %rd<8>; ld.param.u64 %rd1, [out];
        mov.u32 %r1, %total_smem_size; mov.u32 %r2, %dynamic_smem_size; sub.u32 %r1, %r1, %r2;
        cvt.u64.u32 %rd2, %r1; st.global.u64 [%rd1], %rd2;
        mov.u32 %r3, near; mov.u32 %r4, rest; mov.u32 %r5, one; st.shared.u32 [near+508], 1; st.shared.u32 [one], 2;
        st.shared.u32 [rest], 3; ld.shared.u32 %r6, near[508]; ld.shared.u32 %r7, [one]; mad.lo.u32 %r6, %r7, 10, %r6;
        ld.shared.u32 %r7, rest[0]; mad.lo.u32 %r6, %r7, 100, %r6; cvt.u64.u32 %rd2, %r6; st.global.u64 [%rd1+8], %rd2;
        sub.u32 %r4, %r4, %r3; cvt.u64.u32 %rd2, %r4; st.global.u64 [%rd1+16], %rd2;
        ld.global.u64 %rd2, [far+8]; ld.global.u64 %rd3, [there]; add.u64 %rd2, %rd2, %rd3;
        st.global.u64 [%rd1+24], %rd2; st.global.u64 [far+8], 1; ret; }";
    // Dynamic shared memory begins at a multiple of 16 bytes.
    check(text, 1, [1, 1, 1], &[vec![9; 4]], |after| assert_eq!(after[0], [528, 321, 528, 5]));
    let image = image(&format!("{HEADER}{text}")).unwrap();
    assert_eq!(image.kernels["k"].signature().shared_bytes, 516);
    let image = Module::new(image).unwrap();
    assert_eq!(image.global("far").map(|(_, bytes)| bytes), Some(16));
}

/// The linker does not accept such definitions.
#[test]
fn a_link_needs_a_definition_of_every_variable() {
    let module = |text: &str| parse(&format!("{HEADER}{text}")).unwrap();
    let declared = ".extern .shared .align 16 .b8 near[512]; .extern .shared .align 16 .b8 rest[];";
    let error = link(vec![module(declared), module(".global .u32 other;")]).unwrap_err();
    assert_eq!(error, [LinkError::Undefined { symbol: "near".to_owned(), module: Some(0) }]);
    let linked = link(vec![module(declared), module(".visible .shared .align 16 .b8 near[512];")]).unwrap();
    assert_eq!(linked.items.len(), 2);
    let error = refused(".extern .global .u32 far[];", "ld.global.u32 %r1, [far];");
    assert!(error.contains("'far' is declared .extern and defined nowhere"), "{error}");
}

/// Cache policies change no value, and only accesses with the modifier have one.
#[test]
fn cache_policies_are_hints() {
    let text = ".visible .entry k(.param .u64 out) { .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .v4 .f32 %v; .reg .f32 %f;
        ld.param.u64 %rd1, [out]; mov.f32 %f, 0.5; createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd2, %f;
        createpolicy.range.global.L2::evict_normal.L2::evict_first.b64 %rd3, [%rd1], 16, 32;
        createpolicy.cvt.L2.b64 %rd4, 1; st.global.L1::no_allocate.L2::cache_hint.v4.f32 [%rd1], {1.0, 2.0, 3.0, 4.0}, %rd2;
        ld.global.L1::evict_last.L2::cache_hint.L2::128B.v4.f32 %v, [%rd1], %rd3;
        st.global.L2::cache_hint.f32 [%rd1+16], %v.w, %rd4; atom.global.add.L2::cache_hint.f32 %f, [%rd1], 0f3F800000, %rd2;
        red.relaxed.gpu.global.or.L2::cache_hint.b32 [%rd1+20], 5, %rd2; st.global.f32 [%rd1+24], %f; ret; }";
    check(text, 1, [1, 1, 1], &[vec![0; 4]], |after| {
        let pair = |low: f32, high: f32| u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32;
        let sum = u64::from(4f32.to_bits()) | 5 << 32;
        assert_eq!(after[0], [pair(2.0, 2.0), pair(3.0, 4.0), sum, pair(1.0, 0.0)]);
    });
    for (body, words) in [
        (
            "ld.global.L2::cache_hint.b32 %r1, [%rd1];",
            "',' and 3 operand(s) of 'ld.global.L2::cache_hint.b32' expected",
        ),
        ("ld.global.b32 %r1, [%rd1], %rd2;", "';' expected, ',' found"),
        ("ld.global.L2::cache_hint.b32 %r1, [%rd1], %r2;", "'%r2' has 32 bit(s) where the instruction needs 64"),
        ("ld.shared.L2::cache_hint.b32 %r1, [%r2], %rd1;", "the modifier .shared is not allowed here"),
        ("ld.volatile.global.L2::cache_hint.b32 %r1, [%rd1], %rd2;", "the modifier .volatile is not allowed here"),
        ("atom.global.cas.L2::cache_hint.b32 %r1, [%rd1], 1, 2, %rd2;", "the modifier .cas is not allowed here"),
        (
            "createpolicy.fractional.L2::evict_first.L2::evict_last.b64 %rd1;",
            "'createpolicy.fractional.L2::evict_first.L2::evict_last.b64' is not supported",
        ),
    ] {
        let error = refused("", body);
        assert!(error.contains(words), "{body}: {error}");
    }
}

/// Several variables in a directive, in a module and in a function; variables in global and constant memory that a
/// function declares, which keep their values from launch to launch and shadow those of the module.
#[test]
fn variables_share_directives_and_are_declared_in_functions() {
    let text = ".global .align 8 .u64 one = 1, pair[2] = {2, 3}; .const .u32 four = 4, five = 5; .global .u64 mine = 100;
        .func (.reg .u64 %r) count() { .global .u64 mine = 7; ld.global.u64 %r, [mine]; add.u64 %r, %r, 1;
        st.global.u64 [mine], %r; ret; }
        .visible .entry k(.param .u64 out) { .reg .b64 %rd<8>; .reg .b32 %r<4>; .reg .f64 %f; .pragma \"nounroll\"; .pragma
        \"used_bytes_mask 1\", \"nounroll\"; .shared .align 8 .u64 a[2], b; .local .u64 c, d;
        .const .u64 table[2] = {one, mine}; .global .u64 mine = 50; .global .u64 at = mine;
        ld.param.u64 %rd1, [out]; st.shared.u64 [a+8], 5; st.shared.u64 [b], 6; st.local.u64 [c], 7; st.local.u64 [d], 8;
        ld.shared.u64 %rd2, a[1]; ld.shared.u64 %rd3, [b]; mad.lo.u64 %rd2, %rd2, 10, %rd3; ld.local.u64 %rd3, [c];
        mad.lo.u64 %rd2, %rd2, 10, %rd3; ld.local.u64 %rd3, [d]; mad.lo.u64 %rd2, %rd2, 10, %rd3;
        st.global.u64 [%rd1], %rd2; ld.global.u64 %rd2, [pair+8]; ld.const.u32 %r1, [five]; cvt.u64.u32 %rd3, %r1;
        mad.lo.u64 %rd2, %rd2, 10, %rd3; st.global.u64 [%rd1+8], %rd2; call (%rd2), count, (); call (%rd3), count, ();
        mad.lo.u64 %rd2, %rd2, 10, %rd3; st.global.u64 [%rd1+16], %rd2; ld.const.u64 %rd4, [table+8];
        ld.global.u64 %rd5, [%rd4]; ld.global.u64 %rd6, [at]; ld.global.u64 %rd6, [%rd6];
        mad.lo.u64 %rd5, %rd5, 100, %rd6;
        st.global.u64 [%rd1+24], %rd5; mov.f64 %f, 25.e-2; st.global.f64 [%rd1+32], %f; ret; }";
    check(text, 1, [1, 1, 1], &[vec![0; 5]], |after| {
        assert_eq!(after[0], [5678, 35, 89, 10050, 0.25f64.to_bits()]);
    });
    let module = parse(&format!("{HEADER}{text}")).unwrap();
    assert_eq!(parse(&module.to_string()).unwrap(), module);
    for (declaration, words) in [
        (".global .u32 a, ;", "the name of a variable expected, ';' found"),
        (".global .u32 a b;", "';' expected, 'b' found"),
        (".pragma nounroll;", "the text of a .pragma expected, 'nounroll' found"),
        (".pragma \"nounroll\"", "';' expected, '.visible' found"),
    ] {
        let error = refused(declaration, "");
        assert!(error.contains(words), "{declaration}: {error}");
    }
}
