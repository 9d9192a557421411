//! Lockstep loops: under guards, with bounds checks, with values that only look uniform, in rows of every length. The
//! reference is each thread's own loop, in Rust; fibers run the same text.

use super::HEADER;
use super::sync::{check, floats};
use crate::module::code_counts;

#[test]
fn products_of_every_block_shape() {
    let n = 50usize;
    let text = ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) { .reg .pred %p<5>; .reg .b32 %r<32>;
        .reg .f32 %f<8>; .reg .b64 %rd<32>;
        ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[b]; ld.param.u64 %rd3,[c]; mov.u32 %r1, 50; mov.u32 %r20, %ctaid.x;
        mov.u32 %r21, %ntid.x; add.u32 %r22, %r21, 49; div.u32 %r23, %r22, %r21; rem.u32 %r2, %r20, %r23;
        div.u32 %r6, %r20, %r23; mov.u32 %r4,%tid.x; mad.lo.s32 %r5,%r2,%r21,%r4; mov.u32 %r7,%ntid.y; mov.u32 %r8,%tid.y;
        mad.lo.s32 %r9,%r6,%r7,%r8; max.s32 %r10,%r5,%r9; setp.ge.s32 %p1,%r10,%r1; @%p1 bra E;
        mov.f32 %f1, 0f00000000; mul.lo.s32 %r11,%r9,%r1; mul.wide.s32 %rd6,%r11,4; add.s64 %rd7,%rd1,%rd6;
        mul.wide.s32 %rd8,%r5,4; add.s64 %rd9,%rd2,%rd8; mul.wide.s32 %rd10,%r1,4; mov.u32 %r12,0;
        L: ld.global.f32 %f2,[%rd7]; ld.global.f32 %f3,[%rd9]; fma.rn.f32 %f1,%f2,%f3,%f1; add.s64 %rd9,%rd9,%rd10;
        add.s64 %rd7,%rd7,4; add.s32 %r12,%r12,1; setp.lt.s32 %p3,%r12,%r1; @%p3 bra L;
        mad.lo.s32 %r13,%r9,%r1,%r5; mul.wide.s32 %rd12,%r13,4; add.s64 %rd13,%rd3,%rd12; st.global.f32 [%rd13],%f1;
        E: ret; }";
    let a: Vec<f32> = (0..n * n).map(|i| (i % 5) as f32 - 2.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32 - 3.0).collect();
    let dot = |row: usize, col: usize| (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum::<f32>();
    let want: Vec<f32> = (0..n * n).map(|i| dot(i / n, i % n)).collect();
    for (x, y) in [(16, 16), (32, 4), (8, 8), (24, 3), (50, 2), (64, 1)] {
        let blocks = 50u32.div_ceil(x) * 50u32.div_ceil(y);
        check(text, blocks, [x, y, 1], &[floats(&a), floats(&b), vec![0; n * n / 2]], |after| {
            assert_eq!(after[2], floats(&want), "{x} x {y}");
        });
    }
}

/// Sums windows of an array. A thread whose window exceeds it records that and ends, as a checked index does.
#[test]
fn bounds_checks_in_the_loop() {
    let text = ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 fails) { .reg .pred %p<5>;
        .reg .b32 %r<16>; .reg .b64 %rd<16>;
        ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; ld.param.u64 %rd3,[fails]; mov.u32 %r1,%tid.x; mov.u32 %r2,0;
        mov.u64 %rd4, 0; cvt.u64.u32 %rd5, %r1;
        L: cvt.u64.u32 %rd6, %r2; add.u64 %rd7, %rd5, %rd6; setp.ge.u64 %p1, %rd7, 100; @%p1 bra COLD;
        shl.b64 %rd8, %rd7, 3; add.u64 %rd9, %rd1, %rd8; ld.global.u64 %rd10, [%rd9]; add.u64 %rd4, %rd4, %rd10;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 20; @%p2 bra L;
        shl.b64 %rd11, %rd5, 3; add.u64 %rd12, %rd2, %rd11; st.global.u64 [%rd12], %rd4; ret;
        COLD: shl.b64 %rd11, %rd5, 3; add.u64 %rd12, %rd3, %rd11; cvt.u64.u32 %rd13, %r2;
        atom.global.add.u64 %rd14, [%rd12], %rd13; red.global.add.u64 [%rd12], %rd4; exit; }";
    let input: Vec<u64> = (0..100).map(|i| i * i + 3).collect();
    check(text, 1, [128, 1, 1], &[input.clone(), vec![0; 128], vec![0; 128]], |after| {
        for t in 0..128usize {
            let inside = 100usize.saturating_sub(t).min(20);
            let sum: u64 = (0..inside).map(|k| input[t + k]).sum();
            let (good, bad) = if inside == 20 { (sum, 0) } else { (0, sum + inside as u64) };
            assert_eq!((after[1][t], after[2][t]), (good, bad), "thread {t}");
        }
    });
}

/// A divergent branch inside, a store in each iteration, two exits, and values that are live after the loop.
#[test]
fn branches_stores_and_values_left_behind() {
    let text = ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 trace) { .reg .pred %p<5>;
        .reg .b32 %r<24>; .reg .b64 %rd<16>;
        ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; ld.param.u64 %rd3,[trace]; mov.u32 %r1,%tid.x;
        mov.u32 %r20,%ctaid.x; mov.u32 %r2,0; mov.u32 %r3, 1; mul.wide.u32 %rd4,%r1,8; add.u64 %rd5,%rd1,%rd4;
        add.u64 %rd6,%rd3,%rd4;
        L: ld.global.u32 %r4,[%rd5]; and.b32 %r5,%r4,1; setp.eq.u32 %p1,%r5,0; @%p1 bra EVEN;
        add.u32 %r3,%r3,%r4; mov.u32 %r6, 5; bra JOIN;
        EVEN: xor.b32 %r3,%r3,%r2; mov.u32 %r6, 7;
        JOIN: mad.lo.u32 %r7,%r3,3,%r6; st.global.u32 [%rd6+4],%r7; mul.lo.u32 %r8,%r20,4; add.u32 %r8,%r8,3;
        setp.eq.u32 %p2,%r2,%r8; @%p2 bra OUT1;
        add.u64 %rd5,%rd5,8; add.u32 %r2,%r2,1; setp.lt.u32 %p3,%r2,10; @%p3 bra L;
        mov.u32 %r9, 1000; bra END;
        OUT1: mov.u32 %r9, 2000;
        END: add.u32 %r9,%r9,%r2; add.u32 %r9,%r9,%r4; add.u32 %r9,%r9,%r6; mul.lo.u32 %r9,%r9,%r3;
        mad.lo.u32 %r10,%r20,96,%r1; mul.wide.u32 %rd8,%r10,8; add.u64 %rd9,%rd2,%rd8; st.global.u32 [%rd9],%r9; ret; }";
    let input: Vec<u64> = (0..200).map(|i| (i * 37 + i / 3) % 101).collect();
    check(text, 4, [96, 1, 1], &[input.clone(), vec![0; 4 * 96], vec![0; 96]], |after| {
        for (i, got) in after[1].iter().enumerate() {
            let (block, t) = (i as u32 / 96, i % 96);
            let (mut k, mut acc, mut at) = (0u32, 1u32, t);
            let (v, c, way) = loop {
                let v = input[at] as u32;
                let c = if v & 1 == 1 { 5 } else { 7 };
                acc = if v & 1 == 1 { acc.wrapping_add(v) } else { acc ^ k };
                if k == block * 4 + 3 {
                    break (v, c, 2000);
                }
                (at, k) = (at + 1, k + 1);
                if k >= 10 {
                    break (v, c, 1000);
                }
            };
            let want = (way + k + v + c).wrapping_mul(acc);
            assert_eq!(*got, u64::from(want), "block {block} thread {t}");
        }
    });
}

/// Bounds that are computed from parameters and constants only, and yet diverge because a branch did.
#[test]
fn values_that_only_look_equal() {
    let text = ".visible .entry k(.param .u64 out) { .reg .pred %p<5>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
        ld.param.u64 %rd1,[out]; mov.u32 %r1,%tid.x; mov.u32 %r2, 0; mov.u32 %r3, 9; mov.u32 %r4, 0;
        setp.lt.u32 %p1,%r1,45; @%p1 bra L; mov.u32 %r2, 4; mov.u32 %r3, 30;
        L: mad.lo.u32 %r4,%r4,3,%r1; add.u32 %r4,%r4,%r2; add.u32 %r2,%r2,1; setp.lt.u32 %p2,%r2,%r3; @%p2 bra L;
        mul.wide.u32 %rd2,%r1,8; add.u64 %rd3,%rd1,%rd2; cvt.u64.u32 %rd4,%r4; st.global.u64 [%rd3],%rd4; ret; }";
    check(text, 1, [128, 1, 1], &[vec![0; 128]], |after| {
        for (t, got) in after[0].iter().enumerate() {
            let range = if t < 45 { 0..9 } else { 4..30 };
            let want = range.fold(0u32, |v, k| v.wrapping_mul(3).wrapping_add(t as u32).wrapping_add(k));
            assert_eq!(*got, u64::from(want), "thread {t}");
        }
    });
}

/// Indices that wrap in 32 bits have no stride in 64.
#[test]
fn indices_that_wrap() {
    let text =
        ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .pred %p<5>; .reg .b32 %r<16>; .reg .b64 %rd<13>;
        ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; mov.u32 %r1,%tid.x; add.u32 %r2,%r1,0xffffffd3; mov.u32 %r3,0;
        cvt.u64.u32 %rd12,%r2;
        and.b32 %r9,%r2,63; mul.lo.u32 %r10,%r1,0x10000000; shr.u32 %r11,%r10,28; mul.wide.u32 %rd9,%r11,8;
        mul.wide.u32 %rd3,%r9,8; add.u64 %rd4,%rd1,%rd3; mov.u64 %rd5,0;
        L: ld.global.u64 %rd6,[%rd4]; add.u64 %rd7,%rd1,%rd9; ld.global.u64 %rd8,[%rd7]; add.u64 %rd5,%rd5,%rd6;
        mad.lo.s64 %rd5,%rd8,3,%rd5; add.u64 %rd5,%rd5,%rd12; add.u64 %rd4,%rd4,8; add.u64 %rd9,%rd9,16; add.u32 %r3,%r3,1;
        setp.ne.u32 %p1,%r3,6; @%p1 bra L;
        mul.wide.u32 %rd10,%r1,8; add.u64 %rd11,%rd2,%rd10; st.global.u64 [%rd11],%rd5; ret; }";
    let input: Vec<u64> = (0..80).map(|i| i * 1000 + 1).collect();
    check(text, 1, [64, 1, 1], &[input.clone(), vec![0; 64]], |after| {
        for (t, got) in after[1].iter().enumerate() {
            let (first, second) = ((t + 64 - 45) & 63, t & 15);
            let wrapped = u64::from((t as u32).wrapping_add(0xffff_ffd3));
            let want: u64 = (0..6).map(|k| input[first + k] + 3 * input[second + 2 * k] + wrapped).sum();
            assert_eq!(*got, want, "thread {t}");
        }
    });
}

/// A lockstep loop inside a loop with barriers, which is entered repeatedly with advanced pointers.
#[test]
fn entered_again_and_again() {
    let text =
        ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .pred %p<5>; .reg .b32 %r<16>; .reg .b64 %rd<12>;
        .shared .align 8 .b8 box[512];
        ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd3,%r1,8;
        add.u64 %rd4,%rd1,%rd3; mov.u64 %rd5,0; mov.u32 %r2,0; mov.u32 %r4,box; shl.b32 %r5,%r1,3; add.u32 %r6,%r4,%r5;
        xor.b32 %r7,%r5,504; add.u32 %r8,%r4,%r7;
        OUTER: mov.u32 %r3,0;
        L: ld.global.u64 %rd6,[%rd4]; mad.lo.u64 %rd5,%rd5,5,%rd6; add.u64 %rd4,%rd4,8; add.u32 %r3,%r3,1;
        setp.le.u32 %p1,%r3,%r2; @%p1 bra L;
        st.shared.u64 [%r6],%rd5; bar.sync 0; ld.shared.u64 %rd7,[%r8]; add.u64 %rd5,%rd5,%rd7; bar.sync 0;
        add.u32 %r2,%r2,1; setp.lt.u32 %p2,%r2,5; @%p2 bra OUTER;
        add.u64 %rd8,%rd2,%rd3; st.global.u64 [%rd8],%rd5; ret; }";
    let input: Vec<u64> = (0..80).map(|i| i * 77 + 5).collect();
    let mut values = [0u64; 64];
    let mut moved = 0;
    for round in 0..5 {
        for (t, value) in values.iter_mut().enumerate() {
            *value = (0..=round).fold(*value, |v, k| v.wrapping_mul(5).wrapping_add(input[t + moved + k]));
        }
        moved += round + 1;
        let before = values;
        values.iter_mut().enumerate().for_each(|(t, v)| *v = v.wrapping_add(before[63 - t]));
    }
    check(text, 3, [64, 1, 1], &[input, vec![0; 64]], |after| assert_eq!(after[1], values));
}

/// An index times a factor that is 1 or not, with a check in the loop that fails for some threads or for none.
#[test]
fn guessed_strides() {
    let text = ".visible .entry k(.param .u64 how, .param .u64 in, .param .u64 out) { .reg .pred %p<5>;
        .reg .b32 %r<16>; .reg .b64 %rd<24>;
        ld.param.u64 %rd1,[how]; ld.param.u64 %rd2,[in]; ld.param.u64 %rd3,[out]; mov.u32 %r1,%tid.x; mov.u32 %r2,0;
        ld.global.nc.u64 %rd4,[%rd1]; ld.global.nc.u64 %rd15,[%rd1+8]; cvt.u64.u32 %rd5, %r1; mov.u64 %rd10, 0;
        mul.lo.u64 %rd6, %rd5, %rd4; shl.b64 %rd7, %rd6, 3; add.u64 %rd8, %rd2, %rd7; mov.u64 %rd20, 3;
        L: setp.ge.u64 %p1, %rd5, %rd15; mov.u64 %rd20, %rd5; @%p1 bra COLD;
        ld.global.u64 %rd9, [%rd8]; add.u64 %rd10, %rd10, %rd9; add.u64 %rd8, %rd8, 56; mov.u64 %rd20, %rd15;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 20; @%p2 bra L;
        add.u64 %rd10, %rd10, %rd20;
        shl.b64 %rd11, %rd5, 3; add.u64 %rd12, %rd3, %rd11; st.global.u64 [%rd12], %rd10; ret;
        COLD: mul.lo.u64 %rd10, %rd20, 1000003; membar.gl;
        shl.b64 %rd11, %rd5, 3; add.u64 %rd12, %rd3, %rd11; st.global.u64 [%rd12], %rd10; exit; }";
    let input: Vec<u64> = (0..600).map(|i| i * i + 3).collect();
    for (stride, limit) in [(1, 128), (3, 128), (1, 77), (0, 100)] {
        check(text, 1, [128, 1, 1], &[vec![stride, limit], input.clone(), vec![0; 128]], |after| {
            for t in 0..128 {
                let sum = || (0..20).map(|k| input[(t * stride + k * 7) as usize]).sum::<u64>() + limit;
                let want = if t < limit { sum() } else { t * 1_000_003 };
                assert_eq!(after[2][t as usize], want, "stride {stride}, limit {limit}, thread {t}");
            }
        });
    }
}

/// A check of a value that is loaded in the same iteration: the checked value is the one that is used.
#[test]
fn checks_of_what_is_loaded() {
    let text = ".visible .entry k(.param .u64 index, .param .u64 in, .param .u64 out) { .reg .pred %p<5>;
        .reg .b32 %r<16>; .reg .b64 %rd<24>;
        ld.param.u64 %rd1,[index]; ld.param.u64 %rd2,[in]; ld.param.u64 %rd3,[out]; mov.u32 %r1,%tid.x; mov.u32 %r2,0;
        cvt.u64.u32 %rd5, %r1; shl.b64 %rd6, %rd5, 3; add.u64 %rd7, %rd1, %rd6; mov.u64 %rd10, 0;
        L: ld.global.u64 %rd8, [%rd7]; setp.ge.u64 %p1, %rd8, 50; @%p1 bra COLD;
        shl.b64 %rd13, %rd8, 3; add.u64 %rd14, %rd2, %rd13; ld.global.u64 %rd9, [%rd14]; add.u64 %rd10, %rd10, %rd9;
        add.u64 %rd7, %rd7, 8; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra L;
        add.u64 %rd12, %rd3, %rd6; st.global.u64 [%rd12], %rd10; ret;
        COLD: add.u64 %rd10, %rd8, 7000; membar.gl; add.u64 %rd12, %rd3, %rd6; st.global.u64 [%rd12], %rd10; exit; }";
    let index: Vec<u64> = (0..140).map(|i| if i == 100 { 60 } else { i * 11 % 50 }).collect();
    let input: Vec<u64> = (0..50).map(|i| i * i + 3).collect();
    check(text, 1, [128, 1, 1], &[index.clone(), input.clone(), vec![0; 128]], |after| {
        for t in 0..128 {
            let window = &index[t..t + 9];
            let sum = || window.iter().map(|i| input[*i as usize]).sum::<u64>();
            let want = window.iter().find(|i| **i >= 50).map_or_else(sum, |bad| bad + 7000);
            assert_eq!(after[2][t], want, "thread {t}");
        }
    });
}

/// Checks before the loop whose results are equal for some consecutive threads and not for others.
#[test]
fn checks_made_before_the_loop() {
    let text = ".visible .entry k(.param .u64 how, .param .u64 in, .param .u64 out) { .reg .pred %p<7>;
        .reg .b32 %r<16>; .reg .b64 %rd<24>;
        ld.param.u64 %rd1,[how]; ld.param.u64 %rd2,[in]; ld.param.u64 %rd3,[out]; mov.u32 %r1,%tid.x; mov.u32 %r2,0;
        ld.global.nc.u64 %rd4,[%rd1]; ld.global.nc.u64 %rd15,[%rd1+8]; cvt.u64.u32 %rd5, %r1; mov.u64 %rd10, 0;
        shl.b64 %rd6, %rd5, 3; add.u64 %rd8, %rd2, %rd6; setp.ge.u64 %p1, %rd5, %rd15; setp.lt.u64 %p2, %rd5, %rd4;
        L: setp.ge.u32 %p3, %r2, 50; or.pred %p4, %p3, %p1; @%p4 bra COLD;
        ld.global.u64 %rd9, [%rd8]; selp.u64 %rd11, 5, 7, %p2; mad.lo.u64 %rd10, %rd9, %rd11, %rd10;
        add.u64 %rd8, %rd8, 56; add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, 20; @%p5 bra L;
        add.u64 %rd12, %rd3, %rd6; st.global.u64 [%rd12], %rd10; ret;
        COLD: mul.lo.u64 %rd10, %rd5, 1000003; membar.gl;
        add.u64 %rd12, %rd3, %rd6; st.global.u64 [%rd12], %rd10; exit; }";
    let input: Vec<u64> = (0..300).map(|i| i * i + 3).collect();
    for (five, limit) in [(0, 128), (128, 128), (64, 96), (70, 128), (128, 77), (50, 50), (1, 127)] {
        check(text, 1, [128, 1, 1], &[vec![five, limit], input.clone(), vec![0; 128]], |after| {
            for t in 0..128 {
                let factor = if t < five { 5 } else { 7 };
                let sum = (0..20).map(|k| input[(t + k * 7) as usize] * factor).sum();
                let want = if t < limit { sum } else { t * 1_000_003 };
                assert_eq!(after[2][t as usize], want, "{five}, {limit}, thread {t}");
            }
        });
    }
}

/// A counter that starts at the thread's index and ends one iteration earlier for some threads than for others. Each
/// iteration changes memory, so one that runs twice shows.
#[test]
fn counters_that_end_in_different_iterations() {
    let text = ".visible .entry k(.param .u64 data, .param .u64 sums) { .reg .pred %p<3>; .reg .b32 %r<8>;
        .reg .b64 %rd<16>;
        ld.param.u64 %rd1,[data]; ld.param.u64 %rd2,[sums]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x;
        mov.u32 %r3,%ntid.x; mad.lo.u32 %r4,%r2,%r3,%r1; mov.u32 %r5,%nctaid.x; mul.lo.u32 %r6,%r5,%r3;
        cvt.u64.u32 %rd5,%r4; cvt.u64.u32 %rd6,%r6; mov.u64 %rd10,0; shl.b64 %rd11,%rd5,3; add.u64 %rd12,%rd2,%rd11;
        setp.ge.u64 %p1,%rd5,1000; @%p1 bra D;
        L: shl.b64 %rd7,%rd5,3; add.u64 %rd8,%rd1,%rd7; ld.global.u64 %rd9,[%rd8]; mad.lo.u64 %rd9,%rd9,3,%rd5;
        st.global.u64 [%rd8],%rd9; add.u64 %rd10,%rd10,%rd9; add.u64 %rd5,%rd5,%rd6;
        setp.lt.u64 %p2,%rd5,1000; @%p2 bra L;
        D: st.global.u64 [%rd12],%rd10; ret; }";
    let input: Vec<u64> = (0..1000).map(|i| i * i + 3).collect();
    let changed: Vec<u64> = input.iter().enumerate().map(|(i, x)| 3 * x + i as u64).collect();
    for (blocks, threads) in [(3, 96), (2, 64), (7, 33), (1, 256)] {
        let all = (blocks * threads) as usize;
        check(text, blocks, [threads, 1, 1], &[input.clone(), vec![0; all]], |after| {
            assert_eq!(after[0], changed, "{blocks} blocks of {threads}");
            for (i, sum) in after[1].iter().enumerate() {
                assert_eq!(*sum, changed.iter().skip(i).step_by(all).sum::<u64>(), "thread {i} of {all}");
            }
        });
    }
}

/// Loops that each thread leaves when its memory says so, inside a loop whose number of iterations differs as well, and
/// with a loop inside that all threads run equally often.
#[test]
fn loops_that_threads_leave_one_by_one() {
    let text =
        ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .pred %p<6>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
        ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; mov.u32 %r1,%tid.x; mov.u32 %r2,0; mov.u64 %rd10,0;
        and.b32 %r7,%r1,3;
        OUTER: mov.u32 %r3,0;
        L: add.u32 %r4,%r1,%r2; add.u32 %r5,%r4,%r3; mul.wide.u32 %rd4,%r5,8; add.u64 %rd5,%rd1,%rd4;
        ld.global.u64 %rd6,[%rd5]; setp.eq.u64 %p1,%rd6,0; @%p1 bra LEFT; add.u32 %r3,%r3,1; setp.lt.u32 %p2,%r3,12;
        @%p2 bra L;
        LEFT: mov.u32 %r6,0;
        EQUAL: mad.lo.u64 %rd10,%rd10,7,%rd6; add.u32 %r6,%r6,1; setp.lt.u32 %p3,%r6,5; @%p3 bra EQUAL;
        cvt.u64.u32 %rd7,%r3; add.u64 %rd10,%rd10,%rd7; add.u32 %r2,%r2,1; setp.le.u32 %p4,%r2,%r7; @%p4 bra OUTER;
        mul.wide.u32 %rd8,%r1,8; add.u64 %rd9,%rd2,%rd8; st.global.u64 [%rd9],%rd10; ret; }";
    // No loop is cut out of the loop over the threads.
    assert_eq!(code_counts(&format!("{HEADER}{text}"), "k").unwrap().regions, 1);
    let input: Vec<u64> = (0..128).map(|i| (i * 31 + 7) % 9).collect();
    check(text, 1, [96, 1, 1], &[input.clone(), vec![0; 96]], |after| {
        for (t, got) in after[1].iter().enumerate() {
            let want = (0..=t & 3).fold(0u64, |value, shift| {
                let window = &input[t + shift..][..12];
                let length = window.iter().position(|x| *x == 0).unwrap_or(12);
                let last = window[length.min(11)];
                (0..5).fold(value, |v, _| v.wrapping_mul(7).wrapping_add(last)).wrapping_add(length as u64)
            });
            assert_eq!(*got, want, "thread {t}");
        }
    });
}
