//! Adaptors that combine two iterators: `zip` and `chain`.

use super::calls::DeviceCalls;
use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// Pairs the elements of two iterators.
#[derive(Clone, Debug)]
pub struct Zip<A, B> {
    pub(crate) a: A,
    pub(crate) b: B,
}
device_struct!(Zip [A, B] [A: DeviceType, B: DeviceType] { a: A, b: B });

#[device(library)]
impl<A: DeviceIterator, B: DeviceIterator> Zip<A, B> {
    /// Returns true if no pair is left and std accesses the elements by index, so that it advances neither iterator.
    fn is_over(&self) -> bool {
        Self::IS_RANDOM_ACCESS && !self.has_next()
    }
}

#[device(library)]
impl<A: DeviceIterator, B: DeviceIterator> DeviceIterator for Zip<A, B> {
    type Item = (A::Item, B::Item);
    const HAS_TRUSTED_LEN: bool = A::HAS_TRUSTED_LEN && B::HAS_TRUSTED_LEN;
    const IS_RANDOM_ACCESS: bool = A::IS_RANDOM_ACCESS && B::IS_RANDOM_ACCESS;
    const IS_COUNTED: bool = A::IS_COUNTED && B::IS_COUNTED;
    const IS_FUSED: bool = A::IS_FUSED && B::IS_FUSED;
    const IS_PURE: bool = A::IS_PURE && B::IS_PURE;

    fn next(&mut self) -> Option<(A::Item, B::Item)> {
        if Self::IS_COUNTED && Self::IS_PURE {
            return if self.has_next() { Some(self.next_known()) } else { None };
        }
        if !Self::IS_PURE && self.is_over() {
            return None;
        }
        match self.a.next() {
            Some(x) => match self.b.next() {
                Some(y) => Some((x, y)),
                None => None,
            },
            None => None,
        }
    }

    fn next_known(&mut self) -> (A::Item, B::Item) {
        let x = self.a.next_known();
        let y = self.b.next_known();
        (x, y)
    }

    fn nth(&mut self, n: usize) -> Option<(A::Item, B::Item)> {
        if Self::IS_PURE {
            match self.a.nth(n) {
                Some(x) => match self.b.nth(n) {
                    Some(y) => Some((x, y)),
                    None => None,
                },
                None => None,
            }
        } else {
            let mut left = n;
            while left > 0 {
                if self.device_next().is_none() {
                    return None;
                }
                left -= 1;
            }
            self.device_next()
        }
    }

    /// Does not advance the longer iterator beyond the end of the shorter one if std does not.
    fn fold<C, F: FnMut(C, (A::Item, B::Item)) -> C>(mut self, init: C, mut f: F) -> C {
        let mut accumulator = init;
        if Self::IS_COUNTED && Self::IS_PURE {
            for _ in 0..self.trusted_len() {
                let pair = self.next_known();
                accumulator = f(accumulator, pair);
            }
            return accumulator;
        }
        if Self::IS_PURE || Self::IS_RANDOM_ACCESS || !Self::HAS_TRUSTED_LEN {
            while let Some(pair) = self.device_next() {
                accumulator = f(accumulator, pair);
            }
            return accumulator;
        }
        let mut left = self.trusted_len();
        while left > 0 {
            match self.device_next() {
                Some(pair) => accumulator = f(accumulator, pair),
                None => return accumulator,
            }
            left -= 1;
        }
        accumulator
    }

    fn trusted_len(&self) -> usize {
        let (a, b) = (self.a.trusted_len(), self.b.trusted_len());
        if a < b { a } else { b }
    }

    fn has_next(&self) -> bool {
        self.a.has_next() && self.b.has_next()
    }
}

#[device(library)]
impl<A, B> DeviceDoubleEnded for Zip<A, B>
where
    A: DeviceDoubleEnded + DeviceExactSize,
    B: DeviceDoubleEnded + DeviceExactSize,
{
    fn next_back(&mut self) -> Option<(A::Item, B::Item)> {
        if !Self::IS_PURE && self.is_over() {
            return None;
        }
        let (a_len, b_len) = (self.a.len(), self.b.len());
        if a_len > b_len {
            self.a.advance_back(a_len - b_len);
        }
        if b_len > a_len {
            self.b.advance_back(b_len - a_len);
        }
        match (self.a.next_back(), self.b.next_back()) {
            (Some(x), Some(y)) => Some((x, y)),
            _ => None,
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<(A::Item, B::Item)> {
        if Self::IS_PURE {
            let (a_len, b_len) = (self.a.len(), self.b.len());
            let a_excess = if a_len > b_len { a_len - b_len } else { 0 };
            let b_excess = if b_len > a_len { b_len - a_len } else { 0 };
            let x = self.a.nth_back(n.saturating_add(a_excess));
            let y = self.b.nth_back(n.saturating_add(b_excess));
            match (x, y) {
                (Some(x), Some(y)) => Some((x, y)),
                _ => None,
            }
        } else {
            let mut left = n;
            while left > 0 {
                if self.device_next_back().is_none() {
                    return None;
                }
                left -= 1;
            }
            self.device_next_back()
        }
    }
}

#[device(library)]
impl<A: DeviceExactSize, B: DeviceExactSize> DeviceExactSize for Zip<A, B> {
    fn len(&self) -> usize {
        let (a, b) = (self.a.len(), self.b.len());
        if a < b { a } else { b }
    }
}

/// The elements of one iterator and then those of another.
#[derive(Clone, Debug)]
pub struct Chain<A, B> {
    /// `None` once a call at the front has found its end.
    pub(crate) a: Option<A>,
    /// `None` once a call at the back has found its end.
    pub(crate) b: Option<B>,
}
device_struct!(Chain [A, B] [A: DeviceType, B: DeviceType] { a: Option<A>, b: Option<B> });

#[device(library)]
impl<A: DeviceIterator, B: DeviceIterator<Item = A::Item>> DeviceIterator for Chain<A, B> {
    type Item = A::Item;
    const HAS_TRUSTED_LEN: bool = A::HAS_TRUSTED_LEN && B::HAS_TRUSTED_LEN;
    const IS_FUSED: bool = A::IS_FUSED && B::IS_FUSED;
    const IS_PURE: bool = A::IS_PURE && B::IS_PURE;

    fn next(&mut self) -> Option<A::Item> {
        if let Some(a) = &mut self.a {
            let item = a.next();
            if item.is_some() {
                return item;
            }
            // A pure iterator returns `None` again when it is called again, and the loop is simpler if this is not
            // recorded.
            if !A::IS_PURE {
                self.a = None;
            }
        }
        match &mut self.b {
            Some(b) => b.next(),
            None => None,
        }
    }

    fn advance(&mut self, n: usize) -> usize {
        let mut left = n;
        if let Some(a) = &mut self.a {
            left = a.advance(left);
            if left == 0 {
                return 0;
            }
            self.a = None;
        }
        match &mut self.b {
            Some(b) => b.advance(left),
            None => left,
        }
    }

    fn nth(&mut self, n: usize) -> Option<A::Item> {
        let mut left = n;
        if let Some(a) = &mut self.a {
            left = a.advance(left);
            if left == 0 {
                let item = a.next();
                if item.is_some() {
                    return item;
                }
            }
            self.a = None;
        }
        match &mut self.b {
            Some(b) => b.nth(left),
            None => None,
        }
    }

    fn fold<C, F: FnMut(C, A::Item) -> C>(self, init: C, mut f: F) -> C {
        let mut accumulator = init;
        if let Some(a) = self.a {
            accumulator = a.fold(accumulator, |accumulator, item| f(accumulator, item));
        }
        if let Some(b) = self.b {
            accumulator = b.fold(accumulator, f);
        }
        accumulator
    }

    fn count(self) -> usize {
        let a = match self.a {
            Some(a) => a.count(),
            None => 0,
        };
        let b = match self.b {
            Some(b) => b.count(),
            None => 0,
        };
        a + b
    }

    fn last(self) -> Option<A::Item> {
        let a = match self.a {
            Some(a) => a.last(),
            None => None,
        };
        let b = match self.b {
            Some(b) => b.last(),
            None => None,
        };
        if b.is_some() { b } else { a }
    }

    fn trusted_len(&self) -> usize {
        let a = match &self.a {
            Some(a) => a.trusted_len(),
            None => 0,
        };
        let b = match &self.b {
            Some(b) => b.trusted_len(),
            None => 0,
        };
        a.saturating_add(b)
    }
}

#[device(library)]
impl<A: DeviceDoubleEnded, B: DeviceDoubleEnded<Item = A::Item>> DeviceDoubleEnded for Chain<A, B> {
    fn next_back(&mut self) -> Option<A::Item> {
        if let Some(b) = &mut self.b {
            let item = b.next_back();
            if item.is_some() {
                return item;
            }
            if !B::IS_PURE {
                self.b = None;
            }
        }
        match &mut self.a {
            Some(a) => a.next_back(),
            None => None,
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let mut left = n;
        if let Some(b) = &mut self.b {
            left = b.advance_back(left);
            if left == 0 {
                return 0;
            }
            self.b = None;
        }
        match &mut self.a {
            Some(a) => a.advance_back(left),
            None => left,
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<A::Item> {
        let mut left = n;
        if let Some(b) = &mut self.b {
            left = b.advance_back(left);
            if left == 0 {
                let item = b.next_back();
                if item.is_some() {
                    return item;
                }
            }
            self.b = None;
        }
        match &mut self.a {
            Some(a) => a.nth_back(left),
            None => None,
        }
    }

    fn rfold<C, F: FnMut(C, A::Item) -> C>(self, init: C, mut f: F) -> C {
        let mut accumulator = init;
        if let Some(b) = self.b {
            accumulator = b.rfold(accumulator, |accumulator, item| f(accumulator, item));
        }
        if let Some(a) = self.a {
            accumulator = a.rfold(accumulator, f);
        }
        accumulator
    }
}
