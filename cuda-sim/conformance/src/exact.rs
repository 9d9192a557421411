//! Correct floating-point arithmetic: LLVM's arbitrary-precision library, and integers.
//!
//! It shares nothing with the device, which computes with the processor or rounds in its own way.

use cuda_sim::ptx::{Modifier, Type};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// Returns the rounding mode of modifiers.
pub(crate) fn rounding(modifiers: &[Modifier]) -> Round {
    let found = modifiers.iter().find_map(|m| match m {
        Modifier::Rz => Some(Round::TowardZero),
        Modifier::Rm => Some(Round::TowardNegative),
        Modifier::Rp => Some(Round::TowardPositive),
        Modifier::Rna => Some(Round::NearestTiesToAway),
        _ => None,
    });
    found.unwrap_or(Round::NearestTiesToEven)
}

/// An operation of two or three operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
}

fn compute<F: Float>(operation: Operation, v: &[u64], round: Round) -> u64 {
    let x: Vec<F> = v.iter().map(|bits| F::from_bits(u128::from(*bits))).collect();
    let result = match operation {
        Operation::Add => x[0].add_r(x[1], round),
        Operation::Sub => x[0].sub_r(x[1], round),
        Operation::Mul => x[0].mul_r(x[1], round),
        Operation::Div => x[0].div_r(x[1], round),
        Operation::Fma => x[0].mul_add_r(x[1], x[2], round),
    };
    result.value.to_bits() as u64
}

macro_rules! by_type {
    ($ty:expr, $function:ident::<F>($($arg:expr),*)) => {
        match $ty {
            Type::F16 => $function::<Half>($($arg),*),
            Type::Bf16 => $function::<BFloat>($($arg),*),
            Type::F32 => $function::<Single>($($arg),*),
            _ => $function::<Double>($($arg),*),
        }
    };
}

/// Returns the bits of the result, rounded once.
pub(crate) fn arithmetic(ty: Type, operation: Operation, v: &[u64], round: Round) -> u64 {
    by_type!(ty, compute::<F>(operation, v, round))
}

/// Returns the value as a `double`, which represents every value of every type.
pub(crate) fn value(ty: Type, bits: u64) -> f64 {
    fn wide<F: FloatConvert<Double>>(bits: u64) -> f64 {
        let double: Double = F::from_bits(u128::from(bits)).convert(&mut false).value;
        f64::from_bits(double.to_bits() as u64)
    }
    by_type!(ty, wide::<F>(bits))
}

/// Converts a `double` to another type.
pub(crate) fn from_value(ty: Type, value: f64, round: Round) -> u64 {
    fn narrow<F: Float>(value: f64, round: Round) -> u64
    where
        Double: FloatConvert<F>,
    {
        let double = Double::from_bits(u128::from(value.to_bits()));
        let narrow: F = double.convert_r(round, &mut false).value;
        narrow.to_bits() as u64
    }
    by_type!(ty, narrow::<F>(value, round))
}

/// Converts an integer to a floating-point type.
pub(crate) fn from_integer(ty: Type, integer: i128, round: Round) -> u64 {
    fn convert<F: Float>(integer: i128, round: Round) -> u64 {
        F::from_i128_r(integer, round).value.to_bits() as u64
    }
    by_type!(ty, convert::<F>(integer, round))
}

/// The square root: that of the significand as an integer with many more bits than are kept, with a sticky remainder.
pub(crate) fn square_root(ty: Type, bits: u64, round: Round) -> u64 {
    fn root<F: Float + FloatConvert<Double>>(bits: u64, round: Round) -> u64 {
        let x = F::from_bits(u128::from(bits));
        if x.is_nan() || x.is_zero() || (x.is_infinite() && !x.is_negative()) {
            return bits;
        }
        if x.is_negative() {
            return F::NAN.to_bits() as u64;
        }
        let double: Double = x.convert(&mut false).value;
        let raw = double.to_bits() as u64;
        let (field, fraction) = ((raw >> 52) as i32, raw & ((1 << 52) - 1));
        let (mut significand, mut exponent) =
            if field == 0 { (u128::from(fraction), -1074) } else { (u128::from(fraction | 1 << 52), field - 1075) };
        while significand < 1 << 124 || exponent % 2 != 0 {
            (significand, exponent) = (significand << 1, exponent - 1);
            if significand >> 126 != 0 {
                break;
            }
        }
        if exponent % 2 != 0 {
            (significand, exponent) = (significand >> 1, exponent + 1);
        }
        let whole = significand.isqrt();
        let sticky = u128::from(whole * whole != significand);
        let scaled = F::from_u128_r(whole << 1 | sticky, round).value;
        scaled.scalbn_r(exponent / 2 - 1, round).to_bits() as u64
    }
    by_type!(ty, root::<F>(bits, round))
}

fn fraction_bits(ty: Type) -> u32 {
    match ty {
        Type::F16 => 10,
        Type::Bf16 => 7,
        Type::F32 => 23,
        _ => 52,
    }
}

/// Returns the mask of the exponent's bits.
fn exponent_mask(ty: Type) -> u64 {
    (sign(ty) - 1) & !((1 << fraction_bits(ty)) - 1)
}

/// The sign bit.
pub(crate) fn sign(ty: Type) -> u64 {
    1 << (ty.bits() - 1)
}

pub(crate) fn is_nan(ty: Type, bits: u64) -> bool {
    bits & (sign(ty) - 1) > exponent_mask(ty)
}

pub(crate) fn is_infinite(ty: Type, bits: u64) -> bool {
    bits & (sign(ty) - 1) == exponent_mask(ty)
}

pub(crate) fn is_subnormal(ty: Type, bits: u64) -> bool {
    bits & exponent_mask(ty) == 0 && bits & (sign(ty) - 1) != 0
}

/// Replaces subnormal numbers by zeros of their sign.
pub(crate) fn flush(ty: Type, bits: u64) -> u64 {
    if is_subnormal(ty, bits) { bits & sign(ty) } else { bits }
}

pub(crate) fn nan(ty: Type) -> u64 {
    sign(ty) - 1
}

/// 1 in that type.
pub(crate) fn one(ty: Type) -> u64 {
    from_integer(ty, 1, Round::NearestTiesToEven)
}

/// Rounds to an integral value.
pub(crate) fn to_integral(value: f64, modifiers: &[Modifier]) -> f64 {
    let found = modifiers.iter().find_map(|m| match m {
        Modifier::Rni => Some(Round::NearestTiesToEven),
        Modifier::Rzi => Some(Round::TowardZero),
        Modifier::Rmi => Some(Round::TowardNegative),
        Modifier::Rpi => Some(Round::TowardPositive),
        _ => None,
    });
    let Some(round) = found else { return value };
    let rounded = Double::from_bits(u128::from(value.to_bits())).round_to_integral(round).value;
    f64::from_bits(rounded.to_bits() as u64)
}
