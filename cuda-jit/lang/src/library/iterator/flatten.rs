//! Adaptors with additional state: `fuse`, `flatten`, `flat_map`, `cycle` and `peekable`.

use super::calls::DeviceCalls;
use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIntoIterator, DeviceIterator};
use crate::device;
use crate::device::library::duplicate;
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// An iterator that ends with its first `None`.
#[derive(Clone, Debug)]
pub struct Fuse<I> {
    /// `None` once the iterator has ended, if it is not fused itself.
    pub(crate) iter: Option<I>,
}
device_struct!(Fuse [I] [I: DeviceType] { iter: Option<I> });

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for Fuse<I> {
    type Item = I::Item;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN;
    const IS_RANDOM_ACCESS: bool = I::IS_RANDOM_ACCESS;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<I::Item> {
        match &mut self.iter {
            Some(iter) => {
                let item = iter.next();
                if item.is_none() && !I::IS_FUSED {
                    self.iter = None;
                }
                item
            }
            None => None,
        }
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        match &mut self.iter {
            Some(iter) => {
                let item = iter.nth(n);
                if item.is_none() && !I::IS_FUSED {
                    self.iter = None;
                }
                item
            }
            None => None,
        }
    }

    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        match self.iter {
            Some(iter) => iter.fold(init, f),
            None => init,
        }
    }

    fn count(self) -> usize {
        match self.iter {
            Some(iter) => iter.count(),
            None => 0,
        }
    }

    fn last(self) -> Option<I::Item> {
        match self.iter {
            Some(iter) => iter.last(),
            None => None,
        }
    }

    fn trusted_len(&self) -> usize {
        match &self.iter {
            Some(iter) => iter.trusted_len(),
            None => 0,
        }
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded> DeviceDoubleEnded for Fuse<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        match &mut self.iter {
            Some(iter) => {
                let item = iter.next_back();
                if item.is_none() && !I::IS_FUSED {
                    self.iter = None;
                }
                item
            }
            None => None,
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        match &mut self.iter {
            Some(iter) => {
                let item = iter.nth_back(n);
                if item.is_none() && !I::IS_FUSED {
                    self.iter = None;
                }
                item
            }
            None => None,
        }
    }

    fn rfold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        match self.iter {
            Some(iter) => iter.rfold(init, f),
            None => init,
        }
    }
}

#[device(library)]
impl<I: DeviceExactSize> DeviceExactSize for Fuse<I> {
    fn len(&self) -> usize {
        match &self.iter {
            Some(iter) => iter.len(),
            None => 0,
        }
    }
}

/// The elements of the iterators that an iterator returns.
#[derive(Clone, Debug)]
pub struct Flatten<I, U> {
    pub(crate) iter: Fuse<I>,
    /// The inner iterator at the front.
    pub(crate) front: Option<U>,
    /// The inner iterator at the back.
    pub(crate) back: Option<U>,
}
device_struct!(Flatten [I, U] [I: DeviceType, U: DeviceType] { iter: Fuse<I>, front: Option<U>, back: Option<U> });

#[device(library)]
impl<I, U> DeviceIterator for Flatten<I, U>
where
    I: DeviceIterator,
    I::Item: DeviceIntoIterator<Item = U::Item, IntoIter = U>,
    U: DeviceIterator,
{
    type Item = U::Item;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN && U::HAS_TRUSTED_LEN && I::Item::ARRAY_LEN.is_some();
    const IS_FUSED: bool = true;

    fn next(&mut self) -> Option<U::Item> {
        loop {
            if let Some(inner) = &mut self.front {
                let item = inner.next();
                if item.is_some() {
                    return item;
                }
                self.front = None;
            }
            match self.iter.device_next() {
                Some(inner) => self.front = Some(inner.into_iter()),
                None => break,
            }
        }
        match &mut self.back {
            Some(inner) => {
                let item = inner.next();
                if item.is_none() {
                    self.back = None;
                }
                item
            }
            None => None,
        }
    }

    fn advance(&mut self, n: usize) -> usize {
        let mut left = n;
        loop {
            if let Some(inner) = &mut self.front {
                left = inner.advance(left);
                if left == 0 {
                    return 0;
                }
                self.front = None;
            }
            match self.iter.device_next() {
                Some(inner) => self.front = Some(inner.into_iter()),
                None => break,
            }
        }
        if let Some(inner) = &mut self.back {
            left = inner.advance(left);
            if left > 0 {
                self.back = None;
            }
        }
        left
    }

    fn nth(&mut self, n: usize) -> Option<U::Item> {
        if self.advance(n) > 0 { None } else { self.device_next() }
    }

    fn fold<B, F: FnMut(B, U::Item) -> B>(self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        if let Some(inner) = self.front {
            accumulator = inner.fold(accumulator, |accumulator, item| f(accumulator, item));
        }
        accumulator = self.iter.device_fold(accumulator, |accumulator, inner| {
            inner.into_iter().fold(accumulator, |accumulator, item| f(accumulator, item))
        });
        if let Some(inner) = self.back {
            accumulator = inner.fold(accumulator, f);
        }
        accumulator
    }

    fn count(self) -> usize {
        let mut count = 0;
        if let Some(inner) = self.front {
            count += inner.count();
        }
        count = self.iter.device_fold(count, |count, inner| count + inner.into_iter().count());
        if let Some(inner) = self.back {
            count += inner.count();
        }
        count
    }

    fn last(self) -> Option<U::Item> {
        let mut last = None;
        if let Some(inner) = self.front {
            last = inner.last();
        }
        last = self.iter.device_fold(last, |last, inner| {
            let item = inner.into_iter().last();
            if item.is_some() { item } else { last }
        });
        if let Some(inner) = self.back {
            let item = inner.last();
            if item.is_some() {
                last = item;
            }
        }
        last
    }

    fn trusted_len(&self) -> usize {
        let front = match &self.front {
            Some(inner) => inner.trusted_len(),
            None => 0,
        };
        let back = match &self.back {
            Some(inner) => inner.trusted_len(),
            None => 0,
        };
        let middle = match I::Item::ARRAY_LEN {
            Some(len) => self.iter.trusted_len().saturating_mul(len),
            None => 0,
        };
        middle.saturating_add(front).saturating_add(back)
    }
}

#[device(library)]
impl<I, U> DeviceDoubleEnded for Flatten<I, U>
where
    I: DeviceDoubleEnded,
    I::Item: DeviceIntoIterator<Item = U::Item, IntoIter = U>,
    U: DeviceDoubleEnded,
{
    fn next_back(&mut self) -> Option<U::Item> {
        loop {
            if let Some(inner) = &mut self.back {
                let item = inner.next_back();
                if item.is_some() {
                    return item;
                }
                self.back = None;
            }
            match self.iter.device_next_back() {
                Some(inner) => self.back = Some(inner.into_iter()),
                None => break,
            }
        }
        match &mut self.front {
            Some(inner) => {
                let item = inner.next_back();
                if item.is_none() {
                    self.front = None;
                }
                item
            }
            None => None,
        }
    }
}

/// An iterator that can return its next element without advancing.
#[derive(Clone, Debug)]
pub struct Peekable<I: DeviceIterator> {
    pub(crate) iter: I,
    /// The result of the next call of `next`, once it is known.
    pub(crate) peeked: Option<Option<I::Item>>,
}
device_struct!(Peekable [I] [I: DeviceIterator] { iter: I, peeked: Option<Option<I::Item>> });

#[device(library)]
impl<I: DeviceIterator> Peekable<I> {
    /// Returns a reference to the next element.
    pub fn peek(&mut self) -> Option<&I::Item> {
        if self.peeked.is_none() {
            self.peeked = Some(self.iter.next());
        }
        match &self.peeked {
            Some(Some(item)) => Some(item),
            _ => None,
        }
    }

    /// Returns a mutable reference to the next element.
    pub fn peek_mut(&mut self) -> Option<&mut I::Item> {
        if self.peeked.is_none() {
            self.peeked = Some(self.iter.next());
        }
        match &mut self.peeked {
            Some(Some(item)) => Some(item),
            _ => None,
        }
    }

    /// Returns the next element if it satisfies a predicate.
    pub fn next_if<F: FnOnce(&I::Item) -> bool>(&mut self, f: F) -> Option<I::Item> {
        match self.device_next() {
            Some(item) => {
                if f(&item) {
                    Some(item)
                } else {
                    self.peeked = Some(Some(item));
                    None
                }
            }
            None => {
                self.peeked = Some(None);
                None
            }
        }
    }

    /// Returns the next element if it is equal to a value.
    pub fn next_if_eq<T>(&mut self, expected: &T) -> Option<I::Item>
    where
        I::Item: PartialEq<T>,
    {
        self.next_if(|item| item == expected)
    }
}

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for Peekable<I> {
    type Item = I::Item;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN;
    const IS_FUSED: bool = I::IS_FUSED;

    fn next(&mut self) -> Option<I::Item> {
        match self.peeked.take() {
            Some(peeked) => peeked,
            None => self.iter.next(),
        }
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        match self.peeked.take() {
            Some(Some(item)) => {
                if n == 0 {
                    Some(item)
                } else {
                    self.iter.nth(n - 1)
                }
            }
            Some(None) => None,
            None => self.iter.nth(n),
        }
    }

    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        let accumulator = match self.peeked {
            Some(Some(item)) => f(init, item),
            Some(None) => return init,
            None => init,
        };
        self.iter.fold(accumulator, f)
    }

    fn count(self) -> usize {
        match self.peeked {
            Some(Some(_)) => 1 + self.iter.count(),
            Some(None) => 0,
            None => self.iter.count(),
        }
    }

    fn last(self) -> Option<I::Item> {
        let peeked = match self.peeked {
            Some(Some(item)) => Some(item),
            Some(None) => return None,
            None => None,
        };
        let last = self.iter.last();
        if last.is_some() { last } else { peeked }
    }

    fn trusted_len(&self) -> usize {
        match &self.peeked {
            Some(Some(_)) => self.iter.trusted_len().saturating_add(1),
            Some(None) => 0,
            None => self.iter.trusted_len(),
        }
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded> DeviceDoubleEnded for Peekable<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        match &mut self.peeked {
            Some(Some(_)) => {
                let item = self.iter.next_back();
                if item.is_some() {
                    return item;
                }
                match self.peeked.replace(None) {
                    Some(peeked) => peeked,
                    None => None,
                }
            }
            Some(None) => None,
            None => self.iter.next_back(),
        }
    }

    fn rfold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        match self.peeked {
            Some(Some(item)) => {
                let accumulator = self.iter.rfold(init, |accumulator, item| f(accumulator, item));
                f(accumulator, item)
            }
            Some(None) => init,
            None => self.iter.rfold(init, f),
        }
    }
}

#[device(library)]
impl<I: DeviceExactSize> DeviceExactSize for Peekable<I> {
    fn len(&self) -> usize {
        match &self.peeked {
            Some(Some(_)) => 1 + self.iter.len(),
            Some(None) => 0,
            None => self.iter.len(),
        }
    }
}

/// The elements of an iterator, repeated endlessly.
#[derive(Clone, Debug)]
pub struct Cycle<I> {
    /// The iterator in its initial state.
    pub(crate) all: I,
    pub(crate) iter: I,
}
device_struct!(Cycle [I] [I: DeviceType] { all: I, iter: I });

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for Cycle<I> {
    type Item = I::Item;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<I::Item> {
        match self.iter.next() {
            Some(item) => Some(item),
            None => {
                self.iter = duplicate(&self.all);
                self.iter.next()
            }
        }
    }
}
