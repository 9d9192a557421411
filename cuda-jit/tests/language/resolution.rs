//! Operators, methods and functions are those that rustc resolves, whatever their names.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

/// A trait whose methods have the names of built-in ones.
#[device]
trait Pick: Sized {
    fn max(self, other: Self) -> Self;
    fn clamp(a: Self, b: Self) -> Self;
}

#[device]
impl Pick for u32 {
    fn max(self, other: Self) -> Self {
        self * 10 + other
    }
    fn clamp(a: Self, b: Self) -> Self {
        a + b
    }
}

#[device]
fn picked<T: Pick + Copy + DeviceType>(a: T, b: T) -> T {
    T::clamp(T::max(a, b), a)
}

#[device]
fn folded<T: Pick + Copy + DeviceType>(x: &[T], first: T) -> T {
    let last = x.iter().copied().reduce(T::max);
    match last {
        Some(last) => last,
        None => first,
    }
}

type Real = f32;

#[kernel]
fn by_path(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[4 * i] = picked(x[i], x[i + 1]);
    out[4 * i + 1] = folded(&x[..2], 7);
    out[4 * i + 2] = <u32 as Pick>::max(x[i], 3) + u32::min(x[i], 3);
    let real = Real::max(x[i] as Real, 2.5);
    out[4 * i + 3] = real.to_bits() + [1.0, real].into_iter().reduce(Real::min).map_or(0, Real::to_bits);
}

#[test]
fn functions_of_a_trait_are_those_of_its_impl() {
    differ!(by_path, (1, 3), [&[5, 2, 9, 1][..]], vec![0; 12]);
}

/// A module with the name of one of the standard library's.
mod mem {
    use cuda_jit::device;

    #[device]
    pub(super) fn swap(a: &mut u32, b: &mut u32) {
        *a += 10;
        *b += 20;
    }

    #[device]
    pub(super) fn replace(a: &mut u32, b: u32) -> u32 {
        *a -= b;
        b + 1
    }

    #[device]
    pub(super) fn take(a: &mut u32) -> u32 {
        *a * 3
    }
}

#[kernel]
fn own_module(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (mut a, mut b) = (x[i], 100);
    mem::swap(&mut a, &mut b);
    let c = mem::replace(&mut a, 3);
    out[i] = a + 1000 * b + 1000000 * (c + mem::take(&mut a));
}

#[test]
fn functions_of_a_module_of_ones_own_are_its() {
    differ!(own_module, (1, 3), [&[5, 2, 9][..]], vec![0; 3]);
}

#[kernel]
fn of_the_standard_library(x: &[u32], out: &mut [f32]) {
    use std::mem::{replace as put, swap as exchange, take};
    let i = grid::<1>();
    let (mut a, mut b) = (x[i] as f32, 100.5);
    exchange(&mut a, &mut b);
    let mut pair = ([a, b], Some(i));
    let old = put(&mut pair.0, [7.0, 8.0]);
    let place = take(&mut pair.1);
    let mut rows = [old, pair.0];
    let [first, second] = &mut rows;
    std::mem::swap(first, second);
    out[i] = rows[1][0] + 2.0 * rows[0][1] + core::mem::take(&mut b) + b + place.map_or(0.5, |i| i as f32);
}

#[test]
fn functions_of_the_standard_librarys_mem_are_known_by_any_name() {
    differ!(of_the_standard_library, (1, 3), [&[5, 2, 9][..]], vec![0.0; 3]);
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Shade {
    Red,
    Crimson,
    Blue,
    None,
}

/// Two reds are equal; `None` is equal to nothing.
impl PartialEq for Shade {
    fn eq(&self, other: &Self) -> bool {
        let class = |shade: &Shade| match shade {
            Shade::Red | Shade::Crimson => 0,
            Shade::Blue => 1,
            Shade::None => 2,
        };
        class(self) == class(other) && class(self) != 2
    }
}

/// Blue is the least, and `None` is unordered.
impl PartialOrd for Shade {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        let place = |shade: &Shade| match shade {
            Shade::Red | Shade::Crimson => Some(1),
            Shade::Blue => Some(0),
            Shade::None => None,
        };
        Some(place(self)?.cmp(&place(other)?))
    }
}

#[device]
fn shade(number: u32) -> Shade {
    match number % 4 {
        0 => Shade::Red,
        1 => Shade::Crimson,
        2 => Shade::Blue,
        _ => Shade::None,
    }
}

#[kernel]
fn own_comparison(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = (shade(x[i]), shade(x[i] / 4));
    let bits = [
        a == b,
        a != b,
        a < b,
        a <= b,
        a > b,
        a >= b,
        (1, a) == (1, b),
        (1, a) < (1, b),
        (1, a, 2) <= (1, b, 1),
        [a, b] == [b, a],
        [a, b] > [b, a],
        Some(a) == Some(b),
        Some(a) >= Some(b),
        Some(a) != None,
        [Shade::Blue, a].contains(&b),
        a.partial_cmp(&b).is_some(),
        a.partial_cmp(&b) == Some(std::cmp::Ordering::Less),
    ];
    for bit in bits {
        out[i] = out[i] * 2 + bit as u32;
    }
}

#[test]
fn enums_are_compared_as_their_impls_say() {
    let all: Vec<u32> = (0..16).collect();
    differ!(own_comparison, (1, 16), [&all[..]], vec![0; 16]);
}

#[derive(Clone, Copy, PartialEq, Eq, DeviceType)]
#[repr(i8)]
enum Rank {
    Low = 3,
    Middle = -1,
    High = 2,
}

#[device]
fn rank(number: u32) -> Rank {
    match number % 3 {
        0 => Rank::Low,
        1 => Rank::Middle,
        _ => Rank::High,
    }
}

#[device]
fn number(rank: Rank) -> u32 {
    match rank {
        Rank::Low => 0,
        Rank::Middle => 1,
        Rank::High => 2,
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let place = |rank: &Rank| match rank {
            Rank::Low => 0,
            Rank::Middle => 1,
            Rank::High => 2,
        };
        place(self).cmp(&place(other))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[kernel]
fn own_order(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = (rank(x[i]), rank(x[i] / 3));
    let mut sorted = [a, Rank::Middle, b, Rank::Low];
    sorted.sort_unstable();
    let mut all = number(a.max(b)) * 3 + number(a.min(b));
    all = all * 3 + number(a.clamp(Rank::Low, Rank::Middle));
    all = all * 3 + number(sorted[3]) + number(sorted[1]);
    all = all * 3 + number(Rank::max(a, b)) + a.cmp(&b) as u32 % 3;
    all = all * 3 + [a, b].iter().copied().max().map_or(0, number);
    all = all * 3 + number(Some(a).filter(|_| x[i] > 2).unwrap_or(Rank::High));
    out[i] = all * 2 + [a, b].is_sorted() as u32;
}

#[test]
fn enums_are_ordered_as_their_impls_say() {
    let all: Vec<u32> = (0..9).collect();
    differ!(own_order, (1, 9), [&all[..]], vec![0; 9]);
}

/// A struct with its own order impls, one the reverse of the other.
#[derive(Clone, Copy, DeviceType)]
#[operators(PartialEq, PartialOrd, Ord)]
#[repr(C)]
struct Turned {
    value: u32,
}

#[device]
impl PartialEq for Turned {
    fn eq(&self, other: &Self) -> bool {
        self.value / 2 == other.value / 2
    }
}

impl Eq for Turned {}

#[device]
impl PartialOrd for Turned {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        if self.value == 7 || other.value == 7 { None } else { Some(other.value.cmp(&self.value)) }
    }
}

#[device]
impl Ord for Turned {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.value / 2).cmp(&(other.value / 2))
    }
}

#[kernel]
fn own_struct_order(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let (a, b) = (Turned { value: x[i] % 4 + x[i] / 16 * 4 }, Turned { value: x[i] / 4 % 4 });
    let bits = [
        a == b,
        a != b,
        a < b,
        a <= b,
        a > b,
        a >= b,
        (a, 1) == (b, 1),
        (a, 1) < (b, 2),
        [a, b] < [b, a],
        Some(a) > Some(b),
        a.partial_cmp(&b) == None,
        a.cmp(&b).is_lt(),
        (a, 1).cmp(&(b, 2)).is_lt(),
        [a, b].cmp(&[b, a]).is_eq(),
        Some(a).cmp(&Some(b)).is_le(),
        [a, b].is_sorted(),
    ];
    for bit in bits {
        out[i] = out[i] * 2 + bit as u32;
    }
    let chosen = a.max(b).value * 5 + a.min(b).value + Turned::max(b, a).value;
    let most = [a, b].into_iter().max().map_or(0, |most| most.value);
    out[i] = out[i] * 1000 + chosen * 20 + most;
}

#[test]
fn structs_are_ordered_as_their_impls_say() {
    let all: Vec<u32> = (0..32).collect();
    differ!(own_struct_order, (1, 32), [&all[..]], vec![0; 32]);
}

/// A trait that references implement: rustc finds its methods before those of the referent.
#[device]
trait OfReferences: Sized {
    fn count_ones(self) -> u32;
    fn abs_diff(self, other: u32) -> u32;
}

#[device]
impl OfReferences for &u32 {
    fn count_ones(self) -> u32 {
        *self + 1000
    }
    fn abs_diff(self, other: u32) -> u32 {
        other + 2000
    }
}

/// A trait that mutable slices implement.
#[device]
trait OfSlices {
    fn len(&self) -> usize;
}

#[device]
impl OfSlices for &mut [u32] {
    fn len(&self) -> usize {
        77
    }
}

#[kernel]
fn preferred(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let r = &x[i];
    let v = x[i];
    let sum = r.count_ones() + v.count_ones() + (&v).abs_diff(3) + v.abs_diff(3) + x.len() as u32;
    let lent = &mut out[2 * i..2 * i + 1];
    lent[0] = sum;
    out[2 * i + 1] = out.len() as u32;
}

#[test]
fn methods_are_those_that_rustc_prefers() {
    differ!(preferred, (1, 3), [&[5, 2, 9][..]], vec![0; 6]);
}

/// A trait without device code.
trait Unknown {
    fn count_zeros(self) -> u32;
}

impl Unknown for &u32 {
    fn count_zeros(self) -> u32 {
        5000
    }
}

#[kernel]
fn unknown(x: &[u32], out: &mut [u32]) {
    let r = &x[0];
    out[0] = r.count_zeros();
}

/// Cases that the macros cannot detect, as the book states.
#[test]
fn a_trait_without_device_is_not_seen() {
    let mut host = [0];
    unknown(&[1], &mut host);
    let mut device = super::on_device(&[0_u32]);
    unknown::launch((1, 1), &super::on_device(&[1_u32]), &mut device).unwrap();
    assert_eq!((host[0], super::on_host(&device)[0]), (5000, 31));
}

/// A number that counts its additions by operator.
#[derive(Clone, Copy, DeviceType)]
#[operators(Add, AddAssign)]
#[repr(C)]
struct Counted {
    value: u32,
}

#[device]
impl std::ops::Add for Counted {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Counted { value: self.value + other.value }
    }
}

#[device]
impl std::ops::AddAssign for Counted {
    fn add_assign(&mut self, other: Self) {
        self.value = self.value * 100 + other.value;
    }
}

#[kernel]
fn assigned(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut sum = Counted { value: x[i] };
    sum += Counted { value: 3 };
    out[i] = (sum + Counted { value: 1 }).value;
}

#[test]
fn an_operator_that_assigns_is_its_own_impl() {
    differ!(assigned, (1, 2), [&[5, 2][..]], vec![0; 2]);
}
