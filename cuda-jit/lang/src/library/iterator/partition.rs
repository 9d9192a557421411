//! The iterators over the parts into which a closure divides a slice.
//!
//! # Safety
//!
//! The unsafe code extends the lifetime of a subslice to that of the slice: the parts that an iterator returns do not
//! overlap.

use super::calls::DeviceCalls;
use super::slices::{Elements, ElementsMut};
use super::{DeviceDoubleEnded, DeviceIterator, Rev};
use crate::device;
use crate::device::library::extend_mut;
use crate::library::structs::device_struct;
use crate::typeinfo::{Closure, DeviceType};

/// A slice that is returned in parts.
///
/// Nothing unsafe relies on an implementation: all of them are here.
#[device(library)]
pub trait Parted: Sized + DeviceType {
    /// The type of the elements.
    type Element: DeviceType;
    /// A reference to a part.
    type Part: DeviceType;

    /// The number of elements.
    fn count(&self) -> usize;
    /// An element.
    fn element(&self, index: usize) -> &Self::Element;
    /// The elements from `start` to before `end`. No two parts may overlap.
    fn part(&mut self, start: usize, end: usize) -> Self::Part;
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> Parted for Elements<'a, T> {
    type Element = T;
    type Part = &'a [T];

    fn count(&self) -> usize {
        self.slice.len()
    }

    fn element(&self, index: usize) -> &T {
        &self.slice[index]
    }

    fn part(&mut self, start: usize, end: usize) -> &'a [T] {
        &self.slice[start..end]
    }
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> Parted for ElementsMut<'a, T> {
    type Element = T;
    type Part = &'a mut [T];

    fn count(&self) -> usize {
        self.slice.len()
    }

    fn element(&self, index: usize) -> &T {
        &self.slice[index]
    }

    fn part(&mut self, start: usize, end: usize) -> &'a mut [T] {
        // SAFETY: the caller requests parts that do not overlap.
        unsafe { extend_mut(&mut self.slice[start..end]) }
    }
}

/// The longest parts in which a closure holds for each element and the next one.
#[derive(Clone, Debug)]
pub struct ChunkBy<S, F> {
    slice: S,
    front: usize,
    back: usize,
    f: F,
}
device_struct!(ChunkBy [S, F] [S: DeviceType, F] { slice: S, front: usize, back: usize, f: Closure });

#[device(library)]
impl<S: Parted, F: FnMut(&S::Element, &S::Element) -> bool> DeviceIterator for ChunkBy<S, F> {
    type Item = S::Part;
    const IS_FUSED: bool = true;

    fn next(&mut self) -> Option<S::Part> {
        let start = self.front;
        if start == self.back {
            return None;
        }
        let mut end = start + 1;
        while end < self.back && (self.f)(self.slice.element(end - 1), self.slice.element(end)) {
            end += 1;
        }
        self.front = end;
        Some(self.slice.part(start, end))
    }

    fn last(mut self) -> Option<S::Part> {
        self.device_next_back()
    }
}

#[device(library)]
impl<S: Parted, F: FnMut(&S::Element, &S::Element) -> bool> DeviceDoubleEnded for ChunkBy<S, F> {
    fn next_back(&mut self) -> Option<S::Part> {
        let end = self.back;
        if self.front == end {
            return None;
        }
        let mut start = end - 1;
        while start > self.front && (self.f)(self.slice.element(start - 1), self.slice.element(start)) {
            start -= 1;
        }
        self.back = start;
        Some(self.slice.part(start, end))
    }
}

/// The parts between the elements for which a closure holds.
#[derive(Clone, Debug)]
pub struct Split<S, F> {
    slice: S,
    front: usize,
    back: usize,
    is_finished: bool,
    f: F,
}
device_struct!(Split [S, F] [S: DeviceType, F] {
    slice: S, front: usize, back: usize, is_finished: bool, f: Closure
});

#[device(library)]
impl<S: Parted, F: FnMut(&S::Element) -> bool> DeviceIterator for Split<S, F> {
    type Item = S::Part;
    const IS_FUSED: bool = true;

    fn next(&mut self) -> Option<S::Part> {
        if self.is_finished {
            return None;
        }
        let start = self.front;
        let mut end = start;
        while end < self.back && !(self.f)(self.slice.element(end)) {
            end += 1;
        }
        if end == self.back {
            return self.rest();
        }
        self.front = end + 1;
        Some(self.slice.part(start, end))
    }
}

#[device(library)]
impl<S: Parted, F: FnMut(&S::Element) -> bool> DeviceDoubleEnded for Split<S, F> {
    fn next_back(&mut self) -> Option<S::Part> {
        if self.is_finished {
            return None;
        }
        let end = self.back;
        let mut start = end;
        while start > self.front && !(self.f)(self.slice.element(start - 1)) {
            start -= 1;
        }
        if start == self.front {
            return self.rest();
        }
        self.back = start - 1;
        Some(self.slice.part(start, end))
    }
}

/// An iterator that can return all that remains as one part.
///
/// Nothing unsafe relies on an implementation: all of them are here.
#[device(library)]
pub trait Rest: DeviceIterator {
    /// All that remains, unless the iterator is at its end; it is then.
    fn rest(&mut self) -> Option<Self::Item>;
}

#[device(library)]
impl<S: Parted, F: FnMut(&S::Element) -> bool> Rest for Split<S, F> {
    fn rest(&mut self) -> Option<S::Part> {
        if self.is_finished {
            return None;
        }
        self.is_finished = true;
        Some(self.slice.part(self.front, self.back))
    }
}

#[device(library)]
impl<I: Rest + DeviceDoubleEnded> Rest for Rev<I> {
    fn rest(&mut self) -> Option<I::Item> {
        self.iter.rest()
    }
}

/// At most a given number of parts, the last of which is all that remains.
#[derive(Clone, Debug)]
pub struct SplitN<I> {
    iter: I,
    count: usize,
}
device_struct!(SplitN [I] [I: DeviceType] { iter: I, count: usize });

#[device(library)]
impl<I: Rest> DeviceIterator for SplitN<I> {
    type Item = I::Item;
    const IS_FUSED: bool = true;

    fn next(&mut self) -> Option<I::Item> {
        if self.count == 0 {
            return None;
        }
        self.count -= 1;
        if self.count == 0 { self.iter.rest() } else { self.iter.next() }
    }
}

/// The parts that end after the elements for which a closure holds.
#[derive(Clone, Debug)]
pub struct SplitInclusive<S, F> {
    slice: S,
    front: usize,
    back: usize,
    f: F,
}
device_struct!(SplitInclusive [S, F] [S: DeviceType, F] { slice: S, front: usize, back: usize, f: Closure });

#[device(library)]
impl<S: Parted, F: FnMut(&S::Element) -> bool> DeviceIterator for SplitInclusive<S, F> {
    type Item = S::Part;
    const IS_FUSED: bool = true;

    fn next(&mut self) -> Option<S::Part> {
        let start = self.front;
        if start == self.back {
            return None;
        }
        let mut end = start;
        let mut is_last = false;
        while end < self.back && !is_last {
            is_last = (self.f)(self.slice.element(end));
            end += 1;
        }
        self.front = end;
        Some(self.slice.part(start, end))
    }
}

#[device(library)]
impl<S: Parted, F: FnMut(&S::Element) -> bool> DeviceDoubleEnded for SplitInclusive<S, F> {
    fn next_back(&mut self) -> Option<S::Part> {
        let end = self.back;
        if self.front == end {
            return None;
        }
        // the last element was tested with the part before
        let mut start = end - 1;
        while start > self.front && !(self.f)(self.slice.element(start - 1)) {
            start -= 1;
        }
        self.back = start;
        Some(self.slice.part(start, end))
    }
}

/// Declares the methods that divide a slice, and implements them for a reference to one.
macro_rules! partitions {
    ($(
        $(#[$doc:meta])*
        $trait:ident for $slice:ty => $parts:ident {
            $chunk_by:ident $split:ident $split_inclusive:ident $rsplit:ident $splitn:ident $rsplitn:ident
        }
    )*) => { $(
        $(#[$doc])*
        ///
        /// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
        #[device(library)]
        pub trait $trait: Sized + DeviceType {
            /// The type of the elements.
            type Element: DeviceType;
            /// The slice.
            type Parts: Parted<Element = Self::Element>;

            /// The slice.
            fn parts(self) -> Self::Parts;

            /// `chunk_by`
            fn $chunk_by<F: FnMut(&Self::Element, &Self::Element) -> bool>(self, f: F) -> ChunkBy<Self::Parts, F> {
                let slice = self.parts();
                let back = slice.count();
                ChunkBy { slice, front: 0, back, f }
            }

            /// `split`
            fn $split<F: FnMut(&Self::Element) -> bool>(self, f: F) -> Split<Self::Parts, F> {
                let slice = self.parts();
                let back = slice.count();
                Split { slice, front: 0, back, is_finished: false, f }
            }

            /// `split_inclusive`
            fn $split_inclusive<F: FnMut(&Self::Element) -> bool>(self, f: F) -> SplitInclusive<Self::Parts, F> {
                let slice = self.parts();
                let back = slice.count();
                SplitInclusive { slice, front: 0, back, f }
            }

            /// `rsplit`
            fn $rsplit<F: FnMut(&Self::Element) -> bool>(self, f: F) -> Rev<Split<Self::Parts, F>> {
                Rev { iter: self.$split(f) }
            }

            /// `splitn`
            fn $splitn<F: FnMut(&Self::Element) -> bool>(self, n: usize, f: F) -> SplitN<Split<Self::Parts, F>> {
                SplitN { iter: self.$split(f), count: n }
            }

            /// `rsplitn`
            fn $rsplitn<F: FnMut(&Self::Element) -> bool>(self, n: usize, f: F) -> SplitN<Rev<Split<Self::Parts, F>>> {
                SplitN { iter: self.$rsplit(f), count: n }
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType> $trait for $slice {
            type Element = T;
            type Parts = $parts<'a, T>;

            fn parts(self) -> $parts<'a, T> {
                $parts { slice: self }
            }
        }
    )* };
}

partitions! {
    /// Iterators over the parts of a slice that a closure chooses.
    SlicePartitions for &'a [T] => Elements { chunk_by split split_inclusive rsplit splitn rsplitn }
    /// Iterators over the parts of a mutable slice that a closure chooses.
    SlicePartitionsMut for &'a mut [T] => ElementsMut {
        chunk_by_mut split_mut split_inclusive_mut rsplit_mut splitn_mut rsplitn_mut
    }
}
