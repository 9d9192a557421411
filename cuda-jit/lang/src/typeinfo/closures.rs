//! Closures as values of a typing probe.
//!
//! A closure's own type implements nothing but `Fn` and its kin, so no trait of this crate can be implemented for it. Where a
//! closure is a value, as in `Some(|v| ..)`, the probe has it in a `Box`: that is called, cloned and passed to a parameter bound by
//! `Fn` as the closure is, and [`DeviceType`] is implemented for it. No kernel has other boxes: nothing on the device makes one.
//!
//! # Safety
//!
//! There is no unsafe code but the promise that the compiler is told the truth about the type here.

use super::{Closure, DeviceType};

// SAFETY: a box in a probe holds a closure, or the function pointer that stands for one.
#[diagnostic::do_not_recommend]
unsafe impl<F> DeviceType for Box<F> {
    type K = Closure;
}

/// A closure as a value of a probe.
pub fn boxed<F>(closure: F) -> Box<F> {
    Box::new(closure)
}

/// A box of a closure, or a reference to one, in the place of a callee.
///
/// A probe calls the closure in the box: what kind it is rustc finds out at the end of the body, and until then it takes a box to be
/// called by a shared reference. Nothing unsafe relies on an implementation.
pub trait BoxedCallee {
    /// The type of the closure.
    type Closure;

    /// The closure.
    fn __cuda_jit_callee(&self) -> &mut Self::Closure {
        unreachable!("a typing probe is never run")
    }
}

impl<F> BoxedCallee for Box<F> {
    type Closure = F;
}

impl<T: BoxedCallee> BoxedCallee for &T {
    type Closure = T::Closure;
}

impl<T: BoxedCallee> BoxedCallee for &mut T {
    type Closure = T::Closure;
}

/// Anything else in the place of a callee, which rustc finds after [`BoxedCallee`]. Nothing unsafe relies on an implementation.
pub trait OtherCallee<T> {
    /// The callee.
    fn __cuda_jit_callee(&mut self) -> &mut T;
}

impl<T> OtherCallee<T> for &T {
    fn __cuda_jit_callee(&mut self) -> &mut T {
        unreachable!("a typing probe is never run")
    }
}
