//! Fast math: the results and the code of the same expression, exact and fast.

use cuda_prelude::*;

#[device]
fn bell(x: f32) -> f32 {
    (-x * x).exp() / (1.0 + x * x).sqrt()
}

#[kernel]
fn exact(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = bell(x[i]);
    }
}

#[kernel(fastmath)]
fn fast(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = bell(x[i]);
    }
}

fn largest_error(out: &[f32], x: &[f32]) -> f64 {
    let expected = |x: &f32| {
        let x = f64::from(*x);
        (-x * x).exp() / (1.0 + x * x).sqrt()
    };
    out.iter().zip(x).map(|(&got, x)| (f64::from(got) / expected(x) - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn both_are_near_the_exact_value() -> Result<()> {
    let x: Vec<f32> = (0..1000).map(|i| (i - 500) as f32 * 0.006).collect();
    let (mut slow, mut quick) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    exact::launch((8, 128), &x, &mut slow)?;
    fast::launch((8, 128), &x, &mut quick)?;
    let (slow, quick) = (largest_error(&slow, &x), largest_error(&quick, &x));
    assert!(slow < 1e-6, "{slow}");
    assert!(quick < 1e-5, "{quick}");
    Ok(())
}

/// In Numba fast math does not apply to called device functions.
#[test]
fn fast_math_applies_to_device_functions() -> Result<()> {
    let (exact, fast) = (exact::compile_ptx((9, 0))?, fast::compile_ptx((9, 0))?);
    assert!(exact.contains("sqrt.rn.f32") && !exact.contains("sqrt.approx"), "{exact}");
    assert!(fast.contains("approx.ftz.f32") && !fast.contains("sqrt.rn.f32"), "{fast}");
    Ok(())
}
