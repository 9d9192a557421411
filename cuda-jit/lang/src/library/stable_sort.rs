//! Stable sorting of slices.
//!
//! A merge sort in place, without recursion: insertion sort of short parts, then merges of neighbours by rotations, as
//! many times as the parts halve. It needs no memory but a stack of parts that are not merged yet.

use std::cmp::Ordering;

use crate::device;
use crate::device::library::duplicate;

/// The length of the parts that insertion sort makes.
const SHORT: usize = 8;
/// The most parts that wait for their merge: each is at most half as long as the one before, and a slice has less than 2^63
/// elements.
const WAITING: usize = 64;

/// The methods of slices that sort without changing the order of equal elements.
#[device(extension, unchecked)]
impl<T> StableSort<T> for [T] {
    /// Sorts by insertion.
    fn insertion_sort<F: FnMut(&T, &T) -> bool>(&mut self, mut less: F) {
        for end in 1..self.len() {
            let mut at = end;
            while at > 0 && less(&self[at], &self[at - 1]) {
                let moved = duplicate(&self[at]);
                self[at] = duplicate(&self[at - 1]);
                self[at - 1] = moved;
                at -= 1;
            }
        }
    }

    /// The number of elements before the first that does not satisfy a predicate.
    fn leading<P: FnMut(&T) -> bool>(&self, mut test: P) -> usize {
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = start + (end - start) / 2;
            if test(&self[middle]) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    /// Merges the sorted parts before and from `middle`: halves the longer one, moves what the other has before that element in
    /// front of it by a rotation, and goes on with both sides.
    fn merge<F: FnMut(&T, &T) -> bool>(&mut self, middle: usize, mut less: F) {
        let mut waiting = [(0, 0, 0); WAITING];
        waiting[0] = (0, middle, self.len());
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (start, middle, end) = waiting[count];
            if start == middle || middle == end || !less(&self[middle], &self[middle - 1]) {
                continue;
            }
            let (left, right) = if middle - start > end - middle {
                let left = start + (middle - start) / 2;
                let part: &[T] = &self[middle..end];
                (left, middle + part.leading(|v| less(v, &self[left])))
            } else {
                let right = middle + (end - middle) / 2;
                let part: &[T] = &self[start..middle];
                let left = start + part.leading(|v| !less(&self[right], v));
                // if none comes after it, that element and those behind it are in their places
                (left, if left == middle { right } else { right + 1 })
            };
            let moved: &mut [T] = &mut self[left..right];
            moved.rotate_left(middle - left);
            let middle = left + right - middle;
            let (first, second) = ((start, left, middle), (middle, right, end));
            // the shorter one is merged first
            let is_first_longer = middle - start > end - middle;
            waiting[count] = if is_first_longer { first } else { second };
            waiting[count + 1] = if is_first_longer { second } else { first };
            count += 2;
        }
    }

    /// Sorts by a function that returns true if an element is ordered before another one.
    fn stable_sort_by_less<F: FnMut(&T, &T) -> bool>(&mut self, mut less: F) {
        let len = self.len();
        let mut start = 0;
        while start < len {
            let end = if len - start < SHORT { len } else { start + SHORT };
            let part: &mut [T] = &mut self[start..end];
            part.insertion_sort(|a, b| less(a, b));
            start = end;
        }
        let mut width = SHORT;
        while width < len {
            let mut start = 0;
            while len - start > width {
                let end = if len - start < 2 * width { len } else { start + 2 * width };
                let part: &mut [T] = &mut self[start..end];
                part.merge(width, |a, b| less(a, b));
                start = end;
            }
            width *= 2;
        }
    }

    /// `sort`
    fn sort(&mut self)
    where
        T: Ord,
    {
        self.stable_sort_by_less(|a, b| *a < *b);
    }

    /// `sort_by`
    fn sort_by<F: FnMut(&T, &T) -> Ordering>(&mut self, mut f: F) {
        self.stable_sort_by_less(|a, b| f(a, b) == Ordering::Less);
    }

    /// `sort_by_key`
    fn sort_by_key<K: Ord, F: FnMut(&T) -> K>(&mut self, mut f: F) {
        self.stable_sort_by_less(|a, b| f(a) < f(b));
    }
}
