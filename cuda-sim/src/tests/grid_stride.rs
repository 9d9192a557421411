//! Loops over the size of the grid, whose iterations all threads of a block run together.

use super::HEADER;
use super::sync::check;
use crate::cpu::has_long_vectors;
use crate::module::code_counts;

/// The start of a kernel: the thread's index in the grid in `%rd5`, the grid's size in `%rd6`.
const START: &str = ".visible .entry k(.param .u64 a, .param .u64 b) { .reg .pred %p<8>; .reg .b32 %r<16>;
    .reg .b64 %rd<32>;
    ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[b]; mov.u32 %r1,%tid.x; mov.u32 %r2,%tid.y; mov.u32 %r3,%ntid.x;
    mov.u32 %r4,%ntid.y; mul.lo.u32 %r4,%r4,%r3; mov.u32 %r5,%ctaid.x; mov.u32 %r6,%nctaid.x;
    cvt.u64.u32 %rd5,%r1; mul.wide.u32 %rd6,%r2,%r3; add.u64 %rd5,%rd5,%rd6; mul.wide.u32 %rd6,%r5,%r4;
    add.u64 %rd5,%rd5,%rd6; mul.wide.u32 %rd6,%r6,%r4; shl.b64 %rd3,%rd5,3; add.u64 %rd4,%rd2,%rd3; mov.u64 %rd10,0;";

/// The shapes of blocks: whole warps, a part of one, several rows, rows that are too short for a vector.
const SHAPES: [(u32, [u32; 3]); 8] = [
    (3, [96, 1, 1]),
    (2, [64, 1, 1]),
    (7, [33, 1, 1]),
    (1, [256, 1, 1]),
    (2, [32, 4, 1]),
    (2, [8, 16, 1]),
    (1, [1024, 1, 1]),
    (5, [250, 1, 1]),
];

/// The loop of Rust's `(i..len).step_by(n)`, which steps to the end where the sum wraps. Each iteration changes memory,
/// so that one that runs twice shows; the threads' sums are live behind it.
#[test]
fn every_iteration_runs_once() {
    let text = format!(
        "{START} setp.ge.u64 %p1,%rd5,LEN; @%p1 bra D; mov.u64 %rd7,LEN;
        L: add.u64 %rd11,%rd5,%rd6; setp.gt.u64 %p2,%rd11,%rd5; selp.b64 %rd12,%rd11,%rd7,%p2;
        shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; ld.global.u64 %rd9,[%rd8]; mad.lo.u64 %rd9,%rd9,3,%rd5;
        st.global.u64 [%rd8],%rd9; add.u64 %rd10,%rd10,%rd9; mov.u64 %rd5,%rd12; setp.lt.u64 %p3,%rd5,%rd7; @%p3 bra L;
        D: st.global.u64 [%rd4],%rd10; ret; }}"
    );
    let counts = code_counts(&format!("{HEADER}{}", text.replace("LEN", "1000")), "k").unwrap();
    // The gather is the store behind the loop, whose addresses come from the frame.
    assert!(!has_long_vectors() || counts.vectorised >= 3 && counts.gathers <= 1, "{counts:?}");
    for len in [1000, 1024, 1536, 31, 5] {
        let text = text.replace("LEN", &len.to_string());
        let input: Vec<u64> = (0..len).map(|i| i * i + 3).collect();
        let changed: Vec<u64> = input.iter().enumerate().map(|(i, x)| 3 * x + i as u64).collect();
        for (blocks, shape) in SHAPES {
            let all = (blocks * shape[0] * shape[1]) as usize;
            check(&text, blocks, shape, &[input.clone(), vec![7; all]], |after| {
                assert_eq!(after[0], changed, "{len} numbers, {blocks} blocks of {shape:?}");
                for (i, sum) in after[1].iter().enumerate() {
                    let own = changed.iter().skip(i).step_by(all).sum::<u64>();
                    assert_eq!(*sum, own, "{len} numbers, thread {i} of {blocks} blocks of {shape:?}");
                }
            });
        }
    }
}

/// A float that is the same in a row of threads: its bits advance by another amount in each row.
#[test]
fn floats_are_no_counters() {
    let text = format!(
        "{START} .reg .f32 %f1; cvt.rn.f32.u32 %f1,%r2; mov.u64 %rd7,1000; setp.ge.u64 %p1,%rd5,%rd7; @%p1 bra D;
        L: shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; cvt.rzi.u64.f32 %rd9,%f1; st.global.u64 [%rd8],%rd9;
        add.f32 %f1,%f1,0f3F800000; add.u64 %rd5,%rd5,%rd6; setp.lt.u64 %p3,%rd5,%rd7; @%p3 bra L;
        D: ret; }}"
    );
    for (blocks, shape) in SHAPES {
        let (block, all) = (u64::from(shape[0] * shape[1]), u64::from(blocks * shape[0] * shape[1]));
        let row = |thread: u64| thread % block / u64::from(shape[0]);
        let expected: Vec<u64> = (0..1000).map(|k| row(k % all) + k / all).collect();
        check(&text, blocks, shape, &[vec![7; 1000], vec![0; all as usize]], |after| {
            assert!(after[0] == expected, "{blocks} blocks of {shape:?}");
        });
    }
}

/// A sum of a register that is written further on in the iteration, and differs among the threads in the first one.
#[test]
fn sums_of_the_iteration_before() {
    let text = format!(
        "{START} mul.lo.u64 %rd14,%rd5,%rd5; mov.u64 %rd7,1000; setp.ge.u64 %p1,%rd5,%rd7; @%p1 bra D; bra COND;
        BODY: add.u64 %rd14,%rd10,5;
        COND: shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; st.global.u64 [%rd8],%rd10; add.u64 %rd10,%rd14,1;
        add.u64 %rd5,%rd5,%rd6; setp.lt.u64 %p3,%rd5,%rd7; @%p3 bra BODY;
        D: ret; }}"
    );
    for (blocks, shape) in SHAPES {
        let all = u64::from(blocks * shape[0] * shape[1]);
        let value = |k: u64| if k < all { 0 } else { (k % all) * (k % all) + 1 + 6 * (k / all - 1) };
        let expected: Vec<u64> = (0..1000).map(value).collect();
        check(&text, blocks, shape, &[vec![7; 1000], vec![0; all as usize]], |after| {
            assert!(after[0] == expected, "{blocks} blocks of {shape:?}");
        });
    }
}

/// Runs a kernel of three rounds with a barrier between them. In each one a thread multiplies its elements of the first array by 3 and
/// adds their indices, and its sum, from `start` more than before, is those added to it, times 5.
fn check_rounds(text: &str, start: impl Fn([u32; 3], usize) -> u64) {
    let input: Vec<u64> = (0..700).map(|i| i * i + 3).collect();
    for (blocks, shape) in SHAPES {
        let all = (blocks * shape[0] * shape[1]) as usize;
        let (mut memory, mut sums) = (input.clone(), vec![0u64; all]);
        for _ in 0..3 {
            memory.iter_mut().enumerate().for_each(|(i, x)| *x = x.wrapping_mul(3).wrapping_add(i as u64));
            for (i, sum) in sums.iter_mut().enumerate() {
                let start = sum.wrapping_add(start(shape, i));
                let own = memory.iter().skip(i).step_by(all).fold(start, |sum, x| sum.wrapping_add(*x));
                *sum = own.wrapping_mul(5);
            }
        }
        check(text, blocks, shape, &[input.clone(), vec![0; all]], |after| {
            assert_eq!(after[0], memory, "{blocks} blocks of {shape:?}");
            assert_eq!(after[1], sums, "{blocks} blocks of {shape:?}");
        });
    }
}

/// The loop inside of another one, with a barrier between its rounds.
#[test]
fn every_round_of_a_loop_around_it() {
    let text = format!(
        "{START} mov.u64 %rd7,700; mov.u64 %rd20,%rd5; mov.u32 %r9,0;
        OUTER: mov.u64 %rd5,%rd20; setp.ge.u64 %p1,%rd5,%rd7; @%p1 bra NEXT;
        L: add.u64 %rd11,%rd5,%rd6; setp.gt.u64 %p2,%rd11,%rd5; selp.b64 %rd12,%rd11,%rd7,%p2;
        shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; ld.global.u64 %rd9,[%rd8]; mad.lo.u64 %rd9,%rd9,3,%rd5;
        st.global.u64 [%rd8],%rd9; add.u64 %rd10,%rd10,%rd9; mov.u64 %rd5,%rd12; setp.lt.u64 %p3,%rd5,%rd7; @%p3 bra L;
        NEXT: bar.sync 0; mul.lo.u64 %rd10,%rd10,5; add.u32 %r9,%r9,1; setp.lt.u32 %p4,%r9,3; @%p4 bra OUTER;
        st.global.u64 [%rd4],%rd10; ret; }}"
    );
    check_rounds(&text, |_, _| 0);
}

/// Sums that wrap in different iterations, where the selection's other operand lets the loop go on or ends it.
#[test]
fn sums_that_wrap() {
    let text = format!(
        "{START} mov.u64 %rd13,0; sub.u64 %rd5,%rd5,900; mov.u64 %rd7,OTHER;
        L: and.b64 %rd8,%rd5,511; shl.b64 %rd8,%rd8,3; add.u64 %rd8,%rd1,%rd8; ld.global.u64 %rd9,[%rd8];
        mad.lo.u64 %rd10,%rd10,7,%rd9; add.u64 %rd13,%rd13,1;
        add.u64 %rd11,%rd5,%rd6; setp.gt.u64 %p2,%rd11,%rd5; selp.b64 %rd5,%rd11,%rd7,%p2;
        setp.ge.u64 %p4,%rd13,40; @%p4 bra U; setp.gt.u64 %p3,%rd5,END; @%p3 bra L; bra O;
        U: add.u64 %rd13,%rd13,1000;
        O: mad.lo.u64 %rd10,%rd13,1000003,%rd10; st.global.u64 [%rd4],%rd10; ret; }}"
    );
    let input: Vec<u64> = (0..512).map(|i| i * 13 % 101).collect();
    // The second one goes on where a sum wraps, again and again.
    for (other, end) in [(5u64, 2000u64), (u64::MAX - 700, u64::MAX - 800)] {
        let text = text.replace("OTHER", &other.to_string()).replace("END", &end.to_string());
        for (blocks, shape) in [(2, [64, 1, 1]), (1, [128, 1, 1]), (3, [70, 1, 1])] {
            let all = u64::from(blocks * shape[0]);
            check(&text, blocks, shape, &[input.clone(), vec![0; all as usize]], |after| {
                for (i, got) in after[1].iter().enumerate() {
                    let (mut at, mut sum, mut rounds) = ((i as u64).wrapping_sub(900), 0u64, 0u64);
                    loop {
                        sum = sum.wrapping_mul(7).wrapping_add(input[(at & 511) as usize]);
                        rounds += 1;
                        at = if at.wrapping_add(all) > at { at.wrapping_add(all) } else { other };
                        if rounds >= 40 {
                            rounds += 1000;
                            break;
                        }
                        if at <= end {
                            break;
                        }
                    }
                    assert_eq!(*got, rounds.wrapping_mul(1_000_003).wrapping_add(sum), "{other}, thread {i} of {all}");
                }
            });
        }
    }
}

/// A checked index whose array is shorter than the loop: a thread records where it fails and ends, the others go on. A
/// divergent branch in the body, and values of both sides that are live behind the loop.
#[test]
fn threads_that_fail_in_an_iteration() {
    let text = format!(
        "{START} mov.u64 %rd15,1; setp.ge.u64 %p1,%rd5,900; @%p1 bra D; mov.u64 %rd7,900;
        L: setp.ge.u64 %p4,%rd5,LEN; @%p4 bra COLD;
        shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; and.b64 %rd13,%rd5,3; setp.eq.u64 %p5,%rd13,0; @%p5 bra FOUR;
        add.u64 %rd10,%rd10,%rd5; bra BOTH;
        FOUR: ld.global.u64 %rd9,[%rd8]; mad.lo.u64 %rd10,%rd10,5,%rd9; add.u64 %rd15,%rd15,2; st.global.u64 [%rd8],%rd10;
        BOTH: add.u64 %rd11,%rd5,%rd6; setp.gt.u64 %p2,%rd11,%rd5; selp.b64 %rd5,%rd11,%rd7,%p2;
        setp.lt.u64 %p3,%rd5,900; @%p3 bra L;
        D: mad.lo.u64 %rd10,%rd15,1000003,%rd10; st.global.u64 [%rd4],%rd10; ret;
        COLD: membar.gl; mul.lo.u64 %rd14,%rd5,77; st.global.u64 [%rd4],%rd14; exit; }}"
    );
    let input: Vec<u64> = (0..900).map(|i| i * 31 % 257).collect();
    for len in [900usize, 899, 600, 40] {
        let text = text.replace("LEN", &len.to_string());
        for (blocks, shape) in SHAPES {
            let all = (blocks * shape[0] * shape[1]) as usize;
            check(&text, blocks, shape, &[input.clone(), vec![0; all]], |after| {
                let mut memory = input.clone();
                for (i, got) in after[1].iter().enumerate() {
                    let (mut sum, mut count, mut failed) = (0u64, 1u64, None);
                    for at in (i..900).step_by(all) {
                        if at >= len {
                            failed = Some(at as u64 * 77);
                            break;
                        }
                        if at % 4 == 0 {
                            sum = sum.wrapping_mul(5).wrapping_add(input[at]);
                            count += 2;
                            memory[at] = sum;
                        } else {
                            sum = sum.wrapping_add(at as u64);
                        }
                    }
                    let want = failed.unwrap_or(count.wrapping_mul(1_000_003).wrapping_add(sum));
                    assert_eq!(*got, want, "{len}, thread {i} of {blocks} blocks of {shape:?}");
                }
                assert_eq!(after[0], memory, "{len}, {blocks} blocks of {shape:?}");
            });
        }
    }
}

/// Atomic operations that order nothing, on memory that other threads change too. What one returns differs from thread to
/// thread, and is added up behind the loop.
#[test]
fn atomics_of_every_iteration() {
    for suffix in ["", ".relaxed.gpu"] {
        let text = format!(
            "{START} setp.ge.u64 %p1,%rd5,1000; @%p1 bra D; mov.u64 %rd7,1000;
            L: add.u64 %rd11,%rd5,%rd6; setp.gt.u64 %p2,%rd11,%rd5; selp.b64 %rd12,%rd11,%rd7,%p2;
            shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; atom{suffix}.global.or.b64 %rd9,[%rd8],4096;
            add.u64 %rd10,%rd10,%rd9; and.b64 %rd13,%rd9,7; shl.b64 %rd13,%rd13,3; add.u64 %rd13,%rd1,%rd13;
            red{suffix}.global.add.u64 [%rd13+8000],%rd5; mov.u64 %rd5,%rd12; setp.lt.u64 %p3,%rd5,%rd7; @%p3 bra L;
            D: st.global.u64 [%rd4],%rd10; ret; }}"
        );
        let input: Vec<u64> = (0..1000).map(|i| i * i % 4001).collect();
        let mut changed: Vec<u64> = input.iter().map(|x| x | 4096).chain([0; 8]).collect();
        for (i, x) in input.iter().enumerate() {
            changed[1000 + (x & 7) as usize] += i as u64;
        }
        for (blocks, shape) in SHAPES {
            let all = (blocks * shape[0] * shape[1]) as usize;
            let memory: Vec<u64> = input.iter().copied().chain([0; 8]).collect();
            check(&text, blocks, shape, &[memory, vec![7; all]], |after| {
                assert_eq!(after[0], changed, "{blocks} blocks of {shape:?}");
                for (i, sum) in after[1].iter().enumerate() {
                    let own = input.iter().skip(i).step_by(all).sum::<u64>();
                    assert_eq!(*sum, own, "thread {i} of {blocks} blocks of {shape:?}");
                }
            });
        }
    }
}

/// A check of a uniform value that some threads make, before the loop, in each round of a loop around both.
#[test]
fn rounds_with_a_check_that_only_some_threads_make() {
    let text = format!(
        "{START} mov.u64 %rd7,700; mov.u64 %rd20,%rd5; mov.u32 %r9,0; mov.u32 %r10,%nctaid.x;
        OUTER: setp.ne.u32 %p5,%r1,0; @%p5 bra BOTH; setp.gt.u32 %p6,%r10,50; @%p6 bra COLD; add.u64 %rd10,%rd10,1000;
        BOTH: mov.u64 %rd5,%rd20; setp.lt.u32 %p1,%r10,100; @!%p1 bra NEXT;
        L: setp.ge.u64 %p2,%rd5,%rd7; @%p2 bra NEXT; shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; ld.global.u64 %rd9,[%rd8];
        mad.lo.u64 %rd9,%rd9,3,%rd5; st.global.u64 [%rd8],%rd9; add.u64 %rd10,%rd10,%rd9; add.u64 %rd5,%rd5,%rd6; bra L;
        NEXT: bar.sync 0; mul.lo.u64 %rd10,%rd10,5; add.u32 %r9,%r9,1; setp.lt.u32 %p4,%r9,3; @%p4 bra OUTER;
        st.global.u64 [%rd4],%rd10; ret;
        COLD: membar.gl; st.global.u64 [%rd4],77; exit; }}"
    );
    let counts = code_counts(&format!("{HEADER}{text}"), "k").unwrap();
    assert!(!has_long_vectors() || counts.vectorised >= 3, "{counts:?}");
    check_rounds(&text, |shape, thread| {
        let place = thread as u32 % (shape[0] * shape[1]);
        if place.is_multiple_of(shape[0]) { 1000 } else { 0 }
    });
}

/// Atomic operations whose code has branches: a counter that wraps, halves, a comparison that fails.
#[test]
fn atomics_with_branches() {
    let text = format!(
        "{START} .reg .b32 %c<4>; mov.u64 %rd7,1000; mov.u32 %c2,0x3C003C00; setp.ge.u64 %p1,%rd5,%rd7; @%p1 bra D;
        L: atom.global.inc.u32 %c1,[%rd1],699; red.global.add.noftz.f16x2 [%rd1+8],%c2;
        atom.global.cas.b64 %rd9,[%rd1+16],0,1; add.u64 %rd10,%rd10,%rd9; add.u64 %rd5,%rd5,%rd6;
        setp.lt.u64 %p3,%rd5,%rd7; @%p3 bra L;
        D: st.global.u64 [%rd4],%rd10; ret; }}"
    );
    for (blocks, shape) in SHAPES {
        let all = (blocks * shape[0] * shape[1]) as usize;
        check(&text, blocks, shape, &[vec![0, 0, 5], vec![7; all]], |after| {
            // 1000.0 in both halves.
            assert_eq!(after[0], [300, 0x63D0_63D0, 5], "{blocks} blocks of {shape:?}");
            for (i, sum) in after[1].iter().enumerate() {
                assert_eq!(
                    *sum,
                    5 * (i..1000).step_by(all).count() as u64,
                    "thread {i} of {blocks} blocks of {shape:?}"
                );
            }
        });
    }
}

/// Checks that hold for the first and the last thread of a block, but not for some between them: the checked sum wraps.
#[test]
fn threads_between_others_that_fail() {
    for (start, end) in [(50u64, 60u64), (700, 701), (0, 1)] {
        let text = format!(
            "{START} setp.ge.u64 %p1,%rd5,900; @%p1 bra D; mov.u64 %rd7,900;
            L: sub.u64 %rd13,%rd5,{start}; setp.lt.u64 %p4,%rd13,{width}; @%p4 bra COLD;
            shl.b64 %rd8,%rd5,3; add.u64 %rd8,%rd1,%rd8; ld.global.u64 %rd9,[%rd8]; mad.lo.u64 %rd10,%rd10,5,%rd9;
            add.u64 %rd11,%rd5,%rd6; setp.gt.u64 %p2,%rd11,%rd5; selp.b64 %rd5,%rd11,%rd7,%p2;
            setp.lt.u64 %p3,%rd5,900; @%p3 bra L;
            D: st.global.u64 [%rd4],%rd10; ret;
            COLD: membar.gl; mul.lo.u64 %rd14,%rd5,77; st.global.u64 [%rd4],%rd14; exit; }}",
            width = end - start,
        );
        let input: Vec<u64> = (0..900).map(|i| i * 31 % 257).collect();
        for (blocks, shape) in SHAPES {
            let all = (blocks * shape[0] * shape[1]) as usize;
            check(&text, blocks, shape, &[input.clone(), vec![0; all]], |after| {
                for (i, got) in after[1].iter().enumerate() {
                    let own = || (i..900).step_by(all);
                    let failed = own().find(|at| (start..end).contains(&(*at as u64))).map(|at| at as u64 * 77);
                    let want = failed
                        .unwrap_or_else(|| own().fold(0, |sum: u64, at| sum.wrapping_mul(5).wrapping_add(input[at])));
                    assert_eq!(*got, want, "{start} to {end}, thread {i} of {blocks} blocks of {shape:?}");
                }
            });
        }
    }
}
