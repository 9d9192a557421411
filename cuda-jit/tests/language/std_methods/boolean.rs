//! `bool`.

use super::*;

methods! {
    |x, log, also| { let (holds, v) = (x[0] % 2 == 0, x[1] as u32); }
    then: holds.then(|| { note(&mut log, v); v ^ 1 });
    then_some: holds.then_some(v);
}
