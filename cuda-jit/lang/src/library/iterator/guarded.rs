//! Adaptors whose closures decide on the first or last element: `skip_while`, `take_while`, `map_while`, `scan`.

use super::DeviceIterator;
use super::calls::DeviceCalls;
use crate::device;
use crate::library::structs::device_struct;
use crate::typeinfo::{Closure, DeviceType};

/// The elements from the first that does not satisfy a predicate.
#[derive(Clone, Debug)]
pub struct SkipWhile<I, P> {
    pub(crate) iter: I,
    pub(crate) predicate: P,
    /// True once an element did not satisfy the predicate.
    pub(crate) has_begun: bool,
}
device_struct!(SkipWhile [I, P] [I: DeviceType, P] { iter: I, predicate: Closure, has_begun: bool });

#[device(library)]
impl<I: DeviceIterator, P: FnMut(&I::Item) -> bool> DeviceIterator for SkipWhile<I, P> {
    type Item = I::Item;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<I::Item> {
        while let Some(item) = self.iter.next() {
            if self.has_begun || !(self.predicate)(&item) {
                self.has_begun = true;
                return Some(item);
            }
        }
        None
    }

    fn fold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        if !self.has_begun {
            match self.device_next() {
                Some(item) => accumulator = f(accumulator, item),
                None => return accumulator,
            }
        }
        self.iter.fold(accumulator, f)
    }
}

/// The elements before the first that does not satisfy a predicate.
#[derive(Clone, Debug)]
pub struct TakeWhile<I, P> {
    pub(crate) iter: I,
    pub(crate) predicate: P,
    /// True once an element did not satisfy the predicate.
    pub(crate) has_ended: bool,
}
device_struct!(TakeWhile [I, P] [I: DeviceType, P] { iter: I, predicate: Closure, has_ended: bool });

#[device(library)]
impl<I: DeviceIterator, P: FnMut(&I::Item) -> bool> DeviceIterator for TakeWhile<I, P> {
    type Item = I::Item;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<I::Item> {
        if self.has_ended {
            return None;
        }
        match self.iter.next() {
            Some(item) => {
                if (self.predicate)(&item) {
                    Some(item)
                } else {
                    self.has_ended = true;
                    None
                }
            }
            None => None,
        }
    }

    // Avoids a test of the flag for each element.
    fn fold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        if self.has_ended {
            return accumulator;
        }
        while let Some(item) = self.iter.next() {
            if !(self.predicate)(&item) {
                return accumulator;
            }
            accumulator = f(accumulator, item);
        }
        accumulator
    }
}

/// Applies a closure to each element until it returns `None`.
#[derive(Clone, Debug)]
pub struct MapWhile<I, F> {
    pub(crate) iter: I,
    pub(crate) f: F,
}
device_struct!(MapWhile [I, F] [I: DeviceType, F] { iter: I, f: Closure });

#[device(library)]
impl<B: DeviceType, I: DeviceIterator, F: FnMut(I::Item) -> Option<B>> DeviceIterator for MapWhile<I, F> {
    type Item = B;

    fn next(&mut self) -> Option<B> {
        match self.iter.next() {
            Some(item) => (self.f)(item),
            None => None,
        }
    }
}

/// Applies a closure to a state and each element until it returns `None`.
#[derive(Clone, Debug)]
pub struct Scan<I, S, F> {
    pub(crate) iter: I,
    pub(crate) state: S,
    pub(crate) f: F,
}
device_struct!(Scan [I, S, F] [I: DeviceType, S: DeviceType, F] { iter: I, state: S, f: Closure });

#[device(library)]
impl<B: DeviceType, S: DeviceType, I: DeviceIterator, F: FnMut(&mut S, I::Item) -> Option<B>> DeviceIterator
    for Scan<I, S, F>
{
    type Item = B;

    fn next(&mut self) -> Option<B> {
        match self.iter.next() {
            Some(item) => (self.f)(&mut self.state, item),
            None => None,
        }
    }
}
