//! Closures as values of a typing probe.
//!
//! A closure's own type implements only `Fn`, `FnMut` and `FnOnce`, so no trait of this crate can be implemented for it.
//! If a closure is a value, as in `Some(|v| ..)`, the probe has it in a `Box`: it can be called, cloned and passed to a
//! parameter bound by `Fn` as the closure can, and [`DeviceType`] is implemented for it. Kernels have no other boxes, since
//! the device cannot allocate them.
//!
//! # Safety
//!
//! The only unsafe code is the implementation that describes the type here to the compiler.

use super::{Closure, DeviceType};

// SAFETY: a box in a probe contains a closure, or the function pointer that represents one.
#[diagnostic::do_not_recommend]
unsafe impl<F> DeviceType for Box<F> {
    type K = Closure;
}

/// A closure as a value of a probe.
pub fn boxed<F>(closure: F) -> Box<F> {
    Box::new(closure)
}

/// A box of a closure, or a reference to one, in the position of a callee.
///
/// A probe calls the closure in the box. rustc infers the closure's kind only at the end of the body, and until then
/// assumes that a box is called by a shared reference. Nothing unsafe relies on an implementation.
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

/// Any other value in the position of a callee, which rustc finds after [`BoxedCallee`]. Nothing unsafe relies on an
/// implementation.
pub trait OtherCallee<T> {
    /// The callee.
    fn __cuda_jit_callee(&mut self) -> &mut T;
}

impl<T> OtherCallee<T> for &T {
    fn __cuda_jit_callee(&mut self) -> &mut T {
        unreachable!("a typing probe is never run")
    }
}
