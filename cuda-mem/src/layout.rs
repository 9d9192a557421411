//! Sizes and strides of arrays: arithmetic on shapes, without memory.
//!
//! Invariant: for a shape that [`byte_size`] accepts, neither the number of elements nor the bytes nor any stride overflows
//! `isize`, as in ndarray.

use ndarray::Dimension;

use crate::error::{Error, Result};

/// Bytes of a C-contiguous array of `shape`; an error if the product of its extents other than 0 does not fit `isize`.
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

/// Strides in elements of a C-contiguous array of `dim`; all 0 where there are no elements, as in ndarray.
pub(crate) fn c_strides<D: Dimension>(dim: &D) -> D {
    let mut strides = D::zeros(dim.ndim());
    if dim.slice().contains(&0) {
        return strides;
    }
    let mut step = 1;
    for (stride, extent) in strides.slice_mut().iter_mut().zip(dim.slice()).rev() {
        *stride = step;
        step *= extent;
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array, Dim, IxDyn};

    #[test]
    fn sizes_are_products_and_zero_extents_make_zero() {
        assert_eq!(byte_size(&[], 4).unwrap(), 4);
        assert_eq!(byte_size(&[2, 3], 4).unwrap(), 24);
        assert_eq!(byte_size(&[2, 0, 3], 4).unwrap(), 0);
        assert_eq!(byte_size(&[5], 0).unwrap(), 0);
    }

    #[test]
    fn a_size_beyond_the_address_space_is_an_error_that_names_the_shape() {
        for shape in [&[usize::MAX, 2][..], &[1 << 61], &[1 << 40, 0, 1 << 40]] {
            let text = byte_size(shape, 8).unwrap_err().to_string();
            assert!(text.contains(&format!("{shape:?} with elements of 8 bytes")), "{text}");
        }
        assert_eq!(byte_size(&[(1 << 60) - 1], 8).unwrap(), (1 << 63) - 8);
    }

    #[test]
    fn strides_are_ndarrays_own() {
        assert_eq!(c_strides(&Dim([2, 3, 4])).slice(), [12, 4, 1]);
        for shape in [vec![], vec![7], vec![2, 3], vec![1, 5, 1], vec![4, 0, 2]] {
            let array = Array::<u8, _>::zeros(IxDyn(&shape));
            let strides: Vec<isize> = c_strides(&IxDyn(&shape)).slice().iter().map(|stride| *stride as isize).collect();
            assert_eq!(strides, array.strides(), "{shape:?}");
        }
    }
}
