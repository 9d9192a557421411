//! Conversions: the hidden functions of `From::from`, `Into::into`, `try_from`, and `?`.
//!
//! A conversion is found by its two types, as with `From`: the library has the standard library's conversions between
//! numbers, and `#[device] impl From` adds others.
//! # Safety
//!
//! [`DeviceFrom`] and [`DeviceTryFrom`] describe functions to the compiler, which relies on them, so they are `unsafe`
//! traits. The only unsafe code is their implementations and those of `DeviceFn`.

use std::array::TryFromSliceError;
use std::marker::PhantomData;
use std::num::TryFromIntError;
use std::ops::ControlFlow;

use half::{bf16, f16};

use super::keys::CastType;
use super::{
    Body, Callee, DeviceFn, DeviceType, Instance, Intrinsic, NoCallee, ProbeResult, Returned, owner_arg, type_arg,
};
use crate::syntax::Definition;

/// A conversion in kernels: `From<T>` with code for the device.
///
/// # Examples
///
/// ```
/// use cuda_jit::{DeviceFrom, Num, kernel};
///
/// #[kernel]
/// fn ramp<T: Num + From<u8>>(x: &mut [T]) {
///     for i in 0..x.len() {
///         x[i] = T::from(i as u8);
///     }
/// }
///
/// fn steps<T: Num + From<u8> + DeviceFrom<u8>>() -> Result<[T; 3], cuda_jit::Error> {
///     let mut x = [T::ZERO; 3];
///     ramp::launch((1, 1), &mut x)?;
///     Ok(x)
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// assert_eq!((steps::<f32>()?, steps::<u64>()?), ([0.0, 1.0, 2.0], [0, 1, 2]));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Safety
///
/// [`instance`](Self::instance) is the function `From::from` of these types. `#[device]` implements it.
#[diagnostic::on_unimplemented(
    message = "kernels have no conversion of `{T}` to `{Self}`",
    label = "this conversion has no code for the device",
    note = "write `#[device]` before `impl From<{T}> for {Self}`; numbers convert as the standard library's `From` does"
)]
pub unsafe trait DeviceFrom<T>: Sized {
    /// The function as written.
    fn definition() -> &'static Definition {
        panic!("a conversion between numbers is not written in Rust")
    }

    /// The type information of its body.
    fn probe() -> ProbeResult {
        panic!("a conversion between numbers is not written in Rust")
    }

    /// The function.
    fn instance() -> Instance {
        let generics = vec![owner_arg::<Self>(), owner_arg::<T>()];
        Instance { body: Body::Captured(Self::definition(), Self::probe), generics }
    }

    #[doc(hidden)]
    fn __call_from(_: T) -> Returned<Conversion<T, Self>, Self> {
        Returned::new()
    }

    #[doc(hidden)]
    fn __fn_from() -> Callee<Conversion<T, Self>> {
        Callee::new()
    }
}

/// The callee of a conversion from a `T` to a `U`.
#[derive(Debug)]
pub struct Conversion<T, U>(PhantomData<fn(T) -> U>);

// SAFETY: the instance is the conversion of these types, which the contract of `DeviceFrom` guarantees.
unsafe impl<T, U: DeviceFrom<T>> DeviceFn for Conversion<T, U> {
    type Args = (T,);
    type Output = U;

    fn instance() -> Instance {
        U::instance()
    }
}

// SAFETY: the conversion of a type to itself returns its argument.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType> DeviceFrom<T> for T {
    fn instance() -> Instance {
        Instance { body: Body::Intrinsic(Intrinsic::Same), generics: vec![type_arg::<T>()] }
    }
}

/// A source type without values: it gives each type a second conversion, so that rustc does not infer the source type from
/// the only implementation.
#[derive(Debug)]
pub enum NoSource {}

// SAFETY: the type has no values, so the function is never called.
#[diagnostic::do_not_recommend]
unsafe impl<U: DeviceType> DeviceFrom<NoSource> for U {}

/// The hidden method of `Into::into`. Nothing unsafe relies on an implementation.
pub trait DeviceInto: Sized {
    #[doc(hidden)]
    fn __call_into<U>(self) -> Returned<Conversion<Self, U>, U> {
        Returned::new()
    }
}

impl<T> DeviceInto for T {}

/// `Into<U>` with code for the device: the bound that the typing probe of a generic function has beside `T: Into<U>`.
///
/// # Safety
///
/// [`instance`](Self::instance) is the function `Into::into` of these types. The only implementation is the blanket one.
#[diagnostic::on_unimplemented(
    message = "kernels have no conversion of `{Self}` to `{U}`",
    label = "this conversion has no code for the device",
    note = "write `#[device]` before `impl From<{Self}> for {U}`; numbers convert as the standard library's `From` does"
)]
pub unsafe trait IntoOnDevice<U>: Into<U> + Sized {
    /// The function.
    fn instance() -> Instance;

    #[doc(hidden)]
    fn __call_into(self) -> Returned<IntoConversion<Self, U>, U> {
        Returned::new()
    }

    #[doc(hidden)]
    fn __fn_into() -> Callee<IntoConversion<Self, U>> {
        Callee::new()
    }
}

// SAFETY: the standard library's `Into` is implemented by `From` alone for a type that has it.
#[diagnostic::do_not_recommend]
unsafe impl<T: Into<U>, U: DeviceFrom<T>> IntoOnDevice<U> for T {
    fn instance() -> Instance {
        U::instance()
    }
}

/// The callee of a conversion by a bound `T: Into<U>`.
#[derive(Debug)]
pub struct IntoConversion<T, U>(PhantomData<fn(T) -> U>);

// SAFETY: the instance is the conversion of these types, which the contract of `IntoOnDevice` guarantees.
unsafe impl<T: IntoOnDevice<U>, U> DeviceFn for IntoConversion<T, U> {
    type Args = (T,);
    type Output = U;

    fn instance() -> Instance {
        T::instance()
    }
}

/// The operand of a `?`, and a pointer to the function's result type.
#[derive(Debug)]
pub struct TryOperand<T, R>(pub T, pub *const R);

impl<T, U> TryOperand<Option<T>, Option<U>> {
    /// The value of the `?` expression.
    ///
    /// # Panics
    ///
    /// Always: the probe is never run.
    pub fn __cuda_jit_try(self, _: *const Conversion<(), ()>) -> T {
        unreachable!("a typing probe is never run")
    }

    /// The operand, which `?` takes as it is.
    pub fn __cuda_jit_fitted(self) -> Option<T> {
        self.0
    }
}

impl<T, U, E, F: From<E>> TryOperand<Result<T, E>, Result<U, F>> {
    /// The value of the `?` expression; unifies the error's conversion with its witness.
    ///
    /// # Panics
    ///
    /// Always: the probe is never run.
    pub fn __cuda_jit_try(self, _: *const Conversion<E, F>) -> T {
        unreachable!("a typing probe is never run")
    }

    /// The operand, which `?` takes as it is.
    ///
    /// # Errors
    ///
    /// The operand's own.
    pub fn __cuda_jit_fitted(self) -> Result<T, E> {
        self.0
    }
}

impl<T, U, B> TryOperand<ControlFlow<B, T>, ControlFlow<B, U>> {
    /// The value of the `?` expression; unifies the value of `Break`, which is not converted, with its witness.
    ///
    /// # Panics
    ///
    /// Always: the probe is never run.
    pub fn __cuda_jit_try(self, _: *const Conversion<B, B>) -> T {
        unreachable!("a typing probe is never run")
    }

    /// The operand, which `?` takes as it is.
    pub fn __cuda_jit_fitted(self) -> ControlFlow<B, T> {
        self.0
    }
}

/// The type that a function with a `?` returns.
///
/// Nothing unsafe relies on an implementation.
pub trait TryResult {
    /// The same with a value of another type.
    type With<T>;
}

impl<U> TryResult for Option<U> {
    type With<T> = Option<T>;
}

impl<U, F> TryResult for Result<U, F> {
    type With<T> = Result<T, F>;
}

impl<U, B> TryResult for ControlFlow<B, U> {
    type With<T> = ControlFlow<B, T>;
}

/// A `?` that rustc refuses in the function itself, so that the probe reports no second error. Nothing unsafe relies on an
/// implementation.
pub trait MistypedTry<T>: Sized {
    #[doc(hidden)]
    fn __cuda_jit_try(self, _: *const NoCallee) -> T {
        unreachable!("a typing probe is never run")
    }
}

impl<T, R> MistypedTry<T> for &TryOperand<Option<T>, R> {}
impl<T, E, R> MistypedTry<T> for &TryOperand<Result<T, E>, R> {}
impl<T, B, R> MistypedTry<T> for &TryOperand<ControlFlow<B, T>, R> {}

/// The same in the copy of the body: an operand that `?` takes in the function. Nothing unsafe relies on an implementation.
pub trait FittedTry<Fitted>: Sized {
    #[doc(hidden)]
    fn __cuda_jit_fitted(self) -> Fitted {
        unreachable!("a copied body is never run")
    }
}

impl<T, R: TryResult> FittedTry<R::With<T>> for &TryOperand<Option<T>, R> {}
impl<T, E, R: TryResult> FittedTry<R::With<T>> for &TryOperand<Result<T, E>, R> {}
impl<T, B, R: TryResult> FittedTry<R::With<T>> for &TryOperand<ControlFlow<B, T>, R> {}

/// A `?` on an operand that is no `Option`, `Result` or `ControlFlow`, which rustc refuses in the function itself; the probe
/// goes on with the operand as its value.
///
/// Nothing unsafe relies on an implementation.
pub trait UntypedTry<T>: Sized {
    #[doc(hidden)]
    fn __cuda_jit_try(&mut self, _: *const NoCallee) -> T {
        unreachable!("a typing probe is never run")
    }
}

impl<T, R> UntypedTry<T> for TryOperand<T, R> {}

/// The same in the copy of the body: rustc would report the operand there once more.
///
/// Nothing unsafe relies on an implementation.
pub trait UntypedFittedTry<Fitted>: Sized {
    #[doc(hidden)]
    fn __cuda_jit_fitted(&mut self) -> Fitted {
        unreachable!("a copied body is never run")
    }
}

impl<T, R: TryResult> UntypedFittedTry<R::With<T>> for TryOperand<T, R> {}

/// The value of a statement `e?;`. In `Err(e)?;` nothing fixes its type, which then becomes `()`.
#[derive(Debug)]
pub struct Dropped<T>(pub T);

impl Dropped<()> {
    /// Drops it.
    pub fn __cuda_jit_dropped(self) {}
}

/// Drops a value of any other type. Nothing unsafe relies on an implementation.
pub trait TypedDropped: Sized {
    #[doc(hidden)]
    fn __cuda_jit_dropped(self) {}
}

impl<T> TypedDropped for Dropped<T> {}

/// The conversion from a number of type `T` to one of type `U`, as by `as`.
fn number<T: CastType, U: DeviceType>() -> Instance {
    Instance { body: Body::Intrinsic(Intrinsic::Number(T::TARGET)), generics: vec![type_arg::<U>()] }
}

macro_rules! numbers {
    ($($from:ty: $($to:ty)*;)*) => { $($(
        // SAFETY: the instance is the conversion by `as`, which gives the same number as `From` of these types.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceFrom<$from> for $to {
            fn instance() -> Instance {
                number::<$from, $to>()
            }
        }
    )*)* };
}

numbers! {
    bool: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64;
    u8: u16 u32 u64 u128 usize i16 i32 i64 i128 isize f32 f64 f16 bf16 char;
    u16: u32 u64 u128 usize i32 i64 i128 f32 f64;
    u32: u64 u128 i64 i128 f64;
    u64: u128 i128;
    i8: i16 i32 i64 i128 isize f32 f64 f16 bf16;
    i16: i32 i64 i128 isize f32 f64;
    i32: i64 i128 f64;
    i64: i128;
    f32: f64;
    f16: f32 f64;
    bf16: f32 f64;
    char: u32 u64 u128;
}

/// A fallible conversion in kernels: `TryFrom<T>` with code for the device.
///
/// # Safety
///
/// [`instance`](Self::instance) is the function `TryFrom::try_from` of these types. `#[device]` implements it.
#[diagnostic::on_unimplemented(
    message = "kernels have no `try_from` of `{T}` for `{Self}`",
    label = "this conversion has no code for the device",
    note = "write `#[device]` before `impl TryFrom<{T}> for {Self}`; kernels have those between integers that may fail, and of slices to arrays; where one cannot fail, write `from`"
)]
pub unsafe trait DeviceTryFrom<T, E>: DeviceType + Sized {
    /// The function as written.
    fn definition() -> &'static Definition {
        panic!("a conversion of numbers or slices is not written in Rust")
    }

    /// The type information of its body.
    fn probe() -> ProbeResult {
        panic!("a conversion of numbers or slices is not written in Rust")
    }

    /// The function.
    fn instance() -> Instance {
        let generics = vec![owner_arg::<Self>(), owner_arg::<T>()];
        Instance { body: Body::Captured(Self::definition(), Self::probe), generics }
    }

    #[doc(hidden)]
    fn __call_try_from(_: T) -> Returned<TryConversion<T, Self, E>, Result<Self, E>> {
        Returned::new()
    }

    #[doc(hidden)]
    fn __fn_try_from() -> Callee<TryConversion<T, Self, E>> {
        Callee::new()
    }
}

/// The callee of a conversion from a `T` to a `U` that may fail with an `E`.
#[derive(Debug)]
pub struct TryConversion<T, U, E>(PhantomData<fn(T) -> (U, E)>);

// SAFETY: the instance is the conversion of these types, which the contract of `DeviceTryFrom` guarantees.
unsafe impl<T, U: DeviceTryFrom<T, E>, E> DeviceFn for TryConversion<T, U, E> {
    type Args = (T,);
    type Output = Result<U, E>;

    fn instance() -> Instance {
        U::instance()
    }
}

/// The hidden method of `TryInto::try_into`. Nothing unsafe relies on an implementation.
pub trait DeviceTryInto: Sized {
    #[doc(hidden)]
    fn __call_try_into<U: DeviceTryFrom<Self, E>, E>(self) -> Returned<TryConversion<Self, U, E>, Result<U, E>> {
        Returned::new()
    }
}

impl<T> DeviceTryInto for T {}

/// `TryInto<U>` with code for the device: the bound that the typing probe of a generic function has beside `T: TryInto<U>`.
///
/// # Safety
///
/// [`instance`](Self::instance) is the function `TryInto::try_into` of these types. The only implementation is the blanket
/// one.
#[diagnostic::on_unimplemented(
    message = "kernels have no `try_into` of `{Self}` for `{U}`",
    label = "this conversion has no code for the device",
    note = "kernels have those between integers, and of slices to arrays"
)]
pub unsafe trait TryIntoOnDevice<U, E>: TryInto<U> + Sized {
    /// The function.
    fn instance() -> Instance;

    #[doc(hidden)]
    fn __call_try_into(self) -> Returned<TryIntoConversion<Self, U, E>, Result<U, E>> {
        Returned::new()
    }

    #[doc(hidden)]
    fn __fn_try_into() -> Callee<TryIntoConversion<Self, U, E>> {
        Callee::new()
    }
}

// SAFETY: the standard library's `TryInto` is implemented by `TryFrom` alone for a type that has it.
#[diagnostic::do_not_recommend]
unsafe impl<T: TryInto<U, Error = E>, U: DeviceTryFrom<T, E>, E> TryIntoOnDevice<U, E> for T {
    fn instance() -> Instance {
        U::instance()
    }
}

/// The callee of a conversion by a bound `T: TryInto<U>`.
#[derive(Debug)]
pub struct TryIntoConversion<T, U, E>(PhantomData<fn(T) -> (U, E)>);

// SAFETY: the instance is the conversion of these types, which the contract of `TryIntoOnDevice` guarantees.
unsafe impl<T: TryIntoOnDevice<U, E>, U, E> DeviceFn for TryIntoConversion<T, U, E> {
    type Args = (T,);
    type Output = Result<U, E>;

    fn instance() -> Instance {
        T::instance()
    }
}

macro_rules! arrays {
    ($($slice:ty => $array:ty, [$($bound:ident)?];)*) => { $(
        // SAFETY: the compiler converts a slice to an array, or a reference to one, if it has as many elements, as
        // `TryFrom` does.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, T: DeviceType $(+ $bound)?, const N: usize> DeviceTryFrom<$slice, TryFromSliceError> for $array {
            fn instance() -> Instance {
                Instance { body: Body::Intrinsic(Intrinsic::ArrayOfSlice), generics: vec![type_arg::<$array>()] }
            }
        }
    )* };
}

arrays! {
    &'a [T] => &'a [T; N], [];
    &'a mut [T] => &'a mut [T; N], [];
    &'a [T] => [T; N], [Copy];
    &'a mut [T] => [T; N], [Copy];
}

macro_rules! fallible {
    ($($from:ty: $($to:ty)*;)*) => { $($(
        // SAFETY: the compiler converts an integer to the other type if it fits, as `TryFrom` does.
        unsafe impl DeviceTryFrom<$from, TryFromIntError> for $to {
            fn instance() -> Instance {
                let body = Body::Intrinsic(Intrinsic::TryNumber(<$from as CastType>::TARGET));
                Instance { body, generics: vec![type_arg::<$to>()] }
            }
        }
    )*)* };
}

fallible! {
    u8: i8;
    u16: u8 i8 i16 isize;
    u32: u8 u16 i8 i16 i32 usize isize;
    u64: u8 u16 u32 i8 i16 i32 i64 usize isize;
    u128: u8 u16 u32 u64 i8 i16 i32 i64 i128 usize isize;
    usize: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 isize;
    i8: u8 u16 u32 u64 u128 usize;
    i16: u8 u16 u32 u64 u128 i8 usize;
    i32: u8 u16 u32 u64 u128 i8 i16 usize isize;
    i64: u8 u16 u32 u64 u128 i8 i16 i32 usize isize;
    i128: u8 u16 u32 u64 u128 i8 i16 i32 i64 usize isize;
    isize: u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 usize;
}
