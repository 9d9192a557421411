//! [`Module`]: code loaded into a context, with its functions and global variables.
//!
//! # Safety
//!
//! Loading is `unsafe` for callers: the code is arbitrary. The blocks call C functions whose obligations are a live module
//! (owned by `self`), NUL-terminated texts, and pointers that live through the call.

pub(crate) mod function;
pub(crate) mod image;
pub(crate) mod jit;
pub(crate) mod jit_log;
pub(crate) mod link;
pub(crate) mod params;

use std::ffi::{CString, c_void};
use std::fmt;
use std::mem::MaybeUninit;

use cuda_sys::{CUdeviceptr, CUmodule, CUresult};

use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::module::function::Function;
use crate::module::image::Image;
use crate::module::jit::{JitOptions, Logs, OptionList};
use crate::stream::deferred_drop::{defer_drop, is_in_host_fn};
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
    log: String,
}

// SAFETY: the raw module is an address that the driver accepts on any thread.
unsafe impl Send for ModuleInner {}
// SAFETY: the driver's own locks protect the module that the address names.
unsafe impl Sync for ModuleInner {}

impl Module {
    /// Compiles PTX for the context's device and loads it.
    ///
    /// # Errors
    ///
    /// [`Error::Jit`] with the driver's log if it refuses the PTX.
    ///
    /// # Safety
    ///
    /// The code may do anything when it is launched; callers that launch its functions answer for the memory that they
    /// access.
    pub unsafe fn load_ptx(context: &Context, ptx: &str) -> Result<Self> {
        // SAFETY: the caller keeps the same contract.
        unsafe { Self::load_ptx_with(context, ptx, &JitOptions::new()) }
    }

    /// Compiles PTX for the context's device, with options, and loads it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{JitOptions, Module};
    ///
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// let options = JitOptions::new().max_registers(32).verbose_log(true);
    /// // SAFETY: the kernel touches no memory.
    /// let module = unsafe { Module::load_ptx_with(&context, ptx, &options) }?;
    /// println!("the compiler says: {}", module.log());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Jit`] with the driver's log if it refuses the PTX.
    ///
    /// # Safety
    ///
    /// As [`Module::load_ptx`].
    pub unsafe fn load_ptx_with(context: &Context, ptx: &str, options: &JitOptions) -> Result<Self> {
        let image = Image::ptx(ptx)?;
        // SAFETY: the caller keeps the same contract.
        unsafe { Self::load_image(context, &image, options) }
    }

    /// Loads an image: PTX, which is compiled for the context's device, or machine code for it (a cubin, or a fatbin with
    /// code for several devices).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, Image, JitOptions, Module};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let bytes = b".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// let image = Image::from_bytes(bytes.to_vec())?;
    /// // SAFETY: the kernel touches no memory.
    /// let module = unsafe { Module::load_image(&context, &image, &JitOptions::new()) }?;
    /// assert_eq!(module.function("nothing")?.name(), "nothing");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Jit`] with the driver's log if it refuses the image, such as machine code for another device.
    ///
    /// # Safety
    ///
    /// As [`Module::load_ptx`].
    pub unsafe fn load_image(context: &Context, image: &Image, options: &JitOptions) -> Result<Self> {
        let _span = tracing::debug_span!("load_module", device = context.device().ordinal()).entered();
        let mut logs = Logs::new();
        let mut list = OptionList::new(options, &mut logs);
        let (count, keys, values) = list.parts();
        let mut raw = std::ptr::null_mut();
        let entered = context.enter("cuModuleLoadDataEx")?;
        let load = entered.cuModuleLoadDataEx()?;
        // SAFETY: image, options and logs live through the call; the image is whole, and each option's value has the
        // option's type.
        match unsafe { load(&mut raw, image.as_ptr(), count, keys, values) } {
            CUresult::CUDA_SUCCESS => {
                let log = logs.accepted();
                Ok(Module(Arc::new(ModuleInner { context: context.clone(), raw, log })))
            }
            code => Err(logs.refused(context, code, "cuModuleLoadDataEx")),
        }
    }

    /// The log of the driver's compiler; mostly empty, see [`JitOptions::verbose_log`].
    #[must_use]
    pub fn log(&self) -> &str {
        &self.0.log
    }

    /// The kernel `name` of the module.
    ///
    /// # Errors
    ///
    /// [`Error::NotInModule`] if there is none.
    pub fn function(&self, name: &str) -> Result<Function> {
        Function::find(self, name)
    }

    /// Address and size in bytes of the global variable `name`.
    ///
    /// # Errors
    ///
    /// [`Error::NotInModule`] if there is none.
    pub fn global(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        let symbol = c_name(name)?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is live, the name ends in NUL, and both results live through the call.
        unsafe {
            driver_call!(self.context(), cuModuleGetGlobal_v2(&mut address, &mut bytes, self.0.raw, symbol.as_ptr()))
        }
        .map_err(|error| error.of_symbol("global variable", name))?;
        Ok((address, bytes))
    }

    /// Address of the global variable `name`, which has the size of a `T`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it has another size; [`Error::NotInModule`] if there is none.
    pub fn global_of<T>(&self, name: &str) -> Result<CUdeviceptr> {
        match self.global(name)? {
            (address, bytes) if bytes == size_of::<T>() => Ok(address),
            (_, bytes) => Err(Error::invalid(format!(
                "global variable `{name}` has {bytes} bytes, but `{}` has {}",
                std::any::type_name::<T>(),
                size_of::<T>()
            ))),
        }
    }

    /// Reads the global variable `name`, after all work of the default stream.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, Module};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 count = 7;\n";
    /// // SAFETY: there is no code.
    /// let module = unsafe { Module::load_ptx(&context, ptx) }?;
    /// // SAFETY: any bytes are a `u32`, and no kernel runs.
    /// unsafe {
    ///     assert_eq!(module.read_global::<u32>("count")?, 7);
    ///     module.write_global("count", &8_u32)?;
    ///     assert_eq!(module.read_global::<u32>("count")?, 8);
    /// }
    /// let error = module.global_of::<u64>("count").unwrap_err();
    /// assert_eq!(error.to_string(), "global variable `count` has 4 bytes, but `u64` has 8");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`global_of`](Module::global_of).
    ///
    /// # Safety
    ///
    /// The variable's bytes are a valid `T`, and no kernel writes them meanwhile.
    pub unsafe fn read_global<T: Copy>(&self, name: &str) -> Result<T> {
        let from = self.global_of::<T>(name)?;
        let mut value = MaybeUninit::<T>::uninit();
        let (to, bytes) = (value.as_mut_ptr().cast::<c_void>(), size_of::<T>());
        if bytes != 0 {
            // SAFETY: the variable has as many bytes as the value, and lives as long as the module.
            unsafe { driver_call!(self.context(), cuMemcpyDtoH_v2(to, from, bytes)) }?;
        }
        // SAFETY: all bytes were written, and the caller promises that they are a valid `T`.
        Ok(unsafe { value.assume_init() })
    }

    /// Writes the global variable `name`, after all work of the default stream.
    ///
    /// # Errors
    ///
    /// As [`global_of`](Module::global_of).
    ///
    /// # Safety
    ///
    /// The bytes are valid for the kernels that use the variable, and none uses it meanwhile.
    pub unsafe fn write_global<T: Copy>(&self, name: &str, value: &T) -> Result<()> {
        let to = self.global_of::<T>(name)?;
        let (from, bytes) = (std::ptr::from_ref(value).cast::<c_void>(), size_of::<T>());
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the variable has as many bytes as the value, and lives as long as the module.
        unsafe { driver_call!(self.context(), cuMemcpyHtoD_v2(to, from, bytes)) }
    }

    /// The context that the module is loaded into.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// assert_eq!(nothing.module().context(), &context);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The raw handle; valid while a clone of the module lives.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// use cuda_driver::driver_call;
    ///
    /// let mut count = 0;
    /// // SAFETY: the module is live, and so is the integer.
    /// unsafe { driver_call!(&context, cuModuleGetFunctionCount(&mut count, nothing.module().as_raw())) }?;
    /// assert_eq!(count, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_raw(&self) -> CUmodule {
        self.0.raw
    }
}

/// A name as a C string.
pub(crate) fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::invalid(format!("{name:?} has a NUL byte, which no symbol has")))
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        if is_in_host_fn() {
            let (context, raw, log) = (self.context.clone(), self.raw, std::mem::take(&mut self.log));
            return defer_drop(Box::new(ModuleInner { context, raw, log }));
        }
        // The last clone and the functions, which hold one, are dropped.
        self.context.captures().unload(&self.context, self.raw);
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("raw", &self.0.raw).field("device", &self.context().device().ordinal()).finish()
    }
}
