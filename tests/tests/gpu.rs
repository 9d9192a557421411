//! Tests that need a GPU. Without one, each test is skipped by name.

use std::sync::Arc;

use cuda_driver::cuda_sys::DriverApi;
use cuda_driver::{Context, Driver};
use cuda_jit::Num;
use cuda_jit::device::grid;
use cuda_prelude::Result;
use ndarray::Array1;

use crate::support::skip;

/// The context of the first GPU; prints that `test` is skipped if there is none.
fn gpu(test: &str) -> Option<Context> {
    let context = DriverApi::load().ok().and_then(|api| {
        let device = Driver::new(Arc::new(api)).ok()?.device(0).ok()?;
        // `cuda-sim run` makes the loader find the software device.
        let is_software = device.uuid().is_ok_and(|uuid| uuid.0.starts_with(b"cuda-sim"));
        (!is_software).then(|| device.primary_context().ok())?
    });
    if context.is_none() {
        skip(test, "no GPU");
    }
    context
}

#[cuda_jit::kernel]
fn polynomial<T: Num>(x: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut sum = T::ZERO;
        let mut power = T::ONE;
        for _ in 0..6 {
            sum += power / (x[i] + T::ONE);
            power *= x[i];
        }
        out[i] = sum;
    }
}

/// Evaluates a kernel for many values on a device.
fn evaluate<T: Num>(context: &Context, host: &Array1<T>) -> Result<Array1<T>> {
    let x = cuda_mem::to_device(context, host)?;
    let mut out = cuda_mem::device_array_like(&x)?;
    polynomial::launch((host.len().div_ceil(128), 128), &x, &mut out)?;
    Ok(out.copy_to_host()?)
}

#[test]
fn gpu_and_software_device_agree_to_the_bit() -> Result<()> {
    let Some(gpu) = gpu("gpu::gpu_and_software_device_agree_to_the_bit") else { return Ok(()) };
    let sim = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    let floats = Array1::from_iter((0..100_000).map(|i| i as f32 * 0.01));
    let (here, there) = (evaluate(&sim, &floats)?, evaluate(&gpu, &floats)?);
    assert!(here.iter().zip(&there).all(|(a, b)| a.to_bits() == b.to_bits()));
    let integers = Array1::from_iter((0..1000_i64).map(|i| i * i));
    assert_eq!(evaluate(&sim, &integers)?, evaluate(&gpu, &integers)?);
    Ok(())
}

#[test]
fn the_gpu_is_used_unless_the_software_device_is_chosen() -> Result<()> {
    if gpu("gpu::the_gpu_is_used_unless_the_software_device_is_chosen").is_none() {
        return Ok(());
    }
    let chosen = std::env::var_os("CUDA_DRIVER_PATH").filter(|path| !path.is_empty());
    let asked_for_sim = chosen.is_some_and(|path| path == "sim");
    assert_eq!(cuda_prelude::is_simulated()?, asked_for_sim);
    Ok(())
}
