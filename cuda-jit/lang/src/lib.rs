//! The kernel language: the items that a kernel's source may name, and the device library, written in Rust.
//!
//! - [`device`](mod@device): positions, barriers, atomics, warps, groups, shared memory, printing.
//! - Number types: half and 8-bit floats, complex numbers, short vectors; the traits [`Num`], [`Float`] and [`Integer`] for
//!   generic code.
//! - `library`: methods of the standard library's types for kernels: `Option`, `Result`, slices, iterators.
//! - `typeinfo`: the traits by which rustc reports a kernel's names, types and methods to the compiler.
//!
//! The last two are not shown here: kernels call the standard library's own methods, and the macros name the rest.
//!
//! `cuda-jit` re-exports everything that programs name. This crate depends on neither driver nor compiler.
//!
//! # Examples
//!
//! ```
//! use cuda_jit::{device::grid, kernel};
//!
//! /// The mean of the positive numbers of each row; -1 where there are none.
//! #[kernel]
//! fn means(rows: &[[f32; 4]], out: &mut [f32]) {
//!     let i = grid::<1>();
//!     if let Some(row) = rows.get(i) {
//!         let positive = row.iter().copied().filter(|x| *x > 0.0);
//!         let (count, sum) = positive.fold((0.0, 0.0), |(count, sum), x| (count + 1.0, sum + x));
//!         out[i] = Some(sum / count).filter(|mean| mean.is_finite()).unwrap_or(-1.0);
//!     }
//! }
//!
//! let rows = [[1.0, -2.0, 3.0, 0.0], [-1.0; 4]];
//! let (mut on_host, mut on_device) = ([0.0; 2], [0.0; 2]);
//! cuda_jit::host::for_each_thread((1, 2), || means(&rows, &mut on_host));
//! # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
//! # let _selected = context.select();
//! means::launch((1, 2), &rows, &mut on_device)?;
//! assert_eq!((on_host, on_device), ([2.0, -1.0], [2.0, -1.0]));
//! # Ok::<(), cuda_jit::Error>(())
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate self as cuda_jit;

pub mod device;
#[doc(hidden)]
pub mod libcalls;
// Hidden from the documentation alone: rustc names items by their whole paths in its errors if they are hidden from it too.
#[cfg_attr(doc, doc(hidden))]
pub mod library;
mod math;
#[doc(hidden)]
pub mod num;
#[cfg_attr(doc, doc(hidden))]
pub mod print;
#[cfg_attr(doc, doc(hidden))]
pub mod typeinfo;
#[doc(hidden)]
pub mod types;

pub use cuda_jit_kir as kir;
pub use cuda_jit_macros::{DeviceType, device};
pub use cuda_jit_syntax as syntax;
pub use half::{bf16, f16};
pub use library::default::DeviceDefault;
pub use num::{Float, Integer, Num, Vector};
pub use num_complex::{Complex, Complex32, Complex64};
pub use typeinfo::{DeviceFrom, DeviceType, ElementType, ValueType};
pub use types::*;

/// Returns true for a source file of the device library, by the name that rustc gives it.
#[doc(hidden)]
pub fn is_source(file: &str) -> bool {
    file!().strip_suffix("lib.rs").is_some_and(|folder| file.starts_with(folder))
}

/// Names for the macros' expansions, not for users.
#[doc(hidden)]
pub mod __private {
    /// Expands to the part of a `#[device]` function that needs the compiler: empty in this crate.
    macro_rules! compiled_alone {
        ($vis:vis,) => {};
    }

    /// Expands to the part of a derive that needs launches: empty in this crate.
    macro_rules! argument {
        ($($of:tt)*) => {};
    }

    pub(crate) use {argument, compiled_alone};

    /// A type by another name, in bounds by which rustc does not look up its associated types.
    pub type Itself<T> = T;

    /// A name that only functions of the device library can use: their indices are not checked.
    #[derive(Debug)]
    pub(crate) struct Library;

    pub use crate::__unify as unify;
    pub use crate::kir::Scalar;
    pub use crate::library::default::{CapturedDefault, DeviceDefault};
    pub use crate::library::iterator;
    pub use crate::library::iterator::{
        __DeviceDoubleEndedCalls, __DeviceExactSizeCalls, __DeviceIntoIterator_into_iter, __DeviceIntoIteratorCalls,
        __DeviceIterator_next, __DeviceIteratorCalls, __DeviceProductCalls, __DeviceSumCalls, DeviceDoubleEnded,
        DeviceExactSize, DeviceIntoIterator, DeviceIterator, DeviceProduct, DeviceSum, inclusive, probe,
    };
    pub use crate::library::loops::{LoopItems, items, range_of};
    pub use crate::library::structs::{Names, StructKey, SumKey, VariantNames};
    pub use crate::print::{PrintedDebug, debug_value, printable};
    pub use crate::typeinfo::{
        Answers, Arithmetic, Body, ByPath, Callee, CapturedBody, Closure, Comparisons, ConstValue, DeviceFn,
        DeviceFrom, DeviceOperator, DeviceTryFrom, DeviceType, ElementType, EnumTy, Field, FittedTry, FnLike,
        GenericArg, Instance, IntoOnDevice, KernelParam, Key, MarkedWithDevice, MemoryLayout, NoCallee, NoPadding,
        OnlyRefSelf, OnlySelf, Operator, PinnedLayout, ProbeResult, Returned, ScalarType, StructTy, SumIdentity, SumTy,
        TryIntoOnDevice, TryOperand, Ty, TypedConstant, Unconstrained, UntypedFittedTry, UpperCasePath, ValueType,
        VariantTy, any_value, bits_of, boxed, called_path, cast_to, cast_type, closure_argument, closure_result,
        closure_ty, const_of, constant, constant_like, evaluated, field_type, inferred_cast, launch_bound, no_body,
        operators, owner_arg, param_of, report, reported_type, resolved_callee, section_index, shared_array,
        standard_trait, ty_of, type_arg, upper_case_path, value_path,
    };
    pub use crate::typeinfo::{Construction, Constructs, checked, compare, names, non_device, pattern};
    pub use crate::typeinfo::{Derefs, Dropped, KernelsFollowNoDeref, ListedOperator, NoDeref, standard_function};
    pub use crate::{print, syntax};
    pub use cuda_jit_macros::{Configured, unconfigured};

    /// The traits with the hidden functions of the standard library's traits, under the names of those. A typing probe does
    /// not import them themselves, since a trait in scope has methods.
    pub mod std_traits {
        pub use crate::library::copy::CloneMethods as Clone;
        pub use crate::library::iterator::{
            __DeviceDoubleEndedCalls as DoubleEndedIterator, __DeviceExactSizeCalls as ExactSizeIterator,
            __DeviceIntoIteratorCalls as IntoIterator, __DeviceIteratorCalls as Iterator,
        };
        pub use crate::library::trait_paths::{
            DefaultPath as Default, FromPath as From, IntoPath as Into, TryFromPath as TryFrom, TryIntoPath as TryInto,
        };
        pub use crate::num::{EqualityMethods as PartialEq, OrderMethods as Ord, PartialOrderMethods as PartialOrd};
    }
    pub use cuda_mem_element::Element;

    /// The names that typing probes import: the traits with the hidden methods and functions of foreign types, and the functions
    /// that probes call, under names that no program has.
    pub mod hidden {
        pub use super::pattern::{
            Path as __cuda_jit_Path, applied as __cuda_jit_applied, like as __cuda_jit_like, name as __cuda_jit_name,
            path as __cuda_jit_path, path_answer as __cuda_jit_answer, value as __cuda_jit_value,
        };
        pub use super::{
            Dropped as __cuda_jit_Dropped, TryOperand as __cuda_jit_TryOperand, TypedConstant as __cuda_jit_Typed,
            UpperCasePath as __cuda_jit_UpperCasePath, boxed as __cuda_jit_boxed,
            called_path as __cuda_jit_called_path, cast_to as __cuda_jit_cast, cast_type as __cuda_jit_cast_type,
            closure_argument as __cuda_jit_argument, closure_result as __cuda_jit_closure_result,
            const_of as __cuda_jit_const_of, constant as __cuda_jit_constant,
            constant_like as __cuda_jit_constant_like, evaluated as __cuda_jit_evaluated,
            inclusive as __cuda_jit_inclusive, inferred_cast as __cuda_jit_inferred_cast, items as __cuda_jit_items,
            printable as __cuda_jit_printable, probe as __cuda_jit_probe, range_of as __cuda_jit_range,
            reported_type as __cuda_jit_type, resolved_callee as __cuda_jit_resolved_callee,
            section_index as __cuda_jit_section, shared_array as __cuda_jit_shared,
            standard_trait as __cuda_jit_standard, std_traits as __cuda_jit_std,
            upper_case_path as __cuda_jit_upper_case_path, value_path as __cuda_jit_value_path,
        };
        pub use crate::library::boolean::BoolMethods as _;
        pub use crate::library::constant::ConstantMethods as _;
        pub use crate::library::control_flow::ControlFlowMethods as _;
        pub use crate::library::copy::CloneMethods as _;
        pub use crate::library::default::DefaultFunctions as _;
        pub use crate::library::iterator::{
            __AttemptCalls as _, __BoundsCalls as _, __ChunksRemainderCalls as _, __ChunksRemainderMutCalls as _,
            __DeviceCallsCalls as _, __DeviceDoubleEndedCalls as _, __DeviceExactSizeCalls as _,
            __DeviceIntoIteratorCalls as _, __DeviceIteratorCalls as _, __DeviceProductCalls as _,
            __DeviceSumCalls as _, __GetCalls as _, __GetMutCalls as _, __IndexedSourceCalls as _, __PartedCalls as _,
            __PlaneSourcesCalls as _, __PlaneSourcesMutCalls as _, __ReferentCalls as _, __RestCalls as _,
            __SliceEndsCalls as _, __SliceEndsMutCalls as _, __SlicePartitionsCalls as _,
            __SlicePartitionsMutCalls as _, __SliceRestCalls as _, __SliceSourcesCalls as _,
            __SliceSourcesMutCalls as _, __StepCalls as _, __ValueSourcesCalls as _, __ValueSourcesMutCalls as _,
            __ViewIteratorsCalls as _, __ViewSourcesCalls as _, __ViewSourcesMutCalls as _, RangeFromMethods as _,
            RangeInclusiveMethods as _, RangeMethods as _, RangeToInclusiveMethods as _, RangeToMethods as _,
        };
        pub use crate::library::option::{
            OptionMethods as _, OptionMut as _, OptionOption as _, OptionPair as _, OptionRef as _,
        };
        pub use crate::library::ordering::OrderingMethods as _;
        pub use crate::library::result::{
            OptionResult as _, ResultMethods as _, ResultMut as _, ResultOption as _, ResultRef as _, ResultResult as _,
        };
        pub use crate::library::slice::{
            ArrayMethods as _, ByteSliceMethods as _, SliceIndices as _, SliceLength as _, SliceMethods as _,
        };
        pub use crate::library::slice_parts::{ArrayParts as _, ArraySliceMethods as _, SliceParts as _};
        pub use crate::library::stable_sort::StableSort as _;
        pub use crate::library::std_functions::{IsOtherFunction as _, IsStdFunction as _};
        pub use crate::library::views::{ViewDot as _, ViewElements as _, ViewElementsMut as _};
        pub use crate::num::{
            CastNumber as _, CharMethods as _, EqualityMethods as _, FloatBytes as _, FloatConversions as _,
            FloatMethods as _, HalfMethods as _, IntegerBytes as _, IntegerMethods as _, OrderMethods as _,
            PartialOrderMethods as _, ProductMethods as _, SignedMethods as _, SignedMixed as _, StrictMethods as _,
            TextCodes as _, UnsignedMethods as _, UnsignedMixed as _, WidestProductMethods as _,
        };
        pub use crate::typeinfo::non_device::CallableFromKernels as _;
        pub use crate::typeinfo::pattern::{
            OfDevice as _, OfKnown as _, OfOther as _, OfRepresentative as _, OfUnknown as _,
        };
        pub use crate::typeinfo::{
            BoxedCallee as _, CalledFunction as _, ConstructorValue as _, ControlFlowVariants as _, FunctionValue as _,
            MistypedTry as _, OptionVariants as _, OtherCallee as _, ResultVariants as _, TypedDropped as _,
            UntypedTry as _, UpperCaseConstructor as _,
        };
        pub use crate::typeinfo::{
            DeviceFrom as _, DeviceInto as _, DeviceTryFrom as _, DeviceTryInto as _, PlaneMethods as _,
            PlaneShape as _, SharedView as _, SliceOfView as _, TextMethods as _, UniqueView as _, ViewFunctions as _,
            ViewMethods as _, WholeView as _,
        };
        pub use crate::types::complex::{ComplexMethods as _, ForeignFunctions as _};
        pub use crate::types::halves::HalfFunctions as _;
        pub use crate::types::vector::{FloatVectorMethods as _, SignedVectorMethods as _, VectorMethods as _};
        pub use crate::types::wrapping::SaturatingMethods as _;
    }

    /// The macros that kernels may use, each in a module of its own. A typing probe imports the module's names by a glob,
    /// so that rustc reports an ambiguity if the name is another macro's in the kernel's scope.
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
}
