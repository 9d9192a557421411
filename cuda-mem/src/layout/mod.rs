//! [`Layout`]: shape, strides and offset of an array in its memory. Pure arithmetic, without memory.
//!
//! `reshape` regroups axes, and `plan` pairs two layouts for a copy. Invariants of every [`Layout`]:
//!
//! - [`checked_len`] accepts its shape, as ndarray's own check does: the product of the extents other than 0 fits
//!   `isize`. Functions that only remove, shorten or reorder axes, or add one of extent 1, preserve that. Those that
//!   make or lengthen axes ([`Layout::strided`], [`Layout::broadcast`], [`reshape()`], [`cast`]) check it;
//!   [`Layout::c_order`] and [`Layout::f_order`] rely on their callers, which ask [`byte_size`] or have ndarray's
//!   shape.
//! - The offset of each element fits `isize` and is not negative; so does the distance between the first and the last
//!   element of an axis, also in an array without elements.
//!
//! The bytes of a layout's span lie in memory, so their number fits too. The bytes of all elements may not fit: a
//! broadcast array has more elements than memory.

mod plan;
mod reshape;
#[cfg(test)]
mod tests;

use std::ops::Range;

use ndarray::{Axis, Dimension, IxDyn, Order, RemoveAxis, Slice, SliceArg, SliceInfoElem};
use smallvec::{SmallVec, smallvec};

use crate::error::{Error, Result};

pub(crate) use plan::{CopyPlan, PlanAxis};
pub(crate) use reshape::{cast, reshape};

/// The number of elements of an array of `shape`; `None` if the product of its extents other than 0 does not fit `isize`.
///
/// This is ndarray's rule, and the first invariant of every layout: it ensures that neither the length nor any product
/// of extents overflows, in any order of multiplication.
pub(crate) fn checked_len(shape: &[usize]) -> Option<usize> {
    let extents = shape.iter().filter(|extent| **extent != 0);
    let all_but_zeros = extents.into_iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent))?;
    let len = if shape.contains(&0) { 0 } else { all_but_zeros };
    isize::try_from(all_but_zeros).is_ok().then_some(len)
}

/// The bytes of a C-contiguous array of `shape`; an error if the product of its extents other than 0 does not fit
/// `isize`.
pub(crate) fn byte_size(shape: &[usize], element_bytes: usize) -> Result<usize> {
    let extents = shape.iter().filter(|extent| **extent != 0);
    let all_but_zeros = extents.chain([&element_bytes.max(1)]).try_fold(1_usize, |product, n| product.checked_mul(*n));
    match all_but_zeros {
        Some(bytes) if isize::try_from(bytes).is_ok() => {
            Ok(if shape.contains(&0) || element_bytes == 0 { 0 } else { bytes })
        }
        _ => Err(Error::TooLarge { shape: shape.into(), element_bytes }),
    }
}

/// Extents and strides of an array, and the offset of its first element; all in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout<D> {
    dim: D,
    /// Each stride as the bits of an `isize`, as in ndarray.
    strides: D,
    /// The offset of the first element from the beginning of the memory.
    offset: usize,
}

impl<D: Dimension> Layout<D> {
    /// The C-contiguous layout at offset 0; all strides 0 without elements, as in ndarray.
    pub(crate) fn c_order(dim: D) -> Self {
        let axes = (0..dim.ndim()).rev();
        Self::contiguous(dim, axes)
    }

    /// The Fortran-contiguous layout at offset 0; all strides 0 without elements, as in ndarray.
    pub(crate) fn f_order(dim: D) -> Self {
        let axes = 0..dim.ndim();
        Self::contiguous(dim, axes)
    }

    /// The contiguous layout with the first of `axes` fastest.
    fn contiguous(dim: D, axes: impl Iterator<Item = usize>) -> Self {
        let mut strides = D::zeros(dim.ndim());
        if !dim.slice().contains(&0) {
            let mut step = 1;
            for axis in axes {
                strides[axis] = step;
                step *= dim[axis];
            }
        }
        Layout { dim, strides, offset: 0 }
    }

    /// A layout with any strides, in elements; `None` if an element would lie before the beginning or beyond `isize`,
    /// or if there are more than `isize` counts.
    pub(crate) fn strided(dim: D, strides: &[isize], offset: usize) -> Option<Self> {
        checked_len(dim.slice())?;
        let (mut low, mut high) = (isize::try_from(offset).ok()?, isize::try_from(offset).ok()?);
        let mut bits = D::zeros(dim.ndim());
        for (axis, stride) in strides.iter().enumerate() {
            let distance = isize::try_from(dim[axis].saturating_sub(1)).ok()?.checked_mul(*stride)?;
            let end = if distance < 0 { &mut low } else { &mut high };
            *end = end.checked_add(distance)?;
            bits[axis] = *stride as usize;
        }
        let layout = Layout { dim, strides: bits, offset };
        (low >= 0 || layout.len() == 0).then_some(layout)
    }

    /// The distance of the lowest element below the first one; `None` if it exceeds `isize`.
    pub(crate) fn elements_below(dim: &D, strides: &[isize]) -> Option<usize> {
        let negative = strides.iter().enumerate().filter(|(_, stride)| **stride < 0);
        negative.into_iter().try_fold(0_usize, |below, (axis, stride)| {
            let distance = dim[axis].saturating_sub(1).checked_mul(stride.unsigned_abs())?;
            below.checked_add(distance).filter(|sum| isize::try_from(*sum).is_ok())
        })
    }

    pub(crate) fn dim(&self) -> &D {
        &self.dim
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.dim.slice()
    }

    pub(crate) fn stride_bits(&self) -> &D {
        &self.strides
    }

    /// The stride of one axis.
    pub(crate) fn stride(&self, axis: usize) -> isize {
        self.strides[axis] as isize
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn len(&self) -> usize {
        self.dim.size()
    }

    pub(crate) fn is_c_contiguous(&self) -> bool {
        self.is_contiguous((0..self.dim.ndim()).rev())
    }

    pub(crate) fn is_f_contiguous(&self) -> bool {
        self.is_contiguous(0..self.dim.ndim())
    }

    /// Returns true if the layout is contiguous with the first of `axes` fastest. Extents of 1 may have any stride.
    fn is_contiguous(&self, axes: impl Iterator<Item = usize>) -> bool {
        let mut step = 1;
        let mut follows = |axis: usize| {
            let (extent, before) = (self.dim[axis], step);
            step *= extent as isize;
            extent == 1 || self.stride(axis) == before
        };
        self.len() == 0 || axes.into_iter().all(&mut follows)
    }

    /// The range of the memory, in elements, from the lowest element of the array to the highest.
    pub(crate) fn span(&self) -> Range<usize> {
        if self.len() == 0 {
            return self.offset..self.offset;
        }
        let (mut low, mut high) = (self.offset as isize, self.offset as isize);
        for (axis, extent) in self.shape().iter().enumerate() {
            let distance = (*extent as isize - 1) * self.stride(axis);
            *(if distance < 0 { &mut low } else { &mut high }) += distance;
        }
        low as usize..high as usize + 1
    }

    /// Returns true if two indices may refer to the same element, as in a broadcast array. Conservative: never false if
    /// they do.
    pub(crate) fn repeats(&self) -> bool {
        let mut axes: SmallVec<[(usize, usize); 8]> = (0..self.dim.ndim())
            .filter(|axis| self.dim[*axis] > 1)
            .map(|axis| (self.stride(axis).unsigned_abs(), self.dim[axis]))
            .collect();
        axes.sort_unstable();
        let mut reached = 0;
        self.len() != 0
            && axes.into_iter().any(|(stride, extent)| {
                let overlaps = stride <= reached;
                reached += stride * (extent - 1);
                overlaps
            })
    }

    /// The offsets of the first `count` elements, in index order.
    pub(crate) fn first(&self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).map(|mut rest| {
            let mut place = self.offset as isize;
            for axis in (0..self.dim.ndim()).rev() {
                place += (rest % self.dim[axis]) as isize * self.stride(axis);
                rest /= self.dim[axis];
            }
            place as usize
        })
    }

    /// The layout of ndarray's `slice`.
    ///
    /// # Panics
    ///
    /// As ndarray's: for a bound outside its axis, a step of 0, or another number of axes.
    #[track_caller]
    pub(crate) fn slice<I: SliceArg<D> + ?Sized>(&self, info: &I) -> Layout<I::OutDim> {
        assert_eq!(info.in_ndim(), self.dim.ndim(), "the slice has another number of axes than the array");
        let (mut dim, mut strides) = (I::OutDim::zeros(info.out_ndim()), I::OutDim::zeros(info.out_ndim()));
        let (mut from, mut to, mut offset) = (0, 0, self.offset as isize);
        for element in info.as_ref() {
            match *element {
                SliceInfoElem::Slice { start, end, step } => {
                    let axis = sliced(self.dim[from], self.stride(from), Slice { start, end, step }, from);
                    (dim[to], strides[to]) = (axis.extent, axis.stride as usize);
                    offset += axis.offset;
                    (from, to) = (from + 1, to + 1);
                }
                SliceInfoElem::Index(index) => {
                    offset += indexed(self.dim[from], self.stride(from), index, from);
                    from += 1;
                }
                SliceInfoElem::NewAxis => {
                    dim[to] = 1;
                    to += 1;
                }
            }
        }
        Layout { dim, strides, offset: offset as usize }
    }

    /// The layout with one axis sliced.
    ///
    /// # Panics
    ///
    /// As [`slice`](Layout::slice).
    #[track_caller]
    pub(crate) fn slice_axis(&self, axis: Axis, slice: Slice) -> Self {
        let part = sliced(self.dim[axis.index()], self.stride(axis.index()), slice, axis.index());
        let mut layout = self.clone();
        layout.dim[axis.index()] = part.extent;
        layout.strides[axis.index()] = part.stride as usize;
        layout.offset = (self.offset as isize + part.offset) as usize;
        layout
    }

    /// Splits the layout at `index` of an axis.
    ///
    /// # Panics
    ///
    /// If `index` is beyond the axis.
    #[track_caller]
    pub(crate) fn split_at(&self, axis: Axis, index: usize) -> (Self, Self) {
        let extent = self.dim[axis.index()];
        // A slice would treat an index beyond `isize` as counted from the end.
        assert!(index <= extent, "index {index} is outside axis {} of extent {extent}", axis.index());
        (self.slice_axis(axis, Slice::from(..index)), self.slice_axis(axis, Slice::from(index..)))
    }

    /// The layout at one index of an axis.
    ///
    /// # Panics
    ///
    /// If the index is outside the axis.
    #[track_caller]
    pub(crate) fn index_axis(&self, axis: Axis, index: usize) -> Layout<D::Smaller>
    where
        D: RemoveAxis,
    {
        let (extent, stride) = (self.dim[axis.index()], self.stride(axis.index()));
        assert!(index < extent, "index {index} is outside axis {} of extent {extent}", axis.index());
        let offset = self.offset as isize + stride * index as isize;
        Layout { dim: self.dim.remove_axis(axis), strides: self.strides.remove_axis(axis), offset: offset as usize }
    }

    /// The layout with a new axis of extent 1.
    pub(crate) fn insert_axis(&self, axis: Axis) -> Layout<D::Larger> {
        let mut strides = self.strides.insert_axis(axis);
        strides[axis.index()] = 0;
        Layout { dim: self.dim.insert_axis(axis), strides, offset: self.offset }
    }

    /// The axes in another order: axis `i` is what axis `axes[i]` was.
    ///
    /// # Panics
    ///
    /// Unless each axis is named once.
    #[track_caller]
    pub(crate) fn permuted(&self, axes: &D) -> Self {
        let ndim = self.dim.ndim();
        let (mut dim, mut strides) = (D::zeros(ndim), D::zeros(ndim));
        let mut named: SmallVec<[bool; 8]> = smallvec![false; ndim];
        assert_eq!(axes.ndim(), ndim, "a permutation names each axis once");
        for (to, from) in axes.slice().iter().enumerate() {
            assert!(
                *from < ndim && !named[*from],
                "a permutation of {ndim} axes names each once, not {:?}",
                axes.slice()
            );
            named[*from] = true;
            (dim[to], strides[to]) = (self.dim[*from], self.strides[*from]);
        }
        Layout { dim, strides, offset: self.offset }
    }

    /// The axes in reverse order, as of a transposed matrix.
    pub(crate) fn reversed(&self) -> Self {
        let mut layout = self.clone();
        layout.dim.slice_mut().reverse();
        layout.strides.slice_mut().reverse();
        layout
    }

    /// The layout broadcast to `dim`; `None` if the shapes do not fit, or if `dim` has more elements than `isize`
    /// counts.
    pub(crate) fn broadcast<E: Dimension>(&self, dim: E) -> Option<Layout<E>> {
        checked_len(dim.slice())?;
        let added = dim.ndim().checked_sub(self.dim.ndim())?;
        let mut strides = E::zeros(dim.ndim());
        for (axis, extent) in self.shape().iter().enumerate() {
            match dim[added + axis] {
                same if same == *extent => strides[added + axis] = self.strides[axis],
                _ if *extent == 1 => {}
                _ => return None,
            }
        }
        Some(Layout { dim, strides, offset: self.offset })
    }

    /// The same layout with a dynamic number of axes.
    pub(crate) fn into_dyn(self) -> Layout<IxDyn> {
        Layout { dim: self.dim.into_dyn(), strides: self.strides.into_dyn(), offset: self.offset }
    }

    /// The same layout with a static number of axes; `None` if the number differs.
    pub(crate) fn into_dimensionality<E: Dimension>(self) -> Option<Layout<E>> {
        let (dim, strides) = (E::from_dimension(&self.dim)?, E::from_dimension(&self.strides)?);
        Some(Layout { dim, strides, offset: self.offset })
    }

    /// The layout without its axes of extent 1.
    pub(crate) fn squeezed(&self) -> Layout<IxDyn> {
        let kept = || (0..self.dim.ndim()).filter(|axis| self.dim[*axis] != 1);
        let of = |numbers: &D| IxDyn(&kept().map(|axis| numbers[axis]).collect::<Vec<_>>());
        Layout { dim: of(&self.dim), strides: of(&self.strides), offset: self.offset }
    }

    /// The order of a contiguous copy: Fortran if only that fits, else C.
    pub(crate) fn order(&self) -> Order {
        if self.is_f_contiguous() && !self.is_c_contiguous() { Order::ColumnMajor } else { Order::RowMajor }
    }
}

/// A sliced axis, and the offset by which slicing moves the first element.
struct Sliced {
    extent: usize,
    stride: isize,
    offset: isize,
}

#[track_caller]
fn sliced(extent: usize, stride: isize, slice: Slice, axis: usize) -> Sliced {
    let absolute = |bound: isize| if bound < 0 { bound.wrapping_add(extent as isize) } else { bound };
    let (start, end) = (absolute(slice.start), absolute(slice.end.unwrap_or(extent as isize)));
    let inside = 0..=extent as isize;
    assert!(
        inside.contains(&start) && inside.contains(&end),
        "slice {}..{} is outside axis {axis} of extent {extent}",
        slice.start,
        slice.end.map_or_else(String::new, |end| end.to_string())
    );
    assert_ne!(slice.step, 0, "the step of a slice of axis {axis} is 0");
    let span = (end - start).max(0);
    let left = (span as usize).div_ceil(slice.step.unsigned_abs());
    let first = if slice.step < 0 { end - 1 } else { start };
    Sliced {
        extent: left,
        stride: if left <= 1 { 0 } else { stride * slice.step },
        offset: if span == 0 { 0 } else { first * stride },
    }
}

#[track_caller]
fn indexed(extent: usize, stride: isize, index: isize, axis: usize) -> isize {
    let absolute = if index < 0 { index.wrapping_add(extent as isize) } else { index };
    assert!((0..extent as isize).contains(&absolute), "index {index} is outside axis {axis} of extent {extent}");
    absolute * stride
}
