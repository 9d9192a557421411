//! The elements of a product, computed with integers: significands are shifted and added as such.

use crate::Expected;
use crate::exact::{self, Operation};
use cuda_sim::ptx::{Modifier as M, Type};
use rustc_apfloat::Round;

/// A finite number as `significand * 2^last`, and the exponent by which it is aligned.
#[derive(Clone, Copy)]
struct Term {
    negative: bool,
    significand: u128,
    last: i32,
    exponent: i32,
}

/// An addend of a sum.
#[derive(Clone, Copy)]
enum Addend {
    Finite(Term),
    Infinite(bool),
    NaN,
}

/// Returns the bits of a type's exponent and fraction.
fn widths(ty: Type) -> (u32, u32) {
    match ty {
        Type::E4m3 => (4, 3),
        Type::E5m2 => (5, 2),
        Type::F16 => (5, 10),
        Type::Bf16 => (8, 7),
        _ => (8, 23),
    }
}

fn addend(ty: Type, bits: u64) -> Addend {
    let (exponent_bits, fraction_bits) = widths(ty);
    let bits = if ty == Type::Tf32 { bits >> 13 << 13 } else { bits };
    let most = (1u64 << exponent_bits) - 1;
    let (field, fraction) = (bits >> fraction_bits & most, bits & ((1 << fraction_bits) - 1));
    let negative = bits >> (exponent_bits + fraction_bits) == 1;
    if ty == Type::E4m3 && bits & 0x7f == 0x7f {
        return Addend::NaN;
    }
    if ty != Type::E4m3 && field == most {
        return if fraction == 0 { Addend::Infinite(negative) } else { Addend::NaN };
    }
    let exponent = (field as i32).max(1) - (most / 2) as i32;
    let significand = u128::from(if field == 0 { fraction } else { fraction + (1 << fraction_bits) });
    Addend::Finite(Term { negative, significand, last: exponent - fraction_bits as i32, exponent })
}

fn times(a: Addend, b: Addend) -> Addend {
    match (a, b) {
        (Addend::NaN, _) | (_, Addend::NaN) => Addend::NaN,
        (Addend::Finite(a), Addend::Finite(b)) => Addend::Finite(Term {
            negative: a.negative != b.negative,
            significand: a.significand * b.significand,
            last: a.last + b.last,
            exponent: a.exponent + b.exponent,
        }),
        (Addend::Infinite(sign), Addend::Finite(term)) | (Addend::Finite(term), Addend::Infinite(sign)) => {
            if term.significand == 0 { Addend::NaN } else { Addend::Infinite(sign != term.negative) }
        }
        (Addend::Infinite(a), Addend::Infinite(b)) => Addend::Infinite(a != b),
    }
}

/// Returns the bits of a sum with an infinite or NaN addend; `None` if all are finite.
fn special(all: &[Addend], to: Type) -> Option<u64> {
    let infinite = |sign: bool| all.iter().any(|a| matches!(a, Addend::Infinite(s) if *s == sign));
    let nan = all.iter().any(|a| matches!(a, Addend::NaN)) || (infinite(true) && infinite(false));
    let (width, infinity) = if to == Type::F16 { (16, 0x7c00) } else { (32, 0x7f80_0000) };
    match (nan, infinite(false), infinite(true)) {
        (true, ..) => Some((1 << (width - 1)) - 1),
        (_, true, _) => Some(infinity),
        (_, _, true) => Some(infinity | 1 << (width - 1)),
        _ => None,
    }
}

/// Truncates to 25 bits below the largest exponent, then adds; truncates the sum to `f32` or rounds it to `f16`.
fn sum(all: &[Addend], to: Type) -> u64 {
    if let Some(bits) = special(all, to) {
        return bits;
    }
    let terms: Vec<Term> = all
        .iter()
        .filter_map(|a| if let Addend::Finite(term) = a { Some(*term) } else { None })
        .filter(|term| term.significand != 0)
        .collect();
    let Some(largest) = terms.iter().map(|term| term.exponent).max() else { return 0 };
    let unit = largest - 25;
    let cut = |term: &Term| {
        let shift = term.last - unit;
        let size = if shift >= 0 {
            term.significand << shift
        } else {
            term.significand.checked_shr(shift.unsigned_abs()).unwrap_or(0)
        };
        if term.negative { -(size as i128) } else { size as i128 }
    };
    let total: i128 = terms.iter().map(cut).sum();
    let exact = total as f64 * 2f64.powi(unit);
    match to {
        Type::F16 => exact::from_value(Type::F16, exact, Round::NearestTiesToEven),
        _ if exact.abs() >= 2f64.powi(128) => 0x7f80_0000 | u64::from(exact < 0.0) << 31,
        _ if total == 0 => 0,
        _ => exact::from_value(Type::F32, exact, Round::TowardZero),
    }
}

/// The types and modifiers of a product.
pub(super) struct Kind<'a> {
    pub(super) a: Type,
    pub(super) b: Type,
    pub(super) c: Type,
    pub(super) d: Type,
    pub(super) modifiers: &'a [M],
}

/// Computes an element of `D` from a row of `A`, a column of `B`, and the element of `C`.
pub(super) fn element(kind: &Kind<'_>, row: &[u64], column: &[u64], c: u64) -> Expected {
    let pairs = || row.iter().zip(column);
    let has = |m| kind.modifiers.contains(&m);
    match kind.a {
        Type::B1 => {
            let count = pairs().filter(|(a, b)| if has(M::Xor) { a != b } else { **a == 1 && **b == 1 }).count();
            Expected::Bits(u64::from((c as u32).wrapping_add(count as u32)))
        }
        Type::S4 | Type::U4 | Type::S8 | Type::U8 => {
            let number = |ty: Type, bits: u64| {
                let signed = matches!(ty, Type::S4 | Type::S8) && bits >> (ty.bits() - 1) == 1;
                bits as i128 - if signed { 1 << ty.bits() } else { 0 }
            };
            let total: i128 = pairs().map(|(a, b)| number(kind.a, *a) * number(kind.b, *b)).sum();
            let total = total + i128::from(c as u32 as i32);
            let clamped = total.clamp(i32::MIN.into(), i32::MAX.into());
            Expected::Bits(u64::from(if has(M::Satfinite) { clamped as u32 } else { total as u32 }))
        }
        Type::F64 => {
            let round = exact::rounding(kind.modifiers);
            let fused =
                |sum: u64, (a, b): (&u64, &u64)| exact::arithmetic(Type::F64, Operation::Fma, &[*a, *b, sum], round);
            let result = pairs().fold(c, fused);
            if exact::is_nan(Type::F64, result) { Expected::NaN(Type::F64) } else { Expected::Bits(result) }
        }
        Type::E4m3 | Type::E5m2 => Expected::Bits(in_two_steps(kind, row, column, c)),
        Type::F16 if has(M::M8N8K4) && kind.d == Type::F32 => {
            // A chain of fused multiply-adds, to which the element of `C` is added.
            let fused = |sum: u64, (a, b): (&u64, &u64)| {
                let factors = [widened(*a), widened(*b), sum];
                exact::arithmetic(Type::F32, Operation::Fma, &factors, Round::NearestTiesToEven)
            };
            let c = if kind.c == Type::F16 { widened(c) } else { c };
            let sum = [pairs().fold(0, fused), c];
            let result = exact::arithmetic(Type::F32, Operation::Add, &sum, Round::NearestTiesToEven);
            if exact::is_nan(Type::F32, result) { Expected::NaN(Type::F32) } else { Expected::Bits(result) }
        }
        _ => Expected::Bits(sum(&addends(kind, pairs(), Some(c)), kind.d)),
    }
}

fn addends<'a>(kind: &Kind<'_>, pairs: impl Iterator<Item = (&'a u64, &'a u64)>, c: Option<u64>) -> Vec<Addend> {
    let products = pairs.map(|(a, b)| times(addend(kind.a, *a), addend(kind.b, *b)));
    // An `f16` is converted to the type of the sum, in which none is subnormal.
    let c = c.map(|c| match (kind.c, kind.d) {
        (Type::F16, Type::F32) => addend(Type::F32, widened(c)),
        _ => addend(kind.c, c),
    });
    c.into_iter().chain(products).collect()
}

/// Returns an `f16` as an `f32`.
fn widened(bits: u64) -> u64 {
    if exact::is_nan(Type::F16, bits) {
        return exact::nan(Type::F32);
    }
    exact::from_value(Type::F32, exact::value(Type::F16, bits), Round::NearestTiesToEven)
}

/// 8-bit floats: first adds those whose `k` is 0 or 1 modulo 4, then the others, and then `C`.
fn in_two_steps(kind: &Kind<'_>, row: &[u64], column: &[u64], c: u64) -> u64 {
    let part = |wanted: fn(usize) -> bool| {
        row.iter().zip(column).enumerate().filter(move |(k, _)| wanted(k % 4)).map(|(_, pair)| pair)
    };
    let first = sum(&addends(kind, part(|k| k < 2), None), kind.d);
    let both = sum(&addends(kind, part(|k| k > 1), Some(first)), kind.d);
    let total = exact::arithmetic(kind.d, Operation::Add, &[c, both], Round::NearestTiesToEven);
    if exact::is_nan(kind.d, total) { exact::nan(kind.d) } else { total }
}
