//! The mathematical methods of floats on the software device: libdevice's if a toolkit is found, and this crate's own,
//! against correctly rounded values.
//!
//! `python3 reference.py` generates `reference.txt` with mpmath.

use super::{differ, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{Float, device, kernel};

/// The functions' names, in the order of their numbers in `of`.
const NAMES: [&str; 23] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
    "exp2", "exp_m1", "ln", "log2", "log10", "ln_1p", "powf", "cbrt", "hypot",
];

macro_rules! functions {
    ($($module:ident $ty:ident)*) => { $(
        mod $module {
            use super::*;

            #[device]
            pub(super) fn of(which: u32, x: $ty, y: $ty) -> $ty {
                match which {
                    0 => x.sin(),
                    1 => x.cos(),
                    2 => x.tan(),
                    3 => x.asin(),
                    4 => x.acos(),
                    5 => x.atan(),
                    6 => x.atan2(y),
                    7 => x.sinh(),
                    8 => x.cosh(),
                    9 => x.tanh(),
                    10 => x.asinh(),
                    11 => x.acosh(),
                    12 => x.atanh(),
                    13 => x.exp(),
                    14 => x.exp2(),
                    15 => x.exp_m1(),
                    16 => x.ln(),
                    17 => x.log2(),
                    18 => x.log10(),
                    19 => x.ln_1p(),
                    20 => $ty::powf(x, y),
                    21 => x.cbrt(),
                    _ => x.hypot(y),
                }
            }

            #[kernel]
            pub(super) fn found(which: &[u32], x: &[$ty], y: &[$ty], out: &mut [$ty]) {
                let i = grid::<1>();
                if i < out.len() {
                    out[i] = of(which[i], x[i], y[i]);
                }
            }

            #[kernel(libdevice = false)]
            pub(super) fn built_in(which: &[u32], x: &[$ty], y: &[$ty], out: &mut [$ty]) {
                let i = grid::<1>();
                if i < out.len() {
                    out[i] = of(which[i], x[i], y[i]);
                }
            }

            #[kernel(libdevice = false, fma = false)]
            pub(super) fn unfused(which: &[u32], x: &[$ty], y: &[$ty], out: &mut [$ty]) {
                let i = grid::<1>();
                if i < out.len() {
                    out[i] = of(which[i], x[i], y[i]);
                }
            }
        }
    )* };
}

functions! { single f32 double f64 }

/// A function, its arguments, the nearest `f64`, and the exact value's distance from it, in ulp.
struct Case {
    which: u32,
    x: f64,
    y: f64,
    nearest: f64,
    beyond: f64,
}

fn cases() -> Vec<Case> {
    let float = |hex: &str| f64::from_bits(u64::from_str_radix(hex, 16).unwrap());
    let case = |line: &'static str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, x, between @ .., nearest, beyond] = &words[..] else { panic!("{line}") };
        let which = NAMES.iter().position(|known| known == name).unwrap() as u32;
        let y = between.first().map_or(0.0, |y| float(y));
        Case { which, x: float(x), y, nearest: float(nearest), beyond: beyond.parse().unwrap() }
    };
    include_str!("reference.txt").lines().map(case).collect()
}

/// Runs one of the kernels on all cases.
macro_rules! run {
    ($kernel:path, $cases:expr, $ty:ident) => {{
        use $kernel as kernel;
        let cases: &[Case] = $cases;
        let which: Vec<u32> = cases.iter().map(|case| case.which).collect();
        let x: Vec<$ty> = cases.iter().map(|case| case.x as $ty).collect();
        let y: Vec<$ty> = cases.iter().map(|case| case.y as $ty).collect();
        let mut out = on_device(&vec![0 as $ty; cases.len()]);
        let blocks = cases.len().div_ceil(128) as u32;
        kernel::launch((blocks, 128), &on_device(&which), &on_device(&x), &on_device(&y), &mut out).unwrap();
        on_host(&out)
    }};
}

/// Panics if an error, in ulp, exceeds the bound; prints the worst error of each function.
fn judge(title: &str, bound: f64, errors: impl Iterator<Item = (u32, f64, String)>) {
    let mut worst = vec![(0.0, String::new()); NAMES.len()];
    for (which, error, text) in errors {
        let known = &mut worst[which as usize];
        if !(error <= known.0) {
            *known = (error, text);
        }
    }
    for (name, (error, _)) in NAMES.iter().zip(&worst) {
        println!("{title} {name} {error:.3}");
    }
    let bad: Vec<_> = NAMES.iter().zip(&worst).filter(|(_, (error, _))| !(*error <= bound)).collect();
    assert!(bad.is_empty(), "{title}: beyond {bound} ulp: {bad:?}");
}

fn judge_double(title: &str, bound: f64, cases: &[Case], results: &[f64]) {
    let error = |(case, &result): (&Case, &f64)| {
        let toward = if case.nearest < 0.0 { -1.0 } else { 1.0 };
        let steps = (case.nearest.to_bits() as i64).wrapping_sub(result.to_bits() as i64) as f64 * toward;
        (case.which, (steps + case.beyond).abs(), format!("of {:e}, {:e}: {result:e}", case.x, case.y))
    };
    judge(title, bound, cases.iter().zip(results).map(error));
}

/// The host's `f64` is the reference: its own error is negligible beside an ulp of `f32`.
fn judge_single(title: &str, bound: f64, cases: &[Case], results: &[f32]) {
    let error = |(case, &result): (&Case, &f32)| {
        let (x, y) = (f64::from(case.x as f32), f64::from(case.y as f32));
        let exact = double::of(case.which, x, y);
        let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
        let ulp = 2f64.powi((exponent - 23).max(-149));
        let same = f64::from(result) == exact || (result.is_nan() && exact.is_nan()) || result == exact as f32;
        let error = if same && (exact as f32).is_infinite() { 0.0 } else { (f64::from(result) - exact).abs() / ulp };
        let error = if same && exact.is_nan() { 0.0 } else { error };
        (case.which, error, format!("of {x:e}, {y:e}: {result:e}, not {exact:e}"))
    };
    judge(title, bound, cases.iter().zip(results).map(error));
}

#[test]
fn built_in_double_is_within_its_error() {
    let cases = cases();
    judge_double("f64 built in", 0.62, &cases, &run!(double::built_in, &cases, f64));
    judge_double("f64 unfused", 0.62, &cases, &run!(double::unfused, &cases, f64));
}

#[test]
fn built_in_single_is_within_its_error() {
    let cases = cases();
    judge_single("f32 built in", 0.501, &cases, &run!(single::built_in, &cases, f32));
    judge_single("f32 unfused", 0.501, &cases, &run!(single::unfused, &cases, f32));
}

/// libdevice, if there is a toolkit, with the maximum errors that its manual states.
#[test]
fn libdevice_is_within_its_error() {
    let cases = cases();
    judge_double("f64 found", 3.0, &cases, &run!(double::found, &cases, f64));
    judge_single("f32 found", 4.0, &cases, &run!(single::found, &cases, f32));
}

#[test]
fn libdevice_is_linked_where_there_is_one() {
    let there = cuda_sys::toolkit::Environment::from_process().libdevice().is_ok();
    let calls = |kir: String| kir.contains("math sin(");
    assert_eq!(calls(cuda_jit::kir_of::<double::found>().unwrap().to_string()), there);
    assert!(!calls(cuda_jit::kir_of::<double::built_in>().unwrap().to_string()));
    for target in [(7, 5), (9, 0)] {
        let ptx = double::found::compile_ptx(target).unwrap();
        assert!(!ptx.contains(".extern") && !ptx.contains(".visible .func"), "{ptx}");
    }
}

/// Rust's own `asinh` and `acosh` overflow at the end of the range, where the result is ln(2 x).
fn on_the_host(which: u32, x: f64, y: f64) -> f64 {
    let overflows = double::of(which, x, y).is_infinite() && x.abs() == f64::MAX;
    if overflows && matches!(NAMES[which as usize], "asinh" | "acosh") {
        return 710.475_860_073_944_f64.copysign(x);
    }
    double::of(which, x, y)
}

/// Zeros, infinities, NaN and range ends: as on the host, within an ulp.
#[test]
fn special_values_are_the_hosts() {
    let values = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.0,
        -1.0,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1e300,
        -1e300,
        5e-324,
        -5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut cases = Vec::new();
    for which in 0..NAMES.len() as u32 {
        for x in values {
            cases.extend(values.map(|y| Case { which, x, y, nearest: on_the_host(which, x, y), beyond: 0.0 }));
        }
    }
    for results in [run!(double::built_in, &cases, f64), run!(double::found, &cases, f64)] {
        for (case, result) in cases.iter().zip(results) {
            let steps = (case.nearest.to_bits() as i64).wrapping_sub(result.to_bits() as i64).unsigned_abs();
            let same = steps <= 2 || (case.nearest.is_nan() && result.is_nan());
            let (name, Case { x, y, nearest, .. }) = (NAMES[case.which as usize], case);
            assert!(same, "{name} of {x:e}, {y:e}: {result:e}, on the host {nearest:e}");
        }
    }
}

/// The same of `f32`, and arguments that are reduced in another way or have no finite result.
#[test]
fn special_values_of_single_are_the_hosts() {
    let values = [0.0, 0.5, 1.0, 2.0, 3.0, 88.7, 88.8, 104.0, 128.0, 150.0, 1.3e8, 1.4e8, 3e38, 1e-40, 1e-45];
    let values = values.into_iter().chain([f64::INFINITY, f64::NAN]).flat_map(|x| [x, -x]);
    let names = ["sin", "cos", "exp", "exp2", "ln", "log2", "log10"];
    let which = names.map(|name| NAMES.iter().position(|known| *known == name).unwrap() as u32);
    let case = |x| which.map(|which| Case { which, x, y: 0.0, nearest: 0.0, beyond: 0.0 });
    let cases: Vec<Case> = values.flat_map(case).collect();
    judge_single("f32 special", 0.501, &cases, &run!(single::built_in, &cases, f32));
}

macro_rules! plain {
    ($($module:ident $ty:ident)*) => { $(
        mod $module {
            use super::*;

            #[kernel(fma = false, libdevice = false)]
            fn methods(x: &[$ty], y: &[$ty], out: &mut [$ty]) {
                let i = grid::<1>();
                let (a, b, at) = (x[i], y[i], i * 8);
                out[at] = a.round();
                out[at + 1] = a.rem_euclid(b);
                out[at + 2] = $ty::div_euclid(a, b);
                out[at + 3] = a.to_degrees();
                out[at + 4] = a.to_radians();
                out[at + 5] = a.powi(3) + b.powi(-2);
                let (s, c) = a.sin_cos();
                out[at + 6] = if s == a.sin() && c == a.cos() { 1.0 } else { 0.0 };
                out[at + 7] = if a.abs().log(b.abs()) == a.abs().ln() / b.abs().ln() { 1.0 } else { 0.0 };
            }

            #[test]
            fn differ_nowhere() {
                let values = [0.3, -0.5, 0.5, 1.5, 2.5, -2.5, 0.49999997, 1e9, -3.7, 7.25, -1e-3];
                let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
                let (x, y): (Vec<$ty>, Vec<$ty>) = pairs.unzip();
                differ!(methods, (1, x.len()), [&x[..], &y[..]], vec![0 as $ty; x.len() * 8]);
            }
        }
    )* };
}

plain! { plain_single f32 plain_double f64 }

#[kernel]
fn logistic<T: Float>(x: &[T], out: &mut [T]) {
    let i = grid::<1>();
    out[i] = T::ONE / (T::ONE + (-x[i]).exp()) + x[i].tanh().powi(2) + T::atan2(x[i], T::ONE);
}

#[test]
fn bounds_carry_functions() {
    let ptx = logistic::<f32>::compile_ptx((8, 0)).unwrap() + &logistic::<f64>::compile_ptx((8, 0)).unwrap();
    assert!(ptx.contains("logistic_f32") && ptx.contains("logistic_f64"));
}

#[device]
fn far(x: f32) -> f32 {
    x.sin() + x.ln() + x.powf(1.5)
}

#[kernel(fastmath)]
fn fast(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    out[4 * i] = far(x[i]);
    out[4 * i + 1] = x[i].cos() + x[i].exp() + x[i].tan();
    out[4 * i + 2] = x[i].log10() + x[i].log2() + x[i].exp2();
    out[4 * i + 3] = x[i].atan();
}

#[test]
fn fast_math_takes_instructions_in_device_functions_too() {
    let ptx = fast::compile_ptx((7, 5)).unwrap();
    for instruction in ["sin.approx.ftz.f32", "cos.approx.ftz.f32", "lg2.approx.ftz.f32", "ex2.approx.ftz.f32"] {
        assert!(ptx.contains(instruction), "{instruction} in\n{ptx}");
    }
    let x = [0.1f32, 0.5, 1.0, 1.4];
    let mut out = on_device(&[0f32; 16]);
    fast::launch((1, 4), &on_device(&x), &mut out).unwrap();
    for (x, out) in x.iter().zip(on_host(&out).chunks(4)) {
        let x = f64::from(*x);
        let exact =
            [x.sin() + x.ln() + x.powf(1.5), x.cos() + x.exp() + x.tan(), x.log10() + x.log2() + x.exp2(), x.atan()];
        for (result, exact) in out.iter().zip(exact) {
            assert!((f64::from(*result) - exact).abs() < 4e-6 * exact.abs().max(1.0), "of {x}: {result}, not {exact}");
        }
    }
}
