//! [`DeviceLimits`]: the properties of a device that launches and allocations depend on, queried once.

use cuda_sys::CUdevice_attribute as Attribute;

use crate::device::Device;
use crate::error::Result;

/// The limits that launches are checked against, and the capabilities that memory depends on.
///
/// Queried once and cached, so that checking a launch makes no call.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
/// let limits = device.limits()?;
/// assert_eq!(limits.warp_size, 32);
/// assert!(limits.max_threads_per_block >= 512);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceLimits {
    /// Threads in a block.
    pub max_threads_per_block: u32,
    /// Threads of a block along x, y and z.
    pub max_block: [u32; 3],
    /// Blocks of a grid along x, y and z.
    pub max_grid: [u32; 3],
    /// Bytes of shared memory that any block can have.
    pub shared_per_block: usize,
    /// Bytes of shared memory that a block can have after its function opted in.
    pub shared_per_block_optin: usize,
    /// Threads in a warp.
    pub warp_size: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// True if the device supports cooperative launches, whose grid can synchronise.
    pub cooperative_launch: bool,
    /// True if blocks can be launched in clusters: from compute capability 9.0 on.
    pub cluster_launch: bool,
    /// True if the device has stream-ordered memory pools.
    pub memory_pools: bool,
    /// True if the device can use host memory in place.
    pub can_map_host: bool,
}

impl DeviceLimits {
    /// The minimum limits of all devices of compute capability 3.0 and newer: for launches that have to run anywhere.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::{DeviceLimits, LaunchConfig};
    ///
    /// assert!(LaunchConfig::new(4, (32, 32)).check_within(&DeviceLimits::EVERYWHERE).is_ok());
    /// assert!(LaunchConfig::new(4, (32, 33)).check_within(&DeviceLimits::EVERYWHERE).is_err());
    /// ```
    pub const EVERYWHERE: DeviceLimits = DeviceLimits {
        max_threads_per_block: 1024,
        max_block: [1024, 1024, 64],
        max_grid: [0x7fff_ffff, 65535, 65535],
        shared_per_block: 48 << 10,
        shared_per_block_optin: 48 << 10,
        warp_size: 32,
        multiprocessors: 1,
        cooperative_launch: false,
        cluster_launch: false,
        memory_pools: false,
        can_map_host: false,
    };

    pub(crate) fn query(device: &Device) -> Result<Self> {
        // A driver older than an attribute refuses the query; the device then does not have the feature.
        let optional = |attribute| device.attribute(attribute).map_or(0, i32::unsigned_abs);
        let required = |attribute| device.attribute(attribute).map(i32::unsigned_abs);
        let shared = required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
        let optin = optional(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        Ok(DeviceLimits {
            max_threads_per_block: required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_block: [
                required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_grid: [
                required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                required(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_per_block: shared as usize,
            shared_per_block_optin: optin.max(shared) as usize,
            warp_size: required(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            multiprocessors: required(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            cooperative_launch: optional(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0,
            cluster_launch: optional(Attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0,
            memory_pools: optional(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0,
            can_map_host: optional(Attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) != 0,
        })
    }
}
