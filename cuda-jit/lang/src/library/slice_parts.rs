//! The methods of slices and arrays that return parts of them.
//!
//! # Safety
//!
//! The unsafe code extends the lifetime of a part to that of the slice, beside other parts that do not overlap it, and groups
//! the elements of a slice into arrays, or those of arrays into a slice, which are in memory in the same order.

use crate::device;
use crate::device::library::{extend_mut, regroup, regroup_mut, uninit_array};
use crate::typeinfo::ValueType;

/// The methods of slices that return arrays.
#[device(extension, unchecked)]
impl<T> SliceParts<T> for [T] {
    /// `first_chunk`
    fn first_chunk<const N: usize>(&self) -> Option<&[T; N]> {
        if self.len() < N { None } else { <&[T; N]>::try_from(&self[..N]).ok() }
    }

    /// `first_chunk_mut`
    fn first_chunk_mut<const N: usize>(&mut self) -> Option<&mut [T; N]> {
        if self.len() < N { None } else { <&mut [T; N]>::try_from(&mut self[..N]).ok() }
    }

    /// `last_chunk`
    fn last_chunk<const N: usize>(&self) -> Option<&[T; N]> {
        let len = self.len();
        if len < N { None } else { <&[T; N]>::try_from(&self[len - N..]).ok() }
    }

    /// `last_chunk_mut`
    fn last_chunk_mut<const N: usize>(&mut self) -> Option<&mut [T; N]> {
        let len = self.len();
        if len < N { None } else { <&mut [T; N]>::try_from(&mut self[len - N..]).ok() }
    }

    /// `split_first_chunk`
    fn split_first_chunk<const N: usize>(&self) -> Option<(&[T; N], &[T])> {
        match self.first_chunk::<N>() {
            Some(first) => Some((first, &self[N..])),
            None => None,
        }
    }

    /// `split_first_chunk_mut`
    fn split_first_chunk_mut<const N: usize>(&mut self) -> Option<(&mut [T; N], &mut [T])> {
        if self.len() < N {
            return None;
        }
        // SAFETY: the rest begins after this part, so that the two do not overlap, and both live as long as `self`.
        let first = unsafe { extend_mut(&mut self[..N]) };
        match <&mut [T; N]>::try_from(first) {
            Ok(first) => Some((first, &mut self[N..])),
            Err(_) => None,
        }
    }

    /// `split_last_chunk`
    fn split_last_chunk<const N: usize>(&self) -> Option<(&[T], &[T; N])> {
        match self.last_chunk::<N>() {
            Some(last) => Some((&self[..self.len() - N], last)),
            None => None,
        }
    }

    /// `split_last_chunk_mut`
    fn split_last_chunk_mut<const N: usize>(&mut self) -> Option<(&mut [T], &mut [T; N])> {
        let len = self.len();
        if len < N {
            return None;
        }
        // SAFETY: the rest ends before this part, so that the two do not overlap, and both live as long as `self`.
        let last = unsafe { extend_mut(&mut self[len - N..]) };
        match <&mut [T; N]>::try_from(last) {
            Ok(last) => Some((&mut self[..len - N], last)),
            Err(_) => None,
        }
    }

    /// `as_array`
    fn as_array<const N: usize>(&self) -> Option<&[T; N]> {
        <&[T; N]>::try_from(self).ok()
    }

    /// `as_mut_array`
    fn as_mut_array<const N: usize>(&mut self) -> Option<&mut [T; N]> {
        <&mut [T; N]>::try_from(self).ok()
    }

    /// `as_chunks`
    fn as_chunks<const N: usize>(&self) -> (&[[T; N]], &[T])
    where
        T: ValueType,
    {
        let count = self.len() / N;
        let end = count * N;
        // SAFETY: `count` arrays have the elements up to `end`.
        let arrays = unsafe { regroup::<T, [T; N]>(&self[..end], count) };
        (arrays, &self[end..])
    }

    /// `as_chunks_mut`
    fn as_chunks_mut<const N: usize>(&mut self) -> (&mut [[T; N]], &mut [T])
    where
        T: ValueType,
    {
        let count = self.len() / N;
        let end = count * N;
        // SAFETY: the rest begins after these elements, so that the two do not overlap, and both live as long as `self`.
        let first = unsafe { extend_mut(&mut self[..end]) };
        // SAFETY: `count` arrays have the elements up to `end`.
        let arrays = unsafe { regroup_mut::<T, [T; N]>(first, count) };
        (arrays, &mut self[end..])
    }

    /// `as_rchunks`
    fn as_rchunks<const N: usize>(&self) -> (&[T], &[[T; N]])
    where
        T: ValueType,
    {
        let count = self.len() / N;
        let start = self.len() - count * N;
        // SAFETY: `count` arrays have the elements from `start`.
        let arrays = unsafe { regroup::<T, [T; N]>(&self[start..], count) };
        (&self[..start], arrays)
    }

    /// `as_rchunks_mut`
    fn as_rchunks_mut<const N: usize>(&mut self) -> (&mut [T], &mut [[T; N]])
    where
        T: ValueType,
    {
        let count = self.len() / N;
        let start = self.len() - count * N;
        // SAFETY: the rest ends before these elements, so that the two do not overlap, and both live as long as `self`.
        let last = unsafe { extend_mut(&mut self[start..]) };
        // SAFETY: `count` arrays have the elements from `start`.
        let arrays = unsafe { regroup_mut::<T, [T; N]>(last, count) };
        (&mut self[..start], arrays)
    }
}

/// The methods of slices of arrays.
#[device(extension, unchecked)]
impl<T, const N: usize> ArraySliceMethods<T, N> for [[T; N]] {
    /// `as_flattened`
    fn as_flattened(&self) -> &[T]
    where
        T: ValueType,
    {
        // SAFETY: these are the elements of the arrays.
        unsafe { regroup::<[T; N], T>(self, self.len() * N) }
    }

    /// `as_flattened_mut`
    fn as_flattened_mut(&mut self) -> &mut [T]
    where
        T: ValueType,
    {
        let len = self.len() * N;
        // SAFETY: these are the elements of the arrays.
        unsafe { regroup_mut::<[T; N], T>(self, len) }
    }
}

/// The methods of arrays that return references.
#[device(extension, unchecked)]
impl<T, const N: usize> ArrayParts<T, N> for [T; N] {
    /// `as_slice`
    fn as_slice(&self) -> &[T] {
        self
    }

    /// `as_mut_slice`
    fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }

    /// `each_ref`
    fn each_ref(&self) -> [&T; N] {
        // SAFETY: the loop below writes each element before the array is returned, and reads none.
        let mut made = unsafe { uninit_array::<[&T; N]>() };
        for index in 0..N {
            made[index] = &self[index];
        }
        made
    }

    /// `each_mut`
    fn each_mut(&mut self) -> [&mut T; N] {
        // SAFETY: the loop below writes each element before the array is returned, and reads none.
        let mut made = unsafe { uninit_array::<[&mut T; N]>() };
        for index in 0..N {
            // SAFETY: each reference is to another element, and all live as long as `self`.
            made[index] = unsafe { extend_mut(&mut self[index]) };
        }
        made
    }
}
