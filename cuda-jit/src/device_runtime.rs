//! CUDA's device runtime: a library of functions that kernels may call and that NVIDIA's driver does not contain.
//!
//! A driver that has them built in, as the software device does, loads such kernels directly. For one that refuses them,
//! the kernel is linked with the toolkit's `libcudadevrt.a`.
//!
//! # Safety
//!
//! The blocks load PTX that the back end generated from a verified module, with NVIDIA's library.

use cuda_driver::{Context, Error, Image, JitOptions, Linker, Module, Result};
use cuda_sys::toolkit::Environment;

use crate::kir::SET_CONDITIONAL;

/// The library's file name in a toolkit.
const LIBRARY: &str = "libcudadevrt.a";

/// Loads a kernel: its machine code if the driver accepts it, else its PTX, linked with the device runtime if it calls that
/// and the driver needs it.
///
/// # Safety
///
/// As for [`Module::load_ptx`], for both PTX and machine code.
pub(crate) unsafe fn load(context: &Context, ptx: &str, cubin: Option<&[u8]>, options: &JitOptions) -> Result<Module> {
    if let Some(image) = cubin.and_then(|bytes| Image::from_bytes(bytes.to_vec()).ok()) {
        // SAFETY: the caller guarantees the contract of `Module::load_ptx` for both, and thus for this image.
        match unsafe { Module::load_image(context, &image, options) } {
            Ok(module) => return Ok(module),
            Err(error) => tracing::debug!(%error, "the driver does not take the machine code; it gets the PTX"),
        }
    }
    // SAFETY: the caller guarantees the contract of `Module::load_ptx` for the PTX.
    unsafe { load_beside(&Environment::from_process(), context, ptx, options) }
}

/// As [`load`], with the toolkit of an environment.
///
/// # Safety
///
/// As for [`load`].
unsafe fn load_beside(environment: &Environment, context: &Context, ptx: &str, options: &JitOptions) -> Result<Module> {
    // SAFETY: the caller guarantees the contract of `Module::load_ptx` for the PTX.
    match unsafe { Module::load_ptx_with(context, ptx, options) } {
        Err(Error::Jit(refusal)) if refusal.log.contains(SET_CONDITIONAL) => {
            let mut linker = Linker::new(context, options)?;
            linker.add(&Image::ptx(ptx)?, "kernel")?;
            linker.add(&library(environment)?, LIBRARY)?;
            // SAFETY: the caller guarantees the contract for the PTX, and the rest of the image is NVIDIA's own device
            // runtime.
            unsafe { Module::load_image(context, &linker.finish()?, options) }
        }
        loaded => loaded,
    }
}

fn library(environment: &Environment) -> Result<Image> {
    match environment.library(LIBRARY) {
        Ok(path) => Image::from_file(path),
        Err(missing) => {
            let text =
                format!("this driver takes a kernel that calls `set_conditional` with {LIBRARY} only: {missing}");
            Err(Error::Invalid(text.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use cuda_driver::Driver;

    use super::*;

    const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

    /// Loads a kernel that calls a function which the software device lacks, with a library of this text.
    fn load_with(library: Option<&str>) -> Result<Module> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = library {
            std::fs::create_dir(folder.path().join("lib64")).unwrap();
            std::fs::write(folder.path().join("lib64").join(LIBRARY), text).unwrap();
        }
        let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
        let function = "cudaGraphSetConditionalOfNewer";
        let ptx = format!("{HEAD}.extern .func {function}();\n.visible .entry k() {{ call.uni {function}; ret; }}\n");
        let environment = Environment::only(folder.path());
        // SAFETY: nothing is launched.
        unsafe { load_beside(&environment, &context, &ptx, &JitOptions::new()) }
    }

    #[test]
    fn a_driver_that_asks_for_the_device_runtime_gets_that_of_the_toolkit() {
        // Replaces NVIDIA's machine code, which the software device cannot link.
        let module = load_with(Some(&format!("{HEAD}.visible .func cudaGraphSetConditionalOfNewer() {{ ret; }}\n")));
        assert_eq!(module.unwrap().function("k").unwrap().name(), "k");
        let refused = load_with(Some(HEAD)).unwrap_err();
        assert!(matches!(refused, Error::Jit(_)), "{refused}");
    }

    #[test]
    fn a_toolkit_without_it_is_said() {
        let text = load_with(None).unwrap_err().to_string();
        let expected = "this driver takes a kernel that calls `set_conditional` with libcudadevrt.a only: found no \
                        `libcudadevrt.a` of a CUDA toolkit; looked at:\n";
        assert!(text.starts_with(expected), "{text}");
    }
}
