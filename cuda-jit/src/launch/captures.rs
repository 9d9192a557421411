//! Captures of the host's closures: values are copied to the kernel, device arrays are borrowed for reading.
//!
//! In the closure's body, an array is a slice or view, as a kernel's parameter would be. A launch binds it like the
//! argument for such a parameter.
//!
//! # Safety
//!
//! A closure is bound as its captures, in order: the cells of a value, or those that [`KernelArg`] binds for a slice or
//! view.

use cuda_driver::Context;
use cuda_mem::{DeviceArray, Element};
use ndarray::{ArrayView, Dimension, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use super::{DeviceClosure, KernelArg, Launch};
use crate::error::Result;
use crate::typeinfo::{DeviceType, ElementType, Key, Ty, ValueType};

/// A value that a closure can capture for a kernel: `How` is one of [`capture_kind`], and follows from the type.
///
/// # Safety
///
/// The key is that of the value in the closure's body, which [`Captured::bind`] binds.
#[cfg_attr(doc, doc(hidden))]
#[diagnostic::on_unimplemented(
    message = "a closure cannot capture a value of type `{Self}` for a kernel",
    label = "captured by `device_fn!`",
    note = "it copies numbers, `bool`, arrays, tuples and `Option` of such, and structs with `#[derive(DeviceType)]`, and it reads device arrays",
    note = "copy a host array to the device first, `let x = to_device(&x)?;`, and dereference a reference, `let k = *k;`"
)]
pub unsafe trait Capturable<'a, How> {
    /// Its key in the closure's body; one trait has all associated types, so that an unsupported capture is reported once.
    type Key: Key;

    /// The captured value or reference.
    type Captured: Captured;

    /// The type in the closure's body.
    type InBody;

    /// The capture, and the value in the closure's body. A device array is empty on the host, where the body does not run.
    fn capture(&'a self) -> (Self::Captured, Self::InBody);
}

/// The kinds of captures, which distinguish the implementations of [`Capturable`].
#[cfg_attr(doc, doc(hidden))]
pub mod capture_kind {
    /// By copy.
    #[derive(Debug)]
    pub enum Value {}

    /// By reference.
    #[derive(Debug)]
    pub enum Array {}
}

mod sealed {
    /// Sealed: restricts [`CaptureDim`](super::CaptureDim) to one to six dimensions.
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait CaptureDim {}
}

// SAFETY: the body uses the value itself, which is bound as its cells.
#[diagnostic::do_not_recommend]
unsafe impl<T: ValueType> Capturable<'_, capture_kind::Value> for T {
    type Key = T::K;
    type Captured = T;
    type InBody = T;

    fn capture(&self) -> (T, T) {
        (*self, *self)
    }
}

/// The dimensions of a device array that a closure can read: as a slice for one dimension, else as a view. Sealed.
#[cfg_attr(doc, doc(hidden))]
#[diagnostic::on_unimplemented(
    message = "a closure cannot capture a device array with an unknown number of dimensions",
    note = "it can capture arrays of one to six dimensions"
)]
pub trait CaptureDim<T: ElementType + Element>: Dimension + sealed::CaptureDim + 'static {
    /// The type in the closure's body.
    type InBody: DeviceType + Copy + 'static;

    /// An empty one.
    fn nothing() -> Self::InBody;

    /// Binds an array.
    ///
    /// # Errors
    ///
    /// If it lies in another context.
    fn bind(array: &DeviceArray<T, Self>, launch: &mut Launch<'_>) -> Result<()>;
}

macro_rules! dims {
    ($($dimension:ident => $seen:ty, $nothing:expr;)*) => { $(
        impl sealed::CaptureDim for $dimension {}

        impl<T: ElementType + Element> CaptureDim<T> for $dimension {
            type InBody = $seen;

            fn nothing() -> $seen {
                $nothing
            }

            fn bind(array: &DeviceArray<T, Self>, launch: &mut Launch<'_>) -> Result<()> {
                KernelArg::<$seen>::bind(array, launch)
            }
        }
    )* };
}

/// An empty view.
fn empty<T, D: Dimension>() -> ArrayView<'static, T, D> {
    ArrayView::from_shape(D::default(), &[]).expect("no elements fill a shape without any")
}

dims! {
    Ix1 => &'static [T], &[];
    Ix2 => ArrayView<'static, T, Ix2>, empty();
    Ix3 => ArrayView<'static, T, Ix3>, empty();
    Ix4 => ArrayView<'static, T, Ix4>, empty();
    Ix5 => ArrayView<'static, T, Ix5>, empty();
    Ix6 => ArrayView<'static, T, Ix6>, empty();
}

/// A device array that a closure borrows.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct Borrowed<'a, T: Element, D: Dimension>(&'a DeviceArray<T, D>);

impl<T: Element, D: Dimension> Copy for Borrowed<'_, T, D> {}

impl<T: Element, D: Dimension> Clone for Borrowed<'_, T, D> {
    fn clone(&self) -> Self {
        *self
    }
}

/// Device arrays, by the types that a closure may capture.
macro_rules! arrays {
    ($($outlived:lifetime: $array:ty;)*) => { $(
        // SAFETY: an array is bound as the slice or view that the body uses.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, 'b, T: ElementType + Element, D: CaptureDim<T>> Capturable<'a, capture_kind::Array> for $array {
            type Key = <D::InBody as DeviceType>::K;
            type Captured = Borrowed<$outlived, T, D>;
            type InBody = D::InBody;

            fn capture(&'a self) -> (Self::Captured, D::InBody) {
                (Borrowed(self), D::nothing())
            }
        }
    )* };
}

arrays! {
    'a: DeviceArray<T, D>;
    'b: &'b DeviceArray<T, D>;
    'a: &'b mut DeviceArray<T, D>;
}

/// The captured value or reference.
///
/// # Safety
///
/// `bind` pushes the cells that a parameter of the type `ty` consists of, as [`KernelArg::bind`] does.
#[cfg_attr(doc, doc(hidden))]
pub unsafe trait Captured: Copy {
    /// The type without lifetimes.
    type Static: Captured<Static = Self::Static> + 'static;

    /// Its type in the closure's body.
    fn ty() -> Ty;

    /// The context of its memory, if it has any.
    fn context(&self) -> Option<&Context> {
        None
    }

    /// Appends the driver's parameters.
    ///
    /// # Errors
    ///
    /// If it belongs to another context.
    fn bind(self, launch: &mut Launch<'_>) -> Result<()>;
}

// SAFETY: a parameter of the type is its cells, and none of them is an address.
unsafe impl<T: ValueType> Captured for T {
    type Static = T;

    fn ty() -> Ty {
        T::K::ty()
    }

    fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
        self.cells(&mut |cell| launch.push(cell));
        Ok(())
    }
}

// SAFETY: it is bound as the argument for a parameter of the type that the body uses.
unsafe impl<T: ElementType + Element, D: CaptureDim<T>> Captured for Borrowed<'_, T, D> {
    type Static = Borrowed<'static, T, D>;

    fn ty() -> Ty {
        <D::InBody as DeviceType>::K::ty()
    }

    fn context(&self) -> Option<&Context> {
        Some(DeviceArray::context(self.0))
    }

    fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
        D::bind(self.0, launch)
    }
}

/// The captures of a closure, as nested pairs that end with `()`.
///
/// # Safety
///
/// `bind` binds each as [`Captured::bind`] does, in the order of `types`.
#[cfg_attr(doc, doc(hidden))]
pub unsafe trait Captures: Copy {
    /// The type without lifetimes.
    type Static: Captures<Static = Self::Static> + 'static;

    /// Appends the type of each.
    fn types(types: &mut Vec<Ty>);

    /// The context of the first capture that has one.
    fn context(&self) -> Option<&Context>;

    /// Binds each.
    ///
    /// # Errors
    ///
    /// The error of the first capture that cannot be bound.
    fn bind(self, launch: &mut Launch<'_>) -> Result<()>;
}

// SAFETY: there are no captures, no types and no cells.
unsafe impl Captures for () {
    type Static = ();

    fn types(_: &mut Vec<Ty>) {}

    fn context(&self) -> Option<&Context> {
        None
    }

    fn bind(self, _: &mut Launch<'_>) -> Result<()> {
        Ok(())
    }
}

// SAFETY: both `types` and `bind` take the first capture, then the rest.
unsafe impl<T: Captured, R: Captures> Captures for (T, R) {
    type Static = (T::Static, R::Static);

    fn types(types: &mut Vec<Ty>) {
        types.push(T::ty());
        R::types(types);
    }

    fn context(&self) -> Option<&Context> {
        self.0.context().or_else(|| self.1.context())
    }

    fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
        self.0.bind(launch)?;
        self.1.bind(launch)
    }
}

/// Captures that the host can use too, so that it can call the closure. Nothing unsafe relies on an implementation.
#[cfg_attr(doc, doc(hidden))]
#[diagnostic::on_unimplemented(
    message = "the host cannot call a closure that reads an array of the device",
    note = "only a kernel can call it: pass it to a launch"
)]
pub trait HostCaptures {}

impl HostCaptures for () {}

#[diagnostic::do_not_recommend]
impl<T: ValueType, R: HostCaptures> HostCaptures for (T, R) {}

macro_rules! closures {
    ($($closure:ty)*) => { $(
        // SAFETY: a closure's cells are those of its captures, in order, and its parameter's type lists the same types.
        #[diagnostic::do_not_recommend]
        unsafe impl<S, C: Captures, H, W> KernelArg<DeviceClosure<S, C::Static, H, W>> for $closure {
            type Bound = ();

            fn context(&self) -> Option<&Context> {
                self.captures().context()
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
                self.captures().bind(launch)
            }
        }
    )* };
}

closures! { DeviceClosure<S, C, H, W> &DeviceClosure<S, C, H, W> }
