//! Copies that threads start and later wait for, kept for each thread of a block until it waits.
//!
//! PTX leaves open when such a copy is made between its start and the end of the wait for it. Here that is as late as
//! possible, in the wait: a kernel that forgets to wait reads what was there before, on each engine and every time. What
//! arrives at a barrier in shared memory when copies are done, arrives when a thread of the block tests that barrier. What
//! a thread has started and never waits for is dropped with its block, whose shared memory nobody reads any more.
//!
//! # Safety
//!
//! Compiled code passes its own context, which no other thread accesses during the call, and pointers that it has checked
//! as it checks every access: each is to accessible memory of the device for as many bytes as the copy has, or its
//! access faults. A fault abandons [`wait`] or [`settle`] in the middle of a copy, which has left the queue by then and owns nothing.

use super::{bulk, mbarrier, search};
use crate::codegen::abi::{Access, Context};
use std::collections::VecDeque;

/// A copy that has not been made.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// Its number among those of its thread, and that of its group.
    number: u64,
    group: u64,
    to: *mut u8,
    from: *const u8,
    bytes: u32,
    /// Bytes that are read; zeros follow them.
    filled: u32,
}

/// Copies that a thread has started and not waited for, in order, and the group of its next one.
#[derive(Debug, Default)]
struct Queue {
    copies: VecDeque<Copy>,
    started: u64,
    group: u64,
}

/// An arrival at a barrier, once the first copies of a thread are made.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    barrier: *mut u64,
    thread: u64,
    copies: u64,
}

/// The queues of a block's threads.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    threads: Vec<Queue>,
    arrivals: Vec<Arrival>,
    transfers: Vec<Transfer>,
}

/// A bulk copy that tells a barrier of the block its bytes.
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
        mbarrier::complete(self.barrier, self.bytes);
    }
}

impl Copies {
    /// Drops what nobody has waited for: another block begins.
    pub(crate) fn clear(&mut self) {
        self.arrivals.clear();
        self.transfers.clear();
        for queue in &mut self.threads {
            queue.copies.clear();
            (queue.started, queue.group) = (0, 0);
        }
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
    /// Makes the copies of groups before that one.
    fn finish(&mut self, group: u64) {
        self.finish_while(|copy| copy.group < group);
    }

    fn finish_while(&mut self, belongs: impl Fn(&Copy) -> bool) {
        while let Some(copy) = self.copies.pop_front_if(|copy| belongs(copy)) {
            copy.make();
        }
    }
}

impl Copy {
    fn make(self) {
        let (filled, rest) = (self.filled as usize, (self.bytes - self.filled) as usize);
        // SAFETY: compiled code has checked both for as many bytes, of which these are the first; see the header.
        unsafe { std::ptr::copy(self.from, self.to, filled) };
        // SAFETY: the rest of the destination.
        unsafe { std::ptr::write_bytes(self.to.wrapping_add(filled), 0, rest) };
    }
}

/// The queue of a thread of the block whose compiled code calls.
fn queue<'a>(context: *mut Context, thread: u64) -> &'a mut Queue {
    // SAFETY: compiled code passes its live context, which nothing else accesses until the call returns.
    unsafe { &mut (*context).copies }.queue(thread)
}

/// Copies, arrivals and bulk copies that are kept, each at most: beyond, the oldest is made, which PTX allows at any time.
const MOST: usize = 4096;

/// Faults where a pointer leads to no memory, also of a copy that nobody waits for.
fn probe(at: *const u8) {
    // SAFETY: compiled code has checked the pointer, or it is one whose access faults; see the header.
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
    place: u64,
) {
    let (mut to, mut from) = (to, from);
    if search::active() {
        let asked = |address: u64, bytes, kind: Access| {
            search::access(context, thread, address, u64::from(bytes), kind as u32, place)
        };
        to = asked(to as u64, bytes, Access::Store) as *mut u8;
        if filled > 0 {
            // A part is asked about by its first byte: where the source is aligned, the part ends in the same page.
            let is_part = filled < bytes && (from as u64).is_multiple_of(bytes.into());
            let part = if is_part { 1 } else { bytes };
            from = asked(from as u64, part, Access::Load) as *const u8;
        }
    }
    probe(to);
    if filled > 0 {
        probe(from);
    }
    let queue = queue(context, thread);
    if queue.copies.len() >= MOST {
        queue.copies.pop_front().into_iter().for_each(Copy::make);
    }
    let (number, group) = (queue.started, queue.group);
    queue.copies.push_back(Copy { number, group, to, from, bytes, filled });
    queue.started += 1;
}

/// `cp.async.mbarrier.arrive`; `adds` unless the barrier counts the arrival already.
pub(crate) extern "C" fn arrive(context: *mut Context, thread: u64, barrier: *mut u64, adds: u32) {
    if adds != 0 {
        mbarrier::add(barrier);
    }
    let copies = queue(context, thread).started;
    // SAFETY: as in `queue`.
    let kept = unsafe { &mut (*context).copies };
    kept.arrivals.push(Arrival { barrier, thread, copies });
    if kept.arrivals.len() > MOST {
        let oldest = kept.arrivals[0].barrier;
        settle(context, oldest);
    }
}

/// Keeps a bulk copy until its barrier is tested.
pub(super) fn transfer(context: *mut Context, transfer: Transfer) {
    // SAFETY: as in `queue`.
    let kept = unsafe { &mut (*context).copies };
    kept.transfers.push(transfer);
    if kept.transfers.len() > MOST {
        kept.transfers.remove(0).make();
    }
}

/// Makes the copies whose ends a barrier waits for: a thread of the block tests it.
pub(super) fn settle(context: *mut Context, barrier: *mut u64) {
    // SAFETY: as in `queue`.
    let copies = unsafe { &mut (*context).copies };
    while let Some(at) = copies.arrivals.iter().position(|arrival| arrival.barrier == barrier) {
        let arrival = copies.arrivals.remove(at);
        copies.queue(arrival.thread).finish_while(|copy| copy.number < arrival.copies);
        mbarrier::arrive(barrier, 1, 0, 0);
    }
    while let Some(at) = copies.transfers.iter().position(|transfer| transfer.barrier == barrier) {
        copies.transfers.remove(at).make();
    }
}

/// `cp.async.commit_group`
pub(crate) extern "C" fn commit(context: *mut Context, thread: u64) {
    queue(context, thread).group += 1;
}

/// `cp.async.wait_group`, or `wait_all` where `left` is the largest number.
pub(crate) extern "C" fn wait(context: *mut Context, thread: u64, left: u64) {
    let queue = queue(context, thread);
    if left == u64::MAX {
        queue.group += 1;
        return queue.finish(queue.group);
    }
    queue.finish(queue.group.saturating_sub(left));
}
