//! Division of 128-bit integers, for which no device has an instruction.
//!
//! Digits have 64 bits. Multiplication by the divisor's reciprocal gives a digit of the quotient, and the reciprocal needs
//! one division of 32 bits: devices divide 64 bits by a long sequence of instructions. The method is that of Möller and
//! Granlund, "Improved division by invariant integers", 2011.

use crate::device;

/// The most significant half of a product.
#[device(library)]
fn high_half(a: u64, b: u64) -> u64 {
    ((a as u128).wrapping_mul(b as u128) >> 64) as u64
}

/// The quotient of 2^128 - 1 and a number whose top bit is set, less 2^64: algorithm 3 of the article, whose comments give
/// the number of correct bits after each step.
#[device(library)]
fn reciprocal(divisor: u64) -> u64 {
    let above = (divisor >> 24) + 1;
    // The top bit, which is set anyway, shows that the divisor is not 0.
    let eleven = (((1_u32 << 19) - (3 << 8)) / ((divisor >> 55) as u32 | 256)) as u64;
    let half = (eleven << 11).wrapping_sub(eleven.wrapping_mul(eleven).wrapping_mul(above) >> 40).wrapping_sub(1);
    let error = (1_u64 << 60).wrapping_sub(half.wrapping_mul(above));
    let most = (half << 13).wrapping_add(half.wrapping_mul(error) >> 47);
    let odd = (most >> 1) & 0_u64.wrapping_sub(divisor & 1);
    let error = odd.wrapping_sub(most.wrapping_mul((divisor >> 1).wrapping_add(divisor & 1)));
    let nearly = (most << 31).wrapping_add(high_half(most, error) >> 1);
    let product = (nearly as u128).wrapping_mul(divisor as u128).wrapping_add(divisor as u128);
    nearly.wrapping_sub(((product >> 64) as u64).wrapping_add(divisor))
}

/// The quotient and the remainder of two digits and one whose top bit is set and which is greater than the first of them:
/// algorithm 4 of the article.
#[device(library)]
fn digit(high: u64, low: u64, divisor: u64, reciprocal: u64) -> (u64, u64) {
    let estimate = (reciprocal as u128).wrapping_mul(high as u128).wrapping_add((high as u128) << 64 | low as u128);
    let mut quotient = ((estimate >> 64) as u64).wrapping_add(1);
    let mut rest = low.wrapping_sub(quotient.wrapping_mul(divisor));
    if rest > estimate as u64 {
        quotient = quotient.wrapping_sub(1);
        rest = rest.wrapping_add(divisor);
    }
    if rest >= divisor {
        quotient = quotient.wrapping_add(1);
        rest = rest.wrapping_sub(divisor);
    }
    (quotient, rest)
}

/// The quotient and the remainder of two numbers, the second of which is not 0.
#[doc(hidden)]
#[device]
pub fn divide_unsigned(number: u128, divisor: u128) -> (u128, u128) {
    let (low, high) = (divisor as u64, (divisor >> 64) as u64);
    if high == 0 {
        let shift = low.leading_zeros();
        let normal = low << shift;
        let reciprocal = reciprocal(normal);
        let shifted = number << shift;
        let above = ((number >> 65) as u64) >> (63 - shift);
        let (first, rest) = digit(above, (shifted >> 64) as u64, normal, reciprocal);
        let (second, rest) = digit(rest, shifted as u64, normal, reciprocal);
        ((first as u128) << 64 | second as u128, (rest >> shift) as u128)
    } else {
        // Half of the number, so that its first digit is less than the divisor's.
        let shift = high.leading_zeros();
        let normal = ((divisor << shift) >> 64) as u64;
        let half = number >> 1;
        let (estimate, _) = digit((half >> 64) as u64, half as u64, normal, reciprocal(normal));
        // It is the quotient, or one more.
        let estimate = estimate >> (63 - shift);
        let mut quotient = if estimate == 0 { 0 } else { (estimate - 1) as u128 };
        let mut rest = number.wrapping_sub(quotient.wrapping_mul(divisor));
        if rest >= divisor {
            quotient = quotient.wrapping_add(1);
            rest = rest.wrapping_sub(divisor);
        }
        (quotient, rest)
    }
}

/// The quotient and the remainder of two numbers, the second of which is not 0. The quotient wraps if it does not fit.
#[doc(hidden)]
#[device]
pub fn divide_signed(number: i128, divisor: i128) -> (i128, i128) {
    let (quotient, rest) = divide_unsigned(number.unsigned_abs(), divisor.unsigned_abs());
    let (quotient, rest) = (quotient as i128, rest as i128);
    (
        if (number ^ divisor) < 0 { quotient.wrapping_neg() } else { quotient },
        if number < 0 { rest.wrapping_neg() } else { rest },
    )
}

#[cfg(test)]
mod tests {
    use super::{divide_signed, divide_unsigned, reciprocal};

    /// Numbers of every length, random ones, and those next to a power of two.
    fn numbers() -> impl Iterator<Item = u128> {
        let mut state = 1_u128;
        (0..128_u32).flat_map(move |length| {
            state = state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15).wrapping_add(0x1405_7b7e_f767_814f);
            let power = 1_u128 << length;
            let random = state.rotate_left(64) >> length;
            // Digits of zeros and of ones, where an estimate is wrong most often.
            let digits = (power - 1) << 64 | u128::from(state as u64);
            [power, power - 1, power + 1, !power, power.wrapping_neg(), random, !random, digits, state & !0 << length]
        })
    }

    #[test]
    fn division_is_that_of_the_host() {
        for number in numbers() {
            for divisor in numbers().filter(|divisor| *divisor != 0) {
                let expected = (number / divisor, number % divisor);
                assert_eq!(divide_unsigned(number, divisor), expected, "{number:#x} by {divisor:#x}");
                let (number, divisor) = (number as i128, divisor as i128);
                let expected = (number.wrapping_div(divisor), number.wrapping_rem(divisor));
                assert_eq!(divide_signed(number, divisor), expected, "{number:#x} by {divisor:#x}");
            }
        }
    }

    #[test]
    fn reciprocals_are_exact() {
        let check = |divisor: u64| {
            let expected = (u128::MAX / u128::from(divisor)) as u64;
            assert_eq!(reciprocal(divisor), expected, "{divisor:#x}");
        };
        // Both ends of the range, and numbers in between at an odd distance.
        let (first, last) = (1 << 63, u64::MAX);
        (0..1000).for_each(|offset| {
            check(first + offset);
            check(last - offset);
        });
        (first..=last).step_by(0x0000_0fed_cba9_8765).for_each(check);
    }

    #[test]
    fn a_quotient_one_below_its_estimate_is_corrected() {
        // Multiples of a divisor and their neighbours.
        for divisor in numbers().filter(|divisor| *divisor != 0) {
            for factor in numbers() {
                let multiple = divisor.wrapping_mul(factor);
                for number in [multiple, multiple.wrapping_sub(1), multiple.wrapping_add(1)] {
                    let expected = (number / divisor, number % divisor);
                    assert_eq!(divide_unsigned(number, divisor), expected, "{number:#x} by {divisor:#x}");
                }
            }
        }
    }
}
