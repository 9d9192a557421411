//! Operators, casts and literals on every type, with boundary values.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{Integer, Num, kernel};

#[kernel]
fn operators<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    let n = x.len();
    out[i] = x[i] + y[i];
    out[n + i] = x[i] - y[i];
    out[2 * n + i] = x[i] * y[i];
    if y[i] != T::ZERO && x[i] != T::MIN {
        out[3 * n + i] = x[i] / y[i];
        out[4 * n + i] = x[i] % y[i];
    }
    if (x[i] < y[i]) == (y[i] > x[i]) && (x[i] <= y[i]) != (x[i] > y[i]) {
        out[5 * n + i] = if x[i] < y[i] { x[i] } else { y[i] };
        out[6 * n + i] = if x[i] > y[i] { x[i] } else { y[i] };
    }
    let mut v = x[i];
    v += y[i];
    v -= T::ONE;
    v *= y[i];
    out[7 * n + i] = v;
}

#[kernel]
fn bits<T: Integer>(x: &[T], y: &[T], amounts: &[u32], out: &mut [T]) {
    let i = grid::<1>();
    let n = x.len();
    out[i] = (x[i] & y[i]) | (x[i] ^ !y[i]);
    out[n + i] = x[i] << amounts[i];
    out[2 * n + i] = x[i] >> amounts[i];
}

/// Every pair of the values.
fn pairs<T: Copy>(values: &[T]) -> (Vec<T>, Vec<T>) {
    let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
    pairs.unzip()
}

macro_rules! integers {
    ($($ty:ident)*) => { $(
        #[test]
        fn $ty() {
            let values = [0, 1, 2, 3, 7, 100, $ty::MAX, $ty::MAX - 1, $ty::MIN, $ty::MIN + 1, $ty::MAX / 2];
            let (x, y) = pairs(&values);
            let n = x.len();
            // the host uses wrapping operators, since its own are checked in a debug build
            let mut out = super::on_device(&vec![0 as $ty; 8 * n]);
            operators::<$ty>::launch((1, n), &x, &y, &mut out).unwrap();
            let out = super::on_host(&out);
            for (i, (&a, &b)) in x.iter().zip(&y).enumerate() {
                let get = |k: usize| out[k * n + i];
                assert_eq!(get(0), a.wrapping_add(b));
                assert_eq!(get(1), a.wrapping_sub(b));
                assert_eq!(get(2), a.wrapping_mul(b));
                if b != 0 && a != $ty::MIN {
                    assert_eq!((get(3), get(4)), (a / b, a % b), "{a} / {b}");
                }
                assert_eq!((get(5), get(6)), (a.min(b), a.max(b)));
                assert_eq!(get(7), a.wrapping_add(b).wrapping_sub(1).wrapping_mul(b));
            }
            let amounts: Vec<u32> = (0..n as u32).map(|i| i % $ty::BITS).collect();
            differ!(bits::<$ty>, (1, n), [&x[..], &y[..], &amounts[..]], vec![0 as $ty; 3 * n]);
        }
    )* };
}

integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }

#[test]
fn floats() {
    fn run<T: Num>(values: &[T]) {
        let (x, y) = pairs(values);
        let n = x.len();
        let mut host = vec![T::ZERO; 8 * n];
        cuda_jit::host::for_each_thread((1, n), || operators(&x, &y, &mut host));
        let mut out = super::on_device(&vec![T::ZERO; 8 * n]);
        operators::<T>::launch((1, n), &x, &y, &mut out).unwrap();
        for (i, (device, host)) in super::on_host(&out).into_iter().zip(host).enumerate() {
            // Rust does not specify a NaN's bits, and the last result may be fused
            let same = device.bits() == host.bits() || (device != device && host != host);
            assert!(same || i >= 7 * n, "row {}, {:x} and {:x}", i / n, device.bits(), host.bits());
        }
    }
    run(&[0.0f32, -0.0, 1.0, -1.5, 1e-40, 3.4e38, f32::INFINITY, f32::NAN, 7.25, f32::MIN_POSITIVE]);
    run(&[0.0f64, -0.0, 1.0, -1.5, 1e-310, 1.7e308, f64::INFINITY, f64::NAN, 7.25, f64::MIN_POSITIVE]);
}

macro_rules! casts {
    ($($name:ident: $from:ty => $($to:ident)*, $($float:ident)*;)*) => { $(
        #[kernel]
        fn $name(x: &[$from], out: &mut [u64]) {
            let i = grid::<1>();
            let mut column = i * 12;
            $(
                out[column] = x[i] as $to as u64;
                column += 1;
            )*
            $(
                out[column] = (x[i] as $float).to_bits() as u64;
                column += 1;
            )*
        }
    )* };
}

casts! {
    from_i8: i8 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
    from_i32: i32 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
    from_i64: i64 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
    from_u16: u16 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
    from_u32: u32 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
    from_u64: u64 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
    from_f32: f32 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
    from_f64: f64 => i8 i16 i32 i64 u8 u16 u32 u64, f32 f64;
}

#[test]
fn casts_are_rusts() {
    differ!(from_i8, (1, 4), [&[0, 1, -1, i8::MIN][..]], vec![0u64; 48]);
    differ!(from_i32, (1, 4), [&[16_777_217, 1, -1, i32::MIN][..]], vec![0u64; 48]);
    differ!(from_i64, (1, 4), [&[(1 << 53) + 1, i64::MAX, -1, i64::MIN][..]], vec![0u64; 48]);
    differ!(from_u16, (1, 4), [&[0, 1, 255, u16::MAX][..]], vec![0u64; 48]);
    differ!(from_u32, (1, 4), [&[16_777_217, 1, 1 << 31, u32::MAX][..]], vec![0u64; 48]);
    differ!(from_u64, (1, 4), [&[(1 << 53) + 1, 1, 1 << 63, u64::MAX][..]], vec![0u64; 48]);
    let f32s = [0.0, -0.9, 255.5, -1.0, 1e10, -1e10, 1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    differ!(from_f32, (1, 9), [&f32s[..9]], vec![0u64; 108]);
    let f64s = [0.0, -0.9, 255.5, -1.0, 1e10, -1e10, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    differ!(from_f64, (1, 9), [&f64s[..9]], vec![0u64; 108]);
}

#[kernel]
fn nan_casts(x: &[f32], y: &[f64], out: &mut [i64]) {
    out[0] = x[0] as i32 as i64 + x[0] as i64 + x[0] as u8 as i64;
    out[1] = y[0] as i32 as i64 + y[0] as i64 + y[0] as u8 as i64;
}

#[test]
fn nan_becomes_zero() {
    let zeros = differ!(nan_casts, (1, 1), [&[f32::NAN][..], &[f64::NAN][..]], vec![1i64, 1]);
    assert_eq!(zeros, [0, 0]);
}

#[kernel]
fn literals(out: &mut [f64]) {
    out[0] = 1e-3 + 0xffu8 as f64 + 1_000i64 as f64 + 2f64 + -1 as f64;
    out[1] = (1 << 20) as f64 + (7 / 2) as f64 + (7.0 / 2.0) as f64;
    out[2] = 0.1f32 as f64;
    out[3] = if 3 < 4 && !false { true as u8 as f64 } else { -128i8 as f64 };
    out[4] = u64::MAX as f32 as f64;
    out[5] = (out.len() << 2 >> 1) as f64;
}

#[test]
fn literals_take_rusts_types() {
    differ!(literals, (1, 1), [], vec![0f64; 6]);
}

#[kernel]
fn booleans(x: &[u32], flag: bool, out: &mut [u32]) {
    let i = grid::<1>();
    let odd = x[i] % 2 == 1;
    let both = odd & flag | (odd ^ flag);
    // the right side would be out of bounds if it were evaluated
    let safe = i + 1 < x.len() && x[i + 1] > x[i];
    let either = i + 1 >= x.len() || x[i + 1] > 100;
    out[i] = both as u32 | (safe as u32) << 1 | (either as u32) << 2 | ((flag == odd) as u32) << 3;
}

#[test]
fn conditions_stop_early() {
    let x = [1, 2, 300, 4, 5, 400];
    differ!(booleans, (1, 6), [&x[..], true], vec![0u32; 6]);
    differ!(booleans, (1, 6), [&x[..], false], vec![0u32; 6]);
}

/// The software device's back end knows that the first `max` is not NaN.
#[kernel(fma = false)]
fn of_numbers_and_nans(x: &[f32], y: &[f64], out: &mut [f64]) {
    let i = grid::<1>();
    if i < x.len() {
        let (v, w) = (x[i], x[(i + 1) % x.len()]);
        let single = w.max(8e27).max(v.mul_add(v, w));
        let (v, w) = (y[i], y[(i + 1) % y.len()]);
        let double = w.max(8e27).max(v.mul_add(v, w));
        out[2 * i] = single as f64;
        out[2 * i + 1] = double;
    }
}

#[test]
fn the_greater_of_a_number_and_a_nan_is_the_number() {
    let x: Vec<f32> = (0..64).map(|i| if i % 3 == 0 { f32::NAN } else { i as f32 }).collect();
    let y: Vec<f64> = x.iter().map(|&v| v.into()).collect();
    // vectorised, and one thread at a time
    for config in [(2, 32), (64, 1)] {
        let out = differ!(of_numbers_and_nans, config, [&x[..], &y[..]], vec![0.0f64; 128]);
        assert!(out.iter().all(|v| v.is_finite()), "{out:?}");
    }
}
