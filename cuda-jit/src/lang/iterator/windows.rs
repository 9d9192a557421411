//! Iterators over parts of slices of one length: `chunks_exact` and `windows`.
//!
//! # Safety
//!
//! `front <= back <= slice.len()` and `back - front` is a multiple of `size` for the chunks; [`ChunksExactMut`] returns
//! each element at most once. For [`Windows`], `front <= back`, and `back - 1 + size <= slice.len()` if `front < back`.

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;
use crate::device::library::extend_mut;
use crate::harvest::DeviceType;
use crate::lang::structs::device_struct;

/// Non-overlapping chunks of a slice, all of the same length.
#[derive(Debug)]
pub struct ChunksExact<'a, T> {
    slice: &'a [T],
    size: usize,
    front: usize,
    back: usize,
}
device_struct!(ChunksExact ['a, T] ['a, T: DeviceType] { slice: &'a [T], size: usize, front: usize, back: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> ChunksExact<'a, T> {
    /// The chunks of a slice.
    #[track_caller]
    pub(super) fn new(slice: &'a [T], size: usize) -> Self {
        assert!(size != 0, "chunk size must be non-zero");
        let back = slice.len() - slice.len() % size;
        ChunksExact { slice, size, front: 0, back }
    }

    /// The elements behind the last chunk.
    pub fn remainder(&self) -> &'a [T] {
        let at = self.slice.len() - self.slice.len() % self.size;
        // SAFETY: `at <= slice.len()`.
        &self.slice[at..self.slice.len()]
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIterator for ChunksExact<'a, T> {
    type Item = &'a [T];

    fn next(&mut self) -> Option<&'a [T]> {
        if self.front < self.back {
            let at = self.front;
            let end = at + self.size;
            self.front = end;
            Some(&self.slice[at..end])
        } else {
            None
        }
    }

    fn advance(&mut self, n: usize) -> usize {
        let len = self.len();
        if n < len {
            self.front += n * self.size;
            0
        } else {
            self.front = self.back;
            n - len
        }
    }

    fn nth(&mut self, n: usize) -> Option<&'a [T]> {
        self.advance(n);
        self.next()
    }

    fn count(self) -> usize {
        self.len()
    }

    fn last(mut self) -> Option<&'a [T]> {
        self.next_back()
    }

    fn has_trusted_len() -> bool {
        true
    }

    fn trusted_len(&self) -> usize {
        self.len()
    }

    fn has_next(&self) -> bool {
        self.front < self.back
    }

    fn is_random_access() -> bool {
        true
    }

    fn is_fused() -> bool {
        true
    }

    fn is_pure() -> bool {
        true
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceDoubleEnded for ChunksExact<'a, T> {
    fn next_back(&mut self) -> Option<&'a [T]> {
        if self.front < self.back {
            let end = self.back;
            let at = end - self.size;
            self.back = at;
            Some(&self.slice[at..end])
        } else {
            None
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.len();
        if n < len {
            self.back -= n * self.size;
            0
        } else {
            self.back = self.front;
            n - len
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<&'a [T]> {
        self.advance_back(n);
        self.next_back()
    }
}

#[device(library, unchecked)]
impl<T: DeviceType> DeviceExactSize for ChunksExact<'_, T> {
    fn len(&self) -> usize {
        (self.back - self.front) / self.size
    }
}

/// Non-overlapping mutable chunks of a slice, all of the same length.
#[derive(Debug)]
pub struct ChunksExactMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
    front: usize,
    back: usize,
}
device_struct!(ChunksExactMut ['a, T] ['a, T: DeviceType] { slice: &'a mut [T], size: usize, front: usize, back: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> ChunksExactMut<'a, T> {
    /// The chunks of a slice.
    #[track_caller]
    pub(super) fn new(slice: &'a mut [T], size: usize) -> Self {
        assert!(size != 0, "chunk size must be non-zero");
        let back = slice.len() - slice.len() % size;
        ChunksExactMut { slice, size, front: 0, back }
    }

    /// The elements behind the last chunk.
    pub fn into_remainder(self) -> &'a mut [T] {
        let at = self.slice.len() - self.slice.len() % self.size;
        let end = self.slice.len();
        // SAFETY: `at <= end <= slice.len()`, and the iterator, which no longer exists, returned other elements.
        unsafe { extend_mut(&mut self.slice[at..end]) }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIterator for ChunksExactMut<'a, T> {
    type Item = &'a mut [T];

    fn next(&mut self) -> Option<&'a mut [T]> {
        if self.front < self.back {
            let at = self.front;
            let end = at + self.size;
            self.front = end;
            // SAFETY: `at <= end <= slice.len()`, and no other call returns these elements.
            Some(unsafe { extend_mut(&mut self.slice[at..end]) })
        } else {
            None
        }
    }

    fn advance(&mut self, n: usize) -> usize {
        let len = self.len();
        if n < len {
            self.front += n * self.size;
            0
        } else {
            self.front = self.back;
            n - len
        }
    }

    fn nth(&mut self, n: usize) -> Option<&'a mut [T]> {
        self.advance(n);
        self.next()
    }

    fn count(self) -> usize {
        self.len()
    }

    fn last(mut self) -> Option<&'a mut [T]> {
        self.next_back()
    }

    fn has_trusted_len() -> bool {
        true
    }

    fn trusted_len(&self) -> usize {
        self.len()
    }

    fn has_next(&self) -> bool {
        self.front < self.back
    }

    fn is_random_access() -> bool {
        true
    }

    fn is_fused() -> bool {
        true
    }

    fn is_pure() -> bool {
        true
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceDoubleEnded for ChunksExactMut<'a, T> {
    fn next_back(&mut self) -> Option<&'a mut [T]> {
        if self.front < self.back {
            let end = self.back;
            let at = end - self.size;
            self.back = at;
            // SAFETY: `at <= end <= slice.len()`, and no other call returns these elements.
            Some(unsafe { extend_mut(&mut self.slice[at..end]) })
        } else {
            None
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.len();
        if n < len {
            self.back -= n * self.size;
            0
        } else {
            self.back = self.front;
            n - len
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<&'a mut [T]> {
        self.advance_back(n);
        self.next_back()
    }
}

#[device(library, unchecked)]
impl<T: DeviceType> DeviceExactSize for ChunksExactMut<'_, T> {
    fn len(&self) -> usize {
        (self.back - self.front) / self.size
    }
}

/// Overlapping parts of a slice.
#[derive(Debug)]
pub struct Windows<'a, T> {
    slice: &'a [T],
    size: usize,
    front: usize,
    /// The number of windows before the back.
    back: usize,
}
device_struct!(Windows ['a, T] ['a, T: DeviceType] { slice: &'a [T], size: usize, front: usize, back: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> Windows<'a, T> {
    /// The windows of a slice.
    #[track_caller]
    pub(super) fn new(slice: &'a [T], size: usize) -> Self {
        assert!(size != 0, "window size must be non-zero");
        let back = if slice.len() < size { 0 } else { slice.len() - size + 1 };
        Windows { slice, size, front: 0, back }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIterator for Windows<'a, T> {
    type Item = &'a [T];

    fn next(&mut self) -> Option<&'a [T]> {
        if self.front < self.back {
            let at = self.front;
            self.front = at + 1;
            // SAFETY: `at < back`, so that `at + size <= slice.len()`.
            Some(&self.slice[at..at + self.size])
        } else {
            None
        }
    }

    fn advance(&mut self, n: usize) -> usize {
        let len = self.back - self.front;
        if n <= len {
            self.front += n;
            0
        } else {
            self.front = self.back;
            n - len
        }
    }

    fn nth(&mut self, n: usize) -> Option<&'a [T]> {
        if n < self.back - self.front {
            let at = self.front + n;
            self.front = at + 1;
            // SAFETY: `at < back`, so that `at + size <= slice.len()`.
            Some(&self.slice[at..at + self.size])
        } else {
            self.front = self.back;
            None
        }
    }

    fn count(self) -> usize {
        self.back - self.front
    }

    fn last(mut self) -> Option<&'a [T]> {
        self.next_back()
    }

    fn has_trusted_len() -> bool {
        true
    }

    fn trusted_len(&self) -> usize {
        self.back - self.front
    }

    fn has_next(&self) -> bool {
        self.front < self.back
    }

    fn is_random_access() -> bool {
        true
    }

    fn is_fused() -> bool {
        true
    }

    fn is_pure() -> bool {
        true
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceDoubleEnded for Windows<'a, T> {
    fn next_back(&mut self) -> Option<&'a [T]> {
        if self.front < self.back {
            let at = self.back - 1;
            self.back = at;
            // SAFETY: `at < back`, so that `at + size <= slice.len()`.
            Some(&self.slice[at..at + self.size])
        } else {
            None
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.back - self.front;
        if n <= len {
            self.back -= n;
            0
        } else {
            self.back = self.front;
            n - len
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<&'a [T]> {
        if n < self.back - self.front {
            let at = self.back - n - 1;
            self.back = at;
            // SAFETY: `at < back`, so that `at + size <= slice.len()`.
            Some(&self.slice[at..at + self.size])
        } else {
            self.back = self.front;
            None
        }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceExactSize for Windows<'a, T> {
    fn len(&self) -> usize {
        self.back - self.front
    }
}
