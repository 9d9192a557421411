//! The functions on `f32`: computed in `f64` and rounded. Of the two roundings, the first is far finer than the second.
//!
//! Exponentials, logarithms, sine and cosine are polynomials of their own, since a few bits more than those of an `f32`
//! suffice. The others are the rounded functions on `f64`.

use super::{exponential, trigonometric};
use crate::device;

const LN_2: f64 = std::f64::consts::LN_2;
const LOG2_E: f64 = std::f64::consts::LOG2_E;
const LOG10_E: f64 = std::f64::consts::LOG10_E;

/// Adding it rounds a number of less than 2^51 to an integer, whose bits are then the last ones of the sum.
const ROUNDS: f64 = 6755399441055744.0;

/// e^r 2^k for |r| up to 0.35 and |k| up to 1000, where k plus [`ROUNDS`] is given: the Taylor polynomial of degree 10,
/// whose error is 2^-42.
#[device]
fn power(r: f64, rounded: f64) -> f64 {
    let p = r.mul_add(1.0 / 3628800.0, 1.0 / 362880.0);
    let p = r.mul_add(p, 1.0 / 40320.0);
    let p = r.mul_add(p, 1.0 / 5040.0);
    let p = r.mul_add(p, 1.0 / 720.0);
    let p = r.mul_add(p, 1.0 / 120.0);
    let p = r.mul_add(p, 1.0 / 24.0);
    let p = r.mul_add(p, 1.0 / 6.0);
    let p = r.mul_add(p, 0.5);
    let p = r.mul_add(p, 1.0);
    r.mul_add(p, 1.0) * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// The number as an exponent of at most 200: beyond that the result is 0 or infinite anyway. NaN remains.
#[device]
fn bounded(x: f32) -> f64 {
    let x = if x > 200.0 { 200.0 } else { x };
    (if x < -200.0 { -200.0 } else { x }) as f64
}

#[device]
pub(crate) fn exp(x: f32) -> f32 {
    let x = bounded(x);
    let rounded = x * LOG2_E + ROUNDS;
    power((ROUNDS - rounded).mul_add(LN_2, x), rounded) as f32
}

#[device]
pub(crate) fn exp2(x: f32) -> f32 {
    let x = bounded(x);
    let rounded = x + ROUNDS;
    power((x - (rounded - ROUNDS)) * LN_2, rounded) as f32
}

/// The logarithm in the base with this factor: the series 2 (s + s^3/3 + s^5/5 + ..) with s = (m - 1) / (m + 1) for a
/// significand m from sqrt(1/2) to sqrt(2), whose first omitted term is 2^-42 of the first.
#[device]
fn logarithm(x: f32, factor: f64) -> f32 {
    // A subnormal `f32` is a normal `f64`.
    let bits = (x as f64).to_bits();
    let exponent = ((bits >> 32) as i32).wrapping_sub(0x3fe6a09e) >> 20;
    let m = f64::from_bits(bits.wrapping_sub((exponent as i64 as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let p = q.mul_add(2.0 / 15.0, 2.0 / 13.0);
    let p = q.mul_add(p, 2.0 / 11.0);
    let p = q.mul_add(p, 2.0 / 9.0);
    let p = q.mul_add(p, 2.0 / 7.0);
    let p = q.mul_add(p, 2.0 / 5.0);
    let p = q.mul_add(p, 2.0 / 3.0);
    let series = s * q.mul_add(p, 2.0);
    let result = ((exponent as f64).mul_add(LN_2, series) * factor) as f32;
    let special = if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    let result = if x > 0.0 { result } else { special };
    if x == f32::INFINITY { x } else { result }
}

#[device]
pub(crate) fn ln(x: f32) -> f32 {
    logarithm(x, 1.0)
}

#[device]
pub(crate) fn log2(x: f32) -> f32 {
    logarithm(x, LOG2_E)
}

#[device]
pub(crate) fn log10(x: f32) -> f32 {
    logarithm(x, LOG10_E)
}

const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;
/// Half of pi as a pair.
const HALF_PI: f64 = std::f64::consts::FRAC_PI_2;
const HALF_PI_REST: f64 = 6.123233995736766e-17;

/// The magnitude below which a number is reduced by multiples of half of pi as a pair: the error is that of rounding.
const NEAR: f32 = 134217728.0;

/// The sine of `x` plus a number of quarter turns, for |x| less than [`NEAR`]: Taylor polynomials, whose error is 2^-41.
#[device]
fn turned_sine(x: f32, quarters: i32) -> f32 {
    let x = x as f64;
    let rounded = x * TWO_OVER_PI + ROUNDS;
    let back = ROUNDS - rounded;
    let r = back.mul_add(HALF_PI_REST, back.mul_add(HALF_PI, x));
    let q = r * r;
    let p = q.mul_add(1.0 / 6227020800.0, -1.0 / 39916800.0);
    let p = q.mul_add(p, 1.0 / 362880.0);
    let p = q.mul_add(p, -1.0 / 5040.0);
    let p = q.mul_add(p, 1.0 / 120.0);
    let p = q.mul_add(p, -1.0 / 6.0);
    let sine = (r * q).mul_add(p, r);
    let p = q.mul_add(1.0 / 479001600.0, -1.0 / 3628800.0);
    let p = q.mul_add(p, 1.0 / 40320.0);
    let p = q.mul_add(p, -1.0 / 720.0);
    let p = q.mul_add(p, 1.0 / 24.0);
    let p = q.mul_add(p, -0.5);
    let cosine = q.mul_add(p, 1.0);
    let quadrant = (rounded.to_bits() as i32).wrapping_add(quarters);
    let result = (if quadrant & 1 == 0 { sine } else { cosine }) as f32;
    if quadrant & 2 == 0 { result } else { -result }
}

#[device]
pub(crate) fn sin(x: f32) -> f32 {
    if x.abs() < NEAR {
        // The sum of zeros would lose the sign.
        return if x == 0.0 { x } else { turned_sine(x, 0) };
    }
    trigonometric::sin(x as f64) as f32
}

#[device]
pub(crate) fn cos(x: f32) -> f32 {
    if x.abs() < NEAR { turned_sine(x, 1) } else { trigonometric::cos(x as f64) as f32 }
}

macro_rules! single {
    ($($module:ident: $($name:ident($($param:ident),*))*;)*) => { $($(
        #[device]
        pub(crate) fn $name($($param: f32),*) -> f32 {
            $module::$name($($param as f64),*) as f32
        }
    )*)* };
}

single! {
    exponential: exp_m1(x) ln_1p(x) powf(x, y) cbrt(x) sinh(x) cosh(x) tanh(x) asinh(x) acosh(x) atanh(x);
    trigonometric: tan(x) asin(x) acos(x) atan(x) atan2(y, x) hypot(x, y);
}

#[cfg(test)]
mod tests {
    /// Numbers of every sign and exponent, special ones, and those near multiples of half of pi.
    fn numbers() -> impl Iterator<Item = f32> {
        let special = [0, 1, 0x7f_ffff, 0x80_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000];
        let turns = (1..10_000).map(|k| (f64::from(k * k) * std::f64::consts::FRAC_PI_2) as f32);
        let spread = (0..=u32::MAX).step_by(70_001).chain(special.into_iter().flat_map(|bits| [bits, bits | 1 << 31]));
        spread.map(f32::from_bits).chain(turns)
    }

    #[test]
    fn functions_round_once() {
        type Function = (fn(f32) -> f32, fn(f64) -> f64);
        let functions: [(&str, Function); 7] = [
            ("exp", (super::exp, f64::exp)),
            ("exp2", (super::exp2, f64::exp2)),
            ("ln", (super::ln, f64::ln)),
            ("log2", (super::log2, f64::log2)),
            ("log10", (super::log10, f64::log10)),
            ("sin", (super::sin, f64::sin)),
            ("cos", (super::cos, f64::cos)),
        ];
        for (name, (single, double)) in functions {
            for x in numbers() {
                let (found, exact) = (single(x), double(f64::from(x)));
                let rounded = exact as f32;
                let ulp = 2_f64.powi(((exact.abs().to_bits() >> 52) as i32 - 1046).max(-149));
                let same = found.to_bits() == rounded.to_bits() || found.is_nan() && rounded.is_nan();
                let close = (f64::from(found) - exact).abs() <= 0.501 * ulp && found != 0.0 && found.is_finite();
                assert!(same || close, "{name} of {x:e}: {found:e}, not {exact:e}");
            }
        }
    }
}
