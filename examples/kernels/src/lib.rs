//! Kernels and device functions as a crate that programs depend on: linear algebra, and a neural network in [`digits`].
//!
//! A program compiles a generic kernel of this crate for its own element types when it launches it.

pub mod digits;

use cuda_prelude::*;
use ndarray::{ArrayView2, ArrayViewMut2};

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

/// The matrix product `c = a b`, a thread for each element, which reads a row of `a` and a column of `b`.
///
/// # Examples
///
/// ```
/// use cuda_example_kernels::matmul;
/// use ndarray::{Array2, array};
///
/// # fn main() -> cuda_prelude::Result<()> {
/// let (a, b) = (array![[1, 2], [3, 4]], array![[1, 0, 2], [0, 1, 1]]);
/// let mut c = Array2::zeros((2, 3));
/// matmul::launch((1, (16, 16)), &a, &b, &mut c)?;
/// assert_eq!(c, a.dot(&b));
/// # Ok(())
/// # }
/// ```
#[kernel]
pub fn matmul<T: Num>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>) {
    // Neighbouring threads have neighbouring columns, so that their accesses are coalesced.
    let (column, row) = grid::<2>();
    if row < c.nrows() && column < c.ncols() {
        let mut sum = T::ZERO;
        for k in 0..a.ncols() {
            sum += a[[row, k]] * b[[k, column]];
        }
        c[[row, column]] = sum;
    }
}

/// The matrix product `c = a b` with tiles in shared memory: each element is read from global memory once for all threads in a row or
/// column of a block, which has `TILE` by `TILE` threads.
///
/// # Examples
///
/// ```
/// use cuda_example_kernels::tiled_matmul;
/// use ndarray::{Array2, array};
///
/// # fn main() -> cuda_prelude::Result<()> {
/// let (a, b) = (array![[1, 2], [3, 4]], array![[1, 0, 2], [0, 1, 1]]);
/// let mut c = Array2::zeros((2, 3));
/// tiled_matmul::<_, 16>::launch((1, (16, 16)), &a, &b, &mut c)?;
/// assert_eq!(c, a.dot(&b));
/// # Ok(())
/// # }
/// ```
#[kernel]
pub fn tiled_matmul<T: Num, const TILE: usize>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut c: ArrayViewMut2<'_, T>,
) {
    let tile_a = shared!([[T; TILE]; TILE]);
    let tile_b = shared!([[T; TILE]; TILE]);
    let (column, row) = grid::<2>();
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let mut sum = T::ZERO;
    for first in (0..a.ncols()).step_by(TILE) {
        let (k_a, k_b) = (first + tx, first + ty);
        tile_a[ty][tx] = if row < a.nrows() && k_a < a.ncols() { a[[row, k_a]] } else { T::ZERO };
        tile_b[ty][tx] = if k_b < b.nrows() && column < b.ncols() { b[[k_b, column]] } else { T::ZERO };
        sync_threads();
        for k in 0..TILE {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        sync_threads();
    }
    if row < c.nrows() && column < c.ncols() {
        c[[row, column]] = sum;
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
