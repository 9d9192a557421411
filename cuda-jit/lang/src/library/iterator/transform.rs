//! Adaptors that change or drop single elements: `map`, `filter`, `enumerate`, `rev` and the like.

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;
use crate::library::structs::device_struct;
use crate::typeinfo::{Closure, DeviceType};

#[device(library)]
impl<'a, I: DeviceIterator> DeviceIterator for &'a mut I {
    type Item = I::Item;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<I::Item> {
        (**self).next()
    }

    fn advance(&mut self, n: usize) -> usize {
        (**self).advance(n)
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth(n)
    }

    // if these are called on a reference, rustc finds the implementation for the reference first

    fn trusted_len(&self) -> usize {
        (**self).trusted_len()
    }

    fn has_next(&self) -> bool {
        (**self).has_next()
    }
}

#[device(library)]
impl<'a, I: DeviceDoubleEnded> DeviceDoubleEnded for &'a mut I {
    fn next_back(&mut self) -> Option<I::Item> {
        (**self).next_back()
    }

    fn advance_back(&mut self, n: usize) -> usize {
        (**self).advance_back(n)
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth_back(n)
    }
}

#[device(library)]
impl<'a, I: DeviceExactSize> DeviceExactSize for &'a mut I {
    fn len(&self) -> usize {
        (**self).len()
    }
}

/// Applies a closure to each element.
#[derive(Clone, Debug)]
pub struct Map<I, F> {
    pub(crate) iter: I,
    pub(crate) f: F,
}
device_struct!(Map [I, F] [I: DeviceType, F] { iter: I, f: Closure });

#[device(library)]
impl<B: DeviceType, I: DeviceIterator, F: FnMut(I::Item) -> B> DeviceIterator for Map<I, F> {
    type Item = B;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN;
    const IS_RANDOM_ACCESS: bool = I::IS_RANDOM_ACCESS;
    const IS_COUNTED: bool = I::IS_COUNTED;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<B> {
        match self.iter.next() {
            Some(item) => Some((self.f)(item)),
            None => None,
        }
    }

    fn next_known(&mut self) -> B {
        let item = self.iter.next_known();
        (self.f)(item)
    }

    fn fold<C, G: FnMut(C, B) -> C>(mut self, init: C, mut g: G) -> C {
        self.iter.fold(init, |accumulator, item| g(accumulator, (self.f)(item)))
    }

    fn trusted_len(&self) -> usize {
        self.iter.trusted_len()
    }

    fn has_next(&self) -> bool {
        self.iter.has_next()
    }
}

#[device(library)]
impl<B: DeviceType, I: DeviceDoubleEnded, F: FnMut(I::Item) -> B> DeviceDoubleEnded for Map<I, F> {
    fn next_back(&mut self) -> Option<B> {
        match self.iter.next_back() {
            Some(item) => Some((self.f)(item)),
            None => None,
        }
    }
}

#[device(library)]
impl<B: DeviceType, I: DeviceExactSize, F: FnMut(I::Item) -> B> DeviceExactSize for Map<I, F> {
    fn len(&self) -> usize {
        self.iter.len()
    }
}

/// Keeps the elements that satisfy a predicate.
#[derive(Clone, Debug)]
pub struct Filter<I, P> {
    pub(crate) iter: I,
    pub(crate) predicate: P,
}
device_struct!(Filter [I, P] [I: DeviceType, P] { iter: I, predicate: Closure });

#[device(library)]
impl<I: DeviceIterator, P: FnMut(&I::Item) -> bool> DeviceIterator for Filter<I, P> {
    type Item = I::Item;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<I::Item> {
        while let Some(item) = self.iter.next() {
            if (self.predicate)(&item) {
                return Some(item);
            }
        }
        None
    }

    fn fold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, mut f: F) -> B {
        self.iter
            .fold(init, |accumulator, item| if (self.predicate)(&item) { f(accumulator, item) } else { accumulator })
    }

    fn count(mut self) -> usize {
        self.iter.fold(0, |count, item| count + (self.predicate)(&item) as usize)
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded, P: FnMut(&I::Item) -> bool> DeviceDoubleEnded for Filter<I, P> {
    fn next_back(&mut self) -> Option<I::Item> {
        while let Some(item) = self.iter.next_back() {
            if (self.predicate)(&item) {
                return Some(item);
            }
        }
        None
    }
}

/// Applies a closure to each element and keeps the values that it returns in `Some`.
#[derive(Clone, Debug)]
pub struct FilterMap<I, F> {
    pub(crate) iter: I,
    pub(crate) f: F,
}
device_struct!(FilterMap [I, F] [I: DeviceType, F] { iter: I, f: Closure });

#[device(library)]
impl<B: DeviceType, I: DeviceIterator, F: FnMut(I::Item) -> Option<B>> DeviceIterator for FilterMap<I, F> {
    type Item = B;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<B> {
        while let Some(item) = self.iter.next() {
            if let Some(mapped) = (self.f)(item) {
                return Some(mapped);
            }
        }
        None
    }

    fn fold<C, G: FnMut(C, B) -> C>(mut self, init: C, mut g: G) -> C {
        self.iter.fold(init, |accumulator, item| match (self.f)(item) {
            Some(mapped) => g(accumulator, mapped),
            None => accumulator,
        })
    }
}

#[device(library)]
impl<B: DeviceType, I: DeviceDoubleEnded, F: FnMut(I::Item) -> Option<B>> DeviceDoubleEnded for FilterMap<I, F> {
    fn next_back(&mut self) -> Option<B> {
        while let Some(item) = self.iter.next_back() {
            if let Some(mapped) = (self.f)(item) {
                return Some(mapped);
            }
        }
        None
    }
}

/// Calls a closure with a reference to each element.
#[derive(Clone, Debug)]
pub struct Inspect<I, F> {
    pub(crate) iter: I,
    pub(crate) f: F,
}
device_struct!(Inspect [I, F] [I: DeviceType, F] { iter: I, f: Closure });

#[device(library)]
impl<I: DeviceIterator, F: FnMut(&I::Item)> DeviceIterator for Inspect<I, F> {
    type Item = I::Item;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<I::Item> {
        match self.iter.next() {
            Some(item) => {
                (self.f)(&item);
                Some(item)
            }
            None => None,
        }
    }

    fn fold<B, G: FnMut(B, I::Item) -> B>(mut self, init: B, mut g: G) -> B {
        self.iter.fold(init, |accumulator, item| {
            (self.f)(&item);
            g(accumulator, item)
        })
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded, F: FnMut(&I::Item)> DeviceDoubleEnded for Inspect<I, F> {
    fn next_back(&mut self) -> Option<I::Item> {
        match self.iter.next_back() {
            Some(item) => {
                (self.f)(&item);
                Some(item)
            }
            None => None,
        }
    }
}

#[device(library)]
impl<I: DeviceExactSize, F: FnMut(&I::Item)> DeviceExactSize for Inspect<I, F> {
    fn len(&self) -> usize {
        self.iter.len()
    }
}

/// Pairs each element with its index.
#[derive(Clone, Debug)]
pub struct Enumerate<I> {
    pub(crate) iter: I,
    pub(crate) index: usize,
}
device_struct!(Enumerate [I] [I: DeviceType] { iter: I, index: usize });

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for Enumerate<I> {
    type Item = (usize, I::Item);
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN;
    const IS_RANDOM_ACCESS: bool = I::IS_RANDOM_ACCESS;
    const IS_COUNTED: bool = I::IS_COUNTED;
    const IS_FUSED: bool = I::IS_FUSED;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<(usize, I::Item)> {
        match self.iter.next() {
            Some(item) => {
                let index = self.index;
                self.index = index + 1;
                Some((index, item))
            }
            None => None,
        }
    }

    fn next_known(&mut self) -> (usize, I::Item) {
        let item = self.iter.next_known();
        let index = self.index;
        self.index = index + 1;
        (index, item)
    }

    fn advance(&mut self, n: usize) -> usize {
        let left = self.iter.advance(n);
        self.index += n - left;
        left
    }

    fn nth(&mut self, n: usize) -> Option<(usize, I::Item)> {
        match self.iter.nth(n) {
            Some(item) => {
                let index = self.index + n;
                self.index = index + 1;
                Some((index, item))
            }
            None => None,
        }
    }

    fn fold<B, F: FnMut(B, (usize, I::Item)) -> B>(self, init: B, mut f: F) -> B {
        let mut index = self.index;
        self.iter.fold(init, |accumulator, item| {
            let result = f(accumulator, (index, item));
            index += 1;
            result
        })
    }

    fn count(self) -> usize {
        self.iter.count()
    }

    fn trusted_len(&self) -> usize {
        self.iter.trusted_len()
    }

    fn has_next(&self) -> bool {
        self.iter.has_next()
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded + DeviceExactSize> DeviceDoubleEnded for Enumerate<I> {
    fn next_back(&mut self) -> Option<(usize, I::Item)> {
        match self.iter.next_back() {
            Some(item) => Some((self.index + self.iter.len(), item)),
            None => None,
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        self.iter.advance_back(n)
    }

    fn nth_back(&mut self, n: usize) -> Option<(usize, I::Item)> {
        match self.iter.nth_back(n) {
            Some(item) => Some((self.index + self.iter.len(), item)),
            None => None,
        }
    }
}

#[device(library)]
impl<I: DeviceExactSize> DeviceExactSize for Enumerate<I> {
    fn len(&self) -> usize {
        self.iter.len()
    }
}

/// Reverses the direction of an iterator.
#[derive(Clone, Debug)]
pub struct Rev<I> {
    pub(crate) iter: I,
}
device_struct!(Rev [I] [I: DeviceType] { iter: I });

#[device(library)]
impl<I: DeviceDoubleEnded> DeviceIterator for Rev<I> {
    type Item = I::Item;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN;
    const IS_FUSED: bool = I::IS_FUSED;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<I::Item> {
        self.iter.next_back()
    }

    fn advance(&mut self, n: usize) -> usize {
        self.iter.advance_back(n)
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        self.iter.nth_back(n)
    }

    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        self.iter.rfold(init, f)
    }

    fn trusted_len(&self) -> usize {
        self.iter.trusted_len()
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded> DeviceDoubleEnded for Rev<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.iter.next()
    }

    fn advance_back(&mut self, n: usize) -> usize {
        self.iter.advance(n)
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        self.iter.nth(n)
    }

    fn rfold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        self.iter.fold(init, f)
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded + DeviceExactSize> DeviceExactSize for Rev<I> {
    fn len(&self) -> usize {
        self.iter.len()
    }
}
