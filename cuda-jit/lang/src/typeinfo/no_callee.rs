//! Placeholders for a missing callee.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use super::{Body, DeviceFn, Instance, Returned, Unconstrained};

/// The callee of a call that is refused already, or of a function that nothing calls.
#[derive(Debug)]
pub struct NoCallee;

// SAFETY: the instance has no body, so that there is no code that the type could misdescribe.
#[diagnostic::do_not_recommend]
unsafe impl DeviceFn for NoCallee {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        Instance { body: Body::None, generics: Vec::new() }
    }
}

/// The methods of text that slices have too. Text itself is refused elsewhere.
///
/// Nothing unsafe relies on an implementation.
pub trait TextMethods {
    #[doc(hidden)]
    fn __call_len(&self) -> Returned<NoCallee, usize> {
        Returned::new()
    }

    #[doc(hidden)]
    fn __call_is_empty(&self) -> Returned<NoCallee, bool> {
        Returned::new()
    }
}

impl TextMethods for str {}

/// Implemented for no type; rustc reports the missing implementation. The typing probe has a method of each called name
/// that requires it, as a last resort, for methods that no `#[device] impl` has. Nothing unsafe relies on an
/// implementation.
#[diagnostic::on_unimplemented(
    message = "kernels cannot call this method, since it is not a device method",
    label = "`{Self}` has no device method of this name",
    note = "write `#[device]` before the `impl` that has it, or call a `#[device]` function; kernels have no heap, thus no `Vec`, `Box` or `String`"
)]
pub trait MarkedWithDevice {}
