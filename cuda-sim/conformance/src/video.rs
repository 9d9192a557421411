//! The PTX manual's semantics of video instructions, in unbounded integers. The crate's unit tests cover subwords.

use crate::Expected;
use crate::instance::Instance;
use crate::integer::{bits_from, clamp, number};
use cuda_sim::ptx::{Modifier as M, Type};

/// Applies the operation to two numbers; those of fewer than 32 bits are lanes.
fn operation(i: &Instance, stem: &str, x: i128, y: i128) -> i128 {
    match stem {
        "vadd" => x + y,
        "vsub" => x - y,
        "vabsdiff" => (x - y).abs(),
        "vmin" => x.min(y),
        "vmax" => x.max(y),
        "vavrg" => (x + y + i128::from(x + y >= 0)).div_euclid(2),
        "vset" => i128::from(match i.modifiers[0] {
            M::Eq => x == y,
            M::Ne => x != y,
            M::Lt => x < y,
            M::Le => x <= y,
            M::Gt => x > y,
            _ => x >= y,
        }),
        "vshl" | "vshr" => {
            let amount = if i.has(M::Wrap) { y % 32 } else { y.min(32) };
            match stem {
                "vshr" => x.div_euclid(1 << amount),
                // The intermediate result has 34 bits.
                _ => ((x << amount) + (1 << 33)).rem_euclid(1 << 34) - (1 << 33),
            }
        }
        other => panic!("'{other}' has no reference"),
    }
}

fn multiply_add(i: &Instance, v: &[u64]) -> i128 {
    let signed = i.types[1].is_signed() || i.types[2].is_signed();
    let ty = if signed { Type::S32 } else { Type::U32 };
    let sum = number(i.types[1], v[0]) * number(i.types[2], v[1]) + number(ty, v[2]) + i128::from(i.has(M::Po));
    let scale = if i.has(M::Shr7) {
        1 << 7
    } else if i.has(M::Shr15) {
        1 << 15
    } else {
        1
    };
    let scaled = sum.div_euclid(scale);
    if i.has(M::Sat) { clamp(ty, scaled) } else { scaled }
}

/// Applies a scalar operation to whole registers.
fn scalar(i: &Instance, stem: &str, types: [Type; 3], v: &[u64]) -> i128 {
    let exact = operation(i, stem, number(types[1], v[0]), number(types[2], v[1]));
    let first = if i.has(M::Sat) { clamp(types[0], exact) } else { exact };
    let cut = number(types[0], (first & 0xffff_ffff) as u64);
    let c = || number(types[0], v[2]);
    match i.modifiers.last() {
        Some(M::Add) => cut + c(),
        Some(M::Min) => cut.min(c()),
        Some(M::Max) => cut.max(c()),
        _ => cut,
    }
}

fn lanes(i: &Instance, stem: &str, types: [Type; 3], v: &[u64], count: u32) -> i128 {
    let bits = 32 / count;
    let lane = |k: u32| {
        let part = |ty: Type, word: u64| bits_from(ty, word, k * bits, bits);
        let exact = operation(i, stem, part(types[1], v[0]), part(types[2], v[1]));
        let (low, high) = match types[0].is_signed() {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        if i.has(M::Sat) { exact.clamp(low, high) } else { exact }
    };
    match i.has(M::Add) {
        true => i128::from(v[2]) + (0..count).map(lane).sum::<i128>(),
        false => (0..count).map(|k| lane(k).rem_euclid(1 << bits) << (k * bits)).sum(),
    }
}

pub(crate) fn expected(i: &Instance, v: &[u64]) -> Vec<Expected> {
    let name = i.opcode().name();
    let stem = name.trim_end_matches(['2', '4']);
    let types = match stem {
        "vset" => [Type::U32, i.types[0], i.types[1]],
        _ => [i.types[0], i.types[1], i.types[2]],
    };
    let result = match name.as_bytes().last() {
        _ if stem == "vmad" => multiply_add(i, v),
        Some(b'2') => lanes(i, stem, types, v, 2),
        Some(b'4') => lanes(i, stem, types, v, 4),
        _ => scalar(i, stem, types, v),
    };
    vec![Expected::Bits((result & 0xffff_ffff) as u64)]
}
