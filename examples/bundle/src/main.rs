//! Draws the Mandelbrot set in characters, by a kernel that the executable holds: built without the default features, this program has
//! neither a compiler nor LLVM in it.
//!
//! In the folder `examples/bundle`, with a driver or `CUDA_DRIVER_PATH=libcuda_sim.so`:
//!
//! ```sh
//! CUDA_JIT_RECORD=kernels.bundle cargo run --release       # compiles the kernel, and records it
//! cargo run --release --no-default-features                # launches what was recorded
//! ```
#![forbid(unsafe_code)]

use cuda_prelude::*;
use ndarray::{Array2, ArrayViewMut2};

/// The picture's rows and columns.
const SIZE: (usize, usize) = (24, 72);
/// A point that needs more steps to go far from 0 belongs to the set.
const LIMIT: u32 = 40;

/// The number of steps after which a point of the picture is far from 0, at most `LIMIT`.
#[device]
fn steps(row: usize, column: usize) -> u32 {
    let (x, y) = (column as f32 / 24.0 - 2.2, row as f32 / 10.0 - 1.15);
    let (mut re, mut im, mut count) = (0.0, 0.0, 0);
    while count < LIMIT && re * re + im * im < 4.0 {
        (re, im) = (re * re - im * im + x, 2.0 * re * im + y);
        count += 1;
    }
    count
}

/// Without fused multiply-adds it computes the same as the host.
#[kernel(fma = false)]
fn mandelbrot(mut counts: ArrayViewMut2<'_, u32>) {
    let (column, row) = grid::<2>();
    if row < counts.nrows() && column < counts.ncols() {
        counts[[row, column]] = steps(row, column);
    }
}

fn main() -> Result<()> {
    embed_kernels!("kernels.bundle")?;
    let mut counts = zeros::<u32, _>(SIZE)?;
    mandelbrot::launch(((SIZE.1.div_ceil(16), SIZE.0.div_ceil(16)), (16, 16)), &mut counts)?;
    let counts = counts.copy_to_host()?;
    for row in counts.rows() {
        let line: String = row.iter().map(|count| char::from(b" .:-=+*#%@"[(count * 9 / LIMIT) as usize])).collect();
        println!("{}", line.trim_end());
    }
    assert_eq!(counts, Array2::from_shape_fn(SIZE, |(row, column)| steps(row, column)));
    Ok(())
}
