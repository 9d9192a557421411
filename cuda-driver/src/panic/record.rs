//! [`Records`]: host memory, mapped into the device, to which kernels write their panics.
//!
//! # Safety
//!
//! The memory is written by the device at any time, so the host touches it through atomics only. It is freed when the
//! context ends, which no kernel outlives: launching needs a module, a module holds the context, and dropping it waits.
//! Every reader holds the context too: a stream, a stream's position, a graph.

use std::ptr::NonNull;

use cuda_sys::CUdeviceptr;

use super::log::RecordSlots;
use super::{ARGUMENTS, RawPanic};
use crate::context::{Context, ContextInner};
use crate::driver_call;
use crate::error::{Error, Result};
use crate::sync::shared_with_device::{AtomicU32, AtomicU64, Ordering, fence};

/// The number of records in one allocation; few in models, which try every order of their accesses.
pub(crate) const COUNT: usize = if cfg!(loom) { 2 } else { 128 };

/// One record in memory: the 104 bytes of the kernel's layout, padded so that records lie on separate cache lines.
#[repr(C, align(128))]
struct Record {
    state: AtomicU32,
    kernel: AtomicU32,
    site: AtomicU32,
    block: [AtomicU32; 3],
    thread: [AtomicU32; 3],
    launch: AtomicU32,
    args: [AtomicU64; ARGUMENTS],
}

const _: () = {
    assert!(size_of::<Record>() == 128);
    assert!(std::mem::offset_of!(Record, kernel) == 4);
    assert!(std::mem::offset_of!(Record, site) == 8);
    assert!(std::mem::offset_of!(Record, block) == 12);
    assert!(std::mem::offset_of!(Record, thread) == 24);
    assert!(std::mem::offset_of!(Record, launch) == 36);
    assert!(std::mem::offset_of!(Record, args) == 40);
};

const FREE: u32 = 0;

/// [`COUNT`] records in mapped host memory, which lives as long as the context.
#[derive(Clone, Copy)]
pub(crate) struct Records {
    host: NonNull<[Record; COUNT]>,
    device: CUdeviceptr,
}

// SAFETY: the memory is mapped for the whole process and touched through atomics only.
unsafe impl Send for Records {}
// SAFETY: as for `Send`: every access is atomic.
unsafe impl Sync for Records {}

impl Records {
    /// Allocates records, all free. A context in a static, which never ends, keeps them to the end of the process.
    pub(crate) fn allocate(context: &Context) -> Result<Self> {
        let bytes = size_of::<[Record; COUNT]>();
        let flags = cuda_sys::CU_MEMHOSTALLOC_PORTABLE | cuda_sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let mut host = std::ptr::null_mut();
        // SAFETY: `host` lives through the call.
        unsafe { driver_call!(context, cuMemHostAlloc(&mut host, bytes, flags)) }?;
        let free = || {
            // SAFETY: the memory came from the call above and nothing uses it.
            let _ = unsafe { driver_call!(context, cuMemFreeHost(host)) };
        };
        let mut device = 0;
        // SAFETY: `device` lives through the call; `host` is mapped memory of this context.
        unsafe { driver_call!(context, cuMemHostGetDevicePointer_v2(&mut device, host, 0)) }.inspect_err(|_| free())?;
        let Some(host) = NonNull::new(host.cast::<[Record; COUNT]>()) else {
            return Err(Error::invalid("the driver reports success for mapped host memory, but gives no address"));
        };
        context.ignore_leak(device);
        // SAFETY: the allocation is as large as the records, and no kernel knows its address yet.
        unsafe { host.as_ptr().cast::<u8>().write_bytes(0, bytes) };
        Ok(Records { host, device })
    }

    /// The address of a record on the device.
    pub(crate) fn device_ptr(&self, slot: usize) -> CUdeviceptr {
        self.device + (slot * size_of::<Record>()) as u64
    }

    /// Frees the memory, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        // SAFETY: the memory came from cuMemHostAlloc; the context is being dropped, so nothing else can reach it.
        if let Err(error) = unsafe { driver_call!(context, cuMemFreeHost(self.host.as_ptr().cast())) } {
            tracing::warn!(%error, "the records of kernel panics could not be freed");
        }
    }

    fn record(&self, slot: usize) -> &Record {
        // SAFETY: the allocation holds `COUNT` records, aligned to a page and zeroed, as long as the context lives,
        // which the caller holds; every field is an atomic.
        unsafe { &self.host.as_ref()[slot] }
    }
}

impl RecordSlots for Records {
    fn is_free(&self, slot: usize) -> bool {
        self.record(slot).state.load(Ordering::Acquire) == FREE
    }

    fn read(&self, slot: usize) -> Option<(RawPanic, u32)> {
        let record = self.record(slot);
        let kernel = record.kernel.load(Ordering::Relaxed);
        if kernel == 0 {
            return None;
        }
        fence(Ordering::Acquire);
        let raw = RawPanic {
            kernel,
            site: record.site.load(Ordering::Relaxed),
            block: [0, 1, 2].map(|axis: usize| record.block[axis].load(Ordering::Relaxed)),
            thread: [0, 1, 2].map(|axis: usize| record.thread[axis].load(Ordering::Relaxed)),
            args: std::array::from_fn(|index| record.args[index].load(Ordering::Relaxed)),
        };
        Some((raw, record.launch.load(Ordering::Relaxed)))
    }

    fn free(&self, slot: usize) {
        let record = self.record(slot);
        record.kernel.store(0, Ordering::Relaxed);
        record.state.store(FREE, Ordering::Release);
    }
}
