//! Programs of several functions and modules: linking, function addresses, carries, services of the device.

use super::{Buffer, HEADER, run};
use crate::exec::launch::Fault;
use crate::link::{LinkError, link};
use crate::module::image;
use crate::ptx::parse;

/// Returns the linked text.
fn linked(parts: &[&str]) -> Result<String, String> {
    let modules = parts.iter().map(|part| parse(&format!("{HEADER}{part}")).map_err(|e| e.to_string()));
    let modules = modules.collect::<Result<Vec<_>, _>>()?;
    let names = ["first", "second"].map(str::to_owned);
    let lines = |errors: Vec<LinkError>| errors.iter().map(|error| error.text(&names)).collect::<Vec<_>>().join("; ");
    link(modules).map(|module| module.to_string()).map_err(lines)
}

const MAIN: &str = "
.extern .global .align 8 .u64 shared_number;
.common .global .align 4 .b8 pool[8];
.weak .global .align 8 .u64 choice = 1;
.global .align 8 .u64 mine = 100;
.extern .func (.param .b64 r) helper(.param .b64 x);
.visible .entry k(.param .u64 out) { .reg .b64 %rd<9>;
  ld.global.u64 %rd1, [shared_number];
  { .param .b64 p; .param .b64 q; st.param.b64 [p], %rd1; call (q), helper, (p); ld.param.b64 %rd2, [q]; }
  ld.global.u64 %rd3, [choice]; ld.global.u64 %rd4, [mine]; ld.param.u64 %rd5, [out];
  st.global.u64 [%rd5], %rd2; st.global.u64 [%rd5+8], %rd3; st.global.u64 [%rd5+16], %rd4; ret; }";
pub(super) const OTHER: &str = "
.visible .global .align 8 .u64 shared_number = 7;
.common .global .align 4 .b8 pool[64];
.weak .global .align 8 .u64 choice = 2;
.global .align 8 .u64 mine = 1000;
.visible .func (.param .b64 r) helper(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x];
  ld.global.u64 %rd2, [mine]; add.u64 %rd1, %rd1, %rd2; st.param.b64 [r], %rd1; ret; }";

#[test]
fn modules_link_and_the_result_is_text() {
    let text = linked(&[MAIN, OTHER]).unwrap();
    // The linker's output can be parsed.
    assert_eq!(parse(&text).unwrap().to_string(), text);
    assert!(text.contains("pool[64]") && !text.contains("pool[8]"), "{text}");
    let out = Buffer::new(&[0; 3]);
    run(&image(&text).unwrap(), "k", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(3), [1007, 1, 100]);
}

#[test]
fn strong_definitions_win_and_clash() {
    let strong = ".visible .global .align 8 .u64 choice = 9;";
    let text = linked(&[MAIN, OTHER, strong]).unwrap();
    let out = Buffer::new(&[0; 3]);
    run(&image(&text).unwrap(), "k", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(3)[1], 9);
    let clash = linked(&[strong, strong]).unwrap_err();
    assert_eq!(clash, "Multiple definition of 'choice' in 'second', first defined in 'first'");
    let missing = linked(&[MAIN]).unwrap_err();
    assert_eq!(
        missing,
        "Undefined reference to 'helper' in 'first'; Undefined reference to 'shared_number' in 'first'"
    );
    let missing = image(&format!("{HEADER}{MAIN}")).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(missing.contains("the function 'helper' is called but not defined in this module"), "{missing}");
}

/// An undefined function is an error if a kernel reaches a call of it; an unlinked module may not call one at all.
#[test]
fn links_leave_out_what_no_kernel_reaches() {
    let functions = ".extern .func gone(); .visible .func calls() { call gone, (); ret; }
        .func indirectly() { call calls, (); ret; } .visible .func kept() { ret; }";
    let kernel = |body: &str| {
        format!(
            "{functions} .visible .entry k(.param .u64 out) {{ .reg .b64 %rd<3>; ld.param.u64 %rd1, [out];
            {body} st.global.u64 [%rd1], 6; ret; }}"
        )
    };
    let (idle, busy) = (kernel("call kept, ();"), kernel("call indirectly, ();"));
    let text = linked(&[&idle, ".global .u32 other;"]).unwrap();
    assert!(!text.contains("calls") && !text.contains("indirectly") && text.contains("kept"), "{text}");
    let out = Buffer::new(&[0]);
    run(&image(&text).unwrap(), "k", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(1), [6]);
    let wanted = "the function 'gone' is called but not defined in this module";
    let error = image(&format!("{HEADER}{idle}")).map(|_| ()).unwrap_err();
    assert!(error.message.contains(wanted), "{error}");
    // A function in a table is reached.
    let table = format!("{idle} .global .u64 table[1] = {{ calls }};");
    for text in [&busy, &table] {
        let wanted = "Undefined reference to 'gone' in 'second'";
        assert_eq!(linked(&[".global .u32 other;", text]).unwrap_err(), wanted);
    }
}

/// As in NVIDIA's linker: a declaration may have a result that the function lacks, or lack the one that it has.
#[test]
fn modules_may_disagree_about_results() {
    let caller = |declaration: &str, call: &str| {
        format!(
            ".extern .func {declaration}; .visible .entry k(.param .u64 out) {{ .reg .b32 %r<3>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [out]; {{ .param .b32 result; .param .b64 to; st.param.b64 [to], %rd1; {call} }} ret; }}"
        )
    };
    let takes = caller("(.param .b32 r) set(.param .b64 to)", "call (result), set, (to); ld.param.b32 %r1, [result];");
    let ignores = caller("set(.param .b64 to)", "call set, (to);");
    let gives = ".visible .func (.param .b32 r) set(.param .b64 to) { .reg .b64 %rd1; ld.param.b64 %rd1, [to];
        st.global.u64 [%rd1], 6; st.param.b32 [r], 1; ret; }";
    let plain = ".visible .func set(.param .b64 to) { .reg .b64 %rd1; ld.param.b64 %rd1, [to];
        st.global.u64 [%rd1], 7; ret; }";
    for (caller, function, expected) in
        [(&takes, plain, 7), (&ignores, gives, 6), (&takes, gives, 6), (&ignores, plain, 7)]
    {
        for parts in [[caller.as_str(), function], [function, caller.as_str()]] {
            let out = Buffer::new(&[0]);
            run(&image(&linked(&parts).unwrap()).unwrap(), "k", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
            assert_eq!(out.read(1), [expected]);
        }
    }
}

#[test]
fn names_that_a_body_declares_are_its_own() {
    let local = ".global .align 8 .u64 x = 5;
        .visible .entry b(.param .u64 x) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; st.global.u64 [%rd1], 6;
        { .reg .b64 y; ld.param.u64 y, [x]; st.global.u64 [y+8], 8; } ret; }
        .visible .entry c(.param .u64 out) { .reg .b64 %rd<3>; ld.global.u64 %rd1, [x]; ld.param.u64 %rd2, [out];
        st.global.u64 [%rd2], %rd1; ret; }";
    let text = linked(&[".global .align 8 .u64 x = 1;", local]).unwrap();
    let image = image(&text).unwrap();
    let out = Buffer::new(&[0; 2]);
    run(&image, "b", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(2), [6, 8]);
    run(&image, "c", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(1), [5]);
}

#[test]
fn functions_by_address_alias_and_table() {
    let text = format!(
        "{HEADER}
        .func (.param .b32 r) twice(.param .b32 x) {{ .reg .b32 %r1; ld.param.b32 %r1, [x]; shl.b32 %r1, %r1, 1;
        st.param.b32 [r], %r1; ret; }}
        .func (.param .b32 r) thrice(.param .b32 x) {{ .reg .b32 %r1; ld.param.b32 %r1, [x]; mul.lo.u32 %r1, %r1, 3;
        st.param.b32 [r], %r1; ret; }}
        .func (.param .b64 r) wider(.param .b64 x) {{ ret; }}
        .func (.param .b32 r) triple(.param .b32 x);
        .alias triple, thrice;
        .global .align 8 .u64 table[3] = {{twice, generic(thrice), wider}};
        .visible .entry k(.param .u64 out) {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p1;
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 8; mov.u64 %rd2, table; add.u64 %rd2, %rd2, %rd1;
        ld.global.u64 %rd3, [%rd2];
        PROTO: .callprototype (.param .b32 _) _ (.param .b32 _) ;
        {{ .param .b32 p; .param .b32 q; st.param.b32 [p], 10; call (q), %rd3, (p), PROTO; ld.param.b32 %r2, [q];
        st.param.b32 [p], %r2; call (q), triple, (p); ld.param.b32 %r2, [q]; }}
        setp.eq.u32 %p1, %r1, 0; mov.u64 %rd5, twice;
        TARGETS: .calltargets twice;
        {{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; @%p1 call (q), %rd5, (p), TARGETS;
        @%p1 ld.param.b32 %r2, [q]; }}
        cvt.u64.u32 %rd6, %r2; ld.param.u64 %rd4, [out]; add.u64 %rd4, %rd4, %rd1; st.global.u64 [%rd4], %rd6; ret; }}"
    );
    let image = image(&text).unwrap();
    let out = Buffer::new(&[0; 2]);
    run(&image, "k", [1, 1, 1], [2, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(2), [120, 90]);
    // The third function does not match the prototype.
    let wrong = run(&image, "k", [1, 1, 1], [3, 1, 1], &[out.0]);
    assert!(matches!(wrong, Err(Fault::Trap(_))), "{wrong:?}");
}

#[test]
fn aggregates_return_by_value() {
    let text = format!(
        "{HEADER}
        .func (.param .align 8 .b8 r[24]) three(.param .align 8 .b8 v[16]) {{ .reg .b64 %rd<4>;
        ld.param.v2.b64 {{%rd1, %rd2}}, [v]; add.u64 %rd3, %rd1, %rd2; st.param.v2.b64 [r], {{%rd2, %rd1}};
        st.param.b64 [r+16], %rd3; ret; }}
        .visible .entry k(.param .u64 out) {{ .reg .b64 %rd<9>; ld.param.u64 %rd1, [out];
        {{ .param .align 8 .b8 p[16]; .param .align 8 .b8 q[24]; st.param.b64 [p+8], 4; st.param.b64 [p], 3;
        call.uni (q), three, (p); ld.param.b64 %rd2, [q+16]; ld.param.v2.b64 {{%rd3, %rd4}}, [q]; }}
        st.global.v2.b64 [%rd1], {{%rd3, %rd4}}; st.global.b64 [%rd1+16], %rd2; ret; }}"
    );
    let out = Buffer::new(&[0; 3]);
    run(&image(&text).unwrap(), "k", [1, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(3), [4, 3, 7]);
}

#[test]
fn the_heap_of_the_device() {
    let text = format!(
        "{HEADER}.extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);
        .visible .entry k(.param .u64 out) {{ .reg .b64 %rd<9>; .reg .b32 %r1; mov.u32 %r1, %tid.x;
        {{ .param .b64 n; .param .b64 r; st.param.b64 [n], 24; call.uni (r), malloc, (n); ld.param.b64 %rd1, [r]; }}
        cvt.u64.u32 %rd2, %r1; st.b64 [%rd1+16], %rd2; ld.b64 %rd3, [%rd1+16];
        {{ .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); }}
        ld.param.u64 %rd4, [out]; mul.wide.u32 %rd5, %r1, 8; add.u64 %rd4, %rd4, %rd5; st.global.u64 [%rd4], %rd3; ret; }}
        .visible .entry twice(.param .u64 p) {{ .reg .b64 %rd1; ld.param.u64 %rd1, [p];
        {{ .param .b64 q; st.param.b64 [q], %rd1; call.uni free, (q); }} ret; }}"
    );
    let image = image(&text).unwrap();
    let out = Buffer::new(&[0; 40]);
    run(&image, "k", [1, 1, 1], [40, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(40), (0..40).collect::<Vec<u64>>());
    assert!(matches!(run(&image, "twice", [1, 1, 1], [1, 1, 1], &[out.0]), Err(Fault::Trap(_))));
}

#[test]
fn the_library_is_not_for_users() {
    let text = format!("{HEADER}.visible .entry k() {{ .reg .b64 %rd1; __device.free %rd1; ret; }}");
    let error = image(&text).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("__device.free"), "{error}");
}

#[test]
fn a_pair_of_registers_adds_with_carry() {
    let inputs = super::tuples::<4>(&[0, 1, 0xffff_ffff, 0x8000_0000, 0x1234_5678]);
    let code = "add.cc.u32 %r10, %r1, %r3; addc.u32 %r11, %r2, %r4; mov.b64 %rd10, {%r10, %r11};";
    for (i, got) in inputs.iter().zip(super::eval64(code, &inputs)) {
        assert_eq!(got, (i[1] << 32 | i[0]).wrapping_add(i[3] << 32 | i[2]), "{i:x?}");
    }
    let code = "sub.cc.u32 %r10, %r1, %r3; subc.u32 %r11, %r2, %r4; mov.b64 %rd10, {%r10, %r11};";
    for (i, got) in inputs.iter().zip(super::eval64(code, &inputs)) {
        assert_eq!(got, (i[1] << 32 | i[0]).wrapping_sub(i[3] << 32 | i[2]), "{i:x?}");
    }
}

/// After a subtraction the flag is the carry of adding the complement and one; `addc` adds it, and `subc` subtracts its
/// negation.
#[test]
fn the_flag_of_a_difference_is_a_carry() {
    let inputs = super::tuples::<2>(&[0, 1, 2, 0x8000_0000, 0xffff_ffff]);
    super::check32("sub.cc.u32 %r10, %r1, %r2; addc.u32 %r10, 0, 0;", &inputs, |a, b, _| u32::from(a >= b));
    super::check32("add.cc.u32 %r10, %r1, %r2; subc.u32 %r10, 7, 2;", &inputs, |a, b, _| {
        5 - u32::from(a.checked_add(b).is_some())
    });
    let code = "sub.cc.u32 %r10, %r1, %r2; subc.cc.u32 %r10, 0, 0; addc.u32 %r10, 0, 0;";
    super::check32(code, &inputs, |a, b, _| u32::from(a >= b));
}

/// A shared-memory address has 32 bits, in which the sum of a register and an offset wraps.
#[test]
fn addresses_of_32_bits_wrap() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out) {{ .reg .b64 %rd<4>; .reg .b32 %r<8>; .shared .align 8 .b8 own[256];
        mov.u32 %r1, %tid.x; mov.u32 %r2, own; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3; mad.lo.u32 %r5, %r1, 3, 5;
        sub.s32 %r6, %r4, 4096; st.shared.u32 [%r6+4096], %r5; bar.sync 0; sub.s32 %r6, %r4, 64;
        ld.shared.u32 %r7, [%r6+64]; cvt.u64.u32 %rd2, %r7; mul.wide.u32 %rd3, %r1, 8; ld.param.u64 %rd1, [out];
        add.u64 %rd1, %rd1, %rd3; st.global.u64 [%rd1], %rd2; ret; }}"
    );
    let out = Buffer::new(&[0; 40]);
    run(&image(&text).unwrap(), "k", [1, 1, 1], [40, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(40), (0..40).map(|k| k * 3 + 5).collect::<Vec<u64>>());
    let outside = image(&text.replace("[%r6+64]", "[%r6-1048576]")).unwrap();
    assert!(matches!(run(&outside, "k", [1, 1, 1], [40, 1, 1], &[out.0]), Err(Fault::Memory { .. })));
}

/// An assertion that fails between barriers is reported as such, not as a trap.
#[test]
fn assertions_beside_barriers() {
    let text = format!(
        "{HEADER}.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 g, .param .b64 s);
        .global .align 1 .b8 word[4] = {{97, 98, 99, 0}};
        .visible .entry k(.param .u32 who) {{ .reg .b64 %rd1; .reg .b32 %r<3>; .reg .pred %p1; mov.u64 %rd1, word;
        mov.u32 %r1, %tid.x; ld.param.u32 %r2, [who]; bar.sync 0; setp.ne.u32 %p1, %r1, %r2; @%p1 bra ON;
        {{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 g; .param .b64 s; st.param.b64 [m], %rd1;
        st.param.b64 [f], %rd1; st.param.b32 [l], 7; st.param.b64 [g], %rd1; st.param.b64 [s], 1;
        call.uni __assertfail, (m, f, l, g, s); }}
        ON: bar.sync 0; ret; }}"
    );
    let image = image(&text).unwrap();
    run(&image, "k", [2, 1, 1], [64, 1, 1], &[1000]).unwrap();
    let failed = run(&image, "k", [2, 1, 1], [64, 1, 1], &[40]);
    assert!(matches!(failed, Err(Fault::Assert { .. })), "{failed:?}");
}
