//! Registers that all threads of a block have in common behind barriers, and such that only look so.

use super::sync::each;

/// The first thread of those that go on is another one in each turn.
#[test]
fn counters_of_loops_that_threads_leave() {
    let code = "mov.u32 %r3, 0;
        LOOP: setp.lt.u32 %p1, %r1, %r3; @%p1 bra DONE; bar.sync 0;
        add.u32 %r3, %r3, 1; mad.lo.u32 %r10, %r3, %r3, %r10; setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;";
    each(code, 70, |t| (1..=(t + 1).min(9)).map(|turn| turn * turn).sum());
}

/// Who goes another way has another value.
#[test]
fn values_of_branches_that_differ() {
    let code = "mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 20; @%p1 bra A; mov.u32 %r3, 2;
        A: bar.sync 0; add.u32 %r10, %r3, 5; bar.sync 0; add.u32 %r10, %r10, %r3;";
    each(code, 70, |t| if t < 20 { 7 } else { 9 });
}

/// Threads that wait at the same place are in different turns, since some have waited at another place before. The sum is
/// each thread's own, so that a counter that they had in common would show in it.
#[test]
fn counters_of_loops_that_threads_enter_at_different_barriers() {
    let code = "mov.u32 %r10, %r1; mov.u32 %r3, 0; setp.lt.u32 %p1, %r1, 20; @!%p1 bra LOOP; bar.sync 0;
        LOOP: add.u32 %r3, %r3, 1; bar.sync 0; add.u32 %r10, %r10, %r3;
        setp.lt.u32 %p2, %r3, 3; @%p2 bra LOOP; @%p1 bra DONE; bar.sync 0;";
    each(code, 70, |t| t + 6);
}
