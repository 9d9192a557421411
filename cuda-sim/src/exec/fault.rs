//! Entry to compiled code, such that an illegal access ends the launch and not the process.
//!
//! [`call`] saves the callee-saved registers and the stack pointer in a per-thread record and runs compiled code. When
//! the code faults, the signal handler redirects the thread to an exit sequence, which restores the saved state, and
//! the call returns the faulting address. Between entry and exit only compiled code and leaf helpers (arithmetic,
//! `memcpy`) run, so no Rust frame with a destructor is skipped. A fault elsewhere is passed to the handler that was
//! installed before.
//!
//! The same exit sequence ends compiled code that must stop and may be in an infinite loop: another thread queues the
//! signal with a mark of ours ([`interrupt`]). The handler acts on it if the thread's launch is to stop and the
//! interrupted instruction is compiled code itself, which holds no lock. Helpers may hold one, so there the signal has
//! no effect and is sent again, and long helpers check at their end ([`leave`]). Compiled code is recognised by its
//! pages: executable and of no file ([`find_code`]).
//!
//! # Safety
//!
//! The record is written by the entry sequence and read by the handler on the same thread; its stack pointer is
//! non-zero exactly while compiled code runs below it. The handler accesses nothing but the record, the stop flag and
//! its arguments.

use crate::cpu::{self, EntryRecord, Registers};
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

thread_local! {
    static RECORD: UnsafeCell<EntryRecord> = const { UnsafeCell::new(EntryRecord { stack: 0, address: 0 }) };
    /// The stop flag of the thread's launch, at which compiled code is left; null outside of launches.
    static STOP: AtomicPtr<AtomicBool> = const { AtomicPtr::new(std::ptr::null_mut()) };
}

/// The address that [`call`] returns if compiled code was stopped. It cannot be the address of an access: it is neither
/// in the devices' range nor in the process.
pub(crate) const STOPPED: u64 = u64::MAX;

/// Sets the flag at which compiled code of this thread is left, and returns the previous one.
pub(super) fn watch(flag: *const AtomicBool) -> *const AtomicBool {
    STOP.with(|stop| stop.swap(flag.cast_mut(), Ordering::Relaxed))
}

/// Returns true if the launch that this thread runs is to stop.
fn is_stopping() -> bool {
    let flag = STOP.with(|stop| stop.load(Ordering::Relaxed));
    // SAFETY: null, or the flag of the launch that the thread is in; `watch`'s caller keeps it alive until it is
    // replaced.
    unsafe { flag.as_ref() }.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Faults at an address that is never accessible. Only leaf helpers of compiled code with nothing to drop call it.
pub(crate) fn raise(address: u64) {
    // SAFETY: the read faults and the handler leaves compiled code, which is allowed since the caller has nothing to
    // drop.
    unsafe { cpu::read_byte(address) };
}

/// Leaves compiled code if its launch is to stop. It is called at the end of helpers in which kernels may spend most of
/// their time, where an interrupt would hardly ever hit compiled code; they have nothing left to drop.
pub(crate) fn leave() {
    if is_stopping() {
        raise(STOPPED);
    }
}

/// Returns the lowest stack address that calls of compiled code may use on this thread; 0 (no limit) if the system does
/// not report it.
pub(crate) fn stack_limit() -> u64 {
    thread_local! {
        static LIMIT: u64 = lowest().map_or(0, |low| low + super::fiber::RESERVED as u64);
    }
    LIMIT.with(|limit| *limit)
}

/// Returns the lowest address of this thread's stack.
fn lowest() -> Option<u64> {
    // SAFETY: all zeros are a valid value of this plain C struct, which is overwritten next.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: `pthread_self` takes no arguments and returns the calling thread's handle.
    let own = unsafe { libc::pthread_self() };
    // SAFETY: the handle is of this thread, which runs, and the attributes are a live local.
    if unsafe { libc::pthread_getattr_np(own, &mut attributes) } != 0 {
        return None;
    }
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes were initialised by the call above, and the results are live locals.
    let failed = unsafe { libc::pthread_attr_getstack(&attributes, &mut low, &mut bytes) } != 0;
    // SAFETY: the attributes were initialised above and are not used afterwards.
    unsafe { libc::pthread_attr_destroy(&mut attributes) };
    (!failed).then_some(low as u64)
}

struct Previous(UnsafeCell<[Option<libc::sigaction>; 2]>);
// SAFETY: written once, inside `Once`, before the handler that reads it is installed.
unsafe impl Sync for Previous {}
static PREVIOUS: Previous = Previous(UnsafeCell::new([None, None]));
const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Executable pages of no file, in ascending order: the pages of compiled code.
struct CodePages(Vec<std::ops::Range<u64>>);

/// The result of the last [`find_code`]. It is never freed, since a handler may read it at any time.
static CODE: AtomicPtr<CodePages> = AtomicPtr::new(std::ptr::null_mut());

fn is_code(address: u64) -> bool {
    // SAFETY: null, or published by `find_code`, after which it is never changed or freed.
    let code = unsafe { CODE.load(Ordering::Acquire).as_ref() };
    code.is_some_and(|code| code.0.iter().any(|pages| pages.contains(&address)))
}

/// Finds the pages of compiled code, so that an interrupt recognises them. If the system does not report them, nothing
/// is recognised, and launches end by themselves.
pub(super) fn find_code() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let pages = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (range, rights, inode) = (fields.next()?, fields.next()?, fields.nth(2)?);
        let anonymous = inode == "0" && fields.next().is_none();
        let (start, end) = range.split_once('-').filter(|_| anonymous && rights.contains('x'))?;
        Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
    };
    let found = CodePages(maps.lines().filter_map(pages).collect());
    // SAFETY: null, or published by an earlier `find_code`, after which it is never changed or freed.
    let known = unsafe { CODE.load(Ordering::Acquire).as_ref() };
    if known.is_none_or(|known| known.0 != found.0) {
        CODE.store(Box::into_raw(Box::new(found)), Ordering::Release);
    }
}

/// The mark that distinguishes an interrupt from signals of others: an address of our own.
fn mark() -> usize {
    (&raw const CODE).addr()
}

/// The kernel's `siginfo_t` of a queued signal.
#[repr(C)]
struct Queued {
    signal: libc::c_int,
    error: libc::c_int,
    code: libc::c_int,
    process: libc::pid_t,
    user: libc::uid_t,
    value: usize,
    rest: [u64; 12],
}

const _: () = assert!(size_of::<Queued>() == size_of::<libc::siginfo_t>());

/// Makes a thread of this process leave compiled code that is to stop. It has no other effect.
pub(super) fn interrupt(thread: libc::pid_t) {
    // SAFETY: `getpid` takes no arguments and has no preconditions.
    let process = unsafe { libc::getpid() };
    // SAFETY: `getuid` takes no arguments and has no preconditions.
    let user = unsafe { libc::getuid() };
    let (signal, code) = (libc::SIGSEGV, libc::SI_QUEUE);
    let info = Queued { signal, error: 0, code, process, user, value: mark(), rest: [0; 12] };
    // SAFETY: queues a signal that our handler recognises by its mark, with information that outlives the call. The
    // system refuses a thread that has ended, and then nothing happens.
    unsafe { libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, &raw const info) };
}

/// Returns true for a signal sent by [`interrupt`].
fn is_interrupt(info: &libc::siginfo_t) -> bool {
    // SAFETY: `SI_QUEUE` says that the information holds a value.
    info.si_code == libc::SI_QUEUE && unsafe { info.si_value() }.sival_ptr.addr() == mark()
}

extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let record = RECORD.with(UnsafeCell::get);
    // SAFETY: the record is the thread's own; nothing else accesses it while the thread is in this handler.
    let stack = unsafe { (*record).stack };
    // SAFETY: the kernel passes valid information, which lives as long as the handler runs.
    let interrupted = is_interrupt(unsafe { &*info });
    if stack == 0 && !interrupted {
        return chain(signal, info, context);
    }
    // SAFETY: the kernel passes the interrupted context, which the handler may change until it returns.
    let mut registers = Registers::of(unsafe { &mut *context.cast::<libc::ucontext_t>() });
    let address = if interrupted {
        if stack == 0 || !is_stopping() || !is_code(registers.instruction()) {
            return;
        }
        STOPPED
    } else {
        // SAFETY: the kernel passes valid information, which lives as long as the handler runs.
        let info = unsafe { &*info };
        // SAFETY: for SIGSEGV and SIGBUS the information holds an address.
        unsafe { info.si_addr() as u64 }
    };
    // SAFETY: the record is the thread's own; nothing else accesses it while the thread is in this handler.
    unsafe { *record = EntryRecord { stack: 0, address } };
    registers.redirect_to(cpu::exit_sequence as *const () as usize, stack);
}

/// Passes a signal that is not ours to the handler that was installed before.
fn chain(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let index = usize::from(signal == libc::SIGBUS);
    // SAFETY: the entry was written before this handler was installed, and is never written again.
    let previous = unsafe { (*PREVIOUS.0.get())[index] };
    let handler = previous.map_or(libc::SIG_DFL, |p| p.sa_sigaction);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: restores the default action; the instruction faults again and ends the process as it would have.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    if previous.is_some_and(|p| p.sa_flags & libc::SA_SIGINFO != 0) {
        // SAFETY: SA_SIGINFO says that the handler has this signature.
        let f = unsafe {
            std::mem::transmute::<usize, extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void)>(handler)
        };
        f(signal, info, context);
    } else {
        // SAFETY: without SA_SIGINFO the handler takes the signal alone.
        let f = unsafe { std::mem::transmute::<usize, extern "C" fn(i32)>(handler) };
        f(signal);
    }
}

/// Installs the handler once for the process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            // SAFETY: zero bytes are a valid sigaction: the default action without flags.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = handler as *const () as usize;
            // An interrupted system call is restarted. Our signal does not interrupt the handler of another one: the
            // exit sequence runs when that has returned.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            // SAFETY: zero bytes are a valid sigaction, which the next call overwrites.
            let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: with a null action the call only writes the present one to a live local.
            unsafe { libc::sigaction(signal, std::ptr::null(), &mut old) };
            // SAFETY: `Once` makes this the only access, and our handler is not installed yet for this signal.
            unsafe { (*PREVIOUS.0.get())[index] = Some(old) };
            // SAFETY: the action is fully initialised, and its handler only does what is allowed in a signal handler.
            unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
        }
    });
}

/// Calls compiled code, unless the launch that the thread is in is to stop.
///
/// # Errors
///
/// The address whose access faulted; 0 if the processor does not report it; [`STOPPED`] if the launch is to stop.
///
/// # Safety
///
/// `function` is compiled code with three arguments and a `u64` result that can run with these arguments, apart from
/// accesses to inaccessible memory.
pub(crate) unsafe fn call(function: usize, context: usize, b: u64, c: u64) -> Result<u64, u64> {
    if is_stopping() {
        return Err(STOPPED);
    }
    let record = RECORD.with(UnsafeCell::get);
    let mut result = 0;
    // SAFETY: the caller guarantees the contract of the function; the record is this thread's, the result a live local.
    let faulted = unsafe { cpu::enter(function, context, b, c, record, &mut result) };
    if faulted == 0 {
        return Ok(result);
    }
    // SAFETY: the record is the thread's own, and the handler has returned.
    Err(unsafe { (*record).address })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Of the stack for signals one of the kernel's frames takes a third or more: two on top of each other ended the process.
    #[test]
    fn interrupts_do_not_pile_up_on_a_stack() {
        install();
        let (number, done) = (std::sync::mpsc::channel(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let sender = number.0;
            let target = scope.spawn({
                let done = &done;
                move || {
                    // SAFETY: asks for the running thread's own number.
                    sender.send(unsafe { libc::gettid() }).unwrap();
                    while !done.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                }
            });
            let thread = number.1.recv().unwrap();
            let senders = [(); 4].map(|()| scope.spawn(move || (0..20_000).for_each(|_| interrupt(thread))));
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            done.store(true, Ordering::Relaxed);
            target.join().unwrap();
        });
    }
}
