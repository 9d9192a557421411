//! `impl Trait` as the type of a parameter, and arguments of closures that rustc dereferences.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, ValueType, device, kernel};

/// Things with a weight.
#[device]
trait Weighed {
    fn weight(&self) -> u32;

    /// The weights that satisfy a condition.
    fn counted(&self, other: &impl Weighed, condition: impl Fn(u32) -> bool) -> u32 {
        condition(self.weight()) as u32 * 2 + condition(other.weight()) as u32
    }
}

#[device]
impl Weighed for u32 {
    fn weight(&self) -> u32 {
        self.count_ones()
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Pair<T> {
    first: T,
    second: T,
}

#[device]
impl<T: ValueType + Weighed> Weighed for Pair<T> {
    fn weight(&self) -> u32 {
        self.first.weight() * 3 + self.second.weight()
    }

    fn counted(&self, other: &impl Weighed, condition: impl Fn(u32) -> bool) -> u32 {
        condition(self.weight() + other.weight()) as u32 * 10
    }
}

#[device]
impl<T: Copy> Pair<T> {
    fn mapped<U: Copy>(self, mut f: impl FnMut(T) -> U) -> Pair<U> {
        Pair { first: f(self.first), second: f(self.second) }
    }

    fn merged(self, f: impl FnOnce(T, T) -> T) -> T {
        f(self.first, self.second)
    }
}

#[device]
fn twice(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(f(x))
}

#[device]
fn heaviest(items: &[impl Weighed + Copy], mut seen: impl FnMut(usize)) -> Option<usize> {
    let mut best = None;
    for (k, item) in items.iter().enumerate() {
        seen(k);
        if best.is_none_or(|(_, weight)| item.weight() > weight) {
            best = Some((k, item.weight()));
        }
    }
    best.map(|(k, _)| k)
}

#[device]
fn converted<T: ValueType>(x: impl Into<u64>, of: fn_free::Count, default: T) -> (u64, T) {
    (x.into() + of.0, default)
}

mod fn_free {
    use super::*;

    #[derive(Clone, Copy, DeviceType)]
    pub(super) struct Count(pub(super) u64);
}

#[test]
fn parameters_have_types_that_only_their_bounds_tell() {
    #[kernel]
    fn program(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        let v = x[i];
        let mut order = 0;
        let pair = Pair { first: v, second: v ^ 5 };
        let best = heaviest(&[v, v + 1, 7], |k| order = order * 4 + k as u32 + 1);
        let also = heaviest(&[pair, Pair { first: 1, second: 2 }], |_| order += 100);
        let (sum, kept) = converted(v as u16, fn_free::Count(3), v as f32);
        out[i] = twice(|x| x * 2 + v, 3) ^ order ^ best.unwrap_or(9) as u32 ^ also.map_or(8, |k| k as u32) << 4;
        out[i] += pair.mapped(|v| v as f32 + 0.5).merged(|a, b| a * b) as u32 + sum as u32 + kept as u32;
        out[i] ^= v.counted(&pair, |weight| weight > 3) + pair.counted(&v, |weight| weight % 2 == 0);
        out[i] ^= twice(u32::count_ones, v);
    }
    differ!(program, (1, 6), [&[0u32, 1, 6, 15, 77, 200][..]], vec![0u32; 6]);
}

#[device]
fn counted<T: Copy>(items: &[T], condition: impl Fn(&T) -> bool) -> usize {
    items.iter().filter(|item| condition(item)).count()
}

#[device]
fn each(items: &mut [u32], mut change: impl FnMut(&mut u32, usize)) {
    for (k, item) in items.iter_mut().enumerate() {
        change(item, k);
        change(item, k + 1);
    }
}

#[device]
fn largest(rows: &[[u32; 3]], measure: impl Fn(&[u32]) -> u32) -> u32 {
    rows.iter().map(|row| measure(row)).max().unwrap_or(0)
}

#[device]
fn paired(items: &[u32], f: impl Fn((&u32, usize)) -> u32) -> u32 {
    items.iter().enumerate().filter(|pair| pair.0 > 0).map(|pair| f((pair.1, pair.0))).sum()
}

#[test]
fn arguments_of_closures_are_dereferenced() {
    #[kernel]
    fn program(out: &mut [u32]) {
        let i = grid::<1>();
        let n = i as u32;
        let mut a = [n, n + 1, n * 3, 7];
        each(&mut a, |v, k| *v += k as u32);
        let pairs = [(n, 1), (2, n), (n, n)];
        let found =
            counted(&a, |&v| v > 4) + counted(&pairs, |&(x, y)| x == y) * 10 + counted(&pairs, |(x, y)| x > y) * 100;
        let rows = [[1, n, 2], [n, 5, 6]];
        let mut all = largest(&rows, |row| row.iter().sum()) * 1000;
        all += largest(&rows, |row| if let [first, .., last] = row { first * last } else { 0 });
        let large = |x: &u32| *x > 2;
        for v in a.iter().filter(|x| large(x)) {
            let w = &v;
            all += large(w) as u32 * 7 + large(&w) as u32 + *v;
        }
        out[i] = all * 1000 + found as u32 + paired(&a, |(&v, k)| v * k as u32);
    }
    differ!(program, (1, 8), [], vec![0u32; 8]);
}
