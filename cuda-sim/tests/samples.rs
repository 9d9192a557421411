//! The output of real compilers: nvcc 13, NVRTC 12 and 13, and LLVM 22, from the sources in `samples/`.
//!
//! The same kernels in each dialect, optimised, with line information and with debug information, must load, survive
//! printing, and compute what the same formulas give in Rust. Nothing in a text is skipped: debug sections, prototypes,
//! branch tables and device functions are parsed.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use cuda_sys::*;
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

/// The samples with the kernels of `sample.cu`.
const SAMPLES: &[(&str, &str)] = &[
    ("nvcc 13", include_str!("samples/nvcc13.ptx")),
    ("nvcc 13 -G", include_str!("samples/nvcc13_debug.ptx")),
    ("nvcc 13 -lineinfo -use_fast_math -rdc=true", include_str!("samples/nvcc13_fast.ptx")),
    ("NVRTC 13", include_str!("samples/nvrtc13.ptx")),
    ("NVRTC 12", include_str!("samples/nvrtc12.ptx")),
];
const LLVM: &str = include_str!("samples/llvm22.ptx");
/// The kernels of `matrices.cu`, by nvcc 13.
const MATRICES: &str = include_str!("samples/nvcc13_matrices.ptx");

fn load(text: &str) -> CUmodule {
    ok!(cuInit(0));
    let mut context = null_mut();
    ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
    ok!(cuCtxSetCurrent(context));
    let mut log = vec![0 as c_char; 4096];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(4096)];
    let text = CString::new(text).unwrap();
    let mut module = null_mut();
    let code =
        call!(cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()));
    assert_eq!(code, CUresult::CUDA_SUCCESS, "{}", unsafe { CStr::from_ptr(log.as_ptr()) }.to_string_lossy());
    module
}

/// An argument of a kernel: a value, or device memory that is copied in and out.
enum Arg<'a> {
    Word(u64),
    Memory(&'a mut [u64]),
}

fn run(module: CUmodule, name: &str, threads: u32, shared: u32, args: &mut [Arg<'_>]) {
    let name = CString::new(name).unwrap();
    let mut f = null_mut();
    ok!(cuModuleGetFunction(&mut f, module, name.as_ptr()));
    let mut words: Vec<u64> = args
        .iter()
        .map(|arg| match arg {
            Arg::Word(word) => *word,
            Arg::Memory(values) => {
                let mut address = 0;
                ok!(cuMemAlloc_v2(&mut address, values.len() * 8));
                ok!(cuMemcpyHtoD_v2(address, values.as_ptr().cast(), values.len() * 8));
                address
            }
        })
        .collect();
    let mut params: Vec<*mut c_void> = words.iter_mut().map(|w| std::ptr::from_mut(w).cast()).collect();
    ok!(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, shared, null_mut(), params.as_mut_ptr(), null_mut()));
    ok!(cuCtxSynchronize());
    for (arg, word) in args.iter_mut().zip(&words) {
        if let Arg::Memory(values) = arg {
            ok!(cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), *word, values.len() * 8));
            ok!(cuMemFree_v2(*word));
        }
    }
}

fn pack(values: &[u32]) -> Vec<u64> {
    values.chunks(2).map(|c| u64::from(c[0]) | u64::from(c.get(1).copied().unwrap_or(0)) << 32).collect()
}

fn unpack(words: &[u64]) -> Vec<u32> {
    words.iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect()
}

const THREADS: u32 = 16;

fn inputs() -> Vec<u64> {
    let mut x = 0x1234_5678_9abc_def1u64;
    (0..THREADS)
        .map(|_| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            x
        })
        .collect()
}

fn saxpy(module: CUmodule) {
    let x: Vec<f32> = (0..40).map(|i| i as f32 * 0.37 - 5.0).collect();
    let y: Vec<f32> = (0..40).map(|i| 1.0 / (i as f32 + 1.0)).collect();
    let bits = |v: &[f32]| pack(&v.iter().map(|f| f.to_bits()).collect::<Vec<_>>());
    let (mut dx, mut dy) = (bits(&x), bits(&y));
    let a = 1.7f32;
    let word = Arg::Word(u64::from(a.to_bits()));
    run(module, "saxpy", 8, 0, &mut [Arg::Word(39), word, Arg::Memory(&mut dx), Arg::Memory(&mut dy)]);
    let got = unpack(&dy);
    for i in 0..40 {
        // The compiler contracts; the debug build does not.
        let want = if i < 39 { [a.mul_add(x[i], y[i]), a * x[i] + y[i]] } else { [y[i]; 2] };
        assert!(want.iter().any(|w| w.to_bits() == got[i]), "element {i}");
    }
}

fn integers(module: CUmodule) {
    let (words, mut longs) = (inputs(), inputs());
    let small: Vec<u32> = words.iter().map(|w| (w >> 29) as u32).collect();
    let mut device = pack(&small);
    let before = longs.clone();
    run(module, "integers", THREADS, 0, &mut [Arg::Memory(&mut device), Arg::Memory(&mut longs)]);
    for (i, got) in unpack(&device).into_iter().enumerate() {
        let x = small[i];
        let s = x as i32;
        let bytes = (u64::from(x) | u64::from(x.wrapping_add(1)) << 32).to_le_bytes();
        let permuted = u32::from_le_bytes([bytes[5], bytes[1], bytes[4], bytes[2]]);
        let funnel = (((u64::from(!x) << 32 | u64::from(x)) << 9) >> 32) as u32;
        let high = ((u64::from(x) * 0x9e37_79b9) >> 32) as u32;
        let first = if x == 0 { 0 } else { x.trailing_zeros() + 1 };
        let parts = [
            x.count_ones(),
            x.leading_zeros() * 3,
            x.reverse_bits(),
            first,
            x / 7,
            x % 10,
            high,
            funnel,
            permuted,
            s.min(100) as u32,
            (s.wrapping_sub(5)).unsigned_abs() + 6,
        ];
        assert_eq!(got, parts.into_iter().fold(0, u32::wrapping_add), "u[{i}]");
        let l = before[i] as i64;
        let wide = ((i128::from(l) * 0x0123_4567_89ab_cdef) >> 64) as i64;
        let want = i64::from(s).wrapping_mul(l).wrapping_add(l >> (x & 63)).wrapping_add(wide);
        assert_eq!(longs[i] as i64, want.wrapping_add(l / 1_000_003), "l[{i}]");
    }
}

fn halves(module: CUmodule) {
    let words = inputs();
    // Halves of moderate size: exponents near that of 1.
    let small: Vec<u32> = words.iter().map(|w| (w >> 20) as u32 & 0x83ff_83ff | 0x3800_3c00).collect();
    let floats: Vec<f32> = (0..THREADS).map(|i| i as f32 * 0.3 - 1.0).collect();
    let (mut h, mut f) = (pack(&small), pack(&floats.iter().map(|v| v.to_bits()).collect::<Vec<_>>()));
    run(module, "halves", THREADS, 0, &mut [Arg::Memory(&mut h), Arg::Memory(&mut f)]);
    let half = Half::from_bits(0x3800);
    for (i, (got, float)) in unpack(&h).into_iter().zip(unpack(&f)).enumerate() {
        let lane = |bits: u32| {
            let v = Half::from_bits(u128::from(bits & 0xffff));
            v.mul_add_r(v, half, Round::NearestTiesToEven).value.to_bits() as u32 & 0x7fff
        };
        assert_eq!(got, lane(small[i]) | lane(small[i] >> 16) << 16, "h[{i}]");
        let low: Single = Half::from_bits(u128::from(got & 0xffff)).convert(&mut false).value;
        let scaled = f64::from(floats[i]) * 1.1;
        let cut: Single =
            Double::from_bits(u128::from(scaled.to_bits())).convert_r(Round::TowardZero, &mut false).value;
        let want = f32::from_bits(low.to_bits() as u32) + f32::from_bits(cut.to_bits() as u32);
        assert_eq!(f32::from_bits(float), want, "f[{i}]");
    }
}

fn programs(module: CUmodule) {
    let v: Vec<f64> = (0..10).map(|i| f64::from(i) * 1.5 - 4.0).collect();
    let (mut device, mut out) = (v.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), vec![0; THREADS as usize]);
    run(module, "programs", THREADS, 0, &mut [Arg::Word(10), Arg::Memory(&mut device), Arg::Memory(&mut out)]);
    let positive: Vec<f64> = v.iter().copied().filter(|x| *x > 0.0).collect();
    fn depth(n: i32) -> i32 {
        if n < 2 { 1 } else { depth(n - 1) + depth(n - 2) }
    }
    for (i, got) in out.iter().enumerate() {
        let n = i as i32;
        let mut r = positive.iter().sum::<f64>() / positive.len() as f64;
        r += f64::from(if i & 1 == 0 { n + 7 } else { n * 7 });
        r += f64::from(depth(n) + [1, 1, 2, 3, 5, 8, 13, 21][i & 7] * [3, 5][i & 1]);
        r = match i {
            0 => r + 0.5,
            1 => r * 2.0,
            2 => r - 4.0,
            3 => -r,
            4 => r * r,
            7 => 9.0,
            _ => r + 1.0,
        };
        assert_eq!(f64::from_bits(*got), r, "out[{i}]");
    }
}

fn atomics(module: CUmodule) {
    let (mut a, mut f, mut m) = (pack(&[5, 0, 0, 0]), vec![0], vec![u64::MAX]);
    let mut args = [Arg::Memory(&mut a), Arg::Memory(&mut f), Arg::Memory(&mut m)];
    run(module, "atomics", THREADS, THREADS * 4, &mut args);
    let a = unpack(&a);
    assert_eq!((a[0], a[1], a[3]), (5 + (0..THREADS).sum::<u32>(), THREADS - 1, THREADS % 10));
    assert!((1..=THREADS).contains(&a[2]), "{}", a[2]);
    assert_eq!((f[0], m[0]), (u64::from((THREADS as f32 * 0.5).to_bits()), 3));
}

#[test]
fn every_dialect_computes_the_same() {
    for (name, text) in SAMPLES {
        let module = load(text);
        println!("{name}");
        saxpy(module);
        integers(module);
        halves(module);
        programs(module);
        atomics(module);
        let mut speaks = null_mut();
        ok!(cuModuleGetFunction(&mut speaks, module, c"speaks".as_ptr()));
        ok!(cuFuncLoad(speaks));
    }
}

#[test]
fn llvm_writes_calls_tables_and_wide_numbers() {
    let module = load(LLVM);
    let mut input = inputs();
    input.iter_mut().for_each(|v| *v &= 0x3f);
    let (before, mut out) = (input.clone(), vec![0; THREADS as usize]);
    // By value: an integer, a float, two longs. Passed as three words of one parameter of 24 bytes.
    let structure = [u64::from(2.75f32.to_bits()) << 32, 111, 222];
    let mut f = null_mut();
    ok!(cuModuleGetFunction(&mut f, module, c"mixed".as_ptr()));
    let (mut from, mut to, mut n) = (0, 0, 3u32);
    for (address, values) in [(&mut from, &mut input), (&mut to, &mut out)] {
        ok!(cuMemAlloc_v2(address, values.len() * 8));
        ok!(cuMemcpyHtoD_v2(*address, values.as_ptr().cast(), values.len() * 8));
    }
    let mut s = structure;
    let mut params: [*mut c_void; 4] =
        [(&raw mut from).cast(), (&raw mut to).cast(), s.as_mut_ptr().cast(), (&raw mut n).cast()];
    ok!(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    ok!(cuMemcpyDtoH_v2(out.as_mut_ptr().cast(), to, out.len() * 8));
    for (i, got) in out.iter().enumerate() {
        let v = before[i];
        let x = match i {
            0 => 5,
            1 => v * 3,
            2 => v ^ 77,
            3 => u64::from(v.count_ones()),
            // The funnel shift brings in the upper bits of 222, which are 0.
            4 => v << 13,
            5 => v.reverse_bits(),
            _ => u64::from(v % 2 == 0),
        };
        let sum = [5, 222, v + 1, i as u64, [11, 22, 33][i % 3]].into_iter().fold(x, u64::wrapping_add);
        let wide = i128::from(sum as i64);
        assert_eq!(*got, (wide * wide / 7) as u64, "out[{i}] for {v}");
    }
}

/// Returns integers whose products and sums are exact in each type.
fn numbers(count: usize, factor: usize, modulus: usize) -> Vec<i32> {
    (0..count).map(|i| (i * factor % modulus) as i32 - modulus as i32 / 2).collect()
}

/// Returns the product of two row-major matrices, plus a number.
fn product(a: &[i32], b: &[i32], rows: usize, columns: usize, start: i32) -> Vec<i32> {
    let k = a.len() / rows;
    let element = |i: usize| (0..k).map(|j| a[i / columns * k + j] * b[j * columns + i % columns]).sum::<i32>() + start;
    (0..rows * columns).map(element).collect()
}

/// Transposes a matrix.
fn transposed(values: &[i32], rows: usize) -> Vec<i32> {
    let columns = values.len() / rows;
    (0..values.len()).map(|i| values[i % rows * columns + i / rows]).collect()
}

#[test]
fn nvcc_writes_products_of_matrices() {
    let module = load(MATRICES);
    let singles = |v: &[i32]| pack(&v.iter().map(|x| (*x as f32).to_bits()).collect::<Vec<_>>());
    let half = |x: &i32| u64::from(Half::from_i128(i128::from(*x)).value.to_bits() as u16);
    let halves = |v: &[i32]| -> Vec<u64> {
        v.chunks(4).map(|c| c.iter().rev().fold(0, |word, x| word << 16 | half(x))).collect()
    };
    let bytes = |v: &[i32]| -> Vec<u64> {
        v.chunks(8).map(|c| c.iter().rev().fold(0, |word, x| word << 8 | u64::from(*x as u8))).collect()
    };
    let floats = |words: &[u64]| -> Vec<i32> { unpack(words).into_iter().map(|w| f32::from_bits(w) as i32).collect() };

    let (a, b) = (numbers(64 * 80, 7, 23), numbers(80 * 64, 5, 19));
    let mut out = vec![0; 64 * 64 / 2];
    let (mut da, mut db) = (halves(&a), halves(&b));
    run(
        module,
        "halves",
        128,
        0,
        &mut [Arg::Memory(&mut da), Arg::Memory(&mut db), Arg::Memory(&mut out), Arg::Word(80)],
    );
    assert_eq!(floats(&out), product(&a, &b, 64, 64, 0));

    let (a, b) = (numbers(32 * 16, 13, 255), numbers(16 * 8, 11, 251));
    let mut out = vec![0; 32 * 8 / 2];
    let (mut da, mut db) = (bytes(&a), bytes(&transposed(&b, 16)));
    run(module, "bytes", 32, 0, &mut [Arg::Memory(&mut da), Arg::Memory(&mut db), Arg::Memory(&mut out)]);
    let got: Vec<i32> = unpack(&out).into_iter().map(|w| w as i32).collect();
    assert_eq!(got, transposed(&product(&a, &b, 32, 8, 1), 32));

    let (a, b) = (numbers(16 * 8, 9, 101), numbers(8 * 16, 3, 97));
    let mut out = singles(&[5; 256]);
    let (mut da, mut db) = (singles(&a), singles(&transposed(&b, 8)));
    run(module, "singles", 32, 0, &mut [Arg::Memory(&mut da), Arg::Memory(&mut db), Arg::Memory(&mut out)]);
    let twice: Vec<i32> = product(&a, &b, 16, 16, 5).iter().map(|x| 2 * x).collect();
    assert_eq!(floats(&out), twice);
}

/// Printing and parsing gives the same tree, whatever the compiler.
#[test]
fn samples_round_trip() {
    for (name, text) in SAMPLES.iter().chain([&("LLVM 22", LLVM), &("nvcc 13, matrices", MATRICES)]) {
        let module = cuda_sim::ptx::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let printed = module.to_string();
        let again = cuda_sim::ptx::parse(&printed).unwrap_or_else(|error| panic!("{name}, printed: {error}"));
        assert!(again == module, "{name}");
    }
}
