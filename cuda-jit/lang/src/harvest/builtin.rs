//! How the twin tells a method of the device language's own from one that a `#[device] impl` has.
//!
//! Before each method call the twin asks the receiver for a hidden method, `__dev_` and the name. A `#[device] impl`
//! has one beside each of its methods, and so have, by [`Builtins`], the types whose methods the front end knows by
//! name. rustc's own resolution picks, as it picks the method.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use super::{Body, Callee, DeviceFn, Instance, Returned, Untied};

/// The callee of a method that the front end knows by its name.
#[derive(Debug)]
pub struct Builtin;

// SAFETY: the instance is the function that this type stands beside, with these arguments and this result.
unsafe impl DeviceFn for Builtin {
    type Args = Untied;
    type Output = Untied;

    fn instance() -> Instance {
        Instance { body: Body::Builtin, generics: Vec::new() }
    }
}

/// A type with methods that the front end knows and that take it by value: the numbers, `bool`, short vectors, tuples.
///
/// Nothing unsafe relies on an implementation: the front end looks at the receiver's own type, and refuses a method that it does
/// not have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no device method of this name",
    label = "kernels cannot call this method of `{Self}`",
    note = "write `#[device]` before the `impl` that has it, or call a `#[device]` function; kernels have no heap, thus no `Vec`, `Box` or `String`"
)]
pub trait BuiltinReceiver {}

macro_rules! receivers {
    ($($ty:ty)*) => { $( impl BuiltinReceiver for $ty {} )* };
}

receivers! { bool i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 half::f16 half::bf16 }

macro_rules! tuples {
    ($(($($name:ident)+))*) => { $( impl<$($name),+> BuiltinReceiver for ($($name,)+) {} )* };
}

tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

/// The hidden methods of what is passed by value.
///
/// Nothing unsafe relies on an implementation.
pub trait ValueMethods {
    cuda_jit_macros::builtin_methods!(Value);
}

impl<T: BuiltinReceiver> ValueMethods for T {}

/// The hidden methods of what has none, so that the error says so.
///
/// Nothing unsafe relies on an implementation.
pub trait NoMethods {
    cuda_jit_macros::builtin_methods!(All);
}

impl<T: MarkedWithDevice + ?Sized> NoMethods for T {}

// what is refused where it comes from
impl NoMethods for str {}
impl NoMethods for String {}
impl<T> NoMethods for Vec<T> {}

/// The methods of text that slices have too. Text is refused where it comes from.
///
/// Nothing unsafe relies on an implementation.
pub trait TextMethods {
    #[doc(hidden)]
    fn __call_len(&self) -> Returned<Builtin, usize> {
        Returned::new()
    }

    #[doc(hidden)]
    fn __call_is_empty(&self) -> Returned<Builtin, bool> {
        Returned::new()
    }
}

impl TextMethods for str {}

/// The hidden methods of complex numbers.
///
/// Nothing unsafe relies on an implementation.
pub trait ComplexMethods {
    cuda_jit_macros::builtin_methods!(Complex);
}

impl<T> ComplexMethods for num_complex::Complex<T> {}

/// The hidden methods of slices that take no functions.
///
/// Nothing unsafe relies on an implementation.
pub trait SliceValues {
    cuda_jit_macros::builtin_methods!(Slice);
}

impl<T> SliceValues for [T] {}

/// The hidden methods of arrays that take no functions.
///
/// Nothing unsafe relies on an implementation.
pub trait ArrayValues {
    cuda_jit_macros::builtin_methods!(Array);
}

impl<T, const N: usize> ArrayValues for [T; N] {}

/// The hidden methods of constants.
///
/// Nothing unsafe relies on an implementation.
pub trait ConstantMethods {
    cuda_jit_macros::builtin_methods!(Constant);
}

/// A struct or enum whose order the device knows.
///
/// Nothing unsafe relies on an implementation: where there is none, the front end says so.
pub trait Ordered {}

impl<T> Ordered for Option<T> {}
impl Ordered for std::cmp::Ordering {}

/// The hidden methods of what is ordered; whether Rust has the method is rustc's to say.
///
/// Nothing unsafe relies on an implementation.
pub trait OrderedMethods {
    cuda_jit_macros::builtin_methods!(Ordered);
}

impl<T: Ordered + ?Sized> OrderedMethods for T {}

/// Nothing has this, which errors name, and nothing unsafe relies on an implementation: the twin's last resort for a method that no `#[device] impl` has, so that the error says so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no device method of this name",
    label = "kernels cannot call this method of `{Self}`",
    note = "write `#[device]` before the `impl` that has it, or call a `#[device]` function; kernels have no heap, thus no `Vec`, `Box` or `String`"
)]
pub trait MarkedWithDevice {}
