//! Functions and methods over any iterator.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

#[device]
fn total<I: Iterator<Item = u32>>(all: I) -> u32 {
    let mut sum = 0;
    for value in all {
        sum += value;
    }
    sum
}

#[device]
fn largest<I>(all: I) -> Option<I::Item>
where
    I: Iterator,
    I::Item: PartialOrd + Copy,
{
    let mut best = None;
    for value in all {
        best = match best {
            None => Some(value),
            Some(known) if value > known => Some(value),
            known => known,
        };
    }
    best
}

#[device]
fn dot(x: impl Iterator<Item = f32>, y: impl Iterator<Item = f32>) -> f32 {
    x.zip(y).map(|(x, y)| x * y).sum()
}

#[device]
fn first_two<I: Iterator<Item = u32>>(all: &mut I) -> u32 {
    all.next().unwrap_or(0) * 10 + all.next().unwrap_or(0)
}

#[device]
fn each<'a, I: IntoIterator<Item = &'a u32>>(all: I) -> u32 {
    all.into_iter().copied().map(|value| value ^ 5).sum()
}

#[device]
fn backwards<I: DoubleEndedIterator<Item = u32> + ExactSizeIterator>(all: I) -> u32 {
    let count = all.len() as u32;
    all.rev().fold(count, |hash, value| hash.wrapping_mul(31).wrapping_add(value))
}

#[device]
fn applied<I: Iterator, F: Fn(I::Item) -> u32>(all: I, f: F) -> u32 {
    all.map(f).sum()
}

#[device]
fn outer<I: Iterator<Item = u32> + Clone>(all: I) -> u32 {
    inner(all.clone().map(|value| value + 1)) ^ inner(all)
}

#[device]
fn inner<I: Iterator<Item = u32>>(all: I) -> u32 {
    let found: Option<I::Item> = all.max();
    found.unwrap_or(9)
}

#[kernel]
fn functions(x: &[u32], y: &[f32], out: &mut [u32]) {
    let i = grid::<1>();
    if i >= out.len() {
        return;
    }
    let n = i as u32;
    out[i] = match i {
        0 => total(x.iter().copied()),
        1 => total(0..7),
        2 => total(x.iter().map(|value| value * n + 1).filter(|value| value % 3 != 0)),
        3 => largest(x.iter().copied()).unwrap_or(1),
        4 => dot(y.iter().copied(), x.iter().map(|&value| value as f32)) as u32,
        5 => {
            let mut all = x.iter().copied();
            first_two(&mut all) * 1000 + all.next().unwrap()
        }
        6 => each(x),
        7 => each(&[1, 2, n]),
        8 => backwards(x.iter().copied()),
        9 => backwards(0..n),
        10 => applied(x.iter(), |value| value + n),
        11 => applied(x.windows(2), |pair| pair[0] * pair[1]),
        12 => each(x.iter().skip(2).step_by(2)),
        13 => largest(x.chunks(2).map(|chunk| chunk.iter().sum::<u32>())).unwrap(),
        14 => total(Some(n).into_iter().chain(x.iter().copied())),
        15 => outer(x.iter().copied().skip(1)),
        16 => {
            let mut all = x.iter().copied();
            inner(all.by_ref().take(3)) * 100 + all.next().unwrap_or(77)
        }
        _ => largest(0..n).map_or(77, |value| value),
    };
}

const X: [u32; 9] = [3, 9, 1, 7, 4, 8, 2, 0, 6];

#[test]
fn functions_over_any_iterator() {
    differ!(functions, (1, 18), [&X[..], &[1.5_f32; 9][..]], [0_u32; 18]);
}

/// The numbers of Fibonacci below 1000.
#[derive(Clone, Copy, DeviceType)]
struct Fibonacci(u32, u32);

#[device]
impl Iterator for Fibonacci {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let result = self.0;
        if result > 1000 {
            return None;
        }
        *self = Fibonacci(self.1, self.0 + self.1);
        Some(result)
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Sum {
    sum: u32,
    count: u32,
}

#[device]
impl Sum {
    fn extend<I>(&mut self, all: I)
    where
        I: IntoIterator<Item = u32>,
    {
        for value in all {
            self.sum = self.sum.wrapping_add(value);
            self.count += 1;
        }
    }

    fn of(all: impl Iterator<Item = u32>) -> Self {
        let mut sum = Sum { sum: 0, count: 0 };
        sum.extend(all);
        sum
    }
}

#[device]
trait Folds {
    fn folded<I: Iterator<Item = u32>>(&self, all: I) -> u32;
}

#[device]
impl Folds for Sum {
    fn folded<I: Iterator<Item = u32>>(&self, all: I) -> u32 {
        all.fold(self.sum, |hash, value| hash ^ value)
    }
}

#[kernel]
fn methods(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i >= out.len() {
        return;
    }
    let n = i as u32;
    let fold = Sum { sum: 5, count: 0 };
    out[i] = match i {
        0 => {
            let mut sum = Sum::of(x.iter().copied());
            sum.extend([1, 2, n]);
            sum.extend(0..n);
            sum.extend(Fibonacci(0, 1));
            sum.sum * 100 + sum.count
        }
        1 => fold.folded(x.iter().map(|value| value + n)),
        2 => fold.folded(Fibonacci(1, 2).take_while(|value| *value < 100)),
        3 => outer(Fibonacci(0, 1)),
        4 => {
            let mut all = Fibonacci(0, 1);
            inner(all.by_ref().take(5)) * 1000 + all.next().unwrap()
        }
        _ => Sum::of(0..n).count,
    };
}

#[test]
fn methods_over_any_iterator() {
    differ!(methods, (1, 7), [&X[..]], [0_u32; 7]);
}
