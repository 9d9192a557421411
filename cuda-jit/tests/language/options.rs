//! Methods of `Option`, with closures and functions by name, against the host.

use super::differ;
use cuda_jit::{DeviceType, device, kernel};
use ndarray::ArrayView2;

#[derive(Clone, Copy, DeviceType)]
struct Pair {
    a: i32,
    b: u8,
}

#[device]
fn twice(v: i32) -> i32 {
    v * 2
}

#[device]
fn positive(v: i32) -> Option<i32> {
    if v > 0 { Some(v - 10) } else { None }
}

#[device]
fn is_even(v: &i32) -> bool {
    v % 2 == 0
}

/// A struct's method with the name of one of `Option`.
#[device]
impl Pair {
    fn map<F: Fn(i32) -> i32>(self, f: F) -> i32 {
        f(self.a) + self.b as i32
    }

    fn filter(self, least: i32) -> bool {
        self.a > least
    }
}

#[kernel]
fn with_functions(x: &[i32], n: i32, out: &mut [i32]) {
    let (first, none) = (x.first().copied(), x.get(99).copied());
    let mut k = 0;
    for option in [first, none, Some(n), Some(7)] {
        out[k] = option.map(|v| v + n).unwrap_or(-1);
        out[k + 1] = option.map(twice).map_or(0, |v| v * 3);
        out[k + 2] = option.map_or_else(|| n * 100, |v| v - n);
        out[k + 3] = option.and_then(positive).unwrap_or(-2);
        out[k + 4] = option.and_then(|v| v.checked_mul(1 << 30)).is_some() as i32;
        out[k + 5] = option.or_else(|| Some(n + 1)).unwrap();
        out[k + 6] = option.unwrap_or_else(|| x.len() as i32);
        out[k + 7] = option.filter(is_even).is_some() as i32 + option.filter(|v| *v > n).is_none() as i32 * 2;
        out[k + 8] = option.is_some_and(|v| v > 3) as i32 + option.is_none_or(|v| v > 3) as i32 * 2;
        out[k + 9] = option.map(i32::abs).map(|v| (v, v as f32 / 2.0)).map_or(0.5, |(a, b)| a as f32 + b) as i32;
        let mut seen = 0;
        option.inspect(|v| seen += *v).map(|v| Pair { a: v, b: 3 }).map(|pair| out[k + 10] = pair.a + seen);
        k += 11;
    }
    let found = x.iter().max().map(|v| *v * 2);
    out[k] = found.unwrap_or_default();
    out[k + 1] = x.iter().position(|v| *v == n).map_or(-1, |at| at as i32);
    out[k + 2] = x.first().unwrap_or_else(|| panic!("{n} is nothing")) + x.get(1).map_or_else(|| 1, |v| *v);
    out[k + 3] = (Pair { a: n, b: 2 }).map(|v| v * 5) + (Pair { a: n, b: 2 }).filter(1) as i32;
}

#[test]
fn options_call_functions() {
    for n in [-4, 0, 6] {
        for x in [&[9, -3, 6, 0][..], &[-7]] {
            differ!(with_functions, (1, 1), [x, n], vec![0i32; 48]);
        }
    }
}

#[kernel]
fn without(x: &[i32], n: i32, out: &mut [i32]) {
    let (some, none) = (x.first().copied(), x.get(99).copied());
    out[0] = some.or(Some(n)).unwrap() * 10 + none.or(Some(n)).unwrap();
    out[1] = some.xor(none).unwrap_or(-1) + some.xor(some).is_none() as i32;
    out[2] = some.and(Some(2u8)).map_or(0, |v| v as i32) + none.and(Some(1)).unwrap_or(n);
    out[3] = match some.zip(x.last()) {
        Some((a, b)) => a * 10 + *b,
        None => 0,
    };
    out[4] = none.zip(some).is_none() as i32;
    let mut left = some;
    while let Some(v) = left.take() {
        out[5] = out[5].wrapping_mul(10).wrapping_add(v);
        left = if v > 0 { Some(v - 1) } else { None };
    }
    let mut held = none;
    out[6] = held.replace(n).is_none() as i32 + held.unwrap() * 2;
    if let Some(v) = held.as_mut() {
        *v += 5;
    }
    out[7] = held.as_ref().map_or(0, |v| *v);
    let nested = if n > 0 { Some(some) } else { None };
    out[8] = nested.flatten().unwrap_or(-9);
    let mut pair = (Some(3), 1.5f32);
    out[9] = pair.0.take().unwrap() + pair.0.is_none() as i32;
    if let Some(a) = some
        && let Some(b) = x.get(1)
        && a > *b
    {
        out[10] = a - b;
    }
}

#[test]
fn options_without_functions() {
    for n in [0, 6] {
        for x in [&[9, -3, 6][..], &[2]] {
            differ!(without, (1, 1), [x, n], vec![0i32; 11]);
        }
    }
}

/// A discriminant for each; `None` is 0.
#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(i8)]
enum Level {
    Low = 3,
    High = 9,
}

#[device]
impl Default for Level {
    fn default() -> Self {
        Level::High
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Scale {
    by: i32,
    levels: [u8; 2],
}

#[device]
impl Default for Scale {
    fn default() -> Self {
        Scale { by: 7, levels: [1, 2] }
    }
}

#[kernel]
fn defaults(a: Option<i32>, level: Option<u8>, out: &mut [i32]) {
    let levels = level.map(|level| if level > 1 { Level::High } else { Level::Low });
    out[0] = levels.unwrap_or_default() as i32;
    let scale = a.map(|by| Scale { by, levels: [2, 3] }).unwrap_or_default();
    out[1] = scale.by * 100 + scale.levels[0] as i32;
    let (pair, list) = (a.map(|v| (v, level)), a.map(|v| [v as f32; 3]));
    out[2] = pair.unwrap_or_default().0 + pair.unwrap_or_default().1.is_some() as i32;
    out[3] = list.unwrap_or_default()[1] as i32 + level.unwrap_or_default() as i32;
    out[4] = Level::default() as i32 + <Scale>::default().by + Scale::default().levels[0] as i32;
}

#[test]
fn defaults_are_the_types_own() {
    for a in [None, Some(5)] {
        for level in [None, Some(1), Some(2)] {
            differ!(defaults, (1, 1), [a, level], vec![0i32; 5]);
        }
    }
}

/// The result of each method, and the number of calls of its functions.
#[kernel]
fn each(a: Option<i32>, b: Option<i32>, n: i32, out: &mut [i32]) {
    let mut calls = 0;
    let mut k = 0;
    let mut tell = |v: i32, calls: i32| {
        out[k] = v;
        out[k + 1] = calls;
        k += 2;
    };
    let bits = |held: Option<i32>| held.map_or(-77, |v| v);
    tell(a.is_some() as i32 + 2 * a.is_none() as i32, calls);
    tell(
        a.is_some_and(|v| {
            calls += 1;
            v > n
        }) as i32,
        calls,
    );
    tell(
        a.is_none_or(|v| {
            calls += 1;
            v > n
        }) as i32,
        calls,
    );
    tell(
        a.as_ref().map_or(-1, |v| {
            calls += 1;
            *v
        }),
        calls,
    );
    tell(
        a.unwrap_or({
            calls += 1;
            n
        }),
        calls,
    );
    tell(
        a.unwrap_or_else(|| {
            calls += 1;
            n
        }),
        calls,
    );
    tell(a.unwrap_or_default(), calls);
    tell(
        bits(a.map(|v| {
            calls += 1;
            v ^ n
        })),
        calls,
    );
    tell(bits(a.inspect(|v| calls += *v & 3)), calls);
    tell(
        a.map_or(
            {
                calls += 4;
                n
            },
            |v| {
                calls += 1;
                v - n
            },
        ),
        calls,
    );
    tell(
        a.map_or_else(
            || n - 5,
            |v| {
                calls += 2;
                v + 1
            },
        ),
        calls,
    );
    tell(
        bits(a.and({
            calls += 1;
            b
        })),
        calls,
    );
    tell(
        bits(a.and_then(|v| {
            calls += 1;
            if v > n { b } else { None }
        })),
        calls,
    );
    tell(
        bits(a.filter(|v| {
            calls += 1;
            *v > n
        })),
        calls,
    );
    tell(
        bits(a.or({
            calls += 1;
            b
        })),
        calls,
    );
    tell(
        bits(a.or_else(|| {
            calls += 1;
            b
        })),
        calls,
    );
    tell(bits(a.xor(b)), calls);
    tell(a.zip(b).map_or(-1, |(a, b)| a * 10 + b), calls);
    let (left, right) = a.zip(b).unzip();
    tell(bits(left) + bits(right), calls);
    tell(bits(Some(a).flatten()) + bits(if n > 0 { Some(b) } else { None }.flatten()), calls);
    let mut held = a;
    tell(bits(held.take()) + 3 * bits(held), calls);
    held = b;
    tell(bits(held.replace(n)) + 3 * bits(held), calls);
    *held.insert(n + 1) += 2;
    tell(bits(held), calls);
    held = a;
    *held.get_or_insert({
        calls += 1;
        n
    }) += 1;
    tell(bits(held), calls);
    held = b;
    *held.get_or_insert_with(|| {
        calls += 1;
        n
    }) *= 2;
    tell(bits(held), calls);
    held = a;
    tell(
        bits(held.take_if(|v| {
            calls += 1;
            *v += 1;
            *v > n
        })) + 5 * bits(held),
        calls,
    );
    if let Some(v) = held.as_mut() {
        *v -= 3;
    }
    tell(bits(held.as_mut().copied()) + bits(held.as_ref().cloned()), calls);
    let mut list = a.map(|v| [v, n]);
    list.get_or_insert([4, 5])[1] += 1;
    tell(list.take().unwrap()[1], list.is_none() as i32);
}

#[test]
fn each_method_is_the_standard_librarys() {
    let held = [None, Some(0), Some(-3), Some(8)];
    for a in held {
        for b in held {
            for n in [-2, 0, 3] {
                differ!(each, (1, 1), [a, b, n], vec![0i32; 64]);
            }
        }
    }
}

/// A function that takes and returns the first number of a row.
#[device]
fn first_of<'a>(row: &mut Option<&'a [i32]>) -> i32 {
    match row.take() {
        Some(row) => row[0],
        None => -1,
    }
}

#[kernel]
fn references(x: &[i32], n: usize, out: &mut [i32]) {
    let local = [4, 5, 6];
    let (mut row, mut pair) = (if n < 4 { Some(&x[n..]) } else { None }, (Some(&local[..]), n as i32));
    out[0] = first_of(&mut row) * 10 + first_of(&mut row);
    out[1] = pair.0.take().map_or(0, |row| row.iter().sum()) + pair.0.is_none() as i32 + pair.1;
    let counted = &mut pair.1;
    *counted += 3;
    out[2] = pair.1;
    let last = x.last().or(x.first()).filter(|last| **last > 2);
    out[3] = match last {
        None => None,
        Some(last) => Some(last),
    }
    .map_or(-1, |last| *last);
    let chosen = if n > 1 { None } else { Some(&local) };
    out[4] = chosen.unwrap_or(&[7, 8, 9])[1];
    let (mut a, mut b) = (n as i32, 20);
    let larger = if n > 1 { &mut a } else { &mut b };
    *larger += 1;
    out[5] = a * 100 + b;
    let mut best = Some(&mut a);
    if let Some(best) = best.take() {
        *best *= 2;
    }
    out[6] = a;
    if let Some(first) = out.first_mut().filter(|first| **first > 0) {
        *first += 1;
    }
}

#[test]
fn options_hold_references() {
    for n in [0, 2, 9] {
        differ!(references, (1, 1), [&[3, -1, 4, 1][..], n], vec![0i32; 7]);
    }
}

/// The first byte that is divisible by a number, and the bytes after it.
#[device]
fn found(bytes: &[u8], by: u8) -> Option<(u32, &[u8])> {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] % by == 0 {
            return Some((at as u32, &bytes[at + 1..]));
        }
        at += 1;
    }
    None
}

#[device]
fn first_even(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match bytes {
        [] => None,
        [first, rest @ ..] if first % 2 == 0 => Some((0, rest)),
        [_, rest @ ..] => found(rest, 2).map(|(at, rest)| (at + 1, rest)),
    }
}

#[kernel]
fn bytes_found(x: &[u8], n: u8, out: &mut [i32]) {
    let local = [3, n, 8, 5, n + 1];
    let value = |found: Option<(u32, &[u8])>| match found {
        Some((at, rest)) => at as i32 * 100 + rest.iter().map(|v| *v as i32).sum::<i32>(),
        None => -1,
    };
    out[0] = value(found(&local, 5));
    out[1] = value(found(&local, 11));
    out[2] = value(first_even(&local));
    out[3] = value(first_even(x));
    let branch = if n > 4 { found(&local, 4) } else { None };
    out[4] = value(branch);
    let one = match n {
        0 => None,
        1 => first_even(&local[..1]),
        _ => first_even(&local[1..]),
    };
    out[5] = value(one);
}

#[test]
fn functions_find_parts_of_local_arrays() {
    for n in [0, 1, 4, 7] {
        for x in [&[][..], &[5, 3], &[9, 4, 7]] {
            differ!(bytes_found, (1, 1), [x, n], vec![0i32; 6]);
        }
    }
}

#[kernel]
fn views(x: &[i32], n: usize, out: &mut [i32]) {
    let made = |n: usize| ArrayView2::from_shape((2, n), x);
    out[0] = match made(n) {
        Err(_) => -1,
        Ok(view) => view[[1, 0]],
    };
    out[1] = match made(n) {
        Result::Ok(view) => view[[0, 0]],
        Result::Err(..) => -2,
    };
    out[2] = if let Err(_) = made(n) { 1 } else { 2 };
    if let std::result::Result::Err { .. } = made(n) {
        out[3] = 3;
    }
    use std::result::Result::Err as Not;
    if let Not(_) = made(n) {
        out[5] = 4;
    }
    if let (Not { 0: _ }, 2..) = (made(n), n) {
        out[5] += 5;
    }
    let Ok(view) = made(n) else { return };
    out[4] = view[[1, n - 1]];
}

#[test]
fn views_are_made_or_not() {
    for n in [1, 2, 3] {
        differ!(views, (1, 1), [&[3, -1, 4, 1][..], n], vec![0i32; 6]);
    }
}

#[kernel]
fn otherwise(x: &[i32], out: &mut [i32]) {
    out[0] = x.get(5).copied().unwrap_or_else(|| panic!("{} elements", x.len()));
}

#[test]
fn unwrapping_nothing_panics() {
    if !super::in_child_process("language::options::unwrapping_nothing_panics") {
        return;
    }
    otherwise::launch((1, 1), &super::on_device(&[1, 2]), &mut super::on_device(&[0])).unwrap();
    let error = super::context().synchronize().unwrap_err().to_string();
    assert!(error.contains("2 elements"), "{error}");
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[derived(Default, PartialEq)]
struct Derived<T> {
    of: [T; 2],
    part: (bool, Option<u8>),
    state: State,
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[derived(PartialEq, Default)]
enum State {
    At(u32),
    #[default]
    Nowhere,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[derived(Default)]
#[repr(u8)]
enum Step {
    One = 1,
    #[default]
    Five = 5,
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[derived(Default)]
struct Steps(Step, Derived<u16>);

#[kernel]
fn derived_defaults(x: &[i32], out: &mut [i32]) {
    let i = cuda_jit::device::grid::<1>();
    let start = Derived { of: [x[i], 3], ..Default::default() };
    let steps = if x[i] > 1 { Some(Steps(Step::One, Default::default())) } else { None }.unwrap_or_default();
    out[i] = start.of[0] + steps.0 as i32 * 10 + steps.1.of[1] as i32 + start.part.1.is_none() as i32 * 1000;
    out[i] += (start == Derived::default()) as i32 * 2000 + (start.state == State::Nowhere) as i32 * 4000;
    out[i] += if let State::At(v) = State::default() { v as i32 } else { 8000 };
}

#[test]
fn defaults_are_derived() {
    differ!(derived_defaults, (1, 3), [&[0i32, 1, 2][..]], vec![0i32; 3]);
}
