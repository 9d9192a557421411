//! `#[device]` methods with generic parameters of their own, in `impl`s and traits, against the host.

use super::{differ, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, Num, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair<T> {
    a: T,
    b: T,
}

/// The conversions of a number type.
#[device]
trait Made: Num {
    fn of(v: f32) -> Self;
    fn back(self) -> f32;
}

macro_rules! made {
    ($($ty:ty)*) => { $(
        #[device]
        impl Made for $ty {
            fn of(v: f32) -> Self {
                v as $ty
            }
            fn back(self) -> f32 {
                self as f32
            }
        }
    )* };
}

made! { u8 i32 f32 f64 }

#[device]
impl Pair<f32> {
    fn map<F: Fn(f32) -> f32>(&self, f: F) -> Self {
        Pair { a: f(self.a), b: f(self.b) }
    }

    fn cast<U: Made>(self) -> Pair<U> {
        Pair { a: U::of(self.a), b: U::of(self.b) }
    }

    fn scaled<U>(&self, by: U) -> f32
    where
        U: Made,
    {
        self.a * by.back() + self.b
    }

    /// Has the name of a method of numbers, views and iterators.
    fn max<U: Made>(&self, by: U) -> U {
        U::of(self.a + self.b + by.back())
    }

    fn weighted<const N: usize>(&self, weights: [f32; N]) -> f32 {
        let mut sum = 0.0;
        for i in 0..N {
            sum += weights[i] * if i % 2 == 0 { self.a } else { self.b };
        }
        sum
    }

    fn each<F: FnMut(f32), const N: usize>(&mut self, mut f: F) {
        for _ in 0..N {
            f(self.a);
            self.a += self.b;
        }
    }

    fn pick<'a, U: Made>(&self, from: &'a [U]) -> &'a U {
        &from[self.a as usize % from.len()]
    }

    /// Has the name of a built-in method.
    fn fill<F: Fn(usize) -> f32>(&mut self, f: F) {
        *self = Pair { a: f(0), b: f(1) };
    }

    fn len(&self) -> usize {
        2
    }

    fn from_fn<F>(f: F) -> Self
    where
        F: Fn(usize) -> f32,
    {
        Pair { a: f(0), b: f(1) }
    }

    fn both<U: Made>(v: U) -> Self {
        Pair { a: v.back(), b: v.back() }
    }
}

#[device]
impl<T: Made> Pair<T> {
    fn with<U: Made, F: Fn(T, U) -> U>(self, other: Pair<U>, f: F) -> Pair<U> {
        Pair { a: f(self.a, other.a), b: f(self.b, other.b) }
    }

    fn sum(self) -> f32 {
        self.a.back() + self.b.back()
    }
}

#[kernel]
fn in_an_impl(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let k = 0.5;
    let mut pair = Pair { a: x[i], b: x[i + 1] };
    let mapped = pair.map(|v| v * k);
    let by_path = Pair::<f32>::map(&mapped, |v| v + 1.0);
    let shift = |v: f32| v - 2.0;
    let bytes = by_path.cast::<u8>();
    let integers: Pair<i32> = mapped.map(shift).map(&shift).cast();
    let turbofish = Pair::cast::<f64>(pair).a as f32;
    out[i] = bytes.sum() + integers.sum() * 3.0 + turbofish;
    out[i] += pair.max(3i32).back() + pair.max(0.25f32);
    out[i] += pair.scaled(3u8) + pair.scaled(i as i32) + pair.scaled(0.5f64) + Pair::scaled(&pair, 2);
    out[i] += pair.weighted([1.0, 2.0]) + pair.weighted([4.0; 5]) + pair.weighted::<0>([]);
    let mut sum = 0.0;
    pair.each::<_, 3>(|v| sum += v);
    out[i] += sum + *pair.pick(&[1, 2, 3]) as f32;
    pair.fill(|n| n as f32 + x[i]);
    out[i] += pair.sum() + pair.len() as f32 + Pair::from_fn(|n| n as f32 * k).sum() + Pair::both(7u8).sum();
    let with = bytes.with(pair, |byte, v| v + byte as f32).with(integers, |v, n| n + v as i32);
    out[i] += with.sum();
}

#[test]
fn methods_of_an_impl_have_generic_parameters_of_their_own() {
    differ!(in_an_impl, (1, 4), [&[1.0f32, 2.5, -3.0, 7.0, 1e3][..]], vec![0f32; 4]);
}

#[device]
trait Container<T: Made> {
    fn at(&self, index: usize) -> T;

    fn folded<U: Made, F: Fn(U, T) -> U>(&self, first: U, f: F) -> U;

    fn total<U: Made>(&self) -> U {
        self.folded(U::ZERO, |sum, v| sum + U::of(v.back()))
    }

    fn firsts<const N: usize>(&self) -> [T; N] {
        let mut first = [T::ZERO; N];
        for i in 0..N {
            first[i] = self.at(i);
        }
        first
    }

    fn made<U: Made>(v: U) -> T {
        T::of(v.back())
    }
}

#[device]
impl<T: Made> Container<T> for Pair<T> {
    fn at(&self, index: usize) -> T {
        if index == 0 { self.a } else { self.b }
    }

    fn folded<V: Made, F: Fn(V, T) -> V>(&self, first: V, f: F) -> V {
        f(f(first, self.a), self.b)
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Four([u8; 4]);

#[device]
impl Container<u8> for Four {
    fn at(&self, index: usize) -> u8 {
        self.0[index]
    }

    fn folded<U: Made, F: Fn(U, u8) -> U>(&self, first: U, f: F) -> U {
        let mut folded = first;
        for v in self.0 {
            folded = f(folded, v);
        }
        folded
    }

    fn total<U: Made>(&self) -> U {
        U::of(100.0)
    }
}

#[device]
fn of_any<T: Made, C: Container<T> + Copy>(container: C, k: f64) -> f32 {
    let total: f64 = container.total();
    let [first, second] = container.firsts();
    let most = container.folded(k, |most, v| most.max(v.back() as f64 + k));
    total as f32 + container.total::<u8>() as f32 + first.back() * second.back() + most as f32 + C::made(3i32).back()
}

#[kernel]
fn in_a_trait(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let four = Four([1, 2, 3, x[i] as u8]);
    let pair = Pair { a: x[i], b: 2.0 };
    out[i] = of_any(four, 0.5) + of_any(pair.cast::<i32>(), 0.25) + of_any(pair.cast::<f64>(), 1.0);
    out[i] += <Four as Container<u8>>::made(x[i] as f64) as f32;
}

#[test]
fn methods_of_traits_have_generic_parameters_of_their_own() {
    differ!(in_a_trait, (1, 3), [&[1.0f32, 2.5, 77.0][..]], vec![0f32; 3]);
}

#[kernel]
fn passed<F: Fn(Pair<f32>) -> Pair<u8>, G: Fn(f32) -> f32>(f: F, g: G, out: &mut [f32]) {
    let pair = Pair { a: 1.5, b: 3.0 };
    out[0] = f(pair.map(&g)).sum() + Pair::both(g(1.0) as f64).map(g).sum();
}

#[test]
fn generic_methods_are_passed_by_launches_and_take_what_is_passed() {
    let mut out = super::on_device(&[0f32]);
    let k = 2.0;
    let (f, g) = (cuda_jit::device_fn!(Pair::cast::<u8>), cuda_jit::device_fn!(|v: f32| v * k));
    passed::launch((1, 1), f, g, &mut out).unwrap();
    assert_eq!(super::on_host(&out), [17.0]);
    let h = cuda_jit::device_fn!(|p: Pair<f32>| -> Pair<u8> { p.map(|v| v + k).cast() });
    passed::launch((1, 1), h, g, &mut out).unwrap();
    assert_eq!(super::on_host(&out), [21.0]);
}

#[kernel]
fn twice_the_same(x: &[f32], out: &mut [f32]) {
    let pair = Pair { a: x[0], b: x[1] };
    out[0] = pair.cast::<u8>().sum() + pair.cast::<f64>().sum() + pair.cast::<u8>().sum();
}

#[test]
fn each_tuple_of_generic_arguments_is_a_function() {
    let text = cuda_jit::kir_of::<twice_the_same>().unwrap().to_string();
    let functions: Vec<&str> =
        text.lines().filter(|line| line.starts_with("device") && line.contains("cast")).collect();
    assert_eq!(functions.len(), 2, "{functions:?}");
}

/// Items that `#[cfg]` removes do not conflict, and the remaining ones are called.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Conditional(u32);

#[device]
trait Chosen {
    #[cfg(test)]
    fn chosen(&self) -> u32;

    #[cfg(not(test))]
    fn chosen(&self) -> f64 {
        missing::function()
    }

    #[cfg(test)]
    fn provided(&self) -> u32 {
        self.chosen() + 10
    }
}

#[device]
impl Chosen for Conditional {
    #[cfg(test)]
    fn chosen(&self) -> u32 {
        self.0
    }

    #[cfg(not(test))]
    fn chosen(&self) -> u32 {
        0
    }
}

#[device]
impl Conditional {
    #[cfg(not(test))]
    fn own(&self) -> u32 {
        missing::function()
    }

    #[cfg(test)]
    fn own(&self) -> u32 {
        self.0 + 100
    }
}

#[kernel]
fn calls_what_is_there(x: Conditional, out: &mut [u32]) {
    out[0] = x.chosen();
    out[1] = x.provided();
    out[2] = x.own();
}

#[test]
fn conditions_before_methods_are_rustcs() {
    let mut out = on_device(&[0; 3]);
    calls_what_is_there::launch((1, 1), Conditional(7), &mut out).unwrap();
    assert_eq!(on_host(&out), [7, 17, 107]);
}

// --- `self` and `Self`

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Counted<T>(T, T);

#[device]
impl Counted<u32> {
    const SIZE: usize = 2;

    /// Items in the body have their own `self`, and macro arguments refer to the method's.
    fn sum(&self, more: [u32; Self::SIZE]) -> u32 {
        struct Own(u32);

        impl Own {
            #[expect(dead_code, reason = "it has a receiver, which is all that matters")]
            fn get(&self) -> u32 {
                self.0
            }
        }

        let add = |v: u32| v + self.1;
        assert!(self.0 > 0 && add(self.0) >= self.0, "{} and {}", self.0, { self.1 });
        let Self(a, b) = *self;
        add(a) + b + more[0] + more[Self::SIZE - 1]
    }
}

#[kernel]
fn receivers(out: &mut [u32]) {
    out[0] = Counted(3, 4).sum([10, 20]);
}

#[test]
fn receivers_are_the_methods_own() {
    assert_eq!(differ!(receivers, (1, 1), [], vec![0u32]), [41]);
}

// --- bounds that name the function's lifetimes

/// A trait with a lifetime of its own.
#[device]
trait Among<'a>: Copy + 'a {
    fn among(self, all: &'a [Self]) -> &'a Self;
}

#[device]
impl<'a> Among<'a> for u32 {
    fn among(self, all: &'a [u32]) -> &'a u32 {
        &all[self as usize % all.len()]
    }
}

#[device]
fn longer<'a, 'b: 'a, T: Num + 'a>(x: &'a [T], y: &'b [T]) -> &'a T
where
    T: 'b,
{
    if x.len() > y.len() { &x[0] } else { &y[1] }
}

#[device]
fn chosen<'a, T: Among<'a>>(all: &'a [T], at: T) -> T {
    *at.among(all)
}

#[kernel]
fn bounds_with_lifetimes(x: &[u32], y: &[u32], out: &mut [u32]) {
    let i = grid::<1>() as u32;
    out[grid::<1>()] = longer(x, y) + 100 * longer(y, x) + 10_000 * chosen(x, i);
}

#[test]
fn bounds_may_name_lifetimes() {
    let (x, y): ([u32; 3], [u32; 2]) = ([1, 2, 3], [4, 5]);
    assert_eq!(
        differ!(bounds_with_lifetimes, (1, 4), [&x[..], &y[..]], vec![0u32; 4]),
        [10_201, 20_201, 30_201, 10_201]
    );
}

// --- bounds that a trait and its `impl` do not share

#[device]
trait Twice: Sized {
    fn once(self) -> u32;

    fn twice(self) -> u32
    where
        Self: Copy,
    {
        self.once() + self.once()
    }

    fn thrice(self) -> u32;
}

#[device]
impl Twice for u32 {
    fn once(self) -> u32 {
        self + 1
    }

    fn twice(self) -> u32 {
        100 * self.once()
    }

    fn thrice(self) -> u32
    where
        Self: Copy,
    {
        self.once() + self.twice()
    }
}

#[kernel]
fn bounds_of_one_side(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[i] = x[i].twice() + 1000 * x[i].thrice();
}

#[test]
fn bounds_of_one_side_select_the_implementation() {
    let x = [1u32, 2];
    assert_eq!(differ!(bounds_of_one_side, (1, 2), [&x[..]], vec![0u32; 2]), [202_200, 303_300]);
}
