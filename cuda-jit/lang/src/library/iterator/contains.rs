//! The methods of ranges that are not iterators' methods.

use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};

use crate::device;
use crate::device::library::ends;
use crate::typeinfo::DeviceType;

/// A type of numbers that can bound a range.
///
/// Nothing unsafe relies on an implementation: the compiler compares two numbers of the type, and refuses other types.
#[diagnostic::on_unimplemented(
    message = "kernels have no ranges of `{Self}` as values",
    label = "not a range of numbers or `char`",
    note = "compare with the bounds: `a <= x && x <= b`"
)]
pub trait RangeBound: DeviceType + PartialOrd {}

macro_rules! bounds {
    ($($ty:ty)*) => { $( impl RangeBound for $ty {} )* };
}

bounds! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize char f32 f64 half::f16 half::bf16 }

/// The methods of `a..b`.
#[device(extension)]
impl<T> RangeMethods<T> for Range<T> {
    /// `contains`
    fn contains(&self, item: &T) -> bool
    where
        T: PartialOrd,
    {
        self.start <= *item && *item < self.end
    }

    /// `is_empty`
    fn is_empty(&self) -> bool
    where
        T: PartialOrd,
    {
        !(self.start < self.end)
    }
}

/// The methods of `a..=b`.
#[device(extension)]
impl<T> RangeInclusiveMethods<T> for RangeInclusive<T> {
    /// `contains`
    fn contains(&self, item: &T) -> bool
    where
        T: PartialOrd,
    {
        let this = ends(self);
        this.start <= *item && *item <= this.end && !this.exhausted
    }

    /// `is_empty`
    fn is_empty(&self) -> bool {
        ends(self).exhausted
    }

    /// `start`
    fn start(&self) -> &T {
        &ends(self).start
    }

    /// `end`
    fn end(&self) -> &T {
        &ends(self).end
    }
}

/// The method of `a..`.
#[device(extension)]
impl<T> RangeFromMethods<T> for RangeFrom<T> {
    /// `contains`
    fn contains(&self, item: &T) -> bool
    where
        T: PartialOrd,
    {
        self.start <= *item
    }
}

/// The method of `..b`.
#[device(extension)]
impl<T> RangeToMethods<T> for RangeTo<T> {
    /// `contains`
    fn contains(&self, item: &T) -> bool
    where
        T: PartialOrd,
    {
        *item < self.end
    }
}

/// The method of `..=b`.
#[device(extension)]
impl<T> RangeToInclusiveMethods<T> for RangeToInclusive<T> {
    /// `contains`
    fn contains(&self, item: &T) -> bool
    where
        T: PartialOrd,
    {
        *item <= self.end
    }
}
