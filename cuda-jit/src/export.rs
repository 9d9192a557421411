//! Device functions compiled on their own, for callers compiled by other compilers.
//!
//! `#[device]` functions become part of the kernels that call them. [`ExportedFunction`] compiles one on its own, to PTX
//! with a function that CUDA C++ calls as `extern "C" __device__`: link it with the caller's code from nvcc or NVRTC
//! (compiled with `-rdc=true`), by `cuLinkAddData` or nvlink.
//!
//! | Rust | C |
//! |---|---|
//! | numbers, `bool`, enums with `#[derive(DeviceType)]` | the number of that width |
//! | structs with `#[derive(DeviceType)]` and `#[repr(C)]`, `f16`, `bf16`, short vectors, complex numbers | by value |
//! | `&T`, `&mut T`, `&[T; N]`, `&mut [T; N]` | a pointer, to any memory space |
//!
//! Slices, views, tuples, `Option` and closures have no equivalent in C and are refused. The caller guarantees Rust's rules
//! for references, such as that nobody else accesses a `&mut T`. Such a function has no launch: a panic in it is a trap,
//! which ends the kernel and its context, and functions that read a [`Constant`](crate::Constant) are refused.

use crate::back::llvm::{self, LlvmIr};
use crate::compile::{emit, options};
use crate::error::{Error, Result};
use crate::front::{self, export};
use crate::kir::Module;
use crate::target::{ComputeCapability, Target};
use crate::typeinfo::{Body, DeviceFn, Instance};

/// A `#[device]` function compiled for callers from other compilers.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Num, device, export::ExportedFunction};
///
/// #[device]
/// fn axpy<T: Num>(a: T, x: T, y: T) -> T {
///     a * x + y
/// }
///
/// let function = ExportedFunction::compile::<axpy<f32>>((9, 0))?;
/// assert_eq!(function.declaration(), "extern \"C\" __device__ float axpy_f32(float a, float x, float y);\n");
/// assert!(function.ptx().contains(".visible .func  (.param .b32 func_retval0) axpy_f32("));
/// // Under another name, or only the PTX.
/// assert_eq!(ExportedFunction::compile_as::<axpy<f64>>("daxpy", (9, 0))?.name(), "daxpy");
/// assert!(axpy::<i32>::compile_ptx((9, 0))?.contains("axpy_i32"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExportedFunction {
    instance: Instance,
    target: Target,
    module: Module,
    ptx: String,
}

impl ExportedFunction {
    /// Compiles a device function for a compute capability, under its own name, for given generic arguments. It needs
    /// neither device nor driver, and does not use the cache.
    ///
    /// # Errors
    ///
    /// If the compute capability is unknown, a parameter or the result has no equivalent in C, or the function does not
    /// compile.
    pub fn compile<F: DeviceFn>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<Self> {
        let instance = F::instance();
        let name = export::own_name(&instance);
        Self::of(instance, &name, cc.try_into().map_err(Into::into)?)
    }

    /// Compiles it under a given name, which becomes the function's symbol.
    ///
    /// # Errors
    ///
    /// As for [`compile`](Self::compile), and if the name is not valid in C and PTX.
    pub fn compile_as<F: DeviceFn>(
        name: &str,
        cc: impl TryInto<ComputeCapability, Error: Into<Error>>,
    ) -> Result<Self> {
        Self::of(F::instance(), name, cc.try_into().map_err(Into::into)?)
    }

    fn of(instance: Instance, name: &str, cc: ComputeCapability) -> Result<Self> {
        let target = Target::new(cc)?;
        let module = front::lower_exported(&instance, name)?;
        let definition = instance.definition();
        let ptx = emit(definition, &module, &target, &options(&instance))?.ptx;
        Ok(ExportedFunction { instance, target, module, ptx })
    }

    /// Its symbol.
    pub fn name(&self) -> &str {
        &self.module.functions[0].name
    }

    /// The target that it was compiled for.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device, export::ExportedFunction};
    ///
    /// #[device]
    /// fn half(x: f32) -> f32 {
    ///     x / 2.0
    /// }
    ///
    /// #[device]
    /// fn third(x: f32) -> f32 {
    ///     x / 3.0
    /// }
    ///
    /// let (half, third) = (ExportedFunction::compile::<half>((9, 0))?, ExportedFunction::compile::<third>((9, 0))?);
    /// assert_eq!(half.target().to_string(), "sm_90");
    /// assert_eq!(half.kir().functions[0].name, half.name());
    /// assert_eq!(ExportedFunction::declarations([&half, &third]), half.declaration() + &third.declaration());
    /// assert!(half.llvm()?.contains("define") && half.llvm_before_passes()?.contains("define"));
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    pub fn target(&self) -> Target {
        self.target
    }

    /// Its PTX.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// Its KIR.
    pub fn kir(&self) -> &Module {
        &self.module
    }

    /// The declaration in CUDA C++, with the structs that it takes. `f16` and `bf16` are `__half` of `<cuda_fp16.h>` and
    /// `__nv_bfloat16` of `<cuda_bf16.h>`.
    pub fn declaration(&self) -> String {
        Self::declarations([self])
    }

    /// The declarations of several functions in CUDA C++, with each struct once.
    pub fn declarations<'f>(functions: impl IntoIterator<Item = &'f Self>) -> String {
        let mut text = Vec::new();
        for function in functions {
            if let Body::Captured(_, probe) = function.instance.body {
                export::declare(&function.instance, &probe().into_info(), function.name(), &mut text);
            }
        }
        text.concat()
    }

    /// Its LLVM IR after LLVM's passes, for which it is compiled again.
    ///
    /// # Errors
    ///
    /// If the back end fails.
    pub fn llvm(&self) -> Result<String> {
        Ok(self.llvm_ir()?.optimized)
    }

    /// Its LLVM IR before LLVM's passes, for which it is compiled again.
    ///
    /// # Errors
    ///
    /// If the back end fails.
    pub fn llvm_before_passes(&self) -> Result<String> {
        Ok(self.llvm_ir()?.built)
    }

    fn llvm_ir(&self) -> Result<LlvmIr> {
        let definition = self.instance.definition();
        let options = llvm::Options { keep_llvm_ir: true, ..options(&self.instance) };
        Ok(emit(definition, &self.module, &self.target, &options)?.llvm_ir.unwrap_or_default())
    }
}

/// The PTX of a device function; see [`ExportedFunction::compile`].
#[doc(hidden)]
pub fn compile_device_ptx<F: DeviceFn>(cc: impl TryInto<ComputeCapability, Error: Into<Error>>) -> Result<String> {
    Ok(ExportedFunction::compile::<F>(cc)?.ptx)
}

/// Expands to a `#[device]` function's `compile_ptx`: code for callers from other compilers.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_alone {
    ($vis:vis,) => {
        /// Compiles the function on its own to PTX for a compute capability, such as `(9, 0)` or `"9.0a"`, for other
        /// compilers' code to call as a C function. Needs no device; see `export::ExportedFunction`.
        ///
        /// # Errors
        ///
        /// If the compute capability is unknown, a parameter has no equivalent in C, or the function does not compile.
        $vis fn compile_ptx(
            cc: impl ::core::convert::TryInto<
                $crate::__private::ComputeCapability, Error: ::core::convert::Into<$crate::__private::Error>,
            >,
        ) -> $crate::__private::Result<::std::string::String> {
            $crate::__private::compile_device_ptx::<Self>(cc)
        }
    };
}
