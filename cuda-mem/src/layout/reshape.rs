//! Reshapes and casts that move no element.

use ndarray::{Dimension, Order};

use super::{Layout, checked_len};

/// The same elements in the shape of `dim`, taken in `order`; `None` if that has another number of elements or more
/// than `isize` counts, or if elements would have to move.
///
/// Both shapes are split into the shortest groups of neighbouring axes with the same number of elements. Within a group
/// the old axes have to be contiguous; then the new ones are.
pub(crate) fn reshape<D: Dimension, E: Dimension>(layout: &Layout<D>, dim: E, order: Order) -> Option<Layout<E>> {
    if checked_len(dim.slice()) != Some(layout.len()) {
        return None;
    }
    if layout.len() == 0 {
        return Some(Layout { offset: layout.offset, ..Layout::c_order(dim) });
    }
    // Returns the axis at `position`, counted from the fastest, in the order in which elements are taken.
    let axis_at = |ndim: usize, position: usize| match order {
        Order::ColumnMajor => position,
        _ => ndim - 1 - position,
    };
    let old_axes = layout.dim.ndim();
    let axes = (0..old_axes).map(|position| axis_at(old_axes, position));
    let mut old = axes.map(|axis| (layout.dim[axis], layout.stride(axis))).filter(|(extent, _)| *extent != 1);
    let mut strides = E::zeros(dim.ndim());
    // `run` is the number of elements of the group that are still to be assigned to new axes, `step` the distance
    // between them.
    let (mut run, mut step) = (1, 1);
    for position in 0..dim.ndim() {
        let axis = axis_at(dim.ndim(), position);
        let extent = dim[axis];
        if extent == 1 {
            continue;
        }
        if run == 1 {
            (run, step) = old.next()?;
        }
        strides[axis] = step as usize;
        while !run.is_multiple_of(extent) {
            let (further, stride) = old.next()?;
            if stride != step * run as isize {
                return None;
            }
            run *= further;
        }
        run /= extent;
        step *= extent as isize;
    }
    Some(Layout { dim, strides, offset: layout.offset })
}

/// The same bytes as elements of another size; `None` if the last axis has gaps where elements are split or joined, or
/// does not hold a whole number of the new ones, or if there are more of them than `isize` counts.
pub(crate) fn cast<D: Dimension>(layout: &Layout<D>, old_bytes: usize, new_bytes: usize) -> Option<Layout<D>> {
    if old_bytes == new_bytes {
        return Some(layout.clone());
    }
    if old_bytes == 0 || new_bytes == 0 {
        return None;
    }
    let scaled = |elements: usize| {
        // The bytes of a broadcast axis may exceed the memory.
        let bytes = (elements as isize).checked_mul(old_bytes as isize)?;
        (bytes % new_bytes as isize == 0).then(|| (bytes / new_bytes as isize) as usize)
    };
    let last = layout.dim.ndim().checked_sub(1)?;
    if layout.dim[last] != 1 && layout.stride(last) != 1 && layout.len() != 0 {
        return None;
    }
    let mut cast = layout.clone();
    cast.offset = scaled(layout.offset)?;
    for axis in 0..last {
        // The stride of a single element is never used.
        cast.strides[axis] = if layout.dim[axis] <= 1 { 0 } else { scaled(layout.strides[axis])? };
    }
    cast.dim[last] = scaled(layout.dim[last])?;
    cast.strides[last] = 1;
    checked_len(cast.shape())?;
    Some(if cast.len() == 0 { Layout { offset: cast.offset, ..Layout::c_order(cast.dim) } } else { cast })
}
