//! [`MemoryPool`]: the device's default stream-ordered pool, and custom pools.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live pool, which `self` owns or which is the device's
//! default pool and is never destroyed, and pointers to values of the attributes' types that live through the call.

use std::ffi::{c_int, c_uchar, c_void};
use std::fmt;
use std::sync::Arc;

use cuda_driver::{Context, Stream, defer_drop, driver_call, is_in_host_fn};
use cuda_sys::{
    CUdeviceptr, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType,
    CUmemPool_attribute as Attribute, CUmemPoolProps, CUmemoryPool,
};

use crate::error::Result;

/// A stream-ordered memory pool. Clones mean the same pool.
///
/// Buffers come from the device's default pool ([`MemoryPool::of_device`]) unless another source is chosen. A custom
/// pool keeps its freed memory apart from others, and can be limited. Constructors take it in place of a context:
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// use cuda_mem::{MemoryPool, zeros};
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let pool = MemoryPool::with_limit(&context, 1 << 20)?;
/// pool.set_release_threshold(u64::MAX)?; // keeps freed memory
/// let x = zeros::<f32, _>(&pool, 1000)?;
/// assert!(pool.statistics()?.used >= 4000);
/// assert!(zeros::<f32, _>(&pool, 1 << 20).unwrap_err().is_out_of_memory());
/// drop(x);
/// context.synchronize()?;
/// pool.trim_to(0)?;
/// assert_eq!(pool.statistics()?.reserved, 0);
/// # Ok(())
/// # }
/// ```
///
/// A custom pool is destroyed with its last clone and its last buffer.
///
/// See the [CUDA driver API, stream-ordered allocator](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MALLOC__ASYNC.html).
#[derive(Clone)]
pub struct MemoryPool(Arc<Inner>);

struct Inner {
    context: Context,
    raw: CUmemoryPool,
    /// True for a custom pool, which this value owns.
    own: bool,
}

// SAFETY: the raw pool is an address that the driver accepts on any thread.
unsafe impl Send for Inner {}
// SAFETY: the driver's own locks protect the pool that the address names.
unsafe impl Sync for Inner {}

/// The bytes of a pool, which the driver counts for all users of the pool in this process.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let pool = cuda_mem::MemoryPool::new(&context)?;
/// let x = cuda_mem::zeros::<u8, _>(&pool, 1000)?;
/// let cuda_mem::PoolStatistics { used, used_peak, .. } = pool.statistics()?;
/// assert!(used >= 1000 && used_peak >= used);
/// drop(x);
/// context.synchronize()?;
/// pool.reset_peaks()?;
/// assert_eq!(pool.statistics()?.used_peak, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStatistics {
    /// Bytes reserved from the device.
    pub reserved: u64,
    /// The peak since the start or the last [`MemoryPool::reset_peaks`].
    pub reserved_peak: u64,
    /// Bytes used by allocations.
    pub used: u64,
    /// The peak since the start or the last [`MemoryPool::reset_peaks`].
    pub used_peak: u64,
}

/// The cases in which a pool may reuse memory on another stream than the one it was freed on; all are enabled at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolReuse {
    /// If events order the allocation after the free.
    pub follow_events: bool,
    /// If the free has already completed.
    pub opportunistic: bool,
    /// By making the allocating stream wait for the free.
    pub internal_dependencies: bool,
}

const REUSE: [Attribute; 3] = [
    Attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
    Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
    Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
];

impl MemoryPool {
    /// The device's default pool.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let pool = cuda_mem::MemoryPool::of_device(&context)?;
    /// assert!(pool.context() == &context && !pool.as_raw().is_null());
    /// assert_eq!(pool.release_threshold()?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status, also if the device has no pools
    /// ([`DeviceLimits::memory_pools`](cuda_driver::DeviceLimits::memory_pools)).
    pub fn of_device(context: &Context) -> Result<Self> {
        let (mut raw, device) = (std::ptr::null_mut(), context.device().as_raw()?);
        // SAFETY: `raw` lives through the call, and the device exists.
        unsafe { driver_call!(context, cuDeviceGetDefaultMemPool(&mut raw, device)) }?;
        Ok(MemoryPool(Arc::new(Inner { context: context.clone(), raw, own: false })))
    }

    /// A custom pool on the context's device.
    ///
    /// # Errors
    ///
    /// As [`MemoryPool::of_device`].
    pub fn new(context: &Context) -> Result<Self> {
        Self::with_limit(context, 0)
    }

    /// A custom pool that reserves at most `bytes` from the device; 0 is no limit. The driver may round the limit up;
    /// drivers before CUDA 12.2 ignore it.
    ///
    /// # Errors
    ///
    /// As [`MemoryPool::of_device`].
    pub fn with_limit(context: &Context, bytes: usize) -> Result<Self> {
        let device = context.device().as_raw()?;
        let properties = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device },
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: bytes,
            usage: 0,
            gpuDirectRDMACapable: 0,
            reserved: [0 as c_uchar; 53],
        };
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` and the properties live through the call.
        unsafe { driver_call!(context, cuMemPoolCreate(&mut raw, &properties)) }?;
        Ok(MemoryPool(Arc::new(Inner { context: context.clone(), raw, own: true })))
    }

    /// The context that the pool's buffers belong to.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The raw handle, valid while a clone of the pool lives.
    #[must_use]
    pub fn as_raw(&self) -> CUmemoryPool {
        self.0.raw
    }

    /// Returns unused memory to the device, until at most `bytes` are reserved.
    ///
    /// Memory whose free has not completed stays reserved; [`Context::synchronize`] waits for that.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn trim_to(&self, bytes: usize) -> Result<()> {
        // SAFETY: the pool is live; memory in use stays.
        Ok(unsafe { driver_call!(self.context(), cuMemPoolTrimTo(self.0.raw, bytes)) }?)
    }

    /// The release threshold: the bytes that the pool keeps reserved when a synchronisation lets it return freed
    /// memory; 0 at first.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn release_threshold(&self) -> Result<u64> {
        self.number(Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    }

    /// Sets the release threshold; `u64::MAX` keeps all memory reserved.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn set_release_threshold(&self, bytes: u64) -> Result<()> {
        self.set(Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, bytes)
    }

    /// The pool's statistics.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn statistics(&self) -> Result<PoolStatistics> {
        Ok(PoolStatistics {
            reserved: self.number(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?,
            reserved_peak: self.number(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)?,
            used: self.number(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?,
            used_peak: self.number(Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH)?,
        })
    }

    /// Resets the peaks to the present values.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn reset_peaks(&self) -> Result<()> {
        self.set(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0_u64)?;
        self.set(Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0_u64)
    }

    /// The pool's reuse policy between streams.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn reuse(&self) -> Result<PoolReuse> {
        let mut on = [false; 3];
        for (on, attribute) in on.iter_mut().zip(REUSE) {
            *on = self.get::<c_int>(attribute)? != 0;
        }
        let [follow_events, opportunistic, internal_dependencies] = on;
        Ok(PoolReuse { follow_events, opportunistic, internal_dependencies })
    }

    /// Sets the pool's reuse policy between streams. Fewer cases are more predictable, and take more memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::{MemoryPool, PoolReuse};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let pool = MemoryPool::new(&context)?;
    /// assert!(pool.reuse()?.opportunistic);
    /// let only_events = PoolReuse { follow_events: true, opportunistic: false, internal_dependencies: false };
    /// pool.set_reuse(only_events)?;
    /// assert_eq!(pool.reuse()?, only_events);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn set_reuse(&self, reuse: PoolReuse) -> Result<()> {
        let on = [reuse.follow_events, reuse.opportunistic, reuse.internal_dependencies];
        REUSE.into_iter().zip(on).try_for_each(|(attribute, on)| self.set(attribute, c_int::from(on)))
    }

    pub(crate) fn allocate(&self, bytes: usize, stream: &Stream) -> Result<CUdeviceptr> {
        let mut address = 0;
        let (context, raw) = (self.context(), self.0.raw);
        // SAFETY: `address` lives through the call; pool and stream are live.
        unsafe { driver_call!(context, cuMemAllocFromPoolAsync(&mut address, bytes, raw, stream.as_raw())) }?;
        Ok(address)
    }

    fn number(&self, attribute: Attribute) -> Result<u64> {
        self.get(attribute)
    }

    fn get<T: Default>(&self, attribute: Attribute) -> Result<T> {
        let mut value = T::default();
        let out = (&raw mut value).cast::<c_void>();
        // SAFETY: the value has the attribute's type: `c_int` for policies, `u64` for bytes.
        unsafe { driver_call!(self.context(), cuMemPoolGetAttribute(self.0.raw, attribute, out)) }?;
        Ok(value)
    }

    fn set<T>(&self, attribute: Attribute, mut value: T) -> Result<()> {
        let from = (&raw mut value).cast::<c_void>();
        // SAFETY: the value has the attribute's type: `c_int` for policies, `u64` for bytes.
        Ok(unsafe { driver_call!(self.context(), cuMemPoolSetAttribute(self.0.raw, attribute, from)) }?)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.own || self.context.is_lost() {
            return;
        }
        if is_in_host_fn() {
            let Inner { raw, own, .. } = *self;
            return defer_drop(Box::new(Inner { context: self.context.clone(), raw, own }));
        }
        // SAFETY: the pool is a custom one, and its buffers, which hold it, are dropped. The driver waits for frees
        // that have not completed.
        if let Err(error) = unsafe { driver_call!(&self.context, cuMemPoolDestroy(self.raw)) } {
            tracing::warn!(%error, "a memory pool could not be destroyed");
        }
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.context().device().ordinal();
        f.debug_struct("MemoryPool")
            .field("raw", &self.0.raw)
            .field("device", &device)
            .field("own", &self.0.own)
            .finish()
    }
}
