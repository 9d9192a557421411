//! `y = a x + y` by a device function and a grid-stride loop, in a stream of its own, timed by events.
//!
//! `cargo xtask demo saxpy` runs it.

use cuda_prelude::*;
use ndarray::Array1;

/// A function that kernels call; rustc resolves it, for every element type.
#[device]
fn axpy<T: Num>(a: T, x: T, y: T) -> T {
    a * x + y
}

/// A grid-stride loop, so that any grid covers any length.
#[kernel]
fn saxpy<T: Num>(a: T, x: &[T], y: &mut [T]) {
    let mut i = grid::<1>();
    while i < y.len() {
        y[i] = axpy(a, x[i], y[i]);
        i += grid_size::<1>();
    }
}

fn main() -> Result<()> {
    let n = 1 << 20;
    let x = to_device(&Array1::from_iter((0..n).map(|i| i as f32)))?;
    let mut y = to_device(&Array1::from_elem(n, 1.0_f32))?;

    let s = stream()?;
    let (start, end) = (event()?, event()?);
    saxpy::<f32>::compile()?;
    s.scope(|s| {
        start.record(s)?;
        saxpy::launch((64, 256, s), 2.0, &x, &mut y)?;
        end.record(s)
    })?;
    println!("{} elements on {} in {:.3} ms", n, current_device()?, event_elapsed_time(&start, &end)?);

    let host_y = y.copy_to_host()?;
    let wrong = (0..n).filter(|&i| host_y[i] != 2.0 * i as f32 + 1.0).count();
    println!("checked {n} elements, {wrong} wrong");
    if wrong > 0 {
        std::process::exit(1);
    }
    Ok(())
}
