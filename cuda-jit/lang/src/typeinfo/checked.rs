//! Silence of a typing probe where the function itself does not compile, so that one mistake gives one error.
//!
//! Beside the probe of a short function the macro repeats the body as it is written, in a function that returns an opaque type. rustc reports
//! the same errors there as in the function, and prints them once. Where there is one, the opaque type is in error, and so is
//! a constant that is computed of its size, and each type in the probe that depends on the constant. rustc says nothing of such
//! types.

/// A type as it is, for the constant 0.
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

/// Returns the value that it is called with.
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

/// The constant of what does not satisfy the bounds of a generic function: an associated constant of the type itself comes before it.
///
/// Nothing unsafe relies on an implementation.
pub trait NoErrors {
    /// The number of no errors.
    const ERRORS: usize = 0;
}

impl<T: ?Sized> NoErrors for T {}
