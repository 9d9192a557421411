//! Iterators over elements or subslices that are accessed by index.

use super::calls::DeviceCalls;
use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// Elements or subslices that are accessed by an index, which starts at 0 and advances in steps.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait IndexedSource: Sized + DeviceType {
    /// The type of the elements or subslices.
    type Item: DeviceType;
    /// True if std accesses them by index (`TrustedRandomAccess`).
    const IS_RANDOM_ACCESS: bool;

    /// The index after the last one: a multiple of the step.
    fn end(&self) -> usize;
    /// The distance between two indices.
    fn step(&self) -> usize {
        1
    }
    /// The item at an index, which is in bounds and requested only once.
    fn at(&mut self, number: usize) -> Self::Item;
}

/// An iterator over items that are accessed by index.
#[derive(Clone, Debug)]
pub struct Indexed<S> {
    pub(super) source: S,
    pub(super) front: usize,
    pub(super) back: usize,
}
device_struct!(Indexed [S] [S: DeviceType] { source: S, front: usize, back: usize });

#[device(library)]
impl<S: IndexedSource> Indexed<S> {
    /// An iterator over all of them.
    pub(super) fn new(source: S) -> Self {
        let back = source.end();
        Indexed { source, front: 0, back }
    }
}

#[device(library)]
impl<S: IndexedSource> DeviceIterator for Indexed<S> {
    type Item = S::Item;
    const HAS_TRUSTED_LEN: bool = true;
    const IS_RANDOM_ACCESS: bool = S::IS_RANDOM_ACCESS;
    const IS_COUNTED: bool = true;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = true;

    fn next(&mut self) -> Option<S::Item> {
        if self.front < self.back { Some(self.next_known()) } else { None }
    }

    fn next_known(&mut self) -> S::Item {
        let number = self.front;
        self.front = number + self.source.step();
        self.source.at(number)
    }

    fn advance(&mut self, n: usize) -> usize {
        let len = self.trusted_len();
        if n <= len {
            self.front += n * self.source.step();
            0
        } else {
            self.front = self.back;
            n - len
        }
    }

    fn nth(&mut self, n: usize) -> Option<S::Item> {
        self.advance(n);
        self.device_next()
    }

    fn count(self) -> usize {
        self.trusted_len()
    }

    fn last(mut self) -> Option<S::Item> {
        self.device_next_back()
    }

    fn trusted_len(&self) -> usize {
        (self.back - self.front) / self.source.step()
    }

    fn has_next(&self) -> bool {
        self.front < self.back
    }
}

#[device(library)]
impl<S: IndexedSource> DeviceDoubleEnded for Indexed<S> {
    fn next_back(&mut self) -> Option<S::Item> {
        if self.front < self.back {
            self.back -= self.source.step();
            Some(self.source.at(self.back))
        } else {
            None
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.trusted_len();
        if n <= len {
            self.back -= n * self.source.step();
            0
        } else {
            self.back = self.front;
            n - len
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<S::Item> {
        self.advance_back(n);
        self.device_next_back()
    }
}

#[device(library)]
impl<S: IndexedSource> DeviceExactSize for Indexed<S> {
    fn len(&self) -> usize {
        self.trusted_len()
    }
}
