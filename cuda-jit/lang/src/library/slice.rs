//! Slices and arrays.
//!
//! Sorting is a heap sort: in place, without recursion, and with the same few loops for any number of elements. The
//! elements stay in registers only if they are so few that LLVM unrolls the loops.
//!
//! # Safety
//!
//! The unsafe code extends the lifetime of a subslice to that of the slice, beside another subslice that does not overlap
//! it, and creates an array whose elements are all written before any is read. The `DeviceFn` implementation describes the
//! operation here to the compiler.

use std::cmp::Ordering;

use crate::device;
use crate::device::library::{comes_after, duplicate, extend_mut, uninit_array};
use crate::library::iterator::Bounds;
use crate::typeinfo::operation::unconstrained_operations;
use crate::typeinfo::{Callee, Operation, Returned};

unconstrained_operations! {
    /// `len`
    pub len[T](&[T]) -> usize => Operation::Len;
}

/// The method of slices that the compiler lowers itself.
///
/// Nothing unsafe relies on an implementation.
pub trait SliceLength<T> {
    cuda_jit_macros::device_methods! {
        fn len(&self) -> usize = len<T>;
    }
}

impl<T> SliceLength<T> for [T] {}

/// The methods of slices. They index only within bounds that they have checked, except for the unchecked ones, whose
/// callers guarantee the bounds.
#[device(extension, unchecked)]
impl<T> SliceMethods<T> for [T] {
    /// `is_empty`
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `first`
    fn first(&self) -> Option<&T> {
        if self.len() == 0 { None } else { Some(&self[0]) }
    }

    /// `first_mut`
    fn first_mut(&mut self) -> Option<&mut T> {
        if self.len() == 0 { None } else { Some(&mut self[0]) }
    }

    /// `last`
    fn last(&self) -> Option<&T> {
        let len = self.len();
        if len == 0 { None } else { Some(&self[len - 1]) }
    }

    /// `last_mut`
    fn last_mut(&mut self) -> Option<&mut T> {
        let len = self.len();
        if len == 0 { None } else { Some(&mut self[len - 1]) }
    }

    /// `get_unchecked`
    fn get_unchecked(&self, index: usize) -> &T {
        &self[index]
    }

    /// `get_unchecked_mut`
    fn get_unchecked_mut(&mut self, index: usize) -> &mut T {
        &mut self[index]
    }

    /// `split_at`
    #[track_caller]
    fn split_at(&self, mid: usize) -> (&[T], &[T]) {
        let len = self.len();
        assert!(mid <= len, "mid > len: {mid} > {len}");
        (&self[..mid], &self[mid..])
    }

    /// `split_at_mut`
    #[track_caller]
    fn split_at_mut(&mut self, mid: usize) -> (&mut [T], &mut [T]) {
        let len = self.len();
        assert!(mid <= len, "mid > len: {mid} > {len}");
        // SAFETY: the two subslices do not overlap, since the other begins where this one ends, and both live as long as
        // `self`.
        let left = unsafe { extend_mut(&mut self[..mid]) };
        (left, &mut self[mid..])
    }

    /// `split_at_checked`
    fn split_at_checked(&self, mid: usize) -> Option<(&[T], &[T])> {
        if mid <= self.len() { Some((&self[..mid], &self[mid..])) } else { None }
    }

    /// `split_at_mut_checked`
    fn split_at_mut_checked(&mut self, mid: usize) -> Option<(&mut [T], &mut [T])> {
        if mid <= self.len() { Some(self.split_at_mut(mid)) } else { None }
    }

    /// `split_first`
    fn split_first(&self) -> Option<(&T, &[T])> {
        if self.len() == 0 { None } else { Some((&self[0], &self[1..])) }
    }

    /// `split_first_mut`
    fn split_first_mut(&mut self) -> Option<(&mut T, &mut [T])> {
        if self.len() == 0 {
            return None;
        }
        // SAFETY: the rest begins after this element, so that the two do not overlap, and both live as long as `self`.
        let first = unsafe { extend_mut(&mut self[0]) };
        Some((first, &mut self[1..]))
    }

    /// `split_last`
    fn split_last(&self) -> Option<(&T, &[T])> {
        let len = self.len();
        if len == 0 { None } else { Some((&self[len - 1], &self[..len - 1])) }
    }

    /// `split_last_mut`
    fn split_last_mut(&mut self) -> Option<(&mut T, &mut [T])> {
        let len = self.len();
        if len == 0 {
            return None;
        }
        // SAFETY: the rest ends before this element, so that the two do not overlap, and both live as long as `self`.
        let last = unsafe { extend_mut(&mut self[len - 1]) };
        Some((last, &mut self[..len - 1]))
    }

    /// `contains`
    fn contains(&self, wanted: &T) -> bool
    where
        T: PartialEq,
    {
        for item in self {
            if *item == *wanted {
                return true;
            }
        }
        false
    }

    /// `starts_with`
    fn starts_with(&self, part: &[T]) -> bool
    where
        T: PartialEq,
    {
        let len = part.len();
        self.len() >= len && part == &self[..len]
    }

    /// `ends_with`
    fn ends_with(&self, part: &[T]) -> bool
    where
        T: PartialEq,
    {
        let (own, len) = (self.len(), part.len());
        own >= len && part == &self[own - len..]
    }

    /// `strip_prefix`
    fn strip_prefix(&self, part: &[T]) -> Option<&[T]>
    where
        T: PartialEq,
    {
        if self.starts_with(part) { Some(&self[part.len()..]) } else { None }
    }

    /// `strip_suffix`
    fn strip_suffix(&self, part: &[T]) -> Option<&[T]>
    where
        T: PartialEq,
    {
        if self.ends_with(part) { Some(&self[..self.len() - part.len()]) } else { None }
    }

    /// `is_sorted`
    fn is_sorted(&self) -> bool
    where
        T: PartialOrd,
    {
        for next in 1..self.len() {
            if !(self[next - 1] <= self[next]) {
                return false;
            }
        }
        true
    }

    /// `is_sorted_by`
    fn is_sorted_by<F: FnMut(&T, &T) -> bool>(&self, mut f: F) -> bool {
        for next in 1..self.len() {
            if !f(&self[next - 1], &self[next]) {
                return false;
            }
        }
        true
    }

    /// `is_sorted_by_key`
    fn is_sorted_by_key<F: FnMut(&T) -> K, K: PartialOrd>(&self, f: F) -> bool {
        self.iter().is_sorted_by_key(f)
    }

    /// `partition_point`
    fn partition_point<P: FnMut(&T) -> bool>(&self, mut test: P) -> usize {
        let (mut base, mut size) = (0, self.len());
        while size > 0 {
            // the last iteration halves the size to zero and tests the remaining element
            let middle = base + size / 2;
            let holds = test(&self[middle]);
            if size == 1 {
                return base + holds as usize;
            }
            if holds {
                base = middle;
            }
            size -= size / 2;
        }
        0
    }

    /// `binary_search_by`
    fn binary_search_by<F: FnMut(&T) -> Ordering>(&self, mut f: F) -> Result<usize, usize> {
        let (mut base, mut size) = (0, self.len());
        while size > 0 {
            let middle = base + size / 2;
            let order = f(&self[middle]);
            if size == 1 {
                return if order == Ordering::Equal {
                    Ok(base)
                } else {
                    Err(base + (order == Ordering::Less) as usize)
                };
            }
            if order != Ordering::Greater {
                base = middle;
            }
            size -= size / 2;
        }
        Err(0)
    }

    /// `binary_search`
    fn binary_search(&self, wanted: &T) -> Result<usize, usize>
    where
        T: Ord,
    {
        self.binary_search_by(|item| {
            if comes_after(item, wanted) {
                Ordering::Greater
            } else if comes_after(wanted, item) {
                Ordering::Less
            } else {
                Ordering::Equal
            }
        })
    }

    /// `binary_search_by_key`
    fn binary_search_by_key<B: Ord, F: FnMut(&T) -> B>(&self, wanted: &B, mut f: F) -> Result<usize, usize> {
        self.binary_search_by(|item| {
            let key = f(item);
            if comes_after(&key, wanted) {
                Ordering::Greater
            } else if comes_after(wanted, &key) {
                Ordering::Less
            } else {
                Ordering::Equal
            }
        })
    }

    /// `copy_within`
    #[track_caller]
    fn copy_within<R: Bounds>(&mut self, from: R, to: usize)
    where
        T: Copy,
    {
        let len = self.len();
        let (start, end) = from.bounds(len);
        let count = end - start;
        assert!(to <= len - count, "dest is out of bounds");
        if to <= start {
            for index in 0..count {
                self[to + index] = self[start + index];
            }
        } else {
            for index in 0..count {
                self[to + count - 1 - index] = self[end - 1 - index];
            }
        }
    }

    /// `copy_from_slice`
    #[track_caller]
    fn copy_from_slice(&mut self, from: &[T])
    where
        T: Copy,
    {
        let (len, others) = (self.len(), from.len());
        assert!(
            len == others,
            "copy_from_slice: source slice length ({others}) does not match destination slice length ({len})"
        );
        for index in 0..len {
            self[index] = from[index];
        }
    }

    /// `clone_from_slice`
    #[track_caller]
    fn clone_from_slice(&mut self, from: &[T])
    where
        T: Clone,
    {
        assert!(self.len() == from.len(), "destination and source slices have different lengths");
        for index in 0..self.len() {
            self[index] = duplicate(&from[index]);
        }
    }

    /// `swap_with_slice`
    #[track_caller]
    fn swap_with_slice(&mut self, other: &mut [T]) {
        assert!(self.len() == other.len(), "destination and source slices have different lengths");
        for index in 0..self.len() {
            let own = duplicate(&self[index]);
            self[index] = duplicate(&other[index]);
            other[index] = own;
        }
    }

    /// `fill`
    fn fill(&mut self, value: T)
    where
        T: Clone,
    {
        for index in 0..self.len() {
            self[index] = duplicate(&value);
        }
    }

    /// `fill_with`
    fn fill_with<F: FnMut() -> T>(&mut self, mut f: F) {
        for index in 0..self.len() {
            self[index] = f();
        }
    }

    /// Writes an element, which is in bounds.
    fn store(&mut self, index: usize, value: T) {
        self[index] = value;
    }

    /// Swaps two elements, which are in bounds.
    fn exchange(&mut self, a: usize, b: usize) {
        let first = duplicate(&self[a]);
        self[a] = duplicate(&self[b]);
        self[b] = first;
    }

    /// `reverse`
    fn reverse(&mut self) {
        let len = self.len();
        for index in 0..len / 2 {
            self.exchange(index, len - 1 - index);
        }
    }

    /// Rotates a slice so that the element at `middle` becomes the first.
    fn turn(&mut self, middle: usize) {
        self[..middle].reverse();
        self[middle..].reverse();
        self.reverse();
    }

    /// `rotate_left`
    #[track_caller]
    fn rotate_left(&mut self, by: usize) {
        let len = self.len();
        assert!(by <= len, "a slice of length {len} cannot be rotated by {by}");
        self.turn(by);
    }

    /// `rotate_right`
    #[track_caller]
    fn rotate_right(&mut self, by: usize) {
        let len = self.len();
        assert!(by <= len, "a slice of length {len} cannot be rotated by {by}");
        self.turn(len - by);
    }

    /// Sorts by a predicate that returns true if an element comes before another.
    ///
    /// One loop builds the heap, from the last node with children to the root, and then repeatedly swaps the largest
    /// element to the end; both sift one element down.
    fn sort_by_less<F: FnMut(&T, &T) -> bool>(&mut self, mut less: F) {
        let len = self.len();
        let mut turn = len + len / 2;
        while turn > 0 {
            turn -= 1;
            let (mut node, mut end) = (0, turn);
            if turn < len {
                self.exchange(0, turn);
            } else {
                node = turn - len;
                end = len;
            }
            while 2 * node + 1 < end {
                let mut child = 2 * node + 1;
                if child + 1 < end && less(&self[child], &self[child + 1]) {
                    child += 1;
                }
                if !less(&self[node], &self[child]) {
                    break;
                }
                self.exchange(node, child);
                node = child;
            }
        }
    }

    /// Moves the elements of a part so that the one at `index` is where sorting would put it, none before it comes after it, and
    /// none after it before: partitions by the median of three elements, and sorts the part if that does not make it
    /// small soon.
    fn select_by_less<F: FnMut(&T, &T) -> bool>(&mut self, index: usize, mut less: F) {
        let (mut start, mut end) = (0, self.len());
        let mut left = 2 * (usize::BITS - end.leading_zeros());
        while end - start > 8 && left > 0 {
            left -= 1;
            self.middle_first(start, end, |a, b| less(a, b));
            // the pivot is at `start`; the elements before `low` do not come after it, those from `high` not before it
            let (mut low, mut high) = (start + 1, end);
            while low < high {
                if less(&self[low], &self[start]) {
                    low += 1;
                } else if less(&self[start], &self[high - 1]) {
                    high -= 1;
                } else {
                    self.exchange(low, high - 1);
                    low += 1;
                    // two equal elements in the middle may have met
                    if low < high {
                        high -= 1;
                    }
                }
            }
            let pivot = low - 1;
            self.exchange(start, pivot);
            if index == pivot {
                return;
            }
            if index < pivot {
                end = pivot;
            } else {
                start = pivot + 1;
            }
        }
        let part: &mut [T] = &mut self[start..end];
        part.sort_by_less(|a, b| less(a, b));
    }

    /// Exchanges the first element of a part with the median of its first, middle and last element.
    fn middle_first<F: FnMut(&T, &T) -> bool>(&mut self, start: usize, end: usize, mut less: F) {
        let (middle, last) = (start + (end - start) / 2, end - 1);
        if less(&self[middle], &self[start]) {
            self.exchange(start, middle);
        }
        // now the first does not come after the middle one: the median is the larger of the first and the lesser of the others
        if less(&self[last], &self[middle]) {
            self.exchange(middle, last);
        }
        if less(&self[start], &self[middle]) {
            self.exchange(start, middle);
        }
    }

    /// The elements before one of them, that element, and those after it.
    fn around(&mut self, index: usize) -> (&mut [T], &mut T, &mut [T]) {
        // SAFETY: the elements before `index` overlap neither that one nor the rest, and all live as long as `self`.
        let before = unsafe { extend_mut(&mut self[..index]) };
        // SAFETY: the rest begins after this element, and both live as long as `self`.
        let at = unsafe { extend_mut(&mut self[index]) };
        (before, at, &mut self[index + 1..])
    }

    /// `select_nth_unstable`
    #[track_caller]
    fn select_nth_unstable(&mut self, index: usize) -> (&mut [T], &mut T, &mut [T])
    where
        T: Ord,
    {
        let len = self.len();
        assert!(index < len, "partition_at_index index {index} greater than length of slice {len}");
        self.select_by_less(index, |a, b| *a < *b);
        self.around(index)
    }

    /// `select_nth_unstable_by`
    #[track_caller]
    fn select_nth_unstable_by<F: FnMut(&T, &T) -> Ordering>(
        &mut self,
        index: usize,
        mut f: F,
    ) -> (&mut [T], &mut T, &mut [T]) {
        let len = self.len();
        assert!(index < len, "partition_at_index index {index} greater than length of slice {len}");
        self.select_by_less(index, |a, b| f(a, b) == Ordering::Less);
        self.around(index)
    }

    /// `select_nth_unstable_by_key`
    #[track_caller]
    fn select_nth_unstable_by_key<K: Ord, F: FnMut(&T) -> K>(
        &mut self,
        index: usize,
        mut f: F,
    ) -> (&mut [T], &mut T, &mut [T]) {
        let len = self.len();
        assert!(index < len, "partition_at_index index {index} greater than length of slice {len}");
        self.select_by_less(index, |a, b| f(a) < f(b));
        self.around(index)
    }

    /// `sort_unstable`
    fn sort_unstable(&mut self)
    where
        T: Ord,
    {
        self.sort_by_less(|a, b| *a < *b);
    }

    /// `sort_unstable_by`
    fn sort_unstable_by<F: FnMut(&T, &T) -> Ordering>(&mut self, mut f: F) {
        self.sort_by_less(|a, b| f(a, b) == Ordering::Less);
    }

    /// `sort_unstable_by_key`
    fn sort_unstable_by_key<K: Ord, F: FnMut(&T) -> K>(&mut self, mut f: F) {
        self.sort_by_less(|a, b| f(a) < f(b));
    }
}

/// The methods of slices whose indices are checked as the caller's are: not in unchecked kernels.
#[device(extension)]
impl<T> SliceIndices<T> for [T] {
    /// `swap`
    #[track_caller]
    fn swap(&mut self, a: usize, b: usize) {
        let first = duplicate(&self[a]);
        let second = duplicate(&self[b]);
        self.store(a, second);
        self.store(b, first);
    }
}

/// The methods of slices of bytes.
#[device(extension, unchecked)]
impl ByteSliceMethods for [u8] {
    /// `is_ascii`
    fn is_ascii(&self) -> bool {
        let mut all = 0u8;
        for byte in self {
            all |= *byte;
        }
        all < 0x80
    }

    /// `eq_ignore_ascii_case`
    fn eq_ignore_ascii_case(&self, other: &[u8]) -> bool {
        let len = self.len();
        if len != other.len() {
            return false;
        }
        for index in 0..len {
            if !self[index].eq_ignore_ascii_case(&other[index]) {
                return false;
            }
        }
        true
    }

    /// `make_ascii_lowercase`
    fn make_ascii_lowercase(&mut self) {
        for byte in self {
            byte.make_ascii_lowercase();
        }
    }

    /// `make_ascii_uppercase`
    fn make_ascii_uppercase(&mut self) {
        for byte in self {
            byte.make_ascii_uppercase();
        }
    }

    /// `trim_ascii_start`
    fn trim_ascii_start(&self) -> &[u8] {
        let mut start = 0;
        while start < self.len() && self[start].is_ascii_whitespace() {
            start += 1;
        }
        &self[start..]
    }

    /// `trim_ascii_end`
    fn trim_ascii_end(&self) -> &[u8] {
        let mut end = self.len();
        while end > 0 && self[end - 1].is_ascii_whitespace() {
            end -= 1;
        }
        &self[..end]
    }

    /// `trim_ascii`
    fn trim_ascii(&self) -> &[u8] {
        self.trim_ascii_start().trim_ascii_end()
    }
}

/// The methods of arrays that slices do not have.
#[device(extension, unchecked)]
impl<T, const N: usize> ArrayMethods<T, N> for [T; N] {
    /// `map`
    fn map<U, F: FnMut(T) -> U>(self, mut f: F) -> [U; N] {
        // SAFETY: the loop below writes each element before the array is returned, and reads none.
        let mut made = unsafe { uninit_array::<[U; N]>() };
        for index in 0..N {
            made[index] = f(duplicate(&self[index]));
        }
        made
    }
}
