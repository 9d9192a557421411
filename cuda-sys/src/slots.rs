//! [`Slots`]: the addresses of a table's functions, each looked up on first use.
//!
//! Invariant: a slot holds `UNRESOLVED`, `MISSING`, or an address that its table's lookup returned, and never returns to
//! `UNRESOLVED`. Threads that resolve the same slot at the same time look it up more than once at worst, get the same
//! result, and never wait for each other (`loom` tests below).

use core::ffi::c_void;

use crate::sync::{AtomicPtr, Ordering};

/// Not looked up yet.
const UNRESOLVED: *mut c_void = core::ptr::null_mut();
/// Looked up and not found. No function has this address.
const MISSING: *mut c_void = core::ptr::without_provenance_mut(1);

/// The addresses of `N` functions.
pub(crate) struct Slots<const N: usize>(Box<[AtomicPtr<c_void>; N]>);

impl<const N: usize> Slots<N> {
    /// Slots that are all unresolved.
    pub(crate) fn unresolved() -> Slots<N> {
        Slots(Box::new(core::array::from_fn(|_| AtomicPtr::new(UNRESOLVED))))
    }

    /// Slots of known addresses; null is a missing function.
    pub(crate) fn of(addresses: &[*mut c_void; N]) -> Slots<N> {
        Slots(Box::new(core::array::from_fn(|at| {
            AtomicPtr::new(if addresses[at].is_null() { MISSING } else { addresses[at] })
        })))
    }

    /// The address in a slot, if it is resolved; the hot path of every call.
    #[inline]
    pub(crate) fn resolved(&self, slot: usize) -> Option<*mut c_void> {
        let address = self.0[slot].load(Ordering::Acquire);
        (address.addr() > MISSING.addr()).then_some(address)
    }

    /// The address in a slot, looked up with `find` unless it is resolved; `None` if there is no such function.
    #[cold]
    pub(crate) fn resolve(&self, slot: usize, find: impl FnOnce() -> Option<*mut c_void>) -> Option<*mut c_void> {
        if self.0[slot].load(Ordering::Acquire) == UNRESOLVED {
            let found = find().filter(|address| address.addr() > MISSING.addr());
            self.0[slot].store(found.unwrap_or(MISSING), Ordering::Release);
        }
        self.resolved(slot)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_is_made_once_even_if_it_finds_nothing() {
        let slots = Slots::<2>::unresolved();
        let address = core::ptr::without_provenance_mut(4096);
        assert_eq!(slots.resolved(0), None);
        assert_eq!(slots.resolve(0, || Some(address)), Some(address));
        assert_eq!(slots.resolve(0, || panic!("it is known")), Some(address));
        assert_eq!(slots.resolve(1, || None), None);
        assert_eq!(slots.resolve(1, || panic!("it is known to be missing")), None);
    }

    #[test]
    fn known_addresses_are_not_looked_up() {
        let address = core::ptr::without_provenance_mut(4096);
        let slots = Slots::of(&[address, core::ptr::null_mut()]);
        assert_eq!(slots.resolved(0), Some(address));
        assert_eq!(slots.resolve(1, || panic!("it is known to be missing")), None);
    }

    #[test]
    fn an_address_that_no_function_can_have_is_missing() {
        assert_eq!(Slots::<1>::unresolved().resolve(0, || Some(MISSING)), None);
    }
}

/// The first use by many threads: `RUSTFLAGS="--cfg loom" cargo test -p cuda-sys --lib loom --profile loom`.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;

    /// Two threads resolve two functions in opposite orders; one of the functions is missing.
    #[test]
    fn loom_threads_that_race_get_the_same_address() {
        loom::model(|| {
            let slots = Arc::new(Slots::<2>::unresolved());
            let lookups = Arc::new(AtomicUsize::new(0));
            let ask = |order: [usize; 2]| {
                let (slots, lookups) = (slots.clone(), lookups.clone());
                move || {
                    for slot in order {
                        let address = slots.resolve(slot, || {
                            lookups.fetch_add(1, Ordering::Relaxed);
                            (slot == 0).then(|| core::ptr::without_provenance_mut(4096))
                        });
                        assert_eq!(address.map(|address| address.addr()), (slot == 0).then_some(4096));
                    }
                    // A result that this thread has seen does not change.
                    assert!(slots.resolved(0).is_some() && slots.resolved(1).is_none());
                }
            };
            let other = loom::thread::spawn(ask([1, 0]));
            ask([0, 1])();
            other.join().expect("it does not panic");
            let lookups = lookups.load(Ordering::Relaxed);
            assert!((2..=4).contains(&lookups), "{lookups} lookups of two functions by two threads");
            slots.resolve(0, || panic!("it is known"));
            slots.resolve(1, || panic!("it is known to be missing"));
        });
    }
}
