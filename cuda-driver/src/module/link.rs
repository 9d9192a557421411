//! [`Linker`]: links several images into one, with the driver's linker.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live link state (owned by `self`), whole images, and pointers
//! that live through the call; the options' lists and the logs, which the driver uses until the state is destroyed, are
//! owned by `self` too and do not move.

use std::ffi::CString;
use std::fmt;

use cuda_sys::{CUlinkState, CUresult};

use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::module::image::Image;
use crate::module::jit::{JitOptions, Logs, OptionList};

/// Links images into one for the context's device: kernels that call functions of other modules, archives of device
/// code.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Image, JitOptions, Linker, Module};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let head = ".version 7.8\n.target sm_75\n.address_size 64\n";
/// let caller = format!("{head}.extern .func helper();\n.visible .entry k() {{ call.uni helper; ret; }}\n");
/// let callee = format!("{head}.visible .func helper() {{ ret; }}\n");
///
/// let mut linker = Linker::new(&context, &JitOptions::new())?;
/// linker.add(&Image::ptx(&caller)?, "caller")?;
/// linker.add(&Image::ptx(&callee)?, "callee")?;
/// let linked = linker.finish()?;
/// // SAFETY: the kernel touches no memory.
/// let module = unsafe { Module::load_image(&context, &linked, &JitOptions::new()) }?;
/// assert_eq!(module.function("k")?.name(), "k");
/// # Ok(())
/// # }
/// ```
///
/// See the [CUDA driver API, module management](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MODULE.html).
pub struct Linker {
    context: Context,
    raw: CUlinkState,
    logs: Box<Logs>,
    /// The driver may read them until the state is destroyed.
    _options: Box<OptionList>,
}

// SAFETY: the raw state is an address that the driver accepts on any thread; using it takes an exclusive borrow.
unsafe impl Send for Linker {}

impl Linker {
    /// A linker without input; PTX inputs are compiled with `options`.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn new(context: &Context, options: &JitOptions) -> Result<Self> {
        let mut logs = Box::new(Logs::new());
        let mut list = Box::new(OptionList::new(options, &mut logs));
        let (count, keys, values) = list.parts();
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` lives through the call; lists and logs are kept as long as the state.
        unsafe { driver_call!(context, cuLinkCreate_v2(count, keys, values, &mut raw)) }?;
        Ok(Linker { context: context.clone(), raw, logs, _options: list })
    }

    /// Adds an image, named `name` in the linker's log.
    ///
    /// # Errors
    ///
    /// [`Error::Jit`] with the linker's log if it refuses the image.
    pub fn add(&mut self, image: &Image, name: &str) -> Result<()> {
        let name = CString::new(name).map_err(|_| Error::invalid(format!("{name:?} has a NUL byte")))?;
        let (data, bytes) = image.raw();
        let (kind, none) = (image.kind().input(), std::ptr::null_mut());
        let entered = self.context.enter("cuLinkAddData_v2")?;
        let add = entered.cuLinkAddData_v2()?;
        // SAFETY: the state is live; the image is complete, its length is passed, and it is only read; name and image
        // live through the call.
        let code = unsafe { add(self.raw, kind, data.cast_mut(), bytes, name.as_ptr(), 0, none, std::ptr::null_mut()) };
        self.expect(code, "cuLinkAddData_v2")
    }

    /// Links the added images into one for the context's device.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Image, JitOptions, Linker};
    ///
    /// let mut linker = Linker::new(&context, &JitOptions::new())?;
    /// linker.add(&Image::ptx(".version 7.8\n.target sm_75\n.address_size 64\n")?, "nothing")?;
    /// assert!(linker.finish()?.bytes().len() > 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Jit`] with the linker's log, such as for an undefined function.
    pub fn finish(self) -> Result<Image> {
        let (mut image, mut bytes) = (std::ptr::null_mut(), 0);
        let entered = self.context.enter("cuLinkComplete")?;
        let complete = entered.cuLinkComplete()?;
        // SAFETY: the state is live, and both results live through the call.
        let code = unsafe { complete(self.raw, &mut image, &mut bytes) };
        self.expect(code, "cuLinkComplete")?;
        if image.is_null() {
            return Err(Error::invalid("cuLinkComplete reports success, but gives no image"));
        }
        self.logs.accepted();
        // SAFETY: the driver returns `bytes` bytes, which it keeps until the state is destroyed.
        Ok(Image::linked(unsafe { std::slice::from_raw_parts(image.cast::<u8>(), bytes) }))
    }

    fn expect(&self, code: CUresult, call: &'static str) -> Result<()> {
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(self.logs.refused(&self.context, code, call)) }
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        // SAFETY: nothing else uses the state.
        if let Err(error) = unsafe { driver_call!(&self.context, cuLinkDestroy(self.raw)) } {
            tracing::warn!(%error, "a linker could not be destroyed");
        }
    }
}

impl fmt::Debug for Linker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linker").field("raw", &self.raw).finish_non_exhaustive()
    }
}
