//! Threads as fibers: every thread of a block on a stack of its own, run until it waits or polls.
//!
//! The slow, exact twin of compiled regions: no thread is ever run together with another, and with a seed the order is
//! random. Chosen by `CUDA_SIM_ENGINE=fibers`; `CUDA_SIM_SEED` gives the seed.
//!
//! # Safety
//!
//! A fiber runs compiled code and leaf helpers only, so abandoning one after a fault skips no destructor. `unsafe`
//! stands where stacks are mapped and prepared and where a fiber is entered, through [`fault::call`] like all compiled
//! code. A [`Fiber`] record is boxed and outlives its stack's use; only the worker that owns the block touches it.

use super::block::Engine;
use super::fault;
use super::launch::Fault;
use crate::codegen::abi::{self, Context, LOOK};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::arch::naked_asm;

/// Bytes of a stack; the pages are there once they are touched.
const STACK: usize = 256 << 10;
const GUARD: usize = 4096;

/// A mapped stack with an inaccessible page below.
struct Stack(usize);

static STACKS: Lazy<Mutex<Vec<Stack>>> = Lazy::new(Mutex::default);

impl Stack {
    fn take() -> Result<Stack, Fault> {
        if let Some(stack) = STACKS.lock().pop() {
            return Ok(stack);
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new anonymous mapping at an address that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), STACK, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Fault::OutOfMemory);
        }
        // SAFETY: the first page of the mapping that was just made.
        if unsafe { libc::mprotect(start, GUARD, libc::PROT_NONE) } != 0 {
            // SAFETY: unmaps exactly the mapping that was just made.
            unsafe { libc::munmap(start, STACK) };
            return Err(Fault::OutOfMemory);
        }
        Ok(Stack(start as usize))
    }
}

/// What the switches agree on; the offsets are written out in their code.
#[repr(C)]
struct Fiber {
    /// Stack pointer of the fiber while it does not run.
    inside: usize,
    /// Stack pointer of the scheduler while the fiber runs.
    outside: usize,
}

/// Enters a fiber: gives 0 when it switches back, 1 when it has finished.
#[unsafe(naked)]
unsafe extern "C" fn resume(_: *mut Fiber) -> u64 {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi + 8], rsp",
        "mov rsp, [rdi]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// What compiled code calls to give the processor to the scheduler.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch(_: *mut Context) {
    naked_asm!(
        "mov rdi, [rdi + {fiber}]",
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, [rdi + 8]",
        "xor eax, eax",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        fiber = const abi::FIBER,
    )
}

/// The bottom of every fiber: calls `r12(r13, r14, 0)` and leaves for good.
#[unsafe(naked)]
unsafe extern "C" fn bottom() {
    naked_asm!(
        "mov rdi, r13",
        "mov rsi, r14",
        "xor edx, edx",
        "call r12",
        "mov rdi, [r13 + {fiber}]",
        "mov rsp, [rdi + 8]",
        "mov eax, 1",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        fiber = const abi::FIBER,
    )
}

/// A sequence of pseudo-random numbers (xorshift64*).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        // The state must not be 0; neighbouring seeds should not begin alike.
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n.max(1) as u64) as usize
    }
}

/// The fibers of one block.
pub(crate) struct Fibers {
    function: usize,
    threads: Vec<Option<(Box<Fiber>, Stack)>>,
    random: Option<Random>,
    warps: Vec<usize>,
}

impl Fibers {
    pub(crate) fn new(function: usize, threads: usize, random: Option<Random>) -> Fibers {
        Fibers { function, threads: (0..threads).map(|_| None).collect(), random, warps: Vec::new() }
    }

    fn start(&mut self, context: usize, thread: usize) -> Result<*mut Fiber, Fault> {
        let stack = Stack::take()?;
        // Tops are staggered: at equal offsets in their pages they would compete for the same lines of the cache.
        let top = stack.0 + STACK - 64 - thread % 16 * 192;
        let frame: [usize; 7] = [0, thread, context, self.function, 0, 0, bottom as *const () as usize];
        let inside = top - size_of_val(&frame);
        // SAFETY: the words lie in the mapped, accessible part of a stack that nothing else uses.
        unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), inside as *mut usize, frame.len()) };
        let (fiber, _) = self.threads[thread].insert((Box::new(Fiber { inside, outside: 0 }), stack));
        Ok(std::ptr::from_mut(&mut **fiber))
    }

    /// Runs one thread until it waits, polls or ends.
    fn thread(&mut self, context: &mut Context, thread: usize) -> Result<(), Fault> {
        let at = std::ptr::from_mut(context) as usize;
        let fiber = match &mut self.threads[thread] {
            Some((fiber, _)) => std::ptr::from_mut(&mut **fiber),
            None => self.start(at, thread)?,
        };
        context.fiber = fiber as u64;
        // SAFETY: `resume` takes a fiber that waits, and runs compiled code on its stack until it gives back.
        let result = unsafe { fault::call(resume as *const () as usize, fiber as usize, 0, 0) };
        let finished = result.map_err(|address| Fault::IllegalAddress { address, block: 0 })? != 0;
        if finished {
            // SAFETY: `next` has a place for each thread of the block, and compiled code does not run now.
            unsafe { context.next.wrapping_add(thread).write(0) };
            if let Some((_, stack)) = self.threads[thread].take() {
                STACKS.lock().push(stack);
            }
        }
        Ok(())
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        STACKS.lock().extend(self.threads.drain(..).flatten().map(|(_, stack)| stack));
    }
}

impl Engine for Fibers {
    fn run(&mut self, context: &mut Context, _state: u32, first: usize, count: usize) -> Result<u64, Fault> {
        for thread in first..first + count {
            self.thread(context, thread)?;
            if context.trap != 0 {
                break;
            }
        }
        Ok(LOOK)
    }

    fn order(&mut self, turn: usize, warps: usize) -> usize {
        let Some(random) = &mut self.random else { return turn };
        if turn == 0 {
            self.warps = (0..warps).collect();
            (1..warps).rev().for_each(|i| self.warps.swap(i, random.below(i + 1)));
        }
        self.warps[turn]
    }

    fn group(&mut self, most: usize) -> usize {
        self.random.as_mut().map_or(most, |random| 1 + random.below(most))
    }

    fn passes(&mut self) -> bool {
        self.random.as_mut().is_some_and(|random| random.below(3) == 0)
    }
}
