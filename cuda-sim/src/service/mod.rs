//! Services for running kernels: `printf`, `assert`, `malloc`, `free` and breakpoints.
//!
//! Compiled code calls these functions. They read device memory only inside live allocations, so a wild pointer ends
//! the thread and never faults inside Rust code. Output is buffered for each launch and written as a whole when it
//! ends.
//!
//! # Safety
//!
//! Compiled code passes its own context and the thread's record, which are live for the call. Text is copied out of
//! allocations whose bounds were just looked up; if another thread frees one at that moment, the kernel has a data
//! race.

mod format;
mod heap;

use crate::check::heap::Call;
use crate::check::{self, events};
use crate::codegen::abi::{Context, Stopped};
use crate::exec::{fault, search};
use crate::memory::MEMORY;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_void;

pub(crate) use heap::{ignore_leaks, limit as limit_heap, reset};

/// The value of the context's trap field after a failed assertion.
pub(crate) const ASSERT: u32 = 3;
/// The value of the context's trap field after `trap`, or after an invalid request.
pub(crate) const TRAP: u32 = 1;
/// The value of the context's trap field after a stack overflow.
pub(crate) const OVERFLOW: u32 = 2;
/// The first of the values of the context's trap field after a misuse of a barrier in shared memory.
pub(crate) const MBARRIER: u32 = 4;

/// The size of a launch's output above which it is written early.
const MAX_BUFFERED: usize = 1 << 20;

/// The output of running launches, by grid.
static OUTPUT: Lazy<Mutex<HashMap<u64, Vec<u8>>>> = Lazy::new(Mutex::default);

/// The record that compiled code keeps about a thread for functions it calls.
#[repr(C)]
pub(crate) struct ThreadRecord {
    thread: [u32; 3],
    block: [u32; 3],
}

/// The number of breakpoints of one launch that are reported in full.
const MAX_BREAKPOINTS: usize = 32;

/// The breakpoints that threads of running launches reached, by grid.
static BREAKPOINTS: Lazy<Mutex<HashMap<u64, Breakpoints>>> = Lazy::new(Mutex::default);

/// The breakpoints that a launch's threads reached.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    /// The first ones.
    pub(crate) first: Vec<Stopped>,
    /// The number of further ones.
    pub(crate) more: u64,
}

/// Returns the bytes from `address` to the end of its allocation, at most `limit`; `None` if there is no allocation.
fn readable(address: u64, limit: u64) -> Option<&'static [u8]> {
    let allocation = MEMORY.find(address)?;
    let length = (allocation.base + allocation.bytes).checked_sub(address)?.min(limit);
    // SAFETY: the range was just found to be in a live allocation; a kernel that frees it concurrently has a data race.
    Some(unsafe { std::slice::from_raw_parts(address as *const u8, length as usize) })
}

/// Returns the text up to its NUL, or to the end of its allocation.
fn text(address: u64) -> Option<Vec<u8>> {
    let bytes = readable(address, 1 << 20)?;
    Some(bytes.iter().copied().take_while(|b| *b != 0).collect())
}

/// Reads `N` bytes.
fn bytes<const N: usize>(address: u64) -> Option<[u8; N]> {
    readable(address, N as u64)?.try_into().ok()
}

/// Returns the address of an access of this many bytes, or one in a guard area if it is neither in the launch's slots
/// of the devices' range nor in registered memory.
pub(crate) extern "C" fn mapped(address: u64, bytes: u64, slots: u64) -> u64 {
    MEMORY.mapped(address, bytes, slots)
}

/// Called when a thread stops the launch, by `trap` or a stack overflow. The first one is recorded.
pub(crate) extern "C" fn stopped(context: *mut Context, thread: u64, position: u64, how: u32) {
    // SAFETY: compiled code passes its live context, which no other thread accesses during the call.
    let context = unsafe { &mut *context };
    if context.trap == 0 {
        context.trap = how;
        context.stopped = Stopped { block: context.running, thread, position };
    }
}

fn stop(context: *mut Context, how: u32) {
    let at = context.wrapping_byte_add(std::mem::offset_of!(Context, trap)).cast::<u32>();
    // SAFETY: compiled code passes its live context, of which this field is only ever accessed atomically here.
    let trap = unsafe { std::sync::atomic::AtomicU32::from_ptr(at) };
    trap.store(how, std::sync::atomic::Ordering::Relaxed);
}

fn grid(context: *mut Context) -> u64 {
    // SAFETY: compiled code passes its live context; the field does not change during a launch.
    unsafe { (*context).grid_id }
}

/// Returns the id of the driver's context to which the launch belongs.
fn owner(context: *mut Context) -> u32 {
    // SAFETY: compiled code passes its live context; the field does not change during a launch.
    unsafe { (*context).owner }
}

/// `vprintf(format, arguments)`: returns the number of arguments, -1 without a format.
pub(crate) extern "C" fn printf(context: *mut Context, format: u64, arguments: u64) -> i32 {
    let count = print(context, format, arguments);
    fault::leave();
    count
}

fn print(context: *mut Context, format: u64, arguments: u64) -> i32 {
    if format == 0 {
        return -1;
    }
    let Some((line, count)) = text(format).and_then(|format| format::format(&format, arguments)) else {
        stop(context, TRAP);
        return -2;
    };
    if search::active() {
        return count;
    }
    let mut output = OUTPUT.lock();
    let buffer = output.entry(grid(context)).or_default();
    buffer.extend_from_slice(&line);
    if buffer.len() > MAX_BUFFERED {
        write(&std::mem::take(buffer));
    }
    count
}

unsafe extern "C" {
    /// C's buffered standard output, which C programs share with their own `printf`.
    static stdout: *mut libc::FILE;
}

fn write(text: &[u8]) {
    // SAFETY: the C library initialises the stream before any code runs, and never destroys it.
    let stream = unsafe { stdout };
    // SAFETY: the slice is valid for its length, and the stream is open.
    unsafe { libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), stream) };
    // SAFETY: the stream is open.
    unsafe { libc::fflush(stream) };
}

/// Writes the output of a launch after it has ended.
pub(crate) fn flush(grid: u64) {
    let text = OUTPUT.lock().remove(&grid);
    if let Some(text) = text.filter(|t| !t.is_empty()) {
        write(&text);
    }
}

/// `__assertfail`: writes one message to standard error, in the format of NVIDIA's driver.
pub(crate) extern "C" fn assertfail(
    context: *mut Context,
    record: *const ThreadRecord,
    message: u64,
    file: u64,
    line: u32,
    function: u64,
) {
    if search::active() {
        return stop(context, ASSERT);
    }
    let show = |address| text(address).map_or_else(|| "?".to_owned(), |t| String::from_utf8_lossy(&t).into_owned());
    // SAFETY: compiled code passes the running thread's record, which it has filled in and does not change during the
    // call.
    let ThreadRecord { thread, block } = unsafe { &*record };
    let coordinates = |v: &[u32; 3]| format!("[{},{},{}]", v[0], v[1], v[2]);
    eprintln!(
        "{}:{line}: {}: block: {}, thread: {} Assertion `{}` failed.",
        show(file),
        show(function),
        coordinates(block),
        coordinates(thread),
        show(message)
    );
    stop(context, ASSERT);
}

/// `brkpt`: there is no debugger, so the breakpoint is recorded and the thread continues.
pub(crate) extern "C" fn breakpoint(context: *mut Context, thread: u64, position: u64) {
    if search::active() {
        return;
    }
    // SAFETY: compiled code passes its live context, whose block does not change while it runs.
    let block = unsafe { (*context).running };
    let mut all = BREAKPOINTS.lock();
    let of_launch = all.entry(grid(context)).or_default();
    if of_launch.first.len() < MAX_BREAKPOINTS {
        of_launch.first.push(Stopped { block, thread, position });
    } else {
        of_launch.more += 1;
    }
}

/// Takes the breakpoints that a launch reached, after it has ended.
pub(crate) fn breakpoints(grid: u64) -> Option<Breakpoints> {
    BREAKPOINTS.lock().remove(&grid)
}

/// `malloc` on the device; 0 if the heap is full.
pub(crate) extern "C" fn malloc(context: *mut Context, thread: u64, position: u64, bytes: u64) -> u64 {
    let address = heap::allocate(owner(context), bytes).unwrap_or(0);
    if address != 0 && events::enabled() {
        // SAFETY: compiled code passes its live context, which nothing else accesses during the call.
        let own = unsafe { &*context };
        check::heap::made(Call { own, thread, position }, address, bytes);
    }
    fault::leave();
    address
}

/// `free` on the device. An address that `malloc` did not return ends the thread.
pub(crate) extern "C" fn free(context: *mut Context, thread: u64, position: u64, address: u64) {
    if address != 0 && !search::active() {
        let is_live = heap::release(owner(context), address);
        if events::enabled() {
            // SAFETY: compiled code passes its live context, which nothing else accesses during the call.
            let call = Call { own: unsafe { &*context }, thread, position };
            if is_live { check::heap::freed(call, address) } else { check::heap::bad_free(call, address) }
        }
        if !is_live {
            stop(context, TRAP);
        }
    }
    fault::leave();
}
