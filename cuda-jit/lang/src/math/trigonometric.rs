//! Trigonometric functions and their inverses: an argument reduced by pi/2 as a pair, Taylor series, and one core function
//! for all inverses.

use super::double::{add, divide, fast_sum, multiply, power_of_two, product, root, scale, sum};
use crate::device;

const PI_2: f64 = 1.5707963267948966;
const PI_2_REST: f64 = 6.123233995736766e-17;
const PI_2_LAST: f64 = -1.4973849048591698e-33;
const TWO_OVER_PI: f64 = 0.6366197723675814;
/// The limit up to which three components of pi/2 are sufficient.
const MODERATE: f64 = 1e6;
/// 2^-64
const WORD: f64 = 5.421010862427522e-20;

/// `x` minus a multiple of pi/2 as a pair, at most slightly more than pi/4, and that multiple modulo 4.
#[device]
fn reduce(x: f64) -> ((f64, f64), i32) {
    let magnitude = x.abs();
    if magnitude <= 0.7853981633974483 {
        return ((x, 0.0), 0);
    }
    if magnitude > MODERATE {
        let ((high, low), quadrant) = reduce_large(magnitude);
        return if x < 0.0 { ((-high, -low), -quadrant & 3) } else { ((high, low), quadrant) };
    }
    let n = (x * TWO_OVER_PI).round_ties_even();
    let (first, first_low) = product(n, PI_2);
    let rest = sum(x - first, -first_low);
    let (second, second_low) = product(n, PI_2_REST);
    let reduced = add(rest, (-second, -second_low));
    (add(reduced, (-(n * PI_2_LAST), 0.0)), n as i32 & 3)
}

/// The reduction of a large positive `x`: its significand times the relevant bits of 2/pi (Payne-Hanek).
#[device]
fn reduce_large(x: f64) -> ((f64, f64), i32) {
    // 2/pi in words of 32 bits, after two that precede the binary point
    let bits: [u32; 40] = [
        0, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
        0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026,
        0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f,
        0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
        0x1f8d5d08, 0x56033046, 0xfc7b6bab,
    ];
    // x = m * 2^e; the bits of the product from 2^1 down are needed, thus those of 2/pi from 2^(1 - e) down
    let e = (x.to_bits() >> 52) as i32 - 1075;
    let m = (x.to_bits() & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    let from = (e + 62) as usize;
    let (word, shift) = (from / 32, (from % 32) as u32);
    let (m_low, m_high) = (m & 0xffff_ffff, m >> 32);
    // seven words, the last first; the product with that window modulo 2^224
    let mut window: [u64; 7] = [0; 7];
    let mut carry = 0u64;
    let mut before = 0u64;
    for step in 0..7usize {
        let i = 6 - step;
        let next = (bits[word + i + 1] as u64) | ((bits[word + i] as u64) << 32);
        let piece = (next << shift) >> 32;
        let low = piece * m_low;
        let sum = (low & 0xffff_ffff) + (before & 0xffff_ffff) + (carry & 0xffff_ffff);
        window[i] = sum & 0xffff_ffff;
        carry = (carry >> 32) + (sum >> 32) + (low >> 32) + (before >> 32);
        before = piece * m_high;
    }
    let top = (window[0] << 32) | window[1];
    let middle = (window[2] << 32) | window[3];
    let bottom = (window[4] << 32) | window[5];
    fraction(top, middle, bottom)
}

/// The quadrant and the remainder from 192 bits, of which the first two are the quadrant.
#[device]
fn fraction(top: u64, middle: u64, bottom: u64) -> ((f64, f64), i32) {
    let quadrant = (top >> 62) as i32;
    let top = (top << 2) | (middle >> 62);
    let middle = (middle << 2) | (bottom >> 62);
    // rounds to the nearest multiple: the upper half of the fractions is a negative remainder of the next quadrant
    let negative = top >> 63 != 0;
    let (top, middle) = if negative { (!top, !middle) } else { (top, middle) };
    let quadrant = if negative { quadrant + 1 } else { quadrant };
    let zeros = top.leading_zeros();
    let shifted = if zeros == 0 { top } else { (top << zeros) | (middle >> (64 - zeros)) };
    let rest = if zeros == 0 { middle } else { middle << zeros };
    let high = ((shifted >> 11) << 11) as f64;
    let low = ((shifted & 0x7ff) as f64) + rest as f64 * WORD;
    let unit = power_of_two(-64 - zeros as i32);
    let (high, low) = fast_sum(high * unit, low * unit);
    let (high, low) = multiply((high, low), (PI_2, PI_2_REST));
    if negative { ((-high, -low), quadrant & 3) } else { ((high, low), quadrant & 3) }
}

/// The sine of a reduced argument as a pair.
#[device]
fn sin_pair(x: f64, rest: f64) -> (f64, f64) {
    let (square, square_low) = product(x, x);
    let q = square;
    let p = q.mul_add(1.0 / 51090942171709440000.0, -1.0 / 121645100408832000.0);
    let p = q.mul_add(p, 1.0 / 355687428096000.0);
    let p = q.mul_add(p, -1.0 / 1307674368000.0);
    let p = q.mul_add(p, 1.0 / 6227020800.0);
    let p = q.mul_add(p, -1.0 / 39916800.0);
    let p = q.mul_add(p, 1.0 / 362880.0);
    let p = q.mul_add(p, -1.0 / 5040.0);
    let p = q.mul_add(p, 1.0 / 120.0);
    let sixth = fast_sum(-0.16666666666666666, q * p);
    let sixth = (sixth.0, sixth.1 - 9.25185853854297e-18);
    let (cubic, cubic_low) = multiply(multiply((square, square_low), (x, 0.0)), sixth);
    let (high, low) = fast_sum(x, cubic);
    (high, low + (cubic_low + rest * (1.0 - 0.5 * q)))
}

/// The cosine of a reduced argument as a pair.
#[device]
fn cos_pair(x: f64, rest: f64) -> (f64, f64) {
    let (square, square_low) = product(x, x);
    let q = square;
    let p = q.mul_add(1.0 / 2432902008176640000.0, -1.0 / 6402373705728000.0);
    let p = q.mul_add(p, 1.0 / 20922789888000.0);
    let p = q.mul_add(p, -1.0 / 87178291200.0);
    let p = q.mul_add(p, 1.0 / 479001600.0);
    let p = q.mul_add(p, -1.0 / 3628800.0);
    let p = q.mul_add(p, 1.0 / 40320.0);
    let p = q.mul_add(p, -1.0 / 720.0);
    let p = q.mul_add(p, 1.0 / 24.0);
    let (high, low) = fast_sum(1.0, -0.5 * square);
    let (high, more) = fast_sum(high, q * q * p);
    (high, low + more - 0.5 * square_low - x * rest)
}

/// The sine or cosine, which is a quarter period ahead.
#[device]
fn wave(x: f64, ahead: i32) -> f64 {
    if !(x.abs() < f64::INFINITY) {
        return f64::NAN;
    }
    let ((r, rest), quadrant) = reduce(x);
    let quadrant = quadrant + ahead;
    let (high, low) = if quadrant & 1 == 0 { sin_pair(r, rest) } else { cos_pair(r, rest) };
    if quadrant & 2 == 0 { high + low } else { -(high + low) }
}

#[device]
pub(crate) fn sin(x: f64) -> f64 {
    if x.abs() < 1e-100 { x } else { wave(x, 0) }
}

#[device]
pub(crate) fn cos(x: f64) -> f64 {
    wave(x, 1)
}

#[device]
pub(crate) fn tan(x: f64) -> f64 {
    if x.abs() < 1e-100 {
        return x;
    }
    if !(x.abs() < f64::INFINITY) {
        return f64::NAN;
    }
    let ((r, rest), quadrant) = reduce(x);
    let (s, c) = (sin_pair(r, rest), cos_pair(r, rest));
    let (high, low) = if quadrant & 1 == 0 { divide(s, c) } else { divide((-c.0, -c.1), s) };
    high + low
}

/// The arc tangent of y / x as a pair, for pairs with 0 <= y <= x, neither near the ends of the range.
#[device]
fn arc(y: (f64, f64), x: (f64, f64)) -> (f64, f64) {
    // the nearest of 0, 1/4, .. 1, whose arc tangent is known, plus the arc tangent of the remainder
    let quarters = (4.0 * y.0 / x.0).round_ties_even();
    let near = 0.25 * quarters;
    let (base, base_rest) = if quarters == 0.0 {
        (0.0, 0.0)
    } else if quarters == 1.0 {
        (0.24497866312686414, 1.0698755618734451e-17)
    } else if quarters == 2.0 {
        (0.4636476090008061, 2.2698777452961687e-17)
    } else if quarters == 3.0 {
        (0.6435011087932844, 1.5834785051444286e-17)
    } else {
        (0.7853981633974483, 3.061616997868383e-17)
    };
    let across = multiply(x, (-near, 0.0));
    let along = multiply(y, (near, 0.0));
    let (t, t_low) = divide(add(y, across), add(x, along));
    let q = t * t;
    let p = q.mul_add(1.0 / 21.0, -1.0 / 19.0);
    let p = q.mul_add(p, 1.0 / 17.0);
    let p = q.mul_add(p, -1.0 / 15.0);
    let p = q.mul_add(p, 1.0 / 13.0);
    let p = q.mul_add(p, -1.0 / 11.0);
    let p = q.mul_add(p, 1.0 / 9.0);
    let p = q.mul_add(p, -1.0 / 7.0);
    let p = q.mul_add(p, 1.0 / 5.0);
    let p = q.mul_add(p, -1.0 / 3.0);
    let (high, low) = sum(base, t);
    (high, low + (base_rest + t_low + t * q * p))
}

/// The arc tangent of y / x in the quadrant of the two signs, rounded; `arc`'s conditions apply to y and x, except for
/// their order and signs.
#[device]
fn quadrant_arc(y: (f64, f64), x: (f64, f64)) -> f64 {
    let up = if y.0 < 0.0 { (-y.0, -y.1) } else { y };
    let right = if x.0 < 0.0 { (-x.0, -x.1) } else { x };
    let steep = up.0 > right.0;
    let angle = if steep { arc(right, up) } else { arc(up, right) };
    let angle = if steep { add((PI_2, PI_2_REST), (-angle.0, -angle.1)) } else { angle };
    let angle = if x.0 < 0.0 { add((2.0 * PI_2, 2.0 * PI_2_REST), (-angle.0, -angle.1)) } else { angle };
    (angle.0 + angle.1).copysign(y.0)
}

#[device]
pub(crate) fn atan(x: f64) -> f64 {
    if x.abs() < 1e-9 {
        return if x == 0.0 { x } else { (x * x * x).mul_add(-1.0 / 3.0, x) };
    }
    if x.abs() > 1e18 {
        return PI_2.copysign(x);
    }
    if x.is_nan() { x } else { quadrant_arc((x, 0.0), (1.0, 0.0)) }
}

#[device]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    if y == 0.0 {
        return if x.is_sign_negative() { (2.0 * PI_2).copysign(y) } else { y };
    }
    if x.is_infinite() && y.is_infinite() {
        return if x > 0.0 { (0.5 * PI_2).copysign(y) } else { (1.5 * PI_2).copysign(y) };
    }
    if x == 0.0 || y.is_infinite() {
        return PI_2.copysign(y);
    }
    if x.is_infinite() {
        return if x > 0.0 { 0f64.copysign(y) } else { (2.0 * PI_2).copysign(y) };
    }
    // if the exponents are far apart, the angle is the quotient or that of an axis; near the range's limits both are scaled
    let up = exponent(y);
    let right = exponent(x);
    if up - right > 60 {
        return PI_2.copysign(y);
    }
    if right - up > 60 {
        return if x > 0.0 { y / x } else { (2.0 * PI_2).copysign(y) };
    }
    let both = if up > right { up } else { right };
    quadrant_arc((scale(y, -both), 0.0), (scale(x, -both), 0.0))
}

/// The exponent of a finite number; scaling by its opposite gives a number near one.
#[device]
fn exponent(x: f64) -> i32 {
    let magnitude = x.abs();
    if magnitude < f64::MIN_POSITIVE {
        return ((magnitude * 18014398509481984.0).to_bits() >> 52) as i32 - 1023 - 54;
    }
    (magnitude.to_bits() >> 52) as i32 - 1023
}

/// The square root of 1 - x^2 as a pair.
#[device]
fn other_side(x: f64) -> (f64, f64) {
    root(multiply(sum(1.0, x), sum(1.0, -x)))
}

#[device]
pub(crate) fn asin(x: f64) -> f64 {
    if !(x.abs() <= 1.0) {
        return f64::NAN;
    }
    if x.abs() < 1e-9 {
        return (x * x * x).mul_add(1.0 / 6.0, x);
    }
    quadrant_arc((x, 0.0), other_side(x))
}

#[device]
pub(crate) fn acos(x: f64) -> f64 {
    if !(x.abs() <= 1.0) {
        return f64::NAN;
    }
    quadrant_arc(other_side(x), (x, 0.0))
}

#[device]
pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    if x.is_infinite() || y.is_infinite() {
        return f64::INFINITY;
    }
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    let larger = if x.abs() > y.abs() { x.abs() } else { y.abs() };
    if larger == 0.0 {
        return 0.0;
    }
    let by = exponent(larger);
    let (x, y) = (scale(x, -by), scale(y, -by));
    let (x, x_low) = product(x, x);
    let (y, y_low) = product(y, y);
    let (high, low) = root(add((x, x_low), (y, y_low)));
    scale(high + low, by)
}
