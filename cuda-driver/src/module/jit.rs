//! [`JitOptions`]: options of the driver's PTX compiler, and the logs that it writes.
//!
//! Options and logs are passed as one list of keys and values, for modules and for the linker.

use std::ffi::{c_uint, c_void};

use cuda_sys::{CUjit_option, CUresult};

use crate::context::Context;
use crate::error::Error;
use crate::module::jit_log::JitError;

/// Options of the driver's PTX compiler.
///
/// # Examples
///
/// ```
/// let options = cuda_driver::JitOptions::new().max_registers(64).line_info(true);
/// assert_ne!(options, cuda_driver::JitOptions::new());
/// // Debug information, and a log of the registers that it costs.
/// let options = cuda_driver::JitOptions::new().opt_level(0).debug(true).verbose_log(true);
/// println!("{options:?}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct JitOptions {
    max_registers: Option<u32>,
    opt_level: Option<u32>,
    line_info: bool,
    debug: bool,
    verbose: bool,
}

impl JitOptions {
    /// The driver's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of registers per thread.
    pub fn max_registers(mut self, registers: u32) -> Self {
        self.max_registers = Some(registers);
        self
    }

    /// Sets the optimisation level, 0 to 4; the driver's default is 4.
    pub fn opt_level(mut self, level: u32) -> Self {
        self.opt_level = Some(level);
        self
    }

    /// Adds line information to the machine code, for profilers.
    pub fn line_info(mut self, line_info: bool) -> Self {
        self.line_info = line_info;
        self
    }

    /// Adds debug information to the machine code, which makes it slower.
    pub fn debug(mut self, debug: bool) -> Self {
        self.debug = debug;
        self
    }

    /// Makes the compiler's log list the registers and memory of each function; see
    /// [`Module::log`](crate::Module::log).
    pub fn verbose_log(mut self, verbose: bool) -> Self {
        self.verbose = verbose;
        self
    }

    /// The options as the driver takes them, without the logs.
    fn pairs(&self) -> Vec<(CUjit_option, usize)> {
        let mut pairs = Vec::new();
        pairs.extend(self.max_registers.map(|n| (CUjit_option::CU_JIT_MAX_REGISTERS, n as usize)));
        pairs.extend(self.opt_level.map(|n| (CUjit_option::CU_JIT_OPTIMIZATION_LEVEL, n as usize)));
        pairs.extend(self.line_info.then_some((CUjit_option::CU_JIT_GENERATE_LINE_INFO, 1)));
        pairs.extend(self.debug.then_some((CUjit_option::CU_JIT_GENERATE_DEBUG_INFO, 1)));
        pairs.extend(self.verbose.then_some((CUjit_option::CU_JIT_LOG_VERBOSE, 1)));
        pairs
    }
}

/// Bytes for each of the compiler's two logs.
const LOG_BYTES: usize = 16 * 1024;

/// Options and logs as the driver takes them.
pub(crate) struct OptionList {
    keys: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
}

impl OptionList {
    /// Builds the list. The driver writes into the logs as long as the object that it makes with the list lives.
    pub(crate) fn new(options: &JitOptions, logs: &mut Logs) -> Self {
        let pairs = options.pairs().into_iter().chain(logs.pairs());
        let (keys, values) = pairs.map(|(key, value)| (key, std::ptr::with_exposed_provenance_mut(value))).unzip();
        OptionList { keys, values }
    }

    /// The number of options, and the two lists, which live as long as `self`.
    pub(crate) fn parts(&mut self) -> (c_uint, *mut CUjit_option, *mut *mut c_void) {
        (self.keys.len() as c_uint, self.keys.as_mut_ptr(), self.values.as_mut_ptr())
    }
}

/// Returns true if a load failed because of the image's contents, so that the compiler's log has the reason.
fn is_image_error(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_INVALID_PTX
            | CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_INVALID_SOURCE
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
            | CUresult::CUDA_ERROR_NOT_SUPPORTED
    )
}

/// The compiler's two logs.
pub(crate) struct Logs {
    info: Vec<u8>,
    error: Vec<u8>,
}

impl Logs {
    pub(crate) fn new() -> Self {
        Logs { info: vec![0; LOG_BYTES], error: vec![0; LOG_BYTES] }
    }

    fn pairs(&mut self) -> [(CUjit_option, usize); 4] {
        [
            (CUjit_option::CU_JIT_INFO_LOG_BUFFER, self.info.as_mut_ptr().expose_provenance()),
            (CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_BYTES),
            (CUjit_option::CU_JIT_ERROR_LOG_BUFFER, self.error.as_mut_ptr().expose_provenance()),
            (CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES),
        ]
    }

    /// The compiler's log for a module that it accepted.
    pub(crate) fn accepted(&self) -> String {
        let info = text(&self.info);
        if !info.is_empty() {
            tracing::debug!(log = %info, "the driver's compiler");
        }
        info
    }

    /// The error for an image that was refused, or for a call that failed for another reason.
    #[cold]
    pub(crate) fn refused(&self, context: &Context, code: CUresult, call: &'static str) -> Error {
        match context.failure(code, call) {
            Error::Driver(error) if is_image_error(code) => {
                Error::Jit(Box::new(JitError::new(code, error.name, text(&self.error))))
            }
            other => other,
        }
    }
}

/// The text in a buffer, up to its first NUL.
fn text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).trim_end().to_owned()
}
