//! The PTX manual's semantics of comparisons, selections and conversions.

use crate::Expected;
use crate::exact::{self, flush, is_nan, nan, one, rounding, value};
use crate::float::{relu, saturate};
use crate::instance::Instance;
use crate::integer::{clamp, number};
use cuda_sim::ptx::isa::Shape;
use cuda_sim::ptx::{Modifier as M, Opcode, Type};
use std::cmp::Ordering;

fn order(i: &Instance, ty: Type, a: u64, b: u64) -> Option<Ordering> {
    if !ty.is_float() {
        return Some(number(ty, a).cmp(&number(ty, b)));
    }
    let ftz = i.has(M::Ftz);
    let cut = |x: u64| value(ty, if ftz { flush(ty, x) } else { x });
    cut(a).partial_cmp(&cut(b))
}

fn holds(i: &Instance, ty: Type, a: u64, b: u64) -> bool {
    let order = order(i, ty, a, b);
    let is = |set: &[Ordering], unordered: bool| order.map_or(unordered, |o| set.contains(&o));
    use Ordering::{Equal, Greater, Less};
    match i.modifiers[0] {
        M::Eq => is(&[Equal], false),
        M::Ne => is(&[Less, Greater], false),
        M::Lt | M::Lo => is(&[Less], false),
        M::Le | M::Ls => is(&[Less, Equal], false),
        M::Gt | M::Hi => is(&[Greater], false),
        M::Ge | M::Hs => is(&[Greater, Equal], false),
        M::Equ => is(&[Equal], true),
        M::Neu => is(&[Less, Greater], true),
        M::Ltu => is(&[Less], true),
        M::Leu => is(&[Less, Equal], true),
        M::Gtu => is(&[Greater], true),
        M::Geu => is(&[Greater, Equal], true),
        M::Num => order.is_some(),
        _ => order.is_none(),
    }
}

fn combined(i: &Instance, truth: bool, c: Option<&u64>) -> bool {
    let c = c.is_some_and(|c| *c != 0);
    if i.has(M::And) {
        truth && c
    } else if i.has(M::Or) {
        truth || c
    } else if i.has(M::Xor) {
        truth != c
    } else {
        truth
    }
}

pub(crate) fn comparison(i: &Instance, v: &[u64]) -> Vec<Expected> {
    let set = i.opcode() == Opcode::Set;
    let source = i.types[usize::from(set)];
    let (lane, packed) = source.lane();
    let half = |x: u64, k: u32| if packed { x >> (16 * k) & 0xffff } else { x };
    let truths: Vec<bool> =
        (0..if packed { 2 } else { 1 }).map(|k| holds(i, lane, half(v[0], k), half(v[1], k))).collect();
    if !set {
        let second = truths.get(1).copied().unwrap_or(!truths[0]);
        let all = [truths[0], second].map(|t| Expected::Bits(u64::from(combined(i, t, v.get(2)))));
        let count = if i.form.operands[0] == Shape::DestOnePred { 1 } else { 2 };
        return all.into_iter().take(count).collect();
    }
    let to = i.types[0];
    let bits = to.bits() / truths.len() as u32;
    let yes = if to.lane().0.is_float() { one(to.lane().0) } else { (1u64 << bits) - 1 };
    let each =
        truths.iter().enumerate().map(|(k, t)| if combined(i, *t, v.get(2)) { yes << (bits * k as u32) } else { 0 });
    vec![Expected::Bits(each.sum())]
}

pub(crate) fn choice(i: &Instance, v: &[u64]) -> Vec<Expected> {
    let first = match i.opcode() {
        Opcode::Selp => v[2] != 0,
        _ if i.types[1] == Type::S32 => number(Type::S32, v[2]) >= 0,
        _ => {
            let c = if i.has(M::Ftz) { flush(Type::F32, v[2]) } else { v[2] };
            value(Type::F32, c) >= 0.0
        }
    };
    vec![Expected::Bits(if first { v[0] } else { v[1] })]
}

/// Converts one value.
fn convert(i: &Instance, to: Type, from: Type, bits: u64) -> Expected {
    let round = rounding(&i.modifiers);
    let ftz = i.has(M::Ftz);
    if !from.is_float() {
        let integer = number(from, bits);
        if !to.is_float() {
            // The destination register is wider for 8 bits, and extended as the type says.
            let integer = if i.has(M::Sat) { clamp(to, integer) } else { number(to, integer as u64) };
            let width = to.bits().max(if to.bits() == 8 { 32 } else { 8 });
            return Expected::Bits((integer & ((1i128 << width) - 1)) as u64);
        }
        let result = exact::from_integer(to, integer, round);
        return Expected::Bits(if i.has(M::Sat) { saturate(to, result) } else { result });
    }
    let bits = if ftz && from == Type::F32 { flush(from, bits) } else { bits };
    let x = value(from, bits);
    if !to.is_float() {
        let width = to.bits();
        let integer = if x.is_nan() {
            if from == Type::F64 || width == 64 { number(to, 1 << (width - 1)) } else { 0 }
        } else {
            clamp(to, exact::to_integral(x, &i.modifiers) as i128)
        };
        let width = if width == 8 { 32 } else { width };
        return Expected::Bits((integer & ((1i128 << width) - 1)) as u64);
    }
    let mut result =
        if is_nan(from, bits) { nan(to) } else { exact::from_value(to, exact::to_integral(x, &i.modifiers), round) };
    if ftz && to == Type::F32 {
        result = flush(to, result);
    }
    if i.has(M::Sat) {
        result = saturate(to, result);
    }
    if i.has(M::Relu) {
        result = relu(to, result);
    }
    if is_nan(to, result) { Expected::NaN(to) } else { Expected::Bits(result) }
}

/// Returns every finite value of an 8-bit format, in the order of its bits.
fn bytes(ty: Type) -> Vec<f64> {
    let (fraction_bits, bias, count) = if ty == Type::E4m3x2 { (3, 7, 0x7f) } else { (2, 15, 0x7c) };
    (0..count)
        .map(|b: i32| {
            let (e, f) = (b >> fraction_bits, f64::from(b & ((1 << fraction_bits) - 1)));
            let scale = f64::from(1 << fraction_bits);
            if e == 0 { f / scale * 2f64.powi(1 - bias) } else { (1.0 + f / scale) * 2f64.powi(e - bias) }
        })
        .collect()
}

/// Returns the nearest 8-bit number, by search over all of them; ties go to even, and the largest one stands for
/// everything above.
fn to_byte(i: &Instance, ty: Type, x: f64) -> u64 {
    if x.is_nan() {
        return 0x7f;
    }
    let table = bytes(ty);
    let size = x.abs();
    let mut best = 0;
    for (k, candidate) in table.iter().enumerate() {
        let (new, old) = ((candidate - size).abs(), (table[best] - size).abs());
        if new < old || (new == old && k % 2 == 0) {
            best = k;
        }
    }
    if size >= table[table.len() - 1] {
        best = table.len() - 1;
    }
    match (x.is_sign_negative(), i.has(M::Relu)) {
        (true, true) => 0,
        (true, false) => best as u64 | 0x80,
        _ => best as u64,
    }
}

fn from_byte(i: &Instance, ty: Type, byte: u64) -> Expected {
    let table = bytes(ty);
    let (size, negative) = ((byte & 0x7f) as usize, byte & 0x80 != 0);
    let x = match table.get(size) {
        Some(x) => *x,
        None if ty == Type::E5m2x2 && size == 0x7c => f64::INFINITY,
        None => return Expected::NaN(Type::F16),
    };
    let half = exact::from_value(Type::F16, if negative { -x } else { x }, rounding(&[]));
    Expected::Bits(if i.has(M::Relu) { relu(Type::F16, half) } else { half })
}

/// Returns the power of two next to a magnitude, by search over all of them.
fn to_scale(i: &Instance, x: f64) -> u64 {
    let power = |code: i32| 2f64.powi(code - 127);
    let most = if i.has(M::Satfinite) { 254 } else { 255 };
    let found = match i.modifiers[0] {
        _ if x.is_nan() => return 255,
        M::Rp => (0..255).find(|&code| power(code) >= x.abs()).unwrap_or(255),
        _ if x.is_infinite() => 255,
        _ => (0..255).rev().find(|&code| power(code) <= x.abs()).unwrap_or(0),
    };
    found.min(most) as u64
}

fn from_scale(code: u64) -> Expected {
    match code {
        255 => Expected::NaN(Type::Bf16),
        _ => Expected::Bits(exact::from_value(Type::Bf16, 2f64.powi(code as i32 - 127), rounding(&[]))),
    }
}

/// Rounds to 10 bits of fraction: the bits become a multiple of 2^13, by the rounding mode.
fn tf32(i: &Instance, bits: u64) -> Expected {
    if is_nan(Type::F32, bits) {
        return Expected::NaN(Type::F32);
    }
    let (down, lost) = (bits & !0x1fff, bits & 0x1fff);
    let infinite = exact::is_infinite(Type::F32, bits);
    let up = match i.modifiers[0] {
        _ if infinite => false,
        M::Rna => lost >= 0x1000,
        M::Rz => false,
        _ => lost > 0x1000 || (lost == 0x1000 && down & 0x2000 != 0),
    };
    let result = if up { down + 0x2000 } else { down };
    Expected::Bits(if i.has(M::Relu) { relu(Type::F32, result) } else { result })
}

pub(crate) fn conversion(i: &Instance, v: &[u64]) -> Vec<Expected> {
    let (to, from) = (i.types[0], i.types[1]);
    if i.has(M::Pack) {
        let part = |x: u64| clamp(to, number(from, x)) as u64 & ((1 << to.bits()) - 1);
        let both = part(v[0]) << to.bits() | part(v[1]);
        let rest = v.get(2).map_or(0, |c| c << (2 * to.bits()));
        return vec![Expected::Bits((both | rest) & 0xffff_ffff)];
    }
    let single = |x: u64| value(Type::F32, x);
    vec![match (to, from) {
        (Type::F16x2 | Type::Bf16x2, Type::F32) => {
            let lane = to.lane().0;
            Expected::Pair(16, Box::new([convert(i, lane, from, v[1]), convert(i, lane, from, v[0])]))
        }
        (Type::E4m3x2 | Type::E5m2x2, Type::F32) => {
            Expected::Bits(to_byte(i, to, single(v[0])) << 8 | to_byte(i, to, single(v[1])))
        }
        (Type::E4m3x2 | Type::E5m2x2, _) => {
            let half = |x: u64| value(Type::F16, x & 0xffff);
            Expected::Bits(to_byte(i, to, half(v[0] >> 16)) << 8 | to_byte(i, to, half(v[0])))
        }
        (Type::Ue8m0x2, Type::F32) => Expected::Bits(to_scale(i, single(v[0])) << 8 | to_scale(i, single(v[1]))),
        (Type::Ue8m0x2, _) => {
            let half = |x: u64| value(Type::Bf16, x & 0xffff);
            Expected::Bits(to_scale(i, half(v[0] >> 16)) << 8 | to_scale(i, half(v[0])))
        }
        (Type::Bf16x2, Type::Ue8m0x2) => {
            Expected::Pair(16, Box::new([from_scale(v[0] & 0xff), from_scale(v[0] >> 8 & 0xff)]))
        }
        (Type::F16x2, _) => {
            Expected::Pair(16, Box::new([from_byte(i, from, v[0] & 0xff), from_byte(i, from, v[0] >> 8 & 0xff)]))
        }
        (Type::Tf32, _) => tf32(i, v[0]),
        _ => convert(i, to, from, v[0]),
    }]
}
