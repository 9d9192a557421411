//! `get` and `get_mut` of slices, by an index or a range of indices, and the ranges without a start, which are only used
//! there.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::device;
use crate::device::library::ends;
use crate::library::structs::device_struct;
use crate::typeinfo::{DeviceType, Returned};

device_struct!(RangeFull [] [] {});
device_struct!(RangeTo [T] [T: DeviceType] { end: T });
device_struct!(RangeToInclusive [T] [T: DeviceType] { end: T });

/// The names by which the compiler recognises ranges. No user's struct has them, since those have paths.
pub const RANGES: [&str; 6] = ["Range", "RangeFrom", "RangeFull", "RangeInclusive", "RangeTo", "RangeToInclusive"];

/// `..`
#[device(library)]
pub fn range_full() -> RangeFull {
    RangeFull {}
}

/// `..end`
#[device(library)]
pub fn range_to<T: DeviceType>(end: T) -> RangeTo<T> {
    RangeTo { end }
}

/// `..=end`
#[device(library)]
pub fn range_to_inclusive<T: DeviceType>(end: T) -> RangeToInclusive<T> {
    RangeToInclusive { end }
}

/// The functions that construct the ranges, as a typing probe calls them.
pub mod probe {
    use super::{RangeFull, RangeTo, RangeToInclusive, Returned};

    /// `..`
    pub fn range_full() -> Returned<super::range_full, RangeFull> {
        Returned::new()
    }

    /// `..end`
    pub fn range_to<T>(_: T) -> Returned<super::range_to<T>, RangeTo<T>> {
        Returned::new()
    }

    /// `..=end`
    pub fn range_to_inclusive<T>(_: T) -> Returned<super::range_to_inclusive<T>, RangeToInclusive<T>> {
        Returned::new()
    }
}

/// Declares the trait of `get` or `get_mut`, and implements it for slices and each index.
macro_rules! gets {
    ($trait:ident $get:ident [$($mutable:tt)?] $name:literal) => {
        #[doc = concat!("Yields what ", $name, " of a slice does for an index.")]
        ///
        /// Nothing unsafe relies on an implementation: all of them are here, and index within bounds that they have
        /// checked.
        #[diagnostic::on_unimplemented(
            message = "a slice cannot be indexed by `{I}`",
            label = "not an index of a slice",
            note = "an index is a `usize`, such as `i as usize`, or a range of `usize`; the receiver must be a slice or array"
        )]
        #[device(library)]
        pub trait $trait<I>: Sized + DeviceType {
            /// A reference to the element or subslice.
            type Part: DeviceType;

            /// The element or subslice, if it is in bounds.
            fn $get(self, index: I) -> Option<Self::Part>;
        }

        #[device(library, unchecked)]
        impl<'a, T: DeviceType> $trait<usize> for &'a $($mutable)? [T] {
            type Part = &'a $($mutable)? T;

            fn $get(self, index: usize) -> Option<&'a $($mutable)? T> {
                if index < self.len() { Some(&$($mutable)? self[index]) } else { None }
            }
        }

        #[device(library, unchecked)]
        impl<'a, T: DeviceType> $trait<Range<usize>> for &'a $($mutable)? [T] {
            type Part = &'a $($mutable)? [T];

            fn $get(self, index: Range<usize>) -> Option<&'a $($mutable)? [T]> {
                let (start, end) = (index.start, index.end);
                if start <= end && end <= self.len() { Some(&$($mutable)? self[start..end]) } else { None }
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType> $trait<RangeFrom<usize>> for &'a $($mutable)? [T] {
            type Part = &'a $($mutable)? [T];

            fn $get(self, index: RangeFrom<usize>) -> Option<&'a $($mutable)? [T]> {
                let len = self.len();
                self.$get(index.start..len)
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType> $trait<RangeTo<usize>> for &'a $($mutable)? [T] {
            type Part = &'a $($mutable)? [T];

            fn $get(self, index: RangeTo<usize>) -> Option<&'a $($mutable)? [T]> {
                self.$get(0..index.end)
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType> $trait<RangeFull> for &'a $($mutable)? [T] {
            type Part = &'a $($mutable)? [T];

            fn $get(self, _index: RangeFull) -> Option<&'a $($mutable)? [T]> {
                Some(self)
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType> $trait<RangeToInclusive<usize>> for &'a $($mutable)? [T] {
            type Part = &'a $($mutable)? [T];

            fn $get(self, index: RangeToInclusive<usize>) -> Option<&'a $($mutable)? [T]> {
                if index.end == usize::MAX { None } else { self.$get(0..index.end + 1) }
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType> $trait<RangeInclusive<usize>> for &'a $($mutable)? [T] {
            type Part = &'a $($mutable)? [T];

            fn $get(self, index: RangeInclusive<usize>) -> Option<&'a $($mutable)? [T]> {
                let index = ends(&index);
                if index.end == usize::MAX {
                    return None;
                }
                // a range whose start is greater than its end is not an exhausted iterator
                let ended = index.exhausted && index.start <= index.end;
                self.$get((if ended { index.end + 1 } else { index.start })..index.end + 1)
            }
        }
    };
}

gets! { Get get [] "`get`" }
gets! { GetMut get_mut [mut] "`get_mut`" }

/// A range of indices of a slice, which panics as the standard library's does.
///
/// Nothing unsafe relies on an implementation: all of them are here.
#[diagnostic::on_unimplemented(message = "`{Self}` is no range of `usize`")]
#[device(library)]
pub trait Bounds: Sized + DeviceType {
    /// The first index and that after the last one, for a slice of `len` elements.
    fn bounds(self, len: usize) -> (usize, usize);
}

#[device(library)]
impl Bounds for Range<usize> {
    #[track_caller]
    fn bounds(self, len: usize) -> (usize, usize) {
        let (start, end) = (self.start, self.end);
        assert!(start <= end, "slice index starts at {start} but ends at {end}");
        assert!(end <= len, "range end index {end} out of range for slice of length {len}");
        (start, end)
    }
}

#[device(library)]
impl Bounds for RangeFrom<usize> {
    #[track_caller]
    fn bounds(self, len: usize) -> (usize, usize) {
        let start = self.start;
        assert!(start <= len, "range start index {start} out of range for slice of length {len}");
        (start, len)
    }
}

#[device(library)]
impl Bounds for RangeTo<usize> {
    #[track_caller]
    fn bounds(self, len: usize) -> (usize, usize) {
        (0..self.end).bounds(len)
    }
}

#[device(library)]
impl Bounds for RangeFull {
    fn bounds(self, len: usize) -> (usize, usize) {
        (0, len)
    }
}

#[device(library)]
impl Bounds for RangeToInclusive<usize> {
    #[track_caller]
    fn bounds(self, len: usize) -> (usize, usize) {
        let end = self.end;
        assert!(end < usize::MAX, "attempted to index slice up to maximum usize");
        (0..end + 1).bounds(len)
    }
}

#[device(library)]
impl Bounds for RangeInclusive<usize> {
    #[track_caller]
    fn bounds(self, len: usize) -> (usize, usize) {
        let this = ends(&self);
        let (start, end) = (this.start, this.end);
        assert!(end < usize::MAX, "attempted to index slice up to maximum usize");
        // a range whose start is greater than its end is not an exhausted iterator
        let ended = this.exhausted && start <= end;
        ((if ended { end + 1 } else { start })..end + 1).bounds(len)
    }
}
