//! Slices and subslices that are accessed by index, and the iterator methods of slices.
//!
//! # Safety
//!
//! The unsafe code extends the lifetime of an element or subslice to that of the slice: each is requested once, and no two
//! overlap.

use super::{DeviceDoubleEnded, DeviceIntoIterator, Indexed, IndexedSource};
use crate::device;
use crate::device::library::{duplicate, extend_mut};
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// The elements of a slice.
#[derive(Clone, Debug)]
pub struct Elements<'a, T> {
    pub(super) slice: &'a [T],
}
device_struct!(Elements ['a, T] ['a, T: DeviceType] { slice: &'a [T] });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for Elements<'a, T> {
    type Item = &'a T;
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        self.slice.len()
    }

    fn at(&mut self, number: usize) -> &'a T {
        &self.slice[number]
    }
}

/// The elements of a mutable slice.
#[derive(Debug)]
pub struct ElementsMut<'a, T> {
    pub(super) slice: &'a mut [T],
}
device_struct!(ElementsMut ['a, T] ['a, T: DeviceType] { slice: &'a mut [T] });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for ElementsMut<'a, T> {
    type Item = &'a mut T;
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        self.slice.len()
    }

    fn at(&mut self, number: usize) -> &'a mut T {
        // SAFETY: the iterator requests each index once, so that no two references refer to one element.
        unsafe { extend_mut(&mut self.slice[number]) }
    }
}

/// The subslices of a given length, the last of which may be shorter.
#[derive(Clone, Debug)]
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
}
device_struct!(Chunks ['a, T] ['a, T: DeviceType] { slice: &'a [T], size: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for Chunks<'a, T> {
    type Item = &'a [T];
    const IS_RANDOM_ACCESS: bool = true;

    /// At most `usize::MAX`: for a single subslice it is the chunk size, for several less than twice the slice's length.
    fn end(&self) -> usize {
        self.slice.len().div_ceil(self.size) * self.size
    }

    fn step(&self) -> usize {
        self.size
    }

    fn at(&mut self, number: usize) -> &'a [T] {
        let end = number + (self.slice.len() - number).min(self.size);
        &self.slice[number..end]
    }
}

/// The subslices of a mutable slice of a given length, the last of which may be shorter.
#[derive(Debug)]
pub struct ChunksMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
}
device_struct!(ChunksMut ['a, T] ['a, T: DeviceType] { slice: &'a mut [T], size: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        self.slice.len().div_ceil(self.size) * self.size
    }

    fn step(&self) -> usize {
        self.size
    }

    fn at(&mut self, number: usize) -> &'a mut [T] {
        let end = number + (self.slice.len() - number).min(self.size);
        // SAFETY: the iterator requests each index once, and indices are `size` apart, so that no two subslices overlap.
        unsafe { extend_mut(&mut self.slice[number..end]) }
    }
}

/// The subslices of exactly a given length.
#[derive(Clone, Debug)]
pub struct ChunksExact<'a, T> {
    slice: &'a [T],
    size: usize,
}
device_struct!(ChunksExact ['a, T] ['a, T: DeviceType] { slice: &'a [T], size: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for ChunksExact<'a, T> {
    type Item = &'a [T];
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        self.slice.len() / self.size
    }

    fn at(&mut self, number: usize) -> &'a [T] {
        let start = number * self.size;
        let end = start + self.size;
        &self.slice[start..end]
    }
}

/// The subslices of a mutable slice of exactly a given length.
#[derive(Debug)]
pub struct ChunksExactMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
}
device_struct!(ChunksExactMut ['a, T] ['a, T: DeviceType] { slice: &'a mut [T], size: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for ChunksExactMut<'a, T> {
    type Item = &'a mut [T];
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        self.slice.len() / self.size
    }

    fn at(&mut self, number: usize) -> &'a mut [T] {
        let start = number * self.size;
        let end = start + self.size;
        // SAFETY: the iterator requests each index once, and indices are `size` apart, so that no two subslices overlap.
        unsafe { extend_mut(&mut self.slice[start..end]) }
    }
}

/// The overlapping subslices of a given length.
#[derive(Clone, Debug)]
pub struct Windows<'a, T> {
    slice: &'a [T],
    size: usize,
}
device_struct!(Windows ['a, T] ['a, T: DeviceType] { slice: &'a [T], size: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for Windows<'a, T> {
    type Item = &'a [T];
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        (self.slice.len() + 1).saturating_sub(self.size)
    }

    fn at(&mut self, number: usize) -> &'a [T] {
        let end = number + self.size;
        &self.slice[number..end]
    }
}

/// The subslices of a given length from the end, the last of which may be shorter.
#[derive(Clone, Debug)]
pub struct RChunks<'a, T> {
    slice: &'a [T],
    size: usize,
}
device_struct!(RChunks ['a, T] ['a, T: DeviceType] { slice: &'a [T], size: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for RChunks<'a, T> {
    type Item = &'a [T];
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn at(&mut self, number: usize) -> &'a [T] {
        let end = self.slice.len() - number * self.size;
        &self.slice[end.saturating_sub(self.size)..end]
    }
}

/// The subslices of a mutable slice of a given length from the end, the last of which may be shorter.
#[derive(Debug)]
pub struct RChunksMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
}
device_struct!(RChunksMut ['a, T] ['a, T: DeviceType] { slice: &'a mut [T], size: usize });

#[device(library, unchecked)]
impl<'a, T: DeviceType> IndexedSource for RChunksMut<'a, T> {
    type Item = &'a mut [T];
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn at(&mut self, number: usize) -> &'a mut [T] {
        let end = self.slice.len() - number * self.size;
        // SAFETY: the iterator requests each index once, and the subslices of two indices do not overlap.
        unsafe { extend_mut(&mut self.slice[end.saturating_sub(self.size)..end]) }
    }
}

/// The overlapping arrays of a given length.
#[derive(Clone, Debug)]
pub struct ArrayWindows<'a, T, const N: usize> {
    slice: &'a [T],
}
device_struct!(ArrayWindows ['a, T, N] ['a, T: DeviceType, const N: usize] { slice: &'a [T] });

#[device(library, unchecked)]
impl<'a, T: DeviceType, const N: usize> IndexedSource for ArrayWindows<'a, T, N> {
    type Item = &'a [T; N];
    const IS_RANDOM_ACCESS: bool = true;

    fn end(&self) -> usize {
        (self.slice.len() + 1).saturating_sub(N)
    }

    fn at(&mut self, number: usize) -> &'a [T; N] {
        let end = number + N;
        let Ok(array) = <&[T; N]>::try_from(&self.slice[number..end]) else { unreachable!() };
        array
    }
}

/// The elements of an array by value.
#[derive(Clone, Debug)]
pub struct ArrayElements<T, const N: usize> {
    array: [T; N],
}
device_struct!(ArrayElements [T, N] [T: DeviceType, const N: usize] { array: [T; N] });

#[device(library, unchecked)]
impl<T: DeviceType, const N: usize> IndexedSource for ArrayElements<T, N> {
    type Item = T;
    const IS_RANDOM_ACCESS: bool = false;

    fn end(&self) -> usize {
        N
    }

    fn at(&mut self, number: usize) -> T {
        duplicate(&self.array[number])
    }
}

#[device(library)]
impl<'a, T: DeviceType> DeviceIntoIterator for &'a [T] {
    type Item = &'a T;
    type IntoIter = Indexed<Elements<'a, T>>;

    fn into_iter(self) -> Indexed<Elements<'a, T>> {
        Indexed::new(Elements { slice: self })
    }
}

#[device(library)]
impl<'a, T: DeviceType> DeviceIntoIterator for &'a mut [T] {
    type Item = &'a mut T;
    type IntoIter = Indexed<ElementsMut<'a, T>>;

    fn into_iter(self) -> Indexed<ElementsMut<'a, T>> {
        Indexed::new(ElementsMut { slice: self })
    }
}

#[device(library)]
impl<'a, T: DeviceType, const N: usize> DeviceIntoIterator for &'a [T; N] {
    type Item = &'a T;
    type IntoIter = Indexed<Elements<'a, T>>;
    const ARRAY_LEN: Option<usize> = Some(N);

    fn into_iter(self) -> Indexed<Elements<'a, T>> {
        Indexed::new(Elements { slice: self })
    }
}

#[device(library)]
impl<'a, T: DeviceType, const N: usize> DeviceIntoIterator for &'a mut [T; N] {
    type Item = &'a mut T;
    type IntoIter = Indexed<ElementsMut<'a, T>>;
    const ARRAY_LEN: Option<usize> = Some(N);

    fn into_iter(self) -> Indexed<ElementsMut<'a, T>> {
        Indexed::new(ElementsMut { slice: self })
    }
}

#[device(library)]
impl<T: DeviceType, const N: usize> DeviceIntoIterator for [T; N] {
    type Item = T;
    type IntoIter = Indexed<ArrayElements<T, N>>;
    const ARRAY_LEN: Option<usize> = Some(N);

    fn into_iter(self) -> Indexed<ArrayElements<T, N>> {
        Indexed::new(ArrayElements { array: self })
    }
}

/// Iterators over a slice.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait SliceSources: Sized + DeviceType {
    /// Over references to its elements.
    type Iter: DeviceDoubleEnded;
    /// Over its subslices of one length, and the remainder.
    type Chunks: DeviceDoubleEnded;
    /// Over its subslices of one length.
    type ChunksExact: DeviceDoubleEnded;
    /// Over its overlapping subslices of one length.
    type Windows: DeviceDoubleEnded;

    /// `iter`
    fn iter(self) -> Self::Iter;
    /// `chunks`
    fn chunks(self, size: usize) -> Self::Chunks;
    /// `chunks_exact`
    fn chunks_exact(self, size: usize) -> Self::ChunksExact;
    /// `windows`
    fn windows(self, size: usize) -> Self::Windows;
}

#[device(library)]
impl<'a, T: DeviceType> SliceSources for &'a [T] {
    type Iter = Indexed<Elements<'a, T>>;
    type Chunks = Indexed<Chunks<'a, T>>;
    type ChunksExact = Indexed<ChunksExact<'a, T>>;
    type Windows = Indexed<Windows<'a, T>>;

    fn iter(self) -> Indexed<Elements<'a, T>> {
        Indexed::new(Elements { slice: self })
    }

    #[track_caller]
    fn chunks(self, size: usize) -> Indexed<Chunks<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        Indexed::new(Chunks { slice: self, size })
    }

    #[track_caller]
    fn chunks_exact(self, size: usize) -> Indexed<ChunksExact<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        Indexed::new(ChunksExact { slice: self, size })
    }

    #[track_caller]
    fn windows(self, size: usize) -> Indexed<Windows<'a, T>> {
        assert!(size != 0, "window size must be non-zero");
        Indexed::new(Windows { slice: self, size })
    }
}

/// Iterators over a mutable slice.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait SliceSourcesMut: Sized + DeviceType {
    /// Over references to its elements.
    type IterMut: DeviceDoubleEnded;
    /// Over its subslices of one length, and the remainder.
    type ChunksMut: DeviceDoubleEnded;
    /// Over its subslices of one length.
    type ChunksExactMut: DeviceDoubleEnded;

    /// `iter_mut`
    fn iter_mut(self) -> Self::IterMut;
    /// `chunks_mut`
    fn chunks_mut(self, size: usize) -> Self::ChunksMut;
    /// `chunks_exact_mut`
    fn chunks_exact_mut(self, size: usize) -> Self::ChunksExactMut;
}

#[device(library)]
impl<'a, T: DeviceType> SliceSourcesMut for &'a mut [T] {
    type IterMut = Indexed<ElementsMut<'a, T>>;
    type ChunksMut = Indexed<ChunksMut<'a, T>>;
    type ChunksExactMut = Indexed<ChunksExactMut<'a, T>>;

    fn iter_mut(self) -> Indexed<ElementsMut<'a, T>> {
        Indexed::new(ElementsMut { slice: self })
    }

    #[track_caller]
    fn chunks_mut(self, size: usize) -> Indexed<ChunksMut<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        Indexed::new(ChunksMut { slice: self, size })
    }

    #[track_caller]
    fn chunks_exact_mut(self, size: usize) -> Indexed<ChunksExactMut<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        Indexed::new(ChunksExactMut { slice: self, size })
    }
}

/// Iterators over the elements of a slice.
///
/// Nothing unsafe relies on an implementation: all of them are here.
#[device(library)]
pub trait SliceRest: DeviceType {
    /// A subslice.
    type Part: DeviceType;

    /// `as_slice`
    fn as_slice(&self) -> Self::Part;
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> SliceRest for Indexed<Elements<'a, T>> {
    type Part = &'a [T];

    fn as_slice(&self) -> &'a [T] {
        &self.source.slice[self.front..self.back]
    }
}

/// Iterators over the subslices of one length of a slice, without what is left of it.
///
/// Nothing unsafe relies on an implementation: all of them are here.
#[device(library)]
pub trait ChunksRemainder: DeviceType {
    /// A subslice.
    type Part: DeviceType;

    /// `remainder`
    fn remainder(&self) -> Self::Part;
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> ChunksRemainder for Indexed<ChunksExact<'a, T>> {
    type Part = &'a [T];

    fn remainder(&self) -> &'a [T] {
        let slice = self.source.slice;
        &slice[slice.len() - slice.len() % self.source.size..]
    }
}

/// Iterators over the mutable subslices of one length of a slice, without what is left of it.
///
/// Nothing unsafe relies on an implementation: all of them are here.
#[device(library)]
pub trait ChunksRemainderMut: DeviceType + Sized {
    /// A subslice.
    type Part: DeviceType;

    /// `into_remainder`
    fn into_remainder(self) -> Self::Part;
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> ChunksRemainderMut for Indexed<ChunksExactMut<'a, T>> {
    type Part = &'a mut [T];

    fn into_remainder(self) -> &'a mut [T] {
        let slice = self.source.slice;
        let whole = slice.len() - slice.len() % self.source.size;
        &mut slice[whole..]
    }
}

/// Iterators over the subslices of a slice from its end, and over its arrays.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait SliceEnds<'a, T: DeviceType>: Sized + DeviceType {
    /// `rchunks`
    fn rchunks(self, size: usize) -> Indexed<RChunks<'a, T>>;
    /// `rchunks_exact`
    fn rchunks_exact(self, size: usize) -> Indexed<RChunks<'a, T>>;
    /// `array_windows`
    fn array_windows<const N: usize>(self) -> Indexed<ArrayWindows<'a, T, N>>;
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> SliceEnds<'a, T> for &'a [T] {
    #[track_caller]
    fn rchunks(self, size: usize) -> Indexed<RChunks<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        Indexed::new(RChunks { slice: self, size })
    }

    #[track_caller]
    fn rchunks_exact(self, size: usize) -> Indexed<RChunks<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        Indexed::new(RChunks { slice: &self[self.len() % size..], size })
    }

    fn array_windows<const N: usize>(self) -> Indexed<ArrayWindows<'a, T, N>> {
        Indexed::new(ArrayWindows { slice: self })
    }
}

/// Iterators over the subslices of a mutable slice from its end.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait SliceEndsMut<'a, T: DeviceType>: Sized + DeviceType {
    /// `rchunks_mut`
    fn rchunks_mut(self, size: usize) -> Indexed<RChunksMut<'a, T>>;
    /// `rchunks_exact_mut`
    fn rchunks_exact_mut(self, size: usize) -> Indexed<RChunksMut<'a, T>>;
}

#[device(library, unchecked)]
impl<'a, T: DeviceType> SliceEndsMut<'a, T> for &'a mut [T] {
    #[track_caller]
    fn rchunks_mut(self, size: usize) -> Indexed<RChunksMut<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        Indexed::new(RChunksMut { slice: self, size })
    }

    #[track_caller]
    fn rchunks_exact_mut(self, size: usize) -> Indexed<RChunksMut<'a, T>> {
        assert!(size != 0, "chunk size must be non-zero");
        let rest = self.len() % size;
        Indexed::new(RChunksMut { slice: &mut self[rest..], size })
    }
}
