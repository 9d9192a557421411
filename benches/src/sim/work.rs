//! The work that every compared program does: sizes, inputs and expected results.
//!
//! Inputs are small integers, so that sums are exact and independent of the order of the additions.

use anyhow::{Result, ensure};

/// Elements of one-dimensional kernels.
pub(super) const N: usize = 1 << 20;
/// Side of the matrices.
pub(super) const SIDE: usize = 512;
/// The factor of saxpy.
pub(super) const A: f32 = 3.0;

/// The sequence `0 1 .. modulus-1 0 1 ..` of that length.
pub(super) fn ramp(length: usize, modulus: usize) -> Vec<f32> {
    (0..length).map(|i| (i % modulus) as f32).collect()
}

/// The sums of groups of `group` elements, which are blocks or warps.
pub(super) fn sums(x: &[f32], group: usize) -> Vec<f32> {
    x.chunks(group).map(|chunk| chunk.iter().sum()).collect()
}

/// The product of two square matrices.
pub(super) fn product(a: &[f32], b: &[f32], side: usize) -> Vec<f32> {
    let mut c = vec![0.0; side * side];
    for (row, c) in a.chunks(side).zip(c.chunks_mut(side)) {
        for (factor, b) in row.iter().zip(b.chunks(side)) {
            c.iter_mut().zip(b).for_each(|(c, b)| *c += factor * b);
        }
    }
    c
}

/// Fails with the position of the first value that is not the expected one.
pub(super) fn check(name: &str, got: &[f32], expected: &[f32]) -> Result<()> {
    ensure!(got.len() == expected.len(), "{name} gave {} values and not {}", got.len(), expected.len());
    match got.iter().zip(expected).position(|(got, expected)| got != expected) {
        Some(at) => anyhow::bail!("{name}: element {at} is {} and not {}", got[at], expected[at]),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_rows_by_columns() {
        assert_eq!(product(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 2), [19.0, 22.0, 43.0, 50.0]);
    }

    #[test]
    fn the_error_names_the_wrong_element() {
        let error = check("it", &[1.0, 2.0], &[1.0, 3.0]).unwrap_err().to_string();
        assert_eq!(error, "it: element 1 is 2 and not 3");
        assert!(check("it", &[1.0], &[1.0, 3.0]).is_err());
        assert!(check("it", &[1.0, 3.0], &[1.0, 3.0]).is_ok());
    }
}
