//! Compilation of kernels without a device.

use crate::error::{Error, Result};
use crate::kernel::Kernel;
#[cfg(not(feature = "compiler"))]
use crate::kernel::Specialisation;
use crate::target::ComputeCapability;
#[cfg(feature = "compiler")]
use crate::{cache::Lookup, compile::compile, front, kir::Module, target::Target};

/// Compiles a kernel to PTX for a compute capability. It needs neither device nor driver, and does not use the cache.
///
/// # Examples
///
/// ```
/// use cuda_jit::{compile_ptx, device::grid, kernel};
///
/// #[kernel]
/// fn double(x: &mut [f32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] *= 2.0;
///     }
/// }
/// assert!(compile_ptx::<double>((9, 0))?.contains(".target sm_90"));
/// assert!(double::compile_ptx("9.0a")?.contains(".target sm_90a"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// If the compute capability is unknown, or the kernel does not compile.
#[cfg(feature = "compiler")]
pub fn compile_ptx<K: Kernel>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<String> {
    let target = Target::new(cc.try_into().map_err(Into::into)?)?;
    Ok(compile(K::instance(), target, Lookup::None)?.ptx.into_owned())
}

/// The PTX of a kernel from an embedded bundle, for a device of this compute capability.
///
/// # Errors
///
/// If no embedded bundle has code for such a device.
#[cfg(not(feature = "compiler"))]
pub fn compile_ptx<K: Kernel>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<String> {
    let cc = cc.try_into().map_err(Into::into)?;
    Ok(K::cache().compiled(&Specialisation::of::<K>(), cc)?.ptx.clone().into_owned())
}

/// Compiles a kernel to PTX for a compute capability, and replaces its entry in the disk cache.
///
/// It needs neither device nor driver, so that a machine without a GPU can fill the cache of another one. Loaded kernels
/// are not affected: the same kernel compiles to the same code.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, kernel, recompile};
///
/// #[kernel]
/// fn double(x: &mut [f32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         x[i] *= 2.0;
///     }
/// }
/// for cc in ["8.0", "9.0"] {
///     assert!(recompile::<double>(cc)?.contains(".entry double"));
/// }
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// If the compute capability is unknown, or the kernel does not compile. An unwritable cache is no error.
#[cfg(feature = "compiler")]
pub fn recompile<K: Kernel>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<String> {
    let target = Target::new(cc.try_into().map_err(Into::into)?)?;
    Ok(compile(K::instance(), target, Lookup::Replace)?.ptx.into_owned())
}

/// The KIR of a kernel, before any optimisation; [`crate::kir`] gives its meaning.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, kernel, kir_of};
///
/// #[kernel]
/// fn fill(x: &mut [u8]) {
///     x[grid::<1>()] = 1;
/// }
/// assert!(kir_of::<fill>()?.to_string().contains("index out of bounds"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// If the kernel uses a construct that the device language does not support for its types.
#[cfg(feature = "compiler")]
pub fn kir_of<K: Kernel>() -> Result<Module> {
    Ok(front::lower(&K::instance())?.module)
}
