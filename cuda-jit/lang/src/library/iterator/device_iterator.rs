//! The trait of iterators: `next`, the methods that an iterator may override with faster ones of the same side effects,
//! adaptors and consumers.

use std::cmp::Ordering;

use super::calls::DeviceCalls;
use super::{
    Attempt, Chain, Copied, Cycle, DeviceDoubleEnded, DeviceExactSize, DeviceIntoIterator, DeviceProduct, DeviceSum,
    Enumerate, Filter, FilterMap, Flatten, Fuse, Inspect, Map, MapWhile, Peekable, Referent, Rev, Scan, Skip,
    SkipWhile, StepBy, Take, TakeWhile, Zip,
};
use crate::device;
use crate::device::library::{comes_after, duplicate};
use crate::typeinfo::DeviceType;

/// An iterator.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[diagnostic::on_unimplemented(
    message = "kernels do not iterate over a `{Self}`",
    label = "this is not an iterator that kernels support",
    note = "iterators in kernels are those of the standard library's methods, and types with a `#[device] impl Iterator`"
)]
#[device(library)]
pub trait DeviceIterator: Sized + DeviceType {
    /// The type of the elements.
    type Item: DeviceType;
    /// True if std relies on the iterator's length (`TrustedLen`).
    const HAS_TRUSTED_LEN: bool = false;
    /// True if std accesses the elements by index (`TrustedRandomAccess`).
    const IS_RANDOM_ACCESS: bool = false;
    /// True if [`next_known`](Self::next_known) costs less than `next`.
    const IS_COUNTED: bool = false;
    /// True if std assumes that `next` returns `None` after its first `None` (`FusedIterator`).
    const IS_FUSED: bool = false;
    /// True if advancing the iterator has no side effects outside the iterator itself.
    const IS_PURE: bool = false;

    /// Advances the iterator and returns the next element.
    fn next(&mut self) -> Option<Self::Item>;

    /// The next element of an iterator that is not at its end.
    fn next_known(&mut self) -> Self::Item {
        match self.next() {
            Some(item) => item,
            None => unreachable!("an iterator has fewer elements than it says"),
        }
    }

    /// Advances the iterator by up to `n` elements, and returns the number of missing elements.
    fn advance(&mut self, n: usize) -> usize {
        let mut left = n;
        while left > 0 {
            if self.next().is_none() {
                return left;
            }
            left -= 1;
        }
        0
    }

    /// Returns the element after the next `n`.
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let mut left = n;
        while left > 0 {
            if self.next().is_none() {
                return None;
            }
            left -= 1;
        }
        self.next()
    }

    /// Advances an iterator within `step_by`, which returns the first element and then skips `gap` before each other.
    ///
    /// An iterator without side effects may skip the elements after each element instead, and leave `is_first` set.
    fn next_step(&mut self, gap: usize, is_first: &mut bool) -> Option<Self::Item> {
        let skipped = if *is_first { 0 } else { gap };
        *is_first = false;
        self.nth(skipped)
    }

    /// Folds every element into an accumulator.
    fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut accumulator = init;
        while let Some(item) = self.next() {
            accumulator = f(accumulator, item);
        }
        accumulator
    }

    /// Returns the number of remaining elements, and consumes them.
    fn count(self) -> usize {
        self.fold(0, |count, _| count + 1)
    }

    /// Returns the last element, and consumes all others.
    fn last(self) -> Option<Self::Item> {
        self.fold(None, |_, item| Some(item))
    }

    /// The number of remaining elements, if the iterator [has a trusted length](Self::HAS_TRUSTED_LEN); `usize::MAX` if
    /// there is no end.
    fn trusted_len(&self) -> usize {
        usize::MAX
    }

    /// Returns true if an element remains, of an iterator that [has a trusted length](Self::HAS_TRUSTED_LEN).
    fn has_next(&self) -> bool {
        self.trusted_len() > 0
    }

    /// Borrows the iterator, so that an adaptor leaves the rest of it to the caller.
    fn by_ref(&mut self) -> &mut Self {
        self
    }

    /// The elements of this iterator and then those of another.
    fn chain<U: DeviceIntoIterator<Item = Self::Item>>(self, other: U) -> Chain<Self, U::IntoIter> {
        Chain { a: Some(self), b: Some(other.into_iter()) }
    }

    /// Copies each element behind its reference: on the device, cloning is copying.
    fn cloned(self) -> Copied<Self>
    where
        Self::Item: Referent,
    {
        Copied { iter: self }
    }

    /// Copies each element behind its reference.
    fn copied(self) -> Copied<Self>
    where
        Self::Item: Referent,
    {
        Copied { iter: self }
    }

    /// The elements, repeated endlessly.
    fn cycle(self) -> Cycle<Self> {
        Cycle { all: duplicate(&self), iter: self }
    }

    /// Pairs each element with its index.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate { iter: self, index: 0 }
    }

    /// Keeps the elements that satisfy a predicate.
    fn filter<P: FnMut(&Self::Item) -> bool>(self, predicate: P) -> Filter<Self, P> {
        Filter { iter: self, predicate }
    }

    /// Applies a closure to each element and keeps the values that it returns in `Some`.
    fn filter_map<B: DeviceType, F: FnMut(Self::Item) -> Option<B>>(self, f: F) -> FilterMap<Self, F> {
        FilterMap { iter: self, f }
    }

    /// The elements of the iterators that a closure returns for the elements.
    fn flat_map<U: DeviceIntoIterator, F: FnMut(Self::Item) -> U>(self, f: F) -> Flatten<Map<Self, F>, U::IntoIter> {
        Flatten { iter: Fuse { iter: Some(Map { iter: self, f }) }, front: None, back: None }
    }

    /// The elements of the nested iterators.
    fn flatten(self) -> Flatten<Self, <Self::Item as DeviceIntoIterator>::IntoIter>
    where
        Self::Item: DeviceIntoIterator,
    {
        Flatten { iter: Fuse { iter: Some(self) }, front: None, back: None }
    }

    /// Ends the iterator with its first `None`.
    fn fuse(self) -> Fuse<Self> {
        Fuse { iter: Some(self) }
    }

    /// Calls a closure with a reference to each element.
    fn inspect<F: FnMut(&Self::Item)>(self, f: F) -> Inspect<Self, F> {
        Inspect { iter: self, f }
    }

    /// Applies a closure to each element.
    fn map<B: DeviceType, F: FnMut(Self::Item) -> B>(self, f: F) -> Map<Self, F> {
        Map { iter: self, f }
    }

    /// Applies a closure to each element until it returns `None`.
    fn map_while<B: DeviceType, F: FnMut(Self::Item) -> Option<B>>(self, f: F) -> MapWhile<Self, F> {
        MapWhile { iter: self, f }
    }

    /// Allows peeking at the next element without advancing.
    fn peekable(self) -> Peekable<Self> {
        Peekable { iter: self, peeked: None }
    }

    /// Reverses the direction.
    fn rev(self) -> Rev<Self>
    where
        Self: DeviceDoubleEnded,
    {
        Rev { iter: self }
    }

    /// Applies a closure to a state and each element until it returns `None`.
    fn scan<S: DeviceType, B: DeviceType, F: FnMut(&mut S, Self::Item) -> Option<B>>(
        self,
        state: S,
        f: F,
    ) -> Scan<Self, S, F> {
        Scan { iter: self, state, f }
    }

    /// Skips the first `n` elements.
    fn skip(self, n: usize) -> Skip<Self> {
        Skip { iter: self, n }
    }

    /// Skips the elements before the first that does not satisfy a predicate.
    fn skip_while<P: FnMut(&Self::Item) -> bool>(self, predicate: P) -> SkipWhile<Self, P> {
        SkipWhile { iter: self, predicate, has_begun: false }
    }

    /// Every `step`-th element, from the first.
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        assert!(step != 0);
        StepBy { iter: self, gap: step - 1, is_first: true }
    }

    /// The first `n` elements.
    fn take(self, n: usize) -> Take<Self> {
        Take { iter: self, left: n }
    }

    /// The elements before the first that does not satisfy a predicate.
    fn take_while<P: FnMut(&Self::Item) -> bool>(self, predicate: P) -> TakeWhile<Self, P> {
        TakeWhile { iter: self, predicate, has_ended: false }
    }

    /// Pairs the elements with those of another iterator.
    fn zip<U: DeviceIntoIterator>(self, other: U) -> Zip<Self, U::IntoIter> {
        Zip { a: self, b: other.into_iter() }
    }

    /// Returns true if all elements satisfy a predicate.
    fn all<P: FnMut(Self::Item) -> bool>(&mut self, mut predicate: P) -> bool {
        while let Some(item) = self.next() {
            if !predicate(item) {
                return false;
            }
        }
        true
    }

    /// Returns true if any element satisfies a predicate.
    fn any<P: FnMut(Self::Item) -> bool>(&mut self, mut predicate: P) -> bool {
        while let Some(item) = self.next() {
            if predicate(item) {
                return true;
            }
        }
        false
    }

    /// Returns the first element that satisfies a predicate.
    fn find<P: FnMut(&Self::Item) -> bool>(&mut self, mut predicate: P) -> Option<Self::Item> {
        while let Some(item) = self.next() {
            if predicate(&item) {
                return Some(item);
            }
        }
        None
    }

    /// Returns the first `Some` that a closure returns for an element.
    fn find_map<B, F: FnMut(Self::Item) -> Option<B>>(&mut self, mut f: F) -> Option<B> {
        while let Some(item) = self.next() {
            let mapped = f(item);
            if mapped.is_some() {
                return mapped;
            }
        }
        None
    }

    /// Returns the index of the first element that satisfies a predicate.
    fn position<P: FnMut(Self::Item) -> bool>(&mut self, mut predicate: P) -> Option<usize> {
        let mut index = 0;
        while let Some(item) = self.next() {
            if predicate(item) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// Returns the last element that satisfies a predicate.
    fn rfind<P: FnMut(&Self::Item) -> bool>(&mut self, mut predicate: P) -> Option<Self::Item>
    where
        Self: DeviceDoubleEnded,
    {
        while let Some(item) = self.next_back() {
            if predicate(&item) {
                return Some(item);
            }
        }
        None
    }

    /// Returns the index of the last element that satisfies a predicate.
    fn rposition<P: FnMut(Self::Item) -> bool>(&mut self, mut predicate: P) -> Option<usize>
    where
        Self: DeviceDoubleEnded + DeviceExactSize,
    {
        let mut index = self.len();
        while let Some(item) = self.next_back() {
            index -= 1;
            if predicate(item) {
                return Some(index);
            }
        }
        None
    }

    /// Folds the elements into an accumulator until a closure fails.
    fn try_fold<B, R: Attempt<Output = B>, F: FnMut(B, Self::Item) -> R>(&mut self, init: B, mut f: F) -> R {
        let mut accumulator = init;
        while let Some(item) = self.next() {
            match f(accumulator, item).outcome() {
                Ok(next) => accumulator = next,
                Err(failed) => return failed,
            }
        }
        R::succeeded(accumulator)
    }

    /// Calls a closure with each element until it fails.
    fn try_for_each<R: Attempt<Output = ()>, F: FnMut(Self::Item) -> R>(&mut self, mut f: F) -> R {
        self.try_fold((), |_, item| f(item))
    }

    /// Calls a closure with each element.
    fn for_each<F: FnMut(Self::Item)>(self, mut f: F) {
        self.fold((), |_, item| f(item))
    }

    /// Folds the elements into the first of them.
    fn reduce<F: FnMut(Self::Item, Self::Item) -> Self::Item>(mut self, f: F) -> Option<Self::Item> {
        let first = match self.next() {
            Some(first) => first,
            None => return None,
        };
        Some(self.fold(first, f))
    }

    /// Adds the elements.
    fn sum<S: DeviceSum<Self::Item>>(self) -> S {
        S::sum(self)
    }

    /// Multiplies the elements.
    fn product<P: DeviceProduct<Self::Item>>(self) -> P {
        P::product(self)
    }

    /// Returns the largest element, the last of several.
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce(|x, y| if comes_after(&x, &y) { x } else { y })
    }

    /// Returns the largest element by a comparison, the last of several.
    fn max_by<F: FnMut(&Self::Item, &Self::Item) -> Ordering>(self, mut compare: F) -> Option<Self::Item> {
        self.reduce(|x, y| if compare(&x, &y) == Ordering::Greater { x } else { y })
    }

    /// Returns the element with the largest key, the last of several.
    fn max_by_key<K: Ord + DeviceType, F: FnMut(&Self::Item) -> K>(self, mut key: F) -> Option<Self::Item> {
        let keyed = self.map(|item| (key(&item), item));
        keyed.device_reduce(|x, y| if comes_after(&x.0, &y.0) { x } else { y }).map(|(_, item)| item)
    }

    /// Returns the smallest element, the first of several.
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce(|x, y| if comes_after(&x, &y) { y } else { x })
    }

    /// Returns the smallest element by a comparison, the first of several.
    fn min_by<F: FnMut(&Self::Item, &Self::Item) -> Ordering>(self, mut compare: F) -> Option<Self::Item> {
        self.reduce(|x, y| if compare(&x, &y) == Ordering::Greater { y } else { x })
    }

    /// Returns the element with the smallest key, the first of several.
    fn min_by_key<K: Ord + DeviceType, F: FnMut(&Self::Item) -> K>(self, mut key: F) -> Option<Self::Item> {
        let keyed = self.map(|item| (key(&item), item));
        keyed.device_reduce(|x, y| if comes_after(&x.0, &y.0) { y } else { x }).map(|(_, item)| item)
    }

    /// Returns true if no element is greater than its successor.
    fn is_sorted(self) -> bool
    where
        Self::Item: PartialOrd,
    {
        self.is_sorted_by(|x, y| x <= y)
    }

    /// Returns true if a comparison holds for each element and its successor.
    fn is_sorted_by<F: FnMut(&Self::Item, &Self::Item) -> bool>(mut self, mut compare: F) -> bool {
        let mut previous = match self.next() {
            Some(item) => item,
            None => return true,
        };
        while let Some(item) = self.next() {
            if !compare(&previous, &item) {
                return false;
            }
            previous = item;
        }
        true
    }

    /// Returns true if no element has a greater key than its successor.
    fn is_sorted_by_key<K: PartialOrd + DeviceType, F: FnMut(Self::Item) -> K>(self, f: F) -> bool {
        self.map(f).device_is_sorted()
    }

    /// Returns true if the elements are equal to those of another iterator.
    fn eq<U: DeviceIntoIterator>(mut self, other: U) -> bool
    where
        Self::Item: PartialEq<U::Item>,
    {
        let mut other = other.into_iter();
        // Like std, this compares the lengths first if both are known.
        let lengths_known = Self::HAS_TRUSTED_LEN && U::IntoIter::HAS_TRUSTED_LEN;
        if lengths_known && self.trusted_len() != other.trusted_len() {
            return false;
        }
        while let Some(x) = self.next() {
            match other.next() {
                Some(y) => {
                    if x != y {
                        return false;
                    }
                }
                None => return false,
            }
        }
        other.next().is_none()
    }

    /// Returns true if the elements are not equal to those of another iterator.
    fn ne<U: DeviceIntoIterator>(self, other: U) -> bool
    where
        Self::Item: PartialEq<U::Item>,
    {
        !self.eq(other)
    }

    /// Compares the elements with those of another iterator, as the elements of slices are.
    fn partial_cmp<U: DeviceIntoIterator>(mut self, other: U) -> Option<Ordering>
    where
        Self::Item: PartialOrd<U::Item>,
    {
        let mut other = other.into_iter();
        while let Some(x) = self.next() {
            match other.next() {
                Some(y) => {
                    // each comparison uses `partial_cmp`, whatever `==` may be
                    if x < y {
                        return Some(Ordering::Less);
                    }
                    if x > y {
                        return Some(Ordering::Greater);
                    }
                    if !(x <= y) {
                        return None;
                    }
                }
                None => return Some(Ordering::Greater),
            }
        }
        if other.next().is_none() { Some(Ordering::Equal) } else { Some(Ordering::Less) }
    }

    /// Compares the elements with those of another iterator by `Ord`.
    fn cmp<U: DeviceIntoIterator<Item = Self::Item>>(mut self, other: U) -> Ordering
    where
        Self::Item: Ord,
    {
        let mut other = other.into_iter();
        while let Some(x) = self.next() {
            match other.next() {
                Some(y) => {
                    if comes_after(&x, &y) {
                        return Ordering::Greater;
                    }
                    if comes_after(&y, &x) {
                        return Ordering::Less;
                    }
                }
                None => return Ordering::Greater,
            }
        }
        if other.next().is_none() { Ordering::Equal } else { Ordering::Less }
    }

    /// Returns true if the elements come before those of another iterator.
    fn lt<U: DeviceIntoIterator>(self, other: U) -> bool
    where
        Self::Item: PartialOrd<U::Item>,
    {
        self.partial_cmp(other).is_some_and(|order| order == Ordering::Less)
    }

    /// Returns true if the elements come before those of another iterator, or are equal.
    fn le<U: DeviceIntoIterator>(self, other: U) -> bool
    where
        Self::Item: PartialOrd<U::Item>,
    {
        self.partial_cmp(other).is_some_and(|order| order != Ordering::Greater)
    }

    /// Returns true if the elements come after those of another iterator.
    fn gt<U: DeviceIntoIterator>(self, other: U) -> bool
    where
        Self::Item: PartialOrd<U::Item>,
    {
        self.partial_cmp(other).is_some_and(|order| order == Ordering::Greater)
    }

    /// Returns true if the elements come after those of another iterator, or are equal.
    fn ge<U: DeviceIntoIterator>(self, other: U) -> bool
    where
        Self::Item: PartialOrd<U::Item>,
    {
        self.partial_cmp(other).is_some_and(|order| order != Ordering::Less)
    }
}
