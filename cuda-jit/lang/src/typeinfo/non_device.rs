//! Placeholders for functions that are no device functions: a typing probe resolves their names to these items, whose
//! errors explain the mistake.
//!
//! Beside each `#[device]` function stands a type of the same name. A typing probe imports that type by the function's
//! path, under a name from [`names`], and also imports all of [`names`] by a glob, which an explicit import shadows: if the
//! path only names a function, the alias resolves to the placeholder type from the glob.

use std::marker::PhantomData;

use super::by_path::ConstantByPath;
use super::{ConstItem, NoCallee};

/// The callee of a function that is no device function.
#[derive(Debug)]
pub struct NonDeviceFunction;

impl NonDeviceFunction {
    /// Refuses the function.
    pub fn unify<F: CompiledForDevice>(self, _: &F) -> Self {
        self
    }

    /// The constant that a path names where a function could stand; a function is refused.
    pub fn argument<'a, V: ArgumentOfCall<'a> + 'a, C: Fn() -> &'a V>(self, _: &V, _: C) -> ConstantByPath<C> {
        ConstantByPath::new()
    }

    /// Gives the witness a type, so that the refusal causes no further errors.
    pub fn by<V>(self, _: *const NoCallee, _: &V) -> Self {
        self
    }
}

/// A constant, beside which there is no type as beside a device function.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels can only call `#[device]` functions, and `{Self}` is not one",
    label = "this function has no code for the device",
    note = "write `#[device]` before its `fn`; to replace a function of another crate, write your own"
)]
pub trait ArgumentOfCall<'a> {}

#[diagnostic::do_not_recommend]
impl<'a, T: ConstItem<'a>> ArgumentOfCall<'a> for T {}

/// The callee of a call that is refused already.
#[derive(Debug)]
pub struct NoFunction;

impl NoFunction {
    /// Accepts any function, since the error is reported elsewhere.
    pub fn unify<F>(self, _: &F) -> Self {
        self
    }

    /// Accepts any path, since the error is reported elsewhere.
    pub fn argument<'a, F: 'a, C: Fn() -> &'a F>(self, _: &F, _: C) -> Self {
        self
    }

    /// Gives the witness a type, so that the refusal causes no further errors.
    pub fn by<V>(self, _: *const NoCallee, _: &V) -> Self {
        self
    }
}

/// Implemented for no type; rustc reports the missing implementation.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels can only call `#[device]` functions, and `{Self}` is not one",
    label = "this function has no code for the device",
    note = "write `#[device]` before its `fn`; to replace a function of another crate, write your own"
)]
pub trait CompiledForDevice {}

macro_rules! placeholders {
    ($($placeholder:ident($($generic:ident),*))*) => { $(
        /// The placeholder for the type beside a device function.
        #[derive(Debug)]
        pub struct $placeholder<$($generic),*> {
            none: PhantomData<($($generic,)*)>,
        }

        impl<$($generic),*> $placeholder<$($generic),*> {
            #[doc(hidden)]
            pub fn __callee() -> NonDeviceFunction {
                NonDeviceFunction
            }

            #[doc(hidden)]
            pub fn __unify<F, C: CalleeKind<F>>(function: F, _: C, _: *const NoCallee) -> F {
                function
            }
        }
    )* };
}

/// The kind of a function that is no device function; its refusal may be reported elsewhere.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels can only call `#[device]` functions, and `{F}` is not one",
    label = "this function has no code for the device",
    note = "write `#[device]` before its `fn`; to replace a function of another crate, write your own"
)]
pub trait CalleeKind<F> {}

#[diagnostic::do_not_recommend]
impl<F> CalleeKind<F> for NoFunction {}
#[diagnostic::do_not_recommend]
impl<F: CompiledForDevice> CalleeKind<F> for NonDeviceFunction {}

placeholders! { NonDevice() NonDeviceOf(A) NonDeviceOfTwo(A, B) }

/// The placeholder for the type beside a device function with generic arguments like those of `array::from_fn`.
#[derive(Debug)]
pub struct NonDeviceOfArray<A, const N: usize, F> {
    none: PhantomData<(A, F)>,
}

impl<A, const N: usize, F> NonDeviceOfArray<A, N, F> {
    #[doc(hidden)]
    pub fn __callee() -> NonDeviceFunctionOfArray<A, N, F> {
        NonDeviceFunctionOfArray(PhantomData)
    }

    #[doc(hidden)]
    pub fn __unify<V: MakesArray<A, N, F>, C: CalleeKind<V>>(function: V, _: C, _: *const NoCallee) -> V {
        function
    }
}

/// The callee of a function that is no device function, with generic arguments like those of `array::from_fn`: the call's
/// arguments are unified with those that the path leaves open.
#[derive(Debug)]
pub struct NonDeviceFunctionOfArray<A, const N: usize, F>(PhantomData<(A, F)>);

impl<A, const N: usize, F> NonDeviceFunctionOfArray<A, N, F> {
    /// Refuses the function.
    pub fn unify<V: CompiledForDevice + MakesArray<A, N, F>>(self, _: &V) -> NonDeviceFunction {
        NonDeviceFunction
    }

    /// Refuses the function in a call without arguments.
    pub fn unify_nullary<V: CompiledForDevice + MakesArray<A, N, F>, K>(self, _: &V, _: K) -> NoFunction {
        NoFunction
    }

    /// Refuses the function as an argument.
    pub fn argument<'a, V: CompiledForDevice + MakesArray<A, N, F> + 'a, C: Fn() -> &'a V>(
        self,
        _: &V,
        _: C,
    ) -> NoFunction {
        NoFunction
    }
}

/// A function that builds an array from the results of a closure.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels can only call `#[device]` functions, and `{Self}` is not one",
    label = "this function has no code for the device",
    note = "write `#[device]` before its `fn`; to replace a function of another crate, write your own"
)]
pub trait MakesArray<A, const N: usize, F> {}

#[diagnostic::do_not_recommend]
impl<A, const N: usize, F, V: Fn(F) -> [A; N]> MakesArray<A, N, F> for V {}

/// The placeholder for an unresolved function, which rustc reports elsewhere.
pub fn no_function() {}

/// The same with one generic argument.
pub fn no_function_of<A>() {}

/// The same with two generic arguments.
pub fn no_function_of_two<A, B>() {}

/// The same with the generic arguments of an array.
pub fn no_function_of_array<A, const N: usize, F>() {}

/// The names that a typing probe imports by a glob; no program uses them.
pub mod names {
    pub use super::super::host_only::{
        HostArray as __cuda_jit_array, HostAtomic as __cuda_jit_atomic, HostChar as __cuda_jit_char,
        HostFloat as __cuda_jit_float, HostInteger as __cuda_jit_integer, HostIterator as __cuda_jit_iterator,
        HostOption as __cuda_jit_option, HostPlane as __cuda_jit_plane, HostSlice as __cuda_jit_slice,
        HostView as __cuda_jit_view,
    };
    pub use super::CallableFromKernels as __cuda_jit_callable;
    pub use super::primitives as __cuda_jit_primitives;

    macro_rules! names {
        ($($item:ident: $($name:ident)*;)*) => { $($(
            #[doc(hidden)]
            pub use super::$item as $name;
        )*)* };
    }

    names! {
        NonDevice: __cuda_jit_p0 __cuda_jit_p1 __cuda_jit_p2 __cuda_jit_p3 __cuda_jit_p4 __cuda_jit_p5 __cuda_jit_p6
            __cuda_jit_p7 __cuda_jit_p8 __cuda_jit_p9 __cuda_jit_p10 __cuda_jit_p11;
        NonDeviceOf: __cuda_jit_q0 __cuda_jit_q1 __cuda_jit_q2 __cuda_jit_q3 __cuda_jit_q4 __cuda_jit_q5 __cuda_jit_q6
            __cuda_jit_q7 __cuda_jit_q8 __cuda_jit_q9 __cuda_jit_q10 __cuda_jit_q11;
        NonDeviceOfTwo: __cuda_jit_r0 __cuda_jit_r1 __cuda_jit_r2 __cuda_jit_r3 __cuda_jit_r4 __cuda_jit_r5 __cuda_jit_r6
            __cuda_jit_r7 __cuda_jit_r8 __cuda_jit_r9 __cuda_jit_r10 __cuda_jit_r11;
        NonDeviceOfArray: __cuda_jit_x0 __cuda_jit_x1 __cuda_jit_x2 __cuda_jit_x3 __cuda_jit_x4 __cuda_jit_x5
            __cuda_jit_x6 __cuda_jit_x7 __cuda_jit_x8 __cuda_jit_x9 __cuda_jit_x10 __cuda_jit_x11;
        // for names whose lack of a resolution is an error elsewhere
        NonDevice: __cuda_jit_s0 __cuda_jit_s1 __cuda_jit_s2 __cuda_jit_s3 __cuda_jit_s4 __cuda_jit_s5
            __cuda_jit_s6 __cuda_jit_s7 __cuda_jit_s8 __cuda_jit_s9 __cuda_jit_s10 __cuda_jit_s11;
        NonDeviceOf: __cuda_jit_u0 __cuda_jit_u1 __cuda_jit_u2 __cuda_jit_u3 __cuda_jit_u4 __cuda_jit_u5
            __cuda_jit_u6 __cuda_jit_u7 __cuda_jit_u8 __cuda_jit_u9 __cuda_jit_u10 __cuda_jit_u11;
        NonDeviceOfTwo: __cuda_jit_v0 __cuda_jit_v1 __cuda_jit_v2 __cuda_jit_v3 __cuda_jit_v4
            __cuda_jit_v5 __cuda_jit_v6 __cuda_jit_v7 __cuda_jit_v8 __cuda_jit_v9 __cuda_jit_v10 __cuda_jit_v11;
        NonDeviceOfArray: __cuda_jit_y0 __cuda_jit_y1 __cuda_jit_y2 __cuda_jit_y3 __cuda_jit_y4 __cuda_jit_y5
            __cuda_jit_y6 __cuda_jit_y7 __cuda_jit_y8 __cuda_jit_y9 __cuda_jit_y10 __cuda_jit_y11;
        no_function: __cuda_jit_s0 __cuda_jit_s1 __cuda_jit_s2 __cuda_jit_s3 __cuda_jit_s4 __cuda_jit_s5
            __cuda_jit_s6 __cuda_jit_s7 __cuda_jit_s8 __cuda_jit_s9 __cuda_jit_s10 __cuda_jit_s11;
        no_function_of: __cuda_jit_u0 __cuda_jit_u1 __cuda_jit_u2 __cuda_jit_u3 __cuda_jit_u4 __cuda_jit_u5
            __cuda_jit_u6 __cuda_jit_u7 __cuda_jit_u8 __cuda_jit_u9 __cuda_jit_u10 __cuda_jit_u11;
        no_function_of_two: __cuda_jit_v0 __cuda_jit_v1 __cuda_jit_v2 __cuda_jit_v3 __cuda_jit_v4
            __cuda_jit_v5 __cuda_jit_v6 __cuda_jit_v7 __cuda_jit_v8 __cuda_jit_v9 __cuda_jit_v10 __cuda_jit_v11;
        no_function_of_array: __cuda_jit_y0 __cuda_jit_y1 __cuda_jit_y2 __cuda_jit_y3 __cuda_jit_y4 __cuda_jit_y5
            __cuda_jit_y6 __cuda_jit_y7 __cuda_jit_y8 __cuda_jit_y9 __cuda_jit_y10 __cuda_jit_y11;
    }
}

/// Rust's primitive types, by which a probe makes rustc check that a name is one of them: if another item has that name,
/// rustc reports an ambiguity.
pub mod primitives {
    #[doc(hidden)]
    pub use {bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize};
}

/// Implemented by several types, so that rustc cannot decide a bound with an unconstrained parameter.
///
/// Nothing unsafe relies on an implementation.
pub trait Open {}

impl Open for u8 {}
impl Open for u16 {}

/// The items that a type lacks if it is neither beside a device function nor a struct of the device language: rustc finds
/// them for references, where it looks last, and then reports that the type itself does not implement the trait.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels call `#[device]` functions and construct structs with `#[derive(DeviceType)]`, and `{Self}` is neither",
    label = "a kernel, which the host launches, or a struct that kernels do not know",
    note = "move shared code into a `#[device]` function; write `#[derive(DeviceType)]` before a struct"
)]
pub trait CallableFromKernels<Of> {
    #[doc(hidden)]
    fn __callee() -> NoFunction {
        NoFunction
    }

    #[doc(hidden)]
    fn __unify<F>(function: F, _: NoFunction, _: *const NoCallee) -> F {
        function
    }
}

#[diagnostic::do_not_recommend]
impl<T, Of: Open> CallableFromKernels<Of> for &T {}
