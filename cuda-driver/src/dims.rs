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
    /// Extents along x, y, z; those that were not given are 1. Of a negative one, the low 64 bits.
    extents: [u64; 3],
    /// One bit for each extent that is negative.
    negative: u8,
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
        [0, 1, 2].map(|axis: usize| match self.negative >> axis & 1 {
            0 => i128::from(self.extents[axis]),
            _ => i128::from(self.extents[axis].cast_signed()),
        })
    }

    fn new<const N: usize>(given: [Extent64; N]) -> Self {
        let mut dims = Dim3 { extents: [1; 3], negative: 0, ndim: N as u8 };
        for (axis, extent) in given.into_iter().enumerate() {
            dims.extents[axis] = extent.bits;
            dims.negative |= u8::from(extent.negative) << axis;
        }
        dims
    }

    /// The extents as the driver takes them; the axis of the first that is not from 1 to its limit.
    #[inline]
    pub(crate) fn fit(&self, limits: [u32; 3]) -> Result<[u32; 3], usize> {
        let mut fitting = [0; 3];
        for axis in 0..3 {
            let extent = self.extents[axis];
            let possible = (1..=u64::from(limits[axis])).contains(&extent) && self.negative >> axis & 1 == 0;
            if !possible {
                return Err(axis);
            }
            fitting[axis] = extent as u32;
        }
        Ok(fitting)
    }
}

/// An extent on its way into a [`Dim3`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Extent64 {
    bits: u64,
    negative: bool,
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ndim, self.extents()) {
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

/// An integer that can be an extent.
pub trait Extent: sealed::Sealed {
    #[doc(hidden)]
    fn extent(self) -> Extent64;
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
            fn extent(self) -> Extent64 {
                Extent64 { bits: self as u64, negative: (self as i128) < 0 }
            }
        }

        impl Dims for $integer {
            #[inline]
            fn dims(self) -> Dim3 {
                Dim3::new([self.extent()])
            }
        }
    )*};
}

extents!(u32, usize, u64, i32, i64);

impl<X: Extent> Dims for (X,) {
    #[inline]
    fn dims(self) -> Dim3 {
        Dim3::new([self.0.extent()])
    }
}

impl<X: Extent, Y: Extent> Dims for (X, Y) {
    #[inline]
    fn dims(self) -> Dim3 {
        Dim3::new([self.0.extent(), self.1.extent()])
    }
}

impl<X: Extent, Y: Extent, Z: Extent> Dims for (X, Y, Z) {
    #[inline]
    fn dims(self) -> Dim3 {
        Dim3::new([self.0.extent(), self.1.extent(), self.2.extent()])
    }
}
