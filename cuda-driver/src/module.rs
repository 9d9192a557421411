//! [`Module`]: code loaded into a context, and the globals in it.
//!
//! # Safety
//!
//! Loading is `unsafe` for callers: the code is arbitrary. The blocks call C functions whose obligations are a live module
//! (owned by `self`), NUL-terminated texts, and pointers that live through the call.

use std::ffi::{CString, c_uint, c_void};
use std::fmt;

use cuda_sys::{CUdeviceptr, CUjit_option, CUmodule, CUresult};

use crate::context::Context;
use crate::driver::describe;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::jit_log::JitError;
use crate::sync::Arc;

/// Code that the driver has loaded. Clones are cheap and mean the same module; its functions hold it.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Module};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
/// // SAFETY: the kernel touches no memory.
/// let module = unsafe { Module::load_ptx(&context, ptx) }?;
/// assert_eq!(module.function("nothing")?.name(), "nothing");
/// # Ok(())
/// # }
/// ```
///
/// See the [CUDA driver API, module management](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MODULE.html).
#[derive(Clone)]
pub struct Module(Arc<ModuleInner>);

struct ModuleInner {
    context: Context,
    raw: CUmodule,
}

// SAFETY: the raw module is an address that the driver accepts on any thread.
unsafe impl Send for ModuleInner {}
// SAFETY: as above; the driver's own locks protect what it names.
unsafe impl Sync for ModuleInner {}

/// How the driver compiles PTX.
///
/// # Examples
///
/// ```
/// let options = cuda_driver::JitOptions::new().max_registers(64).line_info(true);
/// assert_ne!(options, cuda_driver::JitOptions::new());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct JitOptions {
    max_registers: Option<u32>,
    opt_level: Option<u32>,
    line_info: bool,
    debug: bool,
}

impl JitOptions {
    /// The driver's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most this many registers a thread.
    pub fn max_registers(mut self, registers: u32) -> Self {
        self.max_registers = Some(registers);
        self
    }

    /// Optimisation level, 0 to 4; the driver's default is 4.
    pub fn opt_level(mut self, level: u32) -> Self {
        self.opt_level = Some(level);
        self
    }

    /// Whether the machine code names source lines, for profilers.
    pub fn line_info(mut self, line_info: bool) -> Self {
        self.line_info = line_info;
        self
    }

    /// Whether the machine code carries everything that debuggers need; slows it down.
    pub fn debug(mut self, debug: bool) -> Self {
        self.debug = debug;
        self
    }

    /// The options as the driver takes them, without the logs.
    fn pairs(&self) -> Vec<(CUjit_option, usize)> {
        let mut pairs = Vec::new();
        pairs.extend(self.max_registers.map(|n| (CUjit_option::CU_JIT_MAX_REGISTERS, n as usize)));
        pairs.extend(self.opt_level.map(|n| (CUjit_option::CU_JIT_OPTIMIZATION_LEVEL, n as usize)));
        pairs.extend(self.line_info.then_some((CUjit_option::CU_JIT_GENERATE_LINE_INFO, 1)));
        pairs.extend(self.debug.then_some((CUjit_option::CU_JIT_GENERATE_DEBUG_INFO, 1)));
        pairs
    }
}

/// Bytes for each of the compiler's two logs.
const LOG_BYTES: usize = 16 * 1024;

impl Module {
    /// Compiles PTX for the context's device and loads it.
    ///
    /// # Errors
    ///
    /// [`Error::Jit`] with the driver's log if it refuses the PTX.
    ///
    /// # Safety
    ///
    /// The code may do anything when it is launched; whoever launches its functions answers for what they touch.
    pub unsafe fn load_ptx(context: &Context, ptx: &str) -> Result<Self> {
        // SAFETY: the caller's promise is the same.
        unsafe { Self::load_ptx_with(context, ptx, &JitOptions::new()) }
    }

    /// Compiles PTX for the context's device, with options, and loads it.
    ///
    /// # Errors
    ///
    /// [`Error::Jit`] with the driver's log if it refuses the PTX.
    ///
    /// # Safety
    ///
    /// As [`Module::load_ptx`].
    pub unsafe fn load_ptx_with(context: &Context, ptx: &str, options: &JitOptions) -> Result<Self> {
        let image = CString::new(ptx)
            .map_err(|error| Error::invalid(format!("PTX has a NUL byte at offset {}", error.nul_position())))?;
        let mut logs = Logs::new();
        let (mut keys, mut values): (Vec<_>, Vec<_>) =
            options.pairs().into_iter().chain(logs.pairs()).map(|(key, value)| (key, value as *mut c_void)).unzip();
        let mut raw = std::ptr::null_mut();
        let api = context.enter("cuModuleLoadDataEx")?;
        let load = api.cuModuleLoadDataEx()?;
        // SAFETY: image, options and logs live through the call; each option's value has the type that it asks for.
        let code = unsafe {
            load(&mut raw, image.as_ptr().cast(), keys.len() as c_uint, keys.as_mut_ptr(), values.as_mut_ptr())
        };
        match code {
            CUresult::CUDA_SUCCESS => {
                logs.report();
                Ok(Module(Arc::new(ModuleInner { context: context.clone(), raw })))
            }
            code if concerns_the_image(code) => {
                let error = describe(api, code, "cuModuleLoadDataEx");
                Err(Error::Jit(Box::new(JitError::new(code, error.name, text(&logs.error)))))
            }
            code => context.check(code, "cuModuleLoadDataEx").and_then(|()| Err(Error::invalid("no module"))),
        }
    }

    /// The kernel `name` of the module.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with `CUDA_ERROR_NOT_FOUND` if there is none.
    pub fn function(&self, name: &str) -> Result<Function> {
        Function::find(self, name)
    }

    /// Address and size in bytes of the global variable `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with `CUDA_ERROR_NOT_FOUND` if there is none.
    pub fn global(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        let symbol = c_name(name)?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is live, the name ends in NUL, and both results live through the call.
        unsafe {
            driver_call!(self.context(), cuModuleGetGlobal_v2(&mut address, &mut bytes, self.0.raw, symbol.as_ptr()))
        }?;
        Ok((address, bytes))
    }

    /// The context that the module is loaded into.
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The raw handle; valid while a clone of the module lives.
    #[must_use]
    pub fn as_raw(&self) -> CUmodule {
        self.0.raw
    }
}

/// Whether a load failed because of what is in the image, so that the compiler's log has the reason.
fn concerns_the_image(code: CUresult) -> bool {
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

/// A name as C takes it.
pub(crate) fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::invalid(format!("{name:?} has a NUL byte, which no symbol has")))
}

/// The two texts that the compiler writes.
struct Logs {
    info: Vec<u8>,
    error: Vec<u8>,
}

impl Logs {
    fn new() -> Self {
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

    /// Passes on what the compiler had to say about a module that it accepted.
    fn report(&self) {
        let info = text(&self.info);
        if !info.is_empty() {
            tracing::debug!(log = %info, "the driver's compiler");
        }
    }
}

/// The text in a buffer, up to its first NUL.
fn text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).trim_end().to_owned()
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        // Launched kernels may still run this code, and the driver does not promise that unloading waits for them.
        // SAFETY: the call has no argument; the context is bound by the macro.
        let idle = unsafe { driver_call!(&self.context, cuCtxSynchronize()) };
        let unloaded = idle.and_then(|()| {
            // SAFETY: the last clone is gone, and so are the functions, which hold one; no kernel runs.
            unsafe { driver_call!(&self.context, cuModuleUnload(self.raw)) }
        });
        if let Err(error) = unloaded {
            tracing::warn!(%error, "a module could not be unloaded");
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("raw", &self.0.raw).field("device", &self.context().device().ordinal()).finish()
    }
}
