//! Types and constants of the CUDA driver API: the contents of `cuda.h` and `cudaProfiler.h`.
//!
//! bindgen's output is in `generated/`. The constants below are macros with casts in C, which bindgen does not translate.
//! There is no logic here: loading and resolving are in [`crate::DriverApi`].

#[expect(missing_docs, reason = "the CUDA driver API manual documents them")]
#[allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::allow_attributes,
    reason = "the names are those of the C headers, of which not every version has every kind"
)]
mod types {
    include!(concat!(env!("CUDA_SYS_GENERATED"), "/driver/types.rs"));
}

pub use types::*;

/// The default stream that synchronises with the other blocking streams of its context.
///
/// # Examples
///
/// ```
/// use cuda_sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
///
/// assert_eq!((CU_STREAM_LEGACY.addr(), CU_STREAM_PER_THREAD.addr()), (1, 2));
/// ```
pub const CU_STREAM_LEGACY: CUstream = core::ptr::without_provenance_mut(1);
/// The default stream of the calling thread.
pub const CU_STREAM_PER_THREAD: CUstream = core::ptr::without_provenance_mut(2);
/// The device ordinal that stands for the host in memory locations and hints.
///
/// # Examples
///
/// ```
/// use cuda_sys::{CU_DEVICE_CPU, CU_DEVICE_INVALID, CUmemLocation, CUmemLocationType};
///
/// let place = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, id: CU_DEVICE_CPU };
/// assert_ne!(place.id, CU_DEVICE_INVALID);
/// ```
pub const CU_DEVICE_CPU: CUdevice = -1;
/// The device ordinal that denotes no device.
pub const CU_DEVICE_INVALID: CUdevice = -2;
/// Ends the `extra` array of `cuLaunchKernel`.
///
/// # Examples
///
/// ```
/// use cuda_sys::{CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END};
///
/// let (mut packed, mut bytes) = ([0_u8; 12], 12_usize);
/// let extra = [
///     CU_LAUNCH_PARAM_BUFFER_POINTER,
///     packed.as_mut_ptr().cast(),
///     CU_LAUNCH_PARAM_BUFFER_SIZE,
///     (&raw mut bytes).cast(),
///     CU_LAUNCH_PARAM_END,
/// ];
/// assert!(extra[4].is_null() && extra[..4].iter().all(|entry| !entry.is_null()));
/// ```
pub const CU_LAUNCH_PARAM_END: *mut core::ffi::c_void = core::ptr::null_mut();
/// In the `extra` array of `cuLaunchKernel`: the next element points to the packed parameters.
pub const CU_LAUNCH_PARAM_BUFFER_POINTER: *mut core::ffi::c_void = core::ptr::without_provenance_mut(1);
/// In the `extra` array of `cuLaunchKernel`: the next element points to the size of the packed parameters.
pub const CU_LAUNCH_PARAM_BUFFER_SIZE: *mut core::ffi::c_void = core::ptr::without_provenance_mut(2);
