//! Ranges.

use super::*;

methods! {
    for [u8, i32, u64, i128, usize, char] |x, log, also| {
        let (a, b, c) = (T::made(x[0]), T::made(x[1]), T::made(x[2]));
    }
    mod ordered {
        contains: (a..b).contains(&c), (a..=b).contains(&c), (a..).contains(&c), (..b).contains(&c), (..=b).contains(&c);
        is_empty: (a..b).is_empty(), (a..=b).is_empty();
        start: { let all = a..=b; *all.start() };
        end: { let all = a..=b; *all.end() };
    }
}

methods! {
    for [f32, f64] |x, log, also| {
        let (a, b, c) = (T::made(x[0]), T::made(x[1]), T::made(x[2]));
    }
    mod float {
        contains: (a..b).contains(&c), (a..=b).contains(&c), (a..).contains(&c), (..b).contains(&c), (..=b).contains(&c);
        is_empty: (a..b).is_empty(), (a..=b).is_empty();
    }
}
