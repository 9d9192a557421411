//! The reference semantics of operations on scalars, in Rust.

use super::Case;
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, UnaryOp};

/// The bits of the result, if the operation is defined on these operands, all of type `ty`.
pub(super) fn evaluate(case: &Case, ty: Scalar, operands: &[u64]) -> Option<u64> {
    let (a, b) = (operands[0], operands.get(1).copied().unwrap_or(0));
    match &case.1 {
        Op::Unary(op, _) if ty.is_float() => Some(float_unary(*op, ty, a)),
        Op::Unary(op, _) => Some(int_unary(*op, ty, a)),
        Op::Binary(op, ..) if ty.is_float() => Some(float_binary(*op, ty, a, b)),
        Op::Binary(op, ..) => int_binary(*op, ty, a, b),
        Op::Overflows(op, ..) => {
            let exact = exact(*op, integer(ty, a), integer(ty, b));
            Some((integer(ty, wrap(ty, exact)) != exact).into())
        }
        Op::Compare(op, ..) if ty.is_float() => Some(compare(*op, &float(ty, a), &float(ty, b)).into()),
        Op::Compare(op, ..) => Some(compare(*op, &integer(ty, a), &integer(ty, b)).into()),
        Op::Select(..) => {
            let taken = if ty.is_float() { float(ty, a) != 0.0 } else { a != 0 };
            Some(if taken { operands[1] } else { operands[2] })
        }
        Op::Fma(..) if ty == Scalar::F32 => {
            let [a, b, c] = [0, 1, 2].map(|n| f32::from_bits(operands[n] as u32));
            Some(a.mul_add(b, c).to_bits().into())
        }
        Op::Fma(..) => {
            let [a, b, c] = [0, 1, 2].map(|n| f64::from_bits(operands[n]));
            Some(a.mul_add(b, c).to_bits())
        }
        Op::Cast(_, to) => Some(cast(ty, *to, a)),
        Op::Bitcast(..) => Some(a),
        _ => None,
    }
}

fn wrap(ty: Scalar, exact: i128) -> u64 {
    exact as u64 & (u64::MAX >> (64 - ty.bits()))
}

fn integer(ty: Scalar, bits: u64) -> i128 {
    let unused = 128 - ty.bits();
    if ty.is_signed() { (i128::from(bits) << unused) >> unused } else { bits.into() }
}

/// A float as `f64`, which is exact.
fn float(ty: Scalar, bits: u64) -> f64 {
    if ty == Scalar::F32 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
}

fn exact(op: BinaryOp, a: i128, b: i128) -> i128 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        _ => a.wrapping_mul(b),
    }
}

fn compare<T: PartialOrd>(op: CompareOp, a: &T, b: &T) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

fn int_unary(op: UnaryOp, ty: Scalar, a: u64) -> u64 {
    let unused = 64 - ty.bits();
    match op {
        UnaryOp::Neg => wrap(ty, -integer(ty, a)),
        UnaryOp::Abs => wrap(ty, integer(ty, a).abs()),
        UnaryOp::CountOnes => a.count_ones().into(),
        UnaryOp::LeadingZeros => (a.leading_zeros() - unused).into(),
        UnaryOp::TrailingZeros => a.trailing_zeros().min(ty.bits()).into(),
        UnaryOp::ReverseBits => a.reverse_bits() >> unused,
        UnaryOp::SwapBytes => a.swap_bytes() >> unused,
        _ => wrap(ty, !i128::from(a)),
    }
}

fn int_binary(op: BinaryOp, ty: Scalar, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (integer(ty, a), integer(ty, b));
    let amount = b % u64::from(ty.bits());
    Some(match op {
        BinaryOp::Div | BinaryOp::Rem if y == 0 => return None,
        BinaryOp::Div | BinaryOp::Rem if integer(ty, wrap(ty, x / y)) != x / y => return None,
        BinaryOp::Div => wrap(ty, x / y),
        BinaryOp::Rem => wrap(ty, x % y),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => wrap(ty, x << amount),
        BinaryOp::Shr => wrap(ty, x >> amount),
        BinaryOp::Min => wrap(ty, x.min(y)),
        BinaryOp::Max => wrap(ty, x.max(y)),
        _ => wrap(ty, exact(op, x, y)),
    })
}

fn cast(from: Scalar, to: Scalar, a: u64) -> u64 {
    match (from.is_float(), to) {
        (true, Scalar::F32) => (float(from, a) as f32).to_bits().into(),
        (true, Scalar::F64) => float(from, a).to_bits(),
        (true, _) => {
            let unused = 128 - to.bits();
            let low = if to.is_signed() { i128::MIN >> unused } else { 0 };
            let high = if to.is_signed() { i128::MAX >> unused } else { (u128::MAX >> unused) as i128 };
            wrap(to, (float(from, a) as i128).clamp(low, high))
        }
        (false, Scalar::F32) => (integer(from, a) as f32).to_bits().into(),
        (false, Scalar::F64) => (integer(from, a) as f64).to_bits(),
        (false, _) => wrap(to, integer(from, a)),
    }
}

macro_rules! floats {
    ($float:ident, $bits:ident, $unary:ident, $binary:ident) => {
        fn $unary(op: UnaryOp, a: u64) -> u64 {
            let a = $float::from_bits(a as $bits);
            let result = match op {
                UnaryOp::Neg => -a,
                UnaryOp::Abs => a.abs(),
                UnaryOp::Sqrt => a.sqrt(),
                UnaryOp::Floor => a.floor(),
                UnaryOp::Ceil => a.ceil(),
                UnaryOp::Trunc => a.trunc(),
                _ => a.round_ties_even(),
            };
            result.to_bits().into()
        }

        fn $binary(op: BinaryOp, a: u64, b: u64) -> u64 {
            let (a, b) = ($float::from_bits(a as $bits), $float::from_bits(b as $bits));
            let result = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Rem => a % b,
                // Rust leaves the order of zeros open; KIR's minimum is the negative one.
                BinaryOp::Min if a == b => $float::from_bits(a.to_bits() | b.to_bits()),
                BinaryOp::Max if a == b => $float::from_bits(a.to_bits() & b.to_bits()),
                BinaryOp::Min => a.min(b),
                BinaryOp::Max => a.max(b),
                _ => a.copysign(b),
            };
            result.to_bits().into()
        }
    };
}

floats!(f32, u32, f32_unary, f32_binary);
floats!(f64, u64, f64_unary, f64_binary);

fn float_unary(op: UnaryOp, ty: Scalar, a: u64) -> u64 {
    if ty == Scalar::F32 { f32_unary(op, a) } else { f64_unary(op, a) }
}

fn float_binary(op: BinaryOp, ty: Scalar, a: u64, b: u64) -> u64 {
    if ty == Scalar::F32 { f32_binary(op, a, b) } else { f64_binary(op, a, b) }
}
