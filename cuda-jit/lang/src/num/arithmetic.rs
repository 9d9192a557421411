//! Methods of integers that are built from others: roots, logarithms, multiples, and the checked, wrapping and overflowing
//! forms of rarely overflowing operations.

use super::integers::{
    Int, checked_add, checked_rem, div_euclid, division_overflows, ilog2, mul_overflows, next_power_of_two, quotient,
    rem_euclid, remainder, some_where, wrapping_abs, wrapping_add, wrapping_div, wrapping_mul, wrapping_neg,
    wrapping_rem, wrapping_shl, wrapping_shr, wrapping_sub,
};
use crate::device;

/// Returns true if the number is a multiple of another one.
#[device(library)]
pub fn is_multiple_of<T: Int>(x: T, of: T) -> bool {
    let divisor = if of == T::ZERO { T::ONE } else { of };
    let rest = remainder(x, divisor);
    if of == T::ZERO { x == T::ZERO } else { rest == T::ZERO }
}

/// The least multiple of another number that is not less than this one.
#[device(library)]
#[track_caller]
pub fn next_multiple_of<T: Int>(x: T, of: T) -> T {
    let rest = x % of;
    if rest == T::ZERO { x } else { x + wrapping_sub(of, rest) }
}

/// The least multiple of another number that is not less than this one, if it exists and fits.
#[device(library)]
pub fn checked_next_multiple_of<T: Int>(x: T, of: T) -> Option<T> {
    let rest = checked_rem(x, of)?;
    if rest == T::ZERO { Some(x) } else { checked_add(x, wrapping_sub(of, rest)) }
}

/// The least power of two that is not smaller, if it fits.
#[device(library)]
pub fn checked_next_power_of_two<T: Int>(x: T) -> Option<T> {
    let largest = wrapping_shl(T::ONE, T::BITS - 1);
    if x > largest { None } else { Some(next_power_of_two(x)) }
}

/// The midpoint, rounded down for unsigned numbers and towards zero for signed ones.
#[device(library)]
pub fn midpoint<T: Int>(a: T, b: T) -> T {
    let halves = wrapping_shr(a ^ b, 1);
    let below = wrapping_add(a & b, halves);
    let odd = (a ^ b) & T::ONE;
    if below < T::ZERO { wrapping_add(below, odd) } else { below }
}

/// The integer square root of a non-negative number, computed digit by digit.
#[device(library)]
fn root<T: Int>(x: T) -> T {
    let mut rest = x;
    let mut root = T::ZERO;
    let mut digit = wrapping_shl(T::ONE, (T::BITS - 1) & !1);
    // the top bit of signed numbers is the sign
    if T::IS_SIGNED {
        digit = wrapping_shl(T::ONE, T::BITS - 2);
    }
    while digit != T::ZERO {
        let tried = root | digit;
        root = wrapping_shr(root, 1);
        if rest >= tried {
            rest = wrapping_sub(rest, tried);
            root |= digit;
        }
        digit = wrapping_shr(digit, 2);
    }
    root
}

/// The square root, rounded down.
#[device(library)]
#[track_caller]
pub fn isqrt<T: Int>(x: T) -> T {
    if x < T::ZERO {
        panic!("argument of integer square root cannot be negative");
    }
    root(x)
}

/// The square root, rounded down, of a non-negative number.
#[device(library)]
pub fn checked_isqrt<T: Int>(x: T) -> Option<T> {
    if x < T::ZERO { None } else { Some(root(x)) }
}

/// The logarithm of a positive number in a base above one, rounded down.
#[device(library)]
fn logarithm<T: Int>(x: T, base: T) -> u32 {
    let mut left = x;
    let mut log = 0;
    while left >= base {
        left = quotient(left, base);
        log += 1;
    }
    log
}

/// The logarithm, rounded down.
#[device(library)]
#[track_caller]
pub fn ilog<T: Int>(x: T, base: T) -> u32 {
    if base <= T::ONE {
        panic!("base of integer logarithm must be at least 2");
    }
    if x <= T::ZERO {
        panic!("argument of integer logarithm must be positive");
    }
    logarithm(x, base)
}

/// Ten.
#[device(library)]
fn ten<T: Int>() -> T {
    let five = wrapping_add(wrapping_shl(T::ONE, 2), T::ONE);
    wrapping_shl(five, 1)
}

/// The logarithm in base 10, rounded down.
#[device(library)]
#[track_caller]
pub fn ilog10<T: Int>(x: T) -> u32 {
    if x <= T::ZERO {
        panic!("argument of integer logarithm must be positive");
    }
    logarithm(x, ten())
}

/// The logarithm, rounded down, if there is one.
#[device(library)]
pub fn checked_ilog<T: Int>(x: T, base: T) -> Option<u32> {
    if (x <= T::ZERO) | (base <= T::ONE) { None } else { Some(logarithm(x, base)) }
}

/// The logarithm in base 10, rounded down, if there is one.
#[device(library)]
pub fn checked_ilog10<T: Int>(x: T) -> Option<u32> {
    if x <= T::ZERO { None } else { Some(logarithm(x, ten())) }
}

/// The logarithm in base 2, rounded down, if there is one.
#[device(library)]
pub fn checked_ilog2<T: Int>(x: T) -> Option<u32> {
    if x <= T::ZERO { None } else { Some(ilog2(x)) }
}

/// The wrapping power, and true if it overflows.
#[device(library)]
pub fn overflowing_pow<T: Int>(base: T, exponent: u32) -> (T, bool) {
    let mut power = T::ONE;
    let mut square = base;
    let mut left = exponent;
    let mut overflows = false;
    while left != 0 {
        if left & 1 == 1 {
            overflows |= mul_overflows(power, square);
            power = wrapping_mul(power, square);
        }
        left >>= 1;
        // the last square is not needed, and may overflow although the power does not
        if left != 0 {
            overflows |= mul_overflows(square, square);
            square = wrapping_mul(square, square);
        }
    }
    (power, overflows)
}

/// The power, if it fits.
#[device(library)]
pub fn checked_pow<T: Int>(base: T, exponent: u32) -> Option<T> {
    let (power, overflows) = overflowing_pow(base, exponent);
    some_where(!overflows, power)
}

/// The power, saturated at the limit that it exceeds.
#[device(library)]
pub fn saturating_pow<T: Int>(base: T, exponent: u32) -> T {
    let (power, overflows) = overflowing_pow(base, exponent);
    let limit = if (base < T::ZERO) & (exponent & 1 == 1) { T::MIN } else { T::MAX };
    if overflows { limit } else { power }
}

/// The quotient with a non-negative remainder, if it fits.
#[device(library)]
pub fn checked_div_euclid<T: Int>(a: T, b: T) -> Option<T> {
    if checked_rem(a, b).is_none() { None } else { Some(div_euclid(a, b)) }
}

/// The non-negative remainder, if the quotient fits.
#[device(library)]
pub fn checked_rem_euclid<T: Int>(a: T, b: T) -> Option<T> {
    if checked_rem(a, b).is_none() { None } else { Some(rem_euclid(a, b)) }
}

/// The quotient with a non-negative remainder, wrapping.
#[device(library)]
#[track_caller]
pub fn wrapping_div_euclid<T: Int>(a: T, b: T) -> T {
    // the minimum divided by -1 wraps to itself, as it does divided by 1
    div_euclid(a, if division_overflows(a, b) { T::ONE } else { b })
}

/// The non-negative remainder; 0 if the quotient does not fit.
#[device(library)]
#[track_caller]
pub fn wrapping_rem_euclid<T: Int>(a: T, b: T) -> T {
    rem_euclid(a, if division_overflows(a, b) { T::ONE } else { b })
}

/// The quotient, or the largest number if it does not fit.
#[device(library)]
#[track_caller]
pub fn saturating_div<T: Int>(a: T, b: T) -> T {
    let wrapped = wrapping_div(a, b);
    if division_overflows(a, b) { T::MAX } else { wrapped }
}

/// The wrapping quotient, and true if it overflows.
#[device(library)]
#[track_caller]
pub fn overflowing_div<T: Int>(a: T, b: T) -> (T, bool) {
    (wrapping_div(a, b), division_overflows(a, b))
}

/// The wrapping quotient with a non-negative remainder, and true if it overflows.
#[device(library)]
#[track_caller]
pub fn overflowing_div_euclid<T: Int>(a: T, b: T) -> (T, bool) {
    (wrapping_div_euclid(a, b), division_overflows(a, b))
}

/// The non-negative remainder, and true if the quotient does not fit.
#[device(library)]
#[track_caller]
pub fn overflowing_rem_euclid<T: Int>(a: T, b: T) -> (T, bool) {
    (wrapping_rem_euclid(a, b), division_overflows(a, b))
}

/// The remainder, and true if the quotient does not fit.
#[device(library)]
#[track_caller]
pub fn overflowing_rem<T: Int>(a: T, b: T) -> (T, bool) {
    (wrapping_rem(a, b), division_overflows(a, b))
}

/// The number shifted left by an amount modulo the width, and true if the amount is not less than the width.
#[device(library)]
pub fn overflowing_shl<T: Int>(x: T, amount: u32) -> (T, bool) {
    (wrapping_shl(x, amount), amount >= T::BITS)
}

/// The number shifted right by an amount modulo the width, and true if the amount is not less than the width.
#[device(library)]
pub fn overflowing_shr<T: Int>(x: T, amount: u32) -> (T, bool) {
    (wrapping_shr(x, amount), amount >= T::BITS)
}

/// The number shifted left by any amount.
#[device(library)]
pub fn unbounded_shl<T: Int>(x: T, amount: u32) -> T {
    let shifted = wrapping_shl(x, amount);
    if amount < T::BITS { shifted } else { T::ZERO }
}

/// The number shifted right by any amount.
#[device(library)]
pub fn unbounded_shr<T: Int>(x: T, amount: u32) -> T {
    let (shifted, sign) = (wrapping_shr(x, amount), if x < T::ZERO { !T::ZERO } else { T::ZERO });
    if amount < T::BITS { shifted } else { sign }
}

/// The absolute value, if it fits.
#[device(library)]
pub fn checked_abs<T: Int>(x: T) -> Option<T> {
    let value = wrapping_abs(x);
    some_where(x != T::MIN, value)
}

/// The absolute value, or the largest number if it does not fit.
#[device(library)]
pub fn saturating_abs<T: Int>(x: T) -> T {
    let value = wrapping_abs(x);
    if x == T::MIN { T::MAX } else { value }
}

/// The wrapping absolute value, and true if it overflows.
#[device(library)]
pub fn overflowing_abs<T: Int>(x: T) -> (T, bool) {
    (wrapping_abs(x), x == T::MIN)
}

/// The negated number, or the largest number if it does not fit.
#[device(library)]
pub fn saturating_neg<T: Int>(x: T) -> T {
    let value = wrapping_neg(x);
    if x == T::MIN { T::MAX } else { value }
}
