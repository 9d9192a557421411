//! Atomic operations of all threads on one integer, which end a thread.

use super::HEADER;
use super::sync::check;
use crate::cpu::has_long_vectors;
use crate::module::code_counts;

/// The start of a kernel: addresses of the buffers in `%rd1` and `%rd2`, the thread's index in the grid in `%r4`.
const START: &str = ".visible .entry k(.param .u64 a, .param .u64 b) { .reg .pred %p<4>; .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[b]; mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x;
    mov.u32 %r5,%tid.y; mad.lo.u32 %r1,%r5,%r3,%r1; mov.u32 %r5,%ntid.y; mul.lo.u32 %r3,%r3,%r5;
    mad.lo.u32 %r4,%r2,%r3,%r1; mad.lo.u32 %r6,%r4,%r4,77; cvt.u64.u32 %rd3,%r6;";

/// The shapes of grids: whole vectors, parts of them, several rows.
const SHAPES: [(u32, [u32; 3]); 4] = [(2, [64, 1, 1]), (3, [33, 1, 1]), (1, [16, 5, 1]), (2, [7, 2, 1])];

fn threads(blocks: u32, shape: [u32; 3]) -> u32 {
    blocks * shape[0] * shape[1]
}

/// The operand of a thread.
fn own(thread: u32) -> u32 {
    thread * thread + 77
}

type Fold = fn(u32, u32) -> u32;

#[test]
fn all_operations() {
    let operations: [(&str, Fold); 8] = [
        ("add.u32", u32::wrapping_add),
        ("and.b32", |a, b| a & b),
        ("or.b32", |a, b| a | b),
        ("xor.b32", |a, b| a ^ b),
        ("min.u32", u32::min),
        ("max.u32", u32::max),
        ("min.s32", |a, b| (a as i32).min(b as i32) as u32),
        ("max.s32", |a, b| (a as i32).max(b as i32) as u32),
    ];
    for (name, fold) in operations {
        // Numbers of both signs.
        let text = format!("{START} mul.lo.u32 %r6,%r6,0x9E3779B1; red.global.{name} [%rd1+4],%r6; ret; }}");
        for (blocks, shape) in SHAPES {
            for start in [0u32, 1000, u32::MAX - 500] {
                let all = (0..threads(blocks, shape)).map(|i| own(i).wrapping_mul(0x9E37_79B1));
                let want = u64::from(all.fold(start, fold)) << 32 | 5;
                check(&text, blocks, shape, &[vec![u64::from(start) << 32 | 5], vec![0]], |after| {
                    assert_eq!(after[0], [want], "{name} from {start}, {blocks} blocks of {shape:?}");
                });
            }
        }
    }
}

#[test]
fn the_loop_is_vectorised() {
    let text = format!("{START} red.global.add.u64 [%rd1],%rd3; ret; }}");
    let vectorised = code_counts(&format!("{HEADER}{text}"), "k").unwrap().vectorised;
    assert!(!has_long_vectors() || vectorised == 1, "{vectorised}");
    // The old value is used: each thread has its own.
    let text = format!("{START} atom.global.add.u64 %rd4,[%rd1],%rd3; st.global.u64 [%rd2],%rd4; ret; }}");
    assert_eq!(code_counts(&format!("{HEADER}{text}"), "k").unwrap().vectorised, 0);
}

/// No thread takes part, or only some do: where none does, nothing may be written to the address, which is not valid.
#[test]
fn threads_that_take_no_part() {
    for least in [0, 40, 1000] {
        let text = format!(
            "{START} setp.lt.u32 %p1,%r4,{least}; @%p1 bra D; red.global.max.u64 [%rd1],%rd3;
            red.global.add.u64 [%rd1+8],1; D: ret; }}"
        );
        let nowhere = format!(
            "{START} mov.u64 %rd5,64; setp.ge.u32 %p1,%r4,0; @%p1 bra D; red.global.add.u64 [%rd5],%rd3; D: ret; }}"
        );
        for (blocks, shape) in SHAPES {
            let some: Vec<u32> = (least..threads(blocks, shape)).map(own).collect();
            let want = [some.iter().copied().max().map_or(3, u64::from), 9 + some.len() as u64];
            check(&text, blocks, shape, &[vec![3, 9], vec![0]], |after| {
                assert_eq!(after[0], want, "{least}, {blocks} blocks of {shape:?}");
            });
            check(&nowhere, blocks, shape, &[vec![3], vec![0]], |after| assert_eq!(after[0], [3]));
        }
    }
}

/// A thread sees its own operations: it reads the integer afterwards, or runs them again in a loop.
#[test]
fn the_order_within_a_thread() {
    let text = format!(
        "{START} shl.b32 %r7,%r4,3; cvt.u64.u32 %rd6,%r7; add.u64 %rd6,%rd2,%rd6; mov.u32 %r8,0;
        L: red.global.add.u64 [%rd1],1; ld.volatile.global.u64 %rd7,[%rd1]; setp.gt.u64 %p1,%rd7,%rd8; @!%p1 bra BAD;
        mov.u64 %rd8,%rd7; add.u32 %r8,%r8,1; setp.lt.u32 %p2,%r8,3; @%p2 bra L; st.global.u64 [%rd6],1;
        BAD: red.global.add.u64 [%rd1],1; ret; }}"
    );
    let text = text.replace("mov.u32 %r8,0;", "mov.u32 %r8,0; mov.u64 %rd8,0;");
    for (blocks, shape) in SHAPES {
        let all = threads(blocks, shape) as usize;
        check(&text, blocks, shape, &[vec![0], vec![0; all]], |after| {
            assert_eq!(after[0], [4 * all as u64], "{blocks} blocks of {shape:?}");
            assert_eq!(after[1], vec![1; all], "{blocks} blocks of {shape:?}");
        });
    }
}

/// Rounds with a barrier: in each one all threads read the sum of the last one.
#[test]
fn rounds_between_barriers() {
    let text = format!(
        "{START} shl.b32 %r7,%r1,3; cvt.u64.u32 %rd6,%r7; add.u64 %rd6,%rd2,%rd6; mov.u32 %r8,0; mov.u64 %rd8,0;
        L: ld.volatile.global.u64 %rd7,[%rd1]; add.u64 %rd8,%rd8,%rd7; bar.sync 0; red.global.add.u64 [%rd1],%rd3; bar.sync 0;
        add.u32 %r8,%r8,1; setp.lt.u32 %p2,%r8,4; @%p2 bra L; st.global.u64 [%rd6],%rd8; ret; }}"
    );
    for shape in [[64, 1, 1], [33, 1, 1], [16, 5, 1]] {
        let all = threads(1, shape);
        let sum: u64 = (0..all).map(|i| u64::from(own(i))).sum();
        check(&text, 1, shape, &[vec![0], vec![0; all as usize]], |after| {
            assert_eq!(after[0], [4 * sum], "{shape:?}");
            assert_eq!(after[1], vec![6 * sum; all as usize], "{shape:?}");
        });
    }
}
