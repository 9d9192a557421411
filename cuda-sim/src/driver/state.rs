//! What the driver remembers: whether it is initialised, the primary context, and every object that has a handle.
//!
//! Invariant: a handle is a number that was never given out before, so a stale one is found to be unknown.

use super::Status;
use crate::module::{Kernel, Module};
use cuda_sys::{CUcontext, CUresult};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// A stream. Its work is finished whenever a call returns.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) flags: u32,
    pub(super) priority: i32,
    pub(super) id: u64,
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) flags: u32,
    pub(super) recorded: Mutex<Option<Instant>>,
}

pub(super) struct FunctionObject {
    pub(super) kernel: Arc<Kernel>,
    pub(super) module: Arc<Module>,
    pub(super) module_handle: usize,
    /// Dynamic shared memory that a launch may ask for beyond the default limit.
    pub(super) max_dynamic_shared: AtomicU32,
}

pub(super) struct ModuleObject {
    pub(super) module: Arc<Module>,
    /// Handles of its functions by name: asking twice gives the same one.
    pub(super) functions: Mutex<HashMap<String, usize>>,
}

#[derive(Default)]
pub(super) struct Objects {
    pub(super) streams: HashMap<usize, Arc<Stream>>,
    pub(super) events: HashMap<usize, Arc<Event>>,
    pub(super) modules: HashMap<usize, Arc<ModuleObject>>,
    pub(super) functions: HashMap<usize, Arc<FunctionObject>>,
}

/// The primary context of the one device.
#[derive(Default)]
pub(super) struct Primary {
    pub(super) retained: u32,
    pub(super) flags: u32,
    pub(super) limits: HashMap<u32, usize>,
}

pub(super) static INITIALISED: AtomicBool = AtomicBool::new(false);
pub(super) static OBJECTS: Lazy<Mutex<Objects>> = Lazy::new(Mutex::default);
pub(super) static PRIMARY: Lazy<Mutex<Primary>> = Lazy::new(Mutex::default);
/// The error that every call gives from a fault on; 0 for none.
static STICKY: AtomicU32 = AtomicU32::new(0);
/// Whether the primary context exists.
pub(super) static ACTIVE: AtomicBool = AtomicBool::new(false);
static NEXT: AtomicUsize = AtomicUsize::new(0x1_0000);
pub(super) static GRIDS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    pub(super) static STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The primary context's handle.
pub(super) const CONTEXT: usize = 0xc0da_0010;

/// A new handle.
pub(super) fn handle() -> usize {
    NEXT.fetch_add(0x10, Ordering::Relaxed)
}

pub(super) fn context_handle() -> CUcontext {
    std::ptr::without_provenance_mut(CONTEXT)
}

pub(super) fn initialised() -> Status {
    match INITIALISED.load(Ordering::Acquire) {
        true => Ok(()),
        false => Err(CUresult::CUDA_ERROR_NOT_INITIALIZED),
    }
}

/// The device of that number, of which there is one.
pub(super) fn device(device: i32) -> Status {
    initialised()?;
    if device == 0 { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_DEVICE) }
}

/// Demands a current context that exists.
pub(super) fn bound() -> Status {
    initialised()?;
    match STACK.with_borrow(|stack| stack.last().copied()) {
        None | Some(0) => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        Some(_) if ACTIVE.load(Ordering::Acquire) => Ok(()),
        Some(_) => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
    }
}

/// Demands a current context in which nothing has gone wrong.
pub(super) fn ready() -> Status {
    bound()?;
    match STICKY.load(Ordering::Acquire) {
        0 => Ok(()),
        code => Err(CUresult(code)),
    }
}

/// Remembers a fault: the first one stays until the context is reset.
pub(super) fn poison(code: CUresult) {
    let _ = STICKY.compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
}

/// Destroys everything in the primary context.
pub(super) fn reset() {
    let old = std::mem::take(&mut *OBJECTS.lock());
    drop(old);
    crate::memory::MEMORY.reset();
    crate::service::reset();
    STICKY.store(0, Ordering::Release);
}
