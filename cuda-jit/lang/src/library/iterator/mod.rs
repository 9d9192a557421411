//! Iterators of the device library: sources, adaptors and consumers with the semantics of `std::iter`.
//!
//! [`DeviceIterator`] has `next`, the methods that an iterator may override with faster ones of the same side effects, and
//! the adaptors and consumers.
//!
//! The closures of a chain are called as often and in the same order as by `std::iter` of Rust 1.95. This includes the
//! effects of its specialisations, which the three queries of [`DeviceIterator`] reproduce.
//!
//! # Safety
//!
//! Unsafe code reads elements of slices at indices that the iterator's fields bound: `front <= back <= slice.len()`.

mod attempts;
mod calls;
mod contains;
mod copies;
mod device_iterator;
mod flatten;
mod functions;
mod get;
mod guarded;
mod indexed;
mod paired;
mod partition;
mod ranges;
mod slices;
mod standard;
mod sums;
mod take_skip;
mod transform;
mod view_sources;
mod views;

pub use attempts::{__AttemptCalls, Attempt};
pub use calls::{__DeviceCallsCalls, DeviceCalls};
pub use contains::{
    RangeBound, RangeFromMethods, RangeInclusiveMethods, RangeMethods, RangeToInclusiveMethods, RangeToMethods,
};
pub use copies::{__ReferentCalls, Copied, Referent};
pub use device_iterator::{__DeviceIterator_next, __DeviceIteratorCalls, DeviceIterator};
pub use flatten::{Cycle, Flatten, Fuse, Peekable};
pub use functions::{
    __Making_align_of, __Making_array_from_fn, __Making_empty, __Making_from_fn, __Making_once, __Making_repeat,
    __Making_repeat_n, __Making_size_of, __Making_successors, __MakingCalls, __Pairing_zip_both, __PairingCalls,
    __ValueSourcesCalls, __ValueSourcesMutCalls, FromFn, Making, OptionElements, Pairing, Repeat, RepeatN, Successors,
};
pub use get::{
    __BoundsCalls, __GetCalls, __GetMutCalls, Bounds, RANGES, probe, range_full, range_to, range_to_inclusive,
};
pub use guarded::{MapWhile, Scan, SkipWhile, TakeWhile};
pub use indexed::{__IndexedSourceCalls, Indexed, IndexedSource};
pub use paired::{Chain, Zip};
pub use partition::{__PartedCalls, __RestCalls, __SlicePartitionsCalls, __SlicePartitionsMutCalls};
pub use ranges::{__StepCalls, inclusive};
pub use slices::{
    __ChunksRemainderCalls, __ChunksRemainderMutCalls, __SliceEndsCalls, __SliceEndsMutCalls, __SliceRestCalls,
    __SliceSourcesCalls, __SliceSourcesMutCalls,
};
pub use sums::{__DeviceProductCalls, __DeviceSumCalls, DeviceProduct, DeviceSum};
pub use take_skip::{Skip, StepBy, Take};
pub use transform::{Enumerate, Filter, FilterMap, Inspect, Map, Rev};
pub use view_sources::{__PlaneSourcesCalls, __PlaneSourcesMutCalls, __ViewSourcesCalls, __ViewSourcesMutCalls};
pub use views::__ViewIteratorsCalls;

use crate::device;
use crate::typeinfo::DeviceType;

impl<I: DeviceIterator> crate::typeinfo::host_only::HostIterator<I::Item> for I {}

/// An iterator with two ends.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait DeviceDoubleEnded: DeviceIterator {
    /// Removes and returns the last element.
    fn next_back(&mut self) -> Option<Self::Item>;

    /// Removes up to `n` elements from the back, and returns the number of missing elements.
    fn advance_back(&mut self, n: usize) -> usize {
        let mut left = n;
        while left > 0 {
            if self.next_back().is_none() {
                return left;
            }
            left -= 1;
        }
        0
    }

    /// Returns the element before the last `n`.
    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        let mut left = n;
        while left > 0 {
            if self.next_back().is_none() {
                return None;
            }
            left -= 1;
        }
        self.next_back()
    }

    /// Folds the elements into an accumulator, from the back, until a closure fails.
    fn try_rfold<B, R: Attempt<Output = B>, F: FnMut(B, Self::Item) -> R>(&mut self, init: B, mut f: F) -> R {
        let mut accumulator = init;
        while let Some(item) = self.next_back() {
            match f(accumulator, item).outcome() {
                Ok(next) => accumulator = next,
                Err(failed) => return failed,
            }
        }
        R::succeeded(accumulator)
    }

    /// Folds every element into an accumulator, from the back.
    fn rfold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        while let Some(item) = self.next_back() {
            accumulator = f(accumulator, item);
        }
        accumulator
    }
}

/// An iterator with a known length.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait DeviceExactSize: DeviceIterator {
    /// The number of remaining elements.
    fn len(&self) -> usize;
}

/// A type that converts into an iterator.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait DeviceIntoIterator: Sized + DeviceType {
    /// The type of the elements.
    type Item: DeviceType;
    /// The iterator.
    type IntoIter: DeviceIterator<Item = Self::Item>;

    /// Converts the value into an iterator.
    fn into_iter(self) -> Self::IntoIter;

    /// The number of elements, if the type is an array.
    const ARRAY_LEN: Option<usize> = None;
}

#[device(library)]
impl<I: DeviceIterator> DeviceIntoIterator for I {
    type Item = I::Item;
    type IntoIter = I;

    fn into_iter(self) -> I {
        self
    }
}
