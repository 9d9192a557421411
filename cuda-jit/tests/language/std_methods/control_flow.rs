//! `ControlFlow`.

use super::*;
use std::ops::ControlFlow;

/// `Break` of a multiple of 3.
#[device]
fn flow(v: u64) -> ControlFlow<i32, u32> {
    if v % 3 == 0 { ControlFlow::Break((v % 11) as i32 - 5) } else { ControlFlow::Continue((v % 7) as u32) }
}

/// The sum of two values, or what breaks first.
#[device]
fn sum(a: ControlFlow<i32, u32>, b: ControlFlow<i32, u32>) -> ControlFlow<i32, (u32, u32)> {
    let first = a?;
    ControlFlow::Continue((first, first + b?))
}

#[device]
impl<B: Noted, C: Noted> Noted for ControlFlow<B, C> {
    fn noted(&self, log: &mut u64) {
        match self {
            ControlFlow::Continue(value) => value.noted(log),
            ControlFlow::Break(value) => {
                append(log, 97);
                value.noted(log);
            }
        }
    }
}

methods! {
    |x, log, also| {
        let (mut a, b, n) = (flow(x[0]), flow(x[1]), (x[2] % 5) as u32);
        let all = elements::<8>(&x[2..]);
    }
    is_break: a.is_break();
    is_continue: a.is_continue();
    break_value: a.break_value();
    continue_value: a.continue_value();
    map_break: a.map_break(|v| { note(&mut log, v); (v, n) });
    map_continue: a.map_continue(|v| { note(&mut log, v); (v, n) });
    eq: a == b, a != ControlFlow::Continue(n);
    question_mark: sum(a, b);
    try_fold: all.iter().try_fold(0, |sum, v| {
        note(&mut log, *v);
        if sum > 20 { ControlFlow::Break(*v) } else { ControlFlow::Continue(sum + *v) }
    });
    try_rfold: all.iter().try_rfold(n, |sum, v| {
        note(&mut log, *v);
        if sum > 20 { Err(*v) } else { Ok(sum + *v) }
    });
    try_for_each: all.iter().try_for_each(|v| if *v > n { ControlFlow::Break(*v) } else { ControlFlow::Continue(()) });
}
