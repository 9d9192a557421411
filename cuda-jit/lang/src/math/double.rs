//! Double-double arithmetic: unevaluated sums of two `f64`, the second of which is the first's rounding error, with about
//! 106 bits of significand.
//!
//! This is no number type: it has only the operations that the functions in this module need, each with a relative error of
//! a few times 2^-104 if nothing overflows or becomes subnormal. Invariant of every pair that is passed or returned: the
//! first component is the rounded sum, or nearly so.

use crate::device;

/// `a + b` and its rounding error; |a| must be no less than |b|, or `a` 0.
#[device]
pub(super) fn fast_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `a + b` and its rounding error.
#[device]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// `a * b` and its rounding error. The product is rounded by a `mul_add`: if a compiler fused a plain product with a later
/// sum, it would no longer be the one that the error belongs to.
#[device]
pub(super) fn product(a: f64, b: f64) -> (f64, f64) {
    let product = a.mul_add(b, -0.0);
    (product, a.mul_add(b, -product))
}

/// The sum of two pairs.
#[device]
pub(super) fn add(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let (high, low) = sum(a.0, b.0);
    let (high, low) = fast_sum(high, low + a.1 + b.1);
    (high, low)
}

/// The product of two pairs.
#[device]
pub(super) fn multiply(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let (high, low) = product(a.0, b.0);
    fast_sum(high, a.0.mul_add(b.1, a.1.mul_add(b.0, low)))
}

/// The quotient of two pairs.
#[device]
pub(super) fn divide(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let first = a.0 / b.0;
    let rest = (-first).mul_add(b.0, a.0) + (-first).mul_add(b.1, a.1);
    let second = rest / b.0;
    fast_sum(first, second)
}

/// The square root of a pair; of zero it is zero.
#[device]
pub(super) fn root(a: (f64, f64)) -> (f64, f64) {
    let first = a.0.sqrt();
    if first == 0.0 {
        return (0.0, 0.0);
    }
    let rest = (-first).mul_add(first, a.0) + a.1;
    fast_sum(first, rest / (2.0 * first))
}

/// `x` times 2^`exponent`, rounded once; `exponent` from -2200 to 2200.
#[device]
pub(super) fn scale(x: f64, exponent: i32) -> f64 {
    // The exponent is stepped so that only the last multiplication can round.
    if exponent < -1000 {
        let x = x * power_of_two(-900);
        if exponent < -1900 {
            return x * power_of_two(-900) * power_of_two(-1022);
        }
        return x * power_of_two(exponent + 900);
    }
    if exponent > 1000 {
        let half = exponent / 2;
        return x * power_of_two(half) * power_of_two(exponent - half);
    }
    x * power_of_two(exponent)
}

/// 2^`exponent`, from -1022 to 1023.
#[device]
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
