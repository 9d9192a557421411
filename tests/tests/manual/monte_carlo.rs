//! Example: Monte Carlo integration of a function that the caller passes.

use cuda_prelude::*;

/// The Weyl sequence of thread `i`, which is uniformly distributed and the same on every machine.
#[device]
fn point(i: usize, k: usize) -> f64 {
    ((i * 4099 + k) as f64 * 0.618_033_988_749_894_9).fract()
}

#[device]
fn average<F: Fn(f64) -> f64>(i: usize, points: usize, low: f64, high: f64, f: F) -> f64 {
    let mut sum = 0.0;
    for k in 0..points {
        sum += f(low + (high - low) * point(i, k));
    }
    sum / points as f64
}

#[kernel]
fn integrate_gauss(low: f64, high: f64, points: usize, out: &mut [f64]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = average(i, points, low, high, |x| (-x * x).exp()) * (high - low);
    }
}

#[test]
fn an_integral_of_the_bell() -> Result<()> {
    let mut out = vec![0.0; 1000];
    integrate_gauss::launch((8, 128), -1.0, 1.0, 200, &mut out)?;
    let integral = out.iter().sum::<f64>() / 1000.0;
    // sqrt(pi) erf(1)
    assert!((integral - 1.493_648_265_624_854).abs() < 1e-4, "{integral}");
    Ok(())
}
