//! The device's methods by names that are theirs alone: a type of these files also has the standard library's traits, so that
//! `self.next()` might mean either.

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;

/// The device's methods of iterators by other names.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait DeviceCalls: DeviceIterator {
    /// [`DeviceIterator::next`].
    fn device_next(&mut self) -> Option<Self::Item> {
        self.next()
    }

    /// [`DeviceIterator::fold`].
    fn device_fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, f: F) -> B {
        self.fold(init, f)
    }

    /// [`DeviceIterator::reduce`].
    fn device_reduce<F: FnMut(Self::Item, Self::Item) -> Self::Item>(self, f: F) -> Option<Self::Item> {
        self.reduce(f)
    }

    /// [`DeviceIterator::is_sorted`].
    fn device_is_sorted(self) -> bool
    where
        Self::Item: PartialOrd,
    {
        self.is_sorted()
    }

    /// [`DeviceDoubleEnded::next_back`].
    fn device_next_back(&mut self) -> Option<Self::Item>
    where
        Self: DeviceDoubleEnded,
    {
        self.next_back()
    }

    /// [`DeviceExactSize::len`].
    fn device_len(&self) -> usize
    where
        Self: DeviceExactSize,
    {
        self.len()
    }
}

#[device(library)]
impl<I: DeviceIterator> DeviceCalls for I {}
