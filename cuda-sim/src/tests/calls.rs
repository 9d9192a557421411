//! Calls of functions in which threads wait: inlined into their kernels, or run by fibers if that is impossible.

use super::sync::check;
use super::{Buffer, HEADER, run};
use crate::module::image;

/// A barrier and a shuffle in functions, one called by the other, in a loop, with arguments and results that are live
/// across them; and shared variables of functions next to the kernel's.
#[test]
fn functions_that_synchronise() {
    let text = ".func (.param .b32 r) warp_sum(.param .b32 v) { .reg .b32 %r<4>; .reg .pred %p;
        ld.param.b32 %r1, [v]; mov.u32 %r2, 16;
        STEP: shfl.sync.bfly.b32 %r3, %r1, %r2, 31, -1; add.u32 %r1, %r1, %r3; shr.u32 %r2, %r2, 1;
        setp.ne.u32 %p, %r2, 0; @%p bra STEP; st.param.b32 [r], %r1; ret; }
        .func (.param .b32 r) block_sum(.param .b32 v, .param .b32 salt) { .reg .b32 %r<12>; .reg .pred %p<3>;
        .shared .align 4 .b8 sums[16]; .local .align 4 .b8 kept[4];
        ld.param.b32 %r1, [v]; st.local.u32 [kept], %r1;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), warp_sum, (a); ld.param.b32 %r2, [b]; }
        mov.u32 %r3, %warpid; shl.b32 %r3, %r3, 2; mov.u32 %r4, sums; add.u32 %r4, %r4, %r3; mov.u32 %r5, %laneid;
        setp.eq.u32 %p1, %r5, 0; @%p1 st.shared.u32 [%r4], %r2; bar.sync 0;
        ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [sums]; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8;
        add.u32 %r6, %r6, %r9; bar.sync 0; ld.local.u32 %r10, [kept]; ld.param.b32 %r11, [salt];
        add.u32 %r6, %r6, %r10; add.u32 %r6, %r6, %r11; st.param.b32 [r], %r6; ret; }
        .visible .entry k(.param .u64 out) { .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<3>;
        .shared .align 4 .b8 mine[512]; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, mine;
        shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1; mov.u32 %r4, 0; mov.u32 %r7, 0;
        LOOP: add.u32 %r5, %r1, %r4;
        { .param .b32 a; .param .b32 s; .param .b32 b; st.param.b32 [a], %r5; st.param.b32 [s], 1000;
          call.uni (b), block_sum, (a, s); ld.param.b32 %r6, [b]; }
        add.u32 %r7, %r7, %r6; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3; @%p1 bra LOOP;
        ld.shared.u32 %r8, [%r2]; add.u32 %r7, %r7, %r8; cvt.u64.u32 %rd2, %r7; mul.wide.u32 %rd3, %r1, 8;
        add.u64 %rd1, %rd1, %rd3; st.global.u64 [%rd1], %rd2; ret; }";
    check(text, 2, [128, 1, 1], &[vec![0; 128]], |after| {
        for (t, got) in after[0].iter().enumerate() {
            let sum = |round: u64| (0..128).map(|i| i + round).sum::<u64>() + t as u64 + round + 1000;
            assert_eq!(*got, sum(0) + sum(1) + sum(2) + t as u64, "thread {t}");
        }
    });
}

/// A lock that is acquired in a function: the loop around the call must let other threads run.
#[test]
fn polling_through_a_call() {
    let text = ".global .align 4 .u32 lock;
        .func (.param .b32 r) try_lock() { .reg .b32 %r<3>; atom.global.cas.b32 %r1, [lock], 0, 1;
        st.param.b32 [r], %r1; ret; }
        .visible .entry k(.param .u64 out) { .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<3>;
        ld.param.u64 %rd1, [out];
        TRY: { .param .b32 r; call.uni (r), try_lock; ld.param.b32 %r1, [r]; } setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY;
        bar.warp.sync 0; ld.global.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 1; st.global.u64 [%rd1], %rd2;
        membar.gl; atom.global.exch.b32 %r2, [lock], 0; ret; }";
    check(text, 3, [40, 1, 1], &[vec![0]], |after| assert_eq!(after[0], [120]));
}

/// A recursive function that waits cannot be inlined, so the kernel runs as fibers. Half of the threads leave the
/// recursion earlier, by warp-level operations.
#[test]
fn recursion_that_synchronises() {
    let text = ".func (.param .b32 r) f(.param .b32 n, .param .b32 sum) { .reg .b32 %r<9>; .reg .pred %p<3>;
        ld.param.b32 %r1, [n]; ld.param.b32 %r2, [sum]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
        shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; add.u32 %r2, %r2, %r3; bar.sync 0; sub.u32 %r1, %r1, 1;
        { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b32 [b], %r2;
        call.uni (c), f, (a, b); ld.param.b32 %r2, [c]; } bar.sync 1; add.u32 %r2, %r2, 1;
        END: st.param.b32 [r], %r2; ret; }
        .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x; { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], 5; st.param.b32 [b], %r1;
        call.uni (c), f, (a, b); ld.param.b32 %r2, [c]; } cvt.u64.u32 %rd2, %r2; mul.wide.u32 %rd3, %r1, 8;
        add.u64 %rd1, %rd1, %rd3; st.global.u64 [%rd1], %rd2; ret; }";
    check(text, 2, [64, 1, 1], &[vec![0; 64]], |after| {
        for (t, got) in after[0].iter().enumerate() {
            // Pairs add their values, five times.
            let (pair, t) = ((t & !1) as u64, t as u64);
            let sum = (0..5).fold((t, 2 * pair + 1 - t), |(a, b), _| (a + b, a + b)).0;
            assert_eq!(*got, sum + 5, "thread {t}");
        }
    });
}

/// An indirect call of functions that wait, one of which is recursive through its own address.
#[test]
fn indirect_calls_that_synchronise() {
    let text = ".func (.param .b32 r) down(.param .b32 n); .func (.param .b32 r) last(.param .b32 n);
        .global .u64 table[2] = {last, down};
        .func (.param .b32 r) last(.param .b32 n) { .reg .b32 %r<4>; ld.param.b32 %r1, [n];
        shfl.sync.idx.b32 %r1, %r1, 3, 31, -1; bar.sync 0; st.param.b32 [r], %r1; ret; }
        .func (.param .b32 r) down(.param .b32 n) { .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p;
        P: .callprototype (.param .b32 _) _ (.param .b32 _);
        ld.param.b32 %r1, [n]; bar.sync 0; add.u32 %r1, %r1, 100; setp.lt.u32 %p, %r1, 300;
        selp.b64 %rd1, 8, 0, %p; mov.u64 %rd2, table; add.u64 %rd1, %rd1, %rd2; ld.global.u64 %rd3, [%rd1];
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), %rd3, (a), P; ld.param.b32 %r2, [b]; }
        st.param.b32 [r], %r2; ret; }
        .visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<6>;
        P: .callprototype (.param .b32 _) _ (.param .b32 _);
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; ld.global.u64 %rd2, [table+8];
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), %rd2, (a), P; ld.param.b32 %r2, [b]; }
        cvt.u64.u32 %rd3, %r2; mul.wide.u32 %rd4, %r1, 8; add.u64 %rd1, %rd1, %rd4; st.global.u64 [%rd1], %rd3; ret; }";
    check(text, 1, [64, 1, 1], &[vec![0; 64]], |after| {
        for (t, got) in after[0].iter().enumerate() {
            assert_eq!(*got, 300 + (t as u64 / 32 * 32) + 3, "thread {t}");
        }
    });
}

/// A lock that is acquired inside a recursion: only fibers let the owner run.
#[test]
fn polling_inside_a_recursion() {
    let text = ".global .align 4 .u32 lock;
        .func f(.param .b32 n, .param .b64 at) { .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<3>;
        ld.param.b32 %r1, [n]; ld.param.b64 %rd1, [at]; setp.eq.u32 %p1, %r1, 0; @%p1 ret;
        TRY: atom.global.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra TRY;
        ld.volatile.global.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 1; st.volatile.global.u64 [%rd1], %rd2; membar.gl;
        atom.global.exch.b32 %r2, [lock], 0; sub.u32 %r1, %r1, 1;
        { .param .b32 a; .param .b64 b; st.param.b32 [a], %r1; st.param.b64 [b], %rd1; call.uni f, (a, b); } ret; }
        .visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; ld.param.u64 %rd1, [out];
        { .param .b32 a; .param .b64 b; st.param.b32 [a], 3; st.param.b64 [b], %rd1; call.uni f, (a, b); } ret; }";
    check(text, 3, [40, 1, 1], &[vec![0]], |after| assert_eq!(after[0], [360]));
}

/// Calls that double at each level: inlining them all would make the kernel too large.
#[test]
fn calls_too_many_to_inline() {
    let levels: String = (0..12)
        .rev()
        .map(|level| {
            let body = match level {
                11 => "bar.sync 0; red.global.add.u32 [count], 1;".to_owned(),
                _ => format!("call.uni f{0}; call.uni f{0};", level + 1),
            };
            format!(".func f{level}() {{ {body} ret; }}\n")
        })
        .collect();
    let text = format!(
        ".global .align 4 .u32 count;\n{levels}.visible .entry k(.param .u64 out) {{ .reg .b64 %rd<3>; .reg .b32 %r<2>;
        call.uni f0; ld.param.u64 %rd1, [out]; bar.sync 0; ld.global.u32 %r1, [count]; cvt.u64.u32 %rd2, %r1;
        st.global.u64 [%rd1], %rd2; ret; }}"
    );
    check(&text, 1, [4, 1, 1], &[vec![0]], |after| assert_eq!(after[0], [4 << 11]));
}

/// Compiled code that runs one block after the other would leave the last copy of a block to the next one.
#[test]
fn recursion_that_copies_in_the_background_takes_fibers() {
    let image = image(&format!(
        "{HEADER}.shared .align 4 .b8 s[64];
         .func rec(.param .b32 n, .param .b64 p) {{ .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
         ld.param.b32 %r1, [n]; ld.param.b64 %rd1, [p]; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
         cp.async.ca.shared.global [%r3], [%rd1], 4; cp.async.commit_group; cp.async.wait_group 1;
         setp.eq.u32 %p1, %r1, 0; @%p1 ret; sub.u32 %r1, %r1, 1;
         {{ .param .b32 m; .param .b64 q; st.param.b32 [m], %r1; st.param.b64 [q], %rd1; call.uni rec, (m, q); }} ret; }}
         .visible .entry k(.param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out];
         {{ .param .b32 m; .param .b64 q; st.param.b32 [m], 3; st.param.b64 [q], %rd1; call.uni rec, (m, q); }}
         ld.shared.b32 %r1, [s]; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 8; add.u64 %rd3, %rd1, %rd2;
         st.global.b32 [%rd3+8], %r1; ret; }}"
    ))
    .unwrap();
    assert!(image.kernels["k"].signature().only_fibers);
    let out = Buffer::new(&[7, 9, 9, 9, 9, 9]);
    run(&image, "k", [5, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    // The last copy, of element 0, is never waited for: each block reads the old contents of its shared memory.
    assert!(out.read(6)[1..].iter().all(|v| *v & 0xffff_ffff != 7), "{:?}", out.read(6));
}
