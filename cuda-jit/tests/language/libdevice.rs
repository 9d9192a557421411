//! libdevice functions by name, if a toolkit is found; and the error if none is.

use super::{on_device, on_host};
use cuda_jit::back::llvm::{Options, emit};
use cuda_jit::device::{grid, libdevice, shared, sync_threads, thread_idx};
use cuda_jit::kernel;
use cuda_jit::kir::build::FunctionBuilder;
use cuda_jit::kir::{Access, LibArg, LibFn, Module, Op, Param, Pointee, Role, Space, Terminator, Type};
use cuda_jit::target::Target;
use cuda_sys::toolkit::Environment;

/// Returns true if libdevice is found.
fn found() -> bool {
    Environment::from_process().libdevice().is_ok()
}

#[kernel]
fn doubles(x: &[f64], y: &[f64], out: &mut [f64], ints: &mut [i64]) {
    let (i, n) = (grid::<1>(), x.len());
    let (a, b) = (x[i], y[i]);
    out[i] = libdevice::erf(a) + libdevice::normcdf(a);
    out[n + i] = libdevice::hypot(a, b);
    let (fraction, exponent) = libdevice::frexp(a);
    out[2 * n + i] = fraction;
    ints[i] = exponent as i64;
    let (part, whole) = libdevice::modf(a);
    out[3 * n + i] = part;
    out[4 * n + i] = whole;
    let (sin, cos) = libdevice::sincos(b);
    out[5 * n + i] = sin * sin + cos * cos;
    let (rest, quotient) = libdevice::remquo(a, b);
    out[6 * n + i] = rest;
    ints[n + i] = quotient as i64 & 7;
    out[7 * n + i] = libdevice::fma(a, b, 1.0);
    out[8 * n + i] = libdevice::dadd_ru(a, 1e-20);
    out[9 * n + i] = libdevice::dadd_rd(a, 1e-20);
    out[10 * n + i] = libdevice::norm(x);
    out[11 * n + i] = libdevice::norm3d(a, b, 2.0);
    ints[2 * n + i] = libdevice::double2ll_rd(a);
    ints[3 * n + i] = libdevice::double_as_longlong(b);
    out[12 * n + i] = libdevice::nextafter(a, b);
    out[13 * n + i] = libdevice::ull2double_rn(u64::MAX);
}

#[test]
fn functions_of_f64() {
    if !found() {
        return;
    }
    let x = [0.0, 1.5, -2.25, 100.75];
    let y = [3.0, 0.5, 4.0, -7.0];
    let (mut out, mut ints) = (on_device(&[0.0; 14 * 4]), on_device(&[0i64; 4 * 4]));
    doubles::launch((1, 4), &on_device(&x), &on_device(&y), &mut out, &mut ints).unwrap();
    let (out, ints) = (on_host(&out), on_host(&ints));
    // erf and the normal distribution, to 16 digits
    let sums = [
        0.5,
        0.966_105_146_475_310_7 + 0.933_192_798_731_141_9,
        -0.998_537_283_413_318_8 + 0.012_224_472_655_044_69,
        2.0,
    ];
    for i in 0..4 {
        let row = |row: usize| out[row * 4 + i];
        let near = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-15 * wanted.abs().max(1.0);
        assert!(near(row(0), sums[i]), "{} {}", row(0), sums[i]);
        assert!(near(row(1), x[i].hypot(y[i])));
        assert_eq!(row(2) * 2f64.powi(ints[i] as i32), x[i]);
        assert_eq!((row(3), row(4)), (x[i].fract(), x[i].trunc()));
        assert!(near(row(5), 1.0));
        let quotient = (x[i] / y[i]).round_ties_even();
        assert_eq!((row(6), ints[4 + i]), (x[i] - quotient * y[i], quotient as i64 & 7));
        assert_eq!(row(7), x[i].mul_add(y[i], 1.0));
        assert_eq!(row(8), if x[i] == 0.0 { 1e-20 } else { x[i].next_up() });
        assert_eq!(row(9), if x[i] == 0.0 { 1e-20 } else { x[i] });
        assert!(near(row(10), x.iter().map(|v| v * v).sum::<f64>().sqrt()));
        assert!(near(row(11), (x[i] * x[i] + y[i] * y[i] + 4.0).sqrt()));
        assert_eq!((ints[8 + i], ints[12 + i]), (x[i].floor() as i64, y[i].to_bits() as i64));
        assert_eq!(row(12), if y[i] > x[i] { x[i].next_up() } else { x[i].next_down() });
        assert_eq!(row(13), 18_446_744_073_709_551_616.0);
    }
}

/// The functions of Python's `math` that are not methods of Rust's floats.
#[kernel]
fn of_python(x: &[f64], y: &[f64], out: &mut [f64]) {
    let (i, n) = (grid::<1>(), x.len());
    let (a, b) = (x[i], y[i]);
    out[i] = libdevice::tgamma(a);
    out[n + i] = libdevice::lgamma(a);
    out[2 * n + i] = libdevice::erf(a);
    out[3 * n + i] = libdevice::erfc(a);
    out[4 * n + i] = libdevice::remainder(a, b);
    out[5 * n + i] = libdevice::ldexp(a, b as i32);
    out[6 * n + i] = libdevice::nextafter(a, b);
    let (fraction, exponent) = libdevice::frexp(a);
    out[7 * n + i] = fraction * 1000.0 + exponent as f64;
    let (part, whole) = libdevice::modf(a);
    out[8 * n + i] = part * 1000.0 + whole;
}

#[test]
fn functions_of_pythons_math_beyond_rusts() {
    if !found() {
        return;
    }
    let mut out = on_device(&[0.0; 27]);
    of_python::launch((1, 3), &on_device(&[0.5, 10.0, 7.5]), &on_device(&[3.0, -2.0, 2.0]), &mut out).unwrap();
    let expected = [
        [1.772_453_850_905_516, 362_880.0, 1_871.254_305_797_788_6],
        [0.572_364_942_924_700_1, 12.801_827_480_081_469, 7.534_364_236_758_733],
        [0.520_499_877_813_046_5, 1.0, 1.0],
        [0.479_500_122_186_953_5, 2.088_487_583_762_545e-45, 2.776_649_386_030_569e-26],
        [0.5, 0.0, -0.5],
        [4.0, 2.5, 30.0],
        [0.5_f64.next_up(), 10.0_f64.next_down(), 7.5_f64.next_down()],
        [500.0, 629.0, 940.5],
        [500.0, 10.0, 507.0],
    ];
    for (row, (found, expected)) in on_host(&out).chunks(3).zip(expected).enumerate() {
        for (found, expected) in found.iter().zip(expected) {
            let error = (found - expected).abs();
            assert!(error <= 4e-15 * expected.abs(), "row {row}: {found} is not {expected}");
        }
    }
}

#[kernel]
fn singles(x: &[f32], out: &mut [f32], ints: &mut [u32]) {
    let mine = shared!([f32; 3]);
    let (i, n) = (thread_idx().x, x.len());
    let a = x[i];
    if i < 3 {
        mine[i] = 2.0;
    }
    sync_threads();
    out[i] = libdevice::rsqrtf(4.0);
    let (fraction, exponent) = libdevice::frexpf(a);
    out[n + i] = libdevice::ldexpf(fraction, exponent);
    let (sin, cos) = libdevice::sincospif(a);
    out[2 * n + i] = sin + cos;
    out[3 * n + i] = libdevice::normf(mine);
    out[4 * n + i] = libdevice::saturatef(a);
    out[5 * n + i] = libdevice::half2float(libdevice::float2half_rn(a));
    ints[i] = libdevice::float_as_uint(a);
    ints[n + i] = libdevice::umulhi(0x8000_0000, ints[i]);
    ints[2 * n + i] = libdevice::isnanf(a) as u32;
    ints[3 * n + i] = libdevice::sad(-5, 7, 1) + libdevice::popc(0xff) as u32;
}

#[test]
fn functions_of_f32() {
    if !found() {
        return;
    }
    let x = [0.0f32, 1.5, -2.25, f32::NAN];
    let (mut out, mut ints) = (on_device(&[0f32; 24]), on_device(&[0u32; 16]));
    singles::launch((1, 4), &on_device(&x), &mut out, &mut ints).unwrap();
    let (out, ints) = (on_host(&out), on_host(&ints));
    assert_eq!((out[0], &out[4..7], out[12]), (0.5, &x[..3], 12f32.sqrt()));
    assert_eq!(out[8..10], [1.0, -1.0]);
    assert_eq!((&out[16..20], &out[20..23]), (&[0.0, 1.0, 0.0, 0.0][..], &x[..3]));
    assert_eq!(ints[..4], x.map(f32::to_bits));
    assert_eq!(ints[4..8], x.map(|v| v.to_bits() >> 1));
    assert_eq!(ints[8..16], [0, 0, 0, 1, 21, 21, 21, 21]);
}

/// A kernel that calls a function with its parameters.
fn calling(function: &LibFn) -> Module {
    let param = |ty, access| Param { name: "p".to_owned(), ty, access, role: Role::Plain };
    let pointer = |scalar| Type::Ptr(Space::Global, Pointee::Scalar(scalar));
    let mut params = Vec::new();
    for arg in function.args {
        match *arg {
            LibArg::Number(scalar) => params.push(param(scalar.into(), Access::Read)),
            LibArg::Slice(scalar) => params
                .extend([param(cuda_jit::kir::Scalar::I32.into(), Access::Read), param(pointer(scalar), Access::Read)]),
        }
    }
    let count = params.len();
    params.extend(function.result.map(|result| param(pointer(result), Access::ReadWrite)));
    let mut b = FunctionBuilder::new(format!("calls_{}", function.name), params, None);
    let mut operands: Vec<_> = (0..count).map(|index| b.param(index)).collect();
    for &scalar in function.outs {
        let array = b.array("out", scalar, 1);
        operands.push(b.value(Op::Local(array), Type::Ptr(Space::Local, Pointee::Scalar(scalar))));
    }
    match function.result {
        Some(result) => {
            let value = b.value(Op::Math(*function, operands), result);
            b.effect(Op::Store(b.param(count), value));
        }
        None => b.effect(Op::Math(*function, operands)),
    }
    b.end(Terminator::Return(None));
    Module {
        contract: false,
        exported: false,
        functions: vec![b.finish()],
        sites: Vec::new(),
        shared: Vec::new(),
        constants: Vec::new(),
        types: Vec::new(),
    }
}

#[test]
fn each_of_them_compiles() {
    if !found() {
        return;
    }
    let options = Options { opt_level: 1, ..Options::default() };
    let everywhere = |function| [(5, 0), (7, 5), (9, 0)].map(|capability| (function, capability));
    for (function, capability) in LibFn::ALL.iter().flat_map(everywhere) {
        if function.name == "fast_tanhf" && capability == (5, 0) {
            continue;
        }
        let ptx = emit(&calling(function), &Target::new(capability).unwrap(), &options);
        let ptx = ptx.unwrap_or_else(|error| panic!("{}: {error}", function.name)).ptx;
        assert!(!ptx.contains(".extern"), "{ptx}");
    }
    let error = emit(&calling(&LibFn::find("fast_tanhf").unwrap()), &Target::new((7, 0)).unwrap(), &options);
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "`fast_tanhf` needs sm_75 or newer, and the target is sm_70");
}

#[kernel(fastmath)]
fn fast(x: &mut [f32]) {
    x[0] = libdevice::sinf(x[0]) + libdevice::erff(x[0]);
}

#[test]
fn fast_math_reaches_them() {
    if found() {
        let ptx = fast::compile_ptx((9, 0)).unwrap();
        assert!(ptx.contains("sin.approx.ftz.f32"), "{ptx}");
    }
}

#[test]
#[should_panic(expected = "`libdevice::sinf` runs on the device only")]
fn the_host_has_none() {
    cuda_jit::host::for_each_thread((1, 1), || fast(&mut [0.5]));
}

#[kernel]
fn methods(x: &mut [f32]) {
    x[0] = x[0].sin();
}

/// Without a toolkit, kernels that call libdevice report the paths that were searched, and others compile.
#[test]
fn without_a_toolkit_the_error_lists_the_searched_paths() {
    const TEST: &str = "language::libdevice::without_a_toolkit_the_error_lists_the_searched_paths";
    if !crate::around::is_child() {
        let nowhere = std::ffi::OsStr::new("/nowhere/cuda");
        let variables = ["CONDA_PREFIX", "CUDA_HOME", "VIRTUAL_ENV"].map(|name| (name, nowhere));
        crate::around::child(TEST, &variables);
        return;
    }
    if std::path::Path::new("/usr/local/cuda").exists() {
        return;
    }
    let error = doubles::compile_ptx((9, 0)).unwrap_err().to_string();
    for part in ["libdevice.rs:", "kernel `doubles`", "the kernel calls libdevice", "/nowhere/cuda"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    let ptx = methods::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains(".entry methods") && !ptx.contains("__nv_"), "{ptx}");
}
