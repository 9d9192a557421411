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

/// The hidden methods of slices that take no functions.
///
/// Nothing unsafe relies on an implementation.
pub trait SliceValues {
    cuda_jit_macros::builtin_methods!(Slice);
}

impl<T> SliceValues for [T] {}

/// Nothing has this, which errors name, and nothing unsafe relies on an implementation: the twin's last resort for a method that no `#[device] impl` has, so that the error says so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no device method of this name",
    label = "kernels cannot call this method of `{Self}`",
    note = "write `#[device]` before the `impl` that has it, or call a `#[device]` function; kernels have no heap, thus no `Vec`, `Box` or `String`"
)]
pub trait MarkedWithDevice {}
