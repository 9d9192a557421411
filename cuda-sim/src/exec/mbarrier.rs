//! Barriers in shared memory that count arrivals and bytes: `mbarrier` objects, and the operations of compiled code on
//! them.
//!
//! An object is a word of 64 bits, whose layout PTX leaves to the device: pending arrivals in bits 0 to 19, arrivals of
//! a phase in bits 20 to 39, expected bytes in bits 40 to 60, signed, and the parity of the phase in bit 63. A phase
//! ends when nothing is pending; the next one has as many arrivals. Blocks of a cluster may update each other's
//! objects, so every update is one atomic operation. A state is the word before an arrival.
//!
//! # Safety
//!
//! Compiled code passes pointers that it has checked like those of any access: to eight aligned bytes of accessible
//! memory, or the access faults. The functions own nothing, so a fault may abandon them.

use super::copies;
use crate::codegen::abi::Context;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of an arrival count.
const COUNT: u32 = 20;
const COUNT_MASK: u64 = (1 << COUNT) - 1;
/// Bits of the byte count.
const BYTES: u32 = 21;
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

    fn arrive(self, count: u32) -> Barrier {
        Barrier { pending: self.pending.wrapping_sub(count.into()) & COUNT_MASK, ..self }
    }
}

/// Returns the barrier object at a pointer from compiled code.
fn object<'a>(barrier: *mut u64) -> &'a AtomicU64 {
    // SAFETY: compiled code passes an aligned pointer to accessible memory, or the first access faults on purpose; all
    // accesses to the word are atomic.
    unsafe { AtomicU64::from_ptr(barrier) }
}

/// Atomically updates an object and returns the word before.
fn change(barrier: *mut u64, how: impl Fn(Barrier) -> Barrier) -> u64 {
    let object = object(barrier);
    let mut old = object.load(Ordering::SeqCst);
    loop {
        match object.compare_exchange(old, how(Barrier::of(old)).word(), Ordering::SeqCst, Ordering::SeqCst) {
            Ok(old) => return old,
            Err(now) => old = now,
        }
    }
}

/// `mbarrier.init`, or `inval` with a count of 0.
pub(crate) extern "C" fn init(barrier: *mut u64, count: u32) {
    let count = u64::from(count);
    object(barrier).store(Barrier { pending: count, arrivals: count, bytes: 0, odd: false }.word(), Ordering::SeqCst);
}

/// `mbarrier.expect_tx`. The copies may have completed these bytes before, and all threads may have arrived.
pub(crate) extern "C" fn expect(barrier: *mut u64, bytes: u32) {
    change(barrier, |b| Barrier { bytes: b.bytes + i64::from(bytes), ..b }.complete());
}

/// `mbarrier.complete_tx`, and the completion of a copy that signals its bytes.
pub(crate) extern "C" fn complete(barrier: *mut u64, bytes: u32) {
    change(barrier, |b| Barrier { bytes: b.bytes - i64::from(bytes), ..b }.complete());
}

/// The arrival also decrements the count of later phases (`arrive_drop`).
pub(crate) const DROPS: u32 = 1;
/// The arrival does not complete the phase (`.noComplete`).
pub(crate) const HOLDS: u32 = 2;

/// Adds one pending arrival to this phase, to be made later.
pub(super) fn add(barrier: *mut u64) {
    change(barrier, |b| Barrier { pending: (b.pending + 1) & COUNT_MASK, ..b });
}

/// `mbarrier.arrive` and `arrive_drop`, after expecting `bytes`; returns the state.
pub(crate) extern "C" fn arrive(barrier: *mut u64, count: u32, bytes: u32, how: u32) -> u64 {
    change(barrier, |b| {
        let dropped = if how & DROPS != 0 { count } else { 0 };
        let b = Barrier { arrivals: b.arrivals.wrapping_sub(dropped.into()) & COUNT_MASK, ..b };
        let b = Barrier { bytes: b.bytes + i64::from(bytes), ..b }.arrive(count);
        if how & HOLDS != 0 { b } else { b.complete() }
    })
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
        let mut word = 0u64;
        let at = &raw mut word;
        init(at, 3);
        expect(at, 64);
        assert_eq!(arrive(at, 3, 0, 0) & COUNT_MASK, 3);
        assert!(!Barrier::of(word).odd);
        complete(at, 32);
        assert!(!Barrier::of(word).odd);
        complete(at, 32);
        assert_eq!(Barrier::of(word), Barrier { pending: 3, arrivals: 3, bytes: 0, odd: true });
        // Bytes may be completed before they are expected.
        complete(at, 16);
        arrive(at, 1, 0, DROPS);
        arrive(at, 1, 0, HOLDS);
        arrive(at, 1, 16, 0);
        assert_eq!(Barrier::of(word), Barrier { pending: 2, arrivals: 2, bytes: 0, odd: false });
    }
}
