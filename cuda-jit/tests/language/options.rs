//! Methods of `Option`, with closures and functions by name, against the host.

use super::differ;
use cuda_jit::{DeviceType, device, kernel};

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

/// The method of a struct, of a name that `Option` has too.
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

#[kernel]
fn otherwise(x: &[i32], out: &mut [i32]) {
    out[0] = x.get(5).copied().unwrap_or_else(|| panic!("{} elements", x.len()));
}

#[test]
fn panics_in_the_place_of_nothing() {
    if !crate::around::alone("language::options::panics_in_the_place_of_nothing") {
        return;
    }
    otherwise::launch((1, 1), &super::on_device(&[1, 2]), &mut super::on_device(&[0])).unwrap();
    let error = super::context().synchronize().unwrap_err().to_string();
    assert!(error.contains("2 elements"), "{error}");
}
