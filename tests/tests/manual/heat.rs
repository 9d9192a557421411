//! Example: heat in a rod with cold ends, with double buffering.

use cuda_prelude::*;
use ndarray::Array1;

#[kernel(fma = false)]
fn step(before: &[f64], after: &mut [f64], k: f64) {
    let i = grid::<1>();
    if i >= after.len() {
        return;
    }
    after[i] = if i == 0 || i == before.len() - 1 {
        0.0
    } else {
        before[i] + k * (before[i - 1] - 2.0 * before[i] + before[i + 1])
    };
}

fn host_step(before: &Array1<f64>, k: f64) -> Array1<f64> {
    let last = before.len() - 1;
    Array1::from_shape_fn(before.len(), |i| {
        if i == 0 || i == last { 0.0 } else { before[i] + k * (before[i - 1] - 2.0 * before[i] + before[i + 1]) }
    })
}

#[test]
fn a_rod_cools() -> Result<()> {
    let n = 1001;
    let mut host = Array1::zeros(n);
    host[500] = 10_000.0;
    let (mut now, mut next) = (to_device(&host)?, zeros::<f64, _>(n)?);
    for _ in 0..200 {
        step::launch((n.div_ceil(256), 256), &now, &mut next, 0.25)?;
        std::mem::swap(&mut now, &mut next);
        host = host_step(&host, 0.25);
    }
    let now = now.copy_to_host()?;
    assert_eq!(now, host);
    assert!((now.sum() - 10_000.0).abs() < 1e-6, "no heat has reached the ends: {}", now.sum());
    assert!(now[500] > 300.0 && now[500] < 600.0, "{}", now[500]);
    Ok(())
}
