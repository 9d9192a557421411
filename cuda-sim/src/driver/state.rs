//! What the driver remembers: contexts, which of them is current on a thread, and every object that has a handle.
//!
//! Invariant: a handle is a number that was never given out before and names its context, so a stale one is found to be
//! unknown, and the end of a context takes its objects along.

use super::Status;
use super::event::Event;
use super::stream::Stream;
use super::work::Item;
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

/// What clients set for a function, or for a kernel on a device.
pub(super) struct Limits {
    /// Dynamic shared memory that a launch may ask for.
    pub(super) dynamic_shared: AtomicU32,
    /// Preferred share of shared memory in percent; -1 for none.
    pub(super) carveout: AtomicI32,
    /// The extents of its clusters; 0 for none.
    pub(super) cluster: [AtomicU32; 3],
    /// True if clusters may be larger than what all devices run.
    pub(super) non_portable: AtomicBool,
    /// How a device would choose multiprocessors for clusters: told, without effect.
    pub(super) cluster_policy: AtomicU32,
}

impl Limits {
    /// Those of a kernel for which nothing was set.
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

/// What a context's owner has set.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) limits: HashMap<u32, usize>,
    pub(super) cache: u32,
    pub(super) banks: u32,
    /// Contexts whose memory this one may access.
    pub(super) peers: HashSet<usize>,
}

/// A context: a device's primary one, which is there for ever and live while it is retained, or one that was created.
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
    /// The error that every call gives from a fault on; 0 for none.
    sticky: AtomicU32,
    /// The number of running operations that access memory.
    working: AtomicU32,
    /// The number of faults being examined, which reads memory.
    examining: AtomicU32,
    pub(super) group: GroupId,
    /// The legacy default stream; a reset makes a new one.
    pub(super) legacy: RwLock<Arc<Stream>>,
    /// Counts resets: what threads remember of a context is void after one.
    pub(super) generation: AtomicU64,
}

/// Executes the work of all streams.
pub(super) static ENGINE: Lazy<Arc<Engine<Item>>> = Lazy::new(|| Engine::new(DRIVERS));
pub(super) static INITIALISED: AtomicBool = AtomicBool::new(false);
pub(super) static OBJECTS: Lazy<Mutex<Objects>> = Lazy::new(Mutex::default);
static CONTEXTS: Lazy<RwLock<HashMap<usize, Arc<Context>>>> = Lazy::new(RwLock::default);
static PRIMARY: Lazy<Vec<Arc<Context>>> = Lazy::new(|| (0..*DEVICES).map(|d| Context::new(d, true, 3020, 0)).collect());
static NEXT: AtomicUsize = AtomicUsize::new(0x1_0000);
static NEXT_CONTEXT: AtomicU32 = AtomicU32::new(1);
pub(super) static GRIDS: AtomicU64 = AtomicU64::new(1);

/// Handles of contexts begin here; they are no objects of a context.
const CONTEXT: usize = 0xc0da_0000;
/// Where a handle holds its context's number.
const CONTEXT_SHIFT: u32 = 40;

thread_local! {
    /// The thread's current contexts, the last one on top; see [`stack`].
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
    /// Set while a host function of a stream runs, which may call nothing here.
    pub(super) static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

impl Context {
    /// A new context, known by its handle.
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

    /// The slots of the devices' range that its kernels reach.
    pub(super) fn slots(&self) -> u64 {
        if *DEVICES == 1 {
            return u64::MAX;
        }
        let peers = self.settings.lock().peers.clone();
        let contexts = CONTEXTS.read();
        MEMORY.reached(self.device, peers.iter().filter_map(|handle| Some(contexts.get(handle)?.device)))
    }

    /// Begins work that accesses memory, unless the context was lost.
    pub(super) fn begin(&self) -> Option<Working<'_>> {
        // Either this sees the fault, or who waits for the context to rest sees this.
        self.working.fetch_add(1, Ordering::SeqCst);
        let working = Working(self);
        (self.sticky.load(Ordering::SeqCst) == 0).then_some(working)
    }

    /// Remembers the fault of work that was running: the first one stays until the context is reset. The context's other
    /// work is stopped, and then `examine` looks into the fault.
    pub(super) fn fail(&self, code: CUresult, working: Option<Working<'_>>, examine: impl FnOnce()) {
        self.examining.fetch_add(1, Ordering::SeqCst);
        let _ = self.sticky.compare_exchange(0, code.0, Ordering::SeqCst, Ordering::SeqCst);
        drop(working);
        stop_context(self.id, || self.working.load(Ordering::SeqCst) == 0);
        examine();
        self.examining.fetch_sub(1, Ordering::SeqCst);
    }

    /// The fault that has happened, if any.
    pub(super) fn lost(&self) -> Status {
        match self.sticky.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(CUresult(code)),
        }
    }

    /// The fault that has happened, if any, for a client: nothing accesses memory any more when it is told of one.
    pub(super) fn fault(&self) -> Status {
        self.lost().inspect_err(|_| {
            let count = |of: &AtomicU32| of.load(Ordering::SeqCst);
            stop_context(self.id, || count(&self.working) == 0 && count(&self.examining) == 0);
        })
    }

    /// Waits for all work, of a lost context too: what has not begun is dropped then, and host functions that run end.
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
        MEMORY.reset(self.id);
        crate::service::reset(self.id);
        *self.settings.lock() = Settings::default();
        self.sticky.store(0, Ordering::Release);
    }

    /// Ends a context that was created.
    pub(super) fn destroy(&self) {
        self.live.store(false, Ordering::Release);
        self.reset();
        ENGINE.close(self.legacy.read().queue);
        CONTEXTS.write().remove(&self.handle);
    }
}

/// Work that is running, until this is dropped.
pub(super) struct Working<'a>(&'a Context);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The handle of the context with that number.
pub(super) fn context_handle(id: u32) -> usize {
    CONTEXT + (id as usize) * 0x10
}

/// The context with that number.
pub(super) fn numbered(id: u32) -> Result<Arc<Context>, CUresult> {
    context(std::ptr::without_provenance_mut(context_handle(id)))
}

/// The context that an object belongs to.
pub(super) fn owner(handle: usize) -> Result<Arc<Context>, CUresult> {
    numbered((handle >> CONTEXT_SHIFT) as u32)
}

/// Uses the calling thread's stack of current contexts. A thread that is ending may have lost it already when the last
/// handles that it holds let go of their objects; then it is empty.
pub(super) fn stack<R>(using: impl FnOnce(&mut Vec<Arc<Context>>) -> R) -> R {
    let mut stack = STACK.try_with(RefCell::take).unwrap_or_default();
    let result = using(&mut stack);
    // What is left of a thread's that is ending goes.
    let _ = STACK.try_with(|own| own.replace(stack));
    result
}

/// Does something while a context is the current one.
pub(super) fn within<R>(context: &Arc<Context>, body: impl FnOnce() -> R) -> R {
    stack(|stack| stack.push(Arc::clone(context)));
    let result = body();
    stack(|stack| stack.pop());
    result
}

/// A new handle of the current context.
pub(super) fn handle() -> usize {
    let context = stack(|stack| stack.last().map_or(0, |context| context.id as usize));
    (context << CONTEXT_SHIFT) | NEXT.fetch_add(0x10, Ordering::Relaxed)
}

/// A new handle of no context.
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

/// The device of that number.
pub(super) fn device(device: i32) -> Result<usize, CUresult> {
    initialised()?;
    usize::try_from(device).ok().filter(|d| *d < *DEVICES).ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
}

/// The primary context of a device.
pub(super) fn primary(dev: i32) -> Result<&'static Arc<Context>, CUresult> {
    Ok(&PRIMARY[device(dev)?])
}

/// The context with that handle.
pub(super) fn context(handle: CUcontext) -> Result<Arc<Context>, CUresult> {
    initialised()?;
    let _ = &*PRIMARY;
    CONTEXTS.read().get(&handle.addr()).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)
}

/// The current context, which exists.
pub(super) fn current() -> Result<Arc<Context>, CUresult> {
    initialised()?;
    stack(|stack| check(stack.last()).cloned())
}

/// What a call that waits has found; where its context was lost, only after all of the context's work has ended.
pub(super) fn drained<T>(found: Result<T, CUresult>) -> Result<T, CUresult> {
    if found.is_err()
        && let Ok(context) = current()
        && context.lost().is_err()
    {
        context.drain();
    }
    found
}

/// The current context, in which nothing has gone wrong.
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

/// Demands a current context that exists.
pub(super) fn bound() -> Status {
    initialised()?;
    stack(|stack| check(stack.last()).map(|_| ()))
}

/// Demands what a release needs: an object knows its context, so none has to be current; one that is has to exist.
pub(super) fn releasing() -> Status {
    initialised()?;
    stack(|stack| stack.last().map_or(Ok(()), |top| check(Some(top)).map(|_| ())))
}

/// The context, in which nothing has gone wrong, that releases memory: the current one, else the memory's own.
pub(super) fn releaser(owner: u32) -> Result<Arc<Context>, CUresult> {
    releasing()?;
    let context = stack(|stack| stack.last().cloned()).map_or_else(|| numbered(owner), Ok)?;
    context.fault().inspect_err(|_| context.drain())?;
    Ok(context)
}

/// Demands a current context in which nothing has gone wrong.
pub(super) fn ready() -> Status {
    healthy().map(|_| ())
}
