// the runtime API of CUDA 12: types and constants.
// Written by `cargo xtask gen-bindings` from cuda_runtime_api.h; do not edit.

use crate::driver::*;
use core::ffi::*;

handles! {
    cudaArray_t = cudaArray,
    cudaMipmappedArray_t = cudaMipmappedArray,
    cudaGraphicsResource_t = cudaGraphicsResource,
    cudaExternalMemory_t = CUexternalMemory_st,
    cudaExternalSemaphore_t = CUexternalSemaphore_st,
    cudaAsyncCallbackHandle_t = cudaAsyncCallbackEntry,
}

pub const CUDART_VERSION: u32 = 12090;
pub const cudaHostAllocDefault: u32 = 0;
pub const cudaHostAllocPortable: u32 = 1;
pub const cudaHostAllocMapped: u32 = 2;
pub const cudaHostAllocWriteCombined: u32 = 4;
pub const cudaHostRegisterDefault: u32 = 0;
pub const cudaHostRegisterPortable: u32 = 1;
pub const cudaHostRegisterMapped: u32 = 2;
pub const cudaHostRegisterIoMemory: u32 = 4;
pub const cudaHostRegisterReadOnly: u32 = 8;
pub const cudaPeerAccessDefault: u32 = 0;
pub const cudaStreamDefault: u32 = 0;
pub const cudaStreamNonBlocking: u32 = 1;
pub const cudaEventDefault: u32 = 0;
pub const cudaEventBlockingSync: u32 = 1;
pub const cudaEventDisableTiming: u32 = 2;
pub const cudaEventInterprocess: u32 = 4;
pub const cudaEventRecordDefault: u32 = 0;
pub const cudaEventRecordExternal: u32 = 1;
pub const cudaEventWaitDefault: u32 = 0;
pub const cudaEventWaitExternal: u32 = 1;
pub const cudaDeviceScheduleAuto: u32 = 0;
pub const cudaDeviceScheduleSpin: u32 = 1;
pub const cudaDeviceScheduleYield: u32 = 2;
pub const cudaDeviceScheduleBlockingSync: u32 = 4;
pub const cudaDeviceBlockingSync: u32 = 4;
pub const cudaDeviceScheduleMask: u32 = 7;
pub const cudaDeviceMapHost: u32 = 8;
pub const cudaDeviceLmemResizeToMax: u32 = 16;
pub const cudaDeviceSyncMemops: u32 = 128;
pub const cudaDeviceMask: u32 = 255;
pub const cudaArrayDefault: u32 = 0;
pub const cudaArrayLayered: u32 = 1;
pub const cudaArraySurfaceLoadStore: u32 = 2;
pub const cudaArrayCubemap: u32 = 4;
pub const cudaArrayTextureGather: u32 = 8;
pub const cudaArrayColorAttachment: u32 = 32;
pub const cudaArraySparse: u32 = 64;
pub const cudaArrayDeferredMapping: u32 = 128;
pub const cudaIpcMemLazyEnablePeerAccess: u32 = 1;
pub const cudaMemAttachGlobal: u32 = 1;
pub const cudaMemAttachHost: u32 = 2;
pub const cudaMemAttachSingle: u32 = 4;
pub const cudaOccupancyDefault: u32 = 0;
pub const cudaOccupancyDisableCachingOverride: u32 = 1;
pub const cudaInitDeviceFlagsAreValid: u32 = 1;
pub const cudaCooperativeLaunchMultiDeviceNoPreSync: u32 = 1;
pub const cudaCooperativeLaunchMultiDeviceNoPostSync: u32 = 2;
pub const cudaArraySparsePropertiesSingleMipTail: u32 = 1;
pub const cudaMemPoolCreateUsageHwDecompress: u32 = 2;
pub const CUDA_IPC_HANDLE_SIZE: u32 = 64;
pub const cudaExternalMemoryDedicated: u32 = 1;
pub const cudaExternalSemaphoreSignalSkipNvSciBufMemSync: u32 = 1;
pub const cudaExternalSemaphoreWaitSkipNvSciBufMemSync: u32 = 2;
pub const cudaNvSciSyncAttrSignal: u32 = 1;
pub const cudaNvSciSyncAttrWait: u32 = 2;
pub const cudaGraphKernelNodePortDefault: u32 = 0;
pub const cudaGraphKernelNodePortProgrammatic: u32 = 1;
pub const cudaGraphKernelNodePortLaunchCompletion: u32 = 2;
pub const cudaSurfaceType1D: u32 = 1;
pub const cudaSurfaceType2D: u32 = 2;
pub const cudaSurfaceType3D: u32 = 3;
pub const cudaSurfaceTypeCubemap: u32 = 12;
pub const cudaSurfaceType1DLayered: u32 = 241;
pub const cudaSurfaceType2DLayered: u32 = 242;
pub const cudaSurfaceTypeCubemapLayered: u32 = 252;
pub const cudaTextureType1D: u32 = 1;
pub const cudaTextureType2D: u32 = 2;
pub const cudaTextureType3D: u32 = 3;
pub const cudaTextureTypeCubemap: u32 = 12;
pub const cudaTextureType1DLayered: u32 = 241;
pub const cudaTextureType2DLayered: u32 = 242;
pub const cudaTextureTypeCubemapLayered: u32 = 252;

c_enum! {
    cudaRoundMode: c_uint {
        cudaRoundNearest = 0,
        cudaRoundZero = 1,
        cudaRoundPosInf = 2,
        cudaRoundMinInf = 3,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct dim3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

layout! { dim3: size 12, align 4, { x: 0, y: 4, z: 8, } }

c_enum! {
    cudaError: c_uint {
        cudaSuccess = 0,
        cudaErrorInvalidValue = 1,
        cudaErrorMemoryAllocation = 2,
        cudaErrorInitializationError = 3,
        cudaErrorCudartUnloading = 4,
        cudaErrorProfilerDisabled = 5,
        cudaErrorProfilerNotInitialized = 6,
        cudaErrorProfilerAlreadyStarted = 7,
        cudaErrorProfilerAlreadyStopped = 8,
        cudaErrorInvalidConfiguration = 9,
        cudaErrorInvalidPitchValue = 12,
        cudaErrorInvalidSymbol = 13,
        cudaErrorInvalidHostPointer = 16,
        cudaErrorInvalidDevicePointer = 17,
        cudaErrorInvalidTexture = 18,
        cudaErrorInvalidTextureBinding = 19,
        cudaErrorInvalidChannelDescriptor = 20,
        cudaErrorInvalidMemcpyDirection = 21,
        cudaErrorAddressOfConstant = 22,
        cudaErrorTextureFetchFailed = 23,
        cudaErrorTextureNotBound = 24,
        cudaErrorSynchronizationError = 25,
        cudaErrorInvalidFilterSetting = 26,
        cudaErrorInvalidNormSetting = 27,
        cudaErrorMixedDeviceExecution = 28,
        cudaErrorNotYetImplemented = 31,
        cudaErrorMemoryValueTooLarge = 32,
        cudaErrorStubLibrary = 34,
        cudaErrorInsufficientDriver = 35,
        cudaErrorCallRequiresNewerDriver = 36,
        cudaErrorInvalidSurface = 37,
        cudaErrorDuplicateVariableName = 43,
        cudaErrorDuplicateTextureName = 44,
        cudaErrorDuplicateSurfaceName = 45,
        cudaErrorDevicesUnavailable = 46,
        cudaErrorIncompatibleDriverContext = 49,
        cudaErrorMissingConfiguration = 52,
        cudaErrorPriorLaunchFailure = 53,
        cudaErrorLaunchMaxDepthExceeded = 65,
        cudaErrorLaunchFileScopedTex = 66,
        cudaErrorLaunchFileScopedSurf = 67,
        cudaErrorSyncDepthExceeded = 68,
        cudaErrorLaunchPendingCountExceeded = 69,
        cudaErrorInvalidDeviceFunction = 98,
        cudaErrorNoDevice = 100,
        cudaErrorInvalidDevice = 101,
        cudaErrorDeviceNotLicensed = 102,
        cudaErrorSoftwareValidityNotEstablished = 103,
        cudaErrorStartupFailure = 127,
        cudaErrorInvalidKernelImage = 200,
        cudaErrorDeviceUninitialized = 201,
        cudaErrorMapBufferObjectFailed = 205,
        cudaErrorUnmapBufferObjectFailed = 206,
        cudaErrorArrayIsMapped = 207,
        cudaErrorAlreadyMapped = 208,
        cudaErrorNoKernelImageForDevice = 209,
        cudaErrorAlreadyAcquired = 210,
        cudaErrorNotMapped = 211,
        cudaErrorNotMappedAsArray = 212,
        cudaErrorNotMappedAsPointer = 213,
        cudaErrorECCUncorrectable = 214,
        cudaErrorUnsupportedLimit = 215,
        cudaErrorDeviceAlreadyInUse = 216,
        cudaErrorPeerAccessUnsupported = 217,
        cudaErrorInvalidPtx = 218,
        cudaErrorInvalidGraphicsContext = 219,
        cudaErrorNvlinkUncorrectable = 220,
        cudaErrorJitCompilerNotFound = 221,
        cudaErrorUnsupportedPtxVersion = 222,
        cudaErrorJitCompilationDisabled = 223,
        cudaErrorUnsupportedExecAffinity = 224,
        cudaErrorUnsupportedDevSideSync = 225,
        cudaErrorContained = 226,
        cudaErrorInvalidSource = 300,
        cudaErrorFileNotFound = 301,
        cudaErrorSharedObjectSymbolNotFound = 302,
        cudaErrorSharedObjectInitFailed = 303,
        cudaErrorOperatingSystem = 304,
        cudaErrorInvalidResourceHandle = 400,
        cudaErrorIllegalState = 401,
        cudaErrorLossyQuery = 402,
        cudaErrorSymbolNotFound = 500,
        cudaErrorNotReady = 600,
        cudaErrorIllegalAddress = 700,
        cudaErrorLaunchOutOfResources = 701,
        cudaErrorLaunchTimeout = 702,
        cudaErrorLaunchIncompatibleTexturing = 703,
        cudaErrorPeerAccessAlreadyEnabled = 704,
        cudaErrorPeerAccessNotEnabled = 705,
        cudaErrorSetOnActiveProcess = 708,
        cudaErrorContextIsDestroyed = 709,
        cudaErrorAssert = 710,
        cudaErrorTooManyPeers = 711,
        cudaErrorHostMemoryAlreadyRegistered = 712,
        cudaErrorHostMemoryNotRegistered = 713,
        cudaErrorHardwareStackError = 714,
        cudaErrorIllegalInstruction = 715,
        cudaErrorMisalignedAddress = 716,
        cudaErrorInvalidAddressSpace = 717,
        cudaErrorInvalidPc = 718,
        cudaErrorLaunchFailure = 719,
        cudaErrorCooperativeLaunchTooLarge = 720,
        cudaErrorTensorMemoryLeak = 721,
        cudaErrorNotPermitted = 800,
        cudaErrorNotSupported = 801,
        cudaErrorSystemNotReady = 802,
        cudaErrorSystemDriverMismatch = 803,
        cudaErrorCompatNotSupportedOnDevice = 804,
        cudaErrorMpsConnectionFailed = 805,
        cudaErrorMpsRpcFailure = 806,
        cudaErrorMpsServerNotReady = 807,
        cudaErrorMpsMaxClientsReached = 808,
        cudaErrorMpsMaxConnectionsReached = 809,
        cudaErrorMpsClientTerminated = 810,
        cudaErrorCdpNotSupported = 811,
        cudaErrorCdpVersionMismatch = 812,
        cudaErrorStreamCaptureUnsupported = 900,
        cudaErrorStreamCaptureInvalidated = 901,
        cudaErrorStreamCaptureMerge = 902,
        cudaErrorStreamCaptureUnmatched = 903,
        cudaErrorStreamCaptureUnjoined = 904,
        cudaErrorStreamCaptureIsolation = 905,
        cudaErrorStreamCaptureImplicit = 906,
        cudaErrorCapturedEvent = 907,
        cudaErrorStreamCaptureWrongThread = 908,
        cudaErrorTimeout = 909,
        cudaErrorGraphExecUpdateFailure = 910,
        cudaErrorExternalDevice = 911,
        cudaErrorInvalidClusterSize = 912,
        cudaErrorFunctionNotLoaded = 913,
        cudaErrorInvalidResourceType = 914,
        cudaErrorInvalidResourceConfiguration = 915,
        cudaErrorUnknown = 999,
        cudaErrorApiFailureBase = 10000,
    }
}

c_enum! {
    cudaChannelFormatKind: c_uint {
        cudaChannelFormatKindSigned = 0,
        cudaChannelFormatKindUnsigned = 1,
        cudaChannelFormatKindFloat = 2,
        cudaChannelFormatKindNone = 3,
        cudaChannelFormatKindNV12 = 4,
        cudaChannelFormatKindUnsignedNormalized8X1 = 5,
        cudaChannelFormatKindUnsignedNormalized8X2 = 6,
        cudaChannelFormatKindUnsignedNormalized8X4 = 7,
        cudaChannelFormatKindUnsignedNormalized16X1 = 8,
        cudaChannelFormatKindUnsignedNormalized16X2 = 9,
        cudaChannelFormatKindUnsignedNormalized16X4 = 10,
        cudaChannelFormatKindSignedNormalized8X1 = 11,
        cudaChannelFormatKindSignedNormalized8X2 = 12,
        cudaChannelFormatKindSignedNormalized8X4 = 13,
        cudaChannelFormatKindSignedNormalized16X1 = 14,
        cudaChannelFormatKindSignedNormalized16X2 = 15,
        cudaChannelFormatKindSignedNormalized16X4 = 16,
        cudaChannelFormatKindUnsignedBlockCompressed1 = 17,
        cudaChannelFormatKindUnsignedBlockCompressed1SRGB = 18,
        cudaChannelFormatKindUnsignedBlockCompressed2 = 19,
        cudaChannelFormatKindUnsignedBlockCompressed2SRGB = 20,
        cudaChannelFormatKindUnsignedBlockCompressed3 = 21,
        cudaChannelFormatKindUnsignedBlockCompressed3SRGB = 22,
        cudaChannelFormatKindUnsignedBlockCompressed4 = 23,
        cudaChannelFormatKindSignedBlockCompressed4 = 24,
        cudaChannelFormatKindUnsignedBlockCompressed5 = 25,
        cudaChannelFormatKindSignedBlockCompressed5 = 26,
        cudaChannelFormatKindUnsignedBlockCompressed6H = 27,
        cudaChannelFormatKindSignedBlockCompressed6H = 28,
        cudaChannelFormatKindUnsignedBlockCompressed7 = 29,
        cudaChannelFormatKindUnsignedBlockCompressed7SRGB = 30,
        cudaChannelFormatKindUnsignedNormalized1010102 = 31,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaChannelFormatDesc {
    pub x: c_int,
    pub y: c_int,
    pub z: c_int,
    pub w: c_int,
    pub f: cudaChannelFormatKind,
}

layout! { cudaChannelFormatDesc: size 20, align 4, { x: 0, y: 4, z: 8, w: 12, f: 16, } }

pub type cudaArray_const_t = *const cudaArray;
pub type cudaMipmappedArray_const_t = *const cudaMipmappedArray;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaArraySparseProperties {
    pub tileExtent: cudaArraySparseProperties_tileExtent,
    pub miptailFirstLevel: c_uint,
    pub miptailSize: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 4],
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaArraySparseProperties_tileExtent {
    pub width: c_uint,
    pub height: c_uint,
    pub depth: c_uint,
}

layout! { cudaArraySparseProperties_tileExtent: size 12, align 4, { width: 0, height: 4, depth: 8, } }

layout! { cudaArraySparseProperties: size 48, align 8, { tileExtent: 0, miptailFirstLevel: 12, miptailSize: 16, flags: 24, reserved: 28, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaArrayMemoryRequirements {
    pub size: usize,
    pub alignment: usize,
    pub reserved: [c_uint; 4],
}

layout! { cudaArrayMemoryRequirements: size 32, align 8, { size: 0, alignment: 8, reserved: 16, } }

c_enum! {
    cudaMemoryType: c_uint {
        cudaMemoryTypeUnregistered = 0,
        cudaMemoryTypeHost = 1,
        cudaMemoryTypeDevice = 2,
        cudaMemoryTypeManaged = 3,
    }
}

c_enum! {
    cudaMemcpyKind: c_uint {
        cudaMemcpyHostToHost = 0,
        cudaMemcpyHostToDevice = 1,
        cudaMemcpyDeviceToHost = 2,
        cudaMemcpyDeviceToDevice = 3,
        cudaMemcpyDefault = 4,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaPitchedPtr {
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}

layout! { cudaPitchedPtr: size 32, align 8, { ptr: 0, pitch: 8, xsize: 16, ysize: 24, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExtent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

layout! { cudaExtent: size 24, align 8, { width: 0, height: 8, depth: 16, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaPos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

layout! { cudaPos: size 24, align 8, { x: 0, y: 8, z: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemcpy3DParms {
    pub srcArray: cudaArray_t,
    pub srcPos: cudaPos,
    pub srcPtr: cudaPitchedPtr,
    pub dstArray: cudaArray_t,
    pub dstPos: cudaPos,
    pub dstPtr: cudaPitchedPtr,
    pub extent: cudaExtent,
    pub kind: cudaMemcpyKind,
}

layout! { cudaMemcpy3DParms: size 160, align 8, { srcArray: 0, srcPos: 8, srcPtr: 32, dstArray: 64, dstPos: 72, dstPtr: 96, extent: 128, kind: 152, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemcpyNodeParams {
    pub flags: c_int,
    pub reserved: [c_int; 3],
    pub copyParams: cudaMemcpy3DParms,
}

layout! { cudaMemcpyNodeParams: size 176, align 8, { flags: 0, reserved: 4, copyParams: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemcpy3DPeerParms {
    pub srcArray: cudaArray_t,
    pub srcPos: cudaPos,
    pub srcPtr: cudaPitchedPtr,
    pub srcDevice: c_int,
    pub dstArray: cudaArray_t,
    pub dstPos: cudaPos,
    pub dstPtr: cudaPitchedPtr,
    pub dstDevice: c_int,
    pub extent: cudaExtent,
}

layout! { cudaMemcpy3DPeerParms: size 168, align 8, { srcArray: 0, srcPos: 8, srcPtr: 32, srcDevice: 64, dstArray: 72, dstPos: 80, dstPtr: 104, dstDevice: 136, extent: 144, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemsetParams {
    pub dst: *mut c_void,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
}

layout! { cudaMemsetParams: size 40, align 8, { dst: 0, pitch: 8, value: 16, elementSize: 20, width: 24, height: 32, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemsetParamsV2 {
    pub dst: *mut c_void,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
}

layout! { cudaMemsetParamsV2: size 40, align 8, { dst: 0, pitch: 8, value: 16, elementSize: 20, width: 24, height: 32, } }

c_enum! {
    cudaAccessProperty: c_uint {
        cudaAccessPropertyNormal = 0,
        cudaAccessPropertyStreaming = 1,
        cudaAccessPropertyPersisting = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq)]
pub struct cudaAccessPolicyWindow {
    pub base_ptr: *mut c_void,
    pub num_bytes: usize,
    pub hitRatio: f32,
    pub hitProp: cudaAccessProperty,
    pub missProp: cudaAccessProperty,
}

layout! { cudaAccessPolicyWindow: size 32, align 8, { base_ptr: 0, num_bytes: 8, hitRatio: 16, hitProp: 20, missProp: 24, } }

pub type cudaHostFn_t = Option<unsafe extern "C" fn(userData: *mut c_void)>;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cudaHostNodeParams {
    pub fn_: cudaHostFn_t,
    pub userData: *mut c_void,
}

layout! { cudaHostNodeParams: size 16, align 8, { fn_: 0, userData: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cudaHostNodeParamsV2 {
    pub fn_: cudaHostFn_t,
    pub userData: *mut c_void,
}

layout! { cudaHostNodeParamsV2: size 16, align 8, { fn_: 0, userData: 8, } }

c_enum! {
    cudaStreamCaptureStatus: c_uint {
        cudaStreamCaptureStatusNone = 0,
        cudaStreamCaptureStatusActive = 1,
        cudaStreamCaptureStatusInvalidated = 2,
    }
}

c_enum! {
    cudaStreamCaptureMode: c_uint {
        cudaStreamCaptureModeGlobal = 0,
        cudaStreamCaptureModeThreadLocal = 1,
        cudaStreamCaptureModeRelaxed = 2,
    }
}

c_enum! {
    cudaSynchronizationPolicy: c_uint {
        cudaSyncPolicyAuto = 1,
        cudaSyncPolicySpin = 2,
        cudaSyncPolicyYield = 3,
        cudaSyncPolicyBlockingSync = 4,
    }
}

c_enum! {
    cudaClusterSchedulingPolicy: c_uint {
        cudaClusterSchedulingPolicyDefault = 0,
        cudaClusterSchedulingPolicySpread = 1,
        cudaClusterSchedulingPolicyLoadBalancing = 2,
    }
}

c_enum! {
    cudaStreamUpdateCaptureDependenciesFlags: c_uint {
        cudaStreamAddCaptureDependencies = 0,
        cudaStreamSetCaptureDependencies = 1,
    }
}

c_enum! {
    cudaUserObjectFlags: c_uint {
        cudaUserObjectNoDestructorSync = 1,
    }
}

c_enum! {
    cudaUserObjectRetainFlags: c_uint {
        cudaGraphUserObjectMove = 1,
    }
}

c_enum! {
    cudaGraphicsRegisterFlags: c_uint {
        cudaGraphicsRegisterFlagsNone = 0,
        cudaGraphicsRegisterFlagsReadOnly = 1,
        cudaGraphicsRegisterFlagsWriteDiscard = 2,
        cudaGraphicsRegisterFlagsSurfaceLoadStore = 4,
        cudaGraphicsRegisterFlagsTextureGather = 8,
    }
}

c_enum! {
    cudaGraphicsMapFlags: c_uint {
        cudaGraphicsMapFlagsNone = 0,
        cudaGraphicsMapFlagsReadOnly = 1,
        cudaGraphicsMapFlagsWriteDiscard = 2,
    }
}

c_enum! {
    cudaGraphicsCubeFace: c_uint {
        cudaGraphicsCubeFacePositiveX = 0,
        cudaGraphicsCubeFaceNegativeX = 1,
        cudaGraphicsCubeFacePositiveY = 2,
        cudaGraphicsCubeFaceNegativeY = 3,
        cudaGraphicsCubeFacePositiveZ = 4,
        cudaGraphicsCubeFaceNegativeZ = 5,
    }
}

c_enum! {
    cudaResourceType: c_uint {
        cudaResourceTypeArray = 0,
        cudaResourceTypeMipmappedArray = 1,
        cudaResourceTypeLinear = 2,
        cudaResourceTypePitch2D = 3,
    }
}

c_enum! {
    cudaResourceViewFormat: c_uint {
        cudaResViewFormatNone = 0,
        cudaResViewFormatUnsignedChar1 = 1,
        cudaResViewFormatUnsignedChar2 = 2,
        cudaResViewFormatUnsignedChar4 = 3,
        cudaResViewFormatSignedChar1 = 4,
        cudaResViewFormatSignedChar2 = 5,
        cudaResViewFormatSignedChar4 = 6,
        cudaResViewFormatUnsignedShort1 = 7,
        cudaResViewFormatUnsignedShort2 = 8,
        cudaResViewFormatUnsignedShort4 = 9,
        cudaResViewFormatSignedShort1 = 10,
        cudaResViewFormatSignedShort2 = 11,
        cudaResViewFormatSignedShort4 = 12,
        cudaResViewFormatUnsignedInt1 = 13,
        cudaResViewFormatUnsignedInt2 = 14,
        cudaResViewFormatUnsignedInt4 = 15,
        cudaResViewFormatSignedInt1 = 16,
        cudaResViewFormatSignedInt2 = 17,
        cudaResViewFormatSignedInt4 = 18,
        cudaResViewFormatHalf1 = 19,
        cudaResViewFormatHalf2 = 20,
        cudaResViewFormatHalf4 = 21,
        cudaResViewFormatFloat1 = 22,
        cudaResViewFormatFloat2 = 23,
        cudaResViewFormatFloat4 = 24,
        cudaResViewFormatUnsignedBlockCompressed1 = 25,
        cudaResViewFormatUnsignedBlockCompressed2 = 26,
        cudaResViewFormatUnsignedBlockCompressed3 = 27,
        cudaResViewFormatUnsignedBlockCompressed4 = 28,
        cudaResViewFormatSignedBlockCompressed4 = 29,
        cudaResViewFormatUnsignedBlockCompressed5 = 30,
        cudaResViewFormatSignedBlockCompressed5 = 31,
        cudaResViewFormatUnsignedBlockCompressed6H = 32,
        cudaResViewFormatSignedBlockCompressed6H = 33,
        cudaResViewFormatUnsignedBlockCompressed7 = 34,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaResourceDesc {
    pub resType: cudaResourceType,
    pub res: cudaResourceDesc_res,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaResourceDesc_res {
    pub array: cudaResourceDesc_res_array,
    pub mipmap: cudaResourceDesc_res_mipmap,
    pub linear: cudaResourceDesc_res_linear,
    pub pitch2D: cudaResourceDesc_res_pitch2D,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaResourceDesc_res_array {
    pub array: cudaArray_t,
}

layout! { cudaResourceDesc_res_array: size 8, align 8, { array: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaResourceDesc_res_mipmap {
    pub mipmap: cudaMipmappedArray_t,
}

layout! { cudaResourceDesc_res_mipmap: size 8, align 8, { mipmap: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaResourceDesc_res_linear {
    pub devPtr: *mut c_void,
    pub desc: cudaChannelFormatDesc,
    pub sizeInBytes: usize,
}

layout! { cudaResourceDesc_res_linear: size 40, align 8, { devPtr: 0, desc: 8, sizeInBytes: 32, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaResourceDesc_res_pitch2D {
    pub devPtr: *mut c_void,
    pub desc: cudaChannelFormatDesc,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

layout! { cudaResourceDesc_res_pitch2D: size 56, align 8, { devPtr: 0, desc: 8, width: 32, height: 40, pitchInBytes: 48, } }

layout! { cudaResourceDesc_res: size 56, align 8, { array: 0, mipmap: 0, linear: 0, pitch2D: 0, } }

layout! { cudaResourceDesc: size 64, align 8, { resType: 0, res: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaResourceViewDesc {
    pub format: cudaResourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
}

layout! { cudaResourceViewDesc: size 48, align 8, { format: 0, width: 8, height: 16, depth: 24, firstMipmapLevel: 32, lastMipmapLevel: 36, firstLayer: 40, lastLayer: 44, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaPointerAttributes {
    pub type_: cudaMemoryType,
    pub device: c_int,
    pub devicePointer: *mut c_void,
    pub hostPointer: *mut c_void,
}

layout! { cudaPointerAttributes: size 24, align 8, { type_: 0, device: 4, devicePointer: 8, hostPointer: 16, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaFuncAttributes {
    pub sharedSizeBytes: usize,
    pub constSizeBytes: usize,
    pub localSizeBytes: usize,
    pub maxThreadsPerBlock: c_int,
    pub numRegs: c_int,
    pub ptxVersion: c_int,
    pub binaryVersion: c_int,
    pub cacheModeCA: c_int,
    pub maxDynamicSharedSizeBytes: c_int,
    pub preferredShmemCarveout: c_int,
    pub clusterDimMustBeSet: c_int,
    pub requiredClusterWidth: c_int,
    pub requiredClusterHeight: c_int,
    pub requiredClusterDepth: c_int,
    pub clusterSchedulingPolicyPreference: c_int,
    pub nonPortableClusterSizeAllowed: c_int,
    pub reserved: [c_int; 16],
}

layout! { cudaFuncAttributes: size 144, align 8, { sharedSizeBytes: 0, constSizeBytes: 8, localSizeBytes: 16, maxThreadsPerBlock: 24, numRegs: 28, ptxVersion: 32, binaryVersion: 36, cacheModeCA: 40, maxDynamicSharedSizeBytes: 44, preferredShmemCarveout: 48, clusterDimMustBeSet: 52, requiredClusterWidth: 56, requiredClusterHeight: 60, requiredClusterDepth: 64, clusterSchedulingPolicyPreference: 68, nonPortableClusterSizeAllowed: 72, reserved: 76, } }

c_enum! {
    cudaFuncAttribute: c_uint {
        cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
        cudaFuncAttributePreferredSharedMemoryCarveout = 9,
        cudaFuncAttributeClusterDimMustBeSet = 10,
        cudaFuncAttributeRequiredClusterWidth = 11,
        cudaFuncAttributeRequiredClusterHeight = 12,
        cudaFuncAttributeRequiredClusterDepth = 13,
        cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
        cudaFuncAttributeClusterSchedulingPolicyPreference = 15,
        cudaFuncAttributeMax = 16,
    }
}

c_enum! {
    cudaFuncCache: c_uint {
        cudaFuncCachePreferNone = 0,
        cudaFuncCachePreferShared = 1,
        cudaFuncCachePreferL1 = 2,
        cudaFuncCachePreferEqual = 3,
    }
}

c_enum! {
    cudaSharedMemConfig: c_uint {
        cudaSharedMemBankSizeDefault = 0,
        cudaSharedMemBankSizeFourByte = 1,
        cudaSharedMemBankSizeEightByte = 2,
    }
}

c_enum! {
    cudaSharedCarveout: c_int {
        cudaSharedmemCarveoutDefault = -1,
        cudaSharedmemCarveoutMaxShared = 100,
        cudaSharedmemCarveoutMaxL1 = 0,
    }
}

c_enum! {
    cudaComputeMode: c_uint {
        cudaComputeModeDefault = 0,
        cudaComputeModeExclusive = 1,
        cudaComputeModeProhibited = 2,
        cudaComputeModeExclusiveProcess = 3,
    }
}

c_enum! {
    cudaLimit: c_uint {
        cudaLimitStackSize = 0,
        cudaLimitPrintfFifoSize = 1,
        cudaLimitMallocHeapSize = 2,
        cudaLimitDevRuntimeSyncDepth = 3,
        cudaLimitDevRuntimePendingLaunchCount = 4,
        cudaLimitMaxL2FetchGranularity = 5,
        cudaLimitPersistingL2CacheSize = 6,
    }
}

c_enum! {
    cudaMemoryAdvise: c_uint {
        cudaMemAdviseSetReadMostly = 1,
        cudaMemAdviseUnsetReadMostly = 2,
        cudaMemAdviseSetPreferredLocation = 3,
        cudaMemAdviseUnsetPreferredLocation = 4,
        cudaMemAdviseSetAccessedBy = 5,
        cudaMemAdviseUnsetAccessedBy = 6,
    }
}

c_enum! {
    cudaMemRangeAttribute: c_uint {
        cudaMemRangeAttributeReadMostly = 1,
        cudaMemRangeAttributePreferredLocation = 2,
        cudaMemRangeAttributeAccessedBy = 3,
        cudaMemRangeAttributeLastPrefetchLocation = 4,
        cudaMemRangeAttributePreferredLocationType = 5,
        cudaMemRangeAttributePreferredLocationId = 6,
        cudaMemRangeAttributeLastPrefetchLocationType = 7,
        cudaMemRangeAttributeLastPrefetchLocationId = 8,
    }
}

c_enum! {
    cudaFlushGPUDirectRDMAWritesOptions: c_uint {
        cudaFlushGPUDirectRDMAWritesOptionHost = 1,
        cudaFlushGPUDirectRDMAWritesOptionMemOps = 2,
    }
}

c_enum! {
    cudaGPUDirectRDMAWritesOrdering: c_uint {
        cudaGPUDirectRDMAWritesOrderingNone = 0,
        cudaGPUDirectRDMAWritesOrderingOwner = 100,
        cudaGPUDirectRDMAWritesOrderingAllDevices = 200,
    }
}

c_enum! {
    cudaFlushGPUDirectRDMAWritesScope: c_uint {
        cudaFlushGPUDirectRDMAWritesToOwner = 100,
        cudaFlushGPUDirectRDMAWritesToAllDevices = 200,
    }
}

c_enum! {
    cudaFlushGPUDirectRDMAWritesTarget: c_uint {
        cudaFlushGPUDirectRDMAWritesTargetCurrentDevice = 0,
    }
}

c_enum! {
    cudaDeviceAttr: c_uint {
        cudaDevAttrMaxThreadsPerBlock = 1,
        cudaDevAttrMaxBlockDimX = 2,
        cudaDevAttrMaxBlockDimY = 3,
        cudaDevAttrMaxBlockDimZ = 4,
        cudaDevAttrMaxGridDimX = 5,
        cudaDevAttrMaxGridDimY = 6,
        cudaDevAttrMaxGridDimZ = 7,
        cudaDevAttrMaxSharedMemoryPerBlock = 8,
        cudaDevAttrTotalConstantMemory = 9,
        cudaDevAttrWarpSize = 10,
        cudaDevAttrMaxPitch = 11,
        cudaDevAttrMaxRegistersPerBlock = 12,
        cudaDevAttrClockRate = 13,
        cudaDevAttrTextureAlignment = 14,
        cudaDevAttrGpuOverlap = 15,
        cudaDevAttrMultiProcessorCount = 16,
        cudaDevAttrKernelExecTimeout = 17,
        cudaDevAttrIntegrated = 18,
        cudaDevAttrCanMapHostMemory = 19,
        cudaDevAttrComputeMode = 20,
        cudaDevAttrMaxTexture1DWidth = 21,
        cudaDevAttrMaxTexture2DWidth = 22,
        cudaDevAttrMaxTexture2DHeight = 23,
        cudaDevAttrMaxTexture3DWidth = 24,
        cudaDevAttrMaxTexture3DHeight = 25,
        cudaDevAttrMaxTexture3DDepth = 26,
        cudaDevAttrMaxTexture2DLayeredWidth = 27,
        cudaDevAttrMaxTexture2DLayeredHeight = 28,
        cudaDevAttrMaxTexture2DLayeredLayers = 29,
        cudaDevAttrSurfaceAlignment = 30,
        cudaDevAttrConcurrentKernels = 31,
        cudaDevAttrEccEnabled = 32,
        cudaDevAttrPciBusId = 33,
        cudaDevAttrPciDeviceId = 34,
        cudaDevAttrTccDriver = 35,
        cudaDevAttrMemoryClockRate = 36,
        cudaDevAttrGlobalMemoryBusWidth = 37,
        cudaDevAttrL2CacheSize = 38,
        cudaDevAttrMaxThreadsPerMultiProcessor = 39,
        cudaDevAttrAsyncEngineCount = 40,
        cudaDevAttrUnifiedAddressing = 41,
        cudaDevAttrMaxTexture1DLayeredWidth = 42,
        cudaDevAttrMaxTexture1DLayeredLayers = 43,
        cudaDevAttrMaxTexture2DGatherWidth = 45,
        cudaDevAttrMaxTexture2DGatherHeight = 46,
        cudaDevAttrMaxTexture3DWidthAlt = 47,
        cudaDevAttrMaxTexture3DHeightAlt = 48,
        cudaDevAttrMaxTexture3DDepthAlt = 49,
        cudaDevAttrPciDomainId = 50,
        cudaDevAttrTexturePitchAlignment = 51,
        cudaDevAttrMaxTextureCubemapWidth = 52,
        cudaDevAttrMaxTextureCubemapLayeredWidth = 53,
        cudaDevAttrMaxTextureCubemapLayeredLayers = 54,
        cudaDevAttrMaxSurface1DWidth = 55,
        cudaDevAttrMaxSurface2DWidth = 56,
        cudaDevAttrMaxSurface2DHeight = 57,
        cudaDevAttrMaxSurface3DWidth = 58,
        cudaDevAttrMaxSurface3DHeight = 59,
        cudaDevAttrMaxSurface3DDepth = 60,
        cudaDevAttrMaxSurface1DLayeredWidth = 61,
        cudaDevAttrMaxSurface1DLayeredLayers = 62,
        cudaDevAttrMaxSurface2DLayeredWidth = 63,
        cudaDevAttrMaxSurface2DLayeredHeight = 64,
        cudaDevAttrMaxSurface2DLayeredLayers = 65,
        cudaDevAttrMaxSurfaceCubemapWidth = 66,
        cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67,
        cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68,
        cudaDevAttrMaxTexture1DLinearWidth = 69,
        cudaDevAttrMaxTexture2DLinearWidth = 70,
        cudaDevAttrMaxTexture2DLinearHeight = 71,
        cudaDevAttrMaxTexture2DLinearPitch = 72,
        cudaDevAttrMaxTexture2DMipmappedWidth = 73,
        cudaDevAttrMaxTexture2DMipmappedHeight = 74,
        cudaDevAttrComputeCapabilityMajor = 75,
        cudaDevAttrComputeCapabilityMinor = 76,
        cudaDevAttrMaxTexture1DMipmappedWidth = 77,
        cudaDevAttrStreamPrioritiesSupported = 78,
        cudaDevAttrGlobalL1CacheSupported = 79,
        cudaDevAttrLocalL1CacheSupported = 80,
        cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
        cudaDevAttrMaxRegistersPerMultiprocessor = 82,
        cudaDevAttrManagedMemory = 83,
        cudaDevAttrIsMultiGpuBoard = 84,
        cudaDevAttrMultiGpuBoardGroupID = 85,
        cudaDevAttrHostNativeAtomicSupported = 86,
        cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
        cudaDevAttrPageableMemoryAccess = 88,
        cudaDevAttrConcurrentManagedAccess = 89,
        cudaDevAttrComputePreemptionSupported = 90,
        cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
        cudaDevAttrReserved92 = 92,
        cudaDevAttrReserved93 = 93,
        cudaDevAttrReserved94 = 94,
        cudaDevAttrCooperativeLaunch = 95,
        cudaDevAttrCooperativeMultiDeviceLaunch = 96,
        cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
        cudaDevAttrCanFlushRemoteWrites = 98,
        cudaDevAttrHostRegisterSupported = 99,
        cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
        cudaDevAttrDirectManagedMemAccessFromHost = 101,
        cudaDevAttrMaxBlocksPerMultiprocessor = 106,
        cudaDevAttrMaxPersistingL2CacheSize = 108,
        cudaDevAttrMaxAccessPolicyWindowSize = 109,
        cudaDevAttrReservedSharedMemoryPerBlock = 111,
        cudaDevAttrSparseCudaArraySupported = 112,
        cudaDevAttrHostRegisterReadOnlySupported = 113,
        cudaDevAttrTimelineSemaphoreInteropSupported = 114,
        cudaDevAttrMaxTimelineSemaphoreInteropSupported = 114,
        cudaDevAttrMemoryPoolsSupported = 115,
        cudaDevAttrGPUDirectRDMASupported = 116,
        cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
        cudaDevAttrGPUDirectRDMAWritesOrdering = 118,
        cudaDevAttrMemoryPoolSupportedHandleTypes = 119,
        cudaDevAttrClusterLaunch = 120,
        cudaDevAttrDeferredMappingCudaArraySupported = 121,
        cudaDevAttrReserved122 = 122,
        cudaDevAttrReserved123 = 123,
        cudaDevAttrReserved124 = 124,
        cudaDevAttrIpcEventSupport = 125,
        cudaDevAttrMemSyncDomainCount = 126,
        cudaDevAttrReserved127 = 127,
        cudaDevAttrReserved128 = 128,
        cudaDevAttrReserved129 = 129,
        cudaDevAttrNumaConfig = 130,
        cudaDevAttrNumaId = 131,
        cudaDevAttrReserved132 = 132,
        cudaDevAttrMpsEnabled = 133,
        cudaDevAttrHostNumaId = 134,
        cudaDevAttrD3D12CigSupported = 135,
        cudaDevAttrVulkanCigSupported = 138,
        cudaDevAttrGpuPciDeviceId = 139,
        cudaDevAttrGpuPciSubsystemId = 140,
        cudaDevAttrReserved141 = 141,
        cudaDevAttrHostNumaMemoryPoolsSupported = 142,
        cudaDevAttrHostNumaMultinodeIpcSupported = 143,
        cudaDevAttrMax = 144,
    }
}

c_enum! {
    cudaMemPoolAttr: c_uint {
        cudaMemPoolReuseFollowEventDependencies = 1,
        cudaMemPoolReuseAllowOpportunistic = 2,
        cudaMemPoolReuseAllowInternalDependencies = 3,
        cudaMemPoolAttrReleaseThreshold = 4,
        cudaMemPoolAttrReservedMemCurrent = 5,
        cudaMemPoolAttrReservedMemHigh = 6,
        cudaMemPoolAttrUsedMemCurrent = 7,
        cudaMemPoolAttrUsedMemHigh = 8,
    }
}

c_enum! {
    cudaMemLocationType: c_uint {
        cudaMemLocationTypeInvalid = 0,
        cudaMemLocationTypeDevice = 1,
        cudaMemLocationTypeHost = 2,
        cudaMemLocationTypeHostNuma = 3,
        cudaMemLocationTypeHostNumaCurrent = 4,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemLocation {
    pub type_: cudaMemLocationType,
    pub id: c_int,
}

layout! { cudaMemLocation: size 8, align 4, { type_: 0, id: 4, } }

c_enum! {
    cudaMemAccessFlags: c_uint {
        cudaMemAccessFlagsProtNone = 0,
        cudaMemAccessFlagsProtRead = 1,
        cudaMemAccessFlagsProtReadWrite = 3,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemAccessDesc {
    pub location: cudaMemLocation,
    pub flags: cudaMemAccessFlags,
}

layout! { cudaMemAccessDesc: size 12, align 4, { location: 0, flags: 8, } }

c_enum! {
    cudaMemAllocationType: c_uint {
        cudaMemAllocationTypeInvalid = 0,
        cudaMemAllocationTypePinned = 1,
        cudaMemAllocationTypeMax = 2147483647,
    }
}

c_enum! {
    cudaMemAllocationHandleType: c_uint {
        cudaMemHandleTypeNone = 0,
        cudaMemHandleTypePosixFileDescriptor = 1,
        cudaMemHandleTypeWin32 = 2,
        cudaMemHandleTypeWin32Kmt = 4,
        cudaMemHandleTypeFabric = 8,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemPoolProps {
    pub allocType: cudaMemAllocationType,
    pub handleTypes: cudaMemAllocationHandleType,
    pub location: cudaMemLocation,
    pub win32SecurityAttributes: *mut c_void,
    pub maxSize: usize,
    pub usage: c_ushort,
    pub reserved: [c_uchar; 54],
}

layout! { cudaMemPoolProps: size 88, align 8, { allocType: 0, handleTypes: 4, location: 8, win32SecurityAttributes: 16, maxSize: 24, usage: 32, reserved: 34, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemPoolPtrExportData {
    pub reserved: [c_uchar; 64],
}

layout! { cudaMemPoolPtrExportData: size 64, align 1, { reserved: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemAllocNodeParams {
    pub poolProps: cudaMemPoolProps,
    pub accessDescs: *const cudaMemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: *mut c_void,
}

layout! { cudaMemAllocNodeParams: size 120, align 8, { poolProps: 0, accessDescs: 88, accessDescCount: 96, bytesize: 104, dptr: 112, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemAllocNodeParamsV2 {
    pub poolProps: cudaMemPoolProps,
    pub accessDescs: *const cudaMemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: *mut c_void,
}

layout! { cudaMemAllocNodeParamsV2: size 120, align 8, { poolProps: 0, accessDescs: 88, accessDescCount: 96, bytesize: 104, dptr: 112, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemFreeNodeParams {
    pub dptr: *mut c_void,
}

layout! { cudaMemFreeNodeParams: size 8, align 8, { dptr: 0, } }

c_enum! {
    cudaGraphMemAttributeType: c_uint {
        cudaGraphMemAttrUsedMemCurrent = 0,
        cudaGraphMemAttrUsedMemHigh = 1,
        cudaGraphMemAttrReservedMemCurrent = 2,
        cudaGraphMemAttrReservedMemHigh = 3,
    }
}

c_enum! {
    cudaMemcpyFlags: c_uint {
        cudaMemcpyFlagDefault = 0,
        cudaMemcpyFlagPreferOverlapWithCompute = 1,
    }
}

c_enum! {
    cudaMemcpySrcAccessOrder: c_uint {
        cudaMemcpySrcAccessOrderInvalid = 0,
        cudaMemcpySrcAccessOrderStream = 1,
        cudaMemcpySrcAccessOrderDuringApiCall = 2,
        cudaMemcpySrcAccessOrderAny = 3,
        cudaMemcpySrcAccessOrderMax = 2147483647,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemcpyAttributes {
    pub srcAccessOrder: cudaMemcpySrcAccessOrder,
    pub srcLocHint: cudaMemLocation,
    pub dstLocHint: cudaMemLocation,
    pub flags: c_uint,
}

layout! { cudaMemcpyAttributes: size 24, align 4, { srcAccessOrder: 0, srcLocHint: 4, dstLocHint: 12, flags: 20, } }

c_enum! {
    cudaMemcpy3DOperandType: c_uint {
        cudaMemcpyOperandTypePointer = 1,
        cudaMemcpyOperandTypeArray = 2,
        cudaMemcpyOperandTypeMax = 2147483647,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaOffset3D {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

layout! { cudaOffset3D: size 24, align 8, { x: 0, y: 8, z: 16, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaMemcpy3DOperand {
    pub type_: cudaMemcpy3DOperandType,
    pub op: cudaMemcpy3DOperand_op,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaMemcpy3DOperand_op {
    pub ptr: cudaMemcpy3DOperand_op_ptr,
    pub array: cudaMemcpy3DOperand_op_array,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemcpy3DOperand_op_ptr {
    pub ptr: *mut c_void,
    pub rowLength: usize,
    pub layerHeight: usize,
    pub locHint: cudaMemLocation,
}

layout! { cudaMemcpy3DOperand_op_ptr: size 32, align 8, { ptr: 0, rowLength: 8, layerHeight: 16, locHint: 24, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemcpy3DOperand_op_array {
    pub array: cudaArray_t,
    pub offset: cudaOffset3D,
}

layout! { cudaMemcpy3DOperand_op_array: size 32, align 8, { array: 0, offset: 8, } }

layout! { cudaMemcpy3DOperand_op: size 32, align 8, { ptr: 0, array: 0, } }

layout! { cudaMemcpy3DOperand: size 40, align 8, { type_: 0, op: 8, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaMemcpy3DBatchOp {
    pub src: cudaMemcpy3DOperand,
    pub dst: cudaMemcpy3DOperand,
    pub extent: cudaExtent,
    pub srcAccessOrder: cudaMemcpySrcAccessOrder,
    pub flags: c_uint,
}

layout! { cudaMemcpy3DBatchOp: size 112, align 8, { src: 0, dst: 40, extent: 80, srcAccessOrder: 104, flags: 108, } }

c_enum! {
    cudaDeviceP2PAttr: c_uint {
        cudaDevP2PAttrPerformanceRank = 1,
        cudaDevP2PAttrAccessSupported = 2,
        cudaDevP2PAttrNativeAtomicSupported = 3,
        cudaDevP2PAttrCudaArrayAccessSupported = 4,
    }
}

pub type cudaUUID_t = CUuuid;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaDeviceProp {
    pub name: [c_char; 256],
    pub uuid: cudaUUID_t,
    pub luid: [c_char; 8],
    pub luidDeviceNodeMask: c_uint,
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: c_int,
    pub warpSize: c_int,
    pub memPitch: usize,
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3],
    pub maxGridSize: [c_int; 3],
    pub clockRate: c_int,
    pub totalConstMem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub deviceOverlap: c_int,
    pub multiProcessorCount: c_int,
    pub kernelExecTimeoutEnabled: c_int,
    pub integrated: c_int,
    pub canMapHostMemory: c_int,
    pub computeMode: c_int,
    pub maxTexture1D: c_int,
    pub maxTexture1DMipmap: c_int,
    pub maxTexture1DLinear: c_int,
    pub maxTexture2D: [c_int; 2],
    pub maxTexture2DMipmap: [c_int; 2],
    pub maxTexture2DLinear: [c_int; 3],
    pub maxTexture2DGather: [c_int; 2],
    pub maxTexture3D: [c_int; 3],
    pub maxTexture3DAlt: [c_int; 3],
    pub maxTextureCubemap: c_int,
    pub maxTexture1DLayered: [c_int; 2],
    pub maxTexture2DLayered: [c_int; 3],
    pub maxTextureCubemapLayered: [c_int; 2],
    pub maxSurface1D: c_int,
    pub maxSurface2D: [c_int; 2],
    pub maxSurface3D: [c_int; 3],
    pub maxSurface1DLayered: [c_int; 2],
    pub maxSurface2DLayered: [c_int; 3],
    pub maxSurfaceCubemap: c_int,
    pub maxSurfaceCubemapLayered: [c_int; 2],
    pub surfaceAlignment: usize,
    pub concurrentKernels: c_int,
    pub ECCEnabled: c_int,
    pub pciBusID: c_int,
    pub pciDeviceID: c_int,
    pub pciDomainID: c_int,
    pub tccDriver: c_int,
    pub asyncEngineCount: c_int,
    pub unifiedAddressing: c_int,
    pub memoryClockRate: c_int,
    pub memoryBusWidth: c_int,
    pub l2CacheSize: c_int,
    pub persistingL2CacheMaxSize: c_int,
    pub maxThreadsPerMultiProcessor: c_int,
    pub streamPrioritiesSupported: c_int,
    pub globalL1CacheSupported: c_int,
    pub localL1CacheSupported: c_int,
    pub sharedMemPerMultiprocessor: usize,
    pub regsPerMultiprocessor: c_int,
    pub managedMemory: c_int,
    pub isMultiGpuBoard: c_int,
    pub multiGpuBoardGroupID: c_int,
    pub hostNativeAtomicSupported: c_int,
    pub singleToDoublePrecisionPerfRatio: c_int,
    pub pageableMemoryAccess: c_int,
    pub concurrentManagedAccess: c_int,
    pub computePreemptionSupported: c_int,
    pub canUseHostPointerForRegisteredMem: c_int,
    pub cooperativeLaunch: c_int,
    pub cooperativeMultiDeviceLaunch: c_int,
    pub sharedMemPerBlockOptin: usize,
    pub pageableMemoryAccessUsesHostPageTables: c_int,
    pub directManagedMemAccessFromHost: c_int,
    pub maxBlocksPerMultiProcessor: c_int,
    pub accessPolicyMaxWindowSize: c_int,
    pub reservedSharedMemPerBlock: usize,
    pub hostRegisterSupported: c_int,
    pub sparseCudaArraySupported: c_int,
    pub hostRegisterReadOnlySupported: c_int,
    pub timelineSemaphoreInteropSupported: c_int,
    pub memoryPoolsSupported: c_int,
    pub gpuDirectRDMASupported: c_int,
    pub gpuDirectRDMAFlushWritesOptions: c_uint,
    pub gpuDirectRDMAWritesOrdering: c_int,
    pub memoryPoolSupportedHandleTypes: c_uint,
    pub deferredMappingCudaArraySupported: c_int,
    pub ipcEventSupported: c_int,
    pub clusterLaunch: c_int,
    pub unifiedFunctionPointers: c_int,
    pub reserved: [c_int; 63],
}

layout! { cudaDeviceProp: size 1032, align 8, { name: 0, uuid: 256, luid: 272, luidDeviceNodeMask: 280, totalGlobalMem: 288, sharedMemPerBlock: 296, regsPerBlock: 304, warpSize: 308, memPitch: 312, maxThreadsPerBlock: 320, maxThreadsDim: 324, maxGridSize: 336, clockRate: 348, totalConstMem: 352, major: 360, minor: 364, textureAlignment: 368, texturePitchAlignment: 376, deviceOverlap: 384, multiProcessorCount: 388, kernelExecTimeoutEnabled: 392, integrated: 396, canMapHostMemory: 400, computeMode: 404, maxTexture1D: 408, maxTexture1DMipmap: 412, maxTexture1DLinear: 416, maxTexture2D: 420, maxTexture2DMipmap: 428, maxTexture2DLinear: 436, maxTexture2DGather: 448, maxTexture3D: 456, maxTexture3DAlt: 468, maxTextureCubemap: 480, maxTexture1DLayered: 484, maxTexture2DLayered: 492, maxTextureCubemapLayered: 504, maxSurface1D: 512, maxSurface2D: 516, maxSurface3D: 524, maxSurface1DLayered: 536, maxSurface2DLayered: 544, maxSurfaceCubemap: 556, maxSurfaceCubemapLayered: 560, surfaceAlignment: 568, concurrentKernels: 576, ECCEnabled: 580, pciBusID: 584, pciDeviceID: 588, pciDomainID: 592, tccDriver: 596, asyncEngineCount: 600, unifiedAddressing: 604, memoryClockRate: 608, memoryBusWidth: 612, l2CacheSize: 616, persistingL2CacheMaxSize: 620, maxThreadsPerMultiProcessor: 624, streamPrioritiesSupported: 628, globalL1CacheSupported: 632, localL1CacheSupported: 636, sharedMemPerMultiprocessor: 640, regsPerMultiprocessor: 648, managedMemory: 652, isMultiGpuBoard: 656, multiGpuBoardGroupID: 660, hostNativeAtomicSupported: 664, singleToDoublePrecisionPerfRatio: 668, pageableMemoryAccess: 672, concurrentManagedAccess: 676, computePreemptionSupported: 680, canUseHostPointerForRegisteredMem: 684, cooperativeLaunch: 688, cooperativeMultiDeviceLaunch: 692, sharedMemPerBlockOptin: 696, pageableMemoryAccessUsesHostPageTables: 704, directManagedMemAccessFromHost: 708, maxBlocksPerMultiProcessor: 712, accessPolicyMaxWindowSize: 716, reservedSharedMemPerBlock: 720, hostRegisterSupported: 728, sparseCudaArraySupported: 732, hostRegisterReadOnlySupported: 736, timelineSemaphoreInteropSupported: 740, memoryPoolsSupported: 744, gpuDirectRDMASupported: 748, gpuDirectRDMAFlushWritesOptions: 752, gpuDirectRDMAWritesOrdering: 756, memoryPoolSupportedHandleTypes: 760, deferredMappingCudaArraySupported: 764, ipcEventSupported: 768, clusterLaunch: 772, unifiedFunctionPointers: 776, reserved: 780, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaIpcEventHandle_t {
    pub reserved: [c_char; 64],
}

layout! { cudaIpcEventHandle_t: size 64, align 1, { reserved: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaIpcMemHandle_t {
    pub reserved: [c_char; 64],
}

layout! { cudaIpcMemHandle_t: size 64, align 1, { reserved: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaMemFabricHandle_t {
    pub reserved: [c_char; 64],
}

layout! { cudaMemFabricHandle_t: size 64, align 1, { reserved: 0, } }

c_enum! {
    cudaExternalMemoryHandleType: c_uint {
        cudaExternalMemoryHandleTypeOpaqueFd = 1,
        cudaExternalMemoryHandleTypeOpaqueWin32 = 2,
        cudaExternalMemoryHandleTypeOpaqueWin32Kmt = 3,
        cudaExternalMemoryHandleTypeD3D12Heap = 4,
        cudaExternalMemoryHandleTypeD3D12Resource = 5,
        cudaExternalMemoryHandleTypeD3D11Resource = 6,
        cudaExternalMemoryHandleTypeD3D11ResourceKmt = 7,
        cudaExternalMemoryHandleTypeNvSciBuf = 8,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalMemoryHandleDesc {
    pub type_: cudaExternalMemoryHandleType,
    pub handle: cudaExternalMemoryHandleDesc_handle,
    pub size: c_ulonglong,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaExternalMemoryHandleDesc_handle {
    pub fd: c_int,
    pub win32: cudaExternalMemoryHandleDesc_handle_win32,
    pub nvSciBufObject: *const c_void,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalMemoryHandleDesc_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

layout! { cudaExternalMemoryHandleDesc_handle_win32: size 16, align 8, { handle: 0, name: 8, } }

layout! { cudaExternalMemoryHandleDesc_handle: size 16, align 8, { fd: 0, win32: 0, nvSciBufObject: 0, } }

layout! { cudaExternalMemoryHandleDesc: size 40, align 8, { type_: 0, handle: 8, size: 24, flags: 32, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalMemoryBufferDesc {
    pub offset: c_ulonglong,
    pub size: c_ulonglong,
    pub flags: c_uint,
}

layout! { cudaExternalMemoryBufferDesc: size 24, align 8, { offset: 0, size: 8, flags: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalMemoryMipmappedArrayDesc {
    pub offset: c_ulonglong,
    pub formatDesc: cudaChannelFormatDesc,
    pub extent: cudaExtent,
    pub flags: c_uint,
    pub numLevels: c_uint,
}

layout! { cudaExternalMemoryMipmappedArrayDesc: size 64, align 8, { offset: 0, formatDesc: 8, extent: 32, flags: 56, numLevels: 60, } }

c_enum! {
    cudaExternalSemaphoreHandleType: c_uint {
        cudaExternalSemaphoreHandleTypeOpaqueFd = 1,
        cudaExternalSemaphoreHandleTypeOpaqueWin32 = 2,
        cudaExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3,
        cudaExternalSemaphoreHandleTypeD3D12Fence = 4,
        cudaExternalSemaphoreHandleTypeD3D11Fence = 5,
        cudaExternalSemaphoreHandleTypeNvSciSync = 6,
        cudaExternalSemaphoreHandleTypeKeyedMutex = 7,
        cudaExternalSemaphoreHandleTypeKeyedMutexKmt = 8,
        cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9,
        cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreHandleDesc {
    pub type_: cudaExternalSemaphoreHandleType,
    pub handle: cudaExternalSemaphoreHandleDesc_handle,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaExternalSemaphoreHandleDesc_handle {
    pub fd: c_int,
    pub win32: cudaExternalSemaphoreHandleDesc_handle_win32,
    pub nvSciSyncObj: *const c_void,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreHandleDesc_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

layout! { cudaExternalSemaphoreHandleDesc_handle_win32: size 16, align 8, { handle: 0, name: 8, } }

layout! { cudaExternalSemaphoreHandleDesc_handle: size 16, align 8, { fd: 0, win32: 0, nvSciSyncObj: 0, } }

layout! { cudaExternalSemaphoreHandleDesc: size 32, align 8, { type_: 0, handle: 8, flags: 24, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreSignalParams_v1 {
    pub params: cudaExternalSemaphoreSignalParams_v1_params,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreSignalParams_v1_params {
    pub fence: cudaExternalSemaphoreSignalParams_v1_params_fence,
    pub nvSciSync: cudaExternalSemaphoreSignalParams_v1_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreSignalParams_v1_params_keyedMutex,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreSignalParams_v1_params_fence {
    pub value: c_ulonglong,
}

layout! { cudaExternalSemaphoreSignalParams_v1_params_fence: size 8, align 8, { value: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaExternalSemaphoreSignalParams_v1_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

layout! { cudaExternalSemaphoreSignalParams_v1_params_nvSciSync: size 8, align 8, { fence: 0, reserved: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreSignalParams_v1_params_keyedMutex {
    pub key: c_ulonglong,
}

layout! { cudaExternalSemaphoreSignalParams_v1_params_keyedMutex: size 8, align 8, { key: 0, } }

layout! { cudaExternalSemaphoreSignalParams_v1_params: size 24, align 8, { fence: 0, nvSciSync: 8, keyedMutex: 16, } }

layout! { cudaExternalSemaphoreSignalParams_v1: size 32, align 8, { params: 0, flags: 24, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreWaitParams_v1 {
    pub params: cudaExternalSemaphoreWaitParams_v1_params,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreWaitParams_v1_params {
    pub fence: cudaExternalSemaphoreWaitParams_v1_params_fence,
    pub nvSciSync: cudaExternalSemaphoreWaitParams_v1_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreWaitParams_v1_params_keyedMutex,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreWaitParams_v1_params_fence {
    pub value: c_ulonglong,
}

layout! { cudaExternalSemaphoreWaitParams_v1_params_fence: size 8, align 8, { value: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaExternalSemaphoreWaitParams_v1_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

layout! { cudaExternalSemaphoreWaitParams_v1_params_nvSciSync: size 8, align 8, { fence: 0, reserved: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreWaitParams_v1_params_keyedMutex {
    pub key: c_ulonglong,
    pub timeoutMs: c_uint,
}

layout! { cudaExternalSemaphoreWaitParams_v1_params_keyedMutex: size 16, align 8, { key: 0, timeoutMs: 8, } }

layout! { cudaExternalSemaphoreWaitParams_v1_params: size 32, align 8, { fence: 0, nvSciSync: 8, keyedMutex: 16, } }

layout! { cudaExternalSemaphoreWaitParams_v1: size 40, align 8, { params: 0, flags: 32, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreSignalParams {
    pub params: cudaExternalSemaphoreSignalParams_params,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreSignalParams_params {
    pub fence: cudaExternalSemaphoreSignalParams_params_fence,
    pub nvSciSync: cudaExternalSemaphoreSignalParams_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreSignalParams_params_keyedMutex,
    pub reserved: [c_uint; 12],
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreSignalParams_params_fence {
    pub value: c_ulonglong,
}

layout! { cudaExternalSemaphoreSignalParams_params_fence: size 8, align 8, { value: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaExternalSemaphoreSignalParams_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

layout! { cudaExternalSemaphoreSignalParams_params_nvSciSync: size 8, align 8, { fence: 0, reserved: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreSignalParams_params_keyedMutex {
    pub key: c_ulonglong,
}

layout! { cudaExternalSemaphoreSignalParams_params_keyedMutex: size 8, align 8, { key: 0, } }

layout! { cudaExternalSemaphoreSignalParams_params: size 72, align 8, { fence: 0, nvSciSync: 8, keyedMutex: 16, reserved: 24, } }

layout! { cudaExternalSemaphoreSignalParams: size 144, align 8, { params: 0, flags: 72, reserved: 76, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreWaitParams {
    pub params: cudaExternalSemaphoreWaitParams_params,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaExternalSemaphoreWaitParams_params {
    pub fence: cudaExternalSemaphoreWaitParams_params_fence,
    pub nvSciSync: cudaExternalSemaphoreWaitParams_params_nvSciSync,
    pub keyedMutex: cudaExternalSemaphoreWaitParams_params_keyedMutex,
    pub reserved: [c_uint; 10],
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreWaitParams_params_fence {
    pub value: c_ulonglong,
}

layout! { cudaExternalSemaphoreWaitParams_params_fence: size 8, align 8, { value: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaExternalSemaphoreWaitParams_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

layout! { cudaExternalSemaphoreWaitParams_params_nvSciSync: size 8, align 8, { fence: 0, reserved: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreWaitParams_params_keyedMutex {
    pub key: c_ulonglong,
    pub timeoutMs: c_uint,
}

layout! { cudaExternalSemaphoreWaitParams_params_keyedMutex: size 16, align 8, { key: 0, timeoutMs: 8, } }

layout! { cudaExternalSemaphoreWaitParams_params: size 72, align 8, { fence: 0, nvSciSync: 8, keyedMutex: 16, reserved: 32, } }

layout! { cudaExternalSemaphoreWaitParams: size 144, align 8, { params: 0, flags: 72, reserved: 76, } }

pub type cudaError_t = cudaError;
pub type cudaStream_t = *mut CUstream_st;
pub type cudaEvent_t = *mut CUevent_st;
pub type cudaGraph_t = *mut CUgraph_st;
pub type cudaGraphNode_t = *mut CUgraphNode_st;
pub type cudaUserObject_t = *mut CUuserObject_st;
pub type cudaGraphConditionalHandle = c_ulonglong;
pub type cudaFunction_t = *mut CUfunc_st;
pub type cudaKernel_t = *mut CUkern_st;

c_enum! {
    cudaJitOption: c_uint {
        cudaJitMaxRegisters = 0,
        cudaJitThreadsPerBlock = 1,
        cudaJitWallTime = 2,
        cudaJitInfoLogBuffer = 3,
        cudaJitInfoLogBufferSizeBytes = 4,
        cudaJitErrorLogBuffer = 5,
        cudaJitErrorLogBufferSizeBytes = 6,
        cudaJitOptimizationLevel = 7,
        cudaJitFallbackStrategy = 10,
        cudaJitGenerateDebugInfo = 11,
        cudaJitLogVerbose = 12,
        cudaJitGenerateLineInfo = 13,
        cudaJitCacheMode = 14,
        cudaJitPositionIndependentCode = 30,
        cudaJitMinCtaPerSm = 31,
        cudaJitMaxThreadsPerBlock = 32,
        cudaJitOverrideDirectiveValues = 33,
    }
}

c_enum! {
    cudaLibraryOption: c_uint {
        cudaLibraryHostUniversalFunctionAndDataTable = 0,
        cudaLibraryBinaryIsPreserved = 1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudalibraryHostUniversalFunctionAndDataTable {
    pub functionTable: *mut c_void,
    pub functionWindowSize: usize,
    pub dataTable: *mut c_void,
    pub dataWindowSize: usize,
}

layout! { cudalibraryHostUniversalFunctionAndDataTable: size 32, align 8, { functionTable: 0, functionWindowSize: 8, dataTable: 16, dataWindowSize: 24, } }

c_enum! {
    cudaJit_CacheMode: c_uint {
        cudaJitCacheOptionNone = 0,
        cudaJitCacheOptionCG = 1,
        cudaJitCacheOptionCA = 2,
    }
}

c_enum! {
    cudaJit_Fallback: c_uint {
        cudaPreferPtx = 0,
        cudaPreferBinary = 1,
    }
}

pub type cudaLibrary_t = *mut CUlib_st;
pub type cudaMemPool_t = *mut CUmemPoolHandle_st;

c_enum! {
    cudaCGScope: c_uint {
        cudaCGScopeInvalid = 0,
        cudaCGScopeGrid = 1,
        cudaCGScopeMultiGrid = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchParams {
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub args: *mut *mut c_void,
    pub sharedMem: usize,
    pub stream: cudaStream_t,
}

layout! { cudaLaunchParams: size 56, align 8, { func: 0, gridDim: 8, blockDim: 20, args: 32, sharedMem: 40, stream: 48, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaKernelNodeParams {
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

layout! { cudaKernelNodeParams: size 56, align 8, { func: 0, gridDim: 8, blockDim: 20, sharedMemBytes: 32, kernelParams: 40, extra: 48, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaKernelNodeParamsV2 {
    pub func: *mut c_void,
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

layout! { cudaKernelNodeParamsV2: size 56, align 8, { func: 0, gridDim: 8, blockDim: 20, sharedMemBytes: 32, kernelParams: 40, extra: 48, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreSignalNodeParams {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreSignalParams,
    pub numExtSems: c_uint,
}

layout! { cudaExternalSemaphoreSignalNodeParams: size 24, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreSignalNodeParamsV2 {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreSignalParams,
    pub numExtSems: c_uint,
}

layout! { cudaExternalSemaphoreSignalNodeParamsV2: size 24, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreWaitNodeParams {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreWaitParams,
    pub numExtSems: c_uint,
}

layout! { cudaExternalSemaphoreWaitNodeParams: size 24, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaExternalSemaphoreWaitNodeParamsV2 {
    pub extSemArray: *mut cudaExternalSemaphore_t,
    pub paramsArray: *const cudaExternalSemaphoreWaitParams,
    pub numExtSems: c_uint,
}

layout! { cudaExternalSemaphoreWaitNodeParamsV2: size 24, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

c_enum! {
    cudaGraphConditionalHandleFlags: c_uint {
        cudaGraphCondAssignDefault = 1,
    }
}

c_enum! {
    cudaGraphConditionalNodeType: c_uint {
        cudaGraphCondTypeIf = 0,
        cudaGraphCondTypeWhile = 1,
        cudaGraphCondTypeSwitch = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaConditionalNodeParams {
    pub handle: cudaGraphConditionalHandle,
    pub type_: cudaGraphConditionalNodeType,
    pub size: c_uint,
    pub phGraph_out: *mut cudaGraph_t,
}

layout! { cudaConditionalNodeParams: size 24, align 8, { handle: 0, type_: 8, size: 12, phGraph_out: 16, } }

c_enum! {
    cudaGraphNodeType: c_uint {
        cudaGraphNodeTypeKernel = 0,
        cudaGraphNodeTypeMemcpy = 1,
        cudaGraphNodeTypeMemset = 2,
        cudaGraphNodeTypeHost = 3,
        cudaGraphNodeTypeGraph = 4,
        cudaGraphNodeTypeEmpty = 5,
        cudaGraphNodeTypeWaitEvent = 6,
        cudaGraphNodeTypeEventRecord = 7,
        cudaGraphNodeTypeExtSemaphoreSignal = 8,
        cudaGraphNodeTypeExtSemaphoreWait = 9,
        cudaGraphNodeTypeMemAlloc = 10,
        cudaGraphNodeTypeMemFree = 11,
        cudaGraphNodeTypeConditional = 13,
        cudaGraphNodeTypeCount = 14,
    }
}

c_enum! {
    cudaGraphChildGraphNodeOwnership: c_uint {
        cudaGraphChildGraphOwnershipClone = 0,
        cudaGraphChildGraphOwnershipMove = 1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaChildGraphNodeParams {
    pub graph: cudaGraph_t,
    pub ownership: cudaGraphChildGraphNodeOwnership,
}

layout! { cudaChildGraphNodeParams: size 16, align 8, { graph: 0, ownership: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaEventRecordNodeParams {
    pub event: cudaEvent_t,
}

layout! { cudaEventRecordNodeParams: size 8, align 8, { event: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaEventWaitNodeParams {
    pub event: cudaEvent_t,
}

layout! { cudaEventWaitNodeParams: size 8, align 8, { event: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaGraphNodeParams {
    pub type_: cudaGraphNodeType,
    pub reserved0: [c_int; 3],
    pub anon_1: cudaGraphNodeParams_anon_1,
    pub reserved2: c_longlong,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaGraphNodeParams_anon_1 {
    pub reserved1: [c_longlong; 29],
    pub kernel: cudaKernelNodeParamsV2,
    pub memcpy: cudaMemcpyNodeParams,
    pub memset: cudaMemsetParamsV2,
    pub host: cudaHostNodeParamsV2,
    pub graph: cudaChildGraphNodeParams,
    pub eventWait: cudaEventWaitNodeParams,
    pub eventRecord: cudaEventRecordNodeParams,
    pub extSemSignal: cudaExternalSemaphoreSignalNodeParamsV2,
    pub extSemWait: cudaExternalSemaphoreWaitNodeParamsV2,
    pub alloc: cudaMemAllocNodeParamsV2,
    pub free: cudaMemFreeNodeParams,
    pub conditional: cudaConditionalNodeParams,
}

layout! { cudaGraphNodeParams_anon_1: size 232, align 8, { reserved1: 0, kernel: 0, memcpy: 0, memset: 0, host: 0, graph: 0, eventWait: 0, eventRecord: 0, extSemSignal: 0, extSemWait: 0, alloc: 0, free: 0, conditional: 0, } }

layout! { cudaGraphNodeParams: size 256, align 8, { type_: 0, reserved0: 4, reserved2: 248, } }

c_enum! {
    cudaGraphDependencyType: c_uint {
        cudaGraphDependencyTypeDefault = 0,
        cudaGraphDependencyTypeProgrammatic = 1,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaGraphEdgeData {
    pub from_port: c_uchar,
    pub to_port: c_uchar,
    pub type_: c_uchar,
    pub reserved: [c_uchar; 5],
}

layout! { cudaGraphEdgeData: size 8, align 1, { from_port: 0, to_port: 1, type_: 2, reserved: 3, } }

pub type cudaGraphExec_t = *mut CUgraphExec_st;

c_enum! {
    cudaGraphExecUpdateResult: c_uint {
        cudaGraphExecUpdateSuccess = 0,
        cudaGraphExecUpdateError = 1,
        cudaGraphExecUpdateErrorTopologyChanged = 2,
        cudaGraphExecUpdateErrorNodeTypeChanged = 3,
        cudaGraphExecUpdateErrorFunctionChanged = 4,
        cudaGraphExecUpdateErrorParametersChanged = 5,
        cudaGraphExecUpdateErrorNotSupported = 6,
        cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7,
        cudaGraphExecUpdateErrorAttributesChanged = 8,
    }
}

c_enum! {
    cudaGraphInstantiateResult: c_uint {
        cudaGraphInstantiateSuccess = 0,
        cudaGraphInstantiateError = 1,
        cudaGraphInstantiateInvalidStructure = 2,
        cudaGraphInstantiateNodeOperationNotSupported = 3,
        cudaGraphInstantiateMultipleDevicesNotSupported = 4,
        cudaGraphInstantiateConditionalHandleUnused = 5,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaGraphInstantiateParams {
    pub flags: c_ulonglong,
    pub uploadStream: cudaStream_t,
    pub errNode_out: cudaGraphNode_t,
    pub result_out: cudaGraphInstantiateResult,
}

layout! { cudaGraphInstantiateParams: size 32, align 8, { flags: 0, uploadStream: 8, errNode_out: 16, result_out: 24, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaGraphExecUpdateResultInfo {
    pub result: cudaGraphExecUpdateResult,
    pub errorNode: cudaGraphNode_t,
    pub errorFromNode: cudaGraphNode_t,
}

layout! { cudaGraphExecUpdateResultInfo: size 24, align 8, { result: 0, errorNode: 8, errorFromNode: 16, } }

pub type cudaGraphDeviceNode_t = *mut CUgraphDeviceUpdatableNode_st;

c_enum! {
    cudaGraphKernelNodeField: c_uint {
        cudaGraphKernelNodeFieldInvalid = 0,
        cudaGraphKernelNodeFieldGridDim = 1,
        cudaGraphKernelNodeFieldParam = 2,
        cudaGraphKernelNodeFieldEnabled = 3,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaGraphKernelNodeUpdate {
    pub node: cudaGraphDeviceNode_t,
    pub field: cudaGraphKernelNodeField,
    pub updateData: cudaGraphKernelNodeUpdate_updateData,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaGraphKernelNodeUpdate_updateData {
    pub gridDim: dim3,
    pub param: cudaGraphKernelNodeUpdate_updateData_param,
    pub isEnabled: c_uint,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaGraphKernelNodeUpdate_updateData_param {
    pub pValue: *const c_void,
    pub offset: usize,
    pub size: usize,
}

layout! { cudaGraphKernelNodeUpdate_updateData_param: size 24, align 8, { pValue: 0, offset: 8, size: 16, } }

layout! { cudaGraphKernelNodeUpdate_updateData: size 24, align 8, { gridDim: 0, param: 0, isEnabled: 0, } }

layout! { cudaGraphKernelNodeUpdate: size 40, align 8, { node: 0, field: 8, updateData: 16, } }

c_enum! {
    cudaGetDriverEntryPointFlags: c_uint {
        cudaEnableDefault = 0,
        cudaEnableLegacyStream = 1,
        cudaEnablePerThreadDefaultStream = 2,
    }
}

c_enum! {
    cudaDriverEntryPointQueryResult: c_uint {
        cudaDriverEntryPointSuccess = 0,
        cudaDriverEntryPointSymbolNotFound = 1,
        cudaDriverEntryPointVersionNotSufficent = 2,
    }
}

c_enum! {
    cudaGraphDebugDotFlags: c_uint {
        cudaGraphDebugDotFlagsVerbose = 1,
        cudaGraphDebugDotFlagsKernelNodeParams = 4,
        cudaGraphDebugDotFlagsMemcpyNodeParams = 8,
        cudaGraphDebugDotFlagsMemsetNodeParams = 16,
        cudaGraphDebugDotFlagsHostNodeParams = 32,
        cudaGraphDebugDotFlagsEventNodeParams = 64,
        cudaGraphDebugDotFlagsExtSemasSignalNodeParams = 128,
        cudaGraphDebugDotFlagsExtSemasWaitNodeParams = 256,
        cudaGraphDebugDotFlagsKernelNodeAttributes = 512,
        cudaGraphDebugDotFlagsHandles = 1024,
        cudaGraphDebugDotFlagsConditionalNodeParams = 32768,
    }
}

c_enum! {
    cudaGraphInstantiateFlags: c_uint {
        cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
        cudaGraphInstantiateFlagUpload = 2,
        cudaGraphInstantiateFlagDeviceLaunch = 4,
        cudaGraphInstantiateFlagUseNodePriority = 8,
    }
}

c_enum! {
    cudaLaunchMemSyncDomain: c_uint {
        cudaLaunchMemSyncDomainDefault = 0,
        cudaLaunchMemSyncDomainRemote = 1,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchMemSyncDomainMap {
    pub default_: c_uchar,
    pub remote: c_uchar,
}

layout! { cudaLaunchMemSyncDomainMap: size 2, align 1, { default_: 0, remote: 1, } }

c_enum! {
    cudaLaunchAttributeID: c_uint {
        cudaLaunchAttributeIgnore = 0,
        cudaLaunchAttributeAccessPolicyWindow = 1,
        cudaLaunchAttributeCooperative = 2,
        cudaLaunchAttributeSynchronizationPolicy = 3,
        cudaLaunchAttributeClusterDimension = 4,
        cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
        cudaLaunchAttributeProgrammaticStreamSerialization = 6,
        cudaLaunchAttributeProgrammaticEvent = 7,
        cudaLaunchAttributePriority = 8,
        cudaLaunchAttributeMemSyncDomainMap = 9,
        cudaLaunchAttributeMemSyncDomain = 10,
        cudaLaunchAttributePreferredClusterDimension = 11,
        cudaLaunchAttributeLaunchCompletionEvent = 12,
        cudaLaunchAttributeDeviceUpdatableKernelNode = 13,
        cudaLaunchAttributePreferredSharedMemoryCarveout = 14,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaLaunchAttributeValue {
    pub pad: [c_char; 64],
    pub accessPolicyWindow: cudaAccessPolicyWindow,
    pub cooperative: c_int,
    pub syncPolicy: cudaSynchronizationPolicy,
    pub clusterDim: cudaLaunchAttributeValue_clusterDim,
    pub clusterSchedulingPolicyPreference: cudaClusterSchedulingPolicy,
    pub programmaticStreamSerializationAllowed: c_int,
    pub programmaticEvent: cudaLaunchAttributeValue_programmaticEvent,
    pub priority: c_int,
    pub memSyncDomainMap: cudaLaunchMemSyncDomainMap,
    pub memSyncDomain: cudaLaunchMemSyncDomain,
    pub preferredClusterDim: cudaLaunchAttributeValue_preferredClusterDim,
    pub launchCompletionEvent: cudaLaunchAttributeValue_launchCompletionEvent,
    pub deviceUpdatableKernelNode: cudaLaunchAttributeValue_deviceUpdatableKernelNode,
    pub sharedMemCarveout: c_uint,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchAttributeValue_clusterDim {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

layout! { cudaLaunchAttributeValue_clusterDim: size 12, align 4, { x: 0, y: 4, z: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchAttributeValue_programmaticEvent {
    pub event: cudaEvent_t,
    pub flags: c_int,
    pub triggerAtBlockStart: c_int,
}

layout! { cudaLaunchAttributeValue_programmaticEvent: size 16, align 8, { event: 0, flags: 8, triggerAtBlockStart: 12, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchAttributeValue_preferredClusterDim {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

layout! { cudaLaunchAttributeValue_preferredClusterDim: size 12, align 4, { x: 0, y: 4, z: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchAttributeValue_launchCompletionEvent {
    pub event: cudaEvent_t,
    pub flags: c_int,
}

layout! { cudaLaunchAttributeValue_launchCompletionEvent: size 16, align 8, { event: 0, flags: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchAttributeValue_deviceUpdatableKernelNode {
    pub deviceUpdatable: c_int,
    pub devNode: cudaGraphDeviceNode_t,
}

layout! { cudaLaunchAttributeValue_deviceUpdatableKernelNode: size 16, align 8, { deviceUpdatable: 0, devNode: 8, } }

layout! { cudaLaunchAttributeValue: size 64, align 8, { pad: 0, accessPolicyWindow: 0, cooperative: 0, syncPolicy: 0, clusterDim: 0, clusterSchedulingPolicyPreference: 0, programmaticStreamSerializationAllowed: 0, programmaticEvent: 0, priority: 0, memSyncDomainMap: 0, memSyncDomain: 0, preferredClusterDim: 0, launchCompletionEvent: 0, deviceUpdatableKernelNode: 0, sharedMemCarveout: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaLaunchAttribute {
    pub id: cudaLaunchAttributeID,
    pub pad: [c_char; 4],
    pub val: cudaLaunchAttributeValue,
}

layout! { cudaLaunchAttribute: size 72, align 8, { id: 0, pad: 4, val: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaLaunchConfig_t {
    pub gridDim: dim3,
    pub blockDim: dim3,
    pub dynamicSmemBytes: usize,
    pub stream: cudaStream_t,
    pub attrs: *mut cudaLaunchAttribute,
    pub numAttrs: c_uint,
}

layout! { cudaLaunchConfig_t: size 56, align 8, { gridDim: 0, blockDim: 12, dynamicSmemBytes: 24, stream: 32, attrs: 40, numAttrs: 48, } }

c_enum! {
    cudaDeviceNumaConfig: c_uint {
        cudaDeviceNumaConfigNone = 0,
        cudaDeviceNumaConfigNumaNode = 1,
    }
}

c_enum! {
    cudaAsyncNotificationType: c_uint {
        cudaAsyncNotificationTypeOverBudget = 1,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct cudaAsyncNotificationInfo {
    pub type_: cudaAsyncNotificationType,
    pub info: cudaAsyncNotificationInfo_info,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union cudaAsyncNotificationInfo_info {
    pub overBudget: cudaAsyncNotificationInfo_info_overBudget,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct cudaAsyncNotificationInfo_info_overBudget {
    pub bytesOverBudget: c_ulonglong,
}

layout! { cudaAsyncNotificationInfo_info_overBudget: size 8, align 8, { bytesOverBudget: 0, } }

layout! { cudaAsyncNotificationInfo_info: size 8, align 8, { overBudget: 0, } }

layout! { cudaAsyncNotificationInfo: size 16, align 8, { type_: 0, info: 8, } }

pub type cudaAsyncNotificationInfo_t = cudaAsyncNotificationInfo;
pub type cudaAsyncCallback = Option<
    unsafe extern "C" fn(arg1: *mut cudaAsyncNotificationInfo_t, arg2: *mut c_void, arg3: cudaAsyncCallbackHandle_t),
>;

c_enum! {
    cudaSurfaceBoundaryMode: c_uint {
        cudaBoundaryModeZero = 0,
        cudaBoundaryModeClamp = 1,
        cudaBoundaryModeTrap = 2,
    }
}

c_enum! {
    cudaSurfaceFormatMode: c_uint {
        cudaFormatModeForced = 0,
        cudaFormatModeAuto = 1,
    }
}

pub type cudaSurfaceObject_t = c_ulonglong;

c_enum! {
    cudaTextureAddressMode: c_uint {
        cudaAddressModeWrap = 0,
        cudaAddressModeClamp = 1,
        cudaAddressModeMirror = 2,
        cudaAddressModeBorder = 3,
    }
}

c_enum! {
    cudaTextureFilterMode: c_uint {
        cudaFilterModePoint = 0,
        cudaFilterModeLinear = 1,
    }
}

c_enum! {
    cudaTextureReadMode: c_uint {
        cudaReadModeElementType = 0,
        cudaReadModeNormalizedFloat = 1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq)]
pub struct cudaTextureDesc {
    pub addressMode: [cudaTextureAddressMode; 3],
    pub filterMode: cudaTextureFilterMode,
    pub readMode: cudaTextureReadMode,
    pub sRGB: c_int,
    pub borderColor: [f32; 4],
    pub normalizedCoords: c_int,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: cudaTextureFilterMode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub disableTrilinearOptimization: c_int,
    pub seamlessCubemap: c_int,
}

layout! { cudaTextureDesc: size 72, align 4, { addressMode: 0, filterMode: 12, readMode: 16, sRGB: 20, borderColor: 24, normalizedCoords: 40, maxAnisotropy: 44, mipmapFilterMode: 48, mipmapLevelBias: 52, minMipmapLevelClamp: 56, maxMipmapLevelClamp: 60, disableTrilinearOptimization: 64, seamlessCubemap: 68, } }

pub type cudaTextureObject_t = c_ulonglong;
pub type cudaStreamCallback_t =
    Option<unsafe extern "C" fn(stream: cudaStream_t, status: cudaError_t, userData: *mut c_void)>;

zeroed_default! {
    cudaChannelFormatDesc,
    cudaPitchedPtr,
    cudaMemcpy3DParms,
    cudaMemcpyNodeParams,
    cudaMemcpy3DPeerParms,
    cudaMemsetParams,
    cudaMemsetParamsV2,
    cudaAccessPolicyWindow,
    cudaHostNodeParams,
    cudaHostNodeParamsV2,
    cudaResourceDesc_res_array,
    cudaResourceDesc_res_mipmap,
    cudaResourceDesc_res_linear,
    cudaResourceDesc_res_pitch2D,
    cudaResourceDesc_res,
    cudaResourceDesc,
    cudaResourceViewDesc,
    cudaPointerAttributes,
    cudaMemLocation,
    cudaMemAccessDesc,
    cudaMemPoolProps,
    cudaMemPoolPtrExportData,
    cudaMemAllocNodeParams,
    cudaMemAllocNodeParamsV2,
    cudaMemFreeNodeParams,
    cudaMemcpyAttributes,
    cudaMemcpy3DOperand_op_ptr,
    cudaMemcpy3DOperand_op_array,
    cudaMemcpy3DOperand_op,
    cudaMemcpy3DOperand,
    cudaMemcpy3DBatchOp,
    cudaDeviceProp,
    cudaIpcEventHandle_t,
    cudaIpcMemHandle_t,
    cudaMemFabricHandle_t,
    cudaExternalMemoryHandleDesc_handle_win32,
    cudaExternalMemoryHandleDesc_handle,
    cudaExternalMemoryHandleDesc,
    cudaExternalMemoryMipmappedArrayDesc,
    cudaExternalSemaphoreHandleDesc_handle_win32,
    cudaExternalSemaphoreHandleDesc_handle,
    cudaExternalSemaphoreHandleDesc,
    cudaExternalSemaphoreSignalParams_v1_params_nvSciSync,
    cudaExternalSemaphoreSignalParams_v1_params,
    cudaExternalSemaphoreSignalParams_v1,
    cudaExternalSemaphoreWaitParams_v1_params_nvSciSync,
    cudaExternalSemaphoreWaitParams_v1_params,
    cudaExternalSemaphoreWaitParams_v1,
    cudaExternalSemaphoreSignalParams_params_nvSciSync,
    cudaExternalSemaphoreSignalParams_params,
    cudaExternalSemaphoreSignalParams,
    cudaExternalSemaphoreWaitParams_params_nvSciSync,
    cudaExternalSemaphoreWaitParams_params,
    cudaExternalSemaphoreWaitParams,
    cudalibraryHostUniversalFunctionAndDataTable,
    cudaLaunchParams,
    cudaKernelNodeParams,
    cudaKernelNodeParamsV2,
    cudaExternalSemaphoreSignalNodeParams,
    cudaExternalSemaphoreSignalNodeParamsV2,
    cudaExternalSemaphoreWaitNodeParams,
    cudaExternalSemaphoreWaitNodeParamsV2,
    cudaConditionalNodeParams,
    cudaChildGraphNodeParams,
    cudaEventRecordNodeParams,
    cudaEventWaitNodeParams,
    cudaGraphNodeParams_anon_1,
    cudaGraphNodeParams,
    cudaGraphInstantiateParams,
    cudaGraphExecUpdateResultInfo,
    cudaGraphKernelNodeUpdate_updateData_param,
    cudaGraphKernelNodeUpdate_updateData,
    cudaGraphKernelNodeUpdate,
    cudaLaunchAttributeValue_programmaticEvent,
    cudaLaunchAttributeValue_launchCompletionEvent,
    cudaLaunchAttributeValue_deviceUpdatableKernelNode,
    cudaLaunchAttributeValue,
    cudaLaunchAttribute,
    cudaLaunchConfig_t,
    cudaAsyncNotificationInfo_info,
    cudaAsyncNotificationInfo,
    cudaTextureDesc,
}
