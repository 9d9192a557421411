//! Kernels written as plain Rust functions, compiled to PTX when they are first launched.
//!
//! [`kernel`] leaves a function as it is and adds a type of the same name, with `launch`, `forall`, `compile_ptx` and
//! `compile`. rustc type-checks the function; its types and the captured syntax are lowered to [`kir`], then to PTX through
//! LLVM, once per tuple of argument types, target and options. [`device`](macro@device) makes a function callable from
//! kernels.
//!
//! Data flows one way: `syntax` and `typeinfo` (from the macro) to `front` to `kir` to `valid` to `back` to the driver. The
//! language is the package `cuda-jit-lang`, the compiler `cuda-jit-compiler`; this package compiles, loads and launches.
//!
//! # Examples
//!
//! ```
//! use cuda_jit::{Num, device::grid, kernel};
//! use ndarray::array;
//!
//! #[kernel]
//! fn add<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
//!     let i = grid::<1>();
//!     if i < out.len() {
//!         out[i] = x[i] + y[i];
//!     }
//! }
//!
//! let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
//! let x = cuda_mem::to_device(&context, &array![1.0_f32, 2.0, 3.0])?;
//! let mut out = cuda_mem::device_array_like(&x)?;
//! add::launch((1, 32), &x, &x, &mut out)?;
//! assert_eq!(out.copy_to_host()?, array![2.0, 4.0, 6.0]);
//! # Ok::<(), cuda_jit::Error>(())
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The name by which the macros' expansions find this crate: a glob import includes it, from this crate under any name and
/// from crates that re-export it.
#[doc(hidden)]
pub extern crate self as cuda_jit;

#[cfg(feature = "compiler")]
mod assemble;
#[cfg(feature = "bundle")]
pub mod bundle;
pub mod cache;
#[cfg(feature = "compiler")]
mod compile;
mod compiled;
mod constant;
mod device_runtime;
mod error;
#[cfg(feature = "compiler")]
pub mod export;
pub mod host;
pub mod inspect;
mod kernel;
pub mod launch;
mod message;
mod offline;
#[cfg(all(feature = "bundle", feature = "compiler"))]
mod record;
mod requirements;
mod tuples;
mod warm;
pub mod warnings;

pub use crate::constant::{Constant, Destination};
#[cfg(feature = "bundle")]
pub use bundle::embed_kernels;
#[cfg(feature = "compiler")]
pub use cuda_jit_compiler::{back, front, races};
pub use cuda_jit_kir::{self as kir, target, valid};
pub use cuda_jit_lang::{
    Complex, Complex32, Complex64, DeviceDefault, DeviceFrom, DeviceType, ElementType, Float, Integer, Num, ValueType,
    Vector, bf16, device, dynamic_shared, f16, shared, types::*,
};
#[cfg_attr(doc, doc(hidden))]
pub use cuda_jit_lang::{print, typeinfo};
/// A closure, or a `#[device]` function, that a launch passes to a kernel.
///
/// The closure is compiled into the kernel; the variables that it captures are copied at each launch. So another value of
/// `k` below is the same kernel, and another closure is another specialisation. It copies numbers, `bool`, arrays, tuples
/// and `Option` of such, and structs that derive [`DeviceType`](macro@DeviceType), with or without `move`. Its parameters
/// need type annotations. Upper-case names are taken for constants, which must not depend on generic parameters of the
/// surrounding function.
///
/// A device array, or a reference to one, is captured by reference, for reading: in the body it is a slice if it has one
/// dimension, else an `ArrayView`. The launch records its use as for an argument, so that it is ordered with writes.
///
/// A kernel takes it for a type parameter that is bound by `Fn`, `FnMut` or `FnOnce`. [`launch::DeviceClosure::host`]
/// returns the closure for calls on the host, unless it captures a device array.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device, device::grid, device_fn, kernel};
///
/// #[kernel]
/// fn map<F: Fn(f32) -> f32>(f: F, x: &[f32], out: &mut [f32]) {
///     let i = grid::<1>();
///     if i < out.len() {
///         out[i] = f(x[i]);
///     }
/// }
///
/// #[device]
/// fn square(x: f32) -> f32 {
///     x * x
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let (x, mut out) = (vec![1.0, 2.0, 3.0], vec![0.0; 3]);
/// for k in [2.0, 10.0] {
///     map::launch((1, 32), device_fn!(|v: f32| square(v) + k), &x, &mut out)?;
///     assert_eq!(out, [1.0 + k, 4.0 + k, 9.0 + k]);
/// }
/// map::launch((1, 32), device_fn!(square), &x, &mut out)?;
/// assert_eq!(out, [1.0, 4.0, 9.0]);
///
/// let table = cuda_mem::from_slice(&context, &[10.0, 20.0, 30.0, 40.0])?;
/// map::launch((1, 32), device_fn!(|v: f32| table[v as usize] - v), &x, &mut out)?;
/// assert_eq!(out, [19.0, 28.0, 37.0]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub use cuda_jit_macros::device_fn;
pub use cuda_jit_macros::kernel;
#[cfg_attr(doc, doc(hidden))]
pub use cuda_jit_syntax as syntax;
pub use error::{Error, NotBundled, Result};
pub use kernel::{CompiledKernel, Kernel, KernelCache, KernelSite};
pub use offline::compile_ptx;
#[cfg(feature = "compiler")]
pub use offline::{kir_of, recompile};
#[cfg(all(feature = "bundle", feature = "compiler"))]
pub use warm::record;
pub use warm::warm;

/// Names for the macros' expansions, not for users.
#[doc(hidden)]
pub mod __private {
    pub use crate::error::{Error, Result};
    #[cfg(feature = "compiler")]
    pub use crate::export::compile_device_ptx;
    pub use crate::inspect::compile_for;
    pub use crate::kernel::{CompiledKernel, Kernel, KernelSite};
    pub use crate::launch::{
        ArgType, CaptureWitness, ClosureArg, Configuration, DeviceClosure, DeviceFunction, KernelArg, KernelClosure,
        Launch, PassedCallee, PassedNonDevice, Site, Tasks, closure_arg, forall, forall_unchecked, launch,
        launch_unchecked, witness_answer, witness_callee, witness_cast, witness_closure, witness_constant,
        witness_path, witness_type,
    };
    pub use crate::offline::compile_ptx;
    pub use crate::target::ComputeCapability;
    pub use crate::{argument, compiled_alone};
    #[cfg(feature = "bundle")]
    pub use crate::{embedded_bundle, missing_bundle};
    pub use cuda_driver::{Context, LaunchConfig, Stream};
    pub use cuda_jit_lang::__private::*;

    /// Expands to nothing: a program without the compiler compiles no device function.
    #[cfg(not(feature = "compiler"))]
    #[macro_export]
    macro_rules! compiled_alone {
        ($vis:vis,) => {};
    }

    /// The context of a launch that specifies none: the thread's selected one.
    pub fn current_context() -> Result<Context> {
        Context::current().ok_or(Error::NoContext)
    }
}
