//! The record of a kernel's panic: a small piece of host memory, mapped into the device, one per context.
//!
//! It says nothing about how kernels are compiled: a kernel is an id and a decoder, registered by whoever compiled it.
//!
//! # Safety
//!
//! The memory is written by the device at any time: the host touches it through atomics only. It is freed when the context
//! is dropped, which no kernel outlives: launching needs a module, a module holds the context, and dropping it waits.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use cuda_sys::CUdeviceptr;

use crate::context::{Context, ContextInner};
use crate::driver_call;
use crate::error::Result;
use crate::sync::shared_with_device::{AtomicU32, AtomicU64, Ordering, fence};
use crate::sync::{Arc, Mutex, OnceLock, RwLock};

/// As many numbers a panic takes along for its message.
const ARGUMENTS: usize = 8;

/// Turns the raw record of a kernel's panic into its message.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cuda_driver::{KernelPanic, PanicDecoder, RawPanic};
///
/// let decoder: PanicDecoder = Arc::new(|raw: &RawPanic| KernelPanic {
///     kernel: "add".into(),
///     message: format!("the len is {} but the index is {}", raw.args[1], raw.args[0]),
///     file: "src/main.rs".into(),
///     line: 12,
///     column: 9,
///     block: raw.block,
///     thread: raw.thread,
/// });
/// let raw = RawPanic { kernel: 1, site: 0, block: [0; 3], thread: [8, 0, 0], args: [8, 8, 0, 0, 0, 0, 0, 0] };
/// assert_eq!(decoder(&raw).message, "the len is 8 but the index is 8");
/// ```
pub type PanicDecoder = Arc<dyn Fn(&RawPanic) -> KernelPanic + Send + Sync>;

/// Where a context's kernels write their first panic: 104 bytes, aligned to 8, zero before the first launch.
///
/// | offset | field | |
/// |---|---|---|
/// | 0 | `state: u32` | 0 free, 1 claimed |
/// | 4 | `kernel: u32` | the id from [`Context::register_kernel`], never 0 |
/// | 8 | `site: u32` | which check of the kernel failed |
/// | 12 | `block: [u32; 3]` | x, y, z |
/// | 24 | `thread: [u32; 3]` | x, y, z |
/// | 36 | padding | |
/// | 40 | `args: [u64; 8]` | what the message needs, such as index and length |
///
/// A panicking thread claims the record (compare and swap of `state` from 0 to 1, device scope), and if it got it, writes
/// every field but `kernel`, then a system-wide fence, then `kernel`. The host looks at the record after it has waited for
/// work, takes it when `kernel` is not 0, and frees it in the opposite order. So a record that a kernel on another stream
/// is just writing is left for the synchronisation that waits for that kernel.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::PanicRecord;
///
/// let record = context.panic_record()?;
/// assert_eq!((PanicRecord::SIZE, record.device_ptr() % 8), (104, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanicRecord {
    device: CUdeviceptr,
}

impl PanicRecord {
    /// Size of the record in bytes.
    pub const SIZE: usize = size_of::<Record>();

    /// The record's address on the device; valid while the context lives.
    #[must_use]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.device
    }
}

/// A kernel's panic as the device wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPanic {
    /// The id under which the kernel was registered.
    pub kernel: u32,
    /// Which check of the kernel failed; the kernel's compiler numbers them.
    pub site: u32,
    /// The block's index: x, y, z.
    pub block: [u32; 3],
    /// The thread's index in its block: x, y, z.
    pub thread: [u32; 3],
    /// What the message needs, such as index and length; what it does not need is left from panics before.
    pub args: [u64; ARGUMENTS],
}

/// The first panic of a kernel, from the synchronisation that followed it.
///
/// # Examples
///
/// ```
/// let panic = cuda_driver::KernelPanic {
///     kernel: "add".into(),
///     message: "index out of bounds: the len is 8 but the index is 8".into(),
///     file: "src/main.rs".into(),
///     line: 12,
///     column: 9,
///     block: [1, 0, 0],
///     thread: [4, 0, 0],
/// };
/// assert_eq!(
///     panic.to_string(),
///     "kernel `add` panicked at src/main.rs:12:9: index out of bounds: the len is 8 but the index is 8 \
///      (block 1, 0, 0; thread 4, 0, 0)"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPanic {
    /// The kernel's name.
    pub kernel: String,
    /// What went wrong.
    pub message: String,
    /// The source file; empty where it is not known.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// The column in that line, from 1.
    pub column: u32,
    /// The block's index: x, y, z.
    pub block: [u32; 3],
    /// The thread's index in its block: x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(f, "kernel `{}` panicked", self.kernel)?;
        if !self.file.is_empty() {
            write!(f, " at {}:{}:{}", self.file, self.line, self.column)?;
        }
        write!(f, ": {} (block {bx}, {by}, {bz}; thread {tx}, {ty}, {tz})", self.message)
    }
}

impl std::error::Error for KernelPanic {}

/// The record in memory.
#[repr(C)]
struct Record {
    state: AtomicU32,
    kernel: AtomicU32,
    site: AtomicU32,
    block: [AtomicU32; 3],
    thread: [AtomicU32; 3],
    _pad: AtomicU32,
    args: [AtomicU64; ARGUMENTS],
}

const _: () = {
    assert!(size_of::<Record>() == 104);
    assert!(std::mem::offset_of!(Record, kernel) == 4);
    assert!(std::mem::offset_of!(Record, site) == 8);
    assert!(std::mem::offset_of!(Record, block) == 12);
    assert!(std::mem::offset_of!(Record, thread) == 24);
    assert!(std::mem::offset_of!(Record, args) == 40);
};

const FREE: u32 = 0;

/// The mapped memory of a record.
struct Mapped {
    host: NonNull<Record>,
    device: CUdeviceptr,
}

// SAFETY: the memory is mapped for the whole process and touched through atomics only.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

/// A context's record, made when first asked for, and the decoders of its kernels.
#[derive(Default)]
pub(crate) struct PanicBoard {
    mapped: OnceLock<Mapped>,
    /// Held while the record is made, and while a panic is taken from it, so that it is reported once.
    taking: Mutex<()>,
    decoders: RwLock<Vec<PanicDecoder>>,
}

impl PanicBoard {
    pub(crate) fn record(&self, context: &Context) -> Result<PanicRecord> {
        if let Some(mapped) = self.mapped.get() {
            return Ok(PanicRecord { device: mapped.device });
        }
        let _making = self.taking.lock();
        if self.mapped.get().is_none() {
            let mapped = map(context)?;
            let _ = self.mapped.set(mapped);
        }
        let device = self.mapped.get().map_or(0, |mapped| mapped.device);
        Ok(PanicRecord { device })
    }

    pub(crate) fn register(&self, decoder: PanicDecoder) -> u32 {
        let mut decoders = self.decoders.write();
        decoders.push(decoder);
        u32::try_from(decoders.len()).unwrap_or(u32::MAX)
    }

    /// The recorded panic as an error, once; `Ok` if there is none.
    #[inline]
    pub(crate) fn take(&self) -> Result<()> {
        match self.mapped.get() {
            Some(mapped) if mapped.record().state.load(Ordering::Relaxed) != FREE => self.take_claimed(mapped.record()),
            _ => Ok(()),
        }
    }

    #[cold]
    fn take_claimed(&self, record: &Record) -> Result<()> {
        let raw = {
            let _taking = self.taking.lock();
            match record.take() {
                Some(raw) => raw,
                None => return Ok(()),
            }
        };
        Err(self.decode(&raw).into())
    }

    fn decode(&self, raw: &RawPanic) -> KernelPanic {
        let index = (raw.kernel as usize).wrapping_sub(1);
        let decoder = self.decoders.read().get(index).cloned();
        let undecoded = |why: &str| KernelPanic {
            kernel: format!("#{}", raw.kernel),
            message: format!("check {} failed with {:?}; {why}", raw.site, raw.args),
            file: String::new(),
            line: 0,
            column: 0,
            block: raw.block,
            thread: raw.thread,
        };
        let Some(decoder) = decoder else {
            return undecoded("no kernel is registered under this number");
        };
        catch_unwind(AssertUnwindSafe(|| decoder(raw))).unwrap_or_else(|_| undecoded("its decoder panicked"))
    }

    /// Frees the record, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        let Some(mapped) = self.mapped.get() else { return };
        // Nobody waited for the kernel, so nobody was told.
        if let Err(panic) = self.take() {
            tracing::error!(%panic, "a kernel panicked, and the context ended before anything waited for it");
        }
        // SAFETY: the memory came from cuMemHostAlloc; the context is being dropped, so nothing else can reach it.
        if let Err(error) = unsafe { driver_call!(context, cuMemFreeHost(mapped.host.as_ptr().cast())) } {
            tracing::warn!(%error, "the record of kernel panics could not be freed");
        }
    }
}

impl Mapped {
    fn record(&self) -> &Record {
        // SAFETY: the allocation is as large as a record, aligned to a page, zeroed, and lives as long as `self`; every
        // field is an atomic.
        unsafe { self.host.as_ref() }
    }
}

impl Record {
    /// Reads a complete record and frees it.
    fn take(&self) -> Option<RawPanic> {
        let kernel = self.kernel.load(Ordering::Relaxed);
        if kernel == 0 {
            return None;
        }
        fence(Ordering::Acquire);
        let raw = RawPanic {
            kernel,
            site: self.site.load(Ordering::Relaxed),
            block: [0, 1, 2].map(|axis: usize| self.block[axis].load(Ordering::Relaxed)),
            thread: [0, 1, 2].map(|axis: usize| self.thread[axis].load(Ordering::Relaxed)),
            args: std::array::from_fn(|index| self.args[index].load(Ordering::Relaxed)),
        };
        self.kernel.store(0, Ordering::Relaxed);
        self.state.store(FREE, Ordering::Release);
        Some(raw)
    }
}

fn map(context: &Context) -> Result<Mapped> {
    let flags = cuda_sys::CU_MEMHOSTALLOC_PORTABLE | cuda_sys::CU_MEMHOSTALLOC_DEVICEMAP;
    let mut host = std::ptr::null_mut();
    // SAFETY: `host` lives through the call.
    unsafe { driver_call!(context, cuMemHostAlloc(&mut host, size_of::<Record>(), flags)) }?;
    let free = || {
        // SAFETY: the memory came from the call above and nothing uses it.
        let _ = unsafe { driver_call!(context, cuMemFreeHost(host)) };
    };
    let mut device = 0;
    // SAFETY: `device` lives through the call; `host` is mapped memory of this context.
    unsafe { driver_call!(context, cuMemHostGetDevicePointer_v2(&mut device, host, 0)) }.inspect_err(|_| free())?;
    let Some(host) = NonNull::new(host.cast::<Record>()) else {
        return Err(crate::Error::invalid("the driver reports success for mapped host memory, but gives no address"));
    };
    // SAFETY: the allocation is as large as a record, and no kernel knows its address yet.
    unsafe { host.as_ptr().cast::<u8>().write_bytes(0, size_of::<Record>()) };
    Ok(Mapped { host, device })
}
