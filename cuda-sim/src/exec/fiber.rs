//! Threads as fibers: every thread of a block has a stack of its own and runs until it waits or polls.
//!
//! This is the slow, exact counterpart of compiled regions: threads never run together, and with a seed the order is
//! random. `CUDA_SIM_ENGINE=fibers` selects it; `CUDA_SIM_SEED` sets the seed.
//!
//! # Safety
//!
//! A fiber runs compiled code and leaf helpers only, so abandoning one after a fault skips no destructor. Unsafe
//! operations map and prepare stacks, and enter fibers through [`fault::call`], like all compiled code. The [`Fiber`]
//! records of a block are in one vector that never grows; only the worker that owns the block accesses them.

use super::block::{BEGIN, Engine};
use super::fault;
use super::launch::Fault;
use crate::codegen::abi::{Context, DIVERGED};
use crate::cpu::{self, Fiber};
use crate::memory::PAGE;
use once_cell::sync::Lazy;
use parking_lot::Mutex;

/// Bytes of stack for calls; pages are committed when they are touched.
const CALLS: usize = 192 << 10;
/// Bytes of stack that calls leave to the runtime.
pub(super) const RESERVED: usize = 64 << 10;

/// The limit on stacks with a guard page, each of which takes two of the system's memory mappings: a process has
/// 65,530.
const GUARDED: usize = 4096;
/// The largest frame of a function on a stack without a guard page.
const FRAME: usize = 192 << 10;
/// The number of stacks in one mapping, which have no guard pages.
const SLAB: usize = 1024;
/// Bytes of each of those: beyond the room for calls, it has room for one more function and for the runtime.
const WIDE: usize = CALLS + FRAME + RESERVED;

/// A stack: its lowest address, and its end, from which it grows. Below `limit` it is reserved for the runtime.
///
/// Either there is a guard page below it, or no function's frame is larger than [`FRAME`]: calls check the limit when
/// they have allocated their frame, so none reaches the stack below. Calls that need more without recursion get a stack
/// of their own size.
///
/// The distance from one stack to the next is an odd number of 4 KiB pages: at multiples of 64 pages all stacks would
/// compete for the same entries of the first-level TLB.
struct Stack {
    low: usize,
    top: usize,
    limit: u64,
    kind: StackKind,
}

/// The way in which a stack is returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StackKind {
    /// It is kept as it is.
    Guarded,
    /// It is kept, and its memory is released.
    Wide,
    /// It is unmapped.
    Large,
}

impl Stack {
    /// Returns a stack above a guard page, with this many bytes for calls.
    fn above_guard(calls: usize, kind: StackKind) -> Result<Stack, Fault> {
        let low = map(*PAGE as usize + calls + RESERVED)? + *PAGE as usize;
        Ok(Stack { low, top: low + calls + RESERVED, limit: (low + RESERVED) as u64, kind })
    }
}

/// Unused stacks.
#[derive(Default)]
struct Stacks {
    guarded: Vec<Stack>,
    wide: Vec<Stack>,
    /// The number of guarded stacks, in use or not.
    made: usize,
}

static STACKS: Lazy<Mutex<Stacks>> = Lazy::new(Mutex::default);

/// Maps new memory whose first page is inaccessible.
fn map(bytes: usize) -> Result<usize, Fault> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: an anonymous mapping at an address that the system chooses touches no existing memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: the first page of the mapping above, into which no reference exists yet.
    if unsafe { libc::mprotect(start, *PAGE as usize, libc::PROT_NONE) } != 0 {
        // SAFETY: exactly the mapping above, into which no reference exists.
        unsafe { libc::munmap(start, bytes) };
        return Err(Fault::OutOfMemory);
    }
    Ok(start as usize)
}

impl Stacks {
    /// Returns a stack for a thread whose calls use at most `frames` bytes if none is recursive.
    fn take(&mut self, frames: u64) -> Result<Stack, Fault> {
        if frames > FRAME as u64 {
            return Stack::above_guard(CALLS + (frames as usize).next_multiple_of(*PAGE as usize), StackKind::Large);
        }
        if let Some(stack) = self.guarded.pop() {
            return Ok(stack);
        }
        if self.made < GUARDED {
            let stack = Stack::above_guard(CALLS, StackKind::Guarded)?;
            self.made += 1;
            return Ok(stack);
        }
        if self.wide.is_empty() {
            let guard = *PAGE as usize;
            let each = WIDE + guard;
            let first = map(guard + SLAB * each)? + guard;
            self.wide.extend((0..SLAB).rev().map(|at| {
                let low = first + at * each;
                Stack { low, top: low + WIDE, limit: (low + FRAME + RESERVED) as u64, kind: StackKind::Wide }
            }));
        }
        self.wide.pop().ok_or(Fault::OutOfMemory)
    }

    /// Takes a stack back. The memory of those without guard pages is returned to the system.
    fn release(&mut self, stack: Stack) {
        let bytes = stack.top - stack.low;
        match stack.kind {
            StackKind::Guarded => self.guarded.push(stack),
            StackKind::Wide => {
                // SAFETY: releases the pages of a stack that no fiber uses any more.
                unsafe { libc::madvise(stack.low as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
                self.wide.push(stack);
            }
            StackKind::Large => {
                let guard = *PAGE as usize;
                // SAFETY: unmaps the mapping that was made for this stack, including its guard page; no fiber uses it
                // any more.
                unsafe { libc::munmap((stack.low - guard) as *mut libc::c_void, bytes + guard) };
            }
        }
    }
}

const _: () = assert!((WIDE + 4096) / 4096 % 2 == 1 && (CALLS + RESERVED + 4096) / 4096 % 2 == 1);

/// A sequence of pseudo-random numbers (xorshift64*).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        // The state must not be 0; neighbouring seeds should not begin alike.
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 33) % n.max(1) as u64) as usize
    }
}

/// Fibers to run one after the other.
#[repr(C)]
struct Batch {
    context: *mut Context,
    fibers: *mut Fiber,
    first: usize,
    count: usize,
}

/// Runs each fiber of a batch until it waits, polls or ends. It owns nothing, so a fault may abandon it.
extern "C" fn run_batch(batch: *const Batch) -> u64 {
    // SAFETY: `Fibers::run` passes a live batch.
    let Batch { context, fibers, first, count } = unsafe { batch.read() };
    for thread in first..first + count {
        let fiber = fibers.wrapping_add(thread);
        // SAFETY: the context is live, and only this worker accesses it.
        unsafe { (*context).fiber = fiber as u64 };
        // SAFETY: `first..first + count` are fibers of the block's vector.
        let limit = unsafe { (*fiber).limit };
        // SAFETY: the context is live, and only this worker accesses it.
        unsafe { (*context).stack_limit = limit };
        // SAFETY: the fiber has started and not finished, and the context names it.
        let finished = unsafe { cpu::resume(fiber) } != 0;
        if finished {
            // SAFETY: the context is live, and only this worker accesses it.
            let next = unsafe { (*context).next };
            // SAFETY: `next` has an element for each thread of the block.
            unsafe { next.wrapping_add(thread).write(0) };
        }
        // SAFETY: the context is live, and only this worker accesses it.
        if unsafe { (*context).trap } != 0 {
            break;
        }
    }
    0
}

/// The fibers of a block, reused for one block after another.
pub(crate) struct Fibers {
    function: usize,
    threads: Vec<Fiber>,
    /// The stacks of the fibers that have started.
    stacks: Vec<Stack>,
    /// The bytes of stack that calls use at most, if none is recursive.
    frames: u64,
    seed: Option<u64>,
    random: Option<Random>,
    warps: Vec<usize>,
}

impl Fibers {
    /// Creates the fibers of the block with this number; `frames` is the stack that their calls use at most, if none is
    /// recursive.
    pub(crate) fn new(function: usize, frames: u64, threads: usize, seed: Option<u64>, number: u64) -> Fibers {
        let threads = (0..threads).map(|_| Fiber { inside: 0, outside: 0, limit: 0 }).collect();
        let (stacks, warps) = (Vec::new(), Vec::new());
        let mut fibers = Fibers { function, threads, stacks, frames, seed, random: None, warps };
        fibers.restart(number);
        fibers
    }

    /// Prepares a thread to run from its first instruction.
    fn start(&mut self, context: usize, thread: usize) {
        let stack = &self.stacks[thread];
        // Stack tops are staggered: at equal page offsets they would compete for the same cache lines.
        let top = stack.top - 64 - thread * 5 % 60 * 64;
        // SAFETY: the memory below is the mapped, accessible part of a stack that nothing else uses.
        let inside = unsafe { cpu::begin(top, self.function, context, thread) };
        self.threads[thread] = Fiber { inside, outside: 0, limit: stack.limit };
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        let mut stacks = STACKS.lock();
        self.stacks.drain(..).for_each(|stack| stacks.release(stack));
    }
}

impl Engine for Fibers {
    fn run(&mut self, context: &mut Context, state: u32, first: usize, count: usize) -> Result<u64, Fault> {
        let at = std::ptr::from_mut(context);
        if state == BEGIN {
            if self.stacks.len() < first + count {
                let mut stacks = STACKS.lock();
                while self.stacks.len() < first + count {
                    self.stacks.push(stacks.take(self.frames)?);
                }
            }
            (first..first + count).for_each(|thread| self.start(at as usize, thread));
        }
        let batch = Batch { context: at, fibers: self.threads.as_mut_ptr(), first, count };
        let batch = &raw const batch as usize;
        // SAFETY: runs fibers that have started and not finished, which the scheduler guarantees through `next`.
        let result = unsafe { fault::call(run_batch as *const () as usize, batch, 0, 0) };
        result.map_err(|address| Fault::at(address, 0))?;
        Ok(DIVERGED)
    }

    fn restart(&mut self, number: u64) {
        self.random = self.seed.map(|seed| Random::new(seed ^ number.wrapping_mul(0x9e37_79b9)));
    }

    fn order(&mut self, index: usize, warps: usize) -> usize {
        let Some(random) = &mut self.random else { return index };
        if index == 0 {
            self.warps = (0..warps).collect();
            (1..warps).rev().for_each(|i| self.warps.swap(i, random.below(i + 1)));
        }
        self.warps[index]
    }

    fn group(&mut self, most: usize) -> usize {
        self.random.as_mut().map_or(most, |random| 1 + random.below(most))
    }

    fn skips(&mut self) -> bool {
        self.random.as_mut().is_some_and(|random| random.below(3) == 0)
    }

    fn runs_all(&self) -> bool {
        self.random.is_none()
    }
}
