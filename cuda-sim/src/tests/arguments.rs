//! Arguments of calls: registers and constants as arguments, parameters and results that functions name as registers.

use super::sync::check;
use super::variables::refused;

/// Arguments in registers, constants and `.param` variables for parameters in registers and in `.param` space; several
/// results, discarded results, vectors, guards, and a function that waits and is therefore inlined.
#[test]
fn registers_and_constants_are_arguments() {
    let text = ".func (.reg .u32 %r) next (.reg .u32 %a) { .reg .pred %p; setp.gt.u32 %p, %a, 100; mov.u32 %r, 7;
        @%p ret; add.u32 %r, %a, 1; }
        .func (.reg .u32 %quotient, .reg .u64 %wide) both (.reg .u32 %a, .param .u32 b) { .reg .u32 %b;
        ld.param.u32 %b, [b]; div.u32 %quotient, %a, %b; mul.wide.u32 %wide, %a, %b; ret; }
        .func (.param .b32 r) plain (.param .b32 x, .param .f32 y, .param .f64 z) { .reg .b32 %x; .reg .f32 %y;
        .reg .f64 %z; ld.param.u32 %x, [x]; ld.param.f32 %y, [y]; ld.param.f64 %z, [z];
        .reg .b32 %y1; cvt.rzi.u32.f32 %y1, %y; add.u32 %x, %x, %y1; st.param.b32 [r], %x; ret; }
        .func (.reg .v2 .f32 %s) swapped (.reg .v2 .f32 %v) { mov.v2.f32 %s, {%v.y, %v.x}; ret; }
        .func (.reg .u32 %sum) shared_sum (.reg .u32 %a) { .shared .u32 sum; .reg .u32 %t;
        mov.u32 %t, %tid.x; st.shared.u32 [sum], 0; bar.sync 0; red.shared.add.u32 [sum], %a; bar.sync 0;
        ld.shared.u32 %sum, [sum]; bar.sync 0; ret; }
        .global .u64 table[1] = { next };
        .visible .entry k(.param .u64 out) { .reg .u32 %r<8>; .reg .u64 %rd<8>; .reg .f32 %f<4>; .reg .pred %p;
        .reg .v2 .f32 %v; P: .callprototype (.reg .u32 _) _ (.reg .u32 _);
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 64, %rd1;
        call (%r2), next, (%r1); call (%r3), next, (101); mad.lo.u32 %r2, %r3, 100, %r2; st.global.u32 [%rd1], %r2;
        { .param .u32 a; .param .u32 b; st.param.u32 [a], 21; call (b), next, (a); ld.param.u32 %r2, [b]; }
        st.global.u32 [%rd1+4], %r2;
        call (%r2, %rd2), both, (%r2, 4); st.global.u32 [%rd1+8], %r2; st.global.u64 [%rd1+16], %rd2;
        call (_, %rd2), both, (%r1, 3); st.global.u64 [%rd1+24], %rd2; call (_), next, (%r1);
        call (%r2), plain, (-1, 5.0, 0d4008000000000000); st.global.u32 [%rd1+32], %r2;
        mov.v2.f32 %v, {1.0, 2.0}; call (%v), swapped, (%v); st.global.v2.f32 [%rd1+40], %v;
        mov.u32 %r2, 9; setp.eq.u32 %p, %r1, 1; @%p call (%r2), next, (%r2); st.global.u32 [%rd1+48], %r2;
        add.u32 %r3, %r1, 1; call (%r4), shared_sum, (%r3); st.global.u32 [%rd1+52], %r4;
        ld.global.u64 %rd3, [table]; call (%r5), %rd3, (%r4), P; call (_), %rd3, (5), P; st.global.u32 [%rd1+56], %r5;
        ret; }";
    check(text, 1, [3, 1, 1], &[vec![0; 24]], |after| {
        for (t, got) in after[0].chunks(8).enumerate() {
            let t = t as u64;
            assert_eq!(got[..2], [(700 + t + 1) | 22 << 32, 5], "thread {t}");
            assert_eq!((got[2], got[3], got[4]), (88, 3 * t, 4), "thread {t}");
            assert_eq!(got[5], 0x3f80_0000_4000_0000, "thread {t}");
            assert_eq!(got[6..], [(6 << 32) | if t == 1 { 10 } else { 9 }, 7], "thread {t}");
        }
    });
}

/// The device library's functions accept any declaration of their results.
#[test]
fn the_device_s_functions_with_other_results() {
    let text = ".extern .func vprintf(.param .b64 format, .param .b64 arguments);
        .extern .func malloc(.param .b64 size); .extern .func (.param .b32 address) free(.param .b64 address);
        .visible .entry k(.param .u64 out) { .reg .u64 %rd<4>; .reg .u32 %r<2>; .param .b32 w;
        ld.param.u64 %rd1, [out];
        call malloc, (8); call (w), free, (0); call vprintf, (0, 0); st.global.u64 [%rd1], 1; ret; }";
    check(text, 1, [1, 1, 1], &[vec![0]], |after| assert_eq!(after[0], [1]));
}

#[test]
fn what_cannot_be_passed_is_refused() {
    let functions = ".func (.reg .u32 %r) f (.reg .u32 %a) { ret; } .func g (.param .f32 a, .param .b8 b[4]) { ret; }
        .func (.reg .v2 .u32 %r) h (.reg .v2 .u32 %a) { ret; } .global .u32 far;
        .func (.param .b32 r) other (.param .b64 a) { ret; }";
    for (body, words) in [
        ("call f, (%r1);", "'f' has 1 result(s), and the call takes 0: write '_' to discard a result"),
        ("call (%r1, %r2), f, (%r1);", "'f' has 1 result(s), and the call takes 2"),
        ("call (%r1), f, ();", "'f' takes 1 parameter(s), but 0 are given"),
        ("call (%r1), f, (_);", "'_' is not declared"),
        ("call (%r1), f, (%tid.x);", "')' expected, '.x' found"),
        ("call (%r1), f, ([%r1]);", "an argument of the call expected, '[' found"),
        ("call (1), f, (%r1);", "a variable for a result expected, '1' found"),
        ("call (%rd1), f, (%r1);", "'%rd1' has 64 bit(s) where the instruction needs 32"),
        ("call (%r1), f, (%rd1);", "'%rd1' has 64 bit(s) where the instruction needs 32"),
        ("call (%r1), f, (1.5);", "'0d3FF8000000000000' does not fit a parameter of type .u32"),
        ("call (%r1), f, (far);", "'far' is not a .param variable"),
        ("call g, (1, %r1);", "'1' does not fit a parameter of type .f32"),
        ("call g, (1.0, %r1);", "'%r1' is a register, and the parameter 'b' is an array"),
        (".reg .v2 .u32 %v; call (%v), h, (%r1);", "'%r1' must be a vector of 2 registers, like the parameter"),
        (".reg .v4 .u32 %v; call (%v), h, (%v);", "'%v' must be a vector of 2 registers, like the parameter"),
        (
            "T: .calltargets f, other; call (%r1), %rd1, (%r1), T;",
            "the call target 'other' has other parameters or results than 'f'",
        ),
        ("T: .calltargets gone; call (%r1), %rd1, (%r1), T;", "the call target 'gone' is not defined"),
        ("call (%r1), %rd1, (%r1), T;", "the prototype 'T' is not defined"),
    ] {
        let error = refused(functions, body);
        assert!(error.contains(words), "{body}: {error}");
    }
    for (declaration, words) in [
        (".func f (.reg .pred %a) { ret; }", "'%a' is a predicate, which cannot be passed to a function"),
        (".func f (.reg .b8 %a[4]) { ret; }", "'%a' is an array, which has to be in .param space"),
        (
            ".visible .entry e (.reg .u32 %a) { ret; }",
            "'%a' is a parameter of a kernel, which has to be in .param space",
        ),
        (".func f (.reg .u32 %a) { .reg .u32 %a; ret; }", "'%a' is declared twice in this scope"),
    ] {
        let error = refused(declaration, "");
        assert!(error.contains(words), "{declaration}: {error}");
    }
}
