//! `Num::cast` and `Num::cast_from`: between all types of numbers, against the host and against `as`.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::typeinfo::bits_of;
use cuda_jit::{Num, bf16, device, f16, kernel};

#[device]
fn doubled<T: Num>(value: T) -> T {
    value * T::cast_from(2)
}

#[kernel]
fn casts<T: Num, U: Num>(x: &[T], out: &mut [U]) {
    let i = grid::<1>();
    if i < x.len() {
        out[3 * i] = x[i].cast();
        out[3 * i + 1] = U::cast_from(x[i]);
        out[3 * i + 2] = doubled(i.cast::<U>());
    }
}

/// Half of the distance from 1 to the next `f16`; eight of them are that of `bf16`.
const TIE: f64 = 1.0 / 2048.0;

/// Numbers of a type at which conversions to some other change.
fn samples<T: Num>() -> Vec<T> {
    let floats = [
        0.0,
        0.5,
        -0.5,
        1.0,
        -1.0,
        2.5,
        3.5,
        -2.5,
        127.0,
        128.0,
        255.5,
        256.0,
        2049.0,
        65504.0,
        65520.0,
        -65536.0,
        1e5,
        16777217.0,
        2147483647.0,
        2147483648.0,
        4294967296.0,
        9007199254740993.0,
        9.3e18,
        1.9e19,
        3.5e38,
        -3.5e38,
        1e300,
        -1e300,
        6e-8,
        1.0 + TIE + 1e-12,
        1.0 + 8.0 * TIE + 1e-12,
        1e-40,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let integers =
        [i128::MAX, i128::MIN, u64::MAX.into(), (1 << 64) + (1 << 40) + 1, (1 << 24) + 1, -((1 << 53) + 1), 257, 65537];
    let all = floats.iter().map(|v| v.cast()).chain(integers.iter().map(|v| v.cast()));
    all.chain([T::MIN, T::MAX, T::ONE, u128::MAX.cast()]).collect()
}

macro_rules! all_pairs {
    ($($from:ident)*; $to:tt) => { $( all_pairs!(@ $from $to); )* };
    (@ $from:ident [$($to:ident)*]) => {{
        let x = samples::<$from>();
        $( differ!(casts::<$from, $to>, (2, 32), [&x[..]], vec![<$to as Num>::ZERO; 3 * x.len()]); )*
    }};
}

#[test]
fn numbers_of_all_types_are_cast_to_all_types() {
    all_pairs!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 f16 bf16;
        [i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 f16 bf16]);
}

#[test]
fn nan_becomes_zero() {
    let x = [f32::NAN, -f32::NAN];
    assert_eq!(differ!(casts::<f32, i64>, (1, 32), [&x[..]], vec![7; 6]), [0, 0, 0, 0, 0, 2]);
    let x = [f16::NAN];
    assert_eq!(differ!(casts::<f16, u8>, (1, 32), [&x[..]], vec![7; 3]), [0, 0, 0]);
}

macro_rules! as_by_rustc {
    ($($from:ident)*; $to:tt) => { $( as_by_rustc!(@ $from $to); )* };
    (@ $from:ident [$($to:ident)*]) => {
        for x in samples::<$from>() {
            $( assert_eq!(bits_of(x.cast::<$to>()), bits_of(x as $to), "{x} as {}", stringify!($to)); )*
        }
    };
}

#[test]
fn the_hosts_cast_is_as() {
    as_by_rustc!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64;
        [i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64]);
}

#[device]
fn halved(of: u16) -> u16 {
    of / 2
}

#[kernel]
fn inferred(x: f32, out: &mut [u64]) {
    let whole: u64 = x as _;
    out[0] = whole;
    out[1] = x as _;
    out[2] = halved(x as _) as _;
    out[3] += [1_u8, 2, 3][(x as u32 % 3) as usize] as u64 + (x as i8 as u8) as u64;
    let count = (x as u32 + 300) as _;
    out[4] = u64::from(halved(count));
}

#[test]
fn the_type_of_a_cast_may_be_inferred() {
    differ!(inferred, (1, 1), [-7.5_f32], [0_u64; 5]);
    differ!(inferred, (1, 1), [70000.5_f32], [0_u64; 5]);
}
