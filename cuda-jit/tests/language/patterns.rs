//! Patterns: paths and names mean what rustc resolves them to, and alternatives are tried in order.

#![allow(
    non_upper_case_globals,
    unreachable_patterns,
    unused_variables,
    irrefutable_let_patterns,
    reason = "names that mislead are the point"
)]

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, Num, device, device_fn, kernel};

use super::{context, differ, on_device, on_host};

#[derive(Clone, Copy, Debug, DeviceType, PartialEq)]
#[repr(u8)]
enum Light {
    Red = 1,
    Amber = 2,
    Green = 7,
}

mod short {
    pub(super) use super::Light::{Amber as a, Green as GO, Red as R};

    pub(super) const least: u32 = 4;
    pub(super) const MOST: u32 = 9;
}

use Light as Lamp;
use Some as Yes;
use short::{GO, MOST, R, a, least};

type Maybe = Option<u32>;

#[device]
fn light(number: u32) -> Light {
    match number % 3 {
        0 => Light::Red,
        1 => Light::Amber,
        _ => Light::Green,
    }
}

#[device]
fn maybe(number: u32) -> Option<u32> {
    if number % 3 == 0 { None } else { Some(number) }
}

fn numbers() -> Vec<u32> {
    (0..12).collect()
}

#[kernel]
fn variants_by_path(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let value = maybe(x[i]);
        let mut sum = 0;
        if let Option::Some(_) = value {
            sum += 1;
        }
        if let Yes(_) = value {
            sum += 10;
        }
        if let Some { 0: _ } = value {
            sum += 100;
        }
        if let Some { .. } = value {
            sum += 1000;
        }
        if let None {} = value {
            sum += 10_000;
        }
        if let Maybe::None { .. } = value {
            sum += 100_000;
        }
        if let Maybe::Some(3 | 4 | 5) = value {
            sum += 1_000_000;
        }
        if let Option::None = value {
            sum += 10_000_000;
        }
        if let Option::<u32>::Some { 0: n @ 1..=4 } = &value {
            sum += 100_000_000 * *n;
        }
        out[i] = sum;
    }
}

#[test]
fn variants_are_what_their_paths_name() {
    differ!(variants_by_path, (1, 32), [&numbers()[..]], vec![0_u32; 12]);
}

#[kernel]
fn variants_as_structs(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        out[i] = match light(x[i]) {
            Light::Red {} => 1,
            Lamp::Amber { .. } => 2,
            Light::Green { .. } => 3,
        };
    }
}

#[test]
fn variants_with_struct_syntax_are_distinct() {
    differ!(variants_as_structs, (1, 32), [&numbers()[..]], vec![0_u32; 12]);
}

/// Constants and variants with lower-case and one-letter names, next to names that bind.
#[kernel]
fn names(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let by_name = match light(x[i]) {
            R => 1,
            a => 2 + (a == Light::Amber) as u32,
            GO => 4,
        };
        let by_reference = match &light(x[i]) {
            GO => 10,
            a => 20,
            R if R as u32 == 1 => 30,
            other => *other as u32,
        };
        let number = match (x[i], x[i] % 2) {
            (least, _) => 100 + least,
            (MOST, n) | (n, 0) => 200 + n,
            (n, most) => 300 + n + most,
        };
        let within = match maybe(x[i]) {
            Some(least | MOST) => 1000,
            Some(least..=MOST) => 2000,
            Some(n) => 3000 + n,
            None => 4000,
        };
        let n = 'found: {
            let least = x[i] else { break 'found 50_000 };
            60_000 + least
        };
        let R = light(x[i]) else {
            out[i] = by_name + by_reference + number + within + n;
            return;
        };
        out[i] = by_name + by_reference + number + within + n + 100_000 * R as u32;
    }
}

#[test]
fn names_are_constants_where_rustc_says_so() {
    differ!(names, (1, 32), [&numbers()[..]], vec![0_u32; 12]);
}

#[derive(Clone, Copy, Debug, DeviceType, PartialEq, Eq)]
#[repr(C)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Clone, Copy, Debug, DeviceType, PartialEq, Eq)]
struct Unit;

const ORIGIN: Point = Point { x: 1, y: -1 };
const PAIR: (u32, Option<u32>) = (2, Some(3));
const NOTHING: (Option<u32>, u32) = (None, 5);
const BYTES: [u8; 3] = *b"abc";
const ZERO: f32 = 0.0;
const KNOWN: &Point = &Point { x: 2, y: 2 };

#[kernel]
fn constants_of_types(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    if i < x.len() {
        let n = x[i];
        let mut sum = match (Point { x: n, y: -n }) {
            ORIGIN => 1,
            Point { x: 2.., .. } => 2,
            _ => 3,
        };
        sum += match (n as u32, Some(3)) {
            PAIR => 10,
            (_, Some(_)) => 20,
            (_, None) => 30,
        };
        sum += match (if n == 2 { Some(n as u32) } else { None }, 5) {
            NOTHING => 100,
            _ => 200,
        };
        sum += match [b'a', b'a' + n as u8, b'c'] {
            BYTES => 1000,
            [_, b'c', ..] => 2000,
            _ => 3000,
        };
        sum += match (n - 1) as f32 * -1.0 {
            ZERO => 10_000 + (ZERO.to_bits() >> 31) as i32,
            _ => 20_000,
        };
        sum += match &(Point { x: n, y: 2 }) {
            KNOWN => 100_000,
            _ => 200_000,
        };
        if let Unit = Unit {
            sum += 1_000_000;
        }
        let Unit = Unit;
        out[i] = sum;
    }
}

#[test]
fn constants_of_any_type_are_compared_part_by_part() {
    let x = [0, 1, 2, 3];
    differ!(constants_of_types, (1, 32), [&x[..]], vec![0_i32; 4]);
}

/// Names that bind have any type, also where a constant could be named.
#[kernel]
fn bound(x: &[u32], y: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let mut value = maybe(x[i]);
        if let Some(n) = &mut value {
            *n += 5;
        }
        let Some((_, part)) = x.split_first() else { return };
        let longest = match (x.get(i), y.get(i)) {
            (Some(first), Some(_)) => first,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => &x[0],
        };
        let later = None;
        let mut sum = 0;
        if let Some(number) = later.or(value) {
            sum += number;
        }
        out[i] = sum + part[0] + *longest;
    }
}

#[test]
fn bindings_have_any_type() {
    let x = numbers();
    differ!(bound, (1, 32), [&x[..], &x[..5]], vec![0_u32; 12]);
}

#[kernel]
fn guards_of_alternatives(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let mut asked = 0;
        let mut count = |n: u32| {
            asked = asked * 10 + n;
            n == 7
        };
        let arm = match (x[i] % 2, x[i] / 2) {
            (0 | _, 1 | _) if count(1) => 1,
            (n, 2) | (2, n) | (_, n) if count(n) => n,
            (0, _) | (_, 0) if count(5) => 3,
            (_, 3 | 4 | 3) if count(6) => 5,
            (_, 5 | 6) if count(8) => 6,
            _ => 4,
        };
        out[i] = asked * 10 + arm;
    }
}

#[test]
fn guards_are_asked_for_each_alternative() {
    let x: Vec<u32> = (0..16).collect();
    differ!(guards_of_alternatives, (1, 32), [&x[..]], vec![0_u32; 16]);
}

#[derive(Clone, Copy, DeviceType)]
enum Perhaps<T: Copy> {
    Value(T),
    Pair { first: T, second: T },
    Nothing,
}

#[derive(Clone, Copy, DeviceType)]
struct Scaled<T: Num, const N: usize>([T; N])
where
    T: PartialOrd;

#[device]
impl<T: Copy + PartialOrd> Perhaps<T> {
    fn largest(self) -> Option<T> {
        match self {
            Perhaps::Value(value) => Some(value),
            Perhaps::Pair { first, second } if first > second => Some(first),
            Perhaps::Pair { second, .. } => Some(second),
            Perhaps::Nothing => None,
        }
    }
}

#[kernel]
fn bounded_declarations(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let perhaps = match x[i] % 3 {
            0 => Perhaps::Nothing,
            1 => Perhaps::Value(x[i]),
            _ => Perhaps::Pair { first: x[i], second: 5 },
        };
        out[i] = matches!(perhaps, Perhaps::Value(value) if value > 1) as u32 + perhaps.largest().unwrap_or(100) * 2;
        let scaled = if x[i] > 3 { Some(Scaled([x[i], 2])) } else { None };
        if let Some(Scaled([first, ..])) = scaled {
            out[i] += first * 1000;
        }
    }
}

#[test]
fn patterns_of_generic_types_whose_declarations_have_bounds() {
    let x: Vec<u32> = (0..8).collect();
    differ!(bounded_declarations, (1, 8), [&x[..]], vec![0_u32; 8]);
}

#[kernel]
fn guards_that_bind(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let value = x[i];
        let mut asked = 0;
        let mut lookup = |at: usize| {
            asked += 1;
            x.get(at).copied()
        };
        let found = match x.len() {
            n if let Some(last) = lookup(n - 1) => last,
            _ => 0,
        };
        let shadowed = match x.get(1) {
            Some(v)
                if let Some(v) = x.get(*v as usize)
                    && *v > value =>
            {
                *v
            }
            Some(v)
                if let 2 | 3 = *v
                    && value > 1 =>
            {
                50 + *v
            }
            _ => 7,
        };
        let of_alternatives = match (value, x[1]) {
            (p, q) | (q, p)
                if let Some(difference) = q.checked_sub(p)
                    && difference > 1 =>
            {
                difference
            }
            _ if value > 3
                && let Some(first) = lookup(0) =>
            {
                first
            }
            _ => 1,
        };
        let always = match value {
            0 => 1,
            n if let twice = n * 2
                && twice > 4 =>
            {
                twice
            }
            n => n,
        };
        out[i] = found + 100 * shadowed + 10_000 * of_alternatives + 1_000_000 * always + 100_000_000 * asked;
    }
}

#[test]
fn guards_bind_names_of_the_arm() {
    let x: Vec<u32> = (0..16).map(|n| n * 5 % 16).collect();
    differ!(guards_that_bind, (1, 32), [&x[..]], vec![0_u32; 16]);
}

#[kernel]
fn alternatives(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let value = maybe(x[i]);
        let pair = (value, maybe(x[i] + 1));
        let mut sum = match pair {
            (Some(n @ (1 | 4)), None | Some(2)) | (None, Some(n)) => n,
            (Some(n), _) | (_, Some(n)) => 100 + n,
            _ => 200,
        };
        if let (Some(n), None) | (None, Some(n)) = pair {
            sum += 1000 * n;
        }
        let ((0 | 3, n) | (n, _)) = (x[i], 7);
        sum += 100_000 * n;
        let ((7, mut k) | (mut k, _)) = (n, 2);
        while let (1.., 2 | 3) | (2 | 4, _) = (k, k) {
            k -= 1;
            sum += 10_000_000;
        }
        let (Light::Red | Light::Amber | Light::Green) = light(n);
        let either = |((1, n) | (n, _)): (u32, u32)| n + 1;
        sum += either((1, x[i])) + either((x[i], 1));
        for (Some(n), _) | (None, n) in [(value, 3)] {
            sum += n;
        }
        out[i] = sum;
    }
}

#[test]
fn alternatives_bind_names_anywhere() {
    differ!(alternatives, (1, 32), [&numbers()[..]], vec![0_u32; 12]);
}

#[kernel]
fn late(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let (first, second);
        let (third, _): (u32, f32);
        if x[i] % 2 == 0 {
            (first, second) = (x[i], 3_u8);
            third = 1;
        } else {
            first = 10 * x[i];
            (third, second) = (x[i], 5);
        }
        out[i] = first + second as u32 + third;
    }
}

#[test]
fn several_names_are_declared_without_a_value() {
    differ!(late, (1, 32), [&numbers()[..]], vec![0_u32; 12]);
}

#[kernel]
fn mapped<F: Fn(u32) -> u32>(f: F, x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        out[i] = f(x[i]);
    }
}

#[test]
fn closures_of_a_launch_have_such_patterns_too() {
    let (x, k) = (numbers(), 3);
    let f = device_fn!(|n: u32| match (maybe(n), light(n)) {
        (Some(least), R | a) => 1,
        (Some(least | MOST), _) => 2 * k,
        (Some(other), GO) => other + k,
        (Option::None, Light::Red { .. }) | (None, _) => 5,
        (Some(n), _) => n,
    });
    let (input, mut out) = (on_device(&x), on_device(&[0; 12]));
    let _ = context();
    mapped::launch((1, 32), f, &input, &mut out).expect("it launches");
    let host: Vec<u32> = x.iter().map(|&n| (f.host())(n)).collect();
    assert_eq!(on_host(&out), host);
}

/// A constant in an inner block is visible only there.
#[kernel]
fn scopes(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let inner = {
            const limit: u32 = 6;
            match x[i] {
                limit => 1,
                other => other,
            }
        };
        let outer = match x[i] {
            limit => limit + 100,
        };
        out[i] = 1000 * inner + outer;
    }
}

#[test]
fn constants_of_a_block_are_constants_in_it() {
    differ!(scopes, (1, 32), [&numbers()[..]], vec![0_u32; 12]);
}

#[kernel]
fn typed_patterns(x: &[u8], out: &mut [i64]) {
    let (row, (mut b, c)): (&[u8], (u8, i64)) = (&[3, 4], (250, -1));
    b = b.wrapping_add(x[0]);
    let [d, e]: [u16; 2] = [65_535, 1];
    out[0] = row.len() as i64 * 1000 + b as i64 + c;
    out[1] = d.wrapping_add(e) as i64;
}

#[test]
fn patterns_have_the_types_that_are_written() {
    differ!(typed_patterns, (1, 1), [&[9u8][..]], vec![0i64; 2]);
}
