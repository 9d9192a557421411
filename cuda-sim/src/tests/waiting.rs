//! Threads and blocks that poll: the write that they wait for happens, or no thread is left to make it.

use super::sync::{check_under, launch, seeds};
use super::{Buffer, HEADER, launch_of};
use crate::exec::launch::{Fault, Launch};
use crate::module::image;
use std::sync::Arc;

/// Blocks that wait for each other run concurrently up to the number that a card holds, and no more.
#[test]
fn as_many_blocks_run_as_a_card_holds() {
    const RESIDENT: u64 = 6;
    let text = waiting_kernel(
        "setp.ne.u32 %p1, %r3, 0; @%p1 ret; atom.global.add.u64 %rd2, [%rd1], 1; add.u64 %rd2, %rd2, 1;
         ld.volatile.global.u64 %rd3, [%rd1+8]; sub.u64 %rd3, %rd2, %rd3; atom.global.max.u64 %rd4, [%rd1+16], %rd3;
         WAIT: ld.volatile.global.u64 %rd5, [%rd1]; setp.lt.u64 %p2, %rd5, 6; @%p2 bra WAIT;
         atom.global.add.u64 %rd6, [%rd1+8], 1;",
    );
    let image = image(&text).unwrap();
    let kernel = &image.kernels["k"];
    for code in [kernel.compiled(&[], [64, 1, 1], false).unwrap(), kernel.fibers(&[], false).unwrap()] {
        let counts = Buffer::new(&[0; 3]);
        let (_module, launch) = launch_of(&image, code, [200, 1, 1], [64, 1, 1], &[counts.0]);
        Arc::new(Launch { resident: RESIDENT as u32, ..launch }).run().unwrap();
        assert_eq!(counts.read(3), [200, 200, RESIDENT]);
    }
}

/// A loop that follows references, longer than threads run it at a stretch, in a loop around a compare-and-swap.
#[test]
fn long_chains_inside_of_a_retried_swap() {
    let text = ".visible .entry k(.param .u64 parents, .param .u64 sum, .param .u64 out) { .reg .pred %p<4>;
        .reg .b32 %r<4>; .reg .b64 %rd<24>;
        ld.param.u64 %rd1,[parents]; ld.param.u64 %rd2,[sum]; ld.param.u64 %rd3,[out]; mov.u32 %r1,%tid.x;
        mul.wide.u32 %rd4,%r1,10;
        RETRY: mov.u64 %rd5,%rd4; mov.u64 %rd6,0; ld.relaxed.gpu.global.u64 %rd7,[%rd2];
        L: shl.b64 %rd8,%rd5,3; add.u64 %rd9,%rd1,%rd8; ld.relaxed.gpu.global.u64 %rd10,[%rd9];
        setp.eq.u64 %p1,%rd10,%rd5; @%p1 bra ROOT; mov.u64 %rd5,%rd10; add.u64 %rd6,%rd6,1; bra L;
        ROOT: add.u64 %rd11,%rd7,%rd6; atom.global.cas.b64 %rd12,[%rd2],%rd7,%rd11; setp.ne.u64 %p2,%rd12,%rd7;
        @%p2 bra RETRY;
        mul.wide.u32 %rd13,%r1,8; add.u64 %rd14,%rd3,%rd13; st.global.u64 [%rd14],%rd6; ret; }";
    let parents: Vec<u64> = (0..640_u64).map(|i| i.saturating_sub(1)).collect();
    check_under(seeds().start..seeds().start + 5, text, 1, [64, 1, 1], &[parents, vec![0], vec![0; 64]], |after| {
        assert_eq!(after[1], [10 * 64 * 63 / 2]);
        assert!(after[2].iter().enumerate().all(|(t, steps)| *steps == 10 * t as u64), "{:?}", after[2]);
    });
}

/// The grid barrier of the headers of cooperative groups, for thread 0 of each block; `%rd2` is the workspace.
const GRID_BARRIER: &str =
    "mov.u32 %r14, %envreg2; cvt.u64.u32 %rd17, %r14; mov.u32 %r15, %envreg1; cvt.u64.u32 %rd18, %r15;
    bfi.b64 %rd2, %rd18, %rd17, 32, 32; add.s64 %rd8, %rd2, 4; mov.u32 %r4, %nctaid.x;
    barrier.sync 0; setp.ne.u32 %p2, %r3, 0; @%p2 bra JOIN;
    setp.eq.s32 %p3, %r1, 0; mov.u32 %r31, -2147483647; sub.s32 %r30, %r31, %r4; selp.b32 %r25, %r30, 1, %p3;
    atom.add.release.gpu.u32 %r24, [%rd8], %r25;
    WAIT: ld.acquire.gpu.u32 %r29, [%rd8]; xor.b32 %r28, %r29, %r24; setp.gt.s32 %p4, %r28, -1; @%p4 bra WAIT;
    JOIN: barrier.sync 0;";

/// Returns a kernel `k(p)` with the block's index in `%r1`, the thread's in `%r3`, and `p` in `%rd1`.
fn waiting_kernel(code: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<24>;
        .shared .u32 flag; ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x; {code} ret; }}"
    )
}

/// Returns the fault of every engine, with its text.
#[track_caller]
fn faults(code: &str, grid: u32) -> Vec<(Fault, String)> {
    let image = image(&waiting_kernel(code)).unwrap();
    let kernel = &image.kernels["k"];
    let count = Buffer::new(&[0; 2]);
    let fibers = kernel.fibers(&[], false).unwrap();
    let seeded = seeds().take(5).map(|seed| Arc::new(fibers.seeded(Some(seed))));
    let compiled = kernel.compiled(&[], [64, 1, 1], false).unwrap();
    let one = |code: Arc<_>| {
        let (_module, launch) = launch_of(&image, &code, [grid, 1, 1], [64, 1, 1], &[count.0]);
        let launch = Arc::new(Launch { cooperative: true, ..launch });
        let fault = Arc::clone(&launch).run().unwrap_err();
        (fault, kernel.explain(&launch, &fault))
    };
    [Arc::clone(compiled), Arc::clone(fibers)].into_iter().chain(seeded).map(one).collect()
}

/// Every engine reports a deadlock.
#[track_caller]
fn never_ends(code: &str, grid: u32) {
    for (fault, text) in faults(code, grid) {
        assert!(matches!(fault, Fault::Deadlock { .. }), "{text}");
    }
}

#[test]
fn a_barrier_of_the_grid_that_a_block_misses_is_a_fault() {
    // One block has returned, or many; the blocks are on one worker, or on all.
    never_ends(&format!("setp.eq.u32 %p1, %r1, 1; @%p1 ret; {GRID_BARRIER}"), 2);
    never_ends(&format!("setp.gt.u32 %p1, %r1, 100; @%p1 ret; {GRID_BARRIER}"), 200);
    // One block arrives once more than the others.
    let again = GRID_BARRIER.replace("WAIT", "AGAIN").replace("JOIN", "LAST");
    never_ends(&format!("{GRID_BARRIER} setp.ne.u32 %p1, %r1, 7; @%p1 ret; {again}"), 40);
    // A block waits for its own threads before the barrier, and one of them is at another barrier.
    never_ends(&format!("setp.eq.u32 %p1, %r3, 5; @%p1 bar.sync 3, 64; {GRID_BARRIER}"), 1);
    // The loop also polls memory that could only end the thread.
    let looks = GRID_BARRIER.replace(
        "WAIT:",
        "bra WAIT; PANIC: st.global.u32 [%rd1], 1; exit;
         WAIT: ld.relaxed.sys.global.u32 %r32, [%rd1]; setp.ne.u32 %p5, %r32, 0; @%p5 bra PANIC;",
    );
    never_ends(&format!("setp.eq.u32 %p1, %r1, 1; @%p1 ret; {looks}"), 9);
}

#[test]
fn shared_memory_that_nobody_is_left_to_write_is_a_fault() {
    let wait = "WAIT: ld.volatile.shared.u32 %r5, [flag]; setp.eq.u32 %p4, %r5, 0; @%p4 bra WAIT;";
    let clear = "mov.u32 %r6, 0; st.shared.u32 [flag], %r6; bar.sync 0;";
    never_ends(&format!("{clear} {wait}"), 3);
    // The threads that would write have returned, or wait for those that poll.
    never_ends(&format!("{clear} setp.gt.u32 %p1, %r3, 20; @%p1 ret; {wait}"), 3);
    never_ends(&format!("{clear} setp.gt.u32 %p1, %r3, 20; @%p1 bar.sync 0; {wait}"), 3);
}

#[test]
fn counts_that_barriers_in_shared_memory_cannot_have_are_faults() {
    let one = "setp.ne.u32 %p1, %r3, 63; @%p1 bra JOIN; mov.u32 %r6, 1048576;";
    let init = "mbarrier.init.shared.b64 [bar], 2;";
    for (misuse, what) in [
        ("mbarrier.init.shared.b64 [bar], 0;", "the count of mbarrier.init is not in 1 to 1048575"),
        ("mbarrier.init.shared.b64 [bar], %r6;", "the count of mbarrier.init is not in 1 to 1048575"),
        ("mbarrier.init.shared.b64 [bar], -1;", "the count of mbarrier.init is not in 1 to 1048575"),
        (
            "mbarrier.arrive.shared.b64 _, [bar], 3;",
            "more threads arrive at an mbarrier than its phase has pending arrivals",
        ),
        (
            "mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];",
            "more threads arrive at an mbarrier than its phase has pending arrivals",
        ),
        (
            "mbarrier.expect_tx.shared.b64 [bar], 1048575; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1;",
            "the bytes that an mbarrier expects are not in -1048575 to 1048575",
        ),
        (
            "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], %r6;",
            "the bytes that an mbarrier expects are not in -1048575 to 1048575",
        ),
    ] {
        let code = format!(".shared .align 8 .b64 bar; {one} {init} {misuse} JOIN: bar.sync 0;");
        for (fault, text) in faults(&code, 2) {
            assert!(matches!(fault, Fault::Mbarrier(..)), "{text}");
            let place = text.split(what).nth(1).unwrap_or_else(|| panic!("{misuse}: {text}"));
            assert!(place.ends_with("0, 0), thread (63, 0, 0)"), "{text}");
            assert!(text.starts_with("kernel `k`, at line "), "{text}");
        }
    }
    // The largest count is one.
    let most = format!(
        ".shared .align 8 .b64 bar; {one} mbarrier.init.shared.b64 [bar], 1048575;
        mbarrier.arrive.shared.b64 _, [bar], 1048575; WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;
        @!%p2 bra WAIT; JOIN: bar.sync 0;"
    );
    let image = image(&waiting_kernel(&most)).unwrap();
    super::run(&image, "k", [1, 1, 1], [64, 1, 1], &[0]).unwrap();
}

/// Threads that poll memory which others still write finish, in every order.
#[test]
fn a_barrier_in_shared_memory_at_which_nobody_arrives_is_a_fault() {
    // One arrival too few, with each kind of wait; and bytes that do not arrive.
    let init = "setp.ne.u32 %p1, %r3, 0; @%p1 bra READY; mbarrier.init.shared.b64 [bar], 65; READY: bar.sync 0;";
    for wait in [
        "mbarrier.arrive.shared.b64 %rd2, [bar]; WAIT: mbarrier.test_wait.shared.b64 %p2, [bar], %rd2; @!%p2 bra WAIT;",
        "mbarrier.arrive.shared.b64 _, [bar]; WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0, 100; @!%p2 bra WAIT;",
        "mbarrier.arrive.shared.b64 _, [bar]; @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
         WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;",
    ] {
        never_ends(&format!(".shared .align 8 .b64 bar; {init} {wait}"), 2);
    }
}

#[test]
fn what_is_waited_for_comes() {
    let count = |code: &str, grid: u32, expected: u64| {
        let text = waiting_kernel(&format!("{code} atom.global.add.u64 %rd5, [%rd1+8], 1;"));
        let few = seeds().start..seeds().end.min(seeds().start + 10);
        check_under(few, text.strip_prefix(HEADER).unwrap(), grid, [64, 1, 1], &[vec![0; 2]], |after| {
            assert_eq!(after[0][1], expected);
        });
    };
    // A warp writes shared memory late, after a barrier of its own, while the others poll.
    count(
        "mov.u32 %r6, 0; st.shared.u32 [flag], %r6; bar.sync 0; setp.lt.u32 %p1, %r3, 32; @%p1 bra WAIT;
         bar.sync 1, 32; bar.sync 1, 32; mov.u32 %r7, 0;
         SPIN: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 99; @%p2 bra SPIN; setp.ne.u32 %p3, %r3, 40; @%p3 bra DONE;
         mov.u32 %r6, 1; st.volatile.shared.u32 [flag], %r6; bra DONE;
         WAIT: ld.volatile.shared.u32 %r5, [flag]; setp.eq.u32 %p4, %r5, 0; @%p4 bra WAIT; DONE:",
        5,
        5 * 64,
    );
    // A loop with a bounded number of iterations ends by itself.
    count(
        "mov.u32 %r6, 0; st.shared.u32 [flag], %r6; bar.sync 0; mov.u32 %r7, 0;
         WAIT: ld.volatile.shared.u32 %r5, [flag]; add.u32 %r7, %r7, 1; setp.ne.u32 %p4, %r5, 0; @%p4 bra DONE;
         setp.lt.u32 %p5, %r7, 50; @%p5 bra WAIT; DONE:",
        3,
        3 * 64,
    );
    // So does one that reads the clock.
    count(
        "mov.u32 %r6, 0; st.shared.u32 [flag], %r6; bar.sync 0; mov.u64 %rd6, %clock64; add.u64 %rd6, %rd6, 100000;
         WAIT: ld.volatile.shared.u32 %r5, [flag]; mov.u64 %rd7, %clock64; setp.ne.u32 %p4, %r5, 0; @%p4 bra DONE;
         setp.lt.u64 %p5, %rd7, %rd6; @%p5 bra WAIT; DONE:",
        2,
        2 * 64,
    );
    // Several barriers of the grid, some blocks later than others.
    let late = "mul.lo.u32 %r7, %r1, 50; SPIN: sub.u32 %r7, %r7, 1; setp.gt.s32 %p1, %r7, 0; @%p1 bra SPIN;";
    let again = GRID_BARRIER.replace("WAIT", "AGAIN").replace("JOIN", "LAST");
    count(&format!("{late} {GRID_BARRIER} {again}"), 33, 33 * 64);
    // So many that all blocks are at one whenever a worker checks; on one worker, and on several.
    let rounds = |rounds: u32| {
        let again = "add.u32 %r33, %r33, 1; setp.lt.u32 %p6, %r33,";
        format!("mov.u32 %r33, 0; ROUND: {GRID_BARRIER} {again} {rounds}; @%p6 bra ROUND;")
    };
    count(&rounds(12), 6, 6 * 64);
    count(&rounds(2), 260, 260 * 64);
}

/// Threads retry when another was faster: each may consider the loop one that waits for others.
#[test]
fn many_threads_that_try_again_all_succeed() {
    const BLOCKS: u32 = 1 << 13;
    let text = waiting_kernel(
        "AGAIN: ld.global.u64 %rd2, [%rd1]; add.u64 %rd3, %rd2, 1; atom.global.cas.b64 %rd4, [%rd1], %rd2, %rd3;
         setp.ne.u64 %p1, %rd4, %rd2; @%p1 bra AGAIN;",
    );
    let image = image(&text).unwrap();
    let kernel = &image.kernels["k"];
    for code in [kernel.compiled(&[], [256, 1, 1], false).unwrap(), kernel.fibers(&[], false).unwrap()] {
        let count = Buffer::new(&[0; 2]);
        launch(&image, code, BLOCKS, [256, 1, 1], &[count.0]).unwrap();
        assert_eq!(count.read(1), [u64::from(BLOCKS) * 256]);
    }
}
