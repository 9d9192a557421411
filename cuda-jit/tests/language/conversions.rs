//! Conversions: `from`, `into` and `from_bits` as rustc resolves them, against the host.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, f16, f32x2, f32x4, kernel};

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Unit {
    Metre,
    Foot = 3,
}

#[device]
impl From<Unit> for f64 {
    fn from(unit: Unit) -> f64 {
        match unit {
            Unit::Metre => 1.0,
            Unit::Foot => 0.3048,
        }
    }
}

/// A user-defined number.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Metres {
    value: f64,
}

#[device]
impl From<(f64, Unit)> for Metres {
    fn from((value, unit): (f64, Unit)) -> Self {
        Self { value: value * f64::from(unit) }
    }
}

#[device]
impl From<Metres> for f64 {
    fn from(metres: Metres) -> Self {
        metres.value + 0.5
    }
}

#[device]
impl From<&Unit> for f32 {
    fn from(unit: &Unit) -> f32 {
        if *unit as u8 == 3 { 3.5 } else { 1.5 }
    }
}

#[device]
impl TryFrom<&[f64]> for Metres {
    type Error = usize;

    fn try_from(values: &[f64]) -> Result<Self, usize> {
        match *values {
            [value] => Ok(Metres { value }),
            _ => Err(values.len()),
        }
    }
}

#[kernel]
fn of_references(x: &[f64], out: &mut [f64]) {
    let i = grid::<1>();
    let unit = if i % 2 == 0 { Unit::Metre } else { Unit::Foot };
    let factor: f32 = (&unit).into();
    out[i] = f64::from(f32::from(&unit)) + f64::from(factor) * 10.0;
    out[i] += match Metres::try_from(&x[..i]) {
        Ok(metres) => metres.value,
        Err(count) => count as f64 * 100.0,
    };
}

#[test]
fn conversions_of_references_leave_out_their_lifetimes() {
    differ!(of_references, (1, 4), [&[1.0, 2.5, -3.0, 4.0][..]], vec![0.0; 4]);
}

#[kernel]
fn of_own_types(x: &[f64], out: &mut [f64]) {
    let i = grid::<1>();
    let unit = if i % 2 == 0 { Unit::Metre } else { Unit::Foot };
    let metres: Metres = (x[i], unit).into();
    let whole: f64 = metres.into();
    let same = Metres::from(metres);
    out[2 * i] = whole + f64::from(unit);
    out[2 * i + 1] = f64::from(Metres::from((x[i], unit))) + f64::from(x[i]) * same.value;
}

#[test]
fn conversions_of_own_types_are_their_impls() {
    differ!(of_own_types, (1, 4), [&[1.0, 2.5, -3.0, 4.0][..]], vec![0.0; 8]);
}

type Real = f64;

#[kernel]
fn of_numbers(x: &[u8], out: &mut [f64]) {
    use std::primitive::f64 as Double;
    let i = grid::<1>();
    let v = x[i];
    let wide: u64 = v.into();
    let letter: char = v.into();
    let half: f16 = v.into();
    out[8 * i] = Real::from(v) + Double::from(v as i8);
    out[8 * i + 1] = f64::from(u32::from(v) << 9);
    out[8 * i + 2] = f64::from(f32::from(v > 9)) + f64::from(u32::from(letter));
    out[8 * i + 3] = f64::from(half) + f64::from(f32::from(half));
    out[8 * i + 4] = (wide + u64::from(char::from(v))) as f64;
    out[8 * i + 5] = f64::from(1) + f64::from(i32::from(v as i8));
    out[8 * i + 6] = Real::from_bits(wide << 50) + f32::from_bits(u32::from(v) << 20) as f64;
    out[8 * i + 7] = f64::from(f16::from_bits(u16::from(v) << 6)) + i128::from(v as i8) as f64;
}

#[test]
fn conversions_of_numbers_are_those_of_the_standard_library() {
    differ!(of_numbers, (1, 4), [&[0_u8, 7, 130, 255][..]], vec![0.0; 32]);
}

#[kernel]
fn of_arrays(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let sum = f32x4::from([x[i], 2.0, 3.0, x[0]]) + f32x4::splat(0.5);
    let pair: f32x2 = [sum.y, sum.w].into();
    out[i] = sum.x * 100.0 + sum.z + pair.dot(f32x2::new(10.0, 1000.0));
}

#[test]
fn vectors_are_made_of_arrays() {
    differ!(of_arrays, (1, 3), [&[5.0, 2.0, 9.0][..]], vec![0.0; 3]);
}

/// A code that is none of a [`Suit`].
#[derive(Clone, Copy, DeviceType)]
struct NoSuit {
    code: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Suit {
    Spades,
    Hearts,
}

#[device]
impl TryFrom<u32> for Suit {
    type Error = NoSuit;

    fn try_from(code: u32) -> Result<Self, Self::Error> {
        Ok::<Self, Self::Error>(match code {
            0 => Suit::Spades,
            1 => Suit::Hearts,
            code => return Err(Self::Error { code }),
        })
    }
}

/// Two numbers in order.
#[derive(Clone, Copy, DeviceType)]
struct Ordered<T>(T, T);

#[device]
impl<T: Copy + PartialOrd> TryFrom<(T, T)> for Ordered<T> {
    type Error = T;

    fn try_from((low, high): (T, T)) -> Result<Self, T> {
        if low <= high { Ok(Self(low, high)) } else { Err(high) }
    }
}

/// The stand-in for an error.
#[derive(Clone, Copy, DeviceType)]
struct Failure(u32);

#[device]
impl From<NoSuit> for Failure {
    fn from(NoSuit { code }: NoSuit) -> Self {
        Self(code * 10)
    }
}

#[device]
fn both(x: u32) -> Result<u32, Failure> {
    let suit: Suit = x.try_into()?;
    let other = Suit::try_from(x / 2)?;
    Ok(suit as u32 * 4 + other as u32)
}

#[kernel]
fn tries(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[4 * i] = match both(x[i]) {
        Ok(number) => number,
        Err(Failure(number)) => 1000 + number,
    };
    out[4 * i + 1] = Suit::try_from(x[i]).map_or_else(|error| error.code, |suit| suit as u32 + 50);
    let ordered: Result<Ordered<u32>, _> = (x[i], 3).try_into();
    out[4 * i + 2] = ordered.map_or(7, |Ordered(low, high)| 10 * low + high);
    out[4 * i + 3] = Ordered::try_from((2.5, f64::from(x[i]))).is_err() as u32;
}

#[test]
fn fallible_conversions_of_own_types_are_their_impls() {
    differ!(tries, (1, 4), [&[0, 1, 3, 8][..]], vec![0u32; 16]);
}
