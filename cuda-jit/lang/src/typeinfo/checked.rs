//! Suppresses a typing probe's errors if the function itself does not compile, so that one mistake gives one error.
//!
//! Beside the probe of a short function the macro puts a copy of the body, in a function with an opaque return type. rustc
//! reports the same errors in the copy as in the function, and prints them once. If there is an error, the opaque type is
//! an error type, and so are a constant that is computed from its size, and each type in the probe that depends on the
//! constant. rustc reports no errors that involve such types.

/// The type itself, if the constant is 0.
///
/// Nothing unsafe relies on an implementation.
pub trait Checked<const ERRORS: usize> {
    /// The type itself.
    type Same: ?Sized;
}

impl<T: ?Sized> Checked<0> for T {
    type Same = T;
}

/// Returns 0 for a function that compiles.
pub const fn errors<T>(_: fn() -> T) -> usize {
    size_of::<T>()
}

/// Returns 0 for a method that compiles.
pub const fn errors_of_method<S, T>(_: fn(S) -> T) -> usize {
    size_of::<T>()
}

/// The identity function.
///
/// # Panics
///
/// Always: the typing probe is never run.
pub fn same<T, const ERRORS: usize>(_: T) -> <T as Checked<ERRORS>>::Same
where
    T: Checked<ERRORS, Same: Sized>,
{
    unreachable!("a typing probe is never run")
}

/// The constant for a type that does not satisfy the bounds of a generic function: an associated constant of the type
/// itself takes precedence.
///
/// Nothing unsafe relies on an implementation.
pub trait NoErrors {
    /// No errors.
    const ERRORS: usize = 0;
}

impl<T: ?Sized> NoErrors for T {}
