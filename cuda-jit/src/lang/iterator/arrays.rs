//! Arrays by value.
//!
//! # Safety
//!
//! `front <= back <= N` holds at all times.

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIntoIterator, DeviceIterator};
use crate::device;
use crate::harvest::DeviceType;
use crate::lang::structs::device_struct;

/// An iterator over the elements of an array.
#[derive(Debug)]
pub struct ArrayIntoIter<T, const N: usize> {
    array: [T; N],
    front: usize,
    back: usize,
}
device_struct!(ArrayIntoIter [T, N] [T: DeviceType, const N: usize] { array: [T; N], front: usize, back: usize });

#[device(library, unchecked)]
impl<T: DeviceType + Copy, const N: usize> ArrayIntoIter<T, N> {
    /// An iterator over an array.
    pub fn new(array: [T; N]) -> Self {
        ArrayIntoIter { array, front: 0, back: N }
    }
}

#[device(library, unchecked)]
impl<T: DeviceType + Copy, const N: usize> DeviceIterator for ArrayIntoIter<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.front < self.back {
            let at = self.front;
            self.front = at + 1;
            // SAFETY: `at < N`.
            Some(self.array[at])
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

    fn nth(&mut self, n: usize) -> Option<T> {
        if n < self.back - self.front {
            let at = self.front + n;
            self.front = at + 1;
            // SAFETY: `at < N`.
            Some(self.array[at])
        } else {
            self.front = self.back;
            None
        }
    }

    fn count(self) -> usize {
        self.back - self.front
    }

    fn last(mut self) -> Option<T> {
        self.next_back()
    }

    fn has_trusted_len() -> bool {
        true
    }

    fn trusted_len(&self) -> usize {
        self.back - self.front
    }

    fn is_fused() -> bool {
        true
    }

    fn is_pure() -> bool {
        true
    }
}

#[device(library, unchecked)]
impl<T: DeviceType + Copy, const N: usize> DeviceDoubleEnded for ArrayIntoIter<T, N> {
    fn next_back(&mut self) -> Option<T> {
        if self.front < self.back {
            let at = self.back - 1;
            self.back = at;
            // SAFETY: `at < N`.
            Some(self.array[at])
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

    fn nth_back(&mut self, n: usize) -> Option<T> {
        if n < self.back - self.front {
            let at = self.back - n - 1;
            self.back = at;
            // SAFETY: `at < N`.
            Some(self.array[at])
        } else {
            self.back = self.front;
            None
        }
    }
}

#[device(library, unchecked)]
impl<T: DeviceType + Copy, const N: usize> DeviceExactSize for ArrayIntoIter<T, N> {
    fn len(&self) -> usize {
        self.back - self.front
    }
}

#[device(library, unchecked)]
impl<T: DeviceType + Copy, const N: usize> DeviceIntoIterator for [T; N] {
    type Item = T;
    type IntoIter = ArrayIntoIter<T, N>;

    fn into_iter(self) -> ArrayIntoIter<T, N> {
        ArrayIntoIter::new(self)
    }

    fn array_len() -> Option<usize> {
        Some(N)
    }
}
