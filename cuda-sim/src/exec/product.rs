//! Products of matrices, `D = A * B + C`, with the arithmetic of an H100.
//!
//! - Integers are exact: sums wrap, or saturate if the instruction says so.
//! - `f64` is a chain of fused multiply-adds in the order of `k`, starting with the element of `C`.
//! - The other floating-point types: the products of a row and a column are exact. They and the element of `C` are
//!   aligned to the largest exponent among them, truncated towards zero 25 bits below it, and added exactly; the sum is
//!   truncated to `f32`, or rounded to the nearest `f16`. All products of an instruction are added at once, so the order
//!   does not matter. The exponent of a product is the sum of its factors' exponents, whatever its significand; products
//!   that are 0 have none. An element of `C` of `f16` is converted to `f32` first if `D` is of that type, in which it is never
//!   subnormal. A sum of 0 is positive, and a NaN has all bits set except the sign.
//! - `m8n8k4` of `f16` with an `f32` result, for which such a card has no instruction: a chain of fused multiply-adds of `f32` in the order of
//!   `k`, starting with 0, and then the sum with the element of `C`, as NVIDIA's assembler writes it.
//! - For 8-bit floats, the products whose `k` is 0 or 1 modulo 4 are added first, without `C`, then the others to their
//!   rounded sum; that is added to the element of `C` and rounded to nearest: NVIDIA's assembler lowers such products to
//!   `f16` for this target.
//!
//! The width of 25 bits, the truncation, and the single sum per instruction were measured on H100 by P. Xie et al.,
//! "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909), and by F. Khattak and
//! M. Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (arXiv 2512.07004). That `C` is converted, and that the
//! sums of `m8n8k4` are those of `f32`, show in results of an H200; their order is that of the assembler's code.
//!
//! # Safety
//!
//! Numbers are converted to integers without a range check; the range follows from their exponents ([`truncate`]).

use super::matrix::Word;
use crate::codegen::narrow;
use crate::cpu::{directed, rounding};
use crate::ir::matrix::{Arithmetic, ElementType, Fragment, Product, Role};
use once_cell::sync::Lazy;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

/// Bits below the largest exponent that an addend keeps.
const KEPT: i32 = 25;
/// The exponent of 0.
const NONE: i32 = -10_000;
/// Elements of the largest factor, and of the largest of floats: `m16n8k64` of 4-bit integers, `m16n8k32` of bytes.
const MAX_FACTOR: usize = 1024;
const MAX_FLOATS: usize = 512;
/// Elements of the largest accumulator.
const MAX_SUMS: usize = 256;

/// The indices of the elements of fragments in their matrices, in the order of registers, elements and lanes.
struct Indices {
    /// `A` is row-major and `B` column-major, so that factors are contiguous; accumulators are row-major.
    d: Vec<u16>,
    a: Vec<u16>,
    b: Vec<u16>,
    c: Vec<u16>,
}

/// The indices for the products that have been used.
static INDICES: Lazy<RwLock<HashMap<Product, Arc<Indices>>>> = Lazy::new(RwLock::default);

impl Indices {
    fn of(product: Product) -> Arc<Indices> {
        if let Some(found) = INDICES.read().get(&product) {
            return Arc::clone(found);
        }
        let [d, a, b, c] = product.fragments().map(|fragment| indices(product, fragment));
        let made = Arc::new(Indices { d, a, b, c });
        Arc::clone(INDICES.write().entry(product).or_insert(made))
    }
}

/// Returns the index of each element of a fragment. The four small products of a warp are contiguous.
fn indices(product: Product, fragment: Fragment) -> Vec<u16> {
    let (m, n, k) = (usize::from(product.m), usize::from(product.n), usize::from(product.k));
    let words = if product.a == ElementType::B1 { 32 } else { 1 };
    let mut found = Vec::new();
    for register in 0..fragment.registers() {
        // Bits are multiplied 32 at a time, as many as a register has.
        let elements = if fragment.number == ElementType::B1 { 1 } else { fragment.number.in_register() };
        for (element, lane) in (0..elements).flat_map(|element| (0..32).map(move |lane| (element, lane))) {
            let (row, column) = fragment.position(lane, register, element);
            let quad = if product.quads.is_some() { lane / 4 % 4 } else { 0 };
            let across = |at: usize| if is_small(product.a) { reorder_k(at, k) } else { at / words };
            found.push(match fragment.part {
                Role::A => (quad * m + row) * (k / words) + across(column),
                Role::B => (quad * n + column) * (k / words) + across(row),
                Role::Accumulator => (quad * m + row) * n + column,
            } as u16);
        }
    }
    found
}

fn is_small(number: ElementType) -> bool {
    matches!(number, ElementType::E4m3 | ElementType::E5m2)
}

/// Reorders `k` such that the values that are 0 or 1 modulo 4 come first.
fn reorder_k(at: usize, k: usize) -> usize {
    at / 4 * 2 + at % 2 + if at % 4 < 2 { 0 } else { k / 2 }
}

/// Calls `each` with the index and the bits of every element of a fragment.
fn elements(number: ElementType, indices: &[u16], words: &[Word], mut each: impl FnMut(usize, u64)) {
    let bits = number.bits();
    if bits == 64 {
        for (indices, pair) in indices.chunks(32).zip(words.chunks(2)) {
            let lanes = indices.iter().zip(pair[0]).zip(pair[1]);
            lanes.for_each(|((index, low), high)| each((*index).into(), u64::from(low) | u64::from(high) << 32));
        }
        return;
    }
    let whole = bits == 32 || number == ElementType::B1;
    let in_word = if whole { 1 } else { number.in_register() };
    let mask = if whole { u32::MAX } else { (1 << bits) - 1 };
    for (indices, word) in indices.chunks(32 * in_word).zip(words) {
        for (element, indices) in indices.chunks(32).enumerate() {
            let shift = bits * element as u32;
            indices.iter().zip(word).for_each(|(index, word)| each((*index).into(), u64::from(word >> shift & mask)));
        }
    }
}

/// Multiplies the fragments of all lanes: words of `A`, of `B`, of `C`.
pub(super) fn multiply(product: Product, from: &[Word], to: &mut [Word]) {
    let [d, a, b, c] = product.fragments();
    let indices = Indices::of(product);
    let (from_a, rest) = from.split_at(a.words());
    let (from_b, from_c) = rest.split_at(b.words());
    let operands = Operands { product, indices: &indices, from: [from_a, from_b] };
    let mut sums = [0; MAX_SUMS];
    elements(c.number, &indices.c, from_c, |index, bits| sums[index] = bits);
    match product.a {
        ElementType::B1 => operands.bits(&mut sums),
        ElementType::S4 | ElementType::U4 | ElementType::S8 | ElementType::U8 => operands.integers(&mut sums),
        ElementType::F64 => operands.doubles(&mut sums),
        _ => operands.floats(&mut sums),
    }
    scatter(d.number, &indices.d, &sums, to);
}

/// Stores results in the registers of lanes.
fn scatter(number: ElementType, indices: &[u16], sums: &[u64; MAX_SUMS], to: &mut [Word]) {
    if number.bits() == 64 {
        for (indices, pair) in indices.chunks(32).zip(to.chunks_mut(2)) {
            for (lane, index) in indices.iter().enumerate() {
                let bits = sums[usize::from(*index)];
                (pair[0][lane], pair[1][lane]) = (bits as u32, (bits >> 32) as u32);
            }
        }
        return;
    }
    for (indices, word) in indices.chunks(32 * number.in_register()).zip(to) {
        for (element, indices) in indices.chunks(32).enumerate() {
            let shift = number.bits() * element as u32;
            word.iter_mut().zip(indices).for_each(|(word, index)| *word |= (sums[usize::from(*index)] as u32) << shift);
        }
    }
}

/// The factors of a product.
struct Operands<'a> {
    product: Product,
    indices: &'a Indices,
    from: [&'a [Word]; 2],
}

impl Operands<'_> {
    /// Replaces every element of `C` by that of `D`, which `each` computes from it and the starts of its row of `A` and
    /// column of `B`.
    fn each(&self, k: usize, sums: &mut [u64; MAX_SUMS], mut each: impl FnMut(u64, usize, usize) -> u64) {
        let (m, n) = (usize::from(self.product.m), usize::from(self.product.n));
        for quad in 0..self.product.count() {
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let sum = &mut sums[(quad * m + row) * n + column];
                *sum = each(*sum, (quad * m + row) * k, (quad * n + column) * k);
            }
        }
    }

    fn k(&self) -> usize {
        usize::from(self.product.k)
    }

    /// Returns both factors, decoded.
    fn factors<T: Copy + Default>(&self, decode: impl Fn(ElementType, u64) -> T) -> [[T; MAX_FACTOR]; 2] {
        let mut factors = [[T::default(); MAX_FACTOR]; 2];
        let (numbers, indices) = ([self.product.a, self.product.b], [&self.indices.a, &self.indices.b]);
        for (which, factor) in factors.iter_mut().enumerate() {
            let number = numbers[which];
            elements(number, indices[which], self.from[which], |index, bits| factor[index] = decode(number, bits));
        }
        factors
    }

    /// Multiplies single bits, 32 at a time.
    fn bits(&self, sums: &mut [u64; MAX_SUMS]) {
        let words = self.k() / 32;
        let [a, b] = self.factors(|_, bits| bits as u32);
        let xor = self.product.arithmetic == Arithmetic::Xor;
        self.each(words, sums, |c, row, column| {
            let pairs = a[row..][..words].iter().zip(&b[column..][..words]);
            let counts = pairs.map(|(a, b)| if xor { a ^ b } else { a & b }.count_ones());
            u64::from((c as u32).wrapping_add(counts.sum()))
        });
    }

    fn integers(&self, sums: &mut [u64; MAX_SUMS]) {
        let k = self.k();
        let [a, b] = self.factors(integer);
        let saturated = self.product.arithmetic == Arithmetic::Saturated;
        self.each(k, sums, |c, row, column| {
            let products = a[row..][..k].iter().zip(&b[column..][..k]).map(|(a, b)| i32::from(*a) * i32::from(*b));
            let sum = i64::from(products.sum::<i32>()) + i64::from(c as u32 as i32);
            let clamped = sum.clamp(i32::MIN.into(), i32::MAX.into());
            u64::from(if saturated { clamped as u32 } else { sum as u32 })
        });
    }

    fn doubles(&self, sums: &mut [u64; MAX_SUMS]) {
        let k = self.k();
        let [a, b] = self.factors(|_, bits| f64::from_bits(bits));
        let mode = match self.product.arithmetic {
            Arithmetic::Down => rounding::DOWN,
            Arithmetic::Up => rounding::UP,
            Arithmetic::Zero => rounding::TO_ZERO,
            _ => rounding::NEAREST,
        };
        self.each(k, sums, |c, row, column| {
            let pairs = a[row..][..k].iter().zip(&b[column..][..k]);
            let fused = |sum: f64, (a, b): (&f64, &f64)| match mode {
                rounding::NEAREST => a.mul_add(*b, sum),
                mode => directed::fma_f64(*a, *b, sum, mode),
            };
            pairs.fold(f64::from_bits(c), fused).to_bits()
        });
    }

    fn floats(&self, sums: &mut [u64; MAX_SUMS]) {
        let Product { a, b, c, d, .. } = self.product;
        let (a, b) = (Floats::of(a, &self.indices.a, self.from[0]), Floats::of(b, &self.indices.b, self.from[1]));
        let special = a.special || b.special;
        let k = self.k();
        if self.product.quads.is_some() && d == ElementType::F32 {
            return self.each(k, sums, |addend, row, column| {
                let pairs = a.part(row, k).0.iter().zip(b.part(column, k).0);
                let chain = pairs.fold(0_f32, |sum, (a, b)| (*a as f32).mul_add(*b as f32, sum));
                let sum = chain + decode(c, addend).value as f32;
                if sum.is_nan() { NAN } else { sum.to_bits().into() }
            });
        }
        let sum = |addend: Float, row: usize, column: usize, count: usize| {
            let (x, y) = (a.part(row, count), b.part(column, count));
            if special || !addend.value.is_finite() {
                let plain = x.0.iter().zip(y.0).fold(addend.value, |sum, (a, b)| sum + a * b);
                if !plain.is_finite() {
                    return rounded(plain, d);
                }
            }
            fused_sum(x, y, addend, d)
        };
        if is_small(self.product.a) {
            return self.each(k, sums, |addend, row, column| {
                let first = sum(Float::ZERO, row, column, k / 2);
                let both = sum(decode(d, first), row + k / 2, column + k / 2, k / 2);
                add_rounded(decode(c, addend), decode(d, both), d)
            });
        }
        let widens = c == ElementType::F16 && d != c;
        self.each(k, sums, |addend, row, column| {
            let addend = decode(c, addend);
            sum(if widens { addend.normalised() } else { addend }, row, column, k)
        });
    }
}

/// Decodes an integer element.
fn integer(number: ElementType, bits: u64) -> i16 {
    match number {
        ElementType::S4 => (bits as i16) << 12 >> 12,
        ElementType::S8 => i16::from(bits as i8),
        _ => bits as i16,
    }
}

/// A floating-point number as an exact value, and the exponent of its leading digit; for a subnormal number, that of
/// the smallest normal one.
#[derive(Clone, Copy)]
struct Float {
    value: f64,
    exponent: i32,
}

impl Float {
    const ZERO: Float = Float { value: 0.0, exponent: NONE };

    /// The same number of a type in which it is not subnormal.
    fn normalised(self) -> Float {
        let field = (self.value.to_bits() >> 52 & 0x7ff) as i32;
        let normal = self.value.is_normal();
        Float { exponent: if normal { field - 1023 } else { self.exponent }, ..self }
    }
}

/// The numbers of a factor. The magnitude of each finite one is below `2^(exponent + 1)`.
struct Floats {
    values: [f64; MAX_FLOATS],
    exponents: [i32; MAX_FLOATS],
    /// True if one is infinite or NaN.
    special: bool,
}

impl Floats {
    fn of(number: ElementType, indices: &[u16], words: &[Word]) -> Floats {
        let mut all = Floats { values: [0.0; MAX_FLOATS], exponents: [NONE; MAX_FLOATS], special: false };
        let put = |all: &mut Floats, index: usize, float: Float| {
            (all.values[index], all.exponents[index]) = (float.value, float.exponent);
            all.special |= !float.value.is_finite();
        };
        // There is one loop for each type, so that its widths are constants.
        match number {
            ElementType::E4m3 => {
                elements(number, indices, words, |at, bits| put(&mut all, at, decode(ElementType::E4m3, bits)))
            }
            ElementType::E5m2 => {
                elements(number, indices, words, |at, bits| put(&mut all, at, decode(ElementType::E5m2, bits)))
            }
            ElementType::F16 => {
                elements(number, indices, words, |at, bits| put(&mut all, at, decode(ElementType::F16, bits)))
            }
            ElementType::Bf16 => {
                elements(number, indices, words, |at, bits| put(&mut all, at, decode(ElementType::Bf16, bits)))
            }
            _ => elements(number, indices, words, |at, bits| put(&mut all, at, decode(number, bits))),
        }
        all
    }

    /// Returns `count` values and exponents from `first` on.
    fn part(&self, first: usize, count: usize) -> (&[f64], &[i32]) {
        (&self.values[first..][..count], &self.exponents[first..][..count])
    }
}

/// Returns the bits of the exponent and of the fraction, and true if the largest exponent is used for numbers.
fn format(number: ElementType) -> (u32, u32, bool) {
    match number {
        ElementType::E4m3 => (4, 3, true),
        ElementType::E5m2 => (5, 2, false),
        ElementType::F16 => (5, 10, false),
        ElementType::Bf16 => (8, 7, false),
        _ => (8, 23, false),
    }
}

#[inline(always)]
fn decode(number: ElementType, bits: u64) -> Float {
    // The low bits of a 19-bit number are ignored.
    let bits = if number == ElementType::Tf32 { bits & !0x1fff } else { bits };
    let (exponent_bits, fraction_bits, finite) = format(number);
    let fraction = bits & ((1 << fraction_bits) - 1);
    let field = (bits >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
    let negative = bits >> (fraction_bits + exponent_bits) & 1 != 0;
    let last = (1 << exponent_bits) - 1;
    let is_nan =
        if finite { field == last && fraction + 1 == 1 << fraction_bits } else { field == last && fraction != 0 };
    let exponent = field.max(1) - (last >> 1);
    let significand = fraction | u64::from(field > 0) << fraction_bits;
    let size = match (is_nan, field == last && !finite) {
        (true, _) => f64::NAN,
        (_, true) => f64::INFINITY,
        _ => significand as i32 as f64 * power(exponent - fraction_bits as i32),
    };
    Float { value: if negative { -size } else { size }, exponent: if significand == 0 { NONE } else { exponent } }
}

/// Returns a power of two that is a normal number.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns the bits of the sum of products and an addend, all of which are finite.
fn fused_sum(a: (&[f64], &[i32]), b: (&[f64], &[i32]), c: Float, to: ElementType) -> u64 {
    let exponents = a.1.iter().zip(b.1).map(|(a, b)| a + b);
    let largest = exponents.fold(c.exponent, i32::max);
    if largest <= NONE / 2 {
        return 0;
    }
    let up = power(KEPT - largest);
    // Eight at a time: each is below 2^27.
    let parts =
        a.0.chunks(8).zip(b.0.chunks(8)).map(|(a, b)| a.iter().zip(b).map(|(a, b)| truncate(a * b, up)).sum::<i32>());
    let sum = parts.fold(i64::from(truncate(c.value, up)), |sum, part| sum + i64::from(part));
    rounded(sum as f64 * power(largest - KEPT), to)
}

/// Truncates an addend to an integer, in units of the last bit that is kept.
fn truncate(value: f64, up: f64) -> i32 {
    // SAFETY: the value is finite and below 4 * 2^KEPT: a factor is below two to the power of its exponent plus one,
    // and no sum of exponents exceeds the largest, by which `up` scales.
    unsafe { (value * up).to_int_unchecked() }
}

/// Adds two numbers and rounds to nearest.
fn add_rounded(a: Float, b: Float, to: ElementType) -> u64 {
    let sum = a.value + b.value;
    match to {
        ElementType::F16 => narrow::from_f64(sum, HALF).into(),
        _ if sum.is_nan() => NAN,
        // Not by the sum above, which is already rounded if the two differ much in magnitude.
        _ => (a.value as f32 + b.value as f32).to_bits().into(),
    }
}

/// Rounds to the nearest number of 16 bits.
const HALF: u32 = 0;
const NAN: u64 = 0x7fff_ffff;

/// Returns a sum as the bits of an `f16`, rounded to nearest, or of an `f32`, truncated.
fn rounded(sum: f64, to: ElementType) -> u64 {
    if to == ElementType::F16 {
        return narrow::from_f64(sum, HALF).into();
    }
    if sum.is_nan() {
        return NAN;
    }
    let nearest = sum as f32;
    let beyond = f64::from(nearest).abs() > sum.abs() && sum.abs() < power(128);
    (nearest.to_bits() - u32::from(beyond)).into()
}
