//! Whole programs as users write them.

use cuda_prelude::*;
use ndarray::{Array1, Array2, s};

use crate::support::add_arrays;

#[test]
fn the_vector_add_of_a_million() -> Result<()> {
    let host_x = Array1::from_iter((0..1_000_000).map(|i| i as f32));
    let host_y = &host_x * 2.0;
    let x = to_device(&host_x)?;
    let y = to_device(&host_y)?;
    let mut out = device_array_like(&x)?;
    let threads = 128;
    let blocks = out.len().div_ceil(threads);
    add_arrays::launch((blocks, threads), &x, &y, &mut out)?;
    let host_out = out.copy_to_host()?;
    assert_eq!(host_out.slice(s![..10]).to_string(), "[0, 3, 6, 9, 12, 15, 18, 21, 24, 27]");
    assert_eq!(host_out, host_x * 3.0);
    Ok(())
}

/// Every block size, also one that does not divide the length, gives the host's result.
#[test]
fn the_result_does_not_depend_on_the_block() -> Result<()> {
    let host = Array1::from_iter((0..10_007).map(|i| 0.1 * i as f64));
    let x = to_device(&host)?;
    for threads in [1, 31, 32, 33, 96, 128, 1000, 1024] {
        let mut out = zeros::<f64, _>(host.len())?;
        add_arrays::launch((host.len().div_ceil(threads), threads), &x, &x, &mut out)?;
        assert_eq!(out.copy_to_host()?, &host + &host, "{threads} threads");
    }
    Ok(())
}

macro_rules! element_types {
    ($($ty:ident)*) => { $(
        #[test]
        fn $ty() -> Result<()> {
            // 8-bit sums stay in range.
            let host: Array1<$ty> = (0..50_u8).map(|i| i as $ty).collect();
            let x = to_device(&host)?;
            let mut out = device_array_like(&x)?;
            super::add_arrays::launch((2, 32), &x, &x, &mut out)?;
            assert_eq!(out.copy_to_host()?, &host + &host);
            Ok(())
        }
    )* };
}

/// A generic kernel that is compiled for every element type.
mod generic {
    use cuda_prelude::*;
    use ndarray::Array1;

    element_types! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 }
}

/// A device function, a loop and an early exit, compared with the same Rust code on the host.
#[device]
fn collatz_steps(start: u64) -> u32 {
    let mut n = start;
    let mut steps = 0;
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

#[kernel]
fn collatz(start: u64, steps: &mut [u32]) {
    let mut i = grid::<1>();
    while i < steps.len() {
        steps[i] = collatz_steps(start + i as u64);
        i += grid_size::<1>();
    }
}

#[test]
fn a_grid_stride_loop_with_a_device_function() -> Result<()> {
    let mut steps = device_array::<u32, _>(5_000)?;
    collatz::launch((3, 64), 27, &mut steps)?;
    let host: Array1<u32> = (0..5_000).map(|i| collatz_steps(27 + i)).collect();
    assert_eq!(steps.copy_to_host()?, host);
    assert_eq!(host[0], 111);
    Ok(())
}

/// Transposes a matrix with a two-dimensional grid.
#[kernel]
fn transpose(width: usize, height: usize, from: &[i32], to: &mut [i32]) {
    let (col, row) = grid::<2>();
    if row < height && col < width {
        to[col * height + row] = from[row * width + col];
    }
}

#[test]
fn a_kernel_in_two_dimensions() -> Result<()> {
    let (height, width) = (37, 53);
    let host = Array2::from_shape_fn((height, width), |(row, col)| (100 * row + col) as i32);
    let from = to_device(&Array1::from_iter(host.iter().copied()))?;
    let mut to = zeros::<i32, _>(width * height)?;
    transpose::launch(((4, 5), (16, 8)), width, height, &from, &mut to)?;
    assert_eq!(to.copy_to_host()?, Array1::from_iter(host.t().iter().copied()));
    Ok(())
}

/// A kernel whose arithmetic gives the same bits on the host.
#[kernel]
fn mixed(x: &[f32], y: &mut [f32]) {
    let i = grid::<1>();
    if i < y.len() {
        let v = x[i];
        y[i] = if v > 0.5 { (v * 3.0 + 1.0).sqrt() } else { 1.0 / (v - 2.0) };
    }
}

#[test]
fn a_kernel_called_on_the_host_gives_the_devices_results() -> Result<()> {
    let host = Array1::from_iter((0..1000).map(|i| i as f32 / 1000.0));
    let x = to_device(&host)?;
    let mut y = zeros::<f32, _>(1000)?;
    mixed::launch((8, 128), &x, &mut y)?;
    let mut expected = vec![0.0; 1000];
    cuda_jit::host::for_each_thread((8, 128), || mixed(host.as_slice().expect("in C order"), &mut expected));
    for (i, (got, wanted)) in y.copy_to_host()?.iter().zip(&expected).enumerate() {
        // A GPU may fuse a multiplication and an addition; otherwise it rounds like the host.
        let close = (got - wanted).abs() <= f32::EPSILON * wanted.abs();
        assert!(close, "element {i}: {got} on the device, {wanted} on the host");
    }
    Ok(())
}

/// Functions that shadow names of the prelude's glob import.
mod hiding {
    use cuda_prelude::*;

    #[device]
    fn popc(x: u32) -> u32 {
        x.count_ones() + 100
    }

    #[device]
    fn event(x: u32) -> u32 {
        popc(x) + 1
    }

    #[device]
    fn order<T: Integer>(x: T, y: T) -> bool {
        x < y
    }

    #[kernel]
    fn hidden(out: &mut [u32]) {
        let i = grid::<1>() as u32;
        if i < out.len() as u32 {
            out[i as usize] = if order::<u32>(i, 2) { popc(i) } else { event(i) };
        }
    }

    #[test]
    fn functions_may_have_names_of_the_prelude() -> Result<()> {
        let mut out = [0; 4];
        hidden::launch((1, 32), &mut out)?;
        assert_eq!(out, [100, 101, 102, 103]);
        Ok(())
    }
}
