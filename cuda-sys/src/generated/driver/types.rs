// the driver API: types and constants.
// Written by `cargo xtask gen-bindings` from cuda.h, cudaProfiler.h; do not edit.

use core::ffi::*;

handles! {
    CUcontext = CUctx_st,
    CUmodule = CUmod_st,
    CUfunction = CUfunc_st,
    CUlibrary = CUlib_st,
    CUkernel = CUkern_st,
    CUarray = CUarray_st,
    CUmipmappedArray = CUmipmappedArray_st,
    CUtexref = CUtexref_st,
    CUsurfref = CUsurfref_st,
    CUevent = CUevent_st,
    CUstream = CUstream_st,
    CUgraphicsResource = CUgraphicsResource_st,
    CUexternalMemory = CUextMemory_st,
    CUexternalSemaphore = CUextSemaphore_st,
    CUgraph = CUgraph_st,
    CUgraphNode = CUgraphNode_st,
    CUgraphExec = CUgraphExec_st,
    CUmemoryPool = CUmemPoolHandle_st,
    CUuserObject = CUuserObject_st,
    CUgraphDeviceNode = CUgraphDeviceUpdatableNode_st,
    CUasyncCallbackHandle = CUasyncCallbackEntry_st,
    CUgreenCtx = CUgreenCtx_st,
    CUlinkState = CUlinkState_st,
    CUcheckpointOperationHandle = CUIcheckpointOperation_st,
    CUcoredumpCallbackHandle = CUcoredumpCallbackEntry_st,
    CUdevResourceDesc = CUdevResourceDesc_st,
    CUlogsCallbackHandle = CUlogsCallbackEntry_st,
}

pub const CUDA_VERSION: u32 = 13050;
pub const CU_IPC_HANDLE_SIZE: u32 = 64;
pub const CU_COMPUTE_ACCELERATED_TARGET_BASE: u32 = 65536;
pub const CU_COMPUTE_FAMILY_TARGET_BASE: u32 = 131072;
pub const CU_GRAPH_COND_ASSIGN_DEFAULT: u32 = 1;
pub const CU_GRAPH_KERNEL_NODE_PORT_DEFAULT: u32 = 0;
pub const CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC: u32 = 1;
pub const CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER: u32 = 2;
pub const CU_MEMHOSTALLOC_PORTABLE: u32 = 1;
pub const CU_MEMHOSTALLOC_DEVICEMAP: u32 = 2;
pub const CU_MEMHOSTALLOC_WRITECOMBINED: u32 = 4;
pub const CU_MEMHOSTREGISTER_PORTABLE: u32 = 1;
pub const CU_MEMHOSTREGISTER_DEVICEMAP: u32 = 2;
pub const CU_MEMHOSTREGISTER_IOMEMORY: u32 = 4;
pub const CU_MEMHOSTREGISTER_READ_ONLY: u32 = 8;
pub const CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL: u32 = 1;
pub const CU_TENSOR_MAP_NUM_QWORDS: u32 = 16;
pub const CUDA_EXTERNAL_MEMORY_DEDICATED: u32 = 1;
pub const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC: u32 = 1;
pub const CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC: u32 = 2;
pub const CUDA_NVSCISYNC_ATTR_SIGNAL: u32 = 1;
pub const CUDA_NVSCISYNC_ATTR_WAIT: u32 = 2;
pub const CU_MEM_CREATE_USAGE_TILE_POOL: u32 = 1;
pub const CU_MEM_CREATE_USAGE_HW_DECOMPRESS: u32 = 2;
pub const CU_MEM_CREATE_USAGE_GPU_DIRECT_RDMA_OVER_PCIE: u32 = 4;
pub const CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS: u32 = 2;
pub const CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC: u32 = 1;
pub const CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC: u32 = 2;
pub const CUDA_ARRAY3D_LAYERED: u32 = 1;
pub const CUDA_ARRAY3D_2DARRAY: u32 = 1;
pub const CUDA_ARRAY3D_SURFACE_LDST: u32 = 2;
pub const CUDA_ARRAY3D_CUBEMAP: u32 = 4;
pub const CUDA_ARRAY3D_TEXTURE_GATHER: u32 = 8;
pub const CUDA_ARRAY3D_DEPTH_TEXTURE: u32 = 16;
pub const CUDA_ARRAY3D_COLOR_ATTACHMENT: u32 = 32;
pub const CUDA_ARRAY3D_SPARSE: u32 = 64;
pub const CUDA_ARRAY3D_DEFERRED_MAPPING: u32 = 128;
pub const CUDA_ARRAY3D_VIDEO_ENCODE_DECODE: u32 = 256;
pub const CU_TRSA_OVERRIDE_FORMAT: u32 = 1;
pub const CU_TRSF_READ_AS_INTEGER: u32 = 1;
pub const CU_TRSF_NORMALIZED_COORDINATES: u32 = 2;
pub const CU_TRSF_SRGB: u32 = 16;
pub const CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION: u32 = 32;
pub const CU_TRSF_SEAMLESS_CUBEMAP: u32 = 64;
pub const CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM: u32 = 1;
pub const CU_LAUNCH_PARAM_END_AS_INT: u32 = 0;
pub const CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT: u32 = 1;
pub const CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT: u32 = 2;
pub const CU_PARAM_TR_DEFAULT: i32 = -1;
pub const CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY: i32 = -1;
pub type cuuint32_t = u32;
pub type cuuint64_t = u64;
pub type CUdeviceptr_v2 = c_ulonglong;
pub type CUdeviceptr = CUdeviceptr_v2;
pub type CUdevice_v1 = c_int;
pub type CUdevice = CUdevice_v1;
pub type CUtexObject_v1 = c_ulonglong;
pub type CUtexObject = CUtexObject_v1;
pub type CUsurfObject_v1 = c_ulonglong;
pub type CUsurfObject = CUsurfObject_v1;
pub type CUgraphConditionalHandle = cuuint64_t;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUuuid {
    pub bytes: [c_char; 16],
}

layout! { CUuuid: size 16, align 1, { bytes: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemFabricHandle_v1 {
    pub data: [c_uchar; 64],
}

layout! { CUmemFabricHandle_v1: size 64, align 1, { data: 0, } }

pub type CUmemFabricHandle = CUmemFabricHandle_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUipcEventHandle_v1 {
    pub reserved: [c_char; 64],
}

layout! { CUipcEventHandle_v1: size 64, align 1, { reserved: 0, } }

pub type CUipcEventHandle = CUipcEventHandle_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUipcMemHandle_v1 {
    pub reserved: [c_char; 64],
}

layout! { CUipcMemHandle_v1: size 64, align 1, { reserved: 0, } }

pub type CUipcMemHandle = CUipcMemHandle_v1;

c_enum! {
    CUipcMem_flags: c_uint {
        CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1,
    }
}

c_enum! {
    CUmemAttach_flags: c_uint {
        CU_MEM_ATTACH_GLOBAL = 1,
        CU_MEM_ATTACH_HOST = 2,
        CU_MEM_ATTACH_SINGLE = 4,
    }
}

c_enum! {
    CUctx_flags: c_uint {
        CU_CTX_SCHED_AUTO = 0,
        CU_CTX_SCHED_SPIN = 1,
        CU_CTX_SCHED_YIELD = 2,
        CU_CTX_SCHED_BLOCKING_SYNC = 4,
        CU_CTX_BLOCKING_SYNC = 4,
        CU_CTX_SCHED_MASK = 7,
        CU_CTX_MAP_HOST = 8,
        CU_CTX_LMEM_RESIZE_TO_MAX = 16,
        CU_CTX_COREDUMP_ENABLE = 32,
        CU_CTX_USER_COREDUMP_ENABLE = 64,
        CU_CTX_SYNC_MEMOPS = 128,
        CU_CTX_FLAGS_MASK = 255,
    }
}

c_enum! {
    CUevent_sched_flags: c_uint {
        CU_EVENT_SCHED_AUTO = 0,
        CU_EVENT_SCHED_SPIN = 1,
        CU_EVENT_SCHED_YIELD = 2,
        CU_EVENT_SCHED_BLOCKING_SYNC = 4,
    }
}

c_enum! {
    CUhostTaskSyncMode: c_uint {
        CU_HOST_TASK_BLOCKING = 0,
        CU_HOST_TASK_SPINWAIT = 1,
    }
}

c_enum! {
    CUstream_flags: c_uint {
        CU_STREAM_DEFAULT = 0,
        CU_STREAM_NON_BLOCKING = 1,
    }
}

c_enum! {
    CUevent_flags: c_uint {
        CU_EVENT_DEFAULT = 0,
        CU_EVENT_BLOCKING_SYNC = 1,
        CU_EVENT_DISABLE_TIMING = 2,
        CU_EVENT_INTERPROCESS = 4,
    }
}

c_enum! {
    CUevent_record_flags: c_uint {
        CU_EVENT_RECORD_DEFAULT = 0,
        CU_EVENT_RECORD_EXTERNAL = 1,
    }
}

c_enum! {
    CUevent_wait_flags: c_uint {
        CU_EVENT_WAIT_DEFAULT = 0,
        CU_EVENT_WAIT_EXTERNAL = 1,
    }
}

c_enum! {
    CUatomicOperation: c_uint {
        CU_ATOMIC_OPERATION_INTEGER_ADD = 0,
        CU_ATOMIC_OPERATION_INTEGER_MIN = 1,
        CU_ATOMIC_OPERATION_INTEGER_MAX = 2,
        CU_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
        CU_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
        CU_ATOMIC_OPERATION_AND = 5,
        CU_ATOMIC_OPERATION_OR = 6,
        CU_ATOMIC_OPERATION_XOR = 7,
        CU_ATOMIC_OPERATION_EXCHANGE = 8,
        CU_ATOMIC_OPERATION_CAS = 9,
        CU_ATOMIC_OPERATION_FLOAT_ADD = 10,
        CU_ATOMIC_OPERATION_FLOAT_MIN = 11,
        CU_ATOMIC_OPERATION_FLOAT_MAX = 12,
        CU_ATOMIC_OPERATION_MAX = 13,
    }
}

c_enum! {
    CUatomicOperationCapability: c_uint {
        CU_ATOMIC_CAPABILITY_SIGNED = 1,
        CU_ATOMIC_CAPABILITY_UNSIGNED = 2,
        CU_ATOMIC_CAPABILITY_REDUCTION = 4,
        CU_ATOMIC_CAPABILITY_SCALAR_32 = 8,
        CU_ATOMIC_CAPABILITY_SCALAR_64 = 16,
        CU_ATOMIC_CAPABILITY_SCALAR_128 = 32,
        CU_ATOMIC_CAPABILITY_VECTOR_32x4 = 64,
    }
}

c_enum! {
    CUstreamWaitValue_flags: c_uint {
        CU_STREAM_WAIT_VALUE_GEQ = 0,
        CU_STREAM_WAIT_VALUE_EQ = 1,
        CU_STREAM_WAIT_VALUE_AND = 2,
        CU_STREAM_WAIT_VALUE_NOR = 3,
        CU_STREAM_WAIT_VALUE_FLUSH = 1073741824,
    }
}

c_enum! {
    CUstreamWriteValue_flags: c_uint {
        CU_STREAM_WRITE_VALUE_DEFAULT = 0,
        CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 1,
    }
}

c_enum! {
    CUstreamBatchMemOpType: c_uint {
        CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
        CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
        CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
        CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
        CU_STREAM_MEM_OP_BARRIER = 6,
        CU_STREAM_MEM_OP_ATOMIC_REDUCTION = 8,
        CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
    }
}

c_enum! {
    CUstreamMemoryBarrier_flags: c_uint {
        CU_STREAM_MEMORY_BARRIER_TYPE_SYS = 0,
        CU_STREAM_MEMORY_BARRIER_TYPE_GPU = 1,
    }
}

c_enum! {
    CUstreamAtomicReductionOpType: c_uint {
        CU_STREAM_ATOMIC_REDUCTION_OP_OR = 6,
        CU_STREAM_ATOMIC_REDUCTION_OP_AND = 5,
        CU_STREAM_ATOMIC_REDUCTION_OP_ADD = 0,
    }
}

c_enum! {
    CUstreamAtomicReductionDataType: c_uint {
        CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 = 14,
        CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64 = 22,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUstreamBatchMemOpParams_v1 {
    pub operation: CUstreamBatchMemOpType,
    pub waitValue: CUstreamMemOpWaitValueParams,
    pub writeValue: CUstreamMemOpWriteValueParams,
    pub flushRemoteWrites: CUstreamMemOpFlushRemoteWritesParams,
    pub memoryBarrier: CUstreamMemOpMemoryBarrierParams,
    pub atomicReduction: CUstreamMemOpAtomicReductionParams,
    pub pad: [cuuint64_t; 6],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUstreamMemOpWaitValueParams {
    pub operation: CUstreamBatchMemOpType,
    pub address: CUdeviceptr,
    pub anon_1: CUstreamMemOpWaitValueParams_anon_1,
    pub flags: c_uint,
    pub alias: CUdeviceptr,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUstreamMemOpWaitValueParams_anon_1 {
    pub value: cuuint32_t,
    pub value64: cuuint64_t,
}

layout! { CUstreamMemOpWaitValueParams_anon_1: size 8, align 8, { value: 0, value64: 0, } }

layout! { CUstreamMemOpWaitValueParams: size 40, align 8, { operation: 0, address: 8, flags: 24, alias: 32, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUstreamMemOpWriteValueParams {
    pub operation: CUstreamBatchMemOpType,
    pub address: CUdeviceptr,
    pub anon_1: CUstreamMemOpWriteValueParams_anon_1,
    pub flags: c_uint,
    pub alias: CUdeviceptr,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUstreamMemOpWriteValueParams_anon_1 {
    pub value: cuuint32_t,
    pub value64: cuuint64_t,
}

layout! { CUstreamMemOpWriteValueParams_anon_1: size 8, align 8, { value: 0, value64: 0, } }

layout! { CUstreamMemOpWriteValueParams: size 40, align 8, { operation: 0, address: 8, flags: 24, alias: 32, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUstreamMemOpFlushRemoteWritesParams {
    pub operation: CUstreamBatchMemOpType,
    pub flags: c_uint,
}

layout! { CUstreamMemOpFlushRemoteWritesParams: size 8, align 4, { operation: 0, flags: 4, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUstreamMemOpMemoryBarrierParams {
    pub operation: CUstreamBatchMemOpType,
    pub flags: c_uint,
}

layout! { CUstreamMemOpMemoryBarrierParams: size 8, align 4, { operation: 0, flags: 4, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUstreamMemOpAtomicReductionParams {
    pub operation: CUstreamBatchMemOpType,
    pub flags: c_uint,
    pub reductionOp: CUstreamAtomicReductionOpType,
    pub dataType: CUstreamAtomicReductionDataType,
    pub address: CUdeviceptr,
    pub value: cuuint64_t,
    pub alias: CUdeviceptr,
}

layout! { CUstreamMemOpAtomicReductionParams: size 40, align 8, { operation: 0, flags: 4, reductionOp: 8, dataType: 12, address: 16, value: 24, alias: 32, } }

layout! { CUstreamBatchMemOpParams_v1: size 48, align 8, { operation: 0, waitValue: 0, writeValue: 0, flushRemoteWrites: 0, memoryBarrier: 0, atomicReduction: 0, pad: 0, } }

pub type CUstreamBatchMemOpParams = CUstreamBatchMemOpParams_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 {
    pub ctx: CUcontext,
    pub count: c_uint,
    pub paramArray: *mut CUstreamBatchMemOpParams,
    pub flags: c_uint,
}

layout! { CUDA_BATCH_MEM_OP_NODE_PARAMS_v1: size 32, align 8, { ctx: 0, count: 8, paramArray: 16, flags: 24, } }

pub type CUDA_BATCH_MEM_OP_NODE_PARAMS = CUDA_BATCH_MEM_OP_NODE_PARAMS_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 {
    pub ctx: CUcontext,
    pub count: c_uint,
    pub paramArray: *mut CUstreamBatchMemOpParams,
    pub flags: c_uint,
}

layout! { CUDA_BATCH_MEM_OP_NODE_PARAMS_v2: size 32, align 8, { ctx: 0, count: 8, paramArray: 16, flags: 24, } }

c_enum! {
    CUoccupancy_flags: c_uint {
        CU_OCCUPANCY_DEFAULT = 0,
        CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE = 1,
    }
}

c_enum! {
    CUstreamUpdateCaptureDependencies_flags: c_uint {
        CU_STREAM_ADD_CAPTURE_DEPENDENCIES = 0,
        CU_STREAM_SET_CAPTURE_DEPENDENCIES = 1,
    }
}

c_enum! {
    CUasyncNotificationType: c_uint {
        CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET = 1,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUasyncNotificationInfo {
    pub type_: CUasyncNotificationType,
    pub info: CUasyncNotificationInfo_info,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUasyncNotificationInfo_info {
    pub overBudget: CUasyncNotificationInfo_info_overBudget,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUasyncNotificationInfo_info_overBudget {
    pub bytesOverBudget: c_ulonglong,
}

layout! { CUasyncNotificationInfo_info_overBudget: size 8, align 8, { bytesOverBudget: 0, } }

layout! { CUasyncNotificationInfo_info: size 8, align 8, { overBudget: 0, } }

layout! { CUasyncNotificationInfo: size 16, align 8, { type_: 0, info: 8, } }

pub type CUasyncCallback = Option<
    unsafe extern "C" fn(info: *mut CUasyncNotificationInfo, userData: *mut c_void, callback: CUasyncCallbackHandle),
>;

c_enum! {
    CUarray_format: c_uint {
        CU_AD_FORMAT_UNSIGNED_INT8 = 1,
        CU_AD_FORMAT_UNSIGNED_INT16 = 2,
        CU_AD_FORMAT_UNSIGNED_INT32 = 3,
        CU_AD_FORMAT_SIGNED_INT8 = 8,
        CU_AD_FORMAT_SIGNED_INT16 = 9,
        CU_AD_FORMAT_SIGNED_INT32 = 10,
        CU_AD_FORMAT_HALF = 16,
        CU_AD_FORMAT_FLOAT = 32,
        CU_AD_FORMAT_NV12 = 176,
        CU_AD_FORMAT_UNORM_INT8X1 = 192,
        CU_AD_FORMAT_UNORM_INT8X2 = 193,
        CU_AD_FORMAT_UNORM_INT8X4 = 194,
        CU_AD_FORMAT_UNORM_INT16X1 = 195,
        CU_AD_FORMAT_UNORM_INT16X2 = 196,
        CU_AD_FORMAT_UNORM_INT16X4 = 197,
        CU_AD_FORMAT_SNORM_INT8X1 = 198,
        CU_AD_FORMAT_SNORM_INT8X2 = 199,
        CU_AD_FORMAT_SNORM_INT8X4 = 200,
        CU_AD_FORMAT_SNORM_INT16X1 = 201,
        CU_AD_FORMAT_SNORM_INT16X2 = 202,
        CU_AD_FORMAT_SNORM_INT16X4 = 203,
        CU_AD_FORMAT_BC1_UNORM = 145,
        CU_AD_FORMAT_BC1_UNORM_SRGB = 146,
        CU_AD_FORMAT_BC2_UNORM = 147,
        CU_AD_FORMAT_BC2_UNORM_SRGB = 148,
        CU_AD_FORMAT_BC3_UNORM = 149,
        CU_AD_FORMAT_BC3_UNORM_SRGB = 150,
        CU_AD_FORMAT_BC4_UNORM = 151,
        CU_AD_FORMAT_BC4_SNORM = 152,
        CU_AD_FORMAT_BC5_UNORM = 153,
        CU_AD_FORMAT_BC5_SNORM = 154,
        CU_AD_FORMAT_BC6H_UF16 = 155,
        CU_AD_FORMAT_BC6H_SF16 = 156,
        CU_AD_FORMAT_BC7_UNORM = 157,
        CU_AD_FORMAT_BC7_UNORM_SRGB = 158,
        CU_AD_FORMAT_P010 = 159,
        CU_AD_FORMAT_P016 = 161,
        CU_AD_FORMAT_NV16 = 162,
        CU_AD_FORMAT_P210 = 163,
        CU_AD_FORMAT_P216 = 164,
        CU_AD_FORMAT_YUY2 = 165,
        CU_AD_FORMAT_Y210 = 166,
        CU_AD_FORMAT_Y216 = 167,
        CU_AD_FORMAT_AYUV = 168,
        CU_AD_FORMAT_Y410 = 169,
        CU_AD_FORMAT_Y416 = 177,
        CU_AD_FORMAT_Y444_PLANAR8 = 178,
        CU_AD_FORMAT_Y444_PLANAR10 = 179,
        CU_AD_FORMAT_YUV444_8bit_SemiPlanar = 180,
        CU_AD_FORMAT_YUV444_16bit_SemiPlanar = 181,
        CU_AD_FORMAT_UNORM_INT_101010_2 = 80,
        CU_AD_FORMAT_UINT8_PACKED_422 = 81,
        CU_AD_FORMAT_UINT8_PACKED_444 = 82,
        CU_AD_FORMAT_UINT8_SEMIPLANAR_420 = 83,
        CU_AD_FORMAT_UINT16_SEMIPLANAR_420 = 84,
        CU_AD_FORMAT_UINT8_SEMIPLANAR_422 = 85,
        CU_AD_FORMAT_UINT16_SEMIPLANAR_422 = 86,
        CU_AD_FORMAT_UINT8_SEMIPLANAR_444 = 87,
        CU_AD_FORMAT_UINT16_SEMIPLANAR_444 = 88,
        CU_AD_FORMAT_UINT8_PLANAR_420 = 89,
        CU_AD_FORMAT_UINT16_PLANAR_420 = 90,
        CU_AD_FORMAT_UINT8_PLANAR_422 = 91,
        CU_AD_FORMAT_UINT16_PLANAR_422 = 92,
        CU_AD_FORMAT_UINT8_PLANAR_444 = 93,
        CU_AD_FORMAT_UINT16_PLANAR_444 = 94,
        CU_AD_FORMAT_MAX = 2147483647,
    }
}

c_enum! {
    CUaddress_mode: c_uint {
        CU_TR_ADDRESS_MODE_WRAP = 0,
        CU_TR_ADDRESS_MODE_CLAMP = 1,
        CU_TR_ADDRESS_MODE_MIRROR = 2,
        CU_TR_ADDRESS_MODE_BORDER = 3,
    }
}

c_enum! {
    CUfilter_mode: c_uint {
        CU_TR_FILTER_MODE_POINT = 0,
        CU_TR_FILTER_MODE_LINEAR = 1,
    }
}

c_enum! {
    CUdevice_attribute: c_uint {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
        CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK = 8,
        CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
        CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
        CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
        CU_DEVICE_ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
        CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
        CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
        CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
        CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
        CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
        CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = 21,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = 24,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT = 25,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = 26,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 28,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_WIDTH = 27,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_HEIGHT = 28,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES = 29,
        CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT = 30,
        CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
        CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
        CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
        CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
        CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
        CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
        CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 42,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 43,
        CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER = 44,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 46,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 47,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 48,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 49,
        CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
        CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH = 52,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 53,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 54,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = 55,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = 56,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT = 57,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = 58,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT = 59,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = 60,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH = 61,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS = 62,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH = 63,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 64,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS = 65,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH = 66,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 67,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 68,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 70,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 71,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH = 72,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 74,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 77,
        CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
        CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
        CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
        CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
        CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84,
        CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID = 85,
        CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
        CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87,
        CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
        CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
        CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
        CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 = 92,
        CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1 = 93,
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1 = 94,
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
        CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98,
        CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
        CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
        CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 104,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED = 105,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
        CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107,
        CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 108,
        CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE = 109,
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
        CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
        CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED = 112,
        CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
        CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114,
        CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116,
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
        CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119,
        CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
        CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 121,
        CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122,
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
        CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
        CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
        CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT = 126,
        CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED = 127,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128,
        CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS = 129,
        CU_DEVICE_ATTRIBUTE_NUMA_CONFIG = 130,
        CU_DEVICE_ATTRIBUTE_NUMA_ID = 131,
        CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED = 132,
        CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134,
        CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED = 135,
        CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK = 136,
        CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH = 137,
        CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED = 138,
        CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID = 139,
        CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID = 140,
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 141,
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED = 142,
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143,
        CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED = 144,
        CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 145,
        CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED = 146,
        CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED = 147,
        CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED = 148,
        CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT = 149,
        CU_DEVICE_ATTRIBUTE_MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK = 150,
        CU_DEVICE_ATTRIBUTE_D3D12_CIG_STREAMS_SUPPORTED = 151,
        CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED = 152,
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED = 153,
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED = 154,
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED = 155,
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED = 156,
        CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT = 157,
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES = 158,
        CU_DEVICE_ATTRIBUTE_VULKAN_CIG_STREAMS_SUPPORTED = 159,
        CU_DEVICE_ATTRIBUTE_TENSOR_MAP_LARGE_TENSOR_MIN_SIZE = 160,
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED = 161,
        CU_DEVICE_ATTRIBUTE_MAX = 162,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUdevprop_v1 {
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3],
    pub maxGridSize: [c_int; 3],
    pub sharedMemPerBlock: c_int,
    pub totalConstantMemory: c_int,
    pub SIMDWidth: c_int,
    pub memPitch: c_int,
    pub regsPerBlock: c_int,
    pub clockRate: c_int,
    pub textureAlign: c_int,
}

layout! { CUdevprop_v1: size 56, align 4, { maxThreadsPerBlock: 0, maxThreadsDim: 4, maxGridSize: 16, sharedMemPerBlock: 28, totalConstantMemory: 32, SIMDWidth: 36, memPitch: 40, regsPerBlock: 44, clockRate: 48, textureAlign: 52, } }

pub type CUdevprop = CUdevprop_v1;

c_enum! {
    CUpointer_attribute: c_uint {
        CU_POINTER_ATTRIBUTE_CONTEXT = 1,
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
        CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
        CU_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
        CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
        CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
        CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
        CU_POINTER_ATTRIBUTE_MAPPED = 13,
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
        CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
        CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
        CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,
        CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
        CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20,
        CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21,
        CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL = 22,
    }
}

c_enum! {
    CUfunction_attribute: c_uint {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
        CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
        CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
        CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
        CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED = 16,
        CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE = 17,
        CU_FUNC_ATTRIBUTE_MAX = 18,
    }
}

c_enum! {
    CUfunc_cache: c_uint {
        CU_FUNC_CACHE_PREFER_NONE = 0,
        CU_FUNC_CACHE_PREFER_SHARED = 1,
        CU_FUNC_CACHE_PREFER_L1 = 2,
        CU_FUNC_CACHE_PREFER_EQUAL = 3,
    }
}

c_enum! {
    CUsharedconfig: c_uint {
        CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
        CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
        CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2,
    }
}

c_enum! {
    CUshared_carveout: c_int {
        CU_SHAREDMEM_CARVEOUT_DEFAULT = -1,
        CU_SHAREDMEM_CARVEOUT_MAX_SHARED = 100,
        CU_SHAREDMEM_CARVEOUT_MAX_L1 = 0,
    }
}

c_enum! {
    CUmemorytype: c_uint {
        CU_MEMORYTYPE_HOST = 1,
        CU_MEMORYTYPE_DEVICE = 2,
        CU_MEMORYTYPE_ARRAY = 3,
        CU_MEMORYTYPE_UNIFIED = 4,
    }
}

c_enum! {
    CUcomputemode: c_uint {
        CU_COMPUTEMODE_DEFAULT = 0,
        CU_COMPUTEMODE_PROHIBITED = 2,
        CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
    }
}

c_enum! {
    CUmem_advise: c_uint {
        CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
        CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
        CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
        CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
        CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
        CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
    }
}

c_enum! {
    CUmem_range_attribute: c_uint {
        CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
        CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5,
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8,
    }
}

c_enum! {
    CUjit_option: c_uint {
        CU_JIT_MAX_REGISTERS = 0,
        CU_JIT_THREADS_PER_BLOCK = 1,
        CU_JIT_WALL_TIME = 2,
        CU_JIT_INFO_LOG_BUFFER = 3,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
        CU_JIT_ERROR_LOG_BUFFER = 5,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
        CU_JIT_OPTIMIZATION_LEVEL = 7,
        CU_JIT_TARGET_FROM_CUCONTEXT = 8,
        CU_JIT_TARGET = 9,
        CU_JIT_FALLBACK_STRATEGY = 10,
        CU_JIT_GENERATE_DEBUG_INFO = 11,
        CU_JIT_LOG_VERBOSE = 12,
        CU_JIT_GENERATE_LINE_INFO = 13,
        CU_JIT_CACHE_MODE = 14,
        CU_JIT_NEW_SM3X_OPT = 15,
        CU_JIT_FAST_COMPILE = 16,
        CU_JIT_GLOBAL_SYMBOL_NAMES = 17,
        CU_JIT_GLOBAL_SYMBOL_ADDRESSES = 18,
        CU_JIT_GLOBAL_SYMBOL_COUNT = 19,
        CU_JIT_LTO = 20,
        CU_JIT_FTZ = 21,
        CU_JIT_PREC_DIV = 22,
        CU_JIT_PREC_SQRT = 23,
        CU_JIT_FMA = 24,
        CU_JIT_REFERENCED_KERNEL_NAMES = 25,
        CU_JIT_REFERENCED_KERNEL_COUNT = 26,
        CU_JIT_REFERENCED_VARIABLE_NAMES = 27,
        CU_JIT_REFERENCED_VARIABLE_COUNT = 28,
        CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES = 29,
        CU_JIT_POSITION_INDEPENDENT_CODE = 30,
        CU_JIT_MIN_CTA_PER_SM = 31,
        CU_JIT_MAX_THREADS_PER_BLOCK = 32,
        CU_JIT_OVERRIDE_DIRECTIVE_VALUES = 33,
        CU_JIT_SPLIT_COMPILE = 34,
        CU_JIT_BINARY_LOADER_THREAD_COUNT = 35,
        CU_JIT_NUM_OPTIONS = 36,
    }
}

c_enum! {
    CUjit_target: c_uint {
        CU_TARGET_COMPUTE_30 = 30,
        CU_TARGET_COMPUTE_32 = 32,
        CU_TARGET_COMPUTE_35 = 35,
        CU_TARGET_COMPUTE_37 = 37,
        CU_TARGET_COMPUTE_50 = 50,
        CU_TARGET_COMPUTE_52 = 52,
        CU_TARGET_COMPUTE_53 = 53,
        CU_TARGET_COMPUTE_60 = 60,
        CU_TARGET_COMPUTE_61 = 61,
        CU_TARGET_COMPUTE_62 = 62,
        CU_TARGET_COMPUTE_70 = 70,
        CU_TARGET_COMPUTE_72 = 72,
        CU_TARGET_COMPUTE_75 = 75,
        CU_TARGET_COMPUTE_80 = 80,
        CU_TARGET_COMPUTE_86 = 86,
        CU_TARGET_COMPUTE_87 = 87,
        CU_TARGET_COMPUTE_89 = 89,
        CU_TARGET_COMPUTE_90 = 90,
        CU_TARGET_COMPUTE_100 = 100,
        CU_TARGET_COMPUTE_110 = 110,
        CU_TARGET_COMPUTE_103 = 103,
        CU_TARGET_COMPUTE_107 = 107,
        CU_TARGET_COMPUTE_120 = 120,
        CU_TARGET_COMPUTE_121 = 121,
        CU_TARGET_COMPUTE_90A = 65626,
        CU_TARGET_COMPUTE_100A = 65636,
        CU_TARGET_COMPUTE_110A = 65646,
        CU_TARGET_COMPUTE_103A = 65639,
        CU_TARGET_COMPUTE_107A = 65643,
        CU_TARGET_COMPUTE_120A = 65656,
        CU_TARGET_COMPUTE_121A = 65657,
        CU_TARGET_COMPUTE_100F = 131172,
        CU_TARGET_COMPUTE_110F = 131182,
        CU_TARGET_COMPUTE_103F = 131175,
        CU_TARGET_COMPUTE_107F = 131179,
        CU_TARGET_COMPUTE_120F = 131192,
        CU_TARGET_COMPUTE_121F = 131193,
    }
}

c_enum! {
    CUjit_fallback: c_uint {
        CU_PREFER_PTX = 0,
        CU_PREFER_BINARY = 1,
    }
}

c_enum! {
    CUjit_cacheMode: c_uint {
        CU_JIT_CACHE_OPTION_NONE = 0,
        CU_JIT_CACHE_OPTION_CG = 1,
        CU_JIT_CACHE_OPTION_CA = 2,
    }
}

c_enum! {
    CUjitInputType: c_uint {
        CU_JIT_INPUT_CUBIN = 0,
        CU_JIT_INPUT_PTX = 1,
        CU_JIT_INPUT_FATBINARY = 2,
        CU_JIT_INPUT_OBJECT = 3,
        CU_JIT_INPUT_LIBRARY = 4,
        CU_JIT_INPUT_NVVM = 5,
        CU_JIT_NUM_INPUT_TYPES = 6,
    }
}

c_enum! {
    CUgraphicsRegisterFlags: c_uint {
        CU_GRAPHICS_REGISTER_FLAGS_NONE = 0,
        CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY = 1,
        CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD = 2,
        CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST = 4,
        CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER = 8,
    }
}

c_enum! {
    CUgraphicsMapResourceFlags: c_uint {
        CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE = 0,
        CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
        CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2,
    }
}

c_enum! {
    CUarray_cubemap_face: c_uint {
        CU_CUBEMAP_FACE_POSITIVE_X = 0,
        CU_CUBEMAP_FACE_NEGATIVE_X = 1,
        CU_CUBEMAP_FACE_POSITIVE_Y = 2,
        CU_CUBEMAP_FACE_NEGATIVE_Y = 3,
        CU_CUBEMAP_FACE_POSITIVE_Z = 4,
        CU_CUBEMAP_FACE_NEGATIVE_Z = 5,
    }
}

c_enum! {
    CUlimit: c_uint {
        CU_LIMIT_STACK_SIZE = 0,
        CU_LIMIT_PRINTF_FIFO_SIZE = 1,
        CU_LIMIT_MALLOC_HEAP_SIZE = 2,
        CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,
        CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
        CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
        CU_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,
        CU_LIMIT_SHMEM_SIZE = 7,
        CU_LIMIT_CIG_ENABLED = 8,
        CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED = 9,
        CU_LIMIT_PER_BLOCK_MEMORY_SIZE = 10,
        CU_LIMIT_MAX = 11,
    }
}

c_enum! {
    CUresourcetype: c_uint {
        CU_RESOURCE_TYPE_ARRAY = 0,
        CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
        CU_RESOURCE_TYPE_LINEAR = 2,
        CU_RESOURCE_TYPE_PITCH2D = 3,
    }
}

pub type CUhostFn = Option<unsafe extern "C" fn(userData: *mut c_void)>;

c_enum! {
    CUaccessProperty: c_uint {
        CU_ACCESS_PROPERTY_NORMAL = 0,
        CU_ACCESS_PROPERTY_STREAMING = 1,
        CU_ACCESS_PROPERTY_PERSISTING = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq)]
pub struct CUaccessPolicyWindow_v1 {
    pub base_ptr: *mut c_void,
    pub num_bytes: usize,
    pub hitRatio: f32,
    pub hitProp: CUaccessProperty,
    pub missProp: CUaccessProperty,
}

layout! { CUaccessPolicyWindow_v1: size 32, align 8, { base_ptr: 0, num_bytes: 8, hitRatio: 16, hitProp: 20, missProp: 24, } }

pub type CUaccessPolicyWindow = CUaccessPolicyWindow_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_KERNEL_NODE_PARAMS_v1 {
    pub func: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

layout! { CUDA_KERNEL_NODE_PARAMS_v1: size 56, align 8, { func: 0, gridDimX: 8, gridDimY: 12, gridDimZ: 16, blockDimX: 20, blockDimY: 24, blockDimZ: 28, sharedMemBytes: 32, kernelParams: 40, extra: 48, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_KERNEL_NODE_PARAMS_v2 {
    pub func: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kern: CUkernel,
    pub ctx: CUcontext,
}

layout! { CUDA_KERNEL_NODE_PARAMS_v2: size 72, align 8, { func: 0, gridDimX: 8, gridDimY: 12, gridDimZ: 16, blockDimX: 20, blockDimY: 24, blockDimZ: 28, sharedMemBytes: 32, kernelParams: 40, extra: 48, kern: 56, ctx: 64, } }

pub type CUDA_KERNEL_NODE_PARAMS = CUDA_KERNEL_NODE_PARAMS_v2;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_KERNEL_NODE_PARAMS_v3 {
    pub func: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kern: CUkernel,
    pub ctx: CUcontext,
}

layout! { CUDA_KERNEL_NODE_PARAMS_v3: size 72, align 8, { func: 0, gridDimX: 8, gridDimY: 12, gridDimZ: 16, blockDimX: 20, blockDimY: 24, blockDimZ: 28, sharedMemBytes: 32, kernelParams: 40, extra: 48, kern: 56, ctx: 64, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMSET_NODE_PARAMS_v1 {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
}

layout! { CUDA_MEMSET_NODE_PARAMS_v1: size 40, align 8, { dst: 0, pitch: 8, value: 16, elementSize: 20, width: 24, height: 32, } }

pub type CUDA_MEMSET_NODE_PARAMS = CUDA_MEMSET_NODE_PARAMS_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMSET_NODE_PARAMS_v2 {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
    pub ctx: CUcontext,
}

layout! { CUDA_MEMSET_NODE_PARAMS_v2: size 48, align 8, { dst: 0, pitch: 8, value: 16, elementSize: 20, width: 24, height: 32, ctx: 40, } }

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct CUDA_HOST_NODE_PARAMS_v1 {
    pub fn_: CUhostFn,
    pub userData: *mut c_void,
}

layout! { CUDA_HOST_NODE_PARAMS_v1: size 16, align 8, { fn_: 0, userData: 8, } }

pub type CUDA_HOST_NODE_PARAMS = CUDA_HOST_NODE_PARAMS_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_HOST_NODE_PARAMS_v2 {
    pub fn_: CUhostFn,
    pub userData: *mut c_void,
    pub syncMode: c_uint,
    pub anon_1: CUDA_HOST_NODE_PARAMS_v2_anon_1,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_HOST_NODE_PARAMS_v2_anon_1 {
    pub ctx: CUcontext,
    pub gCtx: CUgreenCtx,
}

layout! { CUDA_HOST_NODE_PARAMS_v2_anon_1: size 8, align 8, { ctx: 0, gCtx: 0, } }

layout! { CUDA_HOST_NODE_PARAMS_v2: size 32, align 8, { fn_: 0, userData: 8, syncMode: 16, } }

c_enum! {
    CUgraphConditionalNodeType: c_uint {
        CU_GRAPH_COND_TYPE_IF = 0,
        CU_GRAPH_COND_TYPE_WHILE = 1,
        CU_GRAPH_COND_TYPE_SWITCH = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_CONDITIONAL_NODE_PARAMS {
    pub handle: CUgraphConditionalHandle,
    pub type_: CUgraphConditionalNodeType,
    pub size: c_uint,
    pub phGraph_out: *mut CUgraph,
    pub ctx: CUcontext,
}

layout! { CUDA_CONDITIONAL_NODE_PARAMS: size 32, align 8, { handle: 0, type_: 8, size: 12, phGraph_out: 16, ctx: 24, } }

c_enum! {
    CUgraphNodeType: c_uint {
        CU_GRAPH_NODE_TYPE_KERNEL = 0,
        CU_GRAPH_NODE_TYPE_MEMCPY = 1,
        CU_GRAPH_NODE_TYPE_MEMSET = 2,
        CU_GRAPH_NODE_TYPE_HOST = 3,
        CU_GRAPH_NODE_TYPE_GRAPH = 4,
        CU_GRAPH_NODE_TYPE_EMPTY = 5,
        CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
        CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
        CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8,
        CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9,
        CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
        CU_GRAPH_NODE_TYPE_MEM_FREE = 11,
        CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
        CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,
        CU_GRAPH_NODE_TYPE_MEMCPY_BATCH = 14,
        CU_GRAPH_NODE_TYPE_RESERVED_16 = 16,
        CU_GRAPH_NODE_TYPE_EXTERNAL_ENGINE = 17,
        CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH = 18,
    }
}

c_enum! {
    CUgraphDependencyType: c_uint {
        CU_GRAPH_DEPENDENCY_TYPE_DEFAULT = 0,
        CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC = 1,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUgraphEdgeData {
    pub from_port: c_uchar,
    pub to_port: c_uchar,
    pub type_: c_uchar,
    pub reserved: [c_uchar; 5],
}

layout! { CUgraphEdgeData: size 8, align 1, { from_port: 0, to_port: 1, type_: 2, reserved: 3, } }

c_enum! {
    CUgraphInstantiateResult: c_uint {
        CUDA_GRAPH_INSTANTIATE_SUCCESS = 0,
        CUDA_GRAPH_INSTANTIATE_ERROR = 1,
        CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2,
        CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3,
        CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4,
        CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED = 5,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    pub flags: cuuint64_t,
    pub hUploadStream: CUstream,
    pub hErrNode_out: CUgraphNode,
    pub result_out: CUgraphInstantiateResult,
}

layout! { CUDA_GRAPH_INSTANTIATE_PARAMS: size 32, align 8, { flags: 0, hUploadStream: 8, hErrNode_out: 16, result_out: 24, } }

c_enum! {
    CUsynchronizationPolicy: c_uint {
        CU_SYNC_POLICY_AUTO = 1,
        CU_SYNC_POLICY_SPIN = 2,
        CU_SYNC_POLICY_YIELD = 3,
        CU_SYNC_POLICY_BLOCKING_SYNC = 4,
    }
}

c_enum! {
    CUclusterSchedulingPolicy: c_uint {
        CU_CLUSTER_SCHEDULING_POLICY_DEFAULT = 0,
        CU_CLUSTER_SCHEDULING_POLICY_SPREAD = 1,
        CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING = 2,
        CU_CLUSTER_SCHEDULING_POLICY_RUBIN_DSMEM_LOCALITY = 3,
    }
}

c_enum! {
    CUlaunchMemSyncDomain: c_uint {
        CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT = 0,
        CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE = 1,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlaunchMemSyncDomainMap {
    pub default_: c_uchar,
    pub remote: c_uchar,
}

layout! { CUlaunchMemSyncDomainMap: size 2, align 1, { default_: 0, remote: 1, } }

c_enum! {
    CUlaunchAttributePortableClusterMode: c_uint {
        CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT = 0,
        CU_LAUNCH_PORTABLE_CLUSTER_MODE_REQUIRE_PORTABLE = 1,
        CU_LAUNCH_PORTABLE_CLUSTER_MODE_ALLOW_NON_PORTABLE = 2,
    }
}

c_enum! {
    CUsharedMemoryMode: c_uint {
        CU_SHARED_MEMORY_MODE_DEFAULT = 0,
        CU_SHARED_MEMORY_MODE_REQUIRE_PORTABLE = 1,
        CU_SHARED_MEMORY_MODE_ALLOW_NON_PORTABLE = 2,
        CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY = 3,
        CU_SHARED_MEMORY_MODE_PREFER_OVERSIZED_SHARED_MEMORY = 4,
    }
}

c_enum! {
    CUlaunchAttributeID: c_uint {
        CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
        CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
        CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
        CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
        CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,
        CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16,
        CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE = 17,
        CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE = 18,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUlaunchAttributeValue {
    pub pad: [c_char; 64],
    pub accessPolicyWindow: CUaccessPolicyWindow,
    pub cooperative: c_int,
    pub syncPolicy: CUsynchronizationPolicy,
    pub clusterDim: CUlaunchAttributeValue_clusterDim,
    pub clusterSchedulingPolicyPreference: CUclusterSchedulingPolicy,
    pub programmaticStreamSerializationAllowed: c_int,
    pub programmaticEvent: CUlaunchAttributeValue_programmaticEvent,
    pub launchCompletionEvent: CUlaunchAttributeValue_launchCompletionEvent,
    pub priority: c_int,
    pub memSyncDomainMap: CUlaunchMemSyncDomainMap,
    pub memSyncDomain: CUlaunchMemSyncDomain,
    pub preferredClusterDim: CUlaunchAttributeValue_preferredClusterDim,
    pub deviceUpdatableKernelNode: CUlaunchAttributeValue_deviceUpdatableKernelNode,
    pub sharedMemCarveout: c_uint,
    pub nvlinkUtilCentricScheduling: c_uint,
    pub portableClusterSizeMode: CUlaunchAttributePortableClusterMode,
    pub sharedMemoryMode: CUsharedMemoryMode,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlaunchAttributeValue_clusterDim {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

layout! { CUlaunchAttributeValue_clusterDim: size 12, align 4, { x: 0, y: 4, z: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlaunchAttributeValue_programmaticEvent {
    pub event: CUevent,
    pub flags: c_int,
    pub triggerAtBlockStart: c_int,
}

layout! { CUlaunchAttributeValue_programmaticEvent: size 16, align 8, { event: 0, flags: 8, triggerAtBlockStart: 12, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlaunchAttributeValue_launchCompletionEvent {
    pub event: CUevent,
    pub flags: c_int,
}

layout! { CUlaunchAttributeValue_launchCompletionEvent: size 16, align 8, { event: 0, flags: 8, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlaunchAttributeValue_preferredClusterDim {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

layout! { CUlaunchAttributeValue_preferredClusterDim: size 12, align 4, { x: 0, y: 4, z: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlaunchAttributeValue_deviceUpdatableKernelNode {
    pub deviceUpdatable: c_int,
    pub devNode: CUgraphDeviceNode,
}

layout! { CUlaunchAttributeValue_deviceUpdatableKernelNode: size 16, align 8, { deviceUpdatable: 0, devNode: 8, } }

layout! { CUlaunchAttributeValue: size 64, align 8, { pad: 0, accessPolicyWindow: 0, cooperative: 0, syncPolicy: 0, clusterDim: 0, clusterSchedulingPolicyPreference: 0, programmaticStreamSerializationAllowed: 0, programmaticEvent: 0, launchCompletionEvent: 0, priority: 0, memSyncDomainMap: 0, memSyncDomain: 0, preferredClusterDim: 0, deviceUpdatableKernelNode: 0, sharedMemCarveout: 0, nvlinkUtilCentricScheduling: 0, portableClusterSizeMode: 0, sharedMemoryMode: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUlaunchAttribute {
    pub id: CUlaunchAttributeID,
    pub pad: [c_char; 4],
    pub value: CUlaunchAttributeValue,
}

layout! { CUlaunchAttribute: size 72, align 8, { id: 0, pad: 4, value: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlaunchConfig {
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: CUstream,
    pub attrs: *mut CUlaunchAttribute,
    pub numAttrs: c_uint,
}

layout! { CUlaunchConfig: size 56, align 8, { gridDimX: 0, gridDimY: 4, gridDimZ: 8, blockDimX: 12, blockDimY: 16, blockDimZ: 20, sharedMemBytes: 24, hStream: 32, attrs: 40, numAttrs: 48, } }

pub type CUkernelNodeAttrID = CUlaunchAttributeID;
pub type CUkernelNodeAttrValue_v1 = CUlaunchAttributeValue;
pub type CUkernelNodeAttrValue = CUkernelNodeAttrValue_v1;

c_enum! {
    CUstreamCaptureStatus: c_uint {
        CU_STREAM_CAPTURE_STATUS_NONE = 0,
        CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
        CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
    }
}

c_enum! {
    CUstreamCaptureMode: c_uint {
        CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
        CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    }
}

pub type CUstreamAttrID = CUlaunchAttributeID;
pub type CUstreamAttrValue_v1 = CUlaunchAttributeValue;
pub type CUstreamAttrValue = CUstreamAttrValue_v1;

c_enum! {
    CUdriverProcAddress_flags: c_uint {
        CU_GET_PROC_ADDRESS_DEFAULT = 0,
        CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
    }
}

c_enum! {
    CUdriverProcAddressQueryResult: c_uint {
        CU_GET_PROC_ADDRESS_SUCCESS = 0,
        CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
        CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
    }
}

c_enum! {
    CUexecAffinityType: c_uint {
        CU_EXEC_AFFINITY_TYPE_SM_COUNT = 0,
        CU_EXEC_AFFINITY_TYPE_MAX = 1,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUexecAffinitySmCount_v1 {
    pub val: c_uint,
}

layout! { CUexecAffinitySmCount_v1: size 4, align 4, { val: 0, } }

pub type CUexecAffinitySmCount = CUexecAffinitySmCount_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUexecAffinityParam_v1 {
    pub type_: CUexecAffinityType,
    pub param: CUexecAffinityParam_v1_param,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUexecAffinityParam_v1_param {
    pub smCount: CUexecAffinitySmCount,
}

layout! { CUexecAffinityParam_v1_param: size 4, align 4, { smCount: 0, } }

layout! { CUexecAffinityParam_v1: size 8, align 4, { type_: 0, param: 4, } }

pub type CUexecAffinityParam = CUexecAffinityParam_v1;

c_enum! {
    CUcigDataType: c_uint {
        CIG_DATA_TYPE_D3D12_COMMAND_QUEUE = 1,
        CIG_DATA_TYPE_NV_BLOB = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUctxCigParam {
    pub sharedDataType: CUcigDataType,
    pub sharedData: *mut c_void,
}

layout! { CUctxCigParam: size 16, align 8, { sharedDataType: 0, sharedData: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUctxCreateParams {
    pub execAffinityParams: *mut CUexecAffinityParam,
    pub numExecAffinityParams: c_int,
    pub cigParams: *mut CUctxCigParam,
}

layout! { CUctxCreateParams: size 24, align 8, { execAffinityParams: 0, numExecAffinityParams: 8, cigParams: 16, } }

c_enum! {
    CUstreamCigDataType: c_uint {
        STREAM_CIG_DATA_TYPE_D3D12_COMMAND_LIST = 1,
        STREAM_CIG_DATA_TYPE_VULKAN_COMMAND_BUFFER_HANDLE_NV = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUstreamCigParam {
    pub streamSharedDataType: CUstreamCigDataType,
    pub streamSharedData: *mut c_void,
}

layout! { CUstreamCigParam: size 16, align 8, { streamSharedDataType: 0, streamSharedData: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUstreamCigCaptureParams {
    pub streamCigParams: *mut CUstreamCigParam,
}

layout! { CUstreamCigCaptureParams: size 8, align 8, { streamCigParams: 0, } }

c_enum! {
    CUlibraryOption: c_uint {
        CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0,
        CU_LIBRARY_BINARY_IS_PRESERVED = 1,
        CU_LIBRARY_NUM_OPTIONS = 2,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlibraryHostUniversalFunctionAndDataTable {
    pub functionTable: *mut c_void,
    pub functionWindowSize: usize,
    pub dataTable: *mut c_void,
    pub dataWindowSize: usize,
}

layout! { CUlibraryHostUniversalFunctionAndDataTable: size 32, align 8, { functionTable: 0, functionWindowSize: 8, dataTable: 16, dataWindowSize: 24, } }

c_enum! {
    CUresult: c_uint {
        CUDA_SUCCESS = 0,
        CUDA_ERROR_INVALID_VALUE = 1,
        CUDA_ERROR_OUT_OF_MEMORY = 2,
        CUDA_ERROR_NOT_INITIALIZED = 3,
        CUDA_ERROR_DEINITIALIZED = 4,
        CUDA_ERROR_PROFILER_DISABLED = 5,
        CUDA_ERROR_PROFILER_NOT_INITIALIZED = 6,
        CUDA_ERROR_PROFILER_ALREADY_STARTED = 7,
        CUDA_ERROR_PROFILER_ALREADY_STOPPED = 8,
        CUDA_ERROR_STUB_LIBRARY = 34,
        CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,
        CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
        CUDA_ERROR_MULTICAST_RESOURCE_FULL = 47,
        CUDA_ERROR_NO_DEVICE = 100,
        CUDA_ERROR_INVALID_DEVICE = 101,
        CUDA_ERROR_DEVICE_NOT_LICENSED = 102,
        CUDA_ERROR_INVALID_IMAGE = 200,
        CUDA_ERROR_INVALID_CONTEXT = 201,
        CUDA_ERROR_CONTEXT_ALREADY_CURRENT = 202,
        CUDA_ERROR_MAP_FAILED = 205,
        CUDA_ERROR_UNMAP_FAILED = 206,
        CUDA_ERROR_ARRAY_IS_MAPPED = 207,
        CUDA_ERROR_ALREADY_MAPPED = 208,
        CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
        CUDA_ERROR_ALREADY_ACQUIRED = 210,
        CUDA_ERROR_NOT_MAPPED = 211,
        CUDA_ERROR_NOT_MAPPED_AS_ARRAY = 212,
        CUDA_ERROR_NOT_MAPPED_AS_POINTER = 213,
        CUDA_ERROR_ECC_UNCORRECTABLE = 214,
        CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
        CUDA_ERROR_CONTEXT_ALREADY_IN_USE = 216,
        CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
        CUDA_ERROR_INVALID_PTX = 218,
        CUDA_ERROR_INVALID_GRAPHICS_CONTEXT = 219,
        CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
        CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
        CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY = 224,
        CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC = 225,
        CUDA_ERROR_CONTAINED = 226,
        CUDA_ERROR_INSUFFICIENT_LOADER_VERSION = 227,
        CUDA_ERROR_INVALID_SOURCE = 300,
        CUDA_ERROR_FILE_NOT_FOUND = 301,
        CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
        CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303,
        CUDA_ERROR_OPERATING_SYSTEM = 304,
        CUDA_ERROR_INVALID_HANDLE = 400,
        CUDA_ERROR_ILLEGAL_STATE = 401,
        CUDA_ERROR_LOSSY_QUERY = 402,
        CUDA_ERROR_NOT_FOUND = 500,
        CUDA_ERROR_NOT_READY = 600,
        CUDA_ERROR_ILLEGAL_ADDRESS = 700,
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
        CUDA_ERROR_LAUNCH_TIMEOUT = 702,
        CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING = 703,
        CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
        CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
        CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
        CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
        CUDA_ERROR_ASSERT = 710,
        CUDA_ERROR_TOO_MANY_PEERS = 711,
        CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
        CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
        CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
        CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
        CUDA_ERROR_MISALIGNED_ADDRESS = 716,
        CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
        CUDA_ERROR_INVALID_PC = 718,
        CUDA_ERROR_LAUNCH_FAILED = 719,
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
        CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
        CUDA_ERROR_NOT_PERMITTED = 800,
        CUDA_ERROR_NOT_SUPPORTED = 801,
        CUDA_ERROR_SYSTEM_NOT_READY = 802,
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
        CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
        CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
        CUDA_ERROR_MPS_RPC_FAILURE = 806,
        CUDA_ERROR_MPS_SERVER_NOT_READY = 807,
        CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808,
        CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED = 809,
        CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
        CUDA_ERROR_CDP_NOT_SUPPORTED = 811,
        CUDA_ERROR_CDP_VERSION_MISMATCH = 812,
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
        CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
        CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
        CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
        CUDA_ERROR_CAPTURED_EVENT = 907,
        CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
        CUDA_ERROR_TIMEOUT = 909,
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
        CUDA_ERROR_EXTERNAL_DEVICE = 911,
        CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
        CUDA_ERROR_FUNCTION_NOT_LOADED = 913,
        CUDA_ERROR_INVALID_RESOURCE_TYPE = 914,
        CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915,
        CUDA_ERROR_KEY_ROTATION = 916,
        CUDA_ERROR_STREAM_DETACHED = 917,
        CUDA_ERROR_GRAPH_RECAPTURE_FAILURE = 918,
        CUDA_ERROR_FABRIC_NOT_READY = 919,
        CUDA_ERROR_UNKNOWN = 999,
    }
}

c_enum! {
    CUdevice_P2PAttribute: c_uint {
        CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
        CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3,
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED = 4,
        CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED = 4,
        CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5,
    }
}

pub type CUstreamCallback = Option<unsafe extern "C" fn(hStream: CUstream, status: CUresult, userData: *mut c_void)>;
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(blockSize: c_int) -> usize>;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMCPY2D_v2 {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub srcPitch: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub dstPitch: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
}

layout! { CUDA_MEMCPY2D_v2: size 128, align 8, { srcXInBytes: 0, srcY: 8, srcMemoryType: 16, srcHost: 24, srcDevice: 32, srcArray: 40, srcPitch: 48, dstXInBytes: 56, dstY: 64, dstMemoryType: 72, dstHost: 80, dstDevice: 88, dstArray: 96, dstPitch: 104, WidthInBytes: 112, Height: 120, } }

pub type CUDA_MEMCPY2D = CUDA_MEMCPY2D_v2;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMCPY3D_v2 {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub reserved0: *mut c_void,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub reserved1: *mut c_void,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}

layout! { CUDA_MEMCPY3D_v2: size 200, align 8, { srcXInBytes: 0, srcY: 8, srcZ: 16, srcLOD: 24, srcMemoryType: 32, srcHost: 40, srcDevice: 48, srcArray: 56, reserved0: 64, srcPitch: 72, srcHeight: 80, dstXInBytes: 88, dstY: 96, dstZ: 104, dstLOD: 112, dstMemoryType: 120, dstHost: 128, dstDevice: 136, dstArray: 144, reserved1: 152, dstPitch: 160, dstHeight: 168, WidthInBytes: 176, Height: 184, Depth: 192, } }

pub type CUDA_MEMCPY3D = CUDA_MEMCPY3D_v2;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMCPY3D_PEER_v1 {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub srcContext: CUcontext,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub dstContext: CUcontext,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}

layout! { CUDA_MEMCPY3D_PEER_v1: size 200, align 8, { srcXInBytes: 0, srcY: 8, srcZ: 16, srcLOD: 24, srcMemoryType: 32, srcHost: 40, srcDevice: 48, srcArray: 56, srcContext: 64, srcPitch: 72, srcHeight: 80, dstXInBytes: 88, dstY: 96, dstZ: 104, dstLOD: 112, dstMemoryType: 120, dstHost: 128, dstDevice: 136, dstArray: 144, dstContext: 152, dstPitch: 160, dstHeight: 168, WidthInBytes: 176, Height: 184, Depth: 192, } }

pub type CUDA_MEMCPY3D_PEER = CUDA_MEMCPY3D_PEER_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMCPY_NODE_PARAMS {
    pub flags: c_int,
    pub reserved: c_int,
    pub copyCtx: CUcontext,
    pub copyParams: CUDA_MEMCPY3D,
}

layout! { CUDA_MEMCPY_NODE_PARAMS: size 216, align 8, { flags: 0, reserved: 4, copyCtx: 8, copyParams: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_ARRAY_DESCRIPTOR_v2 {
    pub Width: usize,
    pub Height: usize,
    pub Format: CUarray_format,
    pub NumChannels: c_uint,
}

layout! { CUDA_ARRAY_DESCRIPTOR_v2: size 24, align 8, { Width: 0, Height: 8, Format: 16, NumChannels: 20, } }

pub type CUDA_ARRAY_DESCRIPTOR = CUDA_ARRAY_DESCRIPTOR_v2;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_ARRAY3D_DESCRIPTOR_v2 {
    pub Width: usize,
    pub Height: usize,
    pub Depth: usize,
    pub Format: CUarray_format,
    pub NumChannels: c_uint,
    pub Flags: c_uint,
}

layout! { CUDA_ARRAY3D_DESCRIPTOR_v2: size 40, align 8, { Width: 0, Height: 8, Depth: 16, Format: 24, NumChannels: 28, Flags: 32, } }

pub type CUDA_ARRAY3D_DESCRIPTOR = CUDA_ARRAY3D_DESCRIPTOR_v2;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_ARRAY_SPARSE_PROPERTIES_v1 {
    pub tileExtent: CUDA_ARRAY_SPARSE_PROPERTIES_v1_tileExtent,
    pub miptailFirstLevel: c_uint,
    pub miptailSize: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 4],
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_ARRAY_SPARSE_PROPERTIES_v1_tileExtent {
    pub width: c_uint,
    pub height: c_uint,
    pub depth: c_uint,
}

layout! { CUDA_ARRAY_SPARSE_PROPERTIES_v1_tileExtent: size 12, align 4, { width: 0, height: 4, depth: 8, } }

layout! { CUDA_ARRAY_SPARSE_PROPERTIES_v1: size 48, align 8, { tileExtent: 0, miptailFirstLevel: 12, miptailSize: 16, flags: 24, reserved: 28, } }

pub type CUDA_ARRAY_SPARSE_PROPERTIES = CUDA_ARRAY_SPARSE_PROPERTIES_v1;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 {
    pub size: usize,
    pub alignment: usize,
    pub reserved: [c_uint; 4],
}

layout! { CUDA_ARRAY_MEMORY_REQUIREMENTS_v1: size 32, align 8, { size: 0, alignment: 8, reserved: 16, } }

pub type CUDA_ARRAY_MEMORY_REQUIREMENTS = CUDA_ARRAY_MEMORY_REQUIREMENTS_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_RESOURCE_DESC_v1 {
    pub resType: CUresourcetype,
    pub res: CUDA_RESOURCE_DESC_v1_res,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_RESOURCE_DESC_v1_res {
    pub array: CUDA_RESOURCE_DESC_v1_res_array,
    pub mipmap: CUDA_RESOURCE_DESC_v1_res_mipmap,
    pub linear: CUDA_RESOURCE_DESC_v1_res_linear,
    pub pitch2D: CUDA_RESOURCE_DESC_v1_res_pitch2D,
    pub reserved: CUDA_RESOURCE_DESC_v1_res_reserved,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_RESOURCE_DESC_v1_res_array {
    pub hArray: CUarray,
}

layout! { CUDA_RESOURCE_DESC_v1_res_array: size 8, align 8, { hArray: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_RESOURCE_DESC_v1_res_mipmap {
    pub hMipmappedArray: CUmipmappedArray,
}

layout! { CUDA_RESOURCE_DESC_v1_res_mipmap: size 8, align 8, { hMipmappedArray: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_RESOURCE_DESC_v1_res_linear {
    pub devPtr: CUdeviceptr,
    pub format: CUarray_format,
    pub numChannels: c_uint,
    pub sizeInBytes: usize,
}

layout! { CUDA_RESOURCE_DESC_v1_res_linear: size 24, align 8, { devPtr: 0, format: 8, numChannels: 12, sizeInBytes: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_RESOURCE_DESC_v1_res_pitch2D {
    pub devPtr: CUdeviceptr,
    pub format: CUarray_format,
    pub numChannels: c_uint,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
}

layout! { CUDA_RESOURCE_DESC_v1_res_pitch2D: size 40, align 8, { devPtr: 0, format: 8, numChannels: 12, width: 16, height: 24, pitchInBytes: 32, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_RESOURCE_DESC_v1_res_reserved {
    pub reserved: [c_int; 32],
}

layout! { CUDA_RESOURCE_DESC_v1_res_reserved: size 128, align 4, { reserved: 0, } }

layout! { CUDA_RESOURCE_DESC_v1_res: size 128, align 8, { array: 0, mipmap: 0, linear: 0, pitch2D: 0, reserved: 0, } }

layout! { CUDA_RESOURCE_DESC_v1: size 144, align 8, { resType: 0, res: 8, flags: 136, } }

pub type CUDA_RESOURCE_DESC = CUDA_RESOURCE_DESC_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq)]
pub struct CUDA_TEXTURE_DESC_v1 {
    pub addressMode: [CUaddress_mode; 3],
    pub filterMode: CUfilter_mode,
    pub flags: c_uint,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: CUfilter_mode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub borderColor: [f32; 4],
    pub reserved: [c_int; 12],
}

layout! { CUDA_TEXTURE_DESC_v1: size 104, align 4, { addressMode: 0, filterMode: 12, flags: 16, maxAnisotropy: 20, mipmapFilterMode: 24, mipmapLevelBias: 28, minMipmapLevelClamp: 32, maxMipmapLevelClamp: 36, borderColor: 40, reserved: 56, } }

pub type CUDA_TEXTURE_DESC = CUDA_TEXTURE_DESC_v1;

c_enum! {
    CUresourceViewFormat: c_uint {
        CU_RES_VIEW_FORMAT_NONE = 0,
        CU_RES_VIEW_FORMAT_UINT_1X8 = 1,
        CU_RES_VIEW_FORMAT_UINT_2X8 = 2,
        CU_RES_VIEW_FORMAT_UINT_4X8 = 3,
        CU_RES_VIEW_FORMAT_SINT_1X8 = 4,
        CU_RES_VIEW_FORMAT_SINT_2X8 = 5,
        CU_RES_VIEW_FORMAT_SINT_4X8 = 6,
        CU_RES_VIEW_FORMAT_UINT_1X16 = 7,
        CU_RES_VIEW_FORMAT_UINT_2X16 = 8,
        CU_RES_VIEW_FORMAT_UINT_4X16 = 9,
        CU_RES_VIEW_FORMAT_SINT_1X16 = 10,
        CU_RES_VIEW_FORMAT_SINT_2X16 = 11,
        CU_RES_VIEW_FORMAT_SINT_4X16 = 12,
        CU_RES_VIEW_FORMAT_UINT_1X32 = 13,
        CU_RES_VIEW_FORMAT_UINT_2X32 = 14,
        CU_RES_VIEW_FORMAT_UINT_4X32 = 15,
        CU_RES_VIEW_FORMAT_SINT_1X32 = 16,
        CU_RES_VIEW_FORMAT_SINT_2X32 = 17,
        CU_RES_VIEW_FORMAT_SINT_4X32 = 18,
        CU_RES_VIEW_FORMAT_FLOAT_1X16 = 19,
        CU_RES_VIEW_FORMAT_FLOAT_2X16 = 20,
        CU_RES_VIEW_FORMAT_FLOAT_4X16 = 21,
        CU_RES_VIEW_FORMAT_FLOAT_1X32 = 22,
        CU_RES_VIEW_FORMAT_FLOAT_2X32 = 23,
        CU_RES_VIEW_FORMAT_FLOAT_4X32 = 24,
        CU_RES_VIEW_FORMAT_UNSIGNED_BC1 = 25,
        CU_RES_VIEW_FORMAT_UNSIGNED_BC2 = 26,
        CU_RES_VIEW_FORMAT_UNSIGNED_BC3 = 27,
        CU_RES_VIEW_FORMAT_UNSIGNED_BC4 = 28,
        CU_RES_VIEW_FORMAT_SIGNED_BC4 = 29,
        CU_RES_VIEW_FORMAT_UNSIGNED_BC5 = 30,
        CU_RES_VIEW_FORMAT_SIGNED_BC5 = 31,
        CU_RES_VIEW_FORMAT_UNSIGNED_BC6H = 32,
        CU_RES_VIEW_FORMAT_SIGNED_BC6H = 33,
        CU_RES_VIEW_FORMAT_UNSIGNED_BC7 = 34,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_RESOURCE_VIEW_DESC_v1 {
    pub format: CUresourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: c_uint,
    pub lastMipmapLevel: c_uint,
    pub firstLayer: c_uint,
    pub lastLayer: c_uint,
    pub reserved: [c_uint; 16],
}

layout! { CUDA_RESOURCE_VIEW_DESC_v1: size 112, align 8, { format: 0, width: 8, height: 16, depth: 24, firstMipmapLevel: 32, lastMipmapLevel: 36, firstLayer: 40, lastLayer: 44, reserved: 48, } }

pub type CUDA_RESOURCE_VIEW_DESC = CUDA_RESOURCE_VIEW_DESC_v1;

#[repr(C)]
#[repr(align(128))]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUtensorMap {
    pub opaque: [cuuint64_t; 16],
}

layout! { CUtensorMap: size 128, align 128, { opaque: 0, } }

c_enum! {
    CUtensorMapDataType: c_uint {
        CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
        CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
        CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
        CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
        CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
        CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ = 10,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 = 11,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ = 12,
        CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B = 13,
        CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B = 14,
        CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B = 15,
    }
}

c_enum! {
    CUtensorMapInterleave: c_uint {
        CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
        CU_TENSOR_MAP_INTERLEAVE_16B = 1,
        CU_TENSOR_MAP_INTERLEAVE_32B = 2,
    }
}

c_enum! {
    CUtensorMapSwizzle: c_uint {
        CU_TENSOR_MAP_SWIZZLE_NONE = 0,
        CU_TENSOR_MAP_SWIZZLE_32B = 1,
        CU_TENSOR_MAP_SWIZZLE_64B = 2,
        CU_TENSOR_MAP_SWIZZLE_128B = 3,
        CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B = 4,
        CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B = 5,
        CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B = 6,
    }
}

c_enum! {
    CUtensorMapL2promotion: c_uint {
        CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
        CU_TENSOR_MAP_L2_PROMOTION_L2_64B = 1,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3,
    }
}

c_enum! {
    CUtensorMapFloatOOBfill: c_uint {
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA = 1,
    }
}

c_enum! {
    CUtensorMapIm2ColWideMode: c_uint {
        CU_TENSOR_MAP_IM2COL_WIDE_MODE_W = 0,
        CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 = 1,
    }
}

c_enum! {
    CUtensorMapAllocClass: c_uint {
        CU_TENSOR_MAP_ALLOC_CLASS_AUTO = 0,
        CU_TENSOR_MAP_ALLOC_CLASS_SMALL = 1,
        CU_TENSOR_MAP_ALLOC_CLASS_LARGE = 2,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1 {
    pub p2pToken: c_ulonglong,
    pub vaSpaceToken: c_uint,
}

layout! { CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1: size 16, align 8, { p2pToken: 0, vaSpaceToken: 8, } }

pub type CUDA_POINTER_ATTRIBUTE_P2P_TOKENS = CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1;

c_enum! {
    CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS: c_uint {
        CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE = 0,
        CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ = 1,
        CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE = 3,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_LAUNCH_PARAMS_v1 {
    pub function: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: CUstream,
    pub kernelParams: *mut *mut c_void,
}

layout! { CUDA_LAUNCH_PARAMS_v1: size 56, align 8, { function: 0, gridDimX: 8, gridDimY: 12, gridDimZ: 16, blockDimX: 20, blockDimY: 24, blockDimZ: 28, sharedMemBytes: 32, hStream: 40, kernelParams: 48, } }

pub type CUDA_LAUNCH_PARAMS = CUDA_LAUNCH_PARAMS_v1;

c_enum! {
    CUexternalMemoryHandleType: c_uint {
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD = 1,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32 = 2,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT = 3,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP = 4,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE = 5,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE = 6,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT = 7,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF = 8,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD = 9,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 {
    pub type_: CUexternalMemoryHandleType,
    pub handle: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle {
    pub fd: c_int,
    pub win32: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle_win32,
    pub nvSciBufObject: *const c_void,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

layout! { CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle_win32: size 16, align 8, { handle: 0, name: 8, } }

layout! { CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle: size 16, align 8, { fd: 0, win32: 0, nvSciBufObject: 0, } }

layout! { CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1: size 104, align 8, { type_: 0, handle: 8, size: 24, flags: 32, reserved: 36, } }

pub type CUDA_EXTERNAL_MEMORY_HANDLE_DESC = CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 {
    pub offset: c_ulonglong,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

layout! { CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1: size 88, align 8, { offset: 0, size: 8, flags: 16, reserved: 20, } }

pub type CUDA_EXTERNAL_MEMORY_BUFFER_DESC = CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1 {
    pub offset: c_ulonglong,
    pub arrayDesc: CUDA_ARRAY3D_DESCRIPTOR,
    pub numLevels: c_uint,
    pub reserved: [c_uint; 16],
}

layout! { CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1: size 120, align 8, { offset: 0, arrayDesc: 8, numLevels: 48, reserved: 52, } }

pub type CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1;

c_enum! {
    CUexternalSemaphoreHandleType: c_uint {
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD = 1,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32 = 2,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT = 3,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE = 4,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_FENCE = 5,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC = 6,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX = 7,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT = 8,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD = 9,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32 = 10,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1 {
    pub type_: CUexternalSemaphoreHandleType,
    pub handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle {
    pub fd: c_int,
    pub win32: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle_win32,
    pub nvSciSyncObj: *const c_void,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

layout! { CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle_win32: size 16, align 8, { handle: 0, name: 8, } }

layout! { CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle: size 16, align 8, { fd: 0, win32: 0, nvSciSyncObj: 0, } }

layout! { CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1: size 96, align 8, { type_: 0, handle: 8, flags: 24, reserved: 28, } }

pub type CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 {
    pub params: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params {
    pub fence: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_fence,
    pub nvSciSync: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_nvSciSync,
    pub keyedMutex: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_keyedMutex,
    pub reserved: [c_uint; 12],
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_fence {
    pub value: c_ulonglong,
}

layout! { CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_fence: size 8, align 8, { value: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

layout! { CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_nvSciSync: size 8, align 8, { fence: 0, reserved: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_keyedMutex {
    pub key: c_ulonglong,
}

layout! { CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_keyedMutex: size 8, align 8, { key: 0, } }

layout! { CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params: size 72, align 8, { fence: 0, nvSciSync: 8, keyedMutex: 16, reserved: 24, } }

layout! { CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1: size 144, align 8, { params: 0, flags: 72, reserved: 76, } }

pub type CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 {
    pub params: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params {
    pub fence: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_fence,
    pub nvSciSync: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_nvSciSync,
    pub keyedMutex: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_keyedMutex,
    pub reserved: [c_uint; 10],
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_fence {
    pub value: c_ulonglong,
}

layout! { CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_fence: size 8, align 8, { value: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: c_ulonglong,
}

layout! { CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_nvSciSync: size 8, align 8, { fence: 0, reserved: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_keyedMutex {
    pub key: c_ulonglong,
    pub timeoutMs: c_uint,
}

layout! { CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_keyedMutex: size 16, align 8, { key: 0, timeoutMs: 8, } }

layout! { CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params: size 72, align 8, { fence: 0, nvSciSync: 8, keyedMutex: 16, reserved: 32, } }

layout! { CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1: size 144, align 8, { params: 0, flags: 72, reserved: 76, } }

pub type CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    pub numExtSems: c_uint,
}

layout! { CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1: size 24, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

pub type CUDA_EXT_SEM_SIGNAL_NODE_PARAMS = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    pub numExtSems: c_uint,
    pub anon_1: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2_anon_1,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2_anon_1 {
    pub ctx: CUcontext,
    pub gCtx: CUgreenCtx,
}

layout! { CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2_anon_1: size 8, align 8, { ctx: 0, gCtx: 0, } }

layout! { CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2: size 32, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    pub numExtSems: c_uint,
}

layout! { CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1: size 24, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

pub type CUDA_EXT_SEM_WAIT_NODE_PARAMS = CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    pub numExtSems: c_uint,
    pub anon_1: CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2_anon_1,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2_anon_1 {
    pub ctx: CUcontext,
    pub gCtx: CUgreenCtx,
}

layout! { CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2_anon_1: size 8, align 8, { ctx: 0, gCtx: 0, } }

layout! { CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2: size 32, align 8, { extSemArray: 0, paramsArray: 8, numExtSems: 16, } }

pub type CUmemGenericAllocationHandle_v1 = c_ulonglong;
pub type CUmemGenericAllocationHandle = CUmemGenericAllocationHandle_v1;

c_enum! {
    CUmemAllocationHandleType: c_uint {
        CU_MEM_HANDLE_TYPE_NONE = 0,
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
        CU_MEM_HANDLE_TYPE_WIN32 = 2,
        CU_MEM_HANDLE_TYPE_WIN32_KMT = 4,
        CU_MEM_HANDLE_TYPE_FABRIC = 8,
        CU_MEM_HANDLE_TYPE_MAX = 2147483647,
    }
}

c_enum! {
    CUmemAccess_flags: c_uint {
        CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
        CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
        CU_MEM_ACCESS_FLAGS_PROT_MAX = 2147483647,
    }
}

c_enum! {
    CUmemLocationType: c_uint {
        CU_MEM_LOCATION_TYPE_INVALID = 0,
        CU_MEM_LOCATION_TYPE_NONE = 0,
        CU_MEM_LOCATION_TYPE_DEVICE = 1,
        CU_MEM_LOCATION_TYPE_HOST = 2,
        CU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
        CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4,
        CU_MEM_LOCATION_TYPE_INVISIBLE = 5,
        CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN = 6,
        CU_MEM_LOCATION_TYPE_MAX = 2147483647,
    }
}

c_enum! {
    CUmemAllocationType: c_uint {
        CU_MEM_ALLOCATION_TYPE_INVALID = 0,
        CU_MEM_ALLOCATION_TYPE_PINNED = 1,
        CU_MEM_ALLOCATION_TYPE_MANAGED = 2,
        CU_MEM_ALLOCATION_TYPE_MAX = 2147483647,
    }
}

c_enum! {
    CUmemAllocationGranularity_flags: c_uint {
        CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
        CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    }
}

c_enum! {
    CUmemRangeHandleType: c_uint {
        CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
        CU_MEM_RANGE_HANDLE_TYPE_MAX = 2147483647,
    }
}

c_enum! {
    CUmemRangeFlags: c_uint {
        CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE = 1,
    }
}

c_enum! {
    CUarraySparseSubresourceType: c_uint {
        CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL = 0,
        CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL = 1,
    }
}

c_enum! {
    CUmemOperationType: c_uint {
        CU_MEM_OPERATION_TYPE_MAP = 1,
        CU_MEM_OPERATION_TYPE_UNMAP = 2,
    }
}

c_enum! {
    CUmemHandleType: c_uint {
        CU_MEM_HANDLE_TYPE_GENERIC = 0,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUarrayMapInfo_v1 {
    pub resourceType: CUresourcetype,
    pub resource: CUarrayMapInfo_v1_resource,
    pub subresourceType: CUarraySparseSubresourceType,
    pub subresource: CUarrayMapInfo_v1_subresource,
    pub memOperationType: CUmemOperationType,
    pub memHandleType: CUmemHandleType,
    pub memHandle: CUarrayMapInfo_v1_memHandle,
    pub offset: c_ulonglong,
    pub deviceBitMask: c_uint,
    pub flags: c_uint,
    pub reserved: [c_uint; 2],
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUarrayMapInfo_v1_resource {
    pub mipmap: CUmipmappedArray,
    pub array: CUarray,
}

layout! { CUarrayMapInfo_v1_resource: size 8, align 8, { mipmap: 0, array: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUarrayMapInfo_v1_subresource {
    pub sparseLevel: CUarrayMapInfo_v1_subresource_sparseLevel,
    pub miptail: CUarrayMapInfo_v1_subresource_miptail,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUarrayMapInfo_v1_subresource_sparseLevel {
    pub level: c_uint,
    pub layer: c_uint,
    pub offsetX: c_uint,
    pub offsetY: c_uint,
    pub offsetZ: c_uint,
    pub extentWidth: c_uint,
    pub extentHeight: c_uint,
    pub extentDepth: c_uint,
}

layout! { CUarrayMapInfo_v1_subresource_sparseLevel: size 32, align 4, { level: 0, layer: 4, offsetX: 8, offsetY: 12, offsetZ: 16, extentWidth: 20, extentHeight: 24, extentDepth: 28, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUarrayMapInfo_v1_subresource_miptail {
    pub layer: c_uint,
    pub offset: c_ulonglong,
    pub size: c_ulonglong,
}

layout! { CUarrayMapInfo_v1_subresource_miptail: size 24, align 8, { layer: 0, offset: 8, size: 16, } }

layout! { CUarrayMapInfo_v1_subresource: size 32, align 8, { sparseLevel: 0, miptail: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUarrayMapInfo_v1_memHandle {
    pub memHandle: CUmemGenericAllocationHandle,
}

layout! { CUarrayMapInfo_v1_memHandle: size 8, align 8, { memHandle: 0, } }

layout! { CUarrayMapInfo_v1: size 96, align 8, { resourceType: 0, resource: 8, subresourceType: 16, subresource: 24, memOperationType: 56, memHandleType: 60, memHandle: 64, offset: 72, deviceBitMask: 80, flags: 84, reserved: 88, } }

pub type CUarrayMapInfo = CUarrayMapInfo_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemLocation_v1 {
    pub type_: CUmemLocationType,
    pub id: c_int,
}

layout! { CUmemLocation_v1: size 8, align 4, { type_: 0, id: 4, } }

pub type CUmemLocation = CUmemLocation_v1;

c_enum! {
    CUmemAllocationCompType: c_uint {
        CU_MEM_ALLOCATION_COMP_NONE = 0,
        CU_MEM_ALLOCATION_COMP_GENERIC = 1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemAllocationProp_v1 {
    pub type_: CUmemAllocationType,
    pub requestedHandleTypes: CUmemAllocationHandleType,
    pub location: CUmemLocation,
    pub win32HandleMetaData: *mut c_void,
    pub allocFlags: CUmemAllocationProp_v1_allocFlags,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemAllocationProp_v1_allocFlags {
    pub compressionType: c_uchar,
    pub gpuDirectRDMACapable: c_uchar,
    pub usage: c_ushort,
    pub reserved: [c_uchar; 4],
}

layout! { CUmemAllocationProp_v1_allocFlags: size 8, align 2, { compressionType: 0, gpuDirectRDMACapable: 1, usage: 2, reserved: 4, } }

layout! { CUmemAllocationProp_v1: size 32, align 8, { type_: 0, requestedHandleTypes: 4, location: 8, win32HandleMetaData: 16, allocFlags: 24, } }

pub type CUmemAllocationProp = CUmemAllocationProp_v1;

c_enum! {
    CUmulticastGranularity_flags: c_uint {
        CU_MULTICAST_GRANULARITY_MINIMUM = 0,
        CU_MULTICAST_GRANULARITY_RECOMMENDED = 1,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmulticastObjectProp_v1 {
    pub numDevices: c_uint,
    pub size: usize,
    pub handleTypes: c_ulonglong,
    pub flags: c_ulonglong,
}

layout! { CUmulticastObjectProp_v1: size 32, align 8, { numDevices: 0, size: 8, handleTypes: 16, flags: 24, } }

pub type CUmulticastObjectProp = CUmulticastObjectProp_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemAccessDesc_v1 {
    pub location: CUmemLocation,
    pub flags: CUmemAccess_flags,
}

layout! { CUmemAccessDesc_v1: size 12, align 4, { location: 0, flags: 8, } }

pub type CUmemAccessDesc = CUmemAccessDesc_v1;

c_enum! {
    CUgraphExecUpdateResult: c_uint {
        CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
        CU_GRAPH_EXEC_UPDATE_ERROR = 1,
        CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
        CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
        CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 4,
        CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5,
        CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6,
        CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE = 7,
        CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED = 8,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUgraphExecUpdateResultInfo_v1 {
    pub result: CUgraphExecUpdateResult,
    pub errorNode: CUgraphNode,
    pub errorFromNode: CUgraphNode,
}

layout! { CUgraphExecUpdateResultInfo_v1: size 24, align 8, { result: 0, errorNode: 8, errorFromNode: 16, } }

pub type CUgraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo_v1;

c_enum! {
    CUmemPool_attribute: c_uint {
        CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
        CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8,
        CU_MEMPOOL_ATTR_ALLOCATION_TYPE = 9,
        CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES = 10,
        CU_MEMPOOL_ATTR_LOCATION_ID = 11,
        CU_MEMPOOL_ATTR_LOCATION_TYPE = 12,
        CU_MEMPOOL_ATTR_MAX_POOL_SIZE = 13,
        CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED = 14,
        CU_MEMPOOL_ATTR_LOCALITY_DOMAIN_ID = 15,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemPoolProps_v1 {
    pub allocType: CUmemAllocationType,
    pub handleTypes: CUmemAllocationHandleType,
    pub location: CUmemLocation,
    pub win32SecurityAttributes: *mut c_void,
    pub maxSize: usize,
    pub usage: c_ushort,
    pub gpuDirectRDMACapable: c_uchar,
    pub reserved: [c_uchar; 53],
}

layout! { CUmemPoolProps_v1: size 88, align 8, { allocType: 0, handleTypes: 4, location: 8, win32SecurityAttributes: 16, maxSize: 24, usage: 32, gpuDirectRDMACapable: 34, reserved: 35, } }

pub type CUmemPoolProps = CUmemPoolProps_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemPoolPtrExportData_v1 {
    pub reserved: [c_uchar; 64],
}

layout! { CUmemPoolPtrExportData_v1: size 64, align 1, { reserved: 0, } }

pub type CUmemPoolPtrExportData = CUmemPoolPtrExportData_v1;

c_enum! {
    CUmemcpyFlags: c_uint {
        CU_MEMCPY_FLAG_DEFAULT = 0,
        CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 1,
    }
}

c_enum! {
    CUmemcpySrcAccessOrder: c_uint {
        CU_MEMCPY_SRC_ACCESS_ORDER_INVALID = 0,
        CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
        CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,
        CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3,
        CU_MEMCPY_SRC_ACCESS_ORDER_MAX = 2147483647,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemcpyAttributes_v1 {
    pub srcAccessOrder: CUmemcpySrcAccessOrder,
    pub srcLocHint: CUmemLocation,
    pub dstLocHint: CUmemLocation,
    pub flags: c_uint,
}

layout! { CUmemcpyAttributes_v1: size 24, align 4, { srcAccessOrder: 0, srcLocHint: 4, dstLocHint: 12, flags: 20, } }

pub type CUmemcpyAttributes = CUmemcpyAttributes_v1;

c_enum! {
    CUmemcpy3DOperandType: c_uint {
        CU_MEMCPY_OPERAND_TYPE_POINTER = 1,
        CU_MEMCPY_OPERAND_TYPE_ARRAY = 2,
        CU_MEMCPY_OPERAND_TYPE_MAX = 2147483647,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUoffset3D_v1 {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

layout! { CUoffset3D_v1: size 24, align 8, { x: 0, y: 8, z: 16, } }

pub type CUoffset3D = CUoffset3D_v1;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUextent3D_v1 {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

layout! { CUextent3D_v1: size 24, align 8, { width: 0, height: 8, depth: 16, } }

pub type CUextent3D = CUextent3D_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUmemcpy3DOperand_v1 {
    pub type_: CUmemcpy3DOperandType,
    pub op: CUmemcpy3DOperand_v1_op,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUmemcpy3DOperand_v1_op {
    pub ptr: CUmemcpy3DOperand_v1_op_ptr,
    pub array: CUmemcpy3DOperand_v1_op_array,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemcpy3DOperand_v1_op_ptr {
    pub ptr: CUdeviceptr,
    pub rowLength: usize,
    pub layerHeight: usize,
    pub locHint: CUmemLocation,
}

layout! { CUmemcpy3DOperand_v1_op_ptr: size 32, align 8, { ptr: 0, rowLength: 8, layerHeight: 16, locHint: 24, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemcpy3DOperand_v1_op_array {
    pub array: CUarray,
    pub offset: CUoffset3D,
}

layout! { CUmemcpy3DOperand_v1_op_array: size 32, align 8, { array: 0, offset: 8, } }

layout! { CUmemcpy3DOperand_v1_op: size 32, align 8, { ptr: 0, array: 0, } }

layout! { CUmemcpy3DOperand_v1: size 40, align 8, { type_: 0, op: 8, } }

pub type CUmemcpy3DOperand = CUmemcpy3DOperand_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_MEMCPY3D_BATCH_OP_v1 {
    pub src: CUmemcpy3DOperand,
    pub dst: CUmemcpy3DOperand,
    pub extent: CUextent3D,
    pub srcAccessOrder: CUmemcpySrcAccessOrder,
    pub flags: c_uint,
}

layout! { CUDA_MEMCPY3D_BATCH_OP_v1: size 112, align 8, { src: 0, dst: 40, extent: 80, srcAccessOrder: 104, flags: 108, } }

pub type CUDA_MEMCPY3D_BATCH_OP = CUDA_MEMCPY3D_BATCH_OP_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS_v1 {
    pub poolProps: CUmemPoolProps,
    pub accessDescs: *const CUmemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: CUdeviceptr,
}

layout! { CUDA_MEM_ALLOC_NODE_PARAMS_v1: size 120, align 8, { poolProps: 0, accessDescs: 88, accessDescCount: 96, bytesize: 104, dptr: 112, } }

pub type CUDA_MEM_ALLOC_NODE_PARAMS = CUDA_MEM_ALLOC_NODE_PARAMS_v1;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS_v2 {
    pub poolProps: CUmemPoolProps,
    pub accessDescs: *const CUmemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: CUdeviceptr,
}

layout! { CUDA_MEM_ALLOC_NODE_PARAMS_v2: size 120, align 8, { poolProps: 0, accessDescs: 88, accessDescCount: 96, bytesize: 104, dptr: 112, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEM_FREE_NODE_PARAMS {
    pub dptr: CUdeviceptr,
}

layout! { CUDA_MEM_FREE_NODE_PARAMS: size 8, align 8, { dptr: 0, } }

c_enum! {
    CUgraphMem_attribute: c_uint {
        CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0,
        CU_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1,
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2,
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3,
    }
}

c_enum! {
    CUgraphChildGraphNodeOwnership: c_int {
        CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0,
        CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE = 1,
        CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID = -1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_CHILD_GRAPH_NODE_PARAMS {
    pub graph: CUgraph,
    pub ownership: CUgraphChildGraphNodeOwnership,
}

layout! { CUDA_CHILD_GRAPH_NODE_PARAMS: size 16, align 8, { graph: 0, ownership: 8, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_EVENT_RECORD_NODE_PARAMS {
    pub event: CUevent,
    pub anon_1: CUDA_EVENT_RECORD_NODE_PARAMS_anon_1,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_EVENT_RECORD_NODE_PARAMS_anon_1 {
    pub ctx: CUcontext,
    pub gCtx: CUgreenCtx,
}

layout! { CUDA_EVENT_RECORD_NODE_PARAMS_anon_1: size 8, align 8, { ctx: 0, gCtx: 0, } }

layout! { CUDA_EVENT_RECORD_NODE_PARAMS: size 16, align 8, { event: 0, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_EVENT_WAIT_NODE_PARAMS {
    pub event: CUevent,
}

layout! { CUDA_EVENT_WAIT_NODE_PARAMS: size 8, align 8, { event: 0, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 {
    pub count: usize,
    pub dsts: *mut CUdeviceptr,
    pub srcs: *mut CUdeviceptr,
    pub sizes: *mut usize,
    pub attrs: *mut CUmemcpyAttributes,
    pub attrsIdxs: *mut usize,
    pub numAttrs: usize,
    pub anon_1: CUDA_MEMCPY_BATCH_NODE_PARAMS_V1_anon_1,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_MEMCPY_BATCH_NODE_PARAMS_V1_anon_1 {
    pub ctx: CUcontext,
    pub gCtx: CUgreenCtx,
}

layout! { CUDA_MEMCPY_BATCH_NODE_PARAMS_V1_anon_1: size 8, align 8, { ctx: 0, gCtx: 0, } }

layout! { CUDA_MEMCPY_BATCH_NODE_PARAMS_V1: size 64, align 8, { count: 0, dsts: 8, srcs: 16, sizes: 24, attrs: 32, attrsIdxs: 40, numAttrs: 48, } }

pub type CUDA_MEMCPY_BATCH_NODE_PARAMS = CUDA_MEMCPY_BATCH_NODE_PARAMS_V1;
pub type CUDA_FABRIC_COPY_BATCH_OP = CUDA_FABRIC_COPY_BATCH_OP_v1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1 {
    pub numOps: usize,
    pub opList: *mut CUDA_FABRIC_COPY_BATCH_OP,
    pub flags: c_ulonglong,
    pub anon_1: CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1_anon_1,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1_anon_1 {
    pub ctx: CUcontext,
    pub gCtx: CUgreenCtx,
}

layout! { CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1_anon_1: size 8, align 8, { ctx: 0, gCtx: 0, } }

layout! { CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1: size 32, align 8, { numOps: 0, opList: 8, flags: 16, } }

pub type CUDA_FABRIC_CPY_BATCH_NODE_PARAMS = CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUgraphNodeParams {
    pub type_: CUgraphNodeType,
    pub reserved0: [c_int; 3],
    pub anon_1: CUgraphNodeParams_anon_1,
    pub reserved2: c_longlong,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUgraphNodeParams_anon_1 {
    pub reserved1: [c_longlong; 29],
    pub kernel: CUDA_KERNEL_NODE_PARAMS_v3,
    pub memcpy: CUDA_MEMCPY_NODE_PARAMS,
    pub memset: CUDA_MEMSET_NODE_PARAMS_v2,
    pub host: CUDA_HOST_NODE_PARAMS_v2,
    pub graph: CUDA_CHILD_GRAPH_NODE_PARAMS,
    pub eventWait: CUDA_EVENT_WAIT_NODE_PARAMS,
    pub eventRecord: CUDA_EVENT_RECORD_NODE_PARAMS,
    pub extSemSignal: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2,
    pub extSemWait: CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2,
    pub alloc: CUDA_MEM_ALLOC_NODE_PARAMS_v2,
    pub free: CUDA_MEM_FREE_NODE_PARAMS,
    pub memOp: CUDA_BATCH_MEM_OP_NODE_PARAMS_v2,
    pub conditional: CUDA_CONDITIONAL_NODE_PARAMS,
    pub memcpyBatch: CUDA_MEMCPY_BATCH_NODE_PARAMS_V1,
    pub fabricCpyBatch: CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1,
    pub asBytes: [c_char; 232],
}

layout! { CUgraphNodeParams_anon_1: size 232, align 8, { reserved1: 0, kernel: 0, memcpy: 0, memset: 0, host: 0, graph: 0, eventWait: 0, eventRecord: 0, extSemSignal: 0, extSemWait: 0, alloc: 0, free: 0, memOp: 0, conditional: 0, memcpyBatch: 0, fabricCpyBatch: 0, asBytes: 0, } }

layout! { CUgraphNodeParams: size 256, align 8, { type_: 0, reserved0: 4, reserved2: 248, } }

c_enum! {
    CUflushGPUDirectRDMAWritesOptions: c_uint {
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST = 1,
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS = 2,
    }
}

c_enum! {
    CUGPUDirectRDMAWritesOrdering: c_uint {
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_NONE = 0,
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER = 100,
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES = 200,
    }
}

c_enum! {
    CUflushGPUDirectRDMAWritesScope: c_uint {
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER = 100,
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES = 200,
    }
}

c_enum! {
    CUflushGPUDirectRDMAWritesTarget: c_uint {
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX = 0,
    }
}

c_enum! {
    CUgraphDebugDot_flags: c_uint {
        CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE = 1,
        CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES = 2,
        CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS = 4,
        CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS = 8,
        CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS = 16,
        CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS = 32,
        CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS = 64,
        CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS = 128,
        CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS = 256,
        CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES = 512,
        CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES = 1024,
        CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS = 2048,
        CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS = 4096,
        CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS = 8192,
        CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO = 16384,
        CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS = 32768,
        CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_BATCH_NODE_PARAMS = 65536,
        CU_GRAPH_DEBUG_DOT_FLAGS_FABRIC_CPY_BATCH_NODE_PARAMS = 131072,
    }
}

c_enum! {
    CUuserObject_flags: c_uint {
        CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1,
    }
}

c_enum! {
    CUuserObjectRetain_flags: c_uint {
        CU_GRAPH_USER_OBJECT_MOVE = 1,
    }
}

c_enum! {
    CUgraphInstantiate_flags: c_uint {
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
        CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8,
    }
}

c_enum! {
    CUdeviceNumaConfig: c_uint {
        CU_DEVICE_NUMA_CONFIG_NONE = 0,
        CU_DEVICE_NUMA_CONFIG_NUMA_NODE = 1,
    }
}

c_enum! {
    CUprocessState: c_uint {
        CU_PROCESS_STATE_RUNNING = 0,
        CU_PROCESS_STATE_LOCKED = 1,
        CU_PROCESS_STATE_CHECKPOINTED = 2,
        CU_PROCESS_STATE_FAILED = 3,
        CU_PROCESS_STATE_CHECKPOINTING = 4,
        CU_PROCESS_STATE_RESTORING = 5,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcheckpointCustomStoragePerDeviceData {
    pub devPtr: CUdeviceptr,
    pub size: usize,
    pub stream: CUstream,
}

layout! { CUcheckpointCustomStoragePerDeviceData: size 24, align 8, { devPtr: 0, size: 8, stream: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcheckpointCustomStorageInfo {
    pub handle: CUcheckpointOperationHandle,
    pub perDeviceData: *mut CUcheckpointCustomStoragePerDeviceData,
    pub deviceCount: c_uint,
}

layout! { CUcheckpointCustomStorageInfo: size 24, align 8, { handle: 0, perDeviceData: 8, deviceCount: 16, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcheckpointLockArgs {
    pub timeoutMs: c_uint,
    pub reserved0: c_uint,
    pub reserved1: [cuuint64_t; 7],
}

layout! { CUcheckpointLockArgs: size 64, align 8, { timeoutMs: 0, reserved0: 4, reserved1: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcheckpointCheckpointArgs {
    pub customStorageInfo_out: *mut *mut CUcheckpointCustomStorageInfo,
    pub reserved: [c_char; 56],
}

layout! { CUcheckpointCheckpointArgs: size 64, align 8, { customStorageInfo_out: 0, reserved: 8, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcheckpointGpuPair {
    pub oldUuid: CUuuid,
    pub newUuid: CUuuid,
}

layout! { CUcheckpointGpuPair: size 32, align 1, { oldUuid: 0, newUuid: 16, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcheckpointRestoreArgs {
    pub gpuPairs: *mut CUcheckpointGpuPair,
    pub gpuPairsCount: c_uint,
    pub padding0: c_uint,
    pub customStorageInfo_out: *mut *mut CUcheckpointCustomStorageInfo,
    pub reserved: [c_char; 40],
}

layout! { CUcheckpointRestoreArgs: size 64, align 8, { gpuPairs: 0, gpuPairsCount: 8, padding0: 12, customStorageInfo_out: 16, reserved: 24, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcheckpointUnlockArgs {
    pub reserved: [cuuint64_t; 8],
}

layout! { CUcheckpointUnlockArgs: size 64, align 8, { reserved: 0, } }

c_enum! {
    CUmoduleLoadingMode: c_uint {
        CU_MODULE_EAGER_LOADING = 1,
        CU_MODULE_LAZY_LOADING = 2,
    }
}

c_enum! {
    CUmemDecompressAlgorithm: c_uint {
        CU_MEM_DECOMPRESS_UNSUPPORTED = 0,
        CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE = 1,
        CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY = 2,
        CU_MEM_DECOMPRESS_ALGORITHM_LZ4 = 4,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUmemDecompressParams {
    pub srcNumBytes: usize,
    pub dstNumBytes: usize,
    pub dstActBytes: *mut cuuint32_t,
    pub src: *const c_void,
    pub dst: *mut c_void,
    pub algo: CUmemDecompressAlgorithm,
    pub padding: [c_uchar; 20],
}

layout! { CUmemDecompressParams: size 64, align 8, { srcNumBytes: 0, dstNumBytes: 8, dstActBytes: 16, src: 24, dst: 32, algo: 40, padding: 44, } }

c_enum! {
    CUcliqueType: c_uint {
        CU_CLIQUE_TYPE_UNICAST_POINTER = 0,
        CU_CLIQUE_TYPE_MULTICAST_POINTER = 1,
        CU_CLIQUE_TYPE_UNICAST_LOGICAL_ENDPOINT = 2,
        CU_CLIQUE_TYPE_MULTICAST_LOGICAL_ENDPOINT = 3,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUcliqueInfo {
    pub type_: CUcliqueType,
    pub id: c_uint,
}

layout! { CUcliqueInfo: size 8, align 4, { type_: 0, id: 4, } }

pub type CUlogicalEndpointId = cuuint32_t;

c_enum! {
    CUlogicalEndpointIpcHandleType: c_uint {
        CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_NONE = 0,
        CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC = 1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlogicalEndpointFabricHandle {
    pub data: [c_uchar; 64],
}

layout! { CUlogicalEndpointFabricHandle: size 64, align 1, { data: 0, } }

c_enum! {
    CUlogicalEndpointType: c_uint {
        CU_LOGICAL_ENDPOINT_TYPE_INVALID = 0,
        CU_LOGICAL_ENDPOINT_TYPE_UNICAST = 1,
        CU_LOGICAL_ENDPOINT_TYPE_MULTICAST = 2,
    }
}

c_enum! {
    CUlogicalEndpointFlag: c_uint {
        CU_LOGICAL_ENDPOINT_FLAG_NONE = 0,
        CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS = 1,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUlogicalEndpointProp_struct {
    pub type_: CUlogicalEndpointType,
    pub anon_1: CUlogicalEndpointProp_struct_anon_1,
    pub size: c_ulonglong,
    pub ipcHandleTypes: c_uint,
    pub flags: c_uint,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUlogicalEndpointProp_struct_anon_1 {
    pub unicast: CUlogicalEndpointProp_struct_anon_1_unicast,
    pub multicast: CUlogicalEndpointProp_struct_anon_1_multicast,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlogicalEndpointProp_struct_anon_1_unicast {
    pub device: CUdevice,
}

layout! { CUlogicalEndpointProp_struct_anon_1_unicast: size 4, align 4, { device: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUlogicalEndpointProp_struct_anon_1_multicast {
    pub numDevices: c_uint,
}

layout! { CUlogicalEndpointProp_struct_anon_1_multicast: size 4, align 4, { numDevices: 0, } }

layout! { CUlogicalEndpointProp_struct_anon_1: size 4, align 4, { unicast: 0, multicast: 0, } }

layout! { CUlogicalEndpointProp_struct: size 24, align 8, { type_: 0, size: 8, ipcHandleTypes: 16, flags: 20, } }

pub type CUlogicalEndpointProp = CUlogicalEndpointProp_struct;

c_enum! {
    CUfabricCpyOperandType: c_uint {
        CU_FABRIC_COPY_OPERAND_TYPE_POINTER = 1,
        CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT = 2,
        CU_FABRIC_COPY_OPERAND_TYPE_MAX = 2147483647,
    }
}

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUfabricCpyOperand {
    pub type_: CUfabricCpyOperandType,
    pub op: CUfabricCpyOperand_op,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUfabricCpyOperand_op {
    pub ptr: CUfabricCpyOperand_op_ptr,
    pub le: CUfabricCpyOperand_op_le,
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUfabricCpyOperand_op_ptr {
    pub ptr: CUdeviceptr,
    pub locHint: CUmemLocation,
}

layout! { CUfabricCpyOperand_op_ptr: size 16, align 8, { ptr: 0, locHint: 8, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUfabricCpyOperand_op_le {
    pub id: CUlogicalEndpointId,
    pub offset: cuuint64_t,
}

layout! { CUfabricCpyOperand_op_le: size 16, align 8, { id: 0, offset: 8, } }

layout! { CUfabricCpyOperand_op: size 16, align 8, { ptr: 0, le: 0, } }

layout! { CUfabricCpyOperand: size 24, align 8, { type_: 0, op: 8, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUDA_FABRIC_COPY_BATCH_OP_v1 {
    pub src: CUfabricCpyOperand,
    pub dst: CUfabricCpyOperand,
    pub size: usize,
    pub flags: c_uint,
}

layout! { CUDA_FABRIC_COPY_BATCH_OP_v1: size 64, align 8, { src: 0, dst: 24, size: 48, flags: 56, } }

c_enum! {
    CUgraphRecaptureStatus: c_uint {
        CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE = 0,
        CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE = 1,
        CU_GRAPH_RECAPTURE_ERROR = 2,
    }
}

pub type CUgraphRecaptureCallback = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        node: CUgraphNode,
        originalParams: *const CUgraphNodeParams,
        recaptureParams: *const CUgraphNodeParams,
        status: CUgraphRecaptureStatus,
    ) -> CUresult,
>;

c_enum! {
    CUfunctionLoadingState: c_uint {
        CU_FUNCTION_LOADING_STATE_UNLOADED = 0,
        CU_FUNCTION_LOADING_STATE_LOADED = 1,
        CU_FUNCTION_LOADING_STATE_MAX = 2,
    }
}

c_enum! {
    CUcoredumpSettings: c_uint {
        CU_COREDUMP_ENABLE_ON_EXCEPTION = 1,
        CU_COREDUMP_TRIGGER_HOST = 2,
        CU_COREDUMP_LIGHTWEIGHT = 3,
        CU_COREDUMP_ENABLE_USER_TRIGGER = 4,
        CU_COREDUMP_FILE = 5,
        CU_COREDUMP_PIPE = 6,
        CU_COREDUMP_GENERATION_FLAGS = 7,
        CU_COREDUMP_MAX = 8,
    }
}

c_enum! {
    CUCoredumpGenerationFlags: c_int {
        CU_COREDUMP_DEFAULT_FLAGS = 0,
        CU_COREDUMP_SKIP_NONRELOCATED_ELF_IMAGES = 1,
        CU_COREDUMP_SKIP_GLOBAL_MEMORY = 2,
        CU_COREDUMP_SKIP_SHARED_MEMORY = 4,
        CU_COREDUMP_SKIP_LOCAL_MEMORY = 8,
        CU_COREDUMP_SKIP_ABORT = 16,
        CU_COREDUMP_SKIP_CONSTBANK_MEMORY = 32,
        CU_COREDUMP_GZIP_COMPRESS = 64,
        CU_COREDUMP_FAULTED_CONTEXTS_ONLY = 128,
        CU_COREDUMP_SKIP_TENSOR_MEMORY = 256,
        CU_COREDUMP_NO_ERRBAR_AT_EXIT = 1073741824,
        CU_COREDUMP_LOG_ONLY = -2147483648,
        CU_COREDUMP_LIGHTWEIGHT_FLAGS = 303,
    }
}

pub type CUcoredumpStatusCallback = Option<unsafe extern "C" fn(userData: *mut c_void, pid: c_int, dev: CUdevice)>;

c_enum! {
    CUgreenCtxCreate_flags: c_uint {
        CU_GREEN_CTX_NONE = 0,
        CU_GREEN_CTX_DEFAULT_STREAM = 1,
    }
}

c_enum! {
    CUdevSmResourceGroup_flags: c_uint {
        CU_DEV_SM_RESOURCE_GROUP_DEFAULT = 0,
        CU_DEV_SM_RESOURCE_GROUP_BACKFILL = 1,
        CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID = 2,
        CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS = 4,
    }
}

c_enum! {
    CUdevSmResourceSplitByCount_flags: c_uint {
        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING = 1,
        CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE = 2,
    }
}

c_enum! {
    CUdevResourceType: c_uint {
        CU_DEV_RESOURCE_TYPE_INVALID = 0,
        CU_DEV_RESOURCE_TYPE_SM = 1,
        CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG = 1000,
        CU_DEV_RESOURCE_TYPE_WORKQUEUE = 10000,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUdevSmResource {
    pub smCount: c_uint,
    pub minSmPartitionSize: c_uint,
    pub smCoscheduledAlignment: c_uint,
    pub flags: c_uint,
    pub localityDomainId: c_uint,
}

layout! { CUdevSmResource: size 20, align 4, { smCount: 0, minSmPartitionSize: 4, smCoscheduledAlignment: 8, flags: 12, localityDomainId: 16, } }

c_enum! {
    CUdevWorkqueueConfigScope: c_uint {
        CU_WORKQUEUE_SCOPE_DEVICE_CTX = 0,
        CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED = 1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUdevWorkqueueConfigResource {
    pub device: CUdevice,
    pub wqConcurrencyLimit: c_uint,
    pub sharingScope: CUdevWorkqueueConfigScope,
}

layout! { CUdevWorkqueueConfigResource: size 12, align 4, { device: 0, wqConcurrencyLimit: 4, sharingScope: 8, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUdevWorkqueueResource {
    pub reserved: [c_uchar; 40],
}

layout! { CUdevWorkqueueResource: size 40, align 1, { reserved: 0, } }

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
    pub smCount: c_uint,
    pub coscheduledSmCount: c_uint,
    pub preferredCoscheduledSmCount: c_uint,
    pub flags: c_uint,
    pub localityDomainId: c_uint,
    pub reserved: [c_uint; 11],
}

layout! { CU_DEV_SM_RESOURCE_GROUP_PARAMS: size 64, align 4, { smCount: 0, coscheduledSmCount: 4, preferredCoscheduledSmCount: 8, flags: 12, localityDomainId: 16, reserved: 20, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub struct CUdevResource_v1 {
    pub type_: CUdevResourceType,
    pub _internal_padding: [c_uchar; 92],
    pub anon_1: CUdevResource_v1_anon_1,
    pub nextResource: *mut CUdevResource_v1,
}

#[repr(C)]
#[derive(Copy, Clone)]
pub union CUdevResource_v1_anon_1 {
    pub sm: CUdevSmResource,
    pub wqConfig: CUdevWorkqueueConfigResource,
    pub wq: CUdevWorkqueueResource,
    pub _oversize: [c_uchar; 40],
}

layout! { CUdevResource_v1_anon_1: size 40, align 4, { sm: 0, wqConfig: 0, wq: 0, _oversize: 0, } }

layout! { CUdevResource_v1: size 144, align 8, { type_: 0, _internal_padding: 4, nextResource: 136, } }

pub type CUdevResource = CUdevResource_v1;

c_enum! {
    CUlogLevel: c_uint {
        CU_LOG_LEVEL_ERROR = 0,
        CU_LOG_LEVEL_WARNING = 1,
    }
}

pub type CUlogsCallback =
    Option<unsafe extern "C" fn(data: *mut c_void, logLevel: CUlogLevel, message: *mut c_char, length: usize)>;
pub type CUlogIterator = c_uint;
pub type CUdeviceptr_v1 = c_uint;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMCPY2D_v1 {
    pub srcXInBytes: c_uint,
    pub srcY: c_uint,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr_v1,
    pub srcArray: CUarray,
    pub srcPitch: c_uint,
    pub dstXInBytes: c_uint,
    pub dstY: c_uint,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr_v1,
    pub dstArray: CUarray,
    pub dstPitch: c_uint,
    pub WidthInBytes: c_uint,
    pub Height: c_uint,
}

layout! { CUDA_MEMCPY2D_v1: size 96, align 8, { srcXInBytes: 0, srcY: 4, srcMemoryType: 8, srcHost: 16, srcDevice: 24, srcArray: 32, srcPitch: 40, dstXInBytes: 44, dstY: 48, dstMemoryType: 52, dstHost: 56, dstDevice: 64, dstArray: 72, dstPitch: 80, WidthInBytes: 84, Height: 88, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_MEMCPY3D_v1 {
    pub srcXInBytes: c_uint,
    pub srcY: c_uint,
    pub srcZ: c_uint,
    pub srcLOD: c_uint,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr_v1,
    pub srcArray: CUarray,
    pub reserved0: *mut c_void,
    pub srcPitch: c_uint,
    pub srcHeight: c_uint,
    pub dstXInBytes: c_uint,
    pub dstY: c_uint,
    pub dstZ: c_uint,
    pub dstLOD: c_uint,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr_v1,
    pub dstArray: CUarray,
    pub reserved1: *mut c_void,
    pub dstPitch: c_uint,
    pub dstHeight: c_uint,
    pub WidthInBytes: c_uint,
    pub Height: c_uint,
    pub Depth: c_uint,
}

layout! { CUDA_MEMCPY3D_v1: size 144, align 8, { srcXInBytes: 0, srcY: 4, srcZ: 8, srcLOD: 12, srcMemoryType: 16, srcHost: 24, srcDevice: 32, srcArray: 40, reserved0: 48, srcPitch: 56, srcHeight: 60, dstXInBytes: 64, dstY: 68, dstZ: 72, dstLOD: 76, dstMemoryType: 80, dstHost: 88, dstDevice: 96, dstArray: 104, reserved1: 112, dstPitch: 120, dstHeight: 124, WidthInBytes: 128, Height: 132, Depth: 136, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_ARRAY_DESCRIPTOR_v1 {
    pub Width: c_uint,
    pub Height: c_uint,
    pub Format: CUarray_format,
    pub NumChannels: c_uint,
}

layout! { CUDA_ARRAY_DESCRIPTOR_v1: size 16, align 4, { Width: 0, Height: 4, Format: 8, NumChannels: 12, } }

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct CUDA_ARRAY3D_DESCRIPTOR_v1 {
    pub Width: c_uint,
    pub Height: c_uint,
    pub Depth: c_uint,
    pub Format: CUarray_format,
    pub NumChannels: c_uint,
    pub Flags: c_uint,
}

layout! { CUDA_ARRAY3D_DESCRIPTOR_v1: size 24, align 4, { Width: 0, Height: 4, Depth: 8, Format: 12, NumChannels: 16, Flags: 20, } }

c_enum! {
    CUoutput_mode: c_uint {
        CU_OUT_KEY_VALUE_PAIR = 0,
        CU_OUT_CSV = 1,
    }
}

zeroed_default! {
    CUmemFabricHandle_v1,
    CUipcEventHandle_v1,
    CUipcMemHandle_v1,
    CUstreamMemOpWaitValueParams_anon_1,
    CUstreamMemOpWaitValueParams,
    CUstreamMemOpWriteValueParams_anon_1,
    CUstreamMemOpWriteValueParams,
    CUstreamMemOpFlushRemoteWritesParams,
    CUstreamMemOpMemoryBarrierParams,
    CUstreamMemOpAtomicReductionParams,
    CUstreamBatchMemOpParams_v1,
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v1,
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v2,
    CUasyncNotificationInfo_info,
    CUasyncNotificationInfo,
    CUaccessPolicyWindow_v1,
    CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_KERNEL_NODE_PARAMS_v2,
    CUDA_KERNEL_NODE_PARAMS_v3,
    CUDA_MEMSET_NODE_PARAMS_v2,
    CUDA_HOST_NODE_PARAMS_v1,
    CUDA_HOST_NODE_PARAMS_v2_anon_1,
    CUDA_HOST_NODE_PARAMS_v2,
    CUDA_CONDITIONAL_NODE_PARAMS,
    CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUlaunchAttributeValue_programmaticEvent,
    CUlaunchAttributeValue_launchCompletionEvent,
    CUlaunchAttributeValue_deviceUpdatableKernelNode,
    CUlaunchAttributeValue,
    CUlaunchAttribute,
    CUlaunchConfig,
    CUexecAffinityParam_v1_param,
    CUexecAffinityParam_v1,
    CUctxCigParam,
    CUctxCreateParams,
    CUstreamCigParam,
    CUstreamCigCaptureParams,
    CUlibraryHostUniversalFunctionAndDataTable,
    CUDA_MEMCPY2D_v2,
    CUDA_MEMCPY3D_v2,
    CUDA_MEMCPY3D_PEER_v1,
    CUDA_MEMCPY_NODE_PARAMS,
    CUDA_ARRAY_DESCRIPTOR_v2,
    CUDA_ARRAY3D_DESCRIPTOR_v2,
    CUDA_RESOURCE_DESC_v1_res_array,
    CUDA_RESOURCE_DESC_v1_res_mipmap,
    CUDA_RESOURCE_DESC_v1_res_linear,
    CUDA_RESOURCE_DESC_v1_res_pitch2D,
    CUDA_RESOURCE_DESC_v1_res,
    CUDA_RESOURCE_DESC_v1,
    CUDA_TEXTURE_DESC_v1,
    CUDA_RESOURCE_VIEW_DESC_v1,
    CUtensorMap,
    CUDA_LAUNCH_PARAMS_v1,
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle_win32,
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1_handle,
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1,
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1,
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle_win32,
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1_handle,
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params_nvSciSync,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1_params,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params_nvSciSync,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1_params,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1,
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1,
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2_anon_1,
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2,
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1,
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2_anon_1,
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2,
    CUarrayMapInfo_v1_resource,
    CUarrayMapInfo_v1_subresource,
    CUarrayMapInfo_v1_memHandle,
    CUarrayMapInfo_v1,
    CUmemLocation_v1,
    CUmemAllocationProp_v1,
    CUmemAccessDesc_v1,
    CUgraphExecUpdateResultInfo_v1,
    CUmemPoolProps_v1,
    CUmemPoolPtrExportData_v1,
    CUmemcpyAttributes_v1,
    CUmemcpy3DOperand_v1_op_ptr,
    CUmemcpy3DOperand_v1_op_array,
    CUmemcpy3DOperand_v1_op,
    CUmemcpy3DOperand_v1,
    CUDA_MEMCPY3D_BATCH_OP_v1,
    CUDA_MEM_ALLOC_NODE_PARAMS_v1,
    CUDA_MEM_ALLOC_NODE_PARAMS_v2,
    CUDA_CHILD_GRAPH_NODE_PARAMS,
    CUDA_EVENT_RECORD_NODE_PARAMS_anon_1,
    CUDA_EVENT_RECORD_NODE_PARAMS,
    CUDA_EVENT_WAIT_NODE_PARAMS,
    CUDA_MEMCPY_BATCH_NODE_PARAMS_V1_anon_1,
    CUDA_MEMCPY_BATCH_NODE_PARAMS_V1,
    CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1_anon_1,
    CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1,
    CUgraphNodeParams_anon_1,
    CUgraphNodeParams,
    CUcheckpointCustomStoragePerDeviceData,
    CUcheckpointCustomStorageInfo,
    CUcheckpointCheckpointArgs,
    CUcheckpointRestoreArgs,
    CUmemDecompressParams,
    CUcliqueInfo,
    CUlogicalEndpointFabricHandle,
    CUlogicalEndpointProp_struct_anon_1,
    CUlogicalEndpointProp_struct,
    CUfabricCpyOperand_op_ptr,
    CUfabricCpyOperand_op,
    CUfabricCpyOperand,
    CUDA_FABRIC_COPY_BATCH_OP_v1,
    CUdevWorkqueueConfigResource,
    CUdevWorkqueueResource,
    CUdevResource_v1_anon_1,
    CUdevResource_v1,
    CUDA_MEMCPY2D_v1,
    CUDA_MEMCPY3D_v1,
    CUDA_ARRAY_DESCRIPTOR_v1,
    CUDA_ARRAY3D_DESCRIPTOR_v1,
}
