//! Functions of the standard library's traits, and of `std::cmp`, by path.

use std::cmp::Ordering;
use std::ops::{Add, BitXor, Mul, Neg, Not, Sub};

use cuda_jit::device::grid;
use cuda_jit::{DeviceDefault, DeviceType, Num, ValueType, device, kernel};

use super::differ;

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[operators(Add, Neg)]
struct Money {
    cents: i64,
}

#[device]
impl Default for Money {
    fn default() -> Self {
        Money { cents: 7 }
    }
}
#[device]
impl From<i32> for Money {
    fn from(whole: i32) -> Self {
        Money { cents: whole as i64 * 100 }
    }
}
#[device]
impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Money { cents: self.cents + other.cents }
    }
}
#[device]
impl Neg for Money {
    type Output = Self;
    fn neg(self) -> Self {
        Money { cents: -self.cents }
    }
}

#[device]
trait Renewed: DeviceDefault {
    fn renewed(&self) -> Self {
        Self::default()
    }
}
#[device]
impl Renewed for Money {}
#[device]
impl Renewed for u32 {}

#[kernel]
fn made(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let zero: u64 = Default::default();
    let money: Money = Default::default();
    let pair: (i32, bool) = Default::default();
    let wide: i64 = From::from(x[i]);
    let of_whole: Money = From::from(x[i]);
    let into: Money = Into::into(x[i] + 1);
    let half: f64 = Into::<f64>::into(x[i]);
    out[i] = zero as i64 + money.cents + pair.0 as i64 + pair.1 as i64 + wide * 10 + of_whole.cents * 1000;
    out[i] += into.cents * 100_000 + half as i64 * 3 + <Money as Default>::default().cents;
    out[i] += <f64 as From<i32>>::from(x[i]) as i64 + u64::from(x[i] as u32) as i64 + i64::from(x[i]);
    out[i] += money.renewed().cents + 9u32.renewed() as i64;
    let none: Option<u8> = std::default::Default::default();
    out[i] += none.is_none() as i64;
}

#[kernel]
fn narrowed(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let by_trait: Result<u8, _> = TryFrom::try_from(x[i] * 40);
    let turbofish: Result<i8, _> = TryFrom::<i32>::try_from(x[i] * 20);
    let into: Result<u32, _> = TryInto::try_into(x[i] - 4);
    let qualified = <u16 as TryFrom<i32>>::try_from(x[i] - 2);
    let own = u8::try_from(x[i] * 64).is_ok();
    out[i] = by_trait.map_or(-1, |v| v as i64) + turbofish.map_or(-1, |v| v as i64) * 1000;
    out[i] += into.map_or(-1, |v| v as i64) * 1_000_000 + qualified.map_or(-7, |v| v as i64) * 1_000_000_000;
    out[i] += own as i64;
}

#[kernel]
fn compared(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (a, b) = (x[i], x[(i + 3) % x.len()]);
    let order = match PartialOrd::partial_cmp(&(a as f32), &(b as f32)) {
        Some(Ordering::Less) => 1,
        Some(Ordering::Equal) => 2,
        Some(Ordering::Greater) => 3,
        None => 4,
    };
    out[i] = order + PartialEq::eq(&a, &b) as i64 * 10 + PartialEq::ne(&a, &b) as i64 * 20;
    out[i] += (Ord::cmp(&a, &b) as i64 + 1) * 100 + (Ord::max(a, b) as i64) * 1000 + (Ord::min(a, 3) as i64) * 10_000;
    out[i] += Ord::clamp(a, 2, 6) as i64 * 100_000 + PartialOrd::lt(&a, &b) as i64 * 1_000_000;
    out[i] += <i32 as Ord>::max(a, 4) as i64 * 10_000_000 + std::cmp::Ord::min(b, 5) as i64 * 100_000_000;
    out[i] += <f32 as PartialOrd<f32>>::ge(&(a as f32), &2.5) as i64 * 1_000_000_000;
}

#[kernel]
fn ends(x: &[i32], out: &mut [i64]) {
    use std::cmp;
    use std::cmp::{max as larger, min};
    let i = grid::<1>();
    let (a, b) = (x[i], x[(i + 3) % x.len()]);
    out[i] = std::cmp::max(a, b) as i64 + cmp::min(a, 4) as i64 * 10 + larger(a as i64, 5) * 100;
    out[i] += min(x.len(), i + a as usize) as i64 * 1000;
    let (v, n) = cmp::max((a, 1), (b, 2));
    out[i] += v as i64 * 10_000 + n as i64 * 100_000 + (max(1, 2) + min('a', 'b') as i64) * 1_000_000;
}

/// A function with the name of the standard library's.
#[device]
fn max(a: i64, b: i64) -> i64 {
    a * 2 + b
}

#[device]
fn sum<T: Num>(a: T, b: T) -> T {
    Add::add(Mul::mul(a, b), Sub::sub(a, b))
}

#[device]
fn doubled<T: ValueType + Add<Output = T> + Clone>(a: T) -> T {
    Add::add(Clone::clone(&a), a.clone())
}

#[kernel]
fn operated(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (a, b) = (x[i], x[(i + 3) % x.len()]);
    out[i] = Add::add(a, b) as i64 + Neg::neg(a) as i64 * 10 + sum(a, b) as i64 * 100;
    out[i] += (sum(a as f64, 0.5) * 4.0) as i64 * 10_000 + Not::not(a) as i64 + Not::not(a > b) as i64;
    out[i] += BitXor::bitxor(a, b) as i64 * 1_000_000 + std::ops::Shl::shl(1i64, a + 30);
    let money = Add::add(Money { cents: a as i64 }, Neg::neg(Money { cents: b as i64 }));
    out[i] += doubled(money).cents + Clone::clone(&money).cents + <i32 as Clone>::clone(&b) as i64;
    out[i] += *Clone::clone(&&7i64);
}

#[kernel]
fn iterated(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let part = &x[..=i];
    let mut total = Iterator::sum::<i32>(part.iter()) as i64;
    total += Iterator::map(part.iter(), |v| *v as i64 * 3).sum::<i64>() * 100;
    for v in IntoIterator::into_iter(part) {
        total += *v as i64 * 10_000;
    }
    for (v, w) in Iterator::zip(IntoIterator::into_iter([1, 2, 3]), part) {
        total += v * *w as i64 * 1_000_000;
    }
    let mut ends = IntoIterator::into_iter(0..i as i64 + 3);
    total += Iterator::next(&mut ends).unwrap() + DoubleEndedIterator::next_back(&mut ends).unwrap() * 10;
    total += ExactSizeIterator::len(&part.iter()) as i64 * 7;
    let product: i64 = Iterator::product(Iterator::filter(part.iter().map(|v| *v as i64), |v| *v > 1));
    out[i] = total + product + std::iter::Iterator::max(part.iter()).map_or(0, |v| *v as i64) * 1_000_000_000;
    out[i] += <std::ops::Range<i64> as Iterator>::fold(0..4, 1, |a, b| a * 3 + b);
}

#[kernel]
fn passed(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let at = x.get(i + 3).copied();
    out[i] = at.map_or_else(Default::default, |v| v + 1) as i64 + at.unwrap_or_else(Default::default) as i64 * 100;
    out[i] += x.iter().copied().fold(i as i32, Ord::max) as i64 * 10_000;
    out[i] += x[..=i].iter().copied().reduce(Ord::min).unwrap() as i64 * 100_000;
    out[i] += x.iter().copied().map(From::from).fold(0, |a: i64, v: i64| a + v) * 1_000_000;
    out[i] += x.iter().copied().map(Into::<i64>::into).sum::<i64>() * 1_000_000_000;
    let money: Option<Money> = at.map(From::from);
    out[i] += money.unwrap_or_else(Default::default).cents * 7 + at.map_or_else(i32::default, |v| v * 3) as i64;
    let small: Option<Result<u8, _>> = at.map(|v| v * 50).map(TryFrom::try_from);
    out[i] += small.map_or(3, |v| v.map_or(5, |v| v as i64));
}

/// A type with the name and the function of a trait that kernels do not call.
#[derive(Clone, Copy, DeviceType)]
struct Index {
    of: i64,
}

#[device]
impl Index {
    fn index(self, by: i64) -> i64 {
        self.of * by
    }
}

#[kernel]
fn own(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = Index::index(Index { of: x[i] as i64 }, 3);
}

#[test]
fn functions_by_the_path_of_a_trait() {
    let x = [3i32, 1, 4, 1, 5, 9, 2, 6];
    differ!(made, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(narrowed, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(compared, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(ends, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(operated, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(iterated, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(passed, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(own, (1, 8), [&x[..]], vec![0i64; 8]);
}
