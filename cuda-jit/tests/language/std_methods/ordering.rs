//! `Ordering`.

use super::*;

methods! {
    |x, log, also| { let (a, b) = (Ordering::made(x[0]), Ordering::made(x[1])); }
    then: a.then(b);
    then_with: a.then_with(|| { note(&mut log, b); b });
    reverse: a.reverse();
    is_eq: a.is_eq();
    is_ne: a.is_ne();
    is_lt: a.is_lt();
    is_le: a.is_le();
    is_gt: a.is_gt();
    is_ge: a.is_ge();
}
