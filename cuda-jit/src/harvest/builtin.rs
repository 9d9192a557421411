//! How the twin tells a method of the device language's own from one that a `#[device] impl` has.
//!
//! Before each method call the twin asks the receiver for a hidden method, `__dev_` and the name. A `#[device] impl`
//! has one beside each of its methods, and so have, by [`Builtins`], the types whose methods the front end knows by
//! name. rustc's own resolution picks, as it picks the method.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use super::{Body, Callee, DeviceFn, Instance};

/// The callee of a method that the front end knows by its name.
#[derive(Debug)]
pub struct Builtin;

// SAFETY: the instance is the function that this type stands beside, with these arguments and this result.
unsafe impl DeviceFn for Builtin {
    type Args = ();
    type Output = ();

    fn instance() -> Instance {
        Instance { body: Body::Builtin, generics: Vec::new() }
    }
}

/// A type with methods that the front end knows: the numbers, `bool`, tuples, slices, ndarray views.
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

impl<T> BuiltinReceiver for [T] {}
impl<T> BuiltinReceiver for crate::Constant<T> {}
impl<T, D> BuiltinReceiver for ndarray::ArrayView<'_, T, D> {}
impl<T, D> BuiltinReceiver for ndarray::ArrayViewMut<'_, T, D> {}

/// The hidden methods of all builtin ones. Nothing unsafe relies on an implementation.
pub trait Builtins {
    cuda_jit_macros::builtin_methods!();
}

impl<T: BuiltinReceiver + ?Sized> Builtins for T {}

/// A type that the language orders, since it is known how: `#[derived(PartialOrd)]` structs, enums, `Option`, `Ordering`.
///
/// Nothing unsafe relies on an implementation: of another type the host orders differently, and nothing worse.
pub trait Ordered {}

impl<T> Ordered for Option<T> {}
impl Ordered for std::cmp::Ordering {}

macro_rules! ordered {
    ($($(#[$doc:meta])* $name:ident)*) => {
        /// The hidden methods of what is ordered; whether Rust has the method is rustc's to say. Nothing unsafe relies on an
        /// implementation.
        pub trait OrderedMethods { $(
            $(#[$doc])*
            fn $name(&self) -> Callee<Builtin> {
                Callee::new()
            }
        )* }
    };
}

ordered! {
    /// `cmp`
    __dev_cmp
    /// `partial_cmp`
    __dev_partial_cmp
    /// `max`
    __dev_max
    /// `min`
    __dev_min
    /// `clamp`
    __dev_clamp
}

impl<T: Ordered + ?Sized> OrderedMethods for T {}

/// Nothing has this, which errors name, and nothing unsafe relies on an implementation: the twin's last resort for a method that no `#[device] impl` has, so that the error says so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no device method of this name",
    label = "kernels cannot call this method of `{Self}`",
    note = "write `#[device]` before the `impl` that has it, or call a `#[device]` function; kernels have no heap, thus no `Vec`, `Box` or `String`"
)]
pub trait MarkedWithDevice {}
