//! Packing of host arrays in pieces: the choice of the pieces, and the staging buffer for one.
//!
//! # Safety
//!
//! One block treats memory as initialised that an assignment has filled.

use std::mem::MaybeUninit;
use std::ops::Range;

use ndarray::{ArrayView, ArrayViewMut, Dimension};
use smallvec::SmallVec;

use crate::error::Result;

/// The size of a piece in bytes: large enough that the call costs little beside the copy, small enough to stay in a
/// cache.
const PIECE: usize = 1 << 20;

/// A staging buffer for a piece of an array of `len` elements.
pub(crate) fn buffer<T>(len: usize) -> Box<[MaybeUninit<T>]> {
    Box::new_uninit_slice(len.min((PIECE / size_of::<T>().max(1)).max(1)))
}

/// Packs the elements of `part` in C order into `staging`, which has room for them.
pub(crate) fn pack<'a, T: Copy, D: Dimension>(
    part: &ArrayView<'_, T, D>,
    staging: &'a mut [MaybeUninit<T>],
) -> &'a [T] {
    let staging = &mut staging[..part.len()];
    let Ok(packed) = ArrayViewMut::from_shape(part.raw_dim(), &mut *staging) else {
        unreachable!("the slice has as many elements as the part")
    };
    part.assign_to(packed);
    // SAFETY: the assignment has written each of them.
    unsafe { staging.assume_init_ref() }
}

/// Splits an array without zero extents into pieces of at most `limit` elements (at least 1), each contiguous if the
/// array is in C order. Calls `work` with the number of elements before the piece and its range on each axis.
pub(crate) fn for_each_piece(
    shape: &[usize],
    limit: usize,
    mut work: impl FnMut(usize, &[Range<usize>]) -> Result<()>,
) -> Result<()> {
    let elements_after = |axis: usize| shape[axis + 1..].iter().product::<usize>();
    let Some(split_axis) = (0..shape.len()).find(|axis| elements_after(*axis) <= limit) else { return work(0, &[]) };
    let (row, before) = (elements_after(split_axis), shape[..split_axis].iter().product::<usize>());
    let rows = (limit / row).max(1);
    let mut ranges: SmallVec<[Range<usize>; 6]> = shape.iter().map(|extent| 0..*extent).collect();
    for outer in 0..before {
        let mut rest = outer;
        for axis in (0..split_axis).rev() {
            let at = rest % shape[axis];
            (rest, ranges[axis]) = (rest / shape[axis], at..at + 1);
        }
        for start in (0..shape[split_axis]).step_by(rows) {
            ranges[split_axis] = start..(start + rows).min(shape[split_axis]);
            work((outer * shape[split_axis] + start) * row, &ranges)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each piece's first element and shape.
    fn pieces(shape: &[usize], limit: usize) -> Vec<(usize, Vec<usize>)> {
        let mut pieces = Vec::new();
        for_each_piece(shape, limit, |first, ranges| {
            pieces.push((first, ranges.iter().map(ExactSizeIterator::len).collect()));
            Ok(())
        })
        .unwrap();
        pieces
    }

    #[test]
    fn pieces_are_whole_rows_where_a_row_fits_and_parts_of_one_where_none_does() {
        assert_eq!(pieces(&[], 1), [(0, vec![])]);
        assert_eq!(pieces(&[5], 9), [(0, vec![5])]);
        assert_eq!(pieces(&[5, 2], 4), [(0, vec![2, 2]), (4, vec![2, 2]), (8, vec![1, 2])]);
        assert_eq!(pieces(&[2, 3], 2), [(0, vec![1, 2]), (2, vec![1, 1]), (3, vec![1, 2]), (5, vec![1, 1])]);
        assert_eq!(pieces(&[2, 2, 2], 1).iter().map(|(first, _)| *first).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_buffer_is_bounded_however_large_the_array() {
        assert_eq!(size_of_val(&*buffer::<u32>(usize::MAX / 8)), PIECE);
        assert_eq!(buffer::<u32>(3).len(), 3);
        assert_eq!(buffer::<[u8; 3 * PIECE]>(9).len(), 1);
    }
}
