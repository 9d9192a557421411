//! What a typing probe finds in the place of a device function where there is none, so that the error says what is wrong.
//!
//! Beside each `#[device]` function stands a type of the same name. A typing probe imports that by the function's path, under a
//! name from [`names`], and all of [`names`] by a glob, which is weaker: where the path names a function alone, what is found
//! there stands for the type.

use std::marker::PhantomData;

use super::by_path::ConstantByPath;
use super::{ConstItem, NoCallee};

/// In the place of the callee of a function that is none of the device's.
#[derive(Debug)]
pub struct NonDeviceFunction;

impl NonDeviceFunction {
    /// Refuses the function.
    pub fn see<F: CompiledForDevice>(self, _: &F) -> Self {
        self
    }

    /// The constant that a path names in the place of a function; a function is refused.
    pub fn argument<'a, V: ArgumentOfCall<'a> + 'a, C: Fn() -> &'a V>(self, _: &V, _: C) -> ConstantByPath<C> {
        ConstantByPath::new()
    }

    /// Says that the witness saw something, so that nothing follows from the refusal.
    pub fn by<V>(self, _: *const NoCallee, _: &V) -> Self {
        self
    }
}

/// A constant, beside which there is no type as beside a device function.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels call `#[device]` functions, and `{Self}` is none",
    label = "a plain function, which has no code for the device",
    note = "write `#[device]` before its `fn`; of another crate's function write one of your own"
)]
pub trait ArgumentOfCall<'a> {}

#[diagnostic::do_not_recommend]
impl<'a, T: ConstItem<'a>> ArgumentOfCall<'a> for T {}

/// In the place of the callee of what is refused already.
#[derive(Debug)]
pub struct NoFunction;

impl NoFunction {
    /// Says nothing more.
    pub fn see<F>(self, _: &F) -> Self {
        self
    }

    /// The same.
    pub fn argument<'a, F: 'a, C: Fn() -> &'a F>(self, _: &F, _: C) -> Self {
        self
    }

    /// Says that the witness saw something, so that nothing follows from the refusal.
    pub fn by<V>(self, _: *const NoCallee, _: &V) -> Self {
        self
    }
}

/// Nothing has this, which errors name.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels call `#[device]` functions, and `{Self}` is none",
    label = "a plain function, which has no code for the device",
    note = "write `#[device]` before its `fn`; of another crate's function write one of your own"
)]
pub trait CompiledForDevice {}

macro_rules! stand_ins {
    ($($stand_in:ident($($generic:ident),*))*) => { $(
        /// In the place of the type beside a device function.
        #[derive(Debug)]
        pub struct $stand_in<$($generic),*> {
            none: PhantomData<($($generic,)*)>,
        }

        impl<$($generic),*> $stand_in<$($generic),*> {
            #[doc(hidden)]
            pub fn __callee() -> NonDeviceFunction {
                NonDeviceFunction
            }

            #[doc(hidden)]
            pub fn __see<F, C: Found<F>>(function: F, _: C, _: *const NoCallee) -> F {
                function
            }
        }
    )* };
}

/// The kind of a function that is none of the device's, whose refusal may be left to say.
///
/// Nothing unsafe relies on an implementation.
pub trait Found<F> {}

impl<F> Found<F> for NoFunction {}
#[diagnostic::do_not_recommend]
impl<F: CompiledForDevice> Found<F> for NonDeviceFunction {}

stand_ins! { Plain() PlainOf(A) PlainOfTwo(A, B) }

/// In the place of the type beside a device function with generic arguments as those of `array::from_fn`.
#[derive(Debug)]
pub struct PlainOfArray<A, const N: usize, F> {
    none: PhantomData<(A, F)>,
}

impl<A, const N: usize, F> PlainOfArray<A, N, F> {
    #[doc(hidden)]
    pub fn __callee() -> PlainFunctionOfArray<A, N, F> {
        PlainFunctionOfArray(PhantomData)
    }

    #[doc(hidden)]
    pub fn __see<V: MakesArray<A, N, F>, C: Found<V>>(function: V, _: C, _: *const NoCallee) -> V {
        function
    }
}

/// In the place of the callee of a function that is none of the device's, with generic arguments as those of `array::from_fn`: what
/// it is called with ties those that the path leaves open.
#[derive(Debug)]
pub struct PlainFunctionOfArray<A, const N: usize, F>(PhantomData<(A, F)>);

impl<A, const N: usize, F> PlainFunctionOfArray<A, N, F> {
    /// Refuses the function.
    pub fn see<V: CompiledForDevice + MakesArray<A, N, F>>(self, _: &V) -> NonDeviceFunction {
        NonDeviceFunction
    }

    /// The same of a call without arguments.
    pub fn see_none<V: CompiledForDevice + MakesArray<A, N, F>, K>(self, _: &V, _: K) -> NoFunction {
        NoFunction
    }

    /// The same of a path that is an argument.
    pub fn argument<'a, V: CompiledForDevice + MakesArray<A, N, F> + 'a, C: Fn() -> &'a V>(
        self,
        _: &V,
        _: C,
    ) -> NoFunction {
        NoFunction
    }
}

/// A function that makes an array of what a closure yields.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels call `#[device]` functions, and `{Self}` is none",
    label = "a plain function, which has no code for the device",
    note = "write `#[device]` before its `fn`; of another crate's function write one of your own"
)]
pub trait MakesArray<A, const N: usize, F> {}

#[diagnostic::do_not_recommend]
impl<A, const N: usize, F, V: Fn(F) -> [A; N]> MakesArray<A, N, F> for V {}

/// In the place of a function that nothing has, of which rustc says so elsewhere.
pub fn no_function() {}

/// The same with a generic argument.
pub fn no_function_of<A>() {}

/// The same with two.
pub fn no_function_of_two<A, B>() {}

/// The same with those of an array.
pub fn no_function_of_array<A, const N: usize, F>() {}

/// What a typing probe imports by a glob: names that no program has.
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
        Plain: __cuda_jit_p0 __cuda_jit_p1 __cuda_jit_p2 __cuda_jit_p3 __cuda_jit_p4 __cuda_jit_p5 __cuda_jit_p6
            __cuda_jit_p7 __cuda_jit_p8 __cuda_jit_p9 __cuda_jit_p10 __cuda_jit_p11;
        PlainOf: __cuda_jit_q0 __cuda_jit_q1 __cuda_jit_q2 __cuda_jit_q3 __cuda_jit_q4 __cuda_jit_q5 __cuda_jit_q6
            __cuda_jit_q7 __cuda_jit_q8 __cuda_jit_q9 __cuda_jit_q10 __cuda_jit_q11;
        PlainOfTwo: __cuda_jit_r0 __cuda_jit_r1 __cuda_jit_r2 __cuda_jit_r3 __cuda_jit_r4 __cuda_jit_r5 __cuda_jit_r6
            __cuda_jit_r7 __cuda_jit_r8 __cuda_jit_r9 __cuda_jit_r10 __cuda_jit_r11;
        PlainOfArray: __cuda_jit_x0 __cuda_jit_x1 __cuda_jit_x2 __cuda_jit_x3 __cuda_jit_x4 __cuda_jit_x5
            __cuda_jit_x6 __cuda_jit_x7 __cuda_jit_x8 __cuda_jit_x9 __cuda_jit_x10 __cuda_jit_x11;
        // where a name that nothing has is an error elsewhere
        Plain: __cuda_jit_s0 __cuda_jit_s1 __cuda_jit_s2 __cuda_jit_s3 __cuda_jit_s4 __cuda_jit_s5
            __cuda_jit_s6 __cuda_jit_s7 __cuda_jit_s8 __cuda_jit_s9 __cuda_jit_s10 __cuda_jit_s11;
        PlainOf: __cuda_jit_u0 __cuda_jit_u1 __cuda_jit_u2 __cuda_jit_u3 __cuda_jit_u4 __cuda_jit_u5
            __cuda_jit_u6 __cuda_jit_u7 __cuda_jit_u8 __cuda_jit_u9 __cuda_jit_u10 __cuda_jit_u11;
        PlainOfTwo: __cuda_jit_v0 __cuda_jit_v1 __cuda_jit_v2 __cuda_jit_v3 __cuda_jit_v4
            __cuda_jit_v5 __cuda_jit_v6 __cuda_jit_v7 __cuda_jit_v8 __cuda_jit_v9 __cuda_jit_v10 __cuda_jit_v11;
        PlainOfArray: __cuda_jit_y0 __cuda_jit_y1 __cuda_jit_y2 __cuda_jit_y3 __cuda_jit_y4 __cuda_jit_y5
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

/// Rust's own types, by which a probe has rustc check that a name is one of them: where another item has that name, both are meant, and
/// rustc says so.
pub mod primitives {
    #[doc(hidden)]
    pub use {bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize};
}

/// Several types have this, so that a trait which asks for one of them may hold, and does not surely.
///
/// Nothing unsafe relies on an implementation.
pub trait Open {}

impl Open for u8 {}
impl Open for u16 {}

/// What a type has not that is neither a device function's nor a struct of kernels: rustc finds it for references, looks
/// there last, and then misses it for the type.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels call `#[device]` functions and make structs with `#[derive(DeviceType)]`, and `{Self}` is neither",
    label = "a kernel, which the host launches, or a struct that kernels do not know",
    note = "move what several kernels need into a `#[device]` function; write `#[derive(DeviceType)]` before a struct"
)]
pub trait CallableFromKernels<Of> {
    #[doc(hidden)]
    fn __callee() -> NoFunction {
        NoFunction
    }

    #[doc(hidden)]
    fn __see<F>(function: F, _: NoFunction, _: *const NoCallee) -> F {
        function
    }
}

#[diagnostic::do_not_recommend]
impl<T, Of: Open> CallableFromKernels<Of> for &T {}
