//! [`Dims`]: what can say how many blocks a grid or how many threads a block has.
//!
//! Values are kept as they were given, whatever their type: whether they are possible is asked in one place, by
//! [`LaunchConfig::check`](crate::LaunchConfig::check), which can then name them.

use std::fmt;

/// One, two or three extents, along x, y and z; not checked yet.
///
/// # Examples
///
/// ```
/// use cuda_driver::Dims;
///
/// let dims = (640_usize, 480_usize).dims();
/// assert_eq!((dims.ndim(), dims.to_string().as_str()), (2, "(640, 480)"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Extents along x, y, z; those that were not given are 1.
    extents: [i128; 3],
    ndim: u8,
}

impl Dim3 {
    /// How many extents were given: 1, 2 or 3.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.ndim.into()
    }

    /// The extents along x, y and z; 1 where none was given.
    #[must_use]
    pub fn extents(&self) -> [i128; 3] {
        self.extents
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ndim, self.extents) {
            (1, [x, ..]) => write!(f, "{x}"),
            (2, [x, y, _]) => write!(f, "({x}, {y})"),
            (_, [x, y, z]) => write!(f, "({x}, {y}, {z})"),
        }
    }
}

/// Anything that gives the extents of a grid or a block: an integer, or a tuple of two or three, or [`Dim3`].
///
/// The integers may be `u32`, `usize`, `u64`, `i32` or `i64`, and need not be of one type.
pub trait Dims {
    /// The extents as given.
    fn dims(self) -> Dim3;
}

impl Dims for Dim3 {
    fn dims(self) -> Dim3 {
        self
    }
}

/// An integer that can be an extent. A value that does not fit the signed 128 bits does not exist among them.
pub trait Extent: sealed::Sealed {
    #[doc(hidden)]
    fn extent(self) -> i128;
}

mod sealed {
    /// Keeps [`Extent`](super::Extent) to the integers below, so that tuples stay tuples.
    pub trait Sealed {}
}

macro_rules! extents {
    ($($integer:ty),*) => {$(
        impl sealed::Sealed for $integer {}

        impl Extent for $integer {
            #[inline]
            fn extent(self) -> i128 {
                self as i128
            }
        }

        impl Dims for $integer {
            #[inline]
            fn dims(self) -> Dim3 {
                Dim3 { extents: [self as i128, 1, 1], ndim: 1 }
            }
        }
    )*};
}

extents!(u32, usize, u64, i32, i64);

impl<X: Extent> Dims for (X,) {
    #[inline]
    fn dims(self) -> Dim3 {
        Dim3 { extents: [self.0.extent(), 1, 1], ndim: 1 }
    }
}

impl<X: Extent, Y: Extent> Dims for (X, Y) {
    #[inline]
    fn dims(self) -> Dim3 {
        Dim3 { extents: [self.0.extent(), self.1.extent(), 1], ndim: 2 }
    }
}

impl<X: Extent, Y: Extent, Z: Extent> Dims for (X, Y, Z) {
    #[inline]
    fn dims(self) -> Dim3 {
        Dim3 { extents: [self.0.extent(), self.1.extent(), self.2.extent()], ndim: 3 }
    }
}
