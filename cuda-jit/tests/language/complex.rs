//! Complex numbers: num-complex's operators bit for bit, its functions closely.

use super::{on_device, on_host};
use cuda_jit::device::{grid, shared, sync_threads, thread_idx};
use cuda_jit::{Complex, Complex32, Complex64, DeviceType, device, kernel};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

macro_rules! complex {
    ($($module:ident $ty:ident $close:literal;)*) => { $(
        mod $module {
            use super::*;

            #[kernel(fma = false)]
            fn operators(x: &[Complex<$ty>], out: &mut [Complex<$ty>]) {
                let i = grid::<1>();
                let (a, b, at) = (x[i], x[(i + 1) % x.len()], i * 8);
                out[at] = a * b + a / b - b;
                out[at + 1] = -a * 2.0 + b / 3.0 - 1.5 + a.re;
                out[at + 2] = 2.0 * a + (1.0 - b) + (3.0 + a) + 4.0 / b;
                let mut sum = Complex::new(b.im, 1.0);
                sum += a;
                sum *= b;
                sum -= a * sum;
                sum /= b;
                sum += 2.0;
                sum *= a.im;
                sum /= 0.5;
                sum -= b.re;
                sum.im += 1.0;
                out[at + 3] = sum;
                out[at + 4] = a.conj() + b.inv().scale(2.0) + a.unscale(b.re) + Complex::i();
                let Complex { re, im } = a.powi(3) + b.powi(-2) * a.powu(5) + a.powi(0);
                out[at + 5] = Complex { re: re + b.norm_sqr(), im: im + b.l1_norm() };
                out[at + 6].re = (a == b) as u8 as $ty + 2.0 * (a != b) as u8 as $ty;
                out[at + 6].im = a.is_nan() as u8 as $ty + 2.0 * a.is_finite() as u8 as $ty;
                out[at + 7] = if a == a && (a / Complex::new(0.0, 0.0)).is_infinite() { a } else { b };
            }

            fn numbers() -> Vec<Complex<$ty>> {
                let parts = [0.5, -1.25, 2.0, 1e-3, -7.5, 3.0];
                parts.iter().flat_map(|&re| parts.iter().map(move |&im| Complex::new(re, im))).collect()
            }

            #[test]
            fn operators_are_exact() {
                let x = numbers();
                let mut host = vec![Complex::default(); x.len() * 8];
                cuda_jit::host::for_each_thread((1, x.len()), || operators(&x, &mut host));
                let mut device = on_device(&vec![Complex::default(); x.len() * 8]);
                operators::launch((1, x.len()), &on_device(&x), &mut device).unwrap();
                assert_eq!(on_host(&device), host);
            }

            // The functions are spread over kernels, since LLVM's register allocation takes much longer for one with all of them.

            #[kernel(libdevice = false, opt = 1)]
            fn exponentials(x: &[Complex<$ty>], out: &mut [Complex<$ty>]) {
                let i = grid::<1>();
                let z = x[i];
                let results = [z.exp(), z.ln(), z.sqrt(), z.exp2(), z.log2(), z.log10(), z.log(3.0)];
                for j in 0..7 {
                    out[i * 10 + j] = results[j];
                }
                out[i * 10 + 7] =
                    (z * 0.0).sqrt() + Complex::new(-z.re.abs(), 0.0).sqrt() + Complex::new(0.0, z.im).sqrt();
                out[i * 10 + 8] = Complex::new(z.re, 0.0).exp();
                out[i * 10 + 9] = Complex::new(z.re, -0.0).sqrt();
            }

            #[kernel(libdevice = false, opt = 1)]
            fn powers(x: &[Complex<$ty>], out: &mut [Complex<$ty>]) {
                let i = grid::<1>();
                let z = x[i];
                let results = [
                    z.powf(1.5), z.powf(0.0), z.powc(Complex::new(0.5, -0.25)), z.expf(2.5), Complex::cis(z.re),
                    Complex::from_polar(z.re, z.im),
                ];
                for j in 0..6 {
                    out[i * 8 + j] = results[j];
                }
                let (r, theta) = z.to_polar();
                out[i * 8 + 6] = Complex { re: r, im: theta };
                out[i * 8 + 7] = Complex { re: z.norm(), im: z.arg() };
            }

            #[kernel(libdevice = false, opt = 1)]
            fn circular(x: &[Complex<$ty>], out: &mut [Complex<$ty>]) {
                let i = grid::<1>();
                let z = x[i];
                let results = [z.sin(), z.cos(), z.tan(), z.asin(), z.acos(), z.atan()];
                for j in 0..6 {
                    out[i * 6 + j] = results[j];
                }
            }

            #[kernel(libdevice = false, opt = 1)]
            fn hyperbolic(x: &[Complex<$ty>], out: &mut [Complex<$ty>]) {
                let i = grid::<1>();
                let z = x[i];
                let results = [z.sinh(), z.cosh(), z.tanh(), z.asinh(), z.acosh(), z.atanh()];
                for j in 0..6 {
                    out[i * 6 + j] = results[j];
                }
            }

            macro_rules! are_close {
                ($kernel:ident, $results:literal) => {
                    #[test]
                    fn $kernel() {
                        let x: Vec<Complex<$ty>> = numbers().into_iter().filter(|z| z.norm() < 5.0).collect();
                        let mut host = vec![Complex::default(); x.len() * $results];
                        cuda_jit::host::for_each_thread((1, x.len()), || super::$kernel(&x, &mut host));
                        let mut device = on_device(&vec![Complex::default(); x.len() * $results]);
                        super::$kernel::launch((1, x.len()), &on_device(&x), &mut device).unwrap();
                        for (at, (device, host)) in on_host(&device).into_iter().zip(host).enumerate() {
                            let off = (device - host).norm() / host.norm().max(1.0);
                            let (z, function) = (x[at / $results], at % $results);
                            assert!(off <= $close, "{z}, function {function}: {device}, not {host}");
                        }
                    }
                };
            }

            mod close {
                use super::{Complex, numbers, on_device, on_host};

                are_close!(exponentials, 10);
                are_close!(powers, 8);
                are_close!(circular, 6);
                are_close!(hyperbolic, 6);
            }
        }
    )* };
}

complex! { single f32 2e-5; double f64 1e-13; }

#[device]
fn escapes(c: Complex32, limit: u32) -> u32 {
    let mut z = c;
    for step in 0..limit {
        if z.norm_sqr() > 4.0 {
            return step;
        }
        z = z * z + c;
    }
    limit
}

#[kernel]
fn mandelbrot(corner: Complex32, step: f32, mut out: ArrayViewMut2<'_, u32>) {
    let (i, j) = grid::<2>();
    if i < out.nrows() && j < out.ncols() {
        out[[i, j]] = escapes(corner + Complex32::new(j as f32, i as f32) * step, 50);
    }
}

#[test]
fn they_are_parameters_and_go_through_functions() {
    let (corner, step) = (Complex32::new(-2.0, -1.0), 0.125);
    let mut out = cuda_mem::zeros::<u32, _>(&super::context(), (16, 24)).unwrap();
    mandelbrot::launch(((2, 3), (8, 8)), corner, step, &mut out).unwrap();
    let at = |(i, j)| escapes(corner + Complex32::new(j as f32, i as f32) * step, 50);
    assert_eq!(out.copy_to_host().unwrap(), Array2::from_shape_fn((16, 24), at));
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Wave {
    amplitude: Complex64,
    phase: f64,
}

#[kernel]
fn rotates(waves: &[Wave], x: ArrayView2<'_, Complex64>, out: &mut [Wave]) {
    const QUARTER: Complex64 = Complex64::new(0.0, 1.0);
    let tile = shared!([Complex64; 4]);
    let t = thread_idx().x;
    tile[t] = waves[t].amplitude * QUARTER;
    sync_threads();
    out[t] = Wave { amplitude: tile[3 - t] + x[[t, 1]], ..waves[t] };
}

#[test]
fn they_lie_in_structs_views_and_shared_memory() {
    let waves: Vec<Wave> = (0..4).map(|i| Wave { amplitude: Complex::new(i as f64, 1.0), phase: 0.5 }).collect();
    let x = Array2::from_shape_fn((4, 2), |(i, j)| Complex::new(i as f64, j as f64));
    let x = cuda_mem::to_device(&super::context(), &x).unwrap();
    let mut out = on_device(&waves);
    rotates::launch((1, 4), &on_device(&waves), &x, &mut out).unwrap();
    let expected = |t: usize| Complex::new(-1.0 + t as f64, (3 - t) as f64 + 1.0);
    assert_eq!(on_host(&out).iter().map(|wave| wave.amplitude).collect::<Vec<_>>(), [0, 1, 2, 3].map(expected));
}
