//! Integers of all types.

use super::*;

/// The amount of a shift, often less than the width.
#[device]
fn amount(v: u64) -> u32 {
    if v % 2 == 0 { (v >> 1) as u32 % 8 } else { (v >> 1) as u32 % 140 }
}

/// An integer other than 0.
#[device]
fn divisor<T: Integer>(word: u64, more: u64) -> T {
    let drawn = drawn::<T>(word, more);
    if drawn == T::ZERO { T::ONE } else { drawn }
}

methods! {
    for [u8, u16, u32, u64, u128, i8, i16, i32, i64, i128] |x, log, also| {
        let (a, n) = (drawn::<T>(x[0], x[1]), amount(x[2]));
        let _ = (a, n);
    }
    mod bits {
        count_ones: a.count_ones();
        count_zeros: a.count_zeros();
        leading_zeros: a.leading_zeros();
        leading_ones: a.leading_ones();
        trailing_zeros: a.trailing_zeros();
        trailing_ones: a.trailing_ones();
        reverse_bits: a.reverse_bits();
        swap_bytes: a.swap_bytes();
        rotate_left: a.rotate_left(n);
        rotate_right: a.rotate_right(n);
    }
    mod shifts {
        wrapping_shl: a.wrapping_shl(n);
        wrapping_shr: a.wrapping_shr(n);
        checked_shl: a.checked_shl(n);
        checked_shr: a.checked_shr(n);
        overflowing_shl: a.overflowing_shl(n);
        overflowing_shr: a.overflowing_shr(n);
        unbounded_shl: a.unbounded_shl(n);
        unbounded_shr: a.unbounded_shr(n);
    }
}

methods! {
    for [u8, u16, u32, u64, u128, i8, i16, i32, i64, i128] |x, log, also| {
        let (a, b) = (drawn::<T>(x[0], x[1]), drawn::<T>(x[2], x[3]));
        let _ = (a, b);
    }
    mod sums {
        abs_diff: a.abs_diff(b);
        midpoint: a.midpoint(b);
        wrapping_add: a.wrapping_add(b);
        wrapping_sub: a.wrapping_sub(b);
        unchecked_add: if a.checked_add(b).is_some() { unsafe { a.unchecked_add(b) } } else { b };
        unchecked_sub: if a.checked_sub(b).is_some() { unsafe { a.unchecked_sub(b) } } else { b };
        unchecked_mul: if a.checked_mul(b).is_some() { unsafe { a.unchecked_mul(b) } } else { b };
        saturating_add: a.saturating_add(b);
        saturating_sub: a.saturating_sub(b);
        checked_add: a.checked_add(b);
        checked_sub: a.checked_sub(b);
        checked_neg: a.checked_neg();
        overflowing_add: a.overflowing_add(b);
        overflowing_sub: a.overflowing_sub(b);
        overflowing_neg: a.overflowing_neg();
        wrapping_neg: a.wrapping_neg();
    }
    mod products {
        wrapping_mul: a.wrapping_mul(b);
        saturating_mul: a.saturating_mul(b);
        checked_mul: a.checked_mul(b);
        overflowing_mul: a.overflowing_mul(b);
        isqrt: if a.checked_mul(a).is_some() { a.wrapping_mul(a).isqrt() } else { (a >> 1 & T::MAX >> 1).isqrt() };
        ilog2: if a > 0 { a.ilog2() } else { 200 };
        ilog10: if a > 0 { a.ilog10() } else { 200 };
        ilog: if a > 0 && b > 1 { a.ilog(b) } else { 200 };
        checked_ilog2: a.checked_ilog2();
        checked_ilog10: a.checked_ilog10();
        checked_ilog: a.checked_ilog(b);
    }
    mod quotients {
        checked_div: a.checked_div(b);
        checked_rem: a.checked_rem(b);
        checked_div_euclid: a.checked_div_euclid(b);
        checked_rem_euclid: a.checked_rem_euclid(b);
        div_euclid: if a.checked_div_euclid(b).is_some() { a.div_euclid(b) } else { b };
        rem_euclid: if a.checked_rem_euclid(b).is_some() { a.rem_euclid(b) } else { b };
    }
}

methods! {
    for [u8, u16, u32, u64, u128, i8, i16, i32, i64, i128] |x, log, also| {
        let (a, divisor) = (drawn::<T>(x[0], x[1]), divisor::<T>(x[2], x[3]));
        let _ = (a, divisor);
    }
    mod division {
        wrapping_div: a.wrapping_div(divisor);
        wrapping_rem: a.wrapping_rem(divisor);
        wrapping_div_euclid: a.wrapping_div_euclid(divisor);
        wrapping_rem_euclid: a.wrapping_rem_euclid(divisor);
        saturating_div: a.saturating_div(divisor);
        overflowing_div: a.overflowing_div(divisor);
        overflowing_rem: a.overflowing_rem(divisor);
        overflowing_div_euclid: a.overflowing_div_euclid(divisor);
        overflowing_rem_euclid: a.overflowing_rem_euclid(divisor);
    }
}

methods! {
    for [u8, u16, u32, u64, u128, i8, i16, i32, i64, i128] |x, log, also| {
        let (a, e) = (drawn::<T>(x[0], x[1]), (x[2] % 9) as u32);
        let _ = (a, e);
    }
    mod powers {
        pow: if a.checked_pow(e).is_some() { a.pow(e) } else { a };
        wrapping_pow: a.wrapping_pow(e), a.wrapping_pow(e * 19);
        saturating_pow: a.saturating_pow(e);
        checked_pow: a.checked_pow(e);
        overflowing_pow: a.overflowing_pow(e);
    }
}

methods! {
    for [u8, u32, i64, u128] |x, log, also| {
        let a = drawn::<T>(x[0], x[1]);
        let _ = a;
    }
    mod bytes {
        to_be: a.to_be();
        to_le: a.to_le();
        from_be: T::from_be(a);
        from_le: T::from_le(a);
        to_be_bytes: a.to_be_bytes(), T::from_be_bytes(a.to_be_bytes());
        to_le_bytes: a.to_le_bytes(), T::from_le_bytes(a.to_le_bytes());
        to_ne_bytes: a.to_ne_bytes(), T::from_ne_bytes(a.to_ne_bytes());
        from_be_bytes: T::from_be_bytes(a.to_le_bytes());
        from_le_bytes: T::from_le_bytes(a.to_be_bytes());
        from_ne_bytes: T::from_ne_bytes(a.to_be_bytes());
    }
}

methods! {
    for [u8, i32, u128] |x, log, also| {
        let (a, b, e) = (drawn::<T>(x[0], x[1]), drawn::<T>(x[2], x[3]), (x[4] % 9) as u32);
        let n = amount(x[5]);
        let divides = a.checked_div(b).is_some();
        let _ = (a, b, e, n, divides);
    }
    mod strict {
        strict_add: if a.checked_add(b).is_some() { a.strict_add(b) } else { b };
        strict_sub: if a.checked_sub(b).is_some() { a.strict_sub(b) } else { b };
        strict_mul: if a.checked_mul(b).is_some() { a.strict_mul(b) } else { b };
        strict_neg: if a.checked_neg().is_some() { a.strict_neg() } else { b };
        strict_div: if divides { a.strict_div(b) } else { b };
        strict_rem: if divides { a.strict_rem(b) } else { b };
        strict_div_euclid: if divides { a.strict_div_euclid(b) } else { b };
        strict_rem_euclid: if divides { a.strict_rem_euclid(b) } else { b };
        strict_pow: if a.checked_pow(e).is_some() { a.strict_pow(e) } else { b };
        strict_shl: if n < T::BITS { a.strict_shl(n) } else { b };
        strict_shr: if n < T::BITS { a.strict_shr(n) } else { b };
    }
}

methods! {
    for [i8, i16, i32, i64, i128] |x, log, also| {
        let (a, b) = (drawn::<T>(x[0], x[1]), drawn::<T>(x[2], x[3]));
        let _ = (a, b);
    }
    mod signed {
        abs: if a > T::MIN { a.abs() } else { b };
        signum: a.signum();
        unsigned_abs: a.unsigned_abs();
        is_positive: a.is_positive();
        is_negative: a.is_negative();
        wrapping_abs: a.wrapping_abs();
        checked_abs: a.checked_abs();
        overflowing_abs: a.overflowing_abs();
        saturating_abs: a.saturating_abs();
        saturating_neg: a.saturating_neg();
        checked_isqrt: a.checked_isqrt();
        strict_abs: if a > T::MIN { a.strict_abs() } else { b };
    }
}

methods! {
    for [i8, i32, i128] |x, log, also| {
        let (a, b) = (drawn::<T>(x[0], x[1]), drawn::<T>(x[2], x[3]).cast_unsigned());
        let _ = (a, b);
    }
    mod signed_with_unsigned {
        cast_unsigned: a.cast_unsigned();
        checked_add_unsigned: a.checked_add_unsigned(b);
        checked_sub_unsigned: a.checked_sub_unsigned(b);
        overflowing_add_unsigned: a.overflowing_add_unsigned(b);
        overflowing_sub_unsigned: a.overflowing_sub_unsigned(b);
        saturating_add_unsigned: a.saturating_add_unsigned(b);
        saturating_sub_unsigned: a.saturating_sub_unsigned(b);
        wrapping_add_unsigned: a.wrapping_add_unsigned(b);
        wrapping_sub_unsigned: a.wrapping_sub_unsigned(b);
    }
}

methods! {
    for [u8, u32, u128] |x, log, also| {
        let (a, c) = (drawn::<T>(x[0], x[1]), drawn::<T>(x[4], x[5]));
        let b = drawn::<T>(x[2], x[3]).cast_signed();
        let _ = (a, c, b);
    }
    mod unsigned_with_signed {
        cast_signed: a.cast_signed();
        checked_add_signed: a.checked_add_signed(b);
        checked_sub_signed: a.checked_sub_signed(b);
        checked_signed_diff: a.checked_signed_diff(c);
        overflowing_add_signed: a.overflowing_add_signed(b);
        overflowing_sub_signed: a.overflowing_sub_signed(b);
        saturating_add_signed: a.saturating_add_signed(b);
        saturating_sub_signed: a.saturating_sub_signed(b);
        wrapping_add_signed: a.wrapping_add_signed(b);
        wrapping_sub_signed: a.wrapping_sub_signed(b);
        carrying_add: a.carrying_add(c, b < 0);
        borrowing_sub: a.borrowing_sub(c, b < 0);
    }
}

methods! {
    for [u8, u32, u64, u128] |x, log, also| {
        let (a, b, c, d) =
            (drawn::<T>(x[0], x[1]), drawn::<T>(x[2], x[3]), drawn::<T>(x[4], x[5]), drawn::<T>(x[1], x[2]));
        let _ = (a, b, c, d);
    }
    mod wide_products {
        carrying_mul: a.carrying_mul(b, c);
        carrying_mul_add: a.carrying_mul_add(b, c, d);
    }
}

methods! {
    for [u8, u16, u32, u64, u128] |x, log, also| {
        let (a, b) = (drawn::<T>(x[0], x[1]), drawn::<T>(x[2], x[3]));
        let divisor = if b == 0 { 1 as T } else { b };
        let _ = (a, b, divisor);
    }
    mod unsigned {
        is_power_of_two: a.is_power_of_two();
        next_power_of_two: if a.checked_next_power_of_two().is_some() { a.next_power_of_two() } else { b };
        checked_next_power_of_two: a.checked_next_power_of_two();
        div_ceil: a.div_ceil(divisor);
        is_multiple_of: a.is_multiple_of(b), (a / 2).is_multiple_of(b % 3);
        next_multiple_of: if a.checked_next_multiple_of(b).is_some() { a.next_multiple_of(b) } else { b };
        checked_next_multiple_of: a.checked_next_multiple_of(b);
    }
}

methods! {
    for [u64] |x, log, also| {
        let (u8s, i8s) = (drawn::<u8>(x[0], x[1]), drawn::<i8>(x[2], x[3]));
        let (u16s, i16s) = (drawn::<u16>(x[1], x[2]), drawn::<i16>(x[3], x[4]));
        let (u32s, i32s) = (drawn::<u32>(x[2], x[3]), drawn::<i32>(x[4], x[5]));
        let (u64s, i64s) = (drawn::<u64>(x[3], x[4]), drawn::<i64>(x[5], x[0]));
        let (u128s, i128s) = (drawn::<u128>(x[4], x[5]), drawn::<i128>(x[0], x[1]));
        let (usizes, isizes) = (drawn::<usize>(x[5], x[0]), drawn::<isize>(x[1], x[2]));
        let _ = (u8s, i8s, u16s, i16s, u32s, i32s, u64s, i64s, u128s, i128s, usizes, isizes);
    }
    mod conversion {
        try_from:
            u8::try_from(i8s).ok(), u8::try_from(u16s).ok(), u8::try_from(i64s).ok(), u8::try_from(u128s).ok(),
            i8::try_from(u8s).ok(), i8::try_from(i16s).ok(), i8::try_from(u64s).ok(), i8::try_from(i128s).ok(),
            u16::try_from(i8s).ok(), u16::try_from(u32s).ok(), u16::try_from(isizes).ok(), u16::try_from(i128s).ok(),
            i16::try_from(u16s).ok(), i16::try_from(i32s).ok(), i16::try_from(usizes).ok(), i16::try_from(u128s).ok(),
            u32::try_from(i16s).ok(), u32::try_from(u64s).ok(), u32::try_from(i32s).ok(), u32::try_from(i128s).ok(),
            i32::try_from(u32s).ok(), i32::try_from(i64s).ok(), i32::try_from(usizes).ok(), i32::try_from(u128s).ok(),
            u64::try_from(i8s).ok(), u64::try_from(i64s).ok(), u64::try_from(usizes).ok(), u64::try_from(i128s).ok(),
            i64::try_from(u64s).ok(), i64::try_from(isizes).ok(), i64::try_from(usizes).ok(), i64::try_from(u128s).ok(),
            u128::try_from(i8s).ok(), u128::try_from(i64s).ok(), u128::try_from(usizes).ok(), u128::try_from(i128s).ok(),
            i128::try_from(u128s).ok(), i128::try_from(isizes).ok(), usize::try_from(i16s).ok(), usize::try_from(u64s).ok(),
            usize::try_from(u128s).ok(), isize::try_from(u32s).ok(), isize::try_from(i128s).ok(), isize::try_from(usizes).ok();
        try_into:
            { let v: Result<u8, _> = i32s.try_into(); v.unwrap_or(77) },
            { let v: Result<i16, _> = usizes.try_into(); v.unwrap_or(77) },
            { let v: Result<u64, _> = i128s.try_into(); v.unwrap_or(77) },
            { let v: Result<i128, _> = u128s.try_into(); v.unwrap_or(77) };
        from:
            u16::from(u8s), u32::from(u8s), i16::from(u8s), i64::from(u32s), u64::from(u8s > 9), usize::from(u16s),
            u128::from(u64s), i128::from(i64s), i32::from(i16s), f32::from(u16s), f64::from(i32s), isize::from(i16s),
            u32::from(u8s as char), f64::from(f32::from(i8s)), char::from(u8s);
        into:
            { let v: u64 = u32s.into(); v }, { let v: i32 = i8s.into(); v }, { let v: f64 = u16s.into(); v },
            { let v: u128 = (i16s > 9).into(); v }, { let v: u32 = (u8s as char).into(); v };
    }
}
