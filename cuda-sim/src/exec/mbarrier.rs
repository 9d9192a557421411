//! Barriers in shared memory that count arrivals and bytes: `mbarrier` objects, and the operations of compiled code on
//! them.
//!
//! An object is a word of 64 bits, whose layout PTX leaves to the device: pending arrivals in bits 0 to 19, arrivals of
//! a phase in bits 20 to 39, expected bytes in bits 40 to 60, signed, and the parity of the phase in bit 63. A phase
//! ends when nothing is pending; the next one has as many arrivals. Blocks of a cluster may update each other's
//! objects, so every update is one atomic operation. A state is the word before an arrival.
//!
//! Counts for which PTX leaves the result undefined stop the launch ([`Misuse`]): an object that nobody can complete
//! would be waited for without end.
//!
//! # Safety
//!
//! Compiled code passes pointers that it has checked like those of any access: to eight aligned bytes of accessible
//! memory, or the access faults. The functions own nothing, so a fault may abandon them.

use super::copies;
use crate::codegen::abi::Context;
use crate::service;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of an arrival count.
const COUNT: u32 = 20;
const COUNT_MASK: u64 = (1 << COUNT) - 1;
/// Bits of the byte count.
const BYTES: u32 = 21;
/// The largest number of bytes that are expected, or completed early.
const MAX_BYTES: i64 = (1 << (BYTES - 1)) - 1;
/// The bit position of the phase's parity.
const PHASE: u32 = 63;

/// A decoded barrier word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Barrier {
    pending: u64,
    arrivals: u64,
    bytes: i64,
    odd: bool,
}

impl Barrier {
    fn of(word: u64) -> Barrier {
        let bytes = (word << (64 - 2 * COUNT - BYTES)) as i64 >> (64 - BYTES);
        Barrier { pending: word & COUNT_MASK, arrivals: word >> COUNT & COUNT_MASK, bytes, odd: word >> PHASE != 0 }
    }

    fn word(self) -> u64 {
        let bytes = self.bytes as u64 & ((1 << BYTES) - 1);
        self.pending & COUNT_MASK
            | (self.arrivals & COUNT_MASK) << COUNT
            | bytes << (2 * COUNT)
            | u64::from(self.odd) << PHASE
    }

    /// Starts the next phase if nothing is pending.
    fn complete(self) -> Barrier {
        match self {
            Barrier { pending: 0, bytes: 0, .. } => Barrier { pending: self.arrivals, odd: !self.odd, ..self },
            _ => self,
        }
    }

    fn arrive(self, count: u32) -> Result<Barrier, Misuse> {
        let pending = self.pending.checked_sub(count.into()).ok_or(Misuse::Arrivals)?;
        Ok(Barrier { pending, ..self })
    }

    /// Adds expected bytes, or completed ones if `bytes` is negative.
    fn expect(self, bytes: i64) -> Result<Barrier, Misuse> {
        let bytes = self.bytes + bytes;
        if bytes.abs() > MAX_BYTES { Err(Misuse::Bytes) } else { Ok(Barrier { bytes, ..self }) }
    }
}

/// An operation whose result PTX leaves undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// The count of `mbarrier.init` is out of range.
    Count,
    /// More threads arrive than the phase has pending arrivals.
    Arrivals,
    /// The byte count is out of range.
    Bytes,
}

impl Misuse {
    /// All values, in order.
    const ALL: [Misuse; 3] = [Misuse::Count, Misuse::Arrivals, Misuse::Bytes];

    /// Returns the value of the context's trap field.
    pub(crate) fn trap(self) -> u32 {
        service::MBARRIER + self as u32
    }

    /// Returns the misuse for a value of the context's trap field.
    pub(crate) fn of_trap(trap: u32) -> Option<Misuse> {
        Misuse::ALL.into_iter().find(|misuse| misuse.trap() == trap)
    }

    /// Describes what was found and what is allowed.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Misuse::Count => "the count of mbarrier.init is not in 1 to 1048575",
            Misuse::Arrivals => "more threads arrive at an mbarrier than its phase has pending arrivals",
            Misuse::Bytes => "the bytes that an mbarrier expects are not in -1048575 to 1048575",
        }
    }
}

/// The thread and the instruction of an operation, to which a misuse is attributed.
#[derive(Clone, Copy)]
struct Site {
    context: *mut Context,
    thread: u64,
    position: u64,
}

/// Returns the barrier object at a pointer from compiled code.
fn object<'a>(barrier: *mut u64) -> &'a AtomicU64 {
    // SAFETY: compiled code passes an aligned pointer to accessible memory, or the first access faults on purpose; all
    // accesses to the word are atomic.
    unsafe { AtomicU64::from_ptr(barrier) }
}

/// Returns the parity of an object's phase, for the checkers, which have checked the pointer.
pub(crate) fn is_odd(barrier: *mut u64) -> bool {
    Barrier::of(object(barrier).load(Ordering::SeqCst)).odd
}

/// Atomically updates an object and returns the word before. A misuse leaves it as it is.
fn change(barrier: *mut u64, how: impl Fn(Barrier) -> Result<Barrier, Misuse>) -> Result<u64, Misuse> {
    let object = object(barrier);
    let mut old = object.load(Ordering::SeqCst);
    loop {
        let new = how(Barrier::of(old))?.word();
        match object.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(old) => return Ok(old),
            Err(now) => old = now,
        }
    }
}

impl Site {
    /// Stops the launch if the operation was a misuse; else returns the word before.
    fn check(self, result: Result<u64, Misuse>) -> u64 {
        result.unwrap_or_else(|misuse| {
            service::stopped(self.context, self.thread, self.position, misuse.trap());
            0
        })
    }
}

/// `mbarrier.init`. Copies that are to arrive at an object in the same place are made, and arrive there, before it.
pub(crate) extern "C" fn init(context: *mut Context, thread: u64, position: u64, barrier: *mut u64, count: u32) {
    copies::complete_for(context, barrier);
    let count = u64::from(count);
    if !(1..=COUNT_MASK).contains(&count) {
        Site { context, thread, position }.check(Err(Misuse::Count));
        return;
    }
    object(barrier).store(Barrier { pending: count, arrivals: count, bytes: 0, odd: false }.word(), Ordering::SeqCst);
}

/// `mbarrier.inval`.
pub(crate) extern "C" fn inval(context: *mut Context, _thread: u64, _position: u64, barrier: *mut u64, _: u32) {
    copies::complete_for(context, barrier);
    object(barrier).store(0, Ordering::SeqCst);
}

/// `mbarrier.expect_tx`. The copies may have completed these bytes before, and all threads may have arrived.
pub(crate) extern "C" fn expect(context: *mut Context, thread: u64, position: u64, barrier: *mut u64, bytes: u32) {
    let changed = change(barrier, |b| Ok(b.expect(bytes.into())?.complete()));
    Site { context, thread, position }.check(changed);
}

/// `mbarrier.complete_tx`.
pub(crate) extern "C" fn complete(context: *mut Context, thread: u64, position: u64, barrier: *mut u64, bytes: u32) {
    Site { context, thread, position }.check(complete_bytes(barrier, bytes));
}

/// The completion of a copy that signals its bytes.
pub(super) fn complete_bytes(barrier: *mut u64, bytes: u32) -> Result<u64, Misuse> {
    change(barrier, |b| Ok(b.expect(-i64::from(bytes))?.complete()))
}

/// The arrival also decrements the count of later phases (`arrive_drop`).
pub(crate) const DROPS: u32 = 1;
/// The arrival does not complete the phase (`.noComplete`).
pub(crate) const HOLDS: u32 = 2;

/// Adds one pending arrival to this phase, to be made later. A phase that has as many as possible keeps its number.
pub(super) fn add(barrier: *mut u64) {
    // The update returns no misuse.
    let _ = change(barrier, |b| Ok(Barrier { pending: (b.pending + 1).min(COUNT_MASK), ..b }));
}

/// The arrival of one thread's copies.
pub(super) fn arrive_once(barrier: *mut u64) -> Result<u64, Misuse> {
    change(barrier, |b| Ok(b.arrive(1)?.complete()))
}

/// `mbarrier.arrive` and `arrive_drop`, after expecting `bytes`; returns the state.
pub(crate) extern "C" fn arrive(
    context: *mut Context,
    thread: u64,
    position: u64,
    barrier: *mut u64,
    count: u32,
    bytes: u32,
    how: u32,
) -> u64 {
    let changed = change(barrier, |b| {
        let dropped = if how & DROPS != 0 { count } else { 0 };
        let arrivals = b.arrivals.checked_sub(dropped.into()).ok_or(Misuse::Arrivals)?;
        let b = Barrier { arrivals, ..b }.expect(bytes.into())?.arrive(count)?;
        Ok(if how & HOLDS != 0 { b } else { b.complete() })
    });
    Site { context, thread, position }.check(changed)
}

/// `test_wait` and `try_wait`: returns 1 if the phase of this parity has ended. Completes the copies for which the
/// object waits.
pub(crate) extern "C" fn test(context: *mut Context, barrier: *mut u64, odd: u32) -> u32 {
    copies::complete_for(context, barrier);
    u32::from(Barrier::of(object(barrier).load(Ordering::SeqCst)).odd != (odd & 1 != 0))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_hold_what_was_put_into_them() {
        for pending in [0, 1, COUNT_MASK] {
            for bytes in [0, 1, -1, (1 << 20) - 1, -(1 << 20) + 1] {
                for odd in [false, true] {
                    let barrier = Barrier { pending, arrivals: COUNT_MASK - pending, bytes, odd };
                    assert_eq!(Barrier::of(barrier.word()), barrier);
                }
            }
        }
    }

    #[test]
    fn a_phase_ends_when_nothing_is_pending() {
        let begin = Barrier { pending: 3, arrivals: 3, bytes: 0, odd: false };
        let all = |b: Barrier| b.expect(64)?.complete().arrive(3).map(Barrier::complete);
        let waiting = all(begin).unwrap();
        assert!(!waiting.odd);
        let half = waiting.expect(-32).unwrap().complete();
        assert!(!half.odd);
        assert_eq!(half.expect(-32).unwrap().complete(), Barrier { odd: true, ..begin });
        // Bytes may be completed before they are expected.
        let early = begin.expect(-16).unwrap().arrive(3).unwrap().complete();
        assert_eq!(early.expect(16).unwrap().complete(), Barrier { odd: true, ..begin });
    }

    #[test]
    fn counts_out_of_range_are_misuses() {
        let barrier = Barrier { pending: 2, arrivals: 3, bytes: MAX_BYTES, odd: true };
        assert_eq!(barrier.arrive(3), Err(Misuse::Arrivals));
        assert_eq!(barrier.expect(1), Err(Misuse::Bytes));
        assert_eq!(barrier.expect(-2 * MAX_BYTES - 1), Err(Misuse::Bytes));
        assert_eq!(barrier.expect(-2 * MAX_BYTES), Ok(Barrier { bytes: -MAX_BYTES, ..barrier }));
        let mut word = barrier.word();
        assert_eq!(change(&raw mut word, |b| b.arrive(3)), Err(Misuse::Arrivals));
        assert_eq!(word, barrier.word());
        assert_eq!(Misuse::ALL.map(|misuse| Misuse::of_trap(misuse.trap())), Misuse::ALL.map(Some));
        assert_eq!(Misuse::of_trap(service::TRAP), None);
    }
}
