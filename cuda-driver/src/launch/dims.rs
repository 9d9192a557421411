//! [`Dims`]: types that give the dimensions of a grid or a block.
//!
//! Values are stored as they were given, whatever their type. [`LaunchConfig::check`](crate::LaunchConfig::check) is
//! the one place that checks them, and its errors name them.

use std::fmt;

/// Up to three extents along x, y and z; not checked yet.
///
/// # Examples
///
/// ```
/// use cuda_driver::Dims;
///
/// let dims = (640_usize, 480_usize).dims();
/// assert_eq!((dims.ndim(), dims.to_string().as_str()), (2, "(640, 480)"));
/// assert_eq!(dims.extents(), [640, 480, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Extents along x, y, z; missing ones are 1. A negative extent is stored as its low 64 bits.
    extents: [u64; 3],
    /// One bit for each axis, set if its extent is negative.
    negative: u8,
    /// The number of extents, saturated at 255.
    ndim: u8,
}

impl Dim3 {
    /// The number of extents. A grid and a block have 1, 2 or 3; a list that is made at run time can have any number.
    #[must_use]
    #[inline]
    pub fn ndim(&self) -> usize {
        self.ndim.into()
    }

    /// The extents along x, y and z; missing ones are 1.
    #[must_use]
    pub fn extents(&self) -> [i128; 3] {
        [0, 1, 2].map(|axis: usize| match self.negative >> axis & 1 {
            0 => i128::from(self.extents[axis]),
            _ => i128::from(self.extents[axis].cast_signed()),
        })
    }

    #[inline]
    fn new<const N: usize>(given: [Extent64; N]) -> Self {
        Self::of_list(N, given)
    }

    /// The first three of `count` extents; a longer list is refused by the check.
    #[inline]
    fn of_list(count: usize, given: impl IntoIterator<Item = Extent64>) -> Self {
        let mut dims = Dim3 { extents: [1; 3], negative: 0, ndim: u8::try_from(count).unwrap_or(u8::MAX) };
        for (axis, extent) in given.into_iter().take(3).enumerate() {
            dims.extents[axis] = extent.bits;
            dims.negative |= u8::from(extent.negative) << axis;
        }
        dims
    }

    /// The extents as the driver takes them; else the first axis whose extent is not from 1 to its limit.
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

/// An extent as 64 bits and a sign, for the conversion into a [`Dim3`].
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
            (3, [x, y, z]) => write!(f, "({x}, {y}, {z})"),
            (0, _) => f.write_str("()"),
            (_, [x, y, z]) => write!(f, "({x}, {y}, {z}, ..)"),
        }
    }
}

/// Types that give the extents of a grid or a block: an integer, a tuple of up to three, or [`Dim3`]; where their
/// number is known only at run time, a slice, an array or a `Vec`.
///
/// The integers may be `u32`, `usize`, `u64`, `i32` or `i64`; in a tuple they need not be of one type.
///
/// # Examples
///
/// ```
/// use cuda_driver::Dims;
///
/// let shape = vec![640_usize, 480];
/// assert_eq!((&shape).dims(), (640, 480).dims());
/// assert_eq!(shape[..1].dims(), 640.dims());
/// ```
///
/// Nothing unsafe relies on an implementation: a launch's extents are checked.
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
///
/// # Examples
///
/// ```
/// use cuda_driver::Dims;
///
/// assert_eq!((4_u32, 5_i64).dims().extents(), [4, 5, 1]);      // each of another type
/// ```
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

impl<X: Extent + Copy> Dims for &[X] {
    fn dims(self) -> Dim3 {
        Dim3::of_list(self.len(), self.iter().map(|extent| extent.extent()))
    }
}

impl<X: Extent + Copy> Dims for &Vec<X> {
    fn dims(self) -> Dim3 {
        self.as_slice().dims()
    }
}

impl<X: Extent + Copy> Dims for Vec<X> {
    fn dims(self) -> Dim3 {
        self.as_slice().dims()
    }
}

impl<X: Extent + Copy, const N: usize> Dims for [X; N] {
    fn dims(self) -> Dim3 {
        self.as_slice().dims()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_give_what_tuples_give() {
        assert_eq!([3_i64, -4, 5].dims(), (3, -4, 5).dims());
        assert_eq!((&vec![7_u32]).dims(), 7_u32.dims());
    }

    #[test]
    fn the_number_of_extents_is_kept_whatever_it_is() {
        assert_eq!((Vec::<usize>::new().dims().ndim(), Vec::<usize>::new().dims().to_string()), (0, "()".into()));
        let four = [1, 2, 3, 4].dims();
        assert_eq!((four.ndim(), four.to_string().as_str()), (4, "(1, 2, 3, ..)"));
        assert_eq!(vec![1; 1000].dims().ndim(), 255);
    }
}
