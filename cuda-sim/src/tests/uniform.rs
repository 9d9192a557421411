//! Registers that are uniform in a block after barriers, and registers that only look so.

use super::sync::each;

/// The first thread of those that continue is another one in each iteration.
#[test]
fn counters_of_loops_that_threads_leave() {
    let code = "mov.u32 %r3, 0;
        LOOP: setp.lt.u32 %p1, %r1, %r3; @%p1 bra DONE; bar.sync 0;
        add.u32 %r3, %r3, 1; mad.lo.u32 %r10, %r3, %r3, %r10; setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;";
    each(code, 70, |t| (1..=(t + 1).min(9)).map(|turn| turn * turn).sum());
}

/// A thread that takes the other branch has another value.
#[test]
fn values_of_branches_that_differ() {
    let code = "mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 20; @%p1 bra A; mov.u32 %r3, 2;
        A: bar.sync 0; add.u32 %r10, %r3, 5; bar.sync 0; add.u32 %r10, %r10, %r3;";
    each(code, 70, |t| if t < 20 { 7 } else { 9 });
}

/// Threads that wait at the same barrier are in different iterations, since some have waited at another one before. The
/// sum is per-thread, so a counter that is wrongly treated as uniform would show.
#[test]
fn counters_of_loops_that_threads_enter_at_different_barriers() {
    let code = "mov.u32 %r10, %r1; mov.u32 %r3, 0; setp.lt.u32 %p1, %r1, 20; @!%p1 bra LOOP; bar.sync 0;
        LOOP: add.u32 %r3, %r3, 1; bar.sync 0; add.u32 %r10, %r10, %r3;
        setp.lt.u32 %p2, %r3, 3; @%p2 bra LOOP; @%p1 bra DONE; bar.sync 0;";
    each(code, 70, |t| t + 6);
}
