//! Bulk copies (`cp.async.bulk`) between global memory, the block's shared memory and that of its cluster.
//!
//! A copy that signals a barrier of its own block is made when a thread of the block tests that barrier, as late as PTX
//! allows. A copy to other blocks or to global memory is made immediately. PTX permits either schedule.
//!
//! # Safety
//!
//! Both sides of a copy are checked as a whole against the memory that the launch may access before the copy is made;
//! an access outside of it faults on purpose. Compiled code passes its own context, which no other thread accesses
//! during the call. A fault abandons functions that own nothing.

use super::copies::{self, Transfer};
use super::{fault, mbarrier, search};
use crate::check;
use crate::codegen::abi::{Access, Context, WINDOW};
use crate::memory::MEMORY;

/// Sizes and addresses are multiples of this.
const UNIT: u64 = 16;

/// Returns true if the first and the last unit of a range are in shared memory of the block's cluster.
fn is_shared(own: &Context, address: u64, bytes: u64) -> bool {
    let last = address.wrapping_add(bytes).wrapping_sub(UNIT);
    [address, last].iter().all(|chunk| search::is_shared(own, *chunk, UNIT))
}

/// The memory space of one side of a copy.
#[derive(Clone, Copy, PartialEq)]
enum MemorySpace {
    Shared,
    Any,
}

/// Checks one side of a copy; faults if it is not accessible.
fn side(
    context: *const Context,
    thread: u64,
    (memory, address): (MemorySpace, u64),
    bytes: u64,
    access: Access,
    position: u64,
) -> *mut u8 {
    // SAFETY: compiled code passes its live context, which nothing else accesses during the call.
    let own = unsafe { &*context };
    let last = address.wrapping_add(bytes).wrapping_sub(UNIT);
    if check::is_checking(own) {
        check::side(own, thread, address, bytes as u32, access, position);
    }
    if search::active() {
        for chunk in [address, last] {
            search::access(context, thread, chunk, UNIT, access as u32, position);
        }
    }
    let guards = MEMORY.guards();
    if !address.is_multiple_of(UNIT) || !bytes.is_multiple_of(UNIT) {
        fault::raise(guards.misaligned);
    }
    let is_global = memory == MemorySpace::Any && MEMORY.covers(address, bytes, own.slots);
    if !is_global && !is_shared(own, address, bytes) {
        fault::raise(guards.outside);
    }
    address as *mut u8
}

/// Copies between checked sides.
pub(super) fn make(to: *mut u8, from: *const u8, bytes: u32) {
    // SAFETY: both sides were checked against the accessible memory for this many bytes.
    unsafe { std::ptr::copy(from, to, bytes as usize) };
}

/// Returns the same offset in the shared memory of each block of the cluster that is in a mask.
fn in_blocks(own: &Context, address: u64, mask: u32) -> impl Iterator<Item = u64> {
    let (first, offset) = (own.shared, address.wrapping_sub(own.shared) & ((1 << WINDOW) - 1));
    (0..16).filter(move |rank| mask >> rank & 1 != 0).map(move |rank| first + (rank << WINDOW) + offset)
}

/// The bit that marks a multicast mask, which may itself be empty.
pub(crate) const MULTICAST: u32 = 1 << 16;

/// A copy to shared memory that signals its bytes to a barrier; with a multicast mask, to the same offset in several
/// blocks and to the barriers there.
pub(crate) extern "C" fn to_shared(
    context: *mut Context,
    thread: u64,
    to: u64,
    from: u64,
    bytes: u32,
    barrier: u64,
    mask: u32,
    position: u64,
) {
    if bytes == 0 {
        return;
    }
    let size = u64::from(bytes);
    let from = side(context, thread, (MemorySpace::Any, from), size, Access::Load, position);
    // SAFETY: compiled code passes its live context, which nothing else accesses during the call.
    let own = unsafe { &*context };
    if mask & MULTICAST != 0 {
        // An offset beyond the cluster does not exist in its blocks.
        side(context, thread, (MemorySpace::Shared, to), size, Access::Store, position);
        if !search::is_shared(own, barrier, 8) {
            fault::raise(MEMORY.guards().outside);
        }
        for (to, barrier) in in_blocks(own, to, mask).zip(in_blocks(own, barrier, mask)) {
            make(side(context, thread, (MemorySpace::Shared, to), size, Access::Store, position), from, bytes);
            if check::is_checking(own) {
                check::completes_bytes(context, thread, barrier);
            }
            // A misuse leaves the barrier incomplete; whoever waits for it is reported.
            let _ = mbarrier::complete_bytes(barrier as *mut u64, bytes);
        }
        return;
    }
    let to = side(context, thread, (MemorySpace::Shared, to), size, Access::Store, position);
    if check::is_checking(own) {
        check::completes_bytes(context, thread, barrier);
    }
    let window = own.shared + (u64::from(own.cluster.rank) << WINDOW);
    let transfer = Transfer { barrier: barrier as *mut u64, to, from, bytes };
    match barrier.wrapping_sub(window) < u64::from(own.total_shared_bytes) {
        true => copies::transfer(context, transfer),
        false => transfer.make(),
    }
}

/// A copy from shared to global memory.
pub(crate) extern "C" fn to_global(context: *mut Context, thread: u64, to: u64, from: u64, bytes: u32, position: u64) {
    if bytes == 0 {
        return;
    }
    let from = side(context, thread, (MemorySpace::Shared, from), bytes.into(), Access::Load, position);
    let to = side(context, thread, (MemorySpace::Any, to), bytes.into(), Access::Store, position);
    if !search::active() {
        make(to, from, bytes);
    }
}
