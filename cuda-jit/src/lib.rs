//! Kernels written as plain Rust functions, compiled to PTX when they are first launched.
//!
//! [`kernel`] leaves a function as it is and adds a type of the same name, with `launch`, `forall`, `compile_ptx` and
//! `compile`. rustc type-checks the function; the types that it finds, and the captured syntax, become [`kir`], then
//! PTX through LLVM, once per tuple of argument types, target and options. [`device`](macro@device) makes a function
//! callable from kernels.
//!
//! Data flows one way: `syntax` and `harvest` (from the macro) to `front` to `kir` to `valid` to `back` to the driver.
//! Only `back` names LLVM; only `kernel`, `constant` and `launch` name the driver.
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

extern crate self as cuda_jit;

pub mod back;
pub mod cache;
mod compile;
mod constant;
pub mod device;
mod device_runtime;
mod error;
pub mod export;
pub mod front;
pub mod harvest;
pub mod host;
pub mod inspect;
mod kernel;
mod lang;
pub mod launch;
mod libdevice;
mod math;
mod message;
mod num;
#[doc(hidden)]
pub mod print;
pub mod target;
mod types;
mod warm;
pub mod warnings;

pub use crate::constant::{Constant, Destination};
pub use compile::{compile_ptx, kir_of, recompile};
pub use cuda_jit_kir::{self as kir, valid};
/// A closure, or a `#[device]` function, that a launch passes to a kernel.
///
/// The closure is compiled into the kernel; the names that it takes from around it are copied at each launch. So another
/// value of `k` below is the same kernel, and another closure is another specialisation. It copies numbers, `bool`,
/// arrays, tuples and `Option` of such, and structs that derive [`DeviceType`](macro@DeviceType), whether it says `move`
/// or not. Its parameters' types are written; constants are known by their capitals, and depend on no generic
/// parameter of the function around.
///
/// A device array, or a reference to one, is captured by reference, to be read: the body sees a slice if it has one
/// dimension, else an `ArrayView`. The launch uses it like an argument, so that it is ordered with what writes it.
///
/// A kernel takes it where a type parameter is bound by `Fn`, `FnMut` or `FnOnce`. [`harvest::DeviceClosure::host`] gives
/// it back to the host, to call it there, unless it captures a device array.
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
pub use cuda_jit_macros::{DeviceType, device, kernel};
pub use cuda_jit_syntax as syntax;
pub use error::{Error, Result};
pub use half::{bf16, f16};
pub use harvest::{DeviceType, ElementType, ValueType};
pub use inspect::CompiledKernel;
pub use kernel::{Kernel, KernelCache, KernelSite};
pub use lang::default::DeviceDefault;
pub use num::{Float, Integer, Num};
pub use num_complex::{Complex, Complex32, Complex64};
pub use types::*;
pub use warm::warm;

/// What the macros' expansions name. Not for people.
#[doc(hidden)]
pub mod __private {
    /// What functions of the device library name, and no other crate's can: their indices are not checked.
    #[derive(Debug)]
    pub(crate) struct Library;

    pub use crate::compile::compile_ptx;
    pub use crate::error::{Error, Result};
    pub use crate::export::compile_device_ptx;
    pub use crate::harvest::{
        Answers, ArgType, Arithmetic, Body, Builtin, Callee, Carrier, Closure, ClosureArg, Comparisons, ConstValue,
        DeviceClosure, DeviceFn, DeviceFrom, DeviceFunction, DeviceOperator, DeviceType, ElementType, EnumTy, Field,
        FnLike, GenericArg, Harvest, Instance, KernelClosure, KernelParam, Key, Layout, MarkedWithDevice, NoPadding,
        Operator, Ordered, PinnedLayout, Returned, ScalarType, Site, StructTy, SumIdentity, SumTy, Trial, Ty, Typed,
        Untied, ValueType, VariantTy, any_value, bits_of, called, cast_to, cast_type, closure_arg, closure_ty,
        const_of, constant, constant_like, evaluated, made, named, operators, owner_arg, param_of, part, returned, saw,
        saw_answer, saw_callee, saw_cast, saw_closure, saw_constant, seen, shared_array, tell, ty_of, type_arg,
    };
    pub use crate::harvest::{Construction, Constructs, checked, compare, names, pattern, plain};
    pub use crate::inspect::{CompiledKernel, compile_for};
    pub use crate::kernel::{Kernel, KernelSite};
    pub use crate::kir::Scalar;
    pub use crate::lang::default::CapturedDefault;
    pub use crate::lang::iterator;
    pub use crate::lang::iterator::{
        __DeviceDoubleEndedCalls, __DeviceExactSizeCalls, __DeviceIteratorCalls, DeviceDoubleEnded, DeviceExactSize,
        DeviceIterator, inclusive,
    };
    pub use crate::lang::loops::{items, range_of};
    pub use crate::launch::{
        Configuration, KernelArg, Launch, Tasks, forall, forall_unchecked, launch, launch_unchecked,
    };
    pub use crate::print::{PrintedDebug, debugged, told_by};
    pub use crate::target::ComputeCapability;
    pub use crate::{print, syntax};
    pub use cuda_driver::{Context, LaunchConfig, Stream};
    pub use cuda_jit_macros::{Configured, unconfigured};
    pub use cuda_mem::Element;

    /// The traits with the hidden methods and functions of what is not this crate's.
    pub mod hidden {
        pub use crate::harvest::pattern::{
            OfDevice as _, OfKnown as _, OfOther as _, OfRepresentative as _, OfUnknown as _,
        };
        pub use crate::harvest::plain::CallableFromKernels as _;
        pub use crate::harvest::{
            ArrayMethods as _, ArrayValues as _, ComplexMethods as _, ConstantMethods as _, DeviceFrom as _,
            DeviceInto as _, DeviceTryFrom as _, DeviceTryInto as _, FromBits as _, IsPlain as _, IsReplace as _,
            NoMethods as _, OrderedMethods as _, SliceMethods as _, SliceValues as _, TextMethods as _,
            ValueMethods as _, ViewFunctions as _, ViewMethods as _, ViewValues as _,
        };
        pub use crate::harvest::{
            MadeByFunction as _, MistypedTrial as _, NamedFunction as _, OptionVariants as _, ResultVariants as _,
            UntypedTrial as _,
        };
        pub use crate::lang::boolean::BoolMethods as _;
        pub use crate::lang::default::DefaultFunctions as _;
        pub use crate::lang::iterator::{
            __DeviceDoubleEndedCalls as _, __DeviceExactSizeCalls as _, __DeviceIntoIteratorCalls as _,
            __DeviceIteratorCalls as _, __DeviceProductCalls as _, __DeviceSumCalls as _, __NumberedCalls as _,
            __PlaneSourcesCalls as _, __PlaneSourcesMutCalls as _, __ReferentCalls as _, __SliceSourcesCalls as _,
            __SliceSourcesMutCalls as _, __StepCalls as _, __ViewIteratorsCalls as _, __ViewSourcesCalls as _,
            __ViewSourcesMutCalls as _,
        };
        pub use crate::lang::option::{
            OptionMethods as _, OptionMut as _, OptionOption as _, OptionPair as _, OptionRef as _,
        };
        pub use crate::lang::ordering::OrderingMethods as _;
        pub use crate::lang::result::{
            OptionResult as _, ResultMethods as _, ResultMut as _, ResultOption as _, ResultRef as _, ResultResult as _,
        };
        pub use crate::types::complex::ForeignFunctions as _;
        pub use crate::types::halves::HalfFunctions as _;
    }

    /// The macros that kernels know, each in a module of its own: a twin imports the module's names by a glob, and rustc refuses
    /// a name that is another macro's where the kernel stands.
    pub mod macros {
        macro_rules! each {
            ($($name:ident: $path:path;)*) => { $(
                #[doc(hidden)]
                pub mod $name {
                    pub use $path;
                }
            )* };
        }

        each! {
            assert: std::assert;
            assert_eq: std::assert_eq;
            assert_ne: std::assert_ne;
            debug_assert: std::debug_assert;
            debug_assert_eq: std::debug_assert_eq;
            debug_assert_ne: std::debug_assert_ne;
            dynamic_shared: crate::dynamic_shared;
            matches: std::matches;
            panic: std::panic;
            printf: crate::device::printf;
            s: ndarray::s;
            shared: crate::shared;
            todo: std::todo;
            unimplemented: std::unimplemented;
            unreachable: std::unreachable;
        }
    }

    /// The context of a launch that names none: the thread's selected one.
    pub fn current_context() -> Result<Context> {
        Context::current().ok_or(Error::NoContext)
    }
}
