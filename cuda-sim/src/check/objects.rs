//! Asynchronous copies and barrier objects (`mbarrier`), as far as they order accesses.
//!
//! # Safety
//!
//! Compiled code passes the context of its running block, which nothing else accesses during the call.

use super::access::Asked;
use super::race::Arrival;
use super::with;
use crate::codegen::abi::{self, Access, Context};
use crate::environment::Checks;
use crate::exec::{fault, mbarrier};

/// Returns true if a launch with a checker runs on this thread.
pub(crate) fn is_checking(own: &Context) -> bool {
    own.checked != 0
}

/// Checks one side of an asynchronous copy, which its thread makes.
pub(crate) fn side(own: &Context, thread: u64, address: u64, bytes: u32, access: Access, position: u64) {
    // In units of which each is aligned.
    let unit = 1 << bytes.trailing_zeros().min(4).min(address.trailing_zeros());
    let mut at = 0;
    while at < bytes {
        let asked = Asked {
            thread,
            address: address + u64::from(at),
            bytes: unit,
            kind: access as u32,
            position,
            value: 0,
            made: false,
            of_copy: true,
        };
        if let Some(Err(instead)) = with(|checker| checker.access(own, asked)) {
            fault::raise(instead);
        }
        at += unit;
    }
}

/// Called by checked code before a thread arrives at a barrier object or begins to use it, with the properties of
/// [`abi::arrival`].
pub(crate) extern "C" fn arrived(context: *const Context, thread: u64, barrier: *mut u64, kind: u32) {
    // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
    let own = unsafe { &*context };
    let arrival = match kind {
        abi::arrival::RELAXED => Arrival::Relaxed,
        abi::arrival::MIXED => Arrival::Mixed,
        _ => Arrival::Release,
    };
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            match kind {
                abi::arrival::BEGINS => checker.race.begin_object(barrier as u64),
                _ => {
                    // Of an object that copies arrive at, the parity does not matter.
                    let odd = arrival != Arrival::Mixed && mbarrier::is_odd(barrier);
                    checker.race.release_object(barrier as u64, odd, thread as usize, arrival);
                }
            }
        }
    });
}

/// A copy of a thread is to complete bytes of a barrier object.
pub(crate) fn completes_bytes(context: *const Context, thread: u64, barrier: u64) {
    arrived(context, thread, barrier as *mut u64, abi::arrival::MIXED);
}

/// Called by checked code after a thread has tested a barrier object.
pub(crate) extern "C" fn passed(context: *const Context, thread: u64, barrier: *mut u64, ended: u32, relaxed: u32) {
    // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
    let own = unsafe { &*context };
    with(|checker| {
        if ended != 0 && checker.checks.has(Checks::RACE) {
            checker.enter(own);
            let odd = mbarrier::is_odd(barrier);
            checker.race.acquire_object(barrier as u64, odd, thread as usize, relaxed != 0);
        }
    });
}
