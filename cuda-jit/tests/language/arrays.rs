//! Local arrays.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{Num, device, kernel};

#[device]
fn total<T: Num>(values: &[T]) -> T {
    let mut sum = T::ZERO;
    for i in 0..values.len() {
        sum += values[i];
    }
    sum
}

#[device]
fn by_value(mut values: [u32; 4]) -> u32 {
    values[0] = 100;
    values[0] + values[3]
}

#[device]
fn bump(values: &mut [u32; 4], by: u32) {
    for i in 0..values.len() {
        values[i] += by;
    }
}

#[kernel]
fn arrays(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut a = [x[i], 2, 3, 4];
    let mut b = a;
    b[1] = 50;
    a[i % 4] += 7;
    bump(&mut a, 1);
    let pair = (a, 9u32);
    a[0] = 0;
    let moved = by_value(b);
    out[i * 8] = total(&a);
    out[i * 8 + 1] = total(&b);
    out[i * 8 + 2] = moved;
    out[i * 8 + 3] = b[0];
    out[i * 8 + 4] = total(&pair.0) + pair.1;
    let mut grid = [[0u32; 3]; 5];
    for row in 0..5 {
        for column in 0..grid[row].len() {
            grid[row][column] = (row * 10 + column) as u32;
        }
    }
    out[i * 8 + 5] = grid[i % 5][2] + grid[4][i % 3];
    let chosen = if i % 2 == 0 { [1, 2, 3, 4] } else { a };
    out[i * 8 + 6] = chosen[3] * 10 + chosen[0];
    let many = [i as u32; 40];
    out[i * 8 + 7] = total(&many) + [5u32, 6, 7][i % 3];
}

#[test]
fn arrays_are_values() {
    let x: Vec<u32> = (10..18).collect();
    differ!(arrays, (1, 8), [&x[..]], vec![0u32; 64]);
}

#[kernel]
fn history<const N: usize>(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let mut ring = [0.0; N];
    let mut at = 0;
    for k in 0..x.len() {
        ring[at] = x[k] * i as f32;
        at = (at + 1) % N;
    }
    out[i] = total(&ring);
}

#[test]
fn lengths_are_constants_of_the_kernel() {
    fn run<const N: usize>() {
        let x: Vec<f32> = (0..20).map(|v| v as f32).collect();
        let mut host = vec![0.0; 4];
        cuda_jit::host::for_each_thread((1, 4), || history::<N>(&x, &mut host));
        let mut device = super::on_device(&[0.0f32; 4]);
        history::<N>::launch((1, 4), cuda_jit::launch::In(&x), &mut device).unwrap();
        assert_eq!(super::on_host(&device), host);
    }
    run::<3>();
    run::<17>();
}

#[test]
fn constant_indices_need_no_memory() {
    #[kernel]
    fn swap(out: &mut [f32]) {
        let i = grid::<1>();
        let a = [1.0, 2.0, 3.0];
        let b = [a[2], a[1], a[0]];
        out[i] = b[0] * b[1] - b[2];
    }
    assert!(!swap::compile_ptx((9, 0)).unwrap().contains(".local"));
    differ!(swap, (1, 2), [], vec![0f32; 2]);
}
