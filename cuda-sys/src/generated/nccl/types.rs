// NCCL: types and constants.
// Written by `cargo xtask gen-bindings` from nccl.h; do not edit.

use crate::driver::*;
use core::ffi::*;

handles! {
    ncclComm_t = ncclComm,
    ncclWindow_t = ncclWindow_vidmem,
    ncclParamHandle_t = ncclParamHandle,
}

pub const NCCL_MAJOR: u32 = 2;
pub const NCCL_MINOR: u32 = 32;
pub const NCCL_PATCH: u32 = 3;
pub const NCCL_SUFFIX: &[u8; 1] = b"\0";
pub const NCCL_VERSION_CODE: u32 = 23203;
pub const NCCL_UNIQUE_ID_BYTES: u32 = 128;
pub const NCCL_SPLIT_NOCOLOR: i32 = -1;
pub const NCCL_UNDEF_FLOAT: f64 = -1.0;
pub const NCCL_API_MAGIC: u32 = 3405692655;
pub const NCCL_WIN_DEFAULT: u32 = 0;
pub const NCCL_WIN_COLL_SYMMETRIC: u32 = 1;
pub const NCCL_WIN_STRICT_ORDERING: u32 = 2;
pub const NCCL_WIN_GIN_ONLY: u32 = 4;
pub const NCCL_WIN_CFT_COUNTED: u32 = 8;
pub const NCCL_WIN_REQUIRED_ALIGNMENT: u32 = 4096;
pub const NCCL_CTA_POLICY_DEFAULT: u32 = 0;
pub const NCCL_CTA_POLICY_EFFICIENCY: u32 = 1;
pub const NCCL_CTA_POLICY_ZERO: u32 = 2;
pub const NCCL_SHRINK_DEFAULT: u32 = 0;
pub const NCCL_SHRINK_ABORT: u32 = 1;
pub const NCCL_REVOKE_DEFAULT: u32 = 0;
pub const NCCL_SUSPEND_MEM: u32 = 1;
pub type cudaStream_t = *mut CUstream_st;
pub type cudaEvent_t = *mut CUevent_st;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ncclUniqueId {
    pub internal: [c_char; 128],
}

layout! { ncclUniqueId: size 128, align 1, { internal: 0, } }

c_enum! {
    ncclResult_t: c_uint {
        ncclSuccess = 0,
        ncclUnhandledCudaError = 1,
        ncclSystemError = 2,
        ncclInternalError = 3,
        ncclInvalidArgument = 4,
        ncclInvalidUsage = 5,
        ncclRemoteError = 6,
        ncclInProgress = 7,
        ncclTimeout = 8,
        ncclNumResults = 9,
    }
}

c_enum! {
    ncclHostCftMode_t: c_int {
        ncclHostCftDefault = -2147483648,
        ncclHostCftEnable = 1,
        ncclHostCftDisable = 2,
        ncclHostCftFallback = 3,
    }
}

c_enum! {
    ncclNvlsHostMode_t: c_int {
        ncclNvlsHostModeDefault = -2147483648,
        ncclNvlsHostModeEnable = 0,
        ncclNvlsHostModeDisableTransport = 1,
        ncclNvlsHostModeDisableSymmetricMultimem = 2,
        ncclNvlsHostModeDisable = 2147483647,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ncclConfig_v23100 {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    pub blocking: c_int,
    pub cgaClusterSize: c_int,
    pub minCTAs: c_int,
    pub maxCTAs: c_int,
    pub netName: *const c_char,
    pub splitShare: c_int,
    pub trafficClass: c_int,
    pub commName: *const c_char,
    pub collnetEnable: c_int,
    pub CTAPolicy: c_int,
    pub shrinkShare: c_int,
    pub nvlsCTAs: c_int,
    pub nChannelsPerNetPeer: c_int,
    pub nvlinkCentricSched: c_int,
    pub graphUsageMode: c_int,
    pub numRmaCtx: c_int,
    pub maxP2pPeers: c_int,
    pub graphStreamOrdering: c_int,
    pub launchOrderImplicit: c_int,
    pub numRmaSig: c_int,
    pub rmaEagerInit: c_int,
    pub hostCftMode: c_int,
    pub nvlsHostMode: c_int,
}

layout! { ncclConfig_v23100: size 120, align 8, { size: 0, magic: 8, version: 12, blocking: 16, cgaClusterSize: 20, minCTAs: 24, maxCTAs: 28, netName: 32, splitShare: 40, trafficClass: 44, commName: 48, collnetEnable: 56, CTAPolicy: 60, shrinkShare: 64, nvlsCTAs: 68, nChannelsPerNetPeer: 72, nvlinkCentricSched: 76, graphUsageMode: 80, numRmaCtx: 84, maxP2pPeers: 88, graphStreamOrdering: 92, launchOrderImplicit: 96, numRmaSig: 100, rmaEagerInit: 104, hostCftMode: 108, nvlsHostMode: 112, } }

pub type ncclConfig_t = ncclConfig_v23100;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct ncclConfigExt {
    pub next: *mut ncclConfigExt,
    pub key: ncclConfigExt_key,
    pub val: ncclConfigExt_val,
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ncclConfigExt_key {
    pub vendorId: c_int,
    pub optionId: c_int,
}

layout! { ncclConfigExt_key: size 8, align 4, { vendorId: 0, optionId: 4, } }

#[repr(C)]
#[derive(Copy, Clone)]
pub union ncclConfigExt_val {
    pub i: c_int,
    pub s: *const c_char,
    pub raw: *mut c_void,
}

layout! { ncclConfigExt_val: size 8, align 8, { i: 0, s: 0, raw: 0, } }

layout! { ncclConfigExt: size 24, align 8, { next: 0, key: 8, val: 16, } }

pub type ncclConfigExt_t = ncclConfigExt;

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ncclCollConfig_v23200 {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    pub ext: *mut ncclConfigExt_t,
    pub minCTAs: c_int,
    pub maxCTAs: c_int,
    pub nvlsCTAs: c_int,
    pub cgaClusterSize: c_int,
    pub algSelection: *const c_char,
    pub forceAlgSelection: c_int,
    pub CTAPolicy: c_int,
    pub userProfilerTag: u64,
    pub launchCompletionEvent: cudaEvent_t,
}

layout! { ncclCollConfig_v23200: size 72, align 8, { size: 0, magic: 8, version: 12, ext: 16, minCTAs: 24, maxCTAs: 28, nvlsCTAs: 32, cgaClusterSize: 36, algSelection: 40, forceAlgSelection: 48, CTAPolicy: 52, userProfilerTag: 56, launchCompletionEvent: 64, } }

pub type ncclCollConfig_t = ncclCollConfig_v23200;

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct ncclSimInfo_v22200 {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    pub estimatedTime: f32,
}

layout! { ncclSimInfo_v22200: size 24, align 8, { size: 0, magic: 8, version: 12, estimatedTime: 16, } }

pub type ncclSimInfo_t = ncclSimInfo_v22200;

c_enum! {
    ncclCommMemStat_t: c_uint {
        ncclStatGpuMemSuspend = 0,
        ncclStatGpuMemSuspended = 1,
        ncclStatGpuMemPersist = 2,
        ncclStatGpuMemTotal = 3,
    }
}

c_enum! {
    ncclRedOp_dummy_t: c_uint {
        ncclNumOps_dummy = 5,
    }
}

c_enum! {
    ncclRedOp_t: c_uint {
        ncclSum = 0,
        ncclProd = 1,
        ncclMax = 2,
        ncclMin = 3,
        ncclAvg = 4,
        ncclNumOps = 5,
        ncclMaxRedOp = 2147483647,
    }
}

c_enum! {
    ncclDataType_t: c_uint {
        ncclInt8 = 0,
        ncclChar = 0,
        ncclUint8 = 1,
        ncclInt32 = 2,
        ncclInt = 2,
        ncclUint32 = 3,
        ncclInt64 = 4,
        ncclUint64 = 5,
        ncclFloat16 = 6,
        ncclHalf = 6,
        ncclFloat32 = 7,
        ncclFloat = 7,
        ncclFloat64 = 8,
        ncclDouble = 8,
        ncclBfloat16 = 9,
        ncclFloat8e4m3 = 10,
        ncclFloat8e5m2 = 11,
        ncclNumTypes = 12,
    }
}

c_enum! {
    ncclScalarResidence_t: c_uint {
        ncclScalarDevice = 0,
        ncclScalarHostImmediate = 1,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ncclWaitSignalDesc_t {
    pub opCnt: c_int,
    pub peer: c_int,
    pub sigIdx: c_int,
    pub ctx: c_int,
}

layout! { ncclWaitSignalDesc_t: size 16, align 4, { opCnt: 0, peer: 4, sigIdx: 8, ctx: 12, } }

c_enum! {
    ncclEncryptionMode_t: c_uint {
        NCCL_ENCRYPTION_MODE_NONE = 0,
        NCCL_ENCRYPTION_MODE_PSK = 1,
    }
}

#[repr(C)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct ncclEncryptionConfig_v23200 {
    pub size: usize,
    pub magic: c_uint,
    pub version: c_uint,
    pub mode: c_int,
    pub psk: *const c_char,
}

layout! { ncclEncryptionConfig_v23200: size 32, align 8, { size: 0, magic: 8, version: 12, mode: 16, psk: 24, } }

pub type ncclEncryptionConfig_t = ncclEncryptionConfig_v23200;

zeroed_default! {
    ncclUniqueId,
    ncclConfig_v23100,
    ncclConfigExt_val,
    ncclConfigExt,
    ncclCollConfig_v23200,
    ncclEncryptionConfig_v23200,
}
