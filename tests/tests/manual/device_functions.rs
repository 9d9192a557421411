//! Writing device functions: calls, several results, generics, closures, recursion.

use cuda_prelude::*;

#[device]
fn polar(x: f64, y: f64) -> (f64, f64) {
    (x.hypot(y), y.atan2(x))
}

#[device]
fn both<T: Num, F: Fn(T) -> T>(f: F, pair: (T, T)) -> (T, T) {
    (f(pair.0), f(pair.1))
}

/// A recursive function, as in Numba's chapter on supported features.
#[device]
fn fibonacci(n: u32) -> u64 {
    if n < 2 { n as u64 } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

/// Mutually recursive functions, which Numba refuses.
#[device]
fn is_even(n: u32) -> bool {
    n == 0 || is_odd(n - 1)
}

#[device]
fn is_odd(n: u32) -> bool {
    n != 0 && is_even(n - 1)
}

#[kernel]
fn parities(out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 10 * is_even(i as u32) as u32 + is_odd(i as u32) as u32;
    }
}

#[kernel]
fn scaled_polar(x: &[f64], y: &[f64], scale: f64, out: &mut [[f64; 2]]) {
    let i = grid::<1>();
    if i < out.len() {
        let (radius, angle) = both(|v| v * scale, polar(x[i], y[i]));
        out[i] = [radius, angle];
    }
}

#[kernel]
fn fibonaccis(out: &mut [u64]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = fibonacci(i as u32);
    }
}

#[test]
fn several_results_and_a_closure() -> Result<()> {
    let (x, y) = (vec![3.0, 0.0, -1.0], vec![4.0, 2.0, 0.0]);
    let mut out = vec![[0.0; 2]; 3];
    scaled_polar::launch((1, 32), &x, &y, 2.0, &mut out)?;
    let pi = std::f64::consts::PI;
    for (got, expected) in out.iter().zip([[10.0, 2.0 * 4_f64.atan2(3.0)], [4.0, pi], [2.0, 2.0 * pi]]) {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() <= 1e-14 * expected, "{got} is not {expected}");
        }
    }
    Ok(())
}

#[test]
fn functions_that_call_each_other() -> Result<()> {
    let mut out = vec![0; 10];
    parities::launch((1, 16), &mut out)?;
    assert_eq!(out, [10, 1, 10, 1, 10, 1, 10, 1, 10, 1]);
    Ok(())
}

#[test]
fn recursion() -> Result<()> {
    let mut out = vec![0; 16];
    fibonaccis::launch((1, 16), &mut out)?;
    assert_eq!(out, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610]);
    Ok(())
}
