//! [`Constant`]: host-updatable constants in constant memory.
//!
//! Each loaded module has a copy of each constant that its kernel reads. In each context, one buffer has the latest value,
//! from which the copies are updated on the device; the buffer's use record covers all copies: a launch is a read, an
//! update a write. Invariant: a thread that enqueues a use holds the lock from recording the use until it is enqueued, so
//! that no update comes in between.
//!
//! # Safety
//!
//! The `unsafe` blocks copy between memory of checked sizes, ordered by the record. The host memory that an asynchronous
//! copy reads is kept until an event after the copy has completed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use cuda_driver::{AroundLaunch, Context, Event, Module, OpenCapture, Stream, StreamScope, driver_call};
use cuda_mem::{Buffer, Element};
use cuda_sys::CUdeviceptr;
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use smallvec::SmallVec;

use crate::error::Result;
use crate::kir::CONSTANT_MEMORY;
use crate::typeinfo::{ConstItem, ConstValue, ElementType, HostConstant};
use cuda_jit_lang::library::constant::ConstantMethods;

/// A value in the device's constant memory: a `static` item that kernels read with [`get`](Constant::get) and the host
/// updates with [`set`](Constant::set).
///
/// Each context has its own value, initially that of the constructor. Reading it is as fast as a register if all threads of
/// a warp read the same element, and slower otherwise. Use a `static` array for data that never changes, and a `&[T]`
/// parameter for large data. A kernel's constants share 64 KiB.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Constant, device::grid, kernel};
///
/// static WEIGHTS: Constant<[f32; 3]> = Constant::new([0.25, 0.5, 0.25]);
///
/// #[kernel]
/// fn smooth(x: &[f32], out: &mut [f32]) {
///     let i = grid::<1>();
///     if i < out.len() {
///         let mut sum = 0.0;
///         for k in 0..3 {
///             sum += WEIGHTS.get()[k] * x[i + k];
///         }
///         out[i] = sum;
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[4.0_f32, 8.0, 16.0, 32.0])?;
/// let mut out = cuda_mem::zeros(&context, 2)?;
/// smooth::launch((1, 32), &x, &mut out)?;
/// assert_eq!(out.copy_to_host()?.to_vec(), [9.0, 18.0]);
///
/// WEIGHTS.set(&context, &[0.0, 1.0, 0.0])?;
/// smooth::launch((1, 32), &x, &mut out)?;
/// assert_eq!(out.copy_to_host()?.to_vec(), [8.0, 16.0]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// A `const` item would be a new value at each use, so kernels accept `static` items only:
///
/// ```compile_fail
/// # use cuda_jit::{Constant, kernel};
/// const WEIGHTS: Constant<[f32; 3]> = Constant::new([0.25, 0.5, 0.25]);
///
/// #[kernel]
/// fn first(out: &mut [f32]) {
///     out[0] = WEIGHTS.get()[0];
/// }
/// ```
pub struct Constant<T> {
    initial: T,
    instances: OnceLock<Arc<Instances>>,
    /// The value in each context where it has been set.
    values: RwLock<Vec<(u64, T)>>,
}

impl<T: ElementType + Element> Constant<T> {
    /// A constant with its initial value. More than 64 KiB is a compile error.
    pub const fn new(initial: T) -> Self {
        const { assert!(size_of::<T>() as u64 <= CONSTANT_MEMORY, "constant memory has 64 KiB") }
        Constant { initial, instances: OnceLock::new(), values: RwLock::new(Vec::new()) }
    }

    /// The value: in a kernel, the value at the launch; on the host, the value in the thread's selected context.
    ///
    /// In a kernel, an element or field of it is read individually; the whole value is a copy.
    #[must_use]
    pub fn get(&self) -> T {
        let id = Context::current().map(|context| context.id());
        let values = self.values.read();
        values.iter().find(|value| Some(value.0) == id).map_or(self.initial, |value| value.1)
    }

    /// Updates the value in a context, in the order of a stream, or of the context's default stream.
    ///
    /// Launches before it read the old value, those after it the new one, also in other streams and from other threads. The
    /// device waits if it must; the host never waits.
    ///
    /// # Errors
    ///
    /// If the driver fails.
    pub fn set(&self, on: impl Destination, value: &T) -> Result<()> {
        let stream = on.stream();
        let bytes = size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let _span = tracing::trace_span!("set_constant", bytes, %stream).entered();
        // SAFETY: the pointer is valid for `bytes` bytes, the size of `T`; plain data has no padding, so that all of them
        // are initialised.
        let source: Box<[u8]> = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), bytes) }.into();
        let resident = self.instances().resident(stream.context())?;
        let mut copies = resident.0.write();
        copies.update(source, &stream)?;
        let (id, mut values) = (stream.context().id(), self.values.write());
        match values.iter_mut().find(|known| known.0 == id) {
            Some(known) => known.1 = *value,
            None => values.push((id, *value)),
        }
        Ok(())
    }

    /// The initial value.
    pub(crate) fn initial(&self) -> &T {
        &self.initial
    }

    /// Its state in all contexts.
    pub(crate) fn instances(&self) -> &Arc<Instances> {
        self.instances.get_or_init(|| Arc::new(Instances { bytes: size_of::<T>(), residents: Mutex::default() }))
    }
}

impl<T> ConstantMethods<T> for Constant<T> {}

// SAFETY: the initial value has the constant's type, and the host constant is this constant's own. The trait is implemented
// for `static` items alone, so that the constant has one identity.
#[diagnostic::do_not_recommend]
unsafe impl<T: ElementType + Element> ConstItem<'static> for Constant<T> {
    fn value(item: &'static Self) -> ConstValue {
        let instances = item.instances().clone();
        ConstValue { host_constant: Some(instances), ..T::value(item.initial()) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Constant<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constant").field("initial", &self.initial).finish_non_exhaustive()
    }
}

/// The destination of [`Constant::set`]: a stream, or a context's default stream.
///
/// Nothing unsafe relies on an implementation: any stream is valid.
///
/// # Examples
///
/// ```
/// use cuda_driver::Stream;
/// use cuda_jit::{Constant, Destination};
///
/// static SCALE: Constant<f32> = Constant::new(1.0);
///
/// fn double(on: impl Destination) -> cuda_jit::Result<()> {
///     SCALE.set(on, &(2.0 * SCALE.get()))
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// double(&context)?; // in the order of the default stream
/// double(&Stream::new(&context)?)?;
/// assert_eq!(SCALE.get(), 4.0);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub trait Destination {
    /// The stream.
    fn stream(&self) -> Stream;
}

impl Destination for &Stream {
    fn stream(&self) -> Stream {
        (*self).clone()
    }
}

impl Destination for &StreamScope<'_, '_> {
    fn stream(&self) -> Stream {
        (***self).clone()
    }
}

impl Destination for &Context {
    fn stream(&self) -> Stream {
        self.default_stream()
    }
}

/// A constant's state in all contexts in which it is used.
pub(crate) struct Instances {
    bytes: usize,
    residents: Mutex<Vec<(u64, Arc<Resident>)>>,
}

/// A constant's state in one context.
pub(crate) struct Resident(RwLock<Copies>);

/// A constant's copies in one context.
pub(crate) struct Copies {
    /// The latest value, if it has been `set`; its use record covers all copies.
    buffer: Buffer,
    set: bool,
    /// The addresses of the modules' copies.
    symbols: Vec<(CUdeviceptr, Module)>,
    /// Host memory that copies may still read, each with an event after the copy.
    sources: Vec<(Event, Box<[u8]>)>,
}

impl Instances {
    /// The state of a module's constant.
    ///
    /// # Panics
    ///
    /// If it does not belong to a [`Constant`]; there are no others.
    pub(crate) fn of(constant: &HostConstant) -> &Instances {
        constant.downcast_ref().expect("only `Constant` is a constant of the host")
    }

    /// The constant's state in a context.
    fn resident(&self, context: &Context) -> Result<Arc<Resident>> {
        let mut residents = self.residents.lock();
        if let Some((_, resident)) = residents.iter().find(|known| known.0 == context.id()) {
            return Ok(resident.clone());
        }
        let buffer = Buffer::new(&context.default_stream(), self.bytes)?;
        // A static is never dropped.
        context.ignore_leak(buffer.address());
        let copies = Copies { buffer, set: false, symbols: Vec::new(), sources: Vec::new() };
        let resident = Arc::new(Resident(RwLock::new(copies)));
        residents.push((context.id(), resident.clone()));
        Ok(resident)
    }

    /// Adds the copy of a module that has not been used yet.
    pub(crate) fn join(&self, module: &Module, symbol: &str) -> Result<Arc<Resident>> {
        let (address, bytes) = module.global(symbol)?;
        assert_eq!(bytes, self.bytes, "the module has another `{symbol}`");
        let resident = self.resident(module.context())?;
        let mut copies = resident.0.write();
        if copies.set {
            let stream = module.context().default_stream();
            copies.buffer.prepare_write(&stream)?;
            copies.copy_to(address, &stream)?;
        }
        copies.symbols.push((address, module.clone()));
        drop(copies);
        Ok(resident)
    }
}

impl fmt::Debug for Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instances").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl fmt::Debug for Resident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resident").finish_non_exhaustive()
    }
}

/// Locks on the constants of a launch that is being enqueued, which prevent updates meanwhile.
pub(crate) type Reading<'a> = SmallVec<[RwLockReadGuard<'a, Copies>; 2]>;

/// Orders a launch on `stream` after the updates of the constants that it reads.
#[inline]
pub(crate) fn read<'a>(residents: &'a [Arc<Resident>], stream: &Stream) -> Result<Reading<'a>> {
    // Most kernels have none, and collecting an empty list took a third of their launch.
    if residents.is_empty() { Ok(Reading::new()) } else { read_by(residents, stream, RwLock::read) }
}

fn read_by<'a>(
    residents: &'a [Arc<Resident>],
    stream: &Stream,
    lock: fn(&'a RwLock<Copies>) -> RwLockReadGuard<'a, Copies>,
) -> Result<Reading<'a>> {
    let read = |resident: &'a Arc<Resident>| {
        let copies = lock(&resident.0);
        copies.buffer.prepare_read(stream)?;
        Ok(copies)
    };
    residents.iter().map(read).collect()
}

/// Makes each launch of the captured graph a read of these constants.
pub(crate) fn enclose(residents: &[Arc<Resident>], capture: &mut OpenCapture<'_>) {
    if !residents.is_empty() {
        capture.enclose(Arc::new(Enclosing(residents.into())));
    }
}

/// The constants that a captured kernel reads.
struct Enclosing(Box<[Arc<Resident>]>);

impl AroundLaunch for Enclosing {
    fn around(&self, stream: &Stream, enqueue: &mut dyn FnMut() -> cuda_driver::Result<()>) -> cuda_driver::Result<()> {
        // Several kernels of one graph may read the same constant.
        let _constants = read_by(&self.0, stream, RwLock::read_recursive)?;
        enqueue()
    }
}

/// A constant that is no `static` item may be dropped while a copy still reads the value that it was set to: from
/// page-locked memory, such as a registered range that contains the heap block, drivers read when the copy executes.
impl Drop for Copies {
    fn drop(&mut self) {
        self.release();
        std::mem::forget(std::mem::take(&mut self.sources));
    }
}

impl Copies {
    /// Frees the host memory that no copy reads any more. If the driver cannot tell, a copy may still read it.
    fn release(&mut self) {
        self.sources.retain(|(event, _)| !event.query().unwrap_or(false));
    }

    /// Copies a value to the buffer and from there to all modules, after all previous uses.
    fn update(&mut self, source: Box<[u8]>, stream: &Stream) -> Result<()> {
        self.release();
        let event = Event::without_timing(stream.context())?;
        self.buffer.prepare_write(stream)?;
        let (to, bytes) = (self.buffer.address(), self.buffer.len());
        let from = source.as_ptr().cast();
        self.sources.push((event, source));
        // SAFETY: the buffer is as long as the source, and all other uses of it precede this one on the stream. The source
        // was moved to `sources` above, where it stays until the event has completed.
        let copied = unsafe { driver_call!(stream.context(), cuMemcpyHtoDAsync_v2(to, from, bytes, stream.as_raw())) };
        let recorded = match self.sources.last() {
            Some((event, _)) => event.record(stream),
            None => Ok(()),
        };
        if recorded.is_err() {
            // no event tells when the copy has completed
            self.sources.pop().map(|(_, source)| Box::leak(source));
        }
        copied.and(recorded)?;
        self.set = true;
        self.symbols.iter().try_for_each(|(symbol, _)| self.copy_to(*symbol, stream))
    }

    /// Copies the value to a module's memory.
    fn copy_to(&self, symbol: CUdeviceptr, stream: &Stream) -> Result<()> {
        let (from, bytes) = (self.buffer.address(), self.buffer.len());
        // SAFETY: the symbol is as long as the buffer, as `join` has checked, and its module is kept loaded; all other uses
        // of either precede this one on the stream, since the buffer's record covers both.
        let copied =
            unsafe { driver_call!(stream.context(), cuMemcpyDtoDAsync_v2(symbol, from, bytes, stream.as_raw())) };
        Ok(copied?)
    }
}
