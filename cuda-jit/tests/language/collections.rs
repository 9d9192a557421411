//! Collections of the user's own: generic structs that `for` loops go through, by value and by reference, and loops over
//! `Option` and `Result`.

use super::{differ, expect_same_bits};
use crate::device::{on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::launch::In;
use cuda_jit::{DeviceType, Float, device, kernel};

/// The positions of a number's ones.
#[derive(Clone, Copy, DeviceType)]
struct Ones(u32);

#[device]
impl Iterator for Ones {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let position = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(position)
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Bits(u32);

#[device]
impl IntoIterator for Bits {
    type Item = u32;
    type IntoIter = Ones;

    fn into_iter(self) -> Ones {
        Ones(self.0)
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Bag<T, const N: usize> {
    items: [T; N],
    len: usize,
}

#[device]
impl<T: Copy + Default, const N: usize> Bag<T, N> {
    fn new() -> Self {
        Self { items: [T::default(); N], len: 0 }
    }

    fn push(&mut self, item: T) -> Result<(), T> {
        if self.len == N {
            return Err(item);
        }
        self.items[self.len] = item;
        self.len += 1;
        Ok(())
    }

    fn iter(&self) -> Items<'_, T, N> {
        self.into_iter()
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Items<'a, T, const N: usize> {
    bag: &'a Bag<T, N>,
    at: usize,
}

#[device]
impl<'a, T: Copy, const N: usize> Iterator for Items<'a, T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let found = self.bag.items[..self.bag.len].get(self.at).copied();
        self.at += 1;
        found
    }
}

#[device]
impl<'a, T, const N: usize> IntoIterator for &'a Bag<T, N>
where
    T: Copy,
{
    type Item = T;
    type IntoIter = Items<'a, T, N>;

    fn into_iter(self) -> Self::IntoIter {
        Items { bag: self, at: 0 }
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Popped<T, const N: usize> {
    bag: Bag<T, N>,
}

#[device]
impl<T: Copy, const N: usize> Iterator for Popped<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.bag.len = self.bag.len.checked_sub(1)?;
        Some(self.bag.items[self.bag.len])
    }
}

#[device]
impl<T: Copy, const N: usize> IntoIterator for Bag<T, N> {
    type Item = T;
    type IntoIter = Popped<T, N>;

    fn into_iter(self) -> Popped<T, N> {
        Popped { bag: self }
    }
}

/// The first and the last item.
#[device]
trait Ends<T> {
    fn ends(&self) -> Option<(T, T)>;
}

#[device]
impl<T: Copy, const N: usize> Ends<T> for Bag<T, N> {
    fn ends(&self) -> Option<(T, T)> {
        Some((self.items[0], self.items[self.len.checked_sub(1)?]))
    }
}

#[device]
impl<T, const N: usize> Default for Bag<T, N>
where
    T: Copy + Default,
{
    fn default() -> Self {
        Bag { items: [T::default(); N], len: N }
    }
}

/// Types with parameters that are bounded by a trait alone.
#[device]
trait Area {
    fn area(&self) -> u32;

    fn doubled(&self) -> u32 {
        self.area() * 2
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Square(u32);

#[device]
impl Area for Square {
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Painted<S: Area> {
    shape: S,
    layers: u32,
}

#[device]
impl<S: Area> Painted<S> {
    fn paint(&self) -> u32 {
        (self.shape.area() + self.shape.doubled()) * self.layers
    }

    fn or<O: Area>(&self, other: O) -> u32 {
        if self.layers > 1 { self.paint() } else { other.area() }
    }
}

#[device]
impl<S: Area, const N: usize> Area for [S; N] {
    fn area(&self) -> u32 {
        self.iter().map(|shape| shape.area()).sum()
    }
}

#[device]
impl<A: Area, B: Area> Area for (A, B) {
    fn area(&self) -> u32 {
        self.0.area() * 3 + self.1.area()
    }
}

#[device]
impl<S: Area> Area for Option<S> {
    fn area(&self) -> u32 {
        self.as_ref().map_or(5, |shape| shape.area())
    }
}

#[test]
fn a_trait_is_bound_enough_for_the_parameters_of_types() {
    #[kernel]
    fn program(out: &mut [u32]) {
        let i = grid::<1>();
        let square = Square(i as u32);
        let painted = Painted { shape: ([square, Square(2)], [Some(square), None]), layers: i as u32 };
        out[i] = painted.paint() + painted.or(square) * 10_000;
    }
    differ!(program, (1, 5), [], vec![0u32; 5]);
}

mod hidden {
    use super::*;

    #[derive(Clone, Copy, DeviceType)]
    struct Inner(u32);

    #[derive(Clone, Copy, DeviceType)]
    pub(super) struct Near(u32);

    #[derive(Clone, Copy, DeviceType)]
    pub(super) struct Outer {
        pub(super) number: u32,
    }

    #[device]
    impl Outer {
        fn inner(&self) -> Inner {
            Inner(self.number)
        }

        pub(super) fn near(&self) -> Near {
            Near(self.inner().0 + 1)
        }

        /// Its parameter has the name of one of the macro's.
        pub(super) fn of<S: Copy>(&self, a: S, b: S) -> S {
            if self.inner().0 > 2 { a } else { b }
        }
    }

    #[device]
    impl Near {
        pub(super) fn get(self) -> u32 {
            self.0
        }
    }
}

#[test]
fn private_types_are_results_of_private_methods() {
    #[kernel]
    fn program(out: &mut [u32]) {
        let i = grid::<1>();
        let outer = hidden::Outer { number: i as u32 };
        out[i] = outer.near().get() * 10 + outer.of(1, 2);
    }
    differ!(program, (1, 5), [], vec![0u32; 5]);
}

#[test]
fn traits_are_implemented_for_generic_types() {
    #[kernel]
    fn program(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        let mut bag = Bag::<(u32, bool), 3>::default();
        bag.len = i % 4;
        bag.items[0] = (x[i], true);
        bag.items[i % 3].0 += 5;
        out[i] = match bag.ends() {
            Some((first, last)) => first.0 * 100 + last.0 * 10 + last.1 as u32,
            None => bag.items.len() as u32,
        };
    }
    differ!(program, (1, 8), [&[3u32, 1, 4, 1, 5, 9, 2, 6][..]], vec![0u32; 8]);
}

#[test]
fn loops_convert_types_of_the_user_into_iterators() {
    #[kernel]
    fn program(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        let (v, mut all) = (x[i], i as u32);
        'outer: for one in Bits(v) {
            for other in Bits(v >> 3) {
                if one + other == 9 {
                    continue 'outer;
                }
                all = all.wrapping_mul(31) ^ (one * 7 + other);
            }
        }
        let mut bag = Bag::<u32, 5>::new();
        for one in Bits(v) {
            if let Err(rest) = bag.push(one * one) {
                all += rest;
                break;
            }
        }
        for item in &bag {
            all = all.wrapping_mul(5) + item;
        }
        // the loop has a copy of its own
        for item in bag {
            bag.items[0] += 100;
            all = all.wrapping_mul(3) + item;
        }
        all ^= bag.iter().zip(bag).map(|(a, b)| a * 3 + b).sum::<u32>();
        all ^= [Bits(v), Bits(v ^ 0xff)].into_iter().flatten().map(|one| one * one).sum::<u32>();
        out[i] = all ^ Bits(v).into_iter().skip(1).step_by(2).fold(1, |all: u32, one| all.wrapping_mul(7) + one);
    }
    let x = [0u32, 1, 0x8000_0000, 0xffff_ffff, 0x1234_5678, 0x0f0f_00f1, 6, 0xaaaa_aaaa];
    differ!(program, (1, 8), [&x[..]], vec![0u32; 8]);
}

#[test]
#[expect(for_loops_over_fallibles, reason = "it is Rust")]
fn loops_run_over_options_and_results() {
    #[device]
    fn sum(pairs: [Option<u32>; 3]) -> u32 {
        let mut sum = 0;
        for pair in pairs {
            for value in pair {
                sum += value;
            }
        }
        sum
    }

    #[kernel]
    fn program(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        let (v, mut all) = (x[i], 1);
        let mut found = (v > 2).then_some(v);
        let mut parsed = if v % 2 == 0 { Ok(v) } else { Err(v as u8) };
        for value in found {
            found = None;
            all = all * 3 + value;
        }
        for value in &mut parsed {
            *value += 5;
        }
        for value in &parsed {
            all = all * 5 + *value;
        }
        for value in parsed {
            all = all * 7 + value;
            if value == 9 {
                continue;
            }
            all += 1;
        }
        for value in &mut found {
            *value = 1000;
        }
        out[i] = all + sum([found, Some(v), None]) * 1000;
    }
    differ!(program, (1, 6), [&[0u32, 1, 2, 3, 4, 7][..]], vec![0u32; 6]);
}

/// A struct of references with a type and a number as its parameters.
#[derive(Clone, Copy, DeviceType)]
struct Table<'a, T, const N: usize> {
    rows: &'a [T],
    weights: [T; N],
    scale: T,
}

#[device]
impl<T: Float, const N: usize> Table<'_, T, N> {
    fn at(&self, i: usize) -> T {
        let mut sum = self.scale;
        for (k, weight) in self.weights.iter().enumerate() {
            sum += *weight * self.rows[(i + k) % self.rows.len()];
        }
        sum
    }
}

#[test]
fn structs_with_references_have_type_parameters() {
    #[kernel]
    fn program<T: Float>(table: Table<'_, T, 3>, out: &mut [T]) {
        let i = grid::<1>();
        let doubled = [table.at(i), table.at(i + 1)];
        let inner = Table { rows: &doubled, weights: [table.scale; 2], scale: table.weights[0] };
        out[i] = inner.at(i);
    }
    let rows = [1.0, 2.0, 3.5, 4.0, 5.0];
    let (weights, scale) = ([0.5, 0.25, 2.0], 3.0);
    let mut host = [0.0f64; 6];
    cuda_jit::host::for_each_thread((1, 6), || program(Table { rows: &rows, weights, scale }, &mut host));
    let mut device = on_device(&[0.0f64; 6]);
    program::launch((1, 6), TableArgs { rows: In(&rows[..]), weights, scale }, &mut device).expect("it launches");
    expect_same_bits(&on_host(&device), &host);
}

/// Settings whose default values are not zeros.
#[derive(Clone, Copy, DeviceType)]
#[derived(Default)]
struct Settings {
    bag: Bag<u32, 3>,
    level: Level,
    pair: Option<(u32, bool)>,
}

#[derive(Clone, Copy, PartialEq, DeviceType)]
struct Level(u32);

#[device]
impl Default for Level {
    fn default() -> Self {
        Level(7)
    }
}

#[kernel]
fn takes(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut settings = Settings { level: Level(x[i]), ..Settings::default() };
    let _ = settings.bag.push(x[i] + 1);
    settings.pair = Some((x[i], true));
    let level = std::mem::take(&mut settings.level);
    let pair = std::mem::take(&mut settings.pair);
    let both = std::mem::take(&mut (level, [settings.level; 2]));
    let old = std::mem::take(&mut settings);
    let mut rest = &x[i..];
    let part = std::mem::take(&mut rest);
    let mut left = &mut out[4 * i..4 * i + 4];
    let (head, tail) = std::mem::take(&mut left).split_at_mut(1);
    head[0] = left.len() as u32;
    left = tail;
    left[0] = 5;
    out[4 * i] += old.bag.len as u32 * 100 + settings.bag.len as u32 + level.0 * 1000;
    out[4 * i + 1] += old.level.0 * 10 + settings.level.0;
    out[4 * i + 2] = pair.map_or(9, |(a, _)| a) + settings.pair.map_or(90, |(a, _)| a) + both.1[1].0 * 1000;
    out[4 * i + 3] = part[0] + (rest.len() + part.len()) as u32;
}

#[test]
fn own_defaults_replace_what_is_taken() {
    differ!(takes, (1, 4), [&[4, 5, 6, 7][..]], vec![0u32; 16]);
}
