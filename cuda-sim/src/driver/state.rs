//! The driver's state: contexts, each thread's stack of current contexts, and every object that has a handle.
//!
//! Invariant: a handle is never reused and contains its context's id, so a stale one is unknown, and the end of a
//! context removes its objects.

use super::Status;
use super::event::Event;
use super::operations::Item;
use super::stream::Stream;
use crate::device::{DEVICES, SHARED_PER_BLOCK};
use crate::exec::active::stop_context;
use crate::memory::{MEMORY, Owner};
use crate::module::{Kernel, Module};
use crate::queue::{DRIVERS, Engine, GroupId, Order};
use cuda_sys::{CUcontext, CUresult};
use once_cell::sync::Lazy;
use parking_lot::{Mutex, RwLock};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub(super) struct FunctionObject {
    pub(super) handle: usize,
    pub(super) kernel: Arc<Kernel>,
    pub(super) module: Arc<Module>,
    pub(super) module_handle: usize,
    pub(super) limits: Arc<Limits>,
}

/// The attributes that clients set for a function, or for a kernel on a device.
pub(super) struct Limits {
    /// The limit on a launch's dynamic shared memory.
    pub(super) dynamic_shared: AtomicU32,
    /// The preferred shared memory carveout in percent; -1 for none.
    pub(super) carveout: AtomicI32,
    /// The required cluster extents; 0 for none.
    pub(super) cluster: [AtomicU32; 3],
    /// True if non-portable cluster sizes are allowed.
    pub(super) non_portable: AtomicBool,
    /// The cluster scheduling policy, which is returned by queries and has no effect.
    pub(super) cluster_policy: AtomicU32,
}

impl Limits {
    /// Returns the defaults of a kernel.
    pub(super) fn of(kernel: &Kernel) -> Limits {
        let dynamic = u64::from(SHARED_PER_BLOCK).saturating_sub(kernel.signature().shared_bytes);
        Limits {
            dynamic_shared: AtomicU32::new(dynamic as u32),
            carveout: AtomicI32::new(-1),
            cluster: Default::default(),
            non_portable: AtomicBool::new(false),
            cluster_policy: AtomicU32::new(0),
        }
    }
}

pub(super) struct ModuleObject {
    pub(super) module: Arc<Module>,
    /// Handles of its functions, by name, so that repeated queries return the same one.
    pub(super) functions: Mutex<HashMap<String, usize>>,
}

#[derive(Default)]
pub(super) struct Objects {
    pub(super) streams: HashMap<usize, Arc<Stream>>,
    pub(super) events: HashMap<usize, Arc<Event>>,
    pub(super) modules: HashMap<usize, Arc<ModuleObject>>,
    pub(super) functions: HashMap<usize, Arc<FunctionObject>>,
}

/// The settings of a context.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) limits: HashMap<u32, usize>,
    pub(super) cache: u32,
    pub(super) banks: u32,
    /// Contexts whose memory this one may access.
    pub(super) peers: HashSet<usize>,
}

/// A context: a device's primary one, which always exists and is active while it is retained, or a created one.
pub(super) struct Context {
    pub(super) handle: usize,
    pub(super) id: u32,
    pub(super) device: usize,
    pub(super) primary: bool,
    pub(super) api_version: u32,
    pub(super) live: AtomicBool,
    pub(super) retained: Mutex<u32>,
    pub(super) flags: AtomicU32,
    pub(super) settings: Mutex<Settings>,
    /// The sticky error that every call returns after a fault; 0 for none.
    sticky: AtomicU32,
    /// The number of running operations that access memory.
    working: AtomicU32,
    /// The number of faults that are being examined, which reads memory.
    examining: AtomicU32,
    pub(super) group: GroupId,
    /// The legacy default stream; a reset replaces it.
    pub(super) legacy: RwLock<Arc<Stream>>,
    /// The number of resets, which invalidate what threads have cached about a context.
    pub(super) generation: AtomicU64,
}

/// Runs the operations of all streams.
pub(super) static ENGINE: Lazy<Arc<Engine<Item>>> = Lazy::new(|| Engine::new(DRIVERS));
pub(super) static INITIALISED: AtomicBool = AtomicBool::new(false);
pub(super) static OBJECTS: Lazy<Mutex<Objects>> = Lazy::new(Mutex::default);
static CONTEXTS: Lazy<RwLock<HashMap<usize, Arc<Context>>>> = Lazy::new(RwLock::default);
static PRIMARY: Lazy<Vec<Arc<Context>>> = Lazy::new(|| (0..*DEVICES).map(|d| Context::new(d, true, 3020, 0)).collect());
static NEXT: AtomicUsize = AtomicUsize::new(0x1_0000);
static NEXT_CONTEXT: AtomicU32 = AtomicU32::new(1);
pub(super) static GRIDS: AtomicU64 = AtomicU64::new(1);

/// The first context handle. Contexts are not objects of a context.
const CONTEXT: usize = 0xc0da_0000;
/// The bit position of the context's id in a handle.
const CONTEXT_SHIFT: u32 = 40;

thread_local! {
    /// The thread's current contexts, the top one last; see [`stack`].
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
    /// Set while a stream's host function runs, which may not call the driver.
    pub(super) static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

impl Context {
    /// Creates a context and registers its handle.
    pub(super) fn new(device: usize, primary: bool, api_version: u32, flags: u32) -> Arc<Context> {
        let id = NEXT_CONTEXT.fetch_add(1, Ordering::Relaxed);
        let group = ENGINE.group();
        let context = Arc::new(Context {
            handle: context_handle(id),
            id,
            device,
            primary,
            api_version,
            live: AtomicBool::new(!primary),
            retained: Mutex::new(0),
            flags: AtomicU32::new(flags),
            settings: Mutex::default(),
            sticky: AtomicU32::new(0),
            working: AtomicU32::new(0),
            examining: AtomicU32::new(0),
            group,
            legacy: RwLock::new(Arc::new(Stream::default_one(id, device, group, Order::Legacy))),
            generation: AtomicU64::new(0),
        });
        CONTEXTS.write().insert(context.handle, Arc::clone(&context));
        context
    }

    pub(super) fn raw(&self) -> CUcontext {
        std::ptr::without_provenance_mut(self.handle)
    }

    pub(super) fn owner(&self) -> Owner {
        Owner { context: self.id, device: self.device }
    }

    /// Returns the bit set of the slots of the devices' range that its kernels can access.
    pub(super) fn slots(&self) -> u64 {
        if *DEVICES == 1 {
            return u64::MAX;
        }
        let peers = self.settings.lock().peers.clone();
        let contexts = CONTEXTS.read();
        MEMORY.reached(self.device, peers.iter().filter_map(|handle| Some(contexts.get(handle)?.device)))
    }

    /// Begins an operation that accesses memory, unless the context was lost.
    pub(super) fn begin(&self) -> Option<Working<'_>> {
        // Either this sees the fault, or the thread that waits for the context to become idle sees this operation.
        self.working.fetch_add(1, Ordering::SeqCst);
        let working = Working(self);
        (self.sticky.load(Ordering::SeqCst) == 0).then_some(working)
    }

    /// Stores the fault of a running operation; the first one stays until the context is reset. The context's other
    /// work is stopped, and then `examine` analyses the fault.
    pub(super) fn fail(&self, code: CUresult, working: Option<Working<'_>>, examine: impl FnOnce()) {
        self.examining.fetch_add(1, Ordering::SeqCst);
        let _ = self.sticky.compare_exchange(0, code.0, Ordering::SeqCst, Ordering::SeqCst);
        // Nothing of a lost context can be freed.
        MEMORY.ignore_leaks(self.id);
        crate::service::ignore_leaks(self.id);
        drop(working);
        stop_context(self.id, || self.working.load(Ordering::SeqCst) == 0);
        examine();
        self.examining.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns the fault that has happened, if any.
    pub(super) fn lost(&self) -> Status {
        match self.sticky.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(CUresult(code)),
        }
    }

    /// Returns the fault to a client, if there is one, once nothing accesses memory any more.
    pub(super) fn fault(&self) -> Status {
        self.lost().inspect_err(|_| {
            let count = |of: &AtomicU32| of.load(Ordering::SeqCst);
            stop_context(self.id, || count(&self.working) == 0 && count(&self.examining) == 0);
        })
    }

    /// Waits for all work, even of a lost context: operations that have not begun are dropped, and running host
    /// functions end.
    pub(super) fn drain(&self) {
        ENGINE.group_tails(self.group).into_iter().for_each(|point| ENGINE.wait(point));
    }

    /// Waits for all work.
    pub(super) fn synchronize(&self) -> Status {
        self.drain();
        super::memory::pool::trim_synchronised(self.device);
        self.fault()
    }

    /// Destroys everything in the context once its work is done.
    pub(super) fn reset(&self) {
        let _ = self.synchronize();
        self.generation.fetch_add(1, Ordering::AcqRel);
        let other = |handle: &usize| (handle >> CONTEXT_SHIFT) != self.id as usize;
        let (mut streams, mut old) = (Vec::new(), Objects::default());
        let mut objects = OBJECTS.lock();
        streams.extend(objects.streams.extract_if(|h, _| !other(h)).map(|(_, stream)| stream));
        old.events = objects.events.extract_if(|h, _| !other(h)).collect();
        old.functions = objects.functions.extract_if(|h, _| !other(h)).collect();
        old.modules = objects.modules.extract_if(|h, _| !other(h)).collect();
        drop(objects);
        super::graph::capture::forget(self.id);
        streams.iter().for_each(|stream| ENGINE.close(stream.queue));
        ENGINE.close(self.legacy.read().queue);
        drop(old);
        *self.legacy.write() = Arc::new(Stream::default_one(self.id, self.device, self.group, Order::Legacy));
        super::memory::pool::forget(self.id);
        super::memory::ipc::forget(self.id);
        super::coredump::forget(self.id);
        MEMORY.reset(self.id);
        crate::service::reset(self.id);
        *self.settings.lock() = Settings::default();
        self.sticky.store(0, Ordering::Release);
    }

    /// Destroys a created context.
    pub(super) fn destroy(&self) {
        self.live.store(false, Ordering::Release);
        self.reset();
        ENGINE.close(self.legacy.read().queue);
        CONTEXTS.write().remove(&self.handle);
    }
}

/// A running operation, until this is dropped.
pub(super) struct Working<'a>(&'a Context);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the handle of the context with this id.
pub(super) fn context_handle(id: u32) -> usize {
    CONTEXT + (id as usize) * 0x10
}

/// Returns the context with this id.
pub(super) fn context_by_id(id: u32) -> Result<Arc<Context>, CUresult> {
    context(std::ptr::without_provenance_mut(context_handle(id)))
}

/// Returns the context to which an object belongs.
pub(super) fn owner(handle: usize) -> Result<Arc<Context>, CUresult> {
    context_by_id((handle >> CONTEXT_SHIFT) as u32)
}

/// Calls a function with the calling thread's stack of current contexts. In a thread that is ending, the stack may be
/// gone already when the last handles release their objects; then it is empty.
pub(super) fn stack<R>(using: impl FnOnce(&mut Vec<Arc<Context>>) -> R) -> R {
    let mut stack = STACK.try_with(RefCell::take).unwrap_or_default();
    let result = using(&mut stack);
    // If the thread is ending, the stack is dropped.
    let _ = STACK.try_with(|own| own.replace(stack));
    result
}

/// Calls a function while a context is current.
pub(super) fn with_current<R>(context: &Arc<Context>, body: impl FnOnce() -> R) -> R {
    stack(|stack| stack.push(Arc::clone(context)));
    let result = body();
    stack(|stack| stack.pop());
    result
}

/// Returns a new handle of the current context.
pub(super) fn handle() -> usize {
    let context = stack(|stack| stack.last().map_or(0, |context| context.id as usize));
    (context << CONTEXT_SHIFT) | NEXT.fetch_add(0x10, Ordering::Relaxed)
}

/// Returns a new handle that belongs to no context.
pub(super) fn free_handle() -> usize {
    NEXT.fetch_add(0x10, Ordering::Relaxed)
}

/// Returns true if an object belongs to a context.
pub(super) fn belongs(handle: usize, context: u32) -> bool {
    handle >> CONTEXT_SHIFT == context as usize
}

pub(super) fn initialised() -> Status {
    if IN_HOST_FUNCTION.get() {
        return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
    }
    match INITIALISED.load(Ordering::Acquire) {
        true => Ok(()),
        false => Err(CUresult::CUDA_ERROR_NOT_INITIALIZED),
    }
}

/// Returns the device with this ordinal.
pub(super) fn device(device: i32) -> Result<usize, CUresult> {
    initialised()?;
    usize::try_from(device).ok().filter(|d| *d < *DEVICES).ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
}

/// Returns the primary context of a device.
pub(super) fn primary(dev: i32) -> Result<&'static Arc<Context>, CUresult> {
    Ok(&PRIMARY[device(dev)?])
}

/// Returns the context with this handle.
pub(super) fn context(handle: CUcontext) -> Result<Arc<Context>, CUresult> {
    initialised()?;
    let _ = &*PRIMARY;
    CONTEXTS.read().get(&handle.addr()).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)
}

/// Returns the current context, which must exist.
pub(super) fn current() -> Result<Arc<Context>, CUresult> {
    initialised()?;
    stack(|stack| check(stack.last()).cloned())
}

/// Returns the result of a waiting call. If its context was lost, it first waits until all of the context's work has
/// ended.
pub(super) fn drained<T>(found: Result<T, CUresult>) -> Result<T, CUresult> {
    if found.is_err()
        && let Ok(context) = current()
        && context.lost().is_err()
    {
        context.drain();
    }
    found
}

/// Returns the current context, in which no error may have occurred.
pub(super) fn healthy() -> Result<Arc<Context>, CUresult> {
    let context = current()?;
    context.fault()?;
    Ok(context)
}

fn check(top: Option<&Arc<Context>>) -> Result<&Arc<Context>, CUresult> {
    match top {
        None => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        Some(context) if context.live.load(Ordering::Acquire) => Ok(context),
        Some(_) => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
    }
}

/// Checks that there is a current context.
pub(super) fn require_current() -> Status {
    initialised()?;
    stack(|stack| check(stack.last()).map(|_| ()))
}

/// Checks the requirements of a release. An object knows its context, so none has to be current, but a current one must
/// exist.
pub(super) fn require_releasable() -> Status {
    initialised()?;
    stack(|stack| stack.last().map_or(Ok(()), |top| check(Some(top)).map(|_| ())))
}

/// Returns the context that releases memory, in which no error may have occurred: the current one, else the memory's
/// own.
pub(super) fn releaser(owner: u32) -> Result<Arc<Context>, CUresult> {
    require_releasable()?;
    let context = stack(|stack| stack.last().cloned()).map_or_else(|| context_by_id(owner), Ok)?;
    context.fault().inspect_err(|_| context.drain())?;
    Ok(context)
}

/// Checks that there is a current context in which no error has occurred.
pub(super) fn ready() -> Status {
    healthy().map(|_| ())
}
