//! Floats. Those methods whose results are not exact have tests in `language::math`.

use super::*;
use std::num::FpCategory;

methods! {
    for [f32, f64] |x, log, also| {
        let (a, b, c) = (T::made(x[0]), T::made(x[1]), T::made(x[2]));
        let (low, high) = if b <= c { (b, c) } else { (-1.0, 2.5) };
        let n = (x[3] % 13) as i32 - 6;
        let _ = (a, b, c, low, high, n);
    }
    mod rounding {
        floor: a.floor();
        ceil: a.ceil();
        trunc: a.trunc();
        round: a.round();
        round_ties_even: a.round_ties_even();
        fract: a.fract();
        abs: a.abs();
        signum: a.signum();
        copysign: a.copysign(b);
        sqrt: a.sqrt();
        recip: a.recip();
        mul_add: a.mul_add(b, c);
        powi: a.powi(n);
        to_degrees: a.to_degrees();
        to_radians: a.to_radians();
        div_euclid: a.div_euclid(b);
        rem_euclid: a.rem_euclid(b);
    }
    mod classes {
        is_nan: a.is_nan();
        is_finite: a.is_finite();
        is_infinite: a.is_infinite();
        is_sign_negative: a.is_sign_negative();
        is_sign_positive: a.is_sign_positive();
        total_cmp: a.total_cmp(&b);
        is_normal: a.is_normal();
        classify: a.classify() as u32, a.classify() == FpCategory::Nan, matches!(b.classify(), FpCategory::Normal);
        is_subnormal: a.is_subnormal();
        next_up: a.next_up();
        next_down: a.next_down();
        midpoint: a.midpoint(b), a.midpoint(c);
        to_be_bytes: if a.is_nan() { a.abs().to_le_bytes() } else { a.to_be_bytes() };
        to_le_bytes: if b.is_nan() { (1.0 as T).to_le_bytes() } else { b.to_le_bytes() };
        to_ne_bytes: if c.is_nan() { (2.0 as T).to_ne_bytes() } else { c.to_ne_bytes() };
        from_be_bytes: f32::from_be_bytes((x[0] as u32).to_le_bytes()), f64::from_be_bytes(x[1].to_le_bytes());
        from_le_bytes: f32::from_le_bytes((x[0] as u32).to_le_bytes()), f64::from_le_bytes(x[1].to_le_bytes());
        from_ne_bytes: f32::from_ne_bytes((x[0] as u32).to_ne_bytes()), f64::from_ne_bytes(x[1].to_ne_bytes());
        to_bits: a.to_bits();
        from_bits: f32::from_bits(x[0] as u32), f64::from_bits(x[1]);
    }
    mod order {
        min: a.min(b) + 0.0;
        max: a.max(b) + 0.0;
        clamp: a.clamp(low, high);
        partial_cmp: a.partial_cmp(&b);
        eq: a.eq(&b);
        ne: a.ne(&b);
        lt: a.lt(&b);
        le: a.le(&b);
        gt: a.gt(&b);
        ge: a.ge(&b);
        clone: a.clone();
    }
}
