//! Copies that threads start and later wait for, kept for each thread of a block until it waits.
//!
//! PTX leaves open when such a copy is made between its start and the end of the wait for it. Here that is as late as
//! possible, in the wait: a kernel that forgets to wait reads what was there before, on each engine and every time. What
//! a thread has started and never waits for is dropped with its block, whose shared memory nobody reads any more.
//!
//! # Safety
//!
//! Compiled code passes its own context, which no other thread accesses during the call, and pointers that it has checked
//! as it checks every access: each is to accessible memory of the device for as many bytes as the copy has, or its
//! access faults. A fault abandons [`wait`] in the middle of a copy, which has left the queue by then and owns nothing.

use super::search;
use crate::codegen::abi::{Access, Context};
use std::collections::VecDeque;

/// A copy that has not been made.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// The number of its group among those of its thread.
    group: u64,
    to: *mut u8,
    from: *const u8,
    bytes: u32,
    /// Bytes that are read; zeros follow them.
    filled: u32,
}

/// What a thread has started and not waited for, in order, and the group that its next copy belongs to.
#[derive(Debug, Default)]
struct Queue {
    copies: VecDeque<Copy>,
    group: u64,
}

/// The queues of a block's threads.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    threads: Vec<Queue>,
}

impl Copies {
    /// Drops what nobody has waited for: another block begins.
    pub(crate) fn clear(&mut self) {
        for queue in &mut self.threads {
            queue.copies.clear();
            queue.group = 0;
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
        while let Some(copy) = self.copies.pop_front_if(|copy| copy.group < group) {
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
            // A part of the source is asked about byte by byte, since parts have no alignment of their own.
            let part = if filled == bytes { bytes } else { 1 };
            from = asked(from as u64, part, Access::Load) as *const u8;
        }
    }
    let queue = queue(context, thread);
    let group = queue.group;
    queue.copies.push_back(Copy { group, to, from, bytes, filled });
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
