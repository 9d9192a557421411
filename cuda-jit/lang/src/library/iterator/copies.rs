//! Adaptors that copy or clone elements behind references.

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// A reference to a value that can be copied.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait Referent: Sized + DeviceType {
    /// The type of the referent.
    type Value: DeviceType;

    /// A copy of it.
    fn value(self) -> Self::Value;
}

#[device(library)]
impl<'a, T: Copy + DeviceType> Referent for &'a T {
    type Value = T;

    fn value(self) -> T {
        *self
    }
}

/// Copies each element behind its reference.
#[derive(Clone, Debug)]
pub struct Copied<I> {
    pub(crate) iter: I,
}
device_struct!(Copied [I] [I: DeviceType] { iter: I });

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for Copied<I>
where
    I::Item: Referent,
{
    type Item = <I::Item as Referent>::Value;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN;
    const IS_RANDOM_ACCESS: bool = I::IS_RANDOM_ACCESS;
    const IS_COUNTED: bool = I::IS_COUNTED;
    const IS_FUSED: bool = I::IS_FUSED;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<<I::Item as Referent>::Value> {
        match self.iter.next() {
            Some(item) => Some(item.value()),
            None => None,
        }
    }

    fn next_known(&mut self) -> <I::Item as Referent>::Value {
        self.iter.next_known().value()
    }

    fn advance(&mut self, n: usize) -> usize {
        self.iter.advance(n)
    }

    fn nth(&mut self, n: usize) -> Option<<I::Item as Referent>::Value> {
        match self.iter.nth(n) {
            Some(item) => Some(item.value()),
            None => None,
        }
    }

    fn fold<B, F: FnMut(B, <I::Item as Referent>::Value) -> B>(self, init: B, mut f: F) -> B {
        self.iter.fold(init, |accumulator, item| f(accumulator, item.value()))
    }

    fn count(self) -> usize {
        self.iter.count()
    }

    fn last(self) -> Option<<I::Item as Referent>::Value> {
        match self.iter.last() {
            Some(item) => Some(item.value()),
            None => None,
        }
    }

    fn trusted_len(&self) -> usize {
        self.iter.trusted_len()
    }

    fn has_next(&self) -> bool {
        self.iter.has_next()
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded> DeviceDoubleEnded for Copied<I>
where
    I::Item: Referent,
{
    fn next_back(&mut self) -> Option<<I::Item as Referent>::Value> {
        match self.iter.next_back() {
            Some(item) => Some(item.value()),
            None => None,
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        self.iter.advance_back(n)
    }

    fn nth_back(&mut self, n: usize) -> Option<<I::Item as Referent>::Value> {
        match self.iter.nth_back(n) {
            Some(item) => Some(item.value()),
            None => None,
        }
    }
}

#[device(library)]
impl<I: DeviceExactSize> DeviceExactSize for Copied<I>
where
    I::Item: Referent,
{
    fn len(&self) -> usize {
        self.iter.len()
    }
}
