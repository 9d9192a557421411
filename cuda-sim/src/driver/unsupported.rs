//! Functions that the software device does not support: they can be looked up, are exported, and return an error when
//! called.
//!
//! A driver of a CUDA version has every function of that version, and returns `CUDA_ERROR_NOT_SUPPORTED` if the device
//! cannot do what is asked. Clients rely on that: a program linked with `-lcuda` does not start if a symbol that it
//! references is missing, even if it never calls it; cudarc panics; cuda.bindings raises an error without a code. The
//! device's attributes deny all of these capabilities.
//!
//! Invariant: these and the other files' functions are the whole table, each name once. A test checks that.

use super::guarded;
use super::state::initialised;
use core::ffi::*;
use cuda_sys::*;

/// Defines the C function of a name, with its signature in the table.
macro_rules! refuse {
    ($name:ident($($arg:ident: $ty:ty),*)) => {
        #[cfg_attr(feature = "exports", unsafe(no_mangle))]
        unsafe extern "C" fn $name($(_: $ty),*) -> CUresult {
            guarded(stringify!($name), || {
                initialised()?;
                tracing::error!("{}: this function is not supported by the software device", stringify!($name));
                Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
            })
        }
    };
}

macro_rules! refused {
    ($($name:ident)+) => {
        /// The names of these functions.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),+];

        $(cuda_sys::driver_function!($name => refuse);)+

        /// Adds the functions to the table.
        pub(super) fn fill(fns: &mut DriverFns) {
            $(fns.$name = Some($name);)+
        }
    };
}

refused! {
    // Arrays, textures, surfaces, tensor maps, and graphics interoperability.
    cuModuleGetTexRef
    cuModuleGetSurfRef
    cuMemcpyDtoA_v2_ptds
    cuMemcpyAtoD_v2_ptds
    cuMemcpyHtoA_v2_ptds
    cuMemcpyAtoH_v2_ptds
    cuMemcpyAtoA_v2_ptds
    cuMemcpyHtoAAsync_v2_ptsz
    cuMemcpyAtoHAsync_v2_ptsz
    cuArrayCreate_v2
    cuArrayGetDescriptor_v2
    cuArrayGetSparseProperties
    cuMipmappedArrayGetSparseProperties
    cuArrayGetMemoryRequirements
    cuMipmappedArrayGetMemoryRequirements
    cuArrayGetPlane
    cuArrayDestroy
    cuArray3DCreate_v2
    cuArray3DGetDescriptor_v2
    cuMipmappedArrayCreate
    cuMipmappedArrayGetLevel
    cuMipmappedArrayDestroy
    cuMemMapArrayAsync_ptsz
    cuExternalMemoryGetMappedMipmappedArray
    cuParamSetTexRef
    cuTexRefSetArray
    cuTexRefSetMipmappedArray
    cuTexRefSetAddress_v2
    cuTexRefSetAddress2D_v3
    cuTexRefSetFormat
    cuTexRefSetAddressMode
    cuTexRefSetFilterMode
    cuTexRefSetMipmapFilterMode
    cuTexRefSetMipmapLevelBias
    cuTexRefSetMipmapLevelClamp
    cuTexRefSetMaxAnisotropy
    cuTexRefSetBorderColor
    cuTexRefSetFlags
    cuTexRefGetAddress_v2
    cuTexRefGetArray
    cuTexRefGetMipmappedArray
    cuTexRefGetAddressMode
    cuTexRefGetFilterMode
    cuTexRefGetFormat
    cuTexRefGetMipmapFilterMode
    cuTexRefGetMipmapLevelBias
    cuTexRefGetMipmapLevelClamp
    cuTexRefGetMaxAnisotropy
    cuTexRefGetBorderColor
    cuTexRefGetFlags
    cuTexRefCreate
    cuTexRefDestroy
    cuSurfRefSetArray
    cuSurfRefGetArray
    cuTexObjectCreate
    cuTexObjectDestroy
    cuTexObjectGetResourceDesc
    cuTexObjectGetTextureDesc
    cuTexObjectGetResourceViewDesc
    cuSurfObjectCreate
    cuSurfObjectDestroy
    cuSurfObjectGetResourceDesc
    cuTensorMapEncodeTiled
    cuTensorMapEncodeIm2col
    cuTensorMapEncodeIm2colWide
    cuTensorMapReplaceAddress
    cuGraphicsUnregisterResource
    cuGraphicsSubResourceGetMappedArray
    cuGraphicsResourceGetMappedMipmappedArray
    cuGraphicsResourceGetMappedPointer_v2
    cuGraphicsResourceSetMapFlags_v2
    cuGraphicsMapResources_ptsz
    cuGraphicsUnmapResources_ptsz
    cuGraphicsResourceSetMapFlags
    cuTexRefSetAddress2D_v2
    cuMemcpyDtoA
    cuMemcpyAtoD
    cuMemcpyHtoA
    cuMemcpyAtoH
    cuMemcpyAtoA
    cuMemcpyHtoAAsync
    cuMemcpyAtoHAsync
    cuArrayCreate
    cuArrayGetDescriptor
    cuArray3DCreate
    cuArray3DGetDescriptor
    cuTexRefSetAddress
    cuTexRefSetAddress2D
    cuTexRefGetAddress
    cuGraphicsResourceGetMappedPointer
    cuMemcpyDtoA_v2
    cuMemcpyAtoD_v2
    cuMemcpyHtoA_v2
    cuMemcpyAtoH_v2
    cuMemcpyAtoA_v2
    cuMemcpyHtoAAsync_v2
    cuMemcpyAtoHAsync_v2
    cuGraphicsMapResources
    cuGraphicsUnmapResources
    cuMemMapArrayAsync
    // Checkpoints, logs and callbacks of the driver.
    cuDeviceGetNvSciSyncAttributes
    cuDeviceRegisterAsyncNotification
    cuDeviceUnregisterAsyncNotification
    cuLogsRegisterCallback
    cuLogsUnregisterCallback
    cuLogsCurrent
    cuLogsDumpToFile
    cuLogsDumpToMemory
    cuCheckpointProcessGetRestoreThreadId
    cuCheckpointProcessGetState
    cuCheckpointProcessLock
    cuCheckpointProcessCheckpoint
    cuCheckpointProcessRestore
    cuCheckpointProcessUnlock
    // Multicast objects: memory of several devices under one address.
    cuMulticastCreate
    cuMulticastAddDevice
    cuMulticastBindMem
    cuMulticastBindAddr
    cuMulticastUnbind
    cuMulticastGetGranularity
    // External semaphores and memory of other APIs.
    cuImportExternalSemaphore
    cuSignalExternalSemaphoresAsync_ptsz
    cuWaitExternalSemaphoresAsync_ptsz
    cuDestroyExternalSemaphore
    cuSignalExternalSemaphoresAsync
    cuWaitExternalSemaphoresAsync
    // Graph nodes with operations that are unsupported outside of graphs.
    cuGraphExternalSemaphoresSignalNodeGetParams
    cuGraphExternalSemaphoresSignalNodeSetParams
    cuGraphExternalSemaphoresWaitNodeGetParams
    cuGraphExternalSemaphoresWaitNodeSetParams
    cuGraphBatchMemOpNodeGetParams
    cuGraphBatchMemOpNodeSetParams
    cuGraphExecBatchMemOpNodeSetParams
    cuGraphExecExternalSemaphoresSignalNodeSetParams
    cuGraphExecExternalSemaphoresWaitNodeSetParams
    // Deprecated launches, and launches on several devices at once.
    cuLaunchCooperativeKernelMultiDevice
    cuFuncSetBlockShape
    cuFuncSetSharedSize
    cuParamSetSize
    cuParamSeti
    cuParamSetf
    cuParamSetv
    cuLaunch
    cuLaunchGrid
    cuLaunchGridAsync
    // Green contexts: contexts with a part of a device.
    cuCtxRecordEvent
    cuCtxWaitEvent
    cuGreenCtxCreate
    cuGreenCtxDestroy
    cuCtxFromGreenCtx
    cuDeviceGetDevResource
    cuCtxGetDevResource
    cuGreenCtxGetDevResource
    cuDevSmResourceSplitByCount
    cuDevResourceGenerateDesc
    cuGreenCtxRecordEvent
    cuGreenCtxWaitEvent
    cuStreamGetGreenCtx
    cuGreenCtxStreamCreate
    cuGreenCtxGetId
    // Variants with 32-bit device addresses.
    cuDeviceTotalMem
    cuModuleGetGlobal
    cuMemGetInfo
    cuMemAlloc
    cuMemAllocPitch
    cuMemFree
    cuMemGetAddressRange
    cuMemAllocHost
    cuMemHostGetDevicePointer
    cuMemcpyHtoD
    cuMemcpyDtoH
    cuMemcpyDtoD
    cuMemcpy2D
    cuMemcpy2DUnaligned
    cuMemcpy3D
    cuMemcpyHtoDAsync
    cuMemcpyDtoHAsync
    cuMemcpyDtoDAsync
    cuMemcpy2DAsync
    cuMemcpy3DAsync
    cuMemsetD8
    cuMemsetD16
    cuMemsetD32
    cuMemsetD2D8
    cuMemsetD2D16
    cuMemsetD2D32
    // Others.
    cuDeviceGetHostAtomicCapabilities
    cuMemcpyBatchAsync_v2_ptsz
    cuMemcpy3DBatchAsync_v2_ptsz
    cuMemGetHandleForAddressRange
    cuMemBatchDecompressAsync_ptsz
    cuMemPrefetchBatchAsync_ptsz
    cuMemDiscardBatchAsync_ptsz
    cuMemDiscardAndPrefetchBatchAsync_ptsz
    cuDeviceGetP2PAtomicCapabilities
    cuMemcpyBatchAsync
    cuMemcpy3DBatchAsync
    cuMemcpyBatchAsync_ptsz
    cuMemcpy3DBatchAsync_ptsz
    cuMemcpyBatchAsync_v2
    cuMemcpy3DBatchAsync_v2
    cuMemPrefetchBatchAsync
    cuMemDiscardBatchAsync
    cuMemDiscardAndPrefetchBatchAsync
    cuMemBatchDecompressAsync
}
