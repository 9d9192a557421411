//! Products of matrices, `D = A * B + C`, with the arithmetic of an H100.
//!
//! * Integers are exact: sums wrap, or are clamped where the instruction says so.
//! * `f64` is a chain of fused multiply-adds in the order of `k`, which begins with the element of `C`.
//! * The other floating-point types: the products of a row and a column are exact. They and the element of `C` are aligned
//!   to the largest exponent among them, cut off towards zero 25 bits below it, and added exactly; the sum is cut off
//!   to `f32`, or rounded to the nearest `f16`. All products of an instruction are added at once, so that there is no
//!   order. The exponent of a product is the sum of its factors', whatever its significand; products that are 0 have none.
//!   A sum of 0 is positive, and a NaN has all its bits set but the sign.
//! * Of 8-bit floats those products are added first whose `k` is 0 or 1 modulo 4, without `C`, then the others to their
//!   rounded sum; that is added to the element of `C`, rounded to the nearest: NVIDIA's assembler makes such products of
//!   `f16` for this target.
//!
//! The width of 25 bits, the cutting, and that an instruction is one sum were measured on H100 by P. Xie et al.,
//! "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909), and by F. Khattak and M.
//! Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (arXiv 2512.07004).

use super::matrix::Word;
use crate::codegen::narrow;
use crate::cpu::{directed, rounding};
use crate::ir::matrix::{Fragment, How, Number, Product};

/// Bits below the largest exponent that an addend keeps.
const KEPT: i32 = 25;
/// The exponent of what is 0.
const NONE: i32 = -10_000;
/// Elements of the largest operand: `m16n8k64` of 4-bit integers.
const MOST: usize = 1024;
/// Elements of the largest accumulator.
const MOST_SUMS: usize = 256;

/// Multiplies the fragments of all lanes: words of `A`, of `B`, of `C`.
pub(super) fn multiply(product: Product, from: &[Word], to: &mut [Word]) {
    let [d, a, b, c] = product.fragments();
    let (from_a, rest) = from.split_at(a.words());
    let (from_b, from_c) = rest.split_at(b.words());
    for quad in 0..product.count() {
        let lanes = |lane: usize| product.quads.is_none() || lane / 4 % 4 == quad;
        let operands = Operands { product, a, b, c, from: [from_a, from_b, from_c], lanes: &lanes };
        match product.a {
            Number::B1 => operands.bits(d, to),
            Number::S4 | Number::U4 | Number::S8 | Number::U8 => operands.integers(d, to),
            Number::F64 => operands.doubles(d, to),
            _ => operands.floats(d, to),
        }
    }
}

/// A product's fragments, and the lanes that hold them.
struct Operands<'a> {
    product: Product,
    a: Fragment,
    b: Fragment,
    c: Fragment,
    from: [&'a [Word]; 3],
    lanes: &'a dyn Fn(usize) -> bool,
}

/// The bits of an element of a lane's register.
fn element(fragment: Fragment, words: &[Word], lane: usize, register: usize, element: usize) -> u64 {
    let bits = fragment.number.bits();
    if bits == 64 {
        return u64::from(words[2 * register][lane]) | u64::from(words[2 * register + 1][lane]) << 32;
    }
    let word = words[register][lane] >> (bits * element as u32);
    u64::from(if bits == 32 { word } else { word & ((1 << bits) - 1) })
}

impl Operands<'_> {
    fn k(&self) -> usize {
        usize::from(self.product.k)
    }

    fn n(&self) -> usize {
        usize::from(self.product.n)
    }

    /// Calls `each` with the row, column and bits of every element of a fragment.
    fn elements(&self, fragment: Fragment, words: &[Word], mut each: impl FnMut(usize, usize, u64)) {
        for lane in (0..32).filter(|lane| (self.lanes)(*lane)) {
            for register in 0..fragment.registers() {
                for at in 0..fragment.number.in_register() {
                    let (row, column) = fragment.position(lane, register, at);
                    each(row, column, element(fragment, words, lane, register, at));
                }
            }
        }
    }

    /// `A` by rows and `B` by columns, so that what is multiplied lies side by side.
    fn factors<T: Copy + Default>(&self, decode: impl Fn(Number, u64) -> T) -> ([T; MOST], [T; MOST]) {
        let (mut a, mut b) = ([T::default(); MOST], [T::default(); MOST]);
        let k = self.k();
        self.elements(self.a, self.from[0], |row, column, bits| a[row * k + column] = decode(self.a.number, bits));
        self.elements(self.b, self.from[1], |row, column, bits| b[column * k + row] = decode(self.b.number, bits));
        (a, b)
    }

    /// Writes every element of `D`, which `sum` computes from its row and column and the bits of the element of `C`.
    fn results(&self, d: Fragment, to: &mut [Word], sum: impl Fn(usize, usize, u64) -> u64) {
        let (n, mut c) = (self.n(), [0; MOST_SUMS]);
        self.elements(self.c, self.from[2], |row, column, bits| c[row * n + column] = bits);
        for lane in (0..32).filter(|lane| (self.lanes)(*lane)) {
            for register in 0..d.registers() {
                let mut bits = 0;
                for at in 0..d.number.in_register() {
                    let (row, column) = d.position(lane, register, at);
                    bits |= sum(row, column, c[row * n + column]) << (d.number.bits() * at as u32);
                }
                if d.number.bits() == 64 {
                    (to[2 * register][lane], to[2 * register + 1][lane]) = (bits as u32, (bits >> 32) as u32);
                } else {
                    to[register][lane] = bits as u32;
                }
            }
        }
    }

    /// Counts bits of 32 at a time.
    fn bits(&self, d: Fragment, to: &mut [Word]) {
        let words = self.k() / 32;
        let (mut a, mut b) = ([0u32; MOST], [0u32; MOST]);
        for lane in 0..32 {
            for (register, word) in self.from[0].iter().enumerate() {
                let (row, column) = self.a.position(lane, register, 0);
                a[row * words + column / 32] = word[lane];
            }
            for (register, word) in self.from[1].iter().enumerate() {
                let (row, column) = self.b.position(lane, register, 0);
                b[column * words + row / 32] = word[lane];
            }
        }
        self.results(d, to, |row, column, c| {
            let pairs = a[row * words..][..words].iter().zip(&b[column * words..][..words]);
            let counts = pairs.map(|(a, b)| if self.product.how == How::Xor { a ^ b } else { a & b }.count_ones());
            u64::from((c as u32).wrapping_add(counts.sum()))
        });
    }

    fn integers(&self, d: Fragment, to: &mut [Word]) {
        let k = self.k();
        let (a, b) = self.factors(integer);
        self.results(d, to, |row, column, c| {
            let products = a[row * k..][..k].iter().zip(&b[column * k..][..k]).map(|(a, b)| a * b);
            let sum = i64::from(products.sum::<i32>()) + i64::from(c as u32 as i32);
            let clamped = sum.clamp(i32::MIN.into(), i32::MAX.into());
            u64::from(if self.product.how == How::Saturated { clamped as u32 } else { sum as u32 })
        });
    }

    fn doubles(&self, d: Fragment, to: &mut [Word]) {
        let k = self.k();
        let (a, b) = self.factors(|_, bits| f64::from_bits(bits));
        let mode = match self.product.how {
            How::Down => rounding::DOWN,
            How::Up => rounding::UP,
            How::Zero => rounding::TO_ZERO,
            _ => rounding::NEAREST,
        };
        let fused = |sum: f64, (a, b): (&f64, &f64)| directed::fma_f64(*a, *b, sum, mode);
        self.results(d, to, |row, column, c| {
            a[row * k..][..k].iter().zip(&b[column * k..][..k]).fold(f64::from_bits(c), fused).to_bits()
        });
    }

    fn floats(&self, d: Fragment, to: &mut [Word]) {
        let k = self.k();
        let (a, b) = self.factors(decode);
        let small = matches!(self.a.number, Number::E4m3 | Number::E5m2);
        self.results(d, to, |row, column, c| {
            let (a, b) = (&a[row * k..][..k], &b[column * k..][..k]);
            let c = decode(self.c.number, c);
            if small { in_halves(a, b, c, d.number) } else { fused_sum(a.iter().zip(b), c, d.number) }
        });
    }
}

/// An integer element.
fn integer(number: Number, bits: u64) -> i32 {
    match number {
        Number::S4 => (bits as i32) << 28 >> 28,
        Number::S8 => i32::from(bits as i8),
        _ => bits as i32,
    }
}

/// A floating-point number, exactly, and the exponent of its first digit, or of that which a subnormal number lacks.
#[derive(Clone, Copy, Default)]
struct Float {
    value: f64,
    exponent: i32,
}

/// A type's bits: of the exponent, of the fraction, and whether the largest exponent is of numbers.
fn format(number: Number) -> (u32, u32, bool) {
    match number {
        Number::E4m3 => (4, 3, true),
        Number::E5m2 => (5, 2, false),
        Number::F16 => (5, 10, false),
        Number::Bf16 => (8, 7, false),
        _ => (8, 23, false),
    }
}

fn decode(number: Number, bits: u64) -> Float {
    // The low bits of a number of 19 bits are not looked at.
    let bits = if number == Number::Tf32 { bits & !0x1fff } else { bits };
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
        _ => significand as f64 * power(exponent - fraction_bits as i32),
    };
    Float { value: if negative { -size } else { size }, exponent: if significand == 0 { NONE } else { exponent } }
}

/// A power of two that is a normal number.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The sum of products and an addend, as the bits of a number.
fn fused_sum<'a>(factors: impl Iterator<Item = (&'a Float, &'a Float)> + Clone, c: Float, to: Number) -> u64 {
    let (mut plain, mut largest) = (c.value, c.exponent);
    for (a, b) in factors.clone() {
        plain += a.value * b.value;
        largest = largest.max(a.exponent + b.exponent);
    }
    if !plain.is_finite() {
        return rounded(plain, to);
    }
    if largest <= NONE / 2 {
        return 0;
    }
    let up = power(KEPT - largest);
    let cut = |value: f64| (value * up) as i64;
    let sum = factors.fold(cut(c.value), |sum, (a, b)| sum + cut(a.value * b.value));
    rounded(sum as f64 * power(largest - KEPT), to)
}

/// The same of 8-bit floats: two sums, one on top of the other, and the addend on top of both.
fn in_halves(a: &[Float], b: &[Float], c: Float, to: Number) -> u64 {
    let half =
        |high: bool| a.iter().zip(b).enumerate().filter(move |(k, _)| (k % 4 >= 2) == high).map(|(_, pair)| pair);
    let first = fused_sum(half(false), decode(to, 0), to);
    let both = decode(to, fused_sum(half(true), decode(to, first), to));
    let sum = c.value + both.value;
    match to {
        Number::F16 => narrow::from_f64(sum, HALF).into(),
        // The exact sum of two `f32` is one `f64` only where they are near; rounding twice would show.
        _ if sum.is_nan() => NAN,
        _ => (c.value as f32 + both.value as f32).to_bits().into(),
    }
}

/// Rounds to the nearest number of 16 bits.
const HALF: u32 = 0;
const NAN: u64 = 0x7fff_ffff;

/// A sum as the bits of an `f16`, to the nearest, or of an `f32`, cut off.
fn rounded(sum: f64, to: Number) -> u64 {
    if to == Number::F16 {
        return narrow::from_f64(sum, HALF).into();
    }
    if sum.is_nan() {
        return NAN;
    }
    let nearest = sum as f32;
    let beyond = f64::from(nearest).abs() > sum.abs() && sum.abs() < power(128);
    (nearest.to_bits() - u32::from(beyond)).into()
}
