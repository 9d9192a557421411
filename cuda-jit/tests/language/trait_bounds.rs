//! Type parameters bound by the standard library's traits of defaults, conversion and comparison, and the methods that
//! these traits provide.

use std::cmp::Ordering;

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, Num, ValueType, device, kernel};

use super::differ;

#[derive(Clone, Copy, Debug, DeviceType)]
#[operators(PartialEq, PartialOrd, Ord)]
#[repr(C)]
struct Rank(u32);

#[device]
impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.0 % 16 == other.0 % 16
    }
}
impl Eq for Rank {}
#[device]
impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.0 % 8 != 7).then_some((other.0 % 16).cmp(&(self.0 % 16)))
    }
}
#[device]
impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.0 % 16).cmp(&(self.0 % 16))
    }
}
#[device]
impl Default for Rank {
    fn default() -> Self {
        Rank(5)
    }
}
#[device]
impl From<u8> for Rank {
    fn from(number: u8) -> Self {
        Rank(number as u32 + 3)
    }
}
#[device]
impl From<Rank> for f64 {
    fn from(rank: Rank) -> f64 {
        rank.0 as f64 / 2.0
    }
}

#[device]
fn first_or_default<T: ValueType + Default>(values: &[T], at: usize) -> T {
    if at < values.len() { values[at] } else { T::default() }
}

#[device]
fn taken<T: Default + ValueType>(value: &mut T) -> (T, T) {
    (std::mem::take(value), T::default())
}

#[device]
fn converted<T>(number: u8) -> (T, T)
where
    T: ValueType + From<u8>,
{
    let into: T = number.into();
    (T::from(number + 1), into)
}

#[device]
fn doubled<T: ValueType + Into<f64>>(value: T) -> f64 {
    let wide: f64 = value.into();
    wide * 2.0 + f64::from(3u8)
}

#[device]
fn summed<T: ValueType>(values: &[T]) -> f64
where
    f64: From<T>,
{
    let mut sum = 0.0;
    for value in values {
        sum += f64::from(*value);
    }
    sum
}

#[device]
fn narrowed<T: ValueType + TryFrom<u32>>(number: u32, or: T) -> T {
    match T::try_from(number) {
        Ok(number) => number,
        Err(_) => or,
    }
}

#[device]
fn narrow<T: ValueType + TryInto<i8>>(number: T) -> i8 {
    number.try_into().unwrap_or(-1)
}

#[device]
fn bits<T: ValueType + PartialOrd>(a: T, b: T) -> u32 {
    let order = a.partial_cmp(&b).map_or(3, |order| order as i32 + 1) as u32;
    a.lt(&b) as u32
        | (a.le(&b) as u32) << 1
        | (a.gt(&b) as u32) << 2
        | (a.ge(&b) as u32) << 3
        | (a.eq(&b) as u32) << 4
        | (a.ne(&b) as u32) << 5
        | order << 6
}

#[device]
fn of_number<T: Num>(a: T, b: T) -> u32 {
    a.lt(&b) as u32 + (a.eq(&b) as u32) * 2 + (a.ge(&b) as u32) * 4 + (T::ne(&a, &b) as u32) * 8
}

#[device]
fn ends<T: ValueType + Ord>(a: T, b: T, low: T, high: T) -> (T, T, T) {
    (a.max(b), T::min(a, b), a.clamp(low.min(high), low.max(high)))
}

#[derive(Clone, Copy, DeviceType)]
struct Held<T> {
    value: T,
}
#[device]
impl<T: ValueType + Default + From<u8> + PartialOrd> Held<T> {
    fn new() -> Self {
        Held { value: T::default() }
    }

    fn raised(self, to: u8) -> Self {
        let to = T::from(to);
        if self.value.lt(&to) { Held { value: to } } else { self }
    }
}
#[device]
impl<T: ValueType + Default> Default for Held<T> {
    fn default() -> Self {
        Held { value: T::default() }
    }
}

#[kernel]
fn defaults(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let ranks = [Rank(1), Rank(2)];
    out[i] = first_or_default(x, i + 4) as i64 + first_or_default(&ranks, i).0 as i64 * 1000;
    let mut pair = (x[i], true);
    let (was, new) = taken(&mut pair);
    out[i] += (was.0 as i64) << 20 | (was.1 as i64) << 40 | (new.0 as i64 + pair.0 as i64) << 41;
    out[i] += (Held::<Rank>::default().value.0 as i64) << 50;
    out[i] ^= (Held::<f32>::new().raised(x[i] as u8).value as i64) << 54;
}

#[kernel]
fn conversions(x: &[i32], out: &mut [f64]) {
    let i = grid::<1>();
    let n = x[i] as u8;
    let (a, b) = converted::<f32>(n);
    let (c, d) = converted::<Rank>(n);
    let (e, f): (u64, u64) = converted(n);
    out[i] = a as f64 + 10.0 * b as f64 + 100.0 * c.0 as f64 + 1000.0 * d.0 as f64 + 1e4 * e as f64 + 1e5 * f as f64;
    out[i] += 1e7 * doubled(c) + 1e8 * doubled(x[i]) + 1e9 * summed(x) + 1e10 * summed(&[c, d]);
    out[i] += narrowed::<u8>(x[i] as u32 * 64, 9) as f64 / 256.0;
    out[i] -= narrowed(x[i] as u32, -1_i16) as f64 / 4096.0 + narrow(x[i] * 40) as f64 / 1024.0;
}

#[kernel]
fn compared(x: &[i32], out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    out[i] = bits(a, b) ^ bits(a as f32, b as f32) << 1;
    out[i] ^= bits(a as f64, f64::NAN) << 2 ^ bits(Some(a), None) << 3 ^ bits([a, 1], [3, b]) << 4;
    out[i] ^= bits(Rank(a as u32), Rank(b as u32)) << 5 ^ bits((a, 'x'), (b, 'a')) << 6 ^ bits(a > 2, b > 2) << 7;
    out[i] ^= of_number(a, b) << 16 ^ of_number(a as f32, b as f32) << 20 ^ of_number(a as u8, 4) << 24;
    let (r, s) = (Rank(a as u32), Rank(b as u32));
    out[i] ^= (r.lt(&s) as u32 + r.max(s).0 + r.min(s).0 * 2 + r.clamp(Rank(9), Rank(4)).0 * 3) << 12;
    out[i] ^= (r.ge(&s) as u32 + (r.cmp(&s) as i32) as u32 + Rank::gt(&r, &s) as u32) << 8;
}

#[kernel]
fn concrete(x: &[i32], out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    let (p, q) = (&x[..i % 3], &x[i % 2..i % 3 + 1]);
    out[i] = p.lt(q) as u32 | (p.eq(q) as u32) << 1 | (p.cmp(q) as i32 as u32 & 3) << 2;
    out[i] ^= (a.lt(&b) as u32 | ((&a).gt(&&b) as u32) << 1 | (1.5_f32.le(&(a as f32)) as u32) << 2) << 4;
    out[i] ^= ('a'.max('b') as u32 + (a > b).max(true) as u32 + 7.min(a) as u32 + (a, b).max((b, a)).0 as u32) << 8;
    out[i] ^= ((&a).max(&b) + *(&a).min(&b) * 2 + a.clamp(2, 5) * 4) as u32;
    let best = x.iter().fold(0, |m, v| m.max(*v));
    let least = x.iter().copied().fold(i32::MAX, i32::min);
    out[i] ^= ((best + least * 16) as u32) << 16;
    out[i] ^= (x.iter().zip(&x[1..]).filter(|(a, b)| a.lt(b)).count() as u32) << 24;
    out[i] ^= (a.cmp(&b).max(Ordering::Equal) as i32 as u32) << 28;
}

#[test]
fn bounds_of_the_standard_library() {
    let x = [3i32, 1, 4, 1, 5, 9, 2, 7];
    differ!(defaults, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(conversions, (1, 8), [&x[..]], vec![0f64; 8]);
    differ!(compared, (1, 8), [&x[..]], vec![0u32; 8]);
    differ!(concrete, (1, 8), [&x[..]], vec![0u32; 8]);
}

#[device]
trait Ring: Copy {
    const ONE: Self;
    const TWO: Self;
    const EXTRA: usize;

    fn times(self, other: Self) -> Self;

    fn doubled_square(self) -> Self {
        let one = Self::ONE;
        one.times(self).times(self).times(Self::TWO)
    }

    fn power(self, exponent: u32) -> Self {
        let mut power = Self::ONE;
        for _ in 0..exponent as usize + Self::EXTRA {
            power = power.times(self);
        }
        power
    }
}

#[device]
impl Ring for u32 {
    const ONE: u32 = 1;
    const TWO: u32 = 2;
    const EXTRA: usize = 1;

    fn times(self, other: u32) -> u32 {
        self * other
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Residues(u32, u32);

#[device]
impl Ring for Residues {
    const ONE: Residues = Residues(1, 1);
    const TWO: Self = Residues(2, 3);
    const EXTRA: usize = 2;

    fn times(self, other: Residues) -> Residues {
        Residues(self.0 * other.0 % 5, self.1 * other.1 % 7)
    }
}

#[device]
fn eightfold<T: Ring>(x: T) -> T {
    x.doubled_square().times(T::TWO)
}

#[kernel]
fn rings(x: u32, out: &mut [u32]) {
    let residues = Residues(x % 5, 3);
    out[0] = x.doubled_square() + x.power(3) * 100;
    out[1] = residues.doubled_square().1 + residues.power(1).0 * 100;
    out[2] = eightfold(x) + eightfold(residues).1 * 1000;
}

#[test]
fn provided_methods_name_constants_of_the_implementing_type() {
    differ!(rings, (1, 1), [3_u32], vec![0_u32; 3]);
}

#[device]
trait Monoid: Copy {
    type Element: Copy;
    const NEUTRAL: Self::Element;

    fn combined(a: Self::Element, b: Self::Element) -> Self::Element;

    fn of_all(all: &[Self::Element]) -> Self::Element {
        let mut result = Self::NEUTRAL;
        for &element in all {
            result = Self::combined(result, element);
        }
        result
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Largest;

#[derive(Clone, Copy, DeviceType)]
struct SumModulo<const M: i32>;

#[device]
impl Monoid for Largest {
    type Element = i32;
    const NEUTRAL: i32 = i32::MIN;

    fn combined(a: i32, b: i32) -> i32 {
        a.max(b)
    }
}

#[device]
impl<const M: i32> Monoid for SumModulo<M> {
    type Element = i32;
    const NEUTRAL: i32 = 0;

    fn combined(a: i32, b: i32) -> i32 {
        (a + b).rem_euclid(M)
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Tree<M: Monoid, const N: usize> {
    nodes: [M::Element; N],
}

#[device]
impl<M: Monoid, const N: usize> Tree<M, N> {
    fn of(x: &[M::Element]) -> Self {
        let mut nodes = [M::NEUTRAL; N];
        nodes[N / 2..N / 2 + x.len()].copy_from_slice(x);
        for node in (1..N / 2).rev() {
            nodes[node] = M::combined(nodes[2 * node], nodes[2 * node + 1]);
        }
        Tree { nodes }
    }

    fn root(&self) -> Option<M::Element> {
        self.nodes.get(1).copied()
    }
}

#[kernel]
fn monoids(x: &[i32], out: &mut [i32]) {
    out[0] = Largest::of_all(&x[1..]);
    out[1] = <SumModulo<7> as Monoid>::of_all(x);
    out[2] = Tree::<Largest, 16>::of(x).root().unwrap();
    let sums: Tree<SumModulo<10>, 16> = Tree::of(x);
    out[3] = sums.root().unwrap_or(-1);
}

#[test]
fn associated_types_are_types_of_the_device_without_a_bound_that_says_so() {
    differ!(monoids, (1, 1), [&[3i32, -1, 4, 1, 5, 9, 2, 7][..]], vec![0i32; 4]);
}
