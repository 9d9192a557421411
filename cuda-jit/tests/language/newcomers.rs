//! Programs as somebody writes them who knows Rust and Numba and has not read the book.

use std::ops::Add;

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, ValueType, device, kernel};

use super::differ;

const X: [i32; 8] = [3, 1, 4, 1, 5, 9, 2, 7];

#[device]
trait Norm {
    fn norm(self) -> f32;
}
#[device]
impl Norm for f32 {
    fn norm(self) -> f32 {
        self.abs()
    }
}
#[device]
impl Norm for [f32; 2] {
    fn norm(self) -> f32 {
        (self[0] * self[0] + self[1] * self[1]).sqrt()
    }
}
#[device]
fn is_long<T: Norm>(v: T) -> bool {
    v.norm() > 2.0
}
#[device]
fn first(x: &[i32], v: i32) -> Option<usize> {
    for (i, &y) in x.iter().enumerate() {
        if y == v {
            return Some(i);
        }
    }
    None
}
#[device]
fn largest<T: PartialOrd + Copy>(x: &[T]) -> Option<T> {
    let mut items = x.iter();
    let mut best = *items.next()?;
    for v in items {
        if *v > best {
            best = *v;
        }
    }
    Some(best)
}

#[kernel]
fn helpers(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let n = x.len() as i32;
    let v = x[i];
    let v = v as f32;
    out[i] = is_long(v) as i64 + is_long([v, 1.0]) as i64 * 10 + first(x, 5).unwrap_or(99) as i64 * 100;
    out[i] += first(x, n).map_or(-1, |at| at as i64) * 10_000 + largest(&x[i..]).unwrap() as i64 * 1_000_000;
    out[i] += largest(&[1.5_f32, 2.5]).map_or(0, |v| v as i64) * 100_000_000;
}

#[kernel]
fn captures(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let half = &x[..4];
    let quarter = &half[1..3];
    let k = x[i];
    let f = move |v: i32| v * k + quarter.len() as i32;
    let mut counter = {
        let mut n = 0;
        move || {
            n += 1;
            n
        }
    };
    out[i] = (f(quarter[1]) + counter() * 1000 + counter() * 10_000) as i64;
}

#[kernel]
fn jumps(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut j = 0;
    let larger = loop {
        if j == x.len() {
            break None;
        }
        if x[j] > x[i] {
            break Some(j);
        }
        j += 1;
    };
    let nine = 'found: {
        for (j, &y) in x.iter().enumerate() {
            if y == 9 {
                break 'found j as i64;
            }
        }
        -1
    };
    let rows = [[x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]]];
    let mut place = 0;
    'rows: for (r, row) in rows.iter().enumerate() {
        for (c, v) in row.iter().enumerate() {
            if *v == x[i] {
                place = r * 10 + c;
                break 'rows;
            }
        }
    }
    out[i] = larger.map_or(-1, |at| at as i64) + nine * 100 + place as i64 * 10_000;
}

#[derive(Clone, Copy, DeviceType)]
enum Op {
    Increment,
    Scale(i32),
    Affine { a: i32, b: i32 },
}
#[device]
impl Op {
    fn run(self, v: i32) -> i32 {
        match self {
            Op::Increment => v + 1,
            Op::Scale(k) => v * k,
            Op::Affine { a, b } => a * v + b,
        }
    }
}
#[derive(Clone, Copy, DeviceType)]
#[derived(PartialEq, PartialOrd, Eq, Ord)]
struct Key {
    a: i32,
    b: u8,
}

#[kernel]
fn own_types(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let ops = [Op::Increment, Op::Scale(3), Op::Affine { a: 2, b: x[i] }];
    let mut v = x[i];
    for op in ops.iter().cycle().take(i + 2) {
        v = op.run(v);
    }
    let key = Key { a: x[i], b: i as u8 };
    let best = x.iter().enumerate().map(|(j, v)| Key { a: *v, b: j as u8 }).max().unwrap();
    out[i] = v as i64 + std::cmp::max(key, Key { a: 3, b: 0 }).a as i64 * 100_000 + best.b as i64 * 10_000_000;
}

#[kernel]
fn monotonic_stack(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut stack = [0usize; 8];
    let mut top = 0;
    for (j, v) in x[..=i].iter().enumerate() {
        while top > 0 && x[stack[top - 1]] < *v {
            top -= 1;
        }
        stack[top] = j;
        top += 1;
    }
    out[i] = stack[..top].iter().fold(0, |a, &at| a * 10 + at as i64);
}

#[device]
fn ratio(a: i32, b: i32) -> Result<i32, u8> {
    if b == 0 { Err(1) } else { Ok(a / b) }
}
#[device]
fn ratios(x: &[i32]) -> Result<i32, u8> {
    let mut sum = 0;
    for pair in x.windows(2) {
        sum += ratio(pair[0] * 10, pair[1] - 1)?;
    }
    Ok(sum)
}

#[kernel]
fn errors(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = match ratios(&x[4..5 + i % 4]) {
        Ok(v) => v as i64,
        Err(_) => -1,
    } + ratios(x).map_or_else(|e| -(e as i64) * 1000, |v| v as i64);
}

/// A trait with a constant of its own type, which only the host implements.
trait Unit {
    const ONE: Self;
}
impl Unit for i64 {
    const ONE: i64 = 1;
}
#[device]
fn after<T: ValueType + Unit + Add<Output = T>>(v: T) -> T {
    v + T::ONE
}
#[device]
fn units<T: Unit + ValueType>() -> [T; 2] {
    [T::ONE; 2]
}

#[kernel]
fn constants_of_a_trait(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = after(x[i] as i64) + units::<i64>()[1] * 10 + <i64 as Unit>::ONE * 100;
}

#[test]
fn programs_of_newcomers() {
    differ!(helpers, (1, 8), [&X[..]], vec![0i64; 8]);
    differ!(captures, (1, 8), [&X[..]], vec![0i64; 8]);
    differ!(jumps, (1, 8), [&X[..]], vec![0i64; 8]);
    differ!(own_types, (1, 8), [&X[..]], vec![0i64; 8]);
    differ!(monotonic_stack, (1, 8), [&X[..]], vec![0i64; 8]);
    differ!(errors, (1, 8), [&X[..]], vec![0i64; 8]);
    differ!(constants_of_a_trait, (1, 8), [&X[..]], vec![0i64; 8]);
}

#[test]
fn shifted_literals_have_the_types_that_rustc_infers() {
    #[kernel]
    fn program(x: &[u32], out: &mut [u64]) {
        let i = grid::<1>();
        let n = x[i];
        let (word, mask) = (0usize, 1 << n);
        let mut words = [5u64, n as u64];
        words[word] |= mask;
        let (low, high) = (1 >> n, 3 + (4 << n));
        words[1] ^= low;
        words[0] ^= high;
        let nested = ((1 << n, [2 << n]), n);
        out[i] = words[0] ^ words[1] << 1 ^ nested.0.0 ^ nested.0.1[0];
    }
    differ!(program, (1, 5), [&[0u32, 1, 5, 31, 40][..]], vec![0u64; 5]);
}
