//! Adaptors that drop elements by their position: `take`, `skip` and `step_by`.

use super::calls::DeviceCalls;
use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// The first elements of an iterator.
#[derive(Clone, Debug)]
pub struct Take<I> {
    pub(crate) iter: I,
    pub(crate) left: usize,
}
device_struct!(Take [I] [I: DeviceType] { iter: I, left: usize });

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for Take<I> {
    type Item = I::Item;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN;
    const IS_FUSED: bool = I::IS_FUSED;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<I::Item> {
        if self.left > 0 {
            self.left -= 1;
            self.iter.next()
        } else {
            None
        }
    }

    fn advance(&mut self, n: usize) -> usize {
        let wanted = if n < self.left { n } else { self.left };
        let advanced = wanted - self.iter.advance(wanted);
        self.left -= advanced;
        n - advanced
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        if n < self.left {
            self.left -= n + 1;
            self.iter.nth(n)
        } else {
            if self.left > 0 {
                self.iter.nth(self.left - 1);
                self.left = 0;
            }
            None
        }
    }

    /// Does not advance the iterator to its end if std reads the elements by index.
    fn fold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, mut f: F) -> B {
        if I::IS_RANDOM_ACCESS && I::HAS_TRUSTED_LEN {
            self.left = self.trusted_len();
        }
        let mut accumulator = init;
        while let Some(item) = self.device_next() {
            accumulator = f(accumulator, item);
        }
        accumulator
    }

    fn trusted_len(&self) -> usize {
        let len = self.iter.trusted_len();
        if len < self.left { len } else { self.left }
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded + DeviceExactSize> DeviceDoubleEnded for Take<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        if self.left == usize::MAX {
            return self.iter.next_back();
        }
        if self.left == 0 {
            return None;
        }
        let excess = self.iter.len().saturating_sub(self.left);
        // The remaining elements are then all those of the iterator; a pure one can find its end again.
        self.left = if I::IS_PURE { usize::MAX } else { self.left - 1 };
        self.iter.nth_back(excess)
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let excess = self.iter.len().saturating_sub(self.left);
        let wanted = excess.saturating_add(n);
        let advanced = wanted - self.iter.advance_back(wanted) - excess;
        self.left -= advanced;
        n - advanced
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        let len = self.iter.len();
        if n < self.left {
            let excess = len.saturating_sub(self.left);
            self.left -= n + 1;
            self.iter.nth_back(excess + n)
        } else {
            if len > 0 {
                self.iter.nth_back(len - 1);
            }
            None
        }
    }

    fn rfold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, f: F) -> B {
        let len = self.iter.len();
        if self.left == 0 || (len > self.left && self.iter.nth_back(len - self.left - 1).is_none()) {
            return init;
        }
        self.iter.rfold(init, f)
    }
}

#[device(library)]
impl<I: DeviceExactSize> DeviceExactSize for Take<I> {
    fn len(&self) -> usize {
        let len = self.iter.len();
        if len < self.left { len } else { self.left }
    }
}

/// The elements of an iterator after the first ones.
#[derive(Clone, Debug)]
pub struct Skip<I> {
    pub(crate) iter: I,
    /// The number of elements to skip before the next one.
    pub(crate) n: usize,
}
device_struct!(Skip [I] [I: DeviceType] { iter: I, n: usize });

#[device(library)]
impl<I: DeviceIterator> Skip<I> {
    /// Skips the first elements, unless this has happened before, and returns true if all of them existed.
    fn skip_first(&mut self) -> bool {
        let n = self.n;
        self.n = 0;
        n == 0 || self.iter.nth(n - 1).is_some()
    }
}

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for Skip<I> {
    type Item = I::Item;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN && I::IS_RANDOM_ACCESS;
    const IS_RANDOM_ACCESS: bool = I::IS_RANDOM_ACCESS;
    const IS_FUSED: bool = I::IS_FUSED;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<I::Item> {
        let n = self.n;
        self.n = 0;
        if n > 0 { self.iter.nth(n) } else { self.iter.next() }
    }

    fn advance(&mut self, n: usize) -> usize {
        if self.skip_first() { self.iter.advance(n) } else { n }
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        if self.skip_first() { self.iter.nth(n) } else { None }
    }

    fn fold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, f: F) -> B {
        if self.skip_first() { self.iter.fold(init, f) } else { init }
    }

    fn count(mut self) -> usize {
        if self.skip_first() { self.iter.count() } else { 0 }
    }

    fn last(mut self) -> Option<I::Item> {
        if self.skip_first() { self.iter.last() } else { None }
    }

    fn trusted_len(&self) -> usize {
        self.iter.trusted_len().saturating_sub(self.n)
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded + DeviceExactSize> DeviceDoubleEnded for Skip<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        if self.iter.len() > self.n { self.iter.next_back() } else { None }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.device_len();
        let wanted = if n < len { n } else { len };
        self.iter.advance_back(wanted);
        n - wanted
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        let len = self.device_len();
        if n < len {
            self.iter.nth_back(n)
        } else {
            if len > 0 {
                self.iter.nth_back(len - 1);
            }
            None
        }
    }

    fn rfold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        let mut left = self.device_len();
        while left > 0 {
            match self.iter.next_back() {
                Some(item) => accumulator = f(accumulator, item),
                None => return accumulator,
            }
            left -= 1;
        }
        accumulator
    }
}

#[device(library)]
impl<I: DeviceExactSize> DeviceExactSize for Skip<I> {
    fn len(&self) -> usize {
        self.iter.len().saturating_sub(self.n)
    }
}

/// Every `n`-th element of an iterator, from the first.
#[derive(Clone, Debug)]
pub struct StepBy<I> {
    pub(crate) iter: I,
    /// The number of elements between two that the iterator returns.
    pub(crate) gap: usize,
    /// True until `next` is called.
    pub(crate) is_first: bool,
}
device_struct!(StepBy [I] [I: DeviceType] { iter: I, gap: usize, is_first: bool });

#[device(library)]
impl<I: DeviceIterator> StepBy<I> {
    /// The step.
    fn step(&self) -> usize {
        self.gap + 1
    }
}

#[device(library)]
impl<I: DeviceIterator> DeviceIterator for StepBy<I> {
    type Item = I::Item;
    const HAS_TRUSTED_LEN: bool = I::HAS_TRUSTED_LEN && I::IS_RANDOM_ACCESS;
    const IS_PURE: bool = I::IS_PURE;

    fn next(&mut self) -> Option<I::Item> {
        self.iter.next_step(self.gap, &mut self.is_first)
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        let mut left = n;
        if self.is_first {
            self.is_first = false;
            let first = self.iter.next();
            if left == 0 {
                return first;
            }
            left -= 1;
        }
        let (step, gap) = (self.step(), self.gap);
        if let Some(skipped) = left.checked_mul(step).and_then(|skipped| skipped.checked_add(gap)) {
            return self.iter.nth(skipped);
        }
        while left > 0 {
            if self.iter.nth(self.gap).is_none() {
                return None;
            }
            left -= 1;
        }
        self.iter.nth(self.gap)
    }

    fn fold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        if I::IS_PURE {
            while let Some(item) = self.device_next() {
                accumulator = f(accumulator, item);
            }
            return accumulator;
        }
        if self.is_first {
            match self.iter.next() {
                Some(item) => accumulator = f(accumulator, item),
                None => return accumulator,
            }
        }
        while let Some(item) = self.iter.nth(self.gap) {
            accumulator = f(accumulator, item);
        }
        accumulator
    }

    fn trusted_len(&self) -> usize {
        let len = self.iter.trusted_len();
        if self.is_first { len.div_ceil(self.step()) } else { len / self.step() }
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded + DeviceExactSize> StepBy<I> {
    /// The number of elements after the last one that the iterator returns.
    fn behind_last(&self) -> usize {
        let rest = self.iter.len() % self.step();
        if !self.is_first {
            rest
        } else if rest == 0 {
            self.gap
        } else {
            rest - 1
        }
    }
}

#[device(library)]
impl<I: DeviceDoubleEnded + DeviceExactSize> DeviceDoubleEnded for StepBy<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.iter.nth_back(self.behind_last())
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        let skipped = n.saturating_mul(self.step()).saturating_add(self.behind_last());
        self.iter.nth_back(skipped)
    }

    fn rfold<B, F: FnMut(B, I::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        match self.device_next_back() {
            Some(item) => accumulator = f(accumulator, item),
            None => return accumulator,
        }
        while let Some(item) = self.iter.nth_back(self.gap) {
            accumulator = f(accumulator, item);
        }
        accumulator
    }
}

#[device(library)]
impl<I: DeviceExactSize> DeviceExactSize for StepBy<I> {
    fn len(&self) -> usize {
        let len = self.iter.len();
        if self.is_first { len.div_ceil(self.step()) } else { len / self.step() }
    }
}
