//! The PTX manual's semantics of integer instructions, in unbounded integers.

use crate::Expected;
use crate::instance::Instance;
use cuda_sim::ptx::{Modifier as M, Opcode, Type};

/// Returns a value of the type as an integer.
pub(crate) fn number(ty: Type, bits: u64) -> i128 {
    let width = ty.bits();
    let bits = if width == 64 { bits } else { bits & ((1 << width) - 1) };
    match ty.is_signed() && bits >> (width - 1) & 1 != 0 {
        true => i128::from(bits) - (1i128 << width),
        false => i128::from(bits),
    }
}

/// The low bits of a number.
fn wrap(bits: u32, number: i128) -> u64 {
    (number & ((1i128 << bits) - 1)) as u64
}

fn range(ty: Type) -> (i128, i128) {
    match ty.is_signed() {
        true => (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1),
        false => (0, (1i128 << ty.bits()) - 1),
    }
}

pub(crate) fn clamp(ty: Type, number: i128) -> i128 {
    let (low, high) = range(ty);
    number.clamp(low, high)
}

/// Returns a bit, which is 0 outside of the word.
fn bit(word: u64, at: u64) -> u64 {
    if at < 64 { word >> at & 1 } else { 0 }
}

fn field(i: &Instance, ty: Type, v: &[u64]) -> u64 {
    let top = u64::from(ty.bits()) - 1;
    if i.opcode() == Opcode::Bfe {
        let (a, pos, len) = (v[0], v[1] & 0xff, v[2] & 0xff);
        let sign = if !ty.is_signed() || len == 0 { 0 } else { bit(a, (pos + len - 1).min(top)) };
        return (0..=top).map(|k| (if k < len && pos + k <= top { bit(a, pos + k) } else { sign }) << k).sum();
    }
    let (a, b, pos, len) = (v[0], v[1], v[2] & 0xff, v[3] & 0xff);
    (0..len).filter(|k| pos + k <= top).fold(b, |f, k| f & !(1 << (pos + k)) | bit(a, k) << (pos + k))
}

fn bfind(i: &Instance, ty: Type, a: u64) -> u64 {
    let top = i64::from(ty.bits()) - 1;
    let sign = if ty.is_signed() { bit(a, top as u64) } else { 0 };
    match (0..=top).rev().find(|k| bit(a, *k as u64) != sign) {
        None => 0xffff_ffff,
        Some(k) if i.has(M::Shiftamt) => (top - k) as u64,
        Some(k) => k as u64,
    }
}

fn prmt(i: &Instance, v: &[u64]) -> u64 {
    let bytes = (v[1] << 32 | v[0]).to_le_bytes();
    let c = v[2];
    let (n, table) = ((c & 3) as usize, |rows: [[usize; 4]; 4]| rows[(c & 3) as usize]);
    let chosen = match i.modifiers.first() {
        None => {
            let pick = |k: u64| {
                let s = c >> (4 * k) & 15;
                let byte = bytes[(s & 7) as usize];
                if s & 8 != 0 { if byte & 0x80 != 0 { 0xff } else { 0 } } else { byte }
            };
            return u64::from(u32::from_le_bytes([pick(0), pick(1), pick(2), pick(3)]));
        }
        // The manual's tables, least significant byte first.
        Some(M::F4e) => table([[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]),
        Some(M::B4e) => table([[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]]),
        Some(M::Rc8) => [n; 4],
        Some(M::Ecl) => table([[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]]),
        Some(M::Ecr) => table([[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]]),
        _ => table([[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]]),
    };
    u64::from(u32::from_le_bytes(chosen.map(|k| bytes[k])))
}

/// Looks up each bit in the table, at the row given by the three sources.
fn table(i: &Instance, v: &[u64]) -> u64 {
    let row = |k: u64| bit(v[0], k) << 2 | bit(v[1], k) << 1 | bit(v[2], k);
    (0..32).map(|k| u64::from(i.immediate >> row(k) & 1) << k).sum()
}

/// The manual's loop.
fn fns(mask: u64, base: u64, offset: i64) -> u64 {
    if offset == 0 {
        return if bit(mask, base) == 1 { base } else { 0xffff_ffff };
    }
    let (mut pos, mut count, step) = (base as i64, offset.abs() - 1, offset.signum());
    while (0..32).contains(&pos) {
        if bit(mask, pos as u64) == 1 {
            if count == 0 {
                return pos as u64;
            }
            count -= 1;
        }
        pos += step;
    }
    0xffff_ffff
}

/// Returns some bits of a word as an integer, signed if the type is.
pub(crate) fn bits_from(ty: Type, word: u64, at: u32, bits: u32) -> i128 {
    let part = word >> at & ((1 << bits) - 1);
    if ty.is_signed() && part >> (bits - 1) != 0 { i128::from(part) - (1 << bits) } else { i128::from(part) }
}

fn dot(i: &Instance, v: &[u64]) -> i128 {
    let (ta, tb) = (i.types[0], i.types[1]);
    let start = number(Type::S32, v[2]);
    match i.opcode() {
        Opcode::Dp4a => (0..4).fold(start, |s, k| s + bits_from(ta, v[0], 8 * k, 8) * bits_from(tb, v[1], 8 * k, 8)),
        _ => {
            let from = if i.has(M::Hi) { 16 } else { 0 };
            (0..2).fold(start, |s, k| s + bits_from(ta, v[0], 16 * k, 16) * bits_from(tb, v[1], from + 8 * k, 8))
        }
    }
}

/// Adds or subtracts with carry in and out: returns the result and the flag.
fn with_carry(i: &Instance, bits: u32, v: &[u64]) -> Vec<Expected> {
    let word = |k: usize| i128::from(v[k]);
    let last = v.last().copied().unwrap_or(0);
    let takes = matches!(i.opcode(), Opcode::Addc | Opcode::Subc | Opcode::Madc);
    // The carry was produced by adding all ones to the low 32 bits of the input.
    let carry = i128::from(takes && last & 0xffff_ffff != 0);
    let exact = match i.opcode() {
        // the complement is added, and one or the flag
        Opcode::Sub | Opcode::Subc => {
            let one = if takes { carry } else { 1 };
            word(0) + ((1 << bits) - 1 - word(1)) + one
        }
        Opcode::Add | Opcode::Addc => word(0) + word(1) + carry,
        _ => {
            let ty = i.ty();
            i128::from(part_of_product(ty, v[0], v[1], i.has(M::Hi))) + word(2) + carry
        }
    };
    let mut results = vec![Expected::Bits(wrap(bits, exact))];
    if i.has(M::Cc) {
        results.push(Expected::Bits(u64::from(exact >> bits & 1 != 0)));
    }
    results
}

/// Returns the low or the high word of a product.
fn part_of_product(ty: Type, a: u64, b: u64, high: bool) -> u64 {
    let at = if high { ty.bits() } else { 0 };
    if !ty.is_signed() {
        // The product of two numbers of 64 bits needs all 128.
        return wrap(ty.bits(), ((u128::from(a) * u128::from(b)) >> at) as i128);
    }
    wrap(ty.bits(), (number(ty, a) * number(ty, b)) >> at)
}

fn divide(i: &Instance, ty: Type, x: i128, y: i128) -> i128 {
    // Division by zero: the result of NVIDIA's hardware, since the manual leaves it open.
    match (i.opcode(), y) {
        (Opcode::Div, 0) => -1,
        (_, 0) if ty == Type::S16 => -1,
        (_, 0) => x,
        (Opcode::Div, _) => x / y,
        _ => x % y,
    }
}

fn shift(i: &Instance, ty: Type, v: &[u64]) -> u64 {
    let n = (v[1] & 0xffff_ffff).min(u64::from(ty.bits())) as u32;
    match i.opcode() {
        Opcode::Shl => wrap(ty.bits(), i128::from(v[0]) << n),
        _ => wrap(ty.bits(), number(ty, v[0]) >> n),
    }
}

fn funnel(i: &Instance, v: &[u64]) -> u64 {
    let n = if i.has(M::Wrap) { v[2] & 31 } else { v[2].min(32) };
    let both = u128::from(v[1] << 32 | v[0]);
    (if i.has(M::L) { both << n >> 32 } else { both >> n }) as u64 & 0xffff_ffff
}

fn mask(i: &Instance, v: &[u64]) -> u64 {
    let cut = |x: u64| if i.has(M::Wrap) { x & 31 } else { x };
    let (start, count) = (cut(v[0]), cut(v[1]));
    (0..32).filter(|k| *k >= start && *k < start.saturating_add(count)).map(|k| 1 << k).sum()
}

fn extend(i: &Instance, ty: Type, v: &[u64]) -> u64 {
    let n = if i.has(M::Wrap) { v[1] & 31 } else { v[1] };
    match n {
        0 => 0,
        32.. => v[0],
        _ => wrap(32, bits_from(ty, v[0], 0, n as u32)),
    }
}

fn packed(i: &Instance, ty: Type, v: &[u64]) -> u64 {
    let lane = ty.lane().0;
    (0..2)
        .map(|k| {
            let half = |x: u64| number(lane, x >> (16 * k) & 0xffff);
            let (x, y) = (half(v[0]), half(v[1]));
            let result = match i.opcode() {
                Opcode::Add => x + y,
                Opcode::Min => x.min(y),
                _ => x.max(y),
            };
            wrap(16, if i.has(M::Relu) { result.max(0) } else { result }) << (16 * k)
        })
        .sum()
}

fn products(i: &Instance, ty: Type, v: &[u64]) -> i128 {
    let n = |k: usize| number(ty, v[k]);
    let bits = ty.bits();
    if i.has(M::Wide) {
        return n(0) * n(1) + v.get(2).map_or(0, |c| i128::from(*c));
    }
    // The addend is the same word of the product.
    let part = match (i.opcode(), i.has(M::Hi)) {
        (Opcode::Mul24 | Opcode::Mad24, high) => {
            let product = bits_from(ty, v[0], 0, 24) * bits_from(ty, v[1], 0, 24);
            wrap(bits, if high { product >> 16 } else { product })
        }
        (_, high) => part_of_product(ty, v[0], v[1], high),
    };
    let part = number(ty, part);
    let sum = part + v.get(2).map_or(0, |_| n(2));
    if i.has(M::Sat) { clamp(ty, sum) } else { sum }
}

pub(crate) fn expected(i: &Instance, v: &[u64]) -> Vec<Expected> {
    let ty = i.ty();
    let bits = ty.bits();
    let n = |k: usize| number(ty, v[k]);
    let count = |x: u32| u64::from(x);
    let unused = 64 - bits;
    let result = match i.opcode() {
        Opcode::Addc | Opcode::Subc | Opcode::Madc => return with_carry(i, bits, v),
        _ if i.has(M::Cc) => return with_carry(i, bits, v),
        _ if ty.lane().1 => packed(i, ty, v),
        Opcode::Add | Opcode::Sub => {
            let exact = if i.opcode() == Opcode::Add { n(0) + n(1) } else { n(0) - n(1) };
            wrap(bits, if i.has(M::Sat) { clamp(ty, exact) } else { exact })
        }
        Opcode::Mul | Opcode::Mad | Opcode::Mul24 | Opcode::Mad24 => {
            wrap(if i.has(M::Wide) { bits * 2 } else { bits }, products(i, ty, v))
        }
        Opcode::Sad => wrap(bits, (n(0) - n(1)).abs() + n(2)),
        Opcode::Div | Opcode::Rem => wrap(bits, divide(i, ty, n(0), n(1))),
        Opcode::Abs => wrap(bits, n(0).abs()),
        Opcode::Neg => wrap(bits, -n(0)),
        Opcode::Min | Opcode::Max => {
            let chosen = if i.opcode() == Opcode::Min { n(0).min(n(1)) } else { n(0).max(n(1)) };
            wrap(bits, if i.has(M::Relu) { chosen.max(0) } else { chosen })
        }
        Opcode::And => v[0] & v[1],
        Opcode::Or => v[0] | v[1],
        Opcode::Xor => v[0] ^ v[1],
        Opcode::Not => wrap(bits, !i128::from(v[0])),
        Opcode::CNot => u64::from(v[0] == 0),
        Opcode::Shl | Opcode::Shr => shift(i, ty, v),
        Opcode::Shf => funnel(i, v),
        Opcode::Lop3 => match v.get(3) {
            None => table(i, v),
            Some(other) => {
                let (word, other) = (table(i, v), *other != 0);
                let truth = if i.has(M::And) { word != 0 && other } else { word != 0 || other };
                return vec![Expected::Bits(word), Expected::Bits(truth.into())];
            }
        },
        Opcode::Prmt => prmt(i, v),
        Opcode::Popc => count(v[0].count_ones()),
        Opcode::Clz => count((v[0] << unused).leading_zeros().min(bits)),
        Opcode::Brev => v[0].reverse_bits() >> unused,
        Opcode::Bfind => bfind(i, ty, v[0]),
        Opcode::Bfe | Opcode::Bfi => field(i, ty, v),
        Opcode::Fns => fns(v[0], v[1], number(Type::S32, v[2]) as i64),
        Opcode::Bmsk => mask(i, v),
        Opcode::Szext => extend(i, ty, v),
        Opcode::Dp4a | Opcode::Dp2a => wrap(32, dot(i, v)),
        other => panic!("'{}' has no reference", other.name()),
    };
    vec![Expected::Bits(result)]
}
