//! 16-bit floats, on devices with and without native arithmetic: every value through every unary operator, many through
//! the others, against `half` on the host.
//!
//! # Safety
//!
//! The kernels are launched for targets other than the device's, from PTX that this crate generated: untyped, with the
//! parameters of a kernel of `(&[T], &mut [u16])`.

use super::{context, differ, on_device, on_host};
use crate::support::keep;
use cuda_driver::{LaunchConfig, Module};
use cuda_jit::device::{atomic_add, grid, printf, shared, sync_threads, thread_idx};
use cuda_jit::target::Target;
use cuda_jit::{DeviceType, ElementType, Float, Num, bf16, device, f16, kernel};
use cuda_mem::Element;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

/// The targets: without 16-bit arithmetic, with that of `f16`, with some of `bf16`, with all.
const TARGETS: [(u32, u32); 4] = [(5, 2), (7, 5), (8, 0), (9, 0)];

/// A kernel's PTX, which is also kept for NVIDIA's assembler.
pub(super) fn compiled<K: cuda_jit::Kernel>(target: (u32, u32)) -> String {
    let ptx = cuda_jit::compile_ptx::<K>(target).unwrap();
    let name = std::any::type_name::<K>().replace("::", "-").replace(['<', '>'], ".");
    keep(&name, &Target::new(target).unwrap(), &ptx);
    ptx
}

/// Runs the PTX of a kernel of `(&[T], &mut [u16])`, with one thread for each element of `x`.
pub(super) fn run<T: Element>(ptx: &str, x: &[T], out: usize) -> Vec<u16> {
    let context = context();
    let entry = ptx.split(".entry ").nth(1).and_then(|rest| rest.split('(').next()).unwrap();
    // SAFETY: the compiler generated this PTX from a verified kernel.
    let module = unsafe { Module::load_ptx(&context, ptx) }.unwrap();
    let (x, out, record) = (on_device(x), on_device(&vec![0u16; out]), on_device(&[0u64; 8]));
    let mut cells = [x.device_ptr(), x.len() as u64, out.device_ptr(), out.len() as u64, record.device_ptr(), 1];
    let mut params = cells.each_mut().map(|cell| std::ptr::from_mut(cell).cast());
    let config = LaunchConfig::new(x.len().div_ceil(256), 256);
    let (function, stream) = (module.function(entry).unwrap(), context.default_stream());
    // SAFETY: the kernel takes two slices, the panic record and its number, which is what the cells hold; the arrays
    // live until the stream has been synchronised.
    unsafe { function.launch(&config, &stream, &mut params) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(on_host(&record), [0; 8], "the kernel panicked");
    on_host(&out)
}

/// Runs a kernel for each target and on the host, and compares bit for bit.
macro_rules! everywhere {
    ($kernel:path, $x:expr, $each:expr) => {{
        use $kernel as kernel;
        let x = $x;
        let mut host = vec![0u16; x.len() * $each];
        cuda_jit::host::for_each_thread((x.len().div_ceil(256), 256), || kernel(&x, &mut host));
        for target in TARGETS {
            let device = run(&compiled::<kernel>(target), &x, host.len());
            for (at, (device, host)) in device.iter().zip(&host).enumerate() {
                assert_eq!(
                    device,
                    host,
                    "{target:?}: {:?}, result {}: {device:#x}, not {host:#x}",
                    x[at / $each],
                    at % $each
                );
            }
        }
    }};
}

/// Pseudorandom numbers.
fn random() -> impl Iterator<Item = u64> {
    let next =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(7), next).map(|state| state >> 24)
}

macro_rules! halves {
    ($($module:ident $ty:ident)*) => { $(
        mod $module {
            use super::*;

            /// The bits, the same for every NaN.
            #[device]
            fn bits(value: $ty) -> u16 {
                if value.is_nan() { 0x7fff } else { value.to_bits() }
            }

            #[device]
            fn single(value: f32) -> u16 {
                if value.is_nan() { 0x7fff } else { (value.to_bits() ^ (value.to_bits() >> 16)) as u16 }
            }

            #[kernel(fma = false)]
            fn unary(x: &[$ty], out: &mut [u16]) {
                let i = grid::<1>();
                if i >= x.len() {
                    return;
                }
                let (a, at) = (x[i], i * 18);
                out[at] = bits(-a);
                out[at + 16] = bits(a.round_ties_even());
                out[at + 17] = bits(a.recip());
                out[at + 1] = bits(a.abs());
                out[at + 2] = bits(a.sqrt());
                out[at + 3] = bits(a.floor());
                out[at + 4] = bits(a.ceil());
                out[at + 5] = bits(a.trunc());
                out[at + 6] = bits(a.signum());
                out[at + 7] = a.is_nan() as u16 + 2 * a.is_infinite() as u16 + 4 * a.is_finite() as u16
                    + 8 * a.is_sign_negative() as u16 + 16 * a.is_sign_positive() as u16;
                out[at + 8] = single(a.to_f32());
                out[at + 9] = single(f32::from(a) * 0.5);
                out[at + 10] = single(a.to_f64() as f32);
                out[at + 11] = bits($ty::from_f32(a.to_f32()));
                out[at + 12] = bits($ty::from_f64(f64::from(a)));
                out[at + 13] = bits($ty::from_bits(a.to_bits() ^ 1));
                out[at + 14] = bits($ty::ONE / a);
                out[at + 15] = if a.abs() <= $ty::MAX { bits(a % $ty::PI) } else { 0 };
            }

            #[test]
            fn every_value_through_the_unary_operators() {
                everywhere!(unary, (0..=u16::MAX).map($ty::from_bits).collect::<Vec<_>>(), 18);
            }

            #[kernel(fma = false)]
            fn binary(x: &[[$ty; 3]], out: &mut [u16]) {
                let i = grid::<1>();
                if i >= x.len() {
                    return;
                }
                let ([a, b, c], at) = (x[i], i * 12);
                out[at] = bits(a + b);
                out[at + 1] = bits(a - b);
                out[at + 2] = bits(a * b);
                out[at + 3] = bits(a / b);
                out[at + 4] = bits(a % b);
                // the preferred zero is unspecified
                out[at + 5] = bits(a.min(b) + $ty::ZERO);
                out[at + 6] = bits(a.max(b) + $ty::ZERO);
                out[at + 7] = (a < b) as u16 + 2 * (a <= b) as u16 + 4 * (a == b) as u16 + 8 * (a != b) as u16
                    + 16 * (a > b) as u16 + 32 * (a >= b) as u16;
                out[at + 8] = bits(a.copysign(b));
                out[at + 9] = bits(a.mul_add(b, c));
                let mut sum = a;
                sum *= b;
                sum += c;
                sum -= a;
                sum /= b;
                out[at + 10] = bits(sum);
                out[at + 11] = if b <= c { bits(a.clamp(b, c)) } else { 0 };
            }

            #[test]
            fn many_values_through_the_others() {
                let special = [$ty::ZERO, $ty::NEG_ZERO, $ty::ONE, $ty::MIN_POSITIVE, $ty::MIN_POSITIVE_SUBNORMAL,
                    $ty::MAX_SUBNORMAL, $ty::MAX, $ty::MIN, $ty::INFINITY, $ty::NEG_INFINITY, $ty::NAN, $ty::EPSILON];
                let mut numbers = random().map(|number| $ty::from_bits(number as u16));
                let mut number = || numbers.next().unwrap();
                let mut x: Vec<[$ty; 3]> = (0..100_000).map(|_| [number(), number(), number()]).collect();
                for a in special {
                    for b in special {
                        x.extend(special.map(|c| [a, b, c]));
                        // products that cancel, and those close to the midpoint of two floats
                        x.push([a, b, -(a * b)]);
                    }
                }
                let near = |[a, b, _]: [$ty; 3]| [a, b, -(a * b)];
                x.extend(x.clone().into_iter().take(20_000).map(near));
                // subnormal products
                let small = |[a, b, c]: [$ty; 3]| {
                    let scaled = |v: $ty, by: f32| {
                        $ty::from_f32((1.0 + f32::from(v.to_bits() as u8) / 256.0) * by)
                    };
                    if $ty::DIGITS == 3 { [scaled(a, 4e-3), scaled(b, 4e-6), scaled(c, 1e-7)] }
                    else { [scaled(a, 1e-19), scaled(b, 3e-22), scaled(c, 1e-40)] }
                };
                x.extend(x.clone().into_iter().take(20_000).map(small));
                everywhere!(binary, x, 12);
            }

            #[kernel]
            fn rounded(x: &[f64], out: &mut [u16]) {
                let i = grid::<1>();
                if i < x.len() {
                    out[2 * i] = bits($ty::from_f64(x[i]));
                    out[2 * i + 1] = bits($ty::from_f32(x[i] as f32));
                }
            }

            /// `half` on the host drops the low bits of an `f64` before rounding, or rounds it to `f32` first.
            #[test]
            fn floats_are_rounded_once() {
                let halves = random().map(|number| $ty::from_bits(number as u16)).filter(|half| half.is_finite());
                let mut x = Vec::new();
                for (half, number) in halves.zip(random().skip(9)).take(20_000) {
                    let next = $ty::from_bits(half.to_bits() + 1);
                    let middle = (half.to_f64() + next.to_f64()) / 2.0;
                    if next.is_finite() {
                        x.extend([middle, middle * (1.0 + f64::EPSILON), middle * (1.0 - f64::EPSILON)]);
                        x.push(half.to_f64() + (next.to_f64() - half.to_f64()) * (number as u32 as f64 * 2f64.powi(-32)));
                    }
                }
                x.extend([0.0, -0.0, 1e300, -1e300, 1e-300, f64::NAN, f64::INFINITY, 65519.999, 65520.0, 3.4e38]);
                let nearest = |value: f64| {
                    let guess = $ty::from_f64(value);
                    if !guess.is_finite() && !value.is_finite() || value == 0.0 {
                        return guess;
                    }
                    let bits = guess.to_bits();
                    let around = [bits.wrapping_sub(1), bits, bits + 1].map($ty::from_bits);
                    // infinity stands for the next number
                    let number = |half: $ty| match half.is_infinite() {
                        true => 2f64.powi($ty::MAX_EXP).copysign(value),
                        false => half.to_f64(),
                    };
                    let close = |half: &$ty| ((number(*half) - value).abs(), half.to_bits() & 1);
                    let sane = around.into_iter().filter(|half| {
                        !half.is_nan() && half.is_sign_negative() == value.is_sign_negative()
                    });
                    sane.min_by(|a, b| close(a).partial_cmp(&close(b)).unwrap()).unwrap()
                };
                let expected: Vec<u16> = x.iter().flat_map(|&x| [nearest(x), $ty::from_f32(x as f32)])
                    .map(|half| bits(half)).collect();
                for target in TARGETS {
                    let device = run(&compiled::<rounded>(target), &x, x.len() * 2);
                    for (at, (device, host)) in device.iter().zip(&expected).enumerate() {
                        assert_eq!(device, host, "{target:?}: {:e}, {}: {device:#x}, not {host:#x}", x[at / 2], at % 2);
                    }
                }
            }

            #[test]
            fn generic_kernels_take_it() {
                let values: Vec<$ty> = (0..100).map(|i| $ty::from_f32(i as f32 * 0.37 - 9.0)).collect();
                differ!(polynomial::<$ty>, (1, 128), [&values[..]], vec![$ty::ZERO; 100]);
                differ!(reversed::<$ty>, (1, 64), [&values[..64]], vec![$ty::ONE; 64]);
            }
        }
    )* };
}

halves! { on_f16 f16 on_bf16 bf16 }

#[kernel(fma = false)]
fn polynomial<T: Float>(x: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        let two = T::ONE + T::ONE;
        let v = (x[i] * x[i] - two * x[i]).max(T::ZERO).min(T::MAX / two) + T::ONE;
        out[i] = if x[i].abs() > two { v } else { -v };
    }
}

#[kernel]
fn reversed<T: Num>(x: &[T], out: &mut [T]) {
    let local = [x[0], x[1], x[2]];
    let i = grid::<1>();
    out[i] = local[i % 3] + x[x.len() - 1 - i];
}

#[kernel]
fn shares(scale: f16, x: ArrayView2<'_, f16>, mut out: ArrayViewMut2<'_, bf16>) {
    const OFFSET: bf16 = bf16::from_f32_const(0.25);
    let tile = shared!([f16; 64]);
    let (i, j) = grid::<2>();
    let t = thread_idx().x + 8 * thread_idx().y;
    tile[t] = x[[i, j]];
    sync_threads();
    let other = tile[63 - t] * scale;
    out[[i, j]] = bf16::from_f32(other.to_f32()) + OFFSET;
}

#[test]
fn they_lie_in_views_shared_memory_and_parameters() {
    let x = Array2::from_shape_fn((8, 8), |(i, j)| f16::from_f32((i * 8 + j) as f32));
    let device = cuda_mem::to_device(&context(), &x).unwrap();
    let mut out = cuda_mem::zeros::<bf16, _>(&context(), (8, 8)).unwrap();
    shares::launch((1, (8, 8)), f16::from_f32(0.5), &device, &mut out).unwrap();
    // thread (i, j) writes its own element and reads that of thread 63 - (its number)
    let expected = Array2::from_shape_fn((8, 8), |(i, j)| bf16::from_f32(((7 - i) * 8 + 7 - j) as f32 * 0.5 + 0.25));
    assert_eq!(out.copy_to_host().unwrap(), expected);
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Mixed {
    weight: f16,
    bias: bf16,
    count: u32,
}

#[kernel]
fn mixes(x: &[Mixed], factor: Option<f16>, out: &mut [Mixed]) {
    let i = grid::<1>();
    if i < out.len() {
        let Mixed { weight, mut bias, count } = x[i];
        bias += bf16::from(3i8);
        out[i] = Mixed { weight: weight * factor.unwrap_or(f16::ONE), bias, count: count + 1 };
        atomic_add(&mut out[i].count, u32::from(out[i].weight > f16::ZERO));
    }
}

#[test]
fn they_lie_in_structs() {
    let x = [Mixed { weight: f16::from_f32(1.5), bias: bf16::from_f32(-2.0), count: 7 }; 3];
    let mut out = on_device(&x);
    mixes::launch((1, 32), &on_device(&x), Some(f16::from_f32(2.0)), &mut out).unwrap();
    let expected = Mixed { weight: f16::from_f32(3.0), bias: bf16::from_f32(1.0), count: 9 };
    assert_eq!(on_host(&out), [expected; 3]);
}

#[kernel]
fn shows(x: &[f16]) {
    printf!("{} {:?} {:.2} {:e}\n", x[0], bf16::PI, f16::PI, x[1]);
}

#[test]
fn they_are_printed_as_floats() {
    assert!(shows::compile_ptx((9, 0)).unwrap().contains("vprintf"));
    assert!(cuda_jit::kir_of::<shows>().unwrap().to_string().contains(r#"print "%g %.4g %.2f %e\n""#));
}

/// Asserts the instructions of a kernel for a target.
fn holds<K: cuda_jit::Kernel>(target: (u32, u32), instructions: &[&str]) {
    let ptx = compiled::<K>(target);
    for instruction in instructions {
        assert!(ptx.contains(instruction), "no {instruction} in {ptx}");
    }
}

#[kernel]
fn fused<T: Float>(a: T, x: &[T], y: &mut [T]) {
    let i = grid::<1>();
    if i < y.len() {
        y[i] = a.mul_add(x[i], y[i]).max(T::ZERO);
    }
}

#[test]
fn the_hardware_computes_where_it_can() {
    holds::<fused<f16>>((7, 5), &["fma.rn.f16"]);
    holds::<fused<f16>>((8, 0), &["fma.rn.f16", "max.f16"]);
    holds::<fused<bf16>>((8, 0), &["fma.rn.bf16", "max.bf16"]);
    holds::<fused<bf16>>((7, 5), &["fma.rm.f32", "fma.rp.f32"]);
}

fn is_element<T: ElementType + Element>() {}

#[test]
fn they_are_elements() {
    is_element::<[f16; 3]>();
    is_element::<bf16>();
}
