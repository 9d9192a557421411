//! Asynchronous copies (`cp.async`), which are queued for each thread of a block until it waits for them.
//!
//! PTX allows such a copy to be made at any time between its start and the end of the wait. Here it is made as late as
//! possible, in the wait: a kernel that forgets to wait reads the old contents, on each engine and every time. Copies
//! that arrive at a barrier in shared memory are completed when a thread of the block tests that barrier. Copies that
//! are never waited for are dropped with their block, whose shared memory nobody reads any more.
//!
//! # Safety
//!
//! Compiled code passes its own context, which no other thread accesses during the call, and pointers that it has
//! checked like those of any access: each is to accessible memory of the device for as many bytes as the copy has, or
//! its access faults. A fault abandons [`wait`] or [`complete_for`] in the middle of a copy, which is no longer in the
//! queue and owns nothing.

use super::{bulk, mbarrier, search};
use crate::check;
use crate::codegen::abi::{Access, Context};
use std::collections::VecDeque;

/// A pending copy.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// Its sequence number among its thread's copies, and its group's number.
    number: u64,
    group: u64,
    to: *mut u8,
    from: *const u8,
    bytes: u32,
    /// The number of bytes to read; the rest of the destination is zeroed.
    filled: u32,
    position: u64,
}

/// The sides of a pending copy, for the checkers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    pub(crate) to: u64,
    pub(crate) bytes: u32,
    pub(crate) from: u64,
    pub(crate) filled: u32,
}

/// A pending copy that conflicts with an access: the side at which they meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub(crate) thread: u64,
    pub(crate) position: u64,
    pub(crate) address: u64,
    pub(crate) writes: bool,
}

/// The pending copies of a thread, in order, and the group of the next one.
#[derive(Debug, Default)]
struct Queue {
    copies: VecDeque<Copy>,
    started: u64,
    group: u64,
}

/// An arrival at a barrier that is due when the first copies of a thread are complete.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    barrier: *mut u64,
    thread: u64,
    copies: u64,
}

/// The pending copies of a block's threads.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    threads: Vec<Queue>,
    arrivals: Vec<Arrival>,
    transfers: Vec<Transfer>,
}

/// A bulk copy that signals its bytes to a barrier of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) barrier: *mut u64,
    pub(super) to: *mut u8,
    pub(super) from: *const u8,
    pub(super) bytes: u32,
}

impl Transfer {
    pub(super) fn make(self) {
        bulk::make(self.to, self.from, self.bytes);
        // A misuse leaves the barrier incomplete; whoever waits for it is reported.
        let _ = mbarrier::complete_bytes(self.barrier, self.bytes);
    }
}

impl Copies {
    /// Drops pending copies, before another block begins.
    pub(crate) fn clear(&mut self, is_checked: bool) {
        self.arrivals.clear();
        self.transfers.clear();
        for queue in &mut self.threads {
            let dropped = queue.copies.drain(..).filter(|_| is_checked);
            dropped.for_each(|copy| check::copy_ends(&copy.sides()));
            (queue.started, queue.group) = (0, 0);
        }
    }

    /// Returns a pending copy that conflicts with an access to bytes from an address on.
    pub(crate) fn meeting(&self, address: u64, bytes: u32, writes: bool) -> Option<Meeting> {
        let end = address.saturating_add(bytes.into());
        let touches = |start: u64, bytes: u32| start < end && address < start.saturating_add(bytes.into());
        let all = self.threads.iter().enumerate().flat_map(|(thread, queue)| {
            queue.copies.iter().map(move |copy| (thread as u64, copy.position, copy.sides()))
        });
        all.into_iter().find_map(|(thread, position, sides)| {
            let meets = |address, writes| Some(Meeting { thread, position, address, writes });
            match sides {
                Sides { to, bytes, .. } if touches(to, bytes) => meets(to, true),
                Sides { from, filled, .. } if writes && touches(from, filled) => meets(from, false),
                _ => None,
            }
        })
    }

    fn queue(&mut self, thread: u64) -> &mut Queue {
        let thread = thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Queue::default);
        }
        &mut self.threads[thread]
    }
}

impl Queue {
    /// Makes the copies in front that belong to what is waited for.
    fn finish_while(&mut self, is_checked: bool, belongs: impl Fn(&Copy) -> bool) {
        while let Some(copy) = self.copies.pop_front_if(|copy| belongs(copy)) {
            copy.finish(is_checked);
        }
    }
}

impl Copy {
    fn sides(&self) -> Sides {
        Sides { to: self.to as u64, bytes: self.bytes, from: self.from as u64, filled: self.filled }
    }

    /// Makes the copy, which is no longer pending.
    fn finish(self, is_checked: bool) {
        if is_checked {
            check::copy_ends(&self.sides());
        }
        self.make();
    }

    fn make(self) {
        let (filled, rest) = (self.filled as usize, (self.bytes - self.filled) as usize);
        // SAFETY: compiled code has checked source and destination for the size of the copy, of which `filled` bytes
        // are a part.
        unsafe { std::ptr::copy(self.from, self.to, filled) };
        // SAFETY: compiled code has checked the destination for the size of the copy, of which this is the rest.
        unsafe { std::ptr::write_bytes(self.to.wrapping_add(filled), 0, rest) };
    }
}

/// Returns the queue of a thread of the block whose compiled code makes the call.
fn queue<'a>(context: *mut Context, thread: u64) -> &'a mut Queue {
    // SAFETY: compiled code passes its live context, which nothing else accesses until the call returns.
    unsafe { &mut (*context).copies }.queue(thread)
}

/// The limit on pending copies, arrivals and bulk copies, each. Beyond it the oldest is completed, which PTX allows at
/// any time.
const MAX_PENDING: usize = 4096;

/// Faults if a pointer is to inaccessible memory, even for a copy that is never waited for.
fn probe(at: *const u8) {
    // SAFETY: compiled code has checked the pointer, so it is accessible or its access faults on purpose.
    unsafe { at.read_volatile() };
}

/// `cp.async`
pub(crate) extern "C" fn start(
    context: *mut Context,
    thread: u64,
    to: *mut u8,
    from: *const u8,
    bytes: u32,
    filled: u32,
    position: u64,
) {
    let (mut to, mut from) = (to, from);
    // SAFETY: compiled code passes its live context, which nothing else accesses until the call returns.
    let own = unsafe { &*context };
    if check::is_checking(own) {
        check::side(own, thread, to as u64, bytes, Access::Store, position);
        check::side(own, thread, from as u64, filled, Access::Load, position);
    }
    if search::active() {
        let asked = |address: u64, bytes, kind: Access| {
            search::access(context, thread, address, u64::from(bytes), kind as u32, position)
        };
        to = asked(to as u64, bytes, Access::Store) as *mut u8;
        if filled > 0 {
            // The first byte is enough for a part: with an aligned source the part ends in the same page.
            let is_part = filled < bytes && (from as u64).is_multiple_of(bytes.into());
            let part = if is_part { 1 } else { bytes };
            from = asked(from as u64, part, Access::Load) as *const u8;
        }
    }
    probe(to);
    if filled > 0 {
        probe(from);
    }
    let is_checked = check::is_checking(own);
    let queue = queue(context, thread);
    if queue.copies.len() >= MAX_PENDING {
        queue.copies.pop_front().into_iter().for_each(|copy| copy.finish(is_checked));
    }
    let (number, group) = (queue.started, queue.group);
    let copy = Copy { number, group, to, from, bytes, filled, position };
    queue.copies.push_back(copy);
    queue.started += 1;
    if is_checked {
        check::copy_begins(&copy.sides());
    }
}

/// `cp.async.mbarrier.arrive`. With `adds`, the arrival is added to the barrier's pending count (no `.noinc`).
pub(crate) extern "C" fn arrive(context: *mut Context, thread: u64, barrier: *mut u64, adds: u32) {
    if adds != 0 {
        mbarrier::add(barrier);
    }
    let copies = queue(context, thread).started;
    // SAFETY: compiled code passes its live context, which nothing else accesses until the call returns.
    let pending = unsafe { &mut (*context).copies };
    pending.arrivals.push(Arrival { barrier, thread, copies });
    if pending.arrivals.len() > MAX_PENDING {
        let oldest = pending.arrivals[0].barrier;
        complete_for(context, oldest);
    }
}

/// Queues a bulk copy until its barrier is tested.
pub(super) fn transfer(context: *mut Context, transfer: Transfer) {
    // SAFETY: compiled code passes its live context, which nothing else accesses until the call returns.
    let copies = unsafe { &mut (*context).copies };
    copies.transfers.push(transfer);
    if copies.transfers.len() > MAX_PENDING {
        copies.transfers.remove(0).make();
    }
}

/// Completes the copies that a barrier waits for, when a thread of the block tests it or ends its use.
pub(super) fn complete_for(context: *mut Context, barrier: *mut u64) {
    // SAFETY: compiled code passes its live context, which nothing else accesses until the call returns.
    let is_checked = unsafe { (*context).checked } != 0;
    // SAFETY: as above.
    let copies = unsafe { &mut (*context).copies };
    while let Some(at) = copies.arrivals.iter().position(|arrival| arrival.barrier == barrier) {
        let arrival = copies.arrivals.remove(at);
        copies.queue(arrival.thread).finish_while(is_checked, |copy| copy.number < arrival.copies);
        // A misuse leaves the barrier as it is: the program has initialised another one in its place.
        let _ = mbarrier::arrive_once(barrier);
    }
    while let Some(at) = copies.transfers.iter().position(|transfer| transfer.barrier == barrier) {
        copies.transfers.remove(at).make();
    }
}

/// `cp.async.commit_group`
pub(crate) extern "C" fn commit(context: *mut Context, thread: u64) {
    queue(context, thread).group += 1;
}

/// `cp.async.wait_group`; `wait_all` if `left` is `u64::MAX`.
pub(crate) extern "C" fn wait(context: *mut Context, thread: u64, left: u64) {
    let own = queue(context, thread);
    let group = if left == u64::MAX {
        own.group += 1;
        own.group
    } else {
        own.group.saturating_sub(left)
    };
    // SAFETY: compiled code passes its live context, which nothing else accesses until the call returns.
    if unsafe { (*context).checked } == 0 {
        return own.finish_while(false, |copy| copy.group < group);
    }
    // The checkers look at the copies that are still pending, so the queue is borrowed again for each copy.
    while let Some(copy) = queue(context, thread).copies.pop_front_if(|copy| copy.group < group) {
        check::copy_ends(&copy.sides());
        // SAFETY: compiled code passes its live context, and the borrow of its queue has ended.
        let own = unsafe { &*context };
        // A copy may be made at any time until now.
        check::side(own, thread, copy.to as u64, copy.bytes, Access::Store, copy.position);
        copy.make();
    }
}
