//! Settings of a whole context: limits, the preference between cache and shared memory, peer access.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a bound context and pointers that live through the call.

use cuda_sys::{CUfunc_cache, CUlimit, CUresult};

use crate::context::Context;
use crate::device::Device;
use crate::driver_call;
use crate::error::{Error, Result};

/// A limit of a [`Context`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::ContextLimit;
///
/// println!("{} bytes for printf", context.limit(ContextLimit::PrintfBuffer)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContextLimit {
    /// Bytes of each thread's stack.
    StackSize,
    /// Bytes of the buffer that `printf` of kernels fills between two synchronisations.
    PrintfBuffer,
    /// Bytes of the heap of device-side `malloc`.
    MallocHeap,
    /// The number of device-side launches that can be pending.
    PendingLaunches,
    /// The granularity in bytes of fetches into the L2 cache: a hint.
    L2FetchGranularity,
    /// Bytes of the L2 cache that can be set aside for persisting accesses.
    PersistingL2,
}

impl ContextLimit {
    fn raw(self) -> CUlimit {
        match self {
            ContextLimit::StackSize => CUlimit::CU_LIMIT_STACK_SIZE,
            ContextLimit::PrintfBuffer => CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE,
            ContextLimit::MallocHeap => CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE,
            ContextLimit::PendingLaunches => CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
            ContextLimit::L2FetchGranularity => CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
            ContextLimit::PersistingL2 => CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
        }
    }
}

/// The preferred split between the L1 cache and shared memory, which share their memory on many devices.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::CacheConfig;
///
/// assert_eq!(context.cache_config()?, CacheConfig::None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheConfig {
    /// No preference.
    #[default]
    None,
    /// More shared memory.
    Shared,
    /// More L1 cache.
    L1,
    /// The same amount of both.
    Equal,
}

impl CacheConfig {
    pub(crate) fn raw(self) -> CUfunc_cache {
        match self {
            CacheConfig::None => CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
            CacheConfig::Shared => CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
            CacheConfig::L1 => CUfunc_cache::CU_FUNC_CACHE_PREFER_L1,
            CacheConfig::Equal => CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL,
        }
    }
}

impl Context {
    /// The value of a limit.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::ContextLimit;
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    ///
    /// context.set_limit(ContextLimit::StackSize, 4096)?;
    /// assert!(context.limit(ContextLimit::StackSize)? >= 4096);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with `CUDA_ERROR_UNSUPPORTED_LIMIT` if the device has no such limit.
    pub fn limit(&self, limit: ContextLimit) -> Result<usize> {
        let mut value = 0;
        // SAFETY: `value` lives through the call.
        unsafe { driver_call!(self, cuCtxGetLimit(&mut value, limit.raw())) }?;
        Ok(value)
    }

    /// Sets a limit, for this context and everything that shares it. The driver may round the value, see
    /// [`limit`](Context::limit).
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with `CUDA_ERROR_UNSUPPORTED_LIMIT` if the device has no such limit, `CUDA_ERROR_INVALID_VALUE` for
    /// a value that it cannot have, or `CUDA_ERROR_OUT_OF_MEMORY`.
    pub fn set_limit(&self, limit: ContextLimit, value: usize) -> Result<()> {
        // SAFETY: the call has no pointers.
        unsafe { driver_call!(self, cuCtxSetLimit(limit.raw(), value)) }
    }

    /// The preference between L1 cache and shared memory, for functions that have none of their own.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn cache_config(&self) -> Result<CacheConfig> {
        let mut raw = CUfunc_cache::default();
        // SAFETY: `raw` lives through the call.
        unsafe { driver_call!(self, cuCtxGetCacheConfig(&mut raw)) }?;
        let known = [CacheConfig::Shared, CacheConfig::L1, CacheConfig::Equal];
        Ok(known.into_iter().find(|config| config.raw() == raw).unwrap_or_default())
    }

    /// Sets the preference between L1 cache and shared memory; a hint.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::CacheConfig;
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    ///
    /// context.set_cache_config(CacheConfig::Shared)?;
    /// assert_eq!(context.cache_config()?, CacheConfig::Shared);
    /// # context.set_cache_config(CacheConfig::None)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn set_cache_config(&self, config: CacheConfig) -> Result<()> {
        // SAFETY: the call has no pointers.
        unsafe { driver_call!(self, cuCtxSetCacheConfig(config.raw())) }
    }

    /// The least and the greatest priority of streams, as (least, greatest): lower numbers are greater priorities. Both are
    /// 0 where the device has no priorities.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let (least, greatest) = context.stream_priorities()?;
    /// assert!(greatest <= least);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn stream_priorities(&self) -> Result<(i32, i32)> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both integers live through the call.
        unsafe { driver_call!(self, cuCtxGetStreamPriorityRange(&mut least, &mut greatest)) }?;
        Ok((least, greatest))
    }

    /// Enables peer access: lets kernels of this context access the memory of another device. Succeeds if it is enabled
    /// already.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let devices = context.device().driver().devices()?;
    /// if let [first, second, ..] = &devices[..] && first.can_access_peer(second)? {
    ///     first.primary_context()?.enable_peer_access(&second.primary_context()?)?;
    /// }
    /// let error = context.enable_peer_access(&context).unwrap_err();
    /// assert_eq!(error.to_string(), "device 0 is no peer of itself; it uses its own memory anyway");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED` where the devices cannot, see
    /// [`Device::can_access_peer`]; [`Error::Invalid`] for a context of the same device or of another driver.
    pub fn enable_peer_access(&self, peer: &Context) -> Result<()> {
        self.expect_peer(peer)?;
        // SAFETY: both contexts are retained; the flags must be 0.
        match unsafe { driver_call!(self, cuCtxEnablePeerAccess(peer.as_raw(), 0)) } {
            Err(error) if error.code() == Some(CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) => Ok(()),
            result => result,
        }
    }

    /// Disables peer access to another device's memory. Succeeds if it is disabled already.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let devices = context.device().driver().devices()?;
    /// if let [first, second, ..] = &devices[..] && first.can_access_peer(second)? {
    ///     let (first, second) = (first.primary_context()?, second.primary_context()?);
    ///     first.enable_peer_access(&second)?;
    ///     first.disable_peer_access(&second)?;
    ///     first.disable_peer_access(&second)?;       // it is disabled already
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`enable_peer_access`](Context::enable_peer_access).
    pub fn disable_peer_access(&self, peer: &Context) -> Result<()> {
        self.expect_peer(peer)?;
        // SAFETY: both contexts are retained.
        match unsafe { driver_call!(self, cuCtxDisablePeerAccess(peer.as_raw())) } {
            Err(error) if error.code() == Some(CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED) => Ok(()),
            result => result,
        }
    }

    fn expect_peer(&self, peer: &Context) -> Result<()> {
        let device = self.device().ordinal();
        if peer.device().driver() != self.device().driver() {
            return Err(Error::invalid(format!("device {device} has no peers behind another driver")));
        }
        if peer == self {
            return Err(Error::invalid(format!("device {device} is no peer of itself; it uses its own memory anyway")));
        }
        Ok(())
    }
}

impl Device {
    /// Returns true if kernels on this device can access the memory of `peer` directly.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// assert!(!device.can_access_peer(&device)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn can_access_peer(&self, peer: &Device) -> Result<bool> {
        if self == peer || self.driver() != peer.driver() {
            return Ok(false);
        }
        let (own, other, mut can) = (self.as_raw()?, peer.as_raw()?, 0);
        // SAFETY: both devices exist, and `can` lives through the call.
        unsafe { driver_call!(self.driver(), cuDeviceCanAccessPeer(&mut can, own, other)) }?;
        Ok(can != 0)
    }
}
