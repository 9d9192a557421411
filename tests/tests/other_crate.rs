//! Kernels that call device functions, methods and traits of another crate, and that implement its traits.

use cuda_prelude::*;
use cuda_tests::{Curve, Line, axpy, repeated};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Parabola(f32);

#[device]
impl Curve for Parabola {
    fn sample(&self, x: f32) -> f32 {
        self.0 * x * x
    }
}

#[kernel]
fn sampled<C: Curve>(curves: &[C], lines: &[Line<f32>], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let line = lines[i] + Line::through_zero(2.0);
        out[i] = curves[i].mean(1.0, 3.0) + line.at(i as f32) + axpy(2.0, 3.0, 4.0);
        out[i] += repeated(3, 1.0, |v| v * 2.0) + cuda_tests::axpy::<f32>(1.0, line.sample(0.5), 0.0);
    }
}

fn run<C: Curve + ElementType + Element>(curves: &[C]) -> Result<()> {
    let lines: Vec<Line<f32>> = (0..curves.len()).map(|i| Line { slope: i as f32, offset: 0.5 }).collect();
    let (mut device, mut host) = (vec![0f32; curves.len()], vec![0f32; curves.len()]);
    sampled::launch((1, 32), In(curves), In(&lines[..]), InOut(&mut device))?;
    for_each_thread((1, 32), || sampled(curves, &lines, &mut host));
    assert_eq!(device, host);
    Ok(())
}

#[test]
fn device_functions_of_another_crate() -> Result<()> {
    run(&[Parabola(1.0), Parabola(-2.0), Parabola(0.5)])?;
    run(&[Line { slope: 1.0, offset: 2.0 }, Line { slope: 0.25, offset: -1.0 }])
}
