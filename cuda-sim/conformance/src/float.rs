//! The PTX manual's semantics of floating-point instructions.

use crate::exact::{self, Operation, arithmetic, flush, is_nan, is_subnormal, nan, one, rounding, sign, value};
use crate::instance::Instance;
use crate::{Expected, Near};
use cuda_sim::ptx::{Modifier as M, Opcode, Type};
use rustc_apfloat::Round;

/// Clamps to [0, 1]; NaN becomes 0.
pub(crate) fn saturate(ty: Type, bits: u64) -> u64 {
    let x = value(ty, bits);
    if x >= 1.0 {
        one(ty)
    } else if x > 0.0 {
        bits
    } else {
        0
    }
}

/// Replaces negative results by 0.
pub(crate) fn relu(ty: Type, bits: u64) -> u64 {
    if !is_nan(ty, bits) && bits & sign(ty) != 0 { 0 } else { bits }
}

/// Returns the smaller of two numbers: NaN loses unless `.NaN` is given, and -0 is less than 0.
fn smaller(ty: Type, a: u64, b: u64, nan_wins: bool) -> u64 {
    match (is_nan(ty, a), is_nan(ty, b)) {
        (true, true) => return nan(ty),
        (true, _) | (_, true) if nan_wins => return nan(ty),
        (true, _) => return b,
        (_, true) => return a,
        _ => {}
    }
    let (x, y) = (value(ty, a), value(ty, b));
    match x.total_cmp(&y) {
        std::cmp::Ordering::Greater => b,
        _ => a,
    }
}

fn extremum(i: &Instance, ty: Type, a: u64, b: u64) -> u64 {
    let signs = (a ^ b) & sign(ty);
    let (a, b) = if i.has(M::Xorsign) { (a & !sign(ty), b & !sign(ty)) } else { (a, b) };
    let result = if i.opcode() == Opcode::Min {
        smaller(ty, a, b, i.has(M::NaN))
    } else {
        let s = sign(ty);
        let negated = smaller(ty, a ^ s, b ^ s, i.has(M::NaN));
        if is_nan(ty, negated) { negated } else { negated ^ s }
    };
    match i.has(M::Xorsign) {
        true => result & !sign(ty) | signs,
        false => result,
    }
}

/// Returns the error that the manual allows for an approximation, relative to the result and absolute.
fn tolerance(i: &Instance, ty: Type, x: f64) -> (f64, f64) {
    let bit = |n: i32| 2f64.powi(-n);
    match (i.opcode(), ty) {
        // Two units in the last place, and half of one for the rounding of the reference.
        (Opcode::Div, _) => (2.5 * bit(23), 0.0),
        (Opcode::Rcp | Opcode::Rsqrt, Type::F64) => (bit(19), 0.0),
        (Opcode::Sin | Opcode::Cos, _) => (0.0, if x.abs() <= 3.2 { bit(20) } else { bit(14) }),
        (Opcode::Lg2, _) => (bit(21), bit(22)),
        (Opcode::Ex2, Type::F16) => (1.5 * bit(9), bit(24)),
        (Opcode::Ex2, Type::Bf16) => (1.5 * bit(7), 0.0),
        (Opcode::Tanh, Type::F16) => (bit(10), bit(10)),
        (Opcode::Tanh, Type::Bf16) => (bit(7), bit(8)),
        (Opcode::Tanh, _) => (bit(10), 0.0),
        _ => (bit(21), 0.0),
    }
}

fn approximate(i: &Instance, ty: Type, v: &[u64]) -> Expected {
    let double = ty == Type::F64;
    let ftz = i.has(M::Ftz);
    let gross = double && ftz;
    let x: Vec<f64> = v
        .iter()
        .map(|bits| match gross {
            true => value(ty, flush(ty, bits & 0xffff_ffff_0000_0000)),
            false => value(ty, *bits),
        })
        .collect();
    let exact = match i.opcode() {
        Opcode::Div if i.has(M::Approx) && x[1].abs() > 2f64.powi(126) && x[1].is_finite() => {
            x[0] * if x[1] < 0.0 { -0.0 } else { 0.0 }
        }
        Opcode::Div => x[0] / x[1],
        Opcode::Rcp => 1.0 / x[0],
        Opcode::Sqrt => x[0].sqrt(),
        Opcode::Rsqrt => 1.0 / x[0].sqrt(),
        Opcode::Sin => x[0].sin(),
        Opcode::Cos => x[0].cos(),
        Opcode::Lg2 => x[0].log2(),
        Opcode::Ex2 => x[0].exp2(),
        _ => x[0].tanh(),
    };
    if exact.is_nan() {
        return Expected::NaN(ty);
    }
    let rounded = exact::from_value(ty, exact, Round::NearestTiesToEven);
    let tiny = is_subnormal(ty, rounded);
    let (relative, absolute) = tolerance(i, ty, x[0]);
    // A result at the limit of flushing may be either value.
    let least =
        value(ty, exact::from_value(ty, if double { f64::MIN_POSITIVE } else { 2f64.powi(-126) }, Round::TowardZero));
    let absolute = if ftz && tiny || gross { absolute.max(least) } else { absolute.max(2f64.powi(-149)) };
    Expected::Near(Near { ty, exact, relative, absolute })
}

/// Computes one lane.
fn lane(i: &Instance, ty: Type, v: &[u64]) -> Expected {
    let ftz = i.has(M::Ftz) && matches!(ty, Type::F32 | Type::F16);
    let v: Vec<u64> = v.iter().map(|bits| if ftz { flush(ty, *bits) } else { *bits }).collect();
    let round = rounding(&i.modifiers);
    let exact = |operation| arithmetic(ty, operation, &v, round);
    let one = one(ty);
    let mut result = match i.opcode() {
        Opcode::Add => exact(Operation::Add),
        Opcode::Sub => exact(Operation::Sub),
        Opcode::Mul => exact(Operation::Mul),
        Opcode::Fma | Opcode::Mad => exact(Operation::Fma),
        Opcode::Div if !i.has(M::Approx) && !i.has(M::Full) => exact(Operation::Div),
        Opcode::Rcp if !i.has(M::Approx) => arithmetic(ty, Operation::Div, &[one, v[0]], round),
        Opcode::Sqrt if !i.has(M::Approx) => exact::square_root(ty, v[0], round),
        Opcode::Abs => v[0] & !sign(ty),
        Opcode::Neg => v[0] ^ sign(ty),
        Opcode::Copysign => v[1] & !sign(ty) | v[0] & sign(ty),
        Opcode::Min | Opcode::Max => extremum(i, ty, v[0], v[1]),
        _ => return approximate(i, ty, &v),
    };
    if ftz {
        // A card flushes the product of two halves before it rounds it.
        let product = || (value(ty, v[0]) * value(ty, v[1])).abs();
        let tiny = i.opcode() == Opcode::Mul && ty == Type::F16 && product() < 2f64.powi(-14);
        result = if tiny { result & sign(ty) } else { flush(ty, result) };
    }
    if i.has(M::Sat) {
        result = saturate(ty, result);
    }
    if i.has(M::Relu) {
        result = relu(ty, result);
    }
    if is_nan(ty, result) { Expected::NaN(ty) } else { Expected::Bits(result) }
}

pub(crate) fn expected(i: &Instance, v: &[u64]) -> Vec<Expected> {
    let ty = i.ty();
    if i.opcode() == Opcode::Testp {
        return vec![Expected::Bits(u64::from(testp(i, ty, v[0])))];
    }
    let (lane_ty, packed) = ty.lane();
    if !packed {
        return vec![lane(i, ty, v)];
    }
    let bits = lane_ty.bits();
    let half = |at: u32| v.iter().map(|x| x >> (at * bits) & ((1 << bits) - 1)).collect::<Vec<_>>();
    vec![Expected::Pair(bits, Box::new([lane(i, lane_ty, &half(0)), lane(i, lane_ty, &half(1))]))]
}

fn testp(i: &Instance, ty: Type, bits: u64) -> bool {
    let (nan, infinite, subnormal) = (is_nan(ty, bits), exact::is_infinite(ty, bits), is_subnormal(ty, bits));
    match i.modifiers[0] {
        M::Finite => !nan && !infinite,
        M::Infinite => infinite,
        M::Number => !nan,
        M::Notanumber => nan,
        M::Normal => !nan && !infinite && !subnormal,
        _ => subnormal,
    }
}
