//! The methods of slices that make iterators.

use super::{Chunks, ChunksExact, ChunksExactMut, ChunksMut, DeviceDoubleEnded, Iter, IterMut, Windows};
use crate::device;
use crate::harvest::DeviceType;

/// Iterators over a slice.
///
/// Nothing unsafe relies on an implementation: what reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait SliceSources: Sized + DeviceType {
    /// Over references to its elements.
    type Iter: DeviceDoubleEnded;
    /// Over its parts of one length and the rest.
    type Chunks: DeviceDoubleEnded;
    /// Over its parts of one length.
    type ChunksExact: DeviceDoubleEnded;
    /// Over its parts of one length that overlap.
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
    type Iter = Iter<'a, T>;
    type Chunks = Chunks<'a, T>;
    type ChunksExact = ChunksExact<'a, T>;
    type Windows = Windows<'a, T>;

    fn iter(self) -> Iter<'a, T> {
        Iter::new(self)
    }

    #[track_caller]
    fn chunks(self, size: usize) -> Chunks<'a, T> {
        Chunks::new(self, size)
    }

    #[track_caller]
    fn chunks_exact(self, size: usize) -> ChunksExact<'a, T> {
        ChunksExact::new(self, size)
    }

    #[track_caller]
    fn windows(self, size: usize) -> Windows<'a, T> {
        Windows::new(self, size)
    }
}

/// Iterators over a slice that can be written.
///
/// Nothing unsafe relies on an implementation: what reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait SliceSourcesMut: Sized + DeviceType {
    /// Over references to its elements.
    type IterMut: DeviceDoubleEnded;
    /// Over its parts of one length and the rest.
    type ChunksMut: DeviceDoubleEnded;
    /// Over its parts of one length.
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
    type IterMut = IterMut<'a, T>;
    type ChunksMut = ChunksMut<'a, T>;
    type ChunksExactMut = ChunksExactMut<'a, T>;

    fn iter_mut(self) -> IterMut<'a, T> {
        IterMut::new(self)
    }

    #[track_caller]
    fn chunks_mut(self, size: usize) -> ChunksMut<'a, T> {
        ChunksMut::new(self, size)
    }

    #[track_caller]
    fn chunks_exact_mut(self, size: usize) -> ChunksExactMut<'a, T> {
        ChunksExactMut::new(self, size)
    }
}
