//! Integer methods that the device library implements in Rust, on every pair of boundary values.

use cuda_jit::device::grid;
use cuda_jit::kernel;

use super::{context, differ, on_device};

macro_rules! integers {
    ($($module:ident $ty:ident $wide:ident;)*) => { $(
        mod $module {
            use super::*;

            #[kernel]
            fn of_two(x: &[$ty], y: &[$ty], out: &mut [$wide]) {
                let i = grid::<1>();
                let (a, b, n) = (x[i], y[i], y[i] as u32);
                let (small, one) = ((y[i] & 15) as u32, 1 as $ty);
                let some = |v: Option<$ty>| v.map_or(77, |v| v as $wide);
                let log = |v: Option<u32>| v.map_or(99, |v| v as $wide);
                let both = |(v, flag): ($ty, bool)| (v as $wide) ^ if flag { 1 << 40 } else { 0 };
                let divisor = if b == 0 { one } else { b };
                let values = [
                    a.midpoint(b) as $wide,
                    log(a.checked_ilog(b)),
                    log(a.checked_ilog2()),
                    log(a.checked_ilog10()),
                    if a > 0 { a.ilog10() as $wide * 100 + a.ilog(if b < 2 { 3 } else { b }) as $wide } else { 5 },
                    if a > 0 { a.isqrt() as $wide } else { 6 },
                    some(a.checked_pow(small)),
                    a.saturating_pow(small) as $wide,
                    both(a.overflowing_pow(small)),
                    some(a.checked_div_euclid(b)),
                    some(a.checked_rem_euclid(b)),
                    a.wrapping_div_euclid(divisor) as $wide,
                    a.wrapping_rem_euclid(divisor) as $wide,
                    a.saturating_div(divisor) as $wide,
                    both(a.overflowing_div(divisor)),
                    both(a.overflowing_rem(divisor)),
                    both(a.overflowing_shl(n)),
                    both(a.overflowing_shr(n)),
                    a.unbounded_shl(n) as $wide,
                    a.unbounded_shr(n) as $wide,
                ];
                for (k, value) in values.iter().enumerate() {
                    out[i * 20 + k] = *value;
                }
            }

            #[test]
            fn differ_nowhere() {
                let bits = [0, 1, 2, 3, 7, 9, 10, 15, 16, 63, 64, 99, 100, 127, 128, 129, 200];
                let high = |v: $ty| <$ty>::MAX ^ v;
                let values: Vec<$ty> = bits.iter().flat_map(|&v| [v as $ty, high(v as $ty), !(v as $ty)]).collect();
                let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
                let (x, y): (Vec<$ty>, Vec<$ty>) = pairs.unzip();
                differ!(of_two, (x.len().div_ceil(51), 51), [&x[..], &y[..]], vec![0; x.len() * 20]);
            }
        }
    )* };
}

macro_rules! signed {
    ($($module:ident $ty:ident)*) => { $(
        mod $module {
            use super::*;

            #[kernel]
            fn of_one(x: &[$ty], out: &mut [i64]) {
                let i = grid::<1>();
                let (a, (value, wraps)) = (x[i], x[i].overflowing_abs());
                out[i * 4] = a.checked_abs().map_or(77, |v| v as i64) ^ a.saturating_neg() as i64;
                out[i * 4 + 1] = a.saturating_abs() as i64;
                out[i * 4 + 2] = value as i64 + wraps as i64;
                out[i * 4 + 3] = a.checked_isqrt().map_or(77, |v| v as i64);
            }

            #[test]
            fn differ_nowhere() {
                let x: Vec<$ty> = (0..256).map(|k| ((k % 128) as $ty).rotate_right(k / 128) ^ !(k as $ty >> 1)).collect();
                let x: Vec<$ty> = x.into_iter().chain([<$ty>::MIN, <$ty>::MAX, 0, 1, -1]).collect();
                differ!(of_one, (1, x.len()), [&x[..]], vec![0; x.len() * 4]);
            }
        }
    )* };
}

macro_rules! unsigned {
    ($($module:ident $ty:ident)*) => { $(
        mod $module {
            use super::*;

            #[kernel]
            fn of_two(x: &[$ty], y: &[$ty], out: &mut [u64]) {
                let i = grid::<1>();
                let (a, b) = (x[i], y[i]);
                out[i * 4] = a.is_multiple_of(b) as u64;
                out[i * 4 + 1] = a.checked_next_multiple_of(b).map_or(77, |v| v as u64);
                out[i * 4 + 2] = a.checked_next_power_of_two().map_or(77, |v| v as u64);
                out[i * 4 + 3] = if a < 100 { (a / 2).next_multiple_of(b / 2 + 1) as u64 } else { 8 };
            }

            #[test]
            fn differ_nowhere() {
                let values: Vec<$ty> = (0..24).flat_map(|v| [v, <$ty>::MAX - v, (<$ty>::MAX / 2).wrapping_add(v)]).collect();
                let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
                let (x, y): (Vec<$ty>, Vec<$ty>) = pairs.unzip();
                differ!(of_two, (72, 72), [&x[..], &y[..]], vec![0; x.len() * 4]);
            }
        }
    )* };
}

integers! {
    on_u8 u8 u64;
    on_u16 u16 u64;
    on_u32 u32 u64;
    on_u64 u64 u64;
    on_i8 i8 i64;
    on_i16 i16 i64;
    on_i32 i32 i64;
    on_i64 i64 i64;
}
signed! { signed_8 i8 signed_16 i16 signed_32 i32 signed_64 i64 }
unsigned! { unsigned_8 u8 unsigned_16 u16 unsigned_32 u32 unsigned_64 u64 }

/// Roots of every 16-bit number, and of the neighbours of 32-bit squares.
#[kernel]
fn roots(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (v, last) = (x[i], x[i].wrapping_sub(1));
    out[i] = v.isqrt() ^ last.isqrt().rotate_left(16) ^ (i as u16).isqrt() as u32 ^ v.ilog10() << 8;
}

#[test]
fn roots_are_the_hosts() {
    let squares: Vec<u32> = (0..1u32 << 16).map(|v| (v.wrapping_mul(v)).max(1)).collect();
    differ!(roots, (256, 256), [&squares[..]], vec![0u32; 1 << 16]);
}

#[kernel(checked)]
fn without_root(x: &[i32], out: &mut [i32]) {
    out[0] = x[0].isqrt();
}

#[kernel(checked)]
fn without_logarithm(x: &[u32], out: &mut [u32]) {
    out[0] = 8u32.ilog(x[0]);
}

#[kernel(checked)]
fn beyond(x: &[u8], out: &mut [u8]) {
    out[0] = 250u8.next_multiple_of(x[0]);
}

/// The panic message of the last kernel.
fn message() -> String {
    let Err(cuda_driver::Error::KernelPanic(panic)) = context().synchronize() else { panic!("no panic") };
    panic.message
}

#[test]
fn operations_without_a_result_panic() {
    if !super::in_child_process("language::integer_methods::operations_without_a_result_panic") {
        return;
    }
    let mut out = on_device(&[0i32]);
    without_root::launch((1, 1), &on_device(&[-4]), &mut out).unwrap();
    assert!(message().contains("argument of integer square root cannot be negative"));
    let mut out = on_device(&[0u32]);
    without_logarithm::launch((1, 1), &on_device(&[1u32]), &mut out).unwrap();
    assert!(message().contains("base of integer logarithm must be at least 2"));
    let mut out = on_device(&[0u8]);
    beyond::launch((1, 1), &on_device(&[100u8]), &mut out).unwrap();
    assert!(message().contains("addition overflows"));
}
