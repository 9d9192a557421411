// NVRTC: types and constants.
// Written by `cargo xtask gen-bindings` from nvrtc.h; do not edit.

use core::ffi::*;

handles! {
    nvrtcProgram = _nvrtcProgram,
}

pub const NVRTC_INSTALL_HEADERS_SKIP_IF_EXISTS: u32 = 0;
pub const NVRTC_INSTALL_HEADERS_FORCE_OVERWRITE: u32 = 1;
pub const NVRTC_INSTALL_HEADERS_NO_WAIT: u32 = 2;

c_enum! {
    nvrtcResult: c_uint {
        NVRTC_SUCCESS = 0,
        NVRTC_ERROR_OUT_OF_MEMORY = 1,
        NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
        NVRTC_ERROR_INVALID_INPUT = 3,
        NVRTC_ERROR_INVALID_PROGRAM = 4,
        NVRTC_ERROR_INVALID_OPTION = 5,
        NVRTC_ERROR_COMPILATION = 6,
        NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
        NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
        NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
        NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
        NVRTC_ERROR_INTERNAL_ERROR = 11,
        NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12,
        NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED = 13,
        NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED = 14,
        NVRTC_ERROR_PCH_CREATE = 15,
        NVRTC_ERROR_CANCELLED = 16,
        NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED = 17,
        NVRTC_ERROR_BUSY = 18,
    }
}

#[repr(C)]
#[derive(Debug, Default, Copy, Clone, Hash, PartialEq, Eq)]
pub struct nvrtcBundledHeadersInfo {
    pub available: c_int,
    pub compressedSize: usize,
    pub uncompressedSize: usize,
    pub cudaVersionMajor: c_int,
    pub cudaVersionMinor: c_int,
    pub numFiles: c_uint,
}

layout! { nvrtcBundledHeadersInfo: size 40, align 8, { available: 0, compressedSize: 8, uncompressedSize: 16, cudaVersionMajor: 24, cudaVersionMinor: 28, numFiles: 32, } }

zeroed_default! {}
