//! `Ordering`.

use std::cmp::Ordering;

use crate::device;

/// The methods of `Ordering`.
#[device(extension)]
impl OrderingMethods for Ordering {
    /// `is_eq`
    fn is_eq(self) -> bool {
        self == Ordering::Equal
    }

    /// `is_ne`
    fn is_ne(self) -> bool {
        self != Ordering::Equal
    }

    /// `is_lt`
    fn is_lt(self) -> bool {
        self == Ordering::Less
    }

    /// `is_gt`
    fn is_gt(self) -> bool {
        self == Ordering::Greater
    }

    /// `is_le`
    fn is_le(self) -> bool {
        self != Ordering::Greater
    }

    /// `is_ge`
    fn is_ge(self) -> bool {
        self != Ordering::Less
    }

    /// `reverse`
    fn reverse(self) -> Ordering {
        match self {
            Ordering::Less => Ordering::Greater,
            Ordering::Equal => Ordering::Equal,
            Ordering::Greater => Ordering::Less,
        }
    }

    /// `then`
    fn then(self, other: Ordering) -> Ordering {
        match self {
            Ordering::Equal => other,
            order => order,
        }
    }

    /// `then_with`
    fn then_with<F: FnOnce() -> Ordering>(self, f: F) -> Ordering {
        match self {
            Ordering::Equal => f(),
            order => order,
        }
    }
}
