//! Iterators over the elements of slices.
//!
//! # Safety
//!
//! `front <= back <= slice.len()` holds at all times. [`IterMut`] returns each element at most once.

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIntoIterator, DeviceIterator};
use crate::device;
use crate::device::library::extend_mut;
use crate::harvest::DeviceType;
use crate::lang::structs::device_struct;

/// An iterator over references to the elements of a slice.
#[derive(Debug)]
pub struct Iter<'a, T> {
    slice: &'a [T],
    front: usize,
    back: usize,
}
device_struct!(Iter ['a, T] ['a, T: DeviceType] { slice: &'a [T], front: usize, back: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> Iter<'a, T> {
    /// An iterator over a slice.
    pub fn new(slice: &'a [T]) -> Self {
        Iter { slice, front: 0, back: slice.len() }
    }

    /// The elements that remain.
    pub fn as_slice(&self) -> &'a [T] {
        // SAFETY: `front <= back <= slice.len()`.
        &self.slice[self.front..self.back]
    }
}

/// An iterator over mutable references to the elements of a slice.
#[derive(Debug)]
pub struct IterMut<'a, T> {
    slice: &'a mut [T],
    front: usize,
    back: usize,
}
device_struct!(IterMut ['a, T] ['a, T: DeviceType] { slice: &'a mut [T], front: usize, back: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IterMut<'a, T> {
    /// An iterator over a slice.
    pub fn new(slice: &'a mut [T]) -> Self {
        let back = slice.len();
        IterMut { slice, front: 0, back }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        if self.front < self.back {
            let at = self.front;
            self.front = at + 1;
            Some(&self.slice[at])
        } else {
            None
        }
    }

    fn next_known(&mut self) -> &'a T {
        let at = self.front;
        self.front = at + 1;
        &self.slice[at]
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

    fn nth(&mut self, n: usize) -> Option<&'a T> {
        if n < self.back - self.front {
            let at = self.front + n;
            self.front = at + 1;
            Some(&self.slice[at])
        } else {
            self.front = self.back;
            None
        }
    }

    fn count(self) -> usize {
        self.back - self.front
    }

    fn last(mut self) -> Option<&'a T> {
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
impl<'a, T: DeviceType> DeviceDoubleEnded for Iter<'a, T> {
    fn next_back(&mut self) -> Option<&'a T> {
        if self.front < self.back {
            let at = self.back - 1;
            self.back = at;
            Some(&self.slice[at])
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

    fn nth_back(&mut self, n: usize) -> Option<&'a T> {
        if n < self.back - self.front {
            let at = self.back - n - 1;
            self.back = at;
            Some(&self.slice[at])
        } else {
            self.back = self.front;
            None
        }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceExactSize for Iter<'a, T> {
    fn len(&self) -> usize {
        self.back - self.front
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIterator for IterMut<'a, T> {
    type Item = &'a mut T;

    fn next(&mut self) -> Option<&'a mut T> {
        if self.front < self.back {
            let at = self.front;
            self.front = at + 1;
            // SAFETY: `at < slice.len()`, and no other call returns this element.
            Some(unsafe { extend_mut(&mut self.slice[at]) })
        } else {
            None
        }
    }

    fn next_known(&mut self) -> &'a mut T {
        let at = self.front;
        self.front = at + 1;
        // SAFETY: no other call returns this element.
        unsafe { extend_mut(&mut self.slice[at]) }
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

    fn nth(&mut self, n: usize) -> Option<&'a mut T> {
        if n < self.back - self.front {
            let at = self.front + n;
            self.front = at + 1;
            // SAFETY: `at < slice.len()`, and no other call returns this element.
            Some(unsafe { extend_mut(&mut self.slice[at]) })
        } else {
            self.front = self.back;
            None
        }
    }

    fn count(self) -> usize {
        self.back - self.front
    }

    fn last(mut self) -> Option<&'a mut T> {
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
impl<'a, T: DeviceType> DeviceDoubleEnded for IterMut<'a, T> {
    fn next_back(&mut self) -> Option<&'a mut T> {
        if self.front < self.back {
            let at = self.back - 1;
            self.back = at;
            // SAFETY: `at < slice.len()`, and no other call returns this element.
            Some(unsafe { extend_mut(&mut self.slice[at]) })
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

    fn nth_back(&mut self, n: usize) -> Option<&'a mut T> {
        if n < self.back - self.front {
            let at = self.back - n - 1;
            self.back = at;
            // SAFETY: `at < slice.len()`, and no other call returns this element.
            Some(unsafe { extend_mut(&mut self.slice[at]) })
        } else {
            self.back = self.front;
            None
        }
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceExactSize for IterMut<'a, T> {
    fn len(&self) -> usize {
        self.back - self.front
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIntoIterator for &'a [T] {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        Iter::new(self)
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> DeviceIntoIterator for &'a mut [T] {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        IterMut::new(self)
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType, const N: usize> DeviceIntoIterator for &'a [T; N] {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        Iter::new(self)
    }

    fn array_len() -> Option<usize> {
        Some(N)
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType, const N: usize> DeviceIntoIterator for &'a mut [T; N] {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        IterMut::new(self)
    }

    fn array_len() -> Option<usize> {
        Some(N)
    }
}
