//! Asynchronous copies and barrier objects (`mbarrier`), as far as they order accesses.
//!
//! # Safety
//!
//! Compiled code passes the context of its running block, which nothing else accesses during the call.

use super::access::Asked;
use super::with;
use crate::codegen::abi::{Access, Context};
use crate::environment::Checks;
use crate::exec::fault;

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
        };
        if let Some(Err(instead)) = with(|checker| checker.access(own, asked)) {
            fault::raise(instead);
        }
        at += unit;
    }
}

/// Called by checked code before a thread arrives at a barrier object, and with `begins` before it is initialised.
pub(crate) extern "C" fn arrived(context: *const Context, thread: u64, barrier: u64, begins: u32) {
    // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
    let own = unsafe { &*context };
    with(|checker| {
        if checker.checks.has(Checks::RACE) {
            checker.enter(own);
            match begins {
                0 => checker.race.release_object(barrier, thread as usize),
                _ => checker.race.begin_object(barrier),
            }
        }
    });
}

/// Called by checked code after a thread has tested a barrier object.
pub(crate) extern "C" fn passed(context: *const Context, thread: u64, barrier: u64, ended: u32) {
    // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
    let own = unsafe { &*context };
    with(|checker| {
        if ended != 0 && checker.checks.has(Checks::RACE) {
            checker.enter(own);
            checker.race.acquire_object(barrier, thread as usize);
        }
    });
}
