//! The types of `nccl.h` 2.32, by their C layout. Enumerations are transparent integers: a client's value that the header does
//! not know is a number, which the checks refuse.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `NCCL_VERSION_CODE` of the header that this library implements.
pub(crate) const VERSION: c_int = 23203;
/// The header's version as text.
pub(crate) const VERSION_TEXT: &str = "2.32.3";
/// `NCCL_API_MAGIC`.
pub(crate) const MAGIC: c_uint = 0xcafe_beef;
/// The magic number of `ncclSimInfo_t`.
pub(crate) const SIM_INFO_MAGIC: c_uint = 0x7468_5283;
/// `NCCL_CONFIG_UNDEF_INT`.
pub(crate) const UNDEFINED: c_int = c_int::MIN;
/// `NCCL_SPLIT_NOCOLOR`.
pub(crate) const NO_COLOR: c_int = -1;
/// `NCCL_SHRINK_ABORT`.
pub(crate) const SHRINK_ABORT: c_int = 1;

/// `ncclResult_t`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) c_int);

impl Code {
    pub(crate) const SUCCESS: Code = Code(0);
    pub(crate) const CUDA: Code = Code(1);
    pub(crate) const SYSTEM: Code = Code(2);
    pub(crate) const INTERNAL: Code = Code(3);
    pub(crate) const INVALID_ARGUMENT: Code = Code(4);
    pub(crate) const INVALID_USAGE: Code = Code(5);
    pub(crate) const REMOTE: Code = Code(6);
    pub(crate) const IN_PROGRESS: Code = Code(7);

    /// Returns the text of `ncclGetErrorString`.
    pub(crate) fn text(self) -> &'static std::ffi::CStr {
        match self.0 {
            0 => c"no error",
            1 => c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
            2 => c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
            3 => c"internal error - please report this issue to the NCCL developers",
            4 => c"invalid argument (run with NCCL_DEBUG=WARN for details)",
            5 => c"invalid usage (run with NCCL_DEBUG=WARN for details)",
            6 => c"remote process exited or there was a network error",
            7 => c"NCCL operation in progress",
            8 => c"operation timed out",
            _ => c"unknown result code",
        }
    }
}

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UniqueId {
    pub(crate) internal: [u8; 128],
}

/// `ncclConfig_t`; a client of an older header passes fewer bytes, which `size` tells.
#[repr(C)]
pub(crate) struct Config {
    pub(crate) size: usize,
    pub(crate) magic: c_uint,
    pub(crate) version: c_uint,
    pub(crate) blocking: c_int,
    pub(crate) cga_cluster_size: c_int,
    pub(crate) min_ctas: c_int,
    pub(crate) max_ctas: c_int,
    pub(crate) net_name: *const c_char,
    pub(crate) split_share: c_int,
}

/// `ncclCollConfig_t`, of which only the head is looked at.
#[repr(C)]
pub(crate) struct CallConfig {
    pub(crate) size: usize,
    pub(crate) magic: c_uint,
    pub(crate) version: c_uint,
}

/// `ncclSimInfo_t`.
#[repr(C)]
pub(crate) struct SimInfo {
    pub(crate) size: usize,
    pub(crate) magic: c_uint,
    pub(crate) version: c_uint,
    pub(crate) estimated_time: f32,
}

/// `ncclEncryptionConfig_t`.
#[repr(C)]
pub(crate) struct EncryptionConfig {
    pub(crate) size: usize,
    pub(crate) magic: c_uint,
    pub(crate) version: c_uint,
    pub(crate) mode: c_int,
    pub(crate) psk: *const c_char,
}

/// `ncclComm_t`: a number that the library's table of communicators knows, in a pointer's type.
pub(crate) type RawCommunicator = *mut c_void;

/// `cudaStream_t`, which is the driver's.
pub(crate) type RawStream = *mut c_void;
