//! Names and descriptions of status codes.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::{api, put};
use cuda_sys::CUresult;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{CString, c_char};

/// The descriptions of NVIDIA's driver. A code without one is described by its name.
fn description(code: CUresult) -> Option<String> {
    use CUresult as R;
    let name = code.name()?;
    let text = match code {
        R::CUDA_SUCCESS => "no error",
        R::CUDA_ERROR_INVALID_VALUE => "invalid argument",
        R::CUDA_ERROR_OUT_OF_MEMORY => "out of memory",
        R::CUDA_ERROR_NOT_INITIALIZED => "initialization error",
        R::CUDA_ERROR_DEINITIALIZED => "driver shutting down",
        R::CUDA_ERROR_NO_DEVICE => "no CUDA-capable device is detected",
        R::CUDA_ERROR_INVALID_DEVICE => "invalid device ordinal",
        R::CUDA_ERROR_INVALID_IMAGE => "device kernel image is invalid",
        R::CUDA_ERROR_INVALID_CONTEXT => "invalid device context",
        R::CUDA_ERROR_NO_BINARY_FOR_GPU => "no kernel image is available for execution on the device",
        R::CUDA_ERROR_INVALID_PTX => "a PTX JIT compilation failed",
        R::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => "PTX JIT compiler library not found",
        R::CUDA_ERROR_UNSUPPORTED_LIMIT => "limit is not supported on this architecture",
        R::CUDA_ERROR_INVALID_SOURCE => "device kernel image is invalid",
        R::CUDA_ERROR_FILE_NOT_FOUND => "file not found",
        R::CUDA_ERROR_OPERATING_SYSTEM => "OS call failed or operation not supported on this OS",
        R::CUDA_ERROR_INVALID_HANDLE => "invalid resource handle",
        R::CUDA_ERROR_NOT_FOUND => "named symbol not found",
        R::CUDA_ERROR_NOT_READY => "device not ready",
        R::CUDA_ERROR_ILLEGAL_ADDRESS => "an illegal memory access was encountered",
        R::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => "too many resources requested for launch",
        R::CUDA_ERROR_LAUNCH_TIMEOUT => "the launch timed out and was terminated",
        R::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE => "cannot set while device is active in this process",
        R::CUDA_ERROR_CONTEXT_IS_DESTROYED => "context is destroyed",
        R::CUDA_ERROR_ASSERT => "device-side assert triggered",
        R::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED => "part or all of the requested memory range is already mapped",
        R::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED => "pointer does not correspond to a registered memory region",
        R::CUDA_ERROR_HARDWARE_STACK_ERROR => "hardware stack error",
        R::CUDA_ERROR_ILLEGAL_INSTRUCTION => "an illegal instruction was encountered",
        R::CUDA_ERROR_MISALIGNED_ADDRESS => "misaligned address",
        R::CUDA_ERROR_INVALID_ADDRESS_SPACE => "operation not supported on global/shared address space",
        R::CUDA_ERROR_INVALID_PC => "invalid program counter",
        R::CUDA_ERROR_LAUNCH_FAILED => "unspecified launch failure",
        R::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => "too many blocks in cooperative launch",
        R::CUDA_ERROR_NOT_PERMITTED => "operation not permitted",
        R::CUDA_ERROR_NOT_SUPPORTED => "operation not supported",
        R::CUDA_ERROR_UNKNOWN => "unknown error",
        _ => return Some(name.trim_start_matches("CUDA_ERROR_").to_lowercase().replace('_', " ")),
    };
    Some(text.to_owned())
}

/// The strings that were returned to clients, which must live for ever, by their text.
static STRINGS: Lazy<Mutex<HashMap<String, &'static CString>>> = Lazy::new(Mutex::default);

fn constant(text: String) -> *const c_char {
    let mut strings = STRINGS.lock();
    let entry = strings
        .entry(text)
        .or_insert_with_key(|text| Box::leak(Box::new(CString::new(text.as_str()).unwrap_or_default())));
    entry.as_ptr()
}

fn answer(out: *mut *const c_char, text: Option<String>) -> super::Status {
    match text {
        Some(text) => put(out, constant(text)),
        None => {
            put(out, std::ptr::null())?;
            Err(CUresult::CUDA_ERROR_INVALID_VALUE)
        }
    }
}

api! {
    fn cuGetErrorName(error: CUresult, out: *mut *const c_char) { answer(out, error.name().map(str::to_owned)) }
    fn cuGetErrorString(error: CUresult, out: *mut *const c_char) { answer(out, description(error)) }
}
