//! Exponentials and logarithms, based on two core functions: `e^(h + l)` from the Taylor series of an argument reduced by
//! `ln 2`, and `ln(h + l)` as a pair from the series of the inverse hyperbolic tangent.

use super::double::{add, divide, fast_sum, multiply, product, root, scale, sum};
use crate::device;

/// ln 2, with the last 21 bits of the first component zero: its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.6931471803691238;
const LN_2_LOW: f64 = 1.9082149292705877e-10;
const LN_2_LOWEST: f64 = 1.1612227229362532e-26;
/// ln 2 as a pair.
const LN_2: f64 = 0.6931471805599453;
const LN_2_REST: f64 = 2.3190468138462996e-17;
const LOG2_E: f64 = 1.4426950408889634;
const LOG2_E_REST: f64 = 2.0355273740931033e-17;
const LOG10_E: f64 = 0.4342944819032518;
const LOG10_E_REST: f64 = 1.098319650216765e-17;

/// (e^r - 1 - r) / r^2 for |r| up to 0.5.
#[device]
fn tail(r: f64) -> f64 {
    r.mul_add(third(r), 0.5)
}

/// e^(high + low) as a pair, to about 2^-57, and the power of two to scale it by; |high| up to 1500.
#[device]
fn exp_pair(high: f64, low: f64) -> ((f64, f64), i32) {
    let whole = (high * LOG2_E).round_ties_even();
    let (correction, correction_low) = product(whole, LN_2_LOW);
    let (r, rest) = sum((-whole).mul_add(LN_2_HIGH, high), -correction);
    let rest = rest + (low - correction_low);
    let (r, rest) = fast_sum(r, rest);
    // e^(r + rest) = 1 + r + r^2 t + rest (1 + r)
    let (square, square_low) = product(r, r);
    let t = tail(r);
    let (one, first) = fast_sum(1.0, r);
    let (power, second) = fast_sum(one, square * t);
    let rest = first + second + square_low * 0.5 + rest.mul_add(r, rest);
    (fast_sum(power, rest), whole as i32)
}

/// e^(high + low), rounded; outside the range of `f64` it is 0 or infinite.
#[device]
fn exp_of(high: f64, low: f64) -> f64 {
    if !(high < 710.0) {
        return if high.is_nan() { high } else { f64::INFINITY };
    }
    if high < -746.0 {
        return 0.0;
    }
    let ((power, rest), exponent) = exp_pair(high, low);
    scale(power + rest, exponent)
}

#[device]
pub(crate) fn exp(x: f64) -> f64 {
    exp_of(x, 0.0)
}

#[device]
pub(crate) fn exp2(x: f64) -> f64 {
    if !(x < 1024.0) {
        return if x.is_nan() { x } else { f64::INFINITY };
    }
    if x < -1080.0 {
        return 0.0;
    }
    let whole = x.round_ties_even();
    let (high, low) = product(x - whole, LN_2);
    let ((power, rest), exponent) = exp_pair(high, (x - whole).mul_add(LN_2_REST, low));
    scale(power + rest, exponent + whole as i32)
}

#[device]
pub(crate) fn exp_m1(x: f64) -> f64 {
    if x.abs() < 0.5 {
        let (square, low) = product(x, x);
        let (high, rest) = fast_sum(x, 0.5 * square);
        let p = (x * square).mul_add(third(x), 0.5 * low);
        return if x == 0.0 { x } else { high + (rest + p) };
    }
    if !(x < 710.0) {
        return if x.is_nan() { x } else { f64::INFINITY };
    }
    if x < -45.0 {
        return -1.0;
    }
    let ((power, rest), exponent) = exp_pair(x, 0.0);
    if exponent > 1000 {
        return scale(power + rest, exponent);
    }
    let (high, low) = sum(scale(power, exponent), -1.0);
    high + (low + scale(rest, exponent))
}

/// (e^r - 1 - r - r^2/2) / r^3 for |r| up to 0.5.
#[device]
fn third(r: f64) -> f64 {
    let p = r.mul_add(1.0 / 20922789888000.0, 1.0 / 1307674368000.0);
    let p = r.mul_add(p, 1.0 / 87178291200.0);
    let p = r.mul_add(p, 1.0 / 6227020800.0);
    let p = r.mul_add(p, 1.0 / 479001600.0);
    let p = r.mul_add(p, 1.0 / 39916800.0);
    let p = r.mul_add(p, 1.0 / 3628800.0);
    let p = r.mul_add(p, 1.0 / 362880.0);
    let p = r.mul_add(p, 1.0 / 40320.0);
    let p = r.mul_add(p, 1.0 / 5040.0);
    let p = r.mul_add(p, 1.0 / 720.0);
    let p = r.mul_add(p, 1.0 / 120.0);
    let p = r.mul_add(p, 1.0 / 24.0);
    r.mul_add(p, 1.0 / 6.0)
}

/// ln(high + low) as a pair, to about 2^-64, for a positive finite `high`.
#[device]
fn ln_pair(high: f64, low: f64) -> (f64, f64) {
    let subnormal = high < f64::MIN_POSITIVE;
    let high = if subnormal { high * 18014398509481984.0 } else { high };
    // the exponent for a significand from about sqrt(1/2) to sqrt(2)
    let above = (high.to_bits() >> 32) as i32 - 0x3fe6a09e;
    let exponent = above >> 20;
    let m = f64::from_bits(high.to_bits() - ((exponent as i64 as u64) << 52));
    // with s = (m - 1) / (m + 1) the logarithm is 2 (s + s^3/3 + s^5/5 + ..)
    let s = divide((m - 1.0, 0.0), sum(m, 1.0));
    let square = multiply(s, s);
    let q = square.0;
    let p = q.mul_add(2.0 / 25.0, 2.0 / 23.0);
    let p = q.mul_add(p, 2.0 / 21.0);
    let p = q.mul_add(p, 2.0 / 19.0);
    let p = q.mul_add(p, 2.0 / 17.0);
    let p = q.mul_add(p, 2.0 / 15.0);
    let p = q.mul_add(p, 2.0 / 13.0);
    let p = q.mul_add(p, 2.0 / 11.0);
    let p = q.mul_add(p, 2.0 / 9.0);
    let p = q.mul_add(p, 2.0 / 7.0);
    let p = q.mul_add(p, 2.0 / 5.0);
    // 2/3 as a pair, then the terms beyond it
    let two_thirds = fast_sum(0.6666666666666666, 3.700743415417188e-17 + q * p);
    let series = add((2.0 * s.0, 2.0 * s.1), multiply(multiply(s, square), two_thirds));
    let k = (if subnormal { exponent - 54 } else { exponent }) as f64;
    let (second, third) = product(k, LN_2_LOW);
    let whole = fast_sum(k * LN_2_HIGH, second);
    let whole = (whole.0, whole.1 + k.mul_add(LN_2_LOWEST, third));
    let ln = add(whole, series);
    add(ln, (low / high, 0.0))
}

/// The logarithm in the base whose factor is given as a pair.
#[device]
fn log_of(x: f64, factor: f64, rest: f64) -> f64 {
    if !(x > 0.0) {
        return if x == 0.0 { -f64::INFINITY } else { f64::NAN };
    }
    if x == f64::INFINITY {
        return x;
    }
    let (high, low) = multiply(ln_pair(x, 0.0), (factor, rest));
    high + low
}

#[device]
pub(crate) fn ln(x: f64) -> f64 {
    log_of(x, 1.0, 0.0)
}

#[device]
pub(crate) fn log2(x: f64) -> f64 {
    log_of(x, LOG2_E, LOG2_E_REST)
}

#[device]
pub(crate) fn log10(x: f64) -> f64 {
    log_of(x, LOG10_E, LOG10_E_REST)
}

#[device]
pub(crate) fn ln_1p(x: f64) -> f64 {
    if !(x > -1.0) {
        return if x == -1.0 { -f64::INFINITY } else { f64::NAN };
    }
    if x == f64::INFINITY || x.abs() < 1e-20 {
        return x;
    }
    let (high, low) = sum(1.0, x);
    let (high, low) = ln_pair(high, low);
    high + low
}

/// x^y for a positive finite `x` and a finite `y`.
#[device]
fn power_of(x: f64, y: f64) -> f64 {
    // beyond this the result is 1, 0 or infinite; much smaller factors would lose the product's low part
    let y = y.clamp(-1e22, 1e22);
    let (high, low) = multiply(ln_pair(x, 0.0), (y, 0.0));
    exp_of(high, low)
}

#[device]
pub(crate) fn powf(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    let magnitude = x.abs();
    let whole = y.trunc() == y;
    let odd = whole && (0.5 * y).trunc() != 0.5 * y;
    if y.is_infinite() {
        if magnitude == 1.0 {
            return 1.0;
        }
        return if (magnitude > 1.0) == (y > 0.0) { f64::INFINITY } else { 0.0 };
    }
    let result = if magnitude == 0.0 || magnitude == f64::INFINITY {
        if (magnitude == 0.0) == (y > 0.0) { 0.0 } else { f64::INFINITY }
    } else if x < 0.0 && !whole {
        f64::NAN
    } else {
        power_of(magnitude, y)
    };
    if odd && x.is_sign_negative() { -result } else { result }
}

#[device]
pub(crate) fn cbrt(x: f64) -> f64 {
    let magnitude = x.abs();
    if !(magnitude < f64::INFINITY) || x == 0.0 {
        return x;
    }
    let (high, low) = multiply(ln_pair(magnitude, 0.0), (0.3333333333333333, 1.850371707708594e-17));
    exp_of(high, low).copysign(x)
}

/// The hyperbolic sine as a pair, for |x| up to 1.
#[device]
fn sinh_pair(x: f64) -> (f64, f64) {
    let (square, square_low) = product(x, x);
    let q = square;
    let p = q.mul_add(1.0 / 51090942171709440000.0, 1.0 / 121645100408832000.0);
    let p = q.mul_add(p, 1.0 / 355687428096000.0);
    let p = q.mul_add(p, 1.0 / 1307674368000.0);
    let p = q.mul_add(p, 1.0 / 6227020800.0);
    let p = q.mul_add(p, 1.0 / 39916800.0);
    let p = q.mul_add(p, 1.0 / 362880.0);
    let p = q.mul_add(p, 1.0 / 5040.0);
    let p = q.mul_add(p, 1.0 / 120.0);
    let (sixth, sixth_low) = fast_sum(0.16666666666666666, 9.25185853854297e-18 + q * p);
    let (cubic, cubic_low) = multiply(multiply((square, square_low), (x, 0.0)), (sixth, sixth_low));
    let (high, low) = fast_sum(x, cubic);
    (high, low + cubic_low)
}

/// Half of e^x and of e^-x as pairs, for |x| up to 40.
#[device]
fn halves(x: f64) -> ((f64, f64), (f64, f64)) {
    let ((power, rest), exponent) = exp_pair(x, 0.0);
    let up = (scale(power, exponent - 1), scale(rest, exponent - 1));
    (up, divide((0.25, 0.0), up))
}

#[device]
pub(crate) fn sinh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude <= 1.0 {
        let (high, low) = sinh_pair(x);
        return if magnitude < 1e-100 { x } else { high + low };
    }
    if !(magnitude < 40.0) {
        return half_exp(magnitude).copysign(x);
    }
    let (up, down) = halves(magnitude);
    let (high, low) = add(up, (-down.0, -down.1));
    (high + low).copysign(x)
}

#[device]
pub(crate) fn cosh(x: f64) -> f64 {
    let magnitude = x.abs();
    if !(magnitude < 40.0) {
        return half_exp(magnitude);
    }
    let (up, down) = halves(magnitude);
    let (high, low) = add(up, down);
    high + low
}

/// e^x / 2, for x of at least 40: still finite a little beyond the range of e^x.
#[device]
fn half_exp(x: f64) -> f64 {
    if !(x < 711.0) {
        return x * f64::INFINITY;
    }
    let ((power, rest), exponent) = exp_pair(x, 0.0);
    scale(power + rest, exponent - 1)
}

#[device]
pub(crate) fn tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 1e-100 || x.is_nan() {
        return x;
    }
    if magnitude > 22.0 {
        return 1f64.copysign(x);
    }
    let (up, down) = halves(magnitude);
    let above = if magnitude <= 1.0 { sinh_pair(magnitude) } else { add(up, (-down.0, -down.1)) };
    let (high, low) = divide(above, add(up, down));
    (high + low).copysign(x)
}

#[device]
pub(crate) fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    if !(magnitude < f64::INFINITY) || magnitude < 1e-9 {
        // x - x^3/6
        return if magnitude < 1e-9 && x != 0.0 { (x * x * x).mul_add(-1.0 / 6.0, x) } else { x };
    }
    if magnitude > 1e18 {
        return ln_twice(magnitude).copysign(x);
    }
    let (square, low) = product(magnitude, magnitude);
    let (high, low) = add(root(add((square, low), (1.0, 0.0))), (magnitude, 0.0));
    let (high, low) = ln_pair(high, low);
    (high + low).copysign(x)
}

/// ln(2x).
#[device]
fn ln_twice(x: f64) -> f64 {
    let (high, low) = add(ln_pair(x, 0.0), (LN_2, LN_2_REST));
    high + low
}

#[device]
pub(crate) fn acosh(x: f64) -> f64 {
    if !(x >= 1.0) {
        return f64::NAN;
    }
    if x > 1e18 {
        return if x == f64::INFINITY { x } else { ln_twice(x) };
    }
    let (square, low) = product(x, x);
    let (high, low) = add(root(add((square, low), (-1.0, 0.0))), (x, 0.0));
    let (high, low) = ln_pair(high, low);
    high + low
}

#[device]
pub(crate) fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if !(magnitude < 1.0) {
        return if magnitude == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    }
    if magnitude < 1e-9 {
        return (x * x * x).mul_add(1.0 / 3.0, x);
    }
    let (high, low) = divide(sum(1.0, magnitude), sum(1.0, -magnitude));
    let (high, low) = ln_pair(high, low);
    (0.5 * (high + low)).copysign(x)
}
