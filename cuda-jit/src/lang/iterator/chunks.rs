//! Iterators over chunks of slices whose last chunk may be shorter.
//!
//! # Safety
//!
//! `front <= back <= slice.len()` holds at all times. [`ChunksMut`] returns each element at most once.

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator};
use crate::device;
use crate::device::library::extend_mut;
use crate::harvest::DeviceType;
use crate::lang::structs::device_struct;

/// Non-overlapping chunks of a slice; the last one may be shorter.
#[derive(Debug)]
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
    front: usize,
    back: usize,
}
device_struct!(Chunks ['a, T] ['a, T: DeviceType] { slice: &'a [T], size: usize, front: usize, back: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> Chunks<'a, T> {
    /// The chunks of a slice.
    #[track_caller]
    pub(super) fn new(slice: &'a [T], size: usize) -> Self {
        assert!(size != 0, "chunk size must be non-zero");
        let back = slice.len();
        Chunks { slice, size, front: 0, back }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIterator for Chunks<'a, T> {
    type Item = &'a [T];

    fn next(&mut self) -> Option<&'a [T]> {
        let at = self.front;
        if at < self.back {
            let left = self.back - at;
            let end = if left < self.size { self.back } else { at + self.size };
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
impl<'a, T: DeviceType> DeviceDoubleEnded for Chunks<'a, T> {
    fn next_back(&mut self) -> Option<&'a [T]> {
        let end = self.back;
        if self.front < end {
            let rest = (end - self.front) % self.size;
            let at = end - if rest == 0 { self.size } else { rest };
            self.back = at;
            Some(&self.slice[at..end])
        } else {
            None
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.len();
        if n < len {
            self.back = if n == 0 { self.back } else { self.front + (len - n) * self.size };
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
impl<T: DeviceType> DeviceExactSize for Chunks<'_, T> {
    fn len(&self) -> usize {
        (self.back - self.front).div_ceil(self.size)
    }
}

/// Non-overlapping mutable chunks of a slice; the last one may be shorter.
#[derive(Debug)]
pub struct ChunksMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
    front: usize,
    back: usize,
}
device_struct!(ChunksMut ['a, T] ['a, T: DeviceType] { slice: &'a mut [T], size: usize, front: usize, back: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> ChunksMut<'a, T> {
    /// The chunks of a slice.
    #[track_caller]
    pub(super) fn new(slice: &'a mut [T], size: usize) -> Self {
        assert!(size != 0, "chunk size must be non-zero");
        let back = slice.len();
        ChunksMut { slice, size, front: 0, back }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIterator for ChunksMut<'a, T> {
    type Item = &'a mut [T];

    fn next(&mut self) -> Option<&'a mut [T]> {
        let at = self.front;
        if at < self.back {
            let left = self.back - at;
            let end = if left < self.size { self.back } else { at + self.size };
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
impl<'a, T: DeviceType> DeviceDoubleEnded for ChunksMut<'a, T> {
    fn next_back(&mut self) -> Option<&'a mut [T]> {
        let end = self.back;
        if self.front < end {
            let rest = (end - self.front) % self.size;
            let at = end - if rest == 0 { self.size } else { rest };
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
            self.back = if n == 0 { self.back } else { self.front + (len - n) * self.size };
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
impl<T: DeviceType> DeviceExactSize for ChunksMut<'_, T> {
    fn len(&self) -> usize {
        (self.back - self.front).div_ceil(self.size)
    }
}
