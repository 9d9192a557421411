//! Kernels and device functions for linear algebra, as a crate that programs depend on.
//!
//! A program compiles a kernel of this crate for its own element types when it launches it.

use cuda_prelude::*;
use ndarray::ArrayView2;

/// `y = a x + b y`, a thread for each element.
///
/// # Examples
///
/// ```
/// use cuda_example_kernels::scale_add;
///
/// # fn main() -> cuda_prelude::Result<()> {
/// let mut y = [1.0, 2.0, 3.0];
/// scale_add::launch((1, 32), 10.0, &[1.0, 1.0, 2.0], 2.0, &mut y)?;
/// assert_eq!(y, [12.0, 14.0, 26.0]);
/// # Ok(())
/// # }
/// ```
#[kernel]
pub fn scale_add<T: Num>(a: T, x: &[T], b: T, y: &mut [T]) {
    let i = grid::<1>();
    if i < y.len() {
        y[i] = a * x[i] + b * y[i];
    }
}

/// The dot product of `x` and `y` in parts: `sums` has an element for each block, of `THREADS` threads, a power of two.
///
/// # Examples
///
/// ```
/// use cuda_example_kernels::dot;
///
/// # fn main() -> cuda_prelude::Result<()> {
/// let mut sums = [0; 2];
/// dot::<_, 32>::launch((2, 32), &vec![3; 100], &vec![2; 100], &mut sums)?;
/// assert_eq!(sums.iter().sum::<i32>(), 600);
/// # Ok(())
/// # }
/// ```
#[kernel]
pub fn dot<T: Num, const THREADS: usize>(x: &[T], y: &[T], sums: &mut [T]) {
    let tile = shared!([T; THREADS]);
    let thread = thread_idx().x;
    let mut sum = T::ZERO;
    let mut i = grid::<1>();
    while i < x.len() {
        sum += x[i] * y[i];
        i += grid_size::<1>();
    }
    tile[thread] = sum;
    let mut stride = THREADS / 2;
    while stride > 0 {
        sync_threads();
        if thread < stride {
            tile[thread] += tile[thread + stride];
        }
        stride /= 2;
    }
    if thread == 0 {
        sums[block_idx().x] = tile[0];
    }
}

/// Four times a cell less its four neighbours, which are 0 outside of the field: the negative Laplacian for a step of 1.
///
/// # Examples
///
/// ```
/// let field = ndarray::array![[1, 2], [3, 4]];
/// assert_eq!(cuda_example_kernels::negative_laplacian(field.view(), 1, 0), 7);
/// ```
#[device]
pub fn negative_laplacian<T: Num>(field: ArrayView2<'_, T>, row: usize, column: usize) -> T {
    let (rows, columns) = field.dim();
    let cell = field[[row, column]];
    let difference = |inside: bool, row: usize, column: usize| if inside { cell - field[[row, column]] } else { cell };
    let above = difference(row > 0, row.wrapping_sub(1), column);
    let below = difference(row + 1 < rows, row + 1, column);
    let left = difference(column > 0, row, column.wrapping_sub(1));
    let right = difference(column + 1 < columns, row, column + 1);
    above + below + left + right
}
