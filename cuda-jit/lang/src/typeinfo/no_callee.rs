//! Stand-ins for a callee where there is none.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use super::{Body, DeviceFn, Instance, Returned, Untied};

/// The callee of what is refused already, or that nothing calls.
#[derive(Debug)]
pub struct NoCallee;

// SAFETY: the instance is the function that this type stands beside, with these arguments and this result.
#[diagnostic::do_not_recommend]
unsafe impl DeviceFn for NoCallee {
    type Args = Untied;
    type Output = Untied;

    fn instance() -> Instance {
        Instance { body: Body::None, generics: Vec::new() }
    }
}

/// The methods of text that slices have too. Text is refused where it comes from.
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

/// Nothing has this, which errors name, and nothing unsafe relies on an implementation: the typing probe's last resort for a method that no `#[device] impl` has, so that the error says so.
#[diagnostic::on_unimplemented(
    message = "kernels cannot call this method, which is none of the device's",
    label = "`{Self}` has no device method of this name",
    note = "write `#[device]` before the `impl` that has it, or call a `#[device]` function; kernels have no heap, thus no `Vec`, `Box` or `String`"
)]
pub trait MarkedWithDevice {}
