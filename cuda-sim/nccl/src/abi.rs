//! The types of `nccl.h` as cuda-sys declares them, under the names that this library uses. Enumerations are transparent integers: a
//! client's value that the header does not know is a number, which the checks refuse.

use std::ffi::{CStr, c_int, c_void};

pub(crate) use cuda_sys::nccl::{
    NCCL_API_MAGIC as MAGIC, NCCL_CONFIG_UNDEF_INT as UNDEFINED, NCCL_SPLIT_NOCOLOR as NO_COLOR,
    ncclCollConfig_t as CallConfig, ncclConfig_t as Config, ncclEncryptionConfig_t as EncryptionConfig,
    ncclResult_t as Code, ncclSimInfo_t as SimInfo, ncclUniqueId as UniqueId,
};

/// `NCCL_VERSION_CODE` of the header that this library implements.
pub(crate) const VERSION: c_int = cuda_sys::nccl::NCCL_VERSION_CODE.cast_signed();
/// The magic number of `ncclSimInfo_t`, which is a number in a macro of the header.
pub(crate) const SIM_INFO_MAGIC: u32 = 0x7468_5283;
/// `NCCL_SHRINK_ABORT`.
pub(crate) const SHRINK_ABORT: c_int = cuda_sys::nccl::NCCL_SHRINK_ABORT.cast_signed();

/// Returns the text of `ncclGetErrorString`.
pub(crate) fn text(code: Code) -> &'static CStr {
    match code {
        Code::ncclSuccess => c"no error",
        Code::ncclUnhandledCudaError => c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        Code::ncclSystemError => c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
        Code::ncclInternalError => c"internal error - please report this issue to the NCCL developers",
        Code::ncclInvalidArgument => c"invalid argument (run with NCCL_DEBUG=WARN for details)",
        Code::ncclInvalidUsage => c"invalid usage (run with NCCL_DEBUG=WARN for details)",
        Code::ncclRemoteError => c"remote process exited or there was a network error",
        Code::ncclInProgress => c"NCCL operation in progress",
        Code::ncclTimeout => c"operation timed out",
        _ => c"unknown result code",
    }
}

/// The bytes of an id, which the header has as characters.
pub(crate) fn id_bytes(id: &UniqueId) -> [u8; 128] {
    id.internal.map(|character| u8::from_ne_bytes(character.to_ne_bytes()))
}

/// `ncclComm_t`: a number that the library's table of communicators knows, in a pointer's type.
pub(crate) type RawCommunicator = *mut c_void;

/// `cudaStream_t`, which is the driver's.
pub(crate) type RawStream = *mut c_void;
