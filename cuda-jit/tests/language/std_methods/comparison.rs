//! Comparison of whatever is ordered, and copies of it.

use super::*;
use cuda_jit::DeviceType;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, DeviceType)]
#[repr(i8)]
enum Level {
    Low = -3,
    Middle = 0,
    High = 7,
}

#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    level: Level,
    at: Option<(bool, u8)>,
}

/// Only the key is compared, so that two that are equal can be told apart.
#[derive(Clone, Copy, DeviceType)]
#[operators(PartialEq, PartialOrd, Ord)]
struct Keyed {
    key: u32,
    rest: u32,
}

#[device]
impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Keyed {}

#[device]
impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.key.cmp(&other.key))
    }
}

#[device]
impl Ord for Keyed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

made! {
    (Level) |v| match v % 3 { 0 => Level::Low, 1 => Level::Middle, _ => Level::High };
    (Event) |v| Event { level: Level::made(v), at: <Option<(bool, u8)>>::made(v / 3) };
    (Keyed) |v| Keyed { key: (v % 3) as u32, rest: (v % 1000) as u32 };
}

noted! {
    (Level) |v, log| append(log, v as i32 as u64);
    (Event) |v, log| { v.level.noted(log); v.at.noted(log) };
    (Keyed) |v, log| append(log, v.rest as u64 * 8 + v.key as u64);
}

methods! {
    for [
        u8, i32, u64, i128, bool, char, (u16, i8), [u32; 2], Option<i32>, Option<(bool, u8)>, Result<u32, i32>, Ordering,
        Level, Event, Keyed
    ] |x, log, also| {
        let (a, b) = (T::made(x[0]), T::made(x[1]));
    }
    mod pairs {
        cmp: a.cmp(&b);
        partial_cmp: a.partial_cmp(&b);
        max: a.max(b);
        min: a.min(b);
        clamp: { let c = T::made(x[2]); if b <= c { a.clamp(b, c) } else { a.clamp(c, b) } };
        clone: a.clone();
    }
    mod operators {
        eq: a.eq(&b);
        ne: a.ne(&b);
        lt: a.lt(&b);
        le: a.le(&b);
        gt: a.gt(&b);
        ge: a.ge(&b);
    }
}
