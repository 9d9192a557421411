//! `Wrapping`, `Saturating` and `Reverse`.

use super::*;
use std::cmp::Reverse;
use std::num::{Saturating, Wrapping};

macro_rules! numbers {
    ($($ty:ty)*) => {
        noted! { $(
            (Wrapping<$ty>) |v, log| v.0.noted(log);
            (Saturating<$ty>) |v, log| v.0.noted(log);
        )* }
    };
}

numbers! { u8 u32 u64 u128 i8 i32 i64 i128 }

methods! {
    for [u8, u32, u64, u128, i8, i32, i64, i128] |x, log, also| {
        let (a, b) = (Wrapping(drawn::<T>(x[0], x[1])), Wrapping(drawn::<T>(x[2], x[3])));
        let (d, n) = (if b.0 == 0 { Wrapping(1 as T) } else { b }, (x[4] % 300) as usize);
        let _ = (a, b, d, n);
    }
    mod wrapping {
        sums: a + b, a - b, a * b, -a, !a;
        quotients: a / d, a % d;
        bits: a & b, a | b, a ^ b, a << n, a >> n;
        assignments:
            { let mut v = a; v += b; v }, { let mut v = a; v -= b; v }, { let mut v = a; v *= b; v },
            { let mut v = a; v /= d; v }, { let mut v = a; v %= d; v };
        bit_assignments:
            { let mut v = a; v &= b; v }, { let mut v = a; v |= b; v }, { let mut v = a; v ^= b; v },
            { let mut v = a; v <<= n; v }, { let mut v = a; v >>= n; v };
        numbers:
            { let mut v = a; v += b.0; v }, { let mut v = a; v -= b.0; v }, { let mut v = a; v *= b.0; v },
            { let mut v = a; v ^= b.0; v };
        comparison: a == b, a < b, a.max(b), a.cmp(&b);
        patterns: { let Wrapping(v) = a; match b { Wrapping(0) => v, Wrapping(w) => v ^ w } };
    }
}

methods! {
    for [u8, u32, u64, u128, i8, i32, i64, i128] |x, log, also| {
        let (a, b) = (Saturating(drawn::<T>(x[0], x[1])), Saturating(drawn::<T>(x[2], x[3])));
        let d = if b.0 == 0 || b.0 == !0 { Saturating(1 as T) } else { b };
        let _ = (a, b, d);
    }
    mod saturating {
        sums: a + b, a - b, a * b, !a;
        quotients: a / d, a % d;
        bits: a & b, a | b, a ^ b;
        assignments:
            { let mut v = a; v += b; v }, { let mut v = a; v -= b; v }, { let mut v = a; v *= b; v },
            { let mut v = a; v /= d; v }, { let mut v = a; v %= d; v };
        bit_assignments: { let mut v = a; v &= b; v }, { let mut v = a; v |= b; v }, { let mut v = a; v ^= b; v };
        numbers: { let mut v = a; v += b.0; v }, { let mut v = a; v -= b.0; v }, { let mut v = a; v *= b.0; v };
        comparison: a == b, a < b, a.max(b), a.cmp(&b);
        count_ones: a.count_ones();
        count_zeros: a.count_zeros();
        leading_zeros: a.leading_zeros();
        trailing_zeros: a.trailing_zeros();
        pow: a.pow(x[4] as u32 % 9);
    }
}

methods! {
    for [u64] |x, log, also| {
        let mut all = elements::<9>(x);
        let (a, b) = (x[0] as i32 % 4, x[1] as i32 % 4);
    }
    mod others {
        negated: -Saturating(drawn::<i8>(x[0], x[1])), -Saturating(drawn::<i64>(x[0], x[1]));
        reverse: Reverse(a).cmp(&Reverse(b)), Reverse(a) < Reverse(b), Reverse(a) == Reverse(b), Reverse(a).max(Reverse(b)).0;
        sort: { all.sort_unstable_by_key(|v| Reverse(*v)); all };
        greatest: all.iter().max_by_key(|v| Reverse(**v)).copied();
        pairs: (Reverse(a), b) < (Reverse(b), a), Reverse((a, 1u8)).partial_cmp(&Reverse((b, 2)));
    }
}
