//! Status codes: this crate's explanation with the remedy, and the sticky codes.
//!
//! Names and one-line texts come from the driver (`cuGetErrorName`, `cuGetErrorString`); this table adds causes and
//! remedies. An unknown code is a number with the driver's own text.

use cuda_sys::CUresult;

/// Returns true if every later call on the same context will fail with the same code.
pub(crate) fn is_sticky(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUresult::CUDA_ERROR_CONTAINED
            | CUresult::CUDA_ERROR_EXTERNAL_DEVICE
            | CUresult::CUDA_ERROR_MPS_CLIENT_TERMINATED
    )
}

/// This crate's explanation of `code` with the remedy; empty where the driver's text suffices.
pub(crate) fn explanation(code: CUresult) -> &'static str {
    match code {
        CUresult::CUDA_ERROR_INVALID_VALUE => "an argument of this call is outside what the driver accepts",
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "free device memory, or use smaller arrays",
        CUresult::CUDA_ERROR_NOT_INITIALIZED | CUresult::CUDA_ERROR_DEINITIALIZED => {
            "the driver is not initialised, or the process is shutting down"
        }
        CUresult::CUDA_ERROR_STUB_LIBRARY => {
            "the toolkit's stub was loaded in place of the driver's libcuda.so.1; remove `stubs` from the library path"
        }
        CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER => "update the driver",
        CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE => {
            "another process holds the device (exclusive mode), or it is being reset"
        }
        CUresult::CUDA_ERROR_NO_DEVICE => "the driver finds no GPU; look at `nvidia-smi` and CUDA_VISIBLE_DEVICES",
        CUresult::CUDA_ERROR_INVALID_DEVICE => "there is no device of this number",
        CUresult::CUDA_ERROR_INVALID_IMAGE => "the image is not PTX, cubin or fatbin that this driver can read",
        CUresult::CUDA_ERROR_INVALID_CONTEXT => "the thread has no usable context for this call",
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            "the code was compiled for another compute capability than this device's"
        }
        CUresult::CUDA_ERROR_INVALID_PTX => "the driver's compiler refuses the PTX",
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "the PTX's `.version` is newer than the driver; compile for an older version or update the driver"
        }
        CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
            "libnvidia-ptxjitcompiler.so.1, a part of the driver, is not installed"
        }
        CUresult::CUDA_ERROR_INVALID_HANDLE => "the object does not belong to this context, or was never recorded",
        CUresult::CUDA_ERROR_NOT_FOUND => "the driver knows no object of this name",
        CUresult::CUDA_ERROR_NOT_READY => "the work has not finished yet",
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => {
            "a kernel read or wrote memory outside every live allocation, or a recursion beyond its stack; the context is lost"
        }
        CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "the kernel needs more registers or shared memory than a block of this size can have; use a smaller block"
        }
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT => "the kernel ran longer than the display's watchdog allows",
        CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => "another part of the process reset or destroyed the context",
        CUresult::CUDA_ERROR_ASSERT => "a device-side assert failed; the context is lost",
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION => "a kernel ran an illegal instruction; the context is lost",
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => {
            "a kernel used an address that is not a multiple of the access's size; the context is lost"
        }
        CUresult::CUDA_ERROR_LAUNCH_FAILED => {
            "a kernel failed on the device, as by a recursion that needs more stack than `ContextLimit::StackSize`; the context is lost"
        }
        CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => {
            "a cooperative launch needs all its blocks resident at once; use fewer or smaller blocks"
        }
        CUresult::CUDA_ERROR_NOT_PERMITTED => "the call is not allowed here; in a host callback no CUDA call is",
        CUresult::CUDA_ERROR_NOT_SUPPORTED => "this device or driver does not support the call",
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            "the kernel module and libcuda have different versions; reboot after the driver's update"
        }
        CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT => "the device has no such limit",
        CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => "the two devices cannot use each other's memory; copy it",
        CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED => {
            "a stream is being captured into a graph, and this call cannot be part of one"
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED => {
            "something that a capture forbids was done while it ran, such as synchronising the context through another \
             library"
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED => {
            "a stream that was taken into the capture was not joined again before its end"
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION => {
            "a captured stream would have to wait for work outside of its capture"
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
            "the legacy default stream waits for all blocking streams, and one of them is being captured"
        }
        CUresult::CUDA_ERROR_CAPTURED_EVENT => "the event was last recorded in a capture, so there is nothing to ask",
        CUresult::CUDA_ERROR_UNKNOWN => "the driver gives no reason; its log is in `dmesg`",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_faults_are_sticky_and_bad_arguments_are_not() {
        assert!(is_sticky(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
        assert!(!is_sticky(CUresult::CUDA_ERROR_INVALID_VALUE));
        assert!(!is_sticky(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    }

    /// Each explanation with its code, as errors show it; `UPDATE_EXPECT=1` rewrites the file.
    #[test]
    fn explanations_match_the_reviewed_file() {
        let line = |code: CUresult| {
            let (name, text) = (code.name()?, explanation(code));
            (!text.is_empty()).then(|| format!("{} {name}: {text}\n", code.0))
        };
        let all: String = (0..1000).filter_map(|code| line(CUresult(code))).collect();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explanations.txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(file, &all).unwrap();
        }
        assert_eq!(all, std::fs::read_to_string(file).unwrap());
    }

    #[test]
    fn a_code_of_a_newer_driver_is_a_number_without_text() {
        assert_eq!(explanation(CUresult(12_345)), "");
        assert!(!is_sticky(CUresult(12_345)));
    }
}
