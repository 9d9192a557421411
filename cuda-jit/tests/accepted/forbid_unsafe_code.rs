//! A crate that forbids unsafe code and denies lints, by `warnings` and by their groups, with kernels, device functions, methods,
//! traits, operators, structs, enums and closures.
#![forbid(unsafe_code)]
#![deny(warnings)]
#![deny(unused, nonstandard_style, rust_2018_idioms, let_underscore, trivial_casts, trivial_numeric_casts)]
#![deny(unused_qualifications, unused_results, unused_lifetimes, unreachable_pub)]

use std::ops::Add;

use cuda_jit::device::{atomic_add, grid, printf, shared, sync_threads};
use cuda_jit::{Constant, DeviceType, Num, device, device_fn, kernel};

static OFFSET: Constant<f32> = Constant::new(1.0);

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
#[operators(Add)]
struct Pair {
    a: f32,
    b: f32,
}

#[device]
impl Add for Pair {
    type Output = Pair;

    fn add(self, other: Pair) -> Pair {
        Pair { a: self.a + other.a, b: self.b + other.b }
    }
}

#[device]
impl Pair {
    fn sum(self) -> f32 {
        self.a + self.b
    }
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Wrapped<T> {
    value: T,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(u8)]
#[from_repr]
enum Mode {
    Keep,
    Double,
}

#[derive(DeviceType)]
struct Views<'a> {
    from: &'a [f32],
    to: &'a mut [f32],
}

#[device]
trait Shape {
    fn area(&self) -> f32;

    fn twice(&self) -> f32 {
        2.0 * self.area()
    }
}

#[device]
impl Shape for Pair {
    fn area(&self) -> f32 {
        self.a * self.b
    }
}

#[device]
fn scaled<T: Num>(x: T, by: T) -> T {
    x * by
}

#[kernel]
fn everything<F: Fn(f32) -> f32>(f: F, mode: Mode, pairs: &[Pair], wrapped: &[Wrapped<f32>], views: Views<'_>) {
    let tile = shared!([f32; 32]);
    let i = grid::<1>();
    tile[i] = views.from[i];
    sync_threads();
    let mut value = f(tile[i]) + (pairs[i] + pairs[i]).sum() + pairs[i].twice() + wrapped[i].value;
    if mode == Mode::Double {
        value = scaled(value, 2.0);
    }
    if i == 1000 {
        printf!("{}\n", value);
    }
    views.to[i] = value + OFFSET.get();
}

#[kernel]
fn count(n: &mut [u32]) {
    let _ = atomic_add(&mut n[0], 1);
}

fn main() -> cuda_jit::Result<()> {
    let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    let _selected = context.select();
    let pairs = vec![Pair { a: 1.0, b: 2.0 }; 4];
    let wrapped = vec![Wrapped { value: 0.5 }; 4];
    let (from, mut to, k) = (vec![1.0_f32, 2.0, 3.0, 4.0], vec![0.0_f32; 4], 10.0_f32);
    let views = ViewsArgs { from: &from, to: &mut to };
    everything::launch((1, 4), device_fn!(|x: f32| x * k), Mode::Double, &pairs, &wrapped, views)?;
    assert_eq!(to, [42.0, 62.0, 82.0, 102.0].map(|x: f32| x));
    let mut n = [0];
    count::forall(100, &mut n)?;
    assert!(n[0] >= 100);
    assert_eq!(Mode::from_repr(1), Some(Mode::Double));
    Ok(())
}
