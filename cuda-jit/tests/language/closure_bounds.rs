//! Closures whose bounds name lifetimes.

use cuda_jit::device::grid;
use cuda_jit::host::for_each_thread;
use cuda_jit::launch::In;
use cuda_jit::{DeviceType, device, device_fn, kernel};

use super::{differ, on_device, on_host};

#[device]
fn at<'a, F: Fn(usize) -> &'a u32>(f: F, k: usize) -> u32 {
    *f(k)
}
#[device]
fn least<'a, F: Fn(usize) -> &'a u32>(f: F, k: usize) -> &'a u32 {
    let (a, b) = (f(k), f(k + 1));
    if a < b { a } else { b }
}
#[device]
fn on<'a, F>(f: F, k: &'a u32) -> u32
where
    F: Fn(&'a u32) -> u32,
{
    f(k)
}
#[device]
fn each<F: for<'b> Fn(&'b u32) -> &'b u32>(f: F, a: &u32, b: &u32) -> u32 {
    f(a) * 10 + f(b)
}
#[derive(Clone, Copy, DeviceType)]
struct Table<'a> {
    all: &'a [u32],
}
#[device]
impl<'a> Table<'a> {
    fn by<'b, F: Fn(&'a u32, &'b u32) -> &'b u32>(&self, f: F, k: &'b u32) -> u32 {
        *f(&self.all[1], k)
    }
}

#[kernel]
fn lend(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let own = [7u32, 5, 3, 9, 1, 2, 8, 4, 6];
    out[i] = at(|k| &x[k], i) + at(|k| &own[k], i) * 100;
    out[i] += *least(|k| &x[k], i) * 1000 + on(|v| *v + 1, &x[i]) * 10000;
    out[i] += each(|v| v, &x[i], &own[i]) * 100000;
    out[i] += Table { all: x }.by(|a, b| if *a > 2 { b } else { b }, &x[i]);
}

const ROW: [u32; 4] = [4, 3, 2, 1];

#[device]
fn nth<'a>(x: &'a [u32], k: usize) -> &'a u32 {
    &x[(k + 1) % x.len()]
}

#[kernel]
fn chosen<'a, F: Fn(&'a [u32], usize) -> &'a u32, G>(f: F, g: G, x: &'a [u32], out: &mut [u32])
where
    G: Fn(usize) -> &'a u32,
{
    let i = grid::<1>();
    let both = [f(x, i), g(i)];
    out[i] = *both[0] * 10 + both[1];
}

#[test]
fn bounds_of_a_launchs_closures_name_lifetimes() {
    const X: &[u32] = &[5, 6, 7, 8];
    let (f, g) = (device_fn!(nth), device_fn!(|k: usize| &ROW[k]));
    let (mut host, mut device) = ([0; 4], on_device(&[0u32; 4]));
    for_each_thread((1, 4), || chosen(f.host(), g.host(), X, &mut host));
    chosen::launch((1, 4), f, g, In(X), &mut device).expect("the kernel compiles and launches");
    assert_eq!(on_host(&device), host);
    let stored = device_fn!(|x: &'static [u32], k: usize| &x[k]);
    chosen::launch((1, 4), stored, g, In(X), &mut device).expect("the kernel compiles and launches");
    assert_eq!(on_host(&device), [54, 63, 72, 81]);
}

#[test]
fn bounds_of_closures_name_lifetimes() {
    differ!(lend, (1, 7), [&[3u32, 1, 4, 1, 5, 9, 2, 6][..]], vec![0u32; 7]);
}

#[device]
fn applied<const N: usize, F: Fn([f64; N]) -> f64>(f: F, to: [f64; N]) -> f64 {
    f(to)
}

#[device]
fn lengthened<const N: usize, F>(f: F, to: f64) -> f64
where
    F: Fn(f64) -> [f64; N],
{
    f(to)[N - 1] * N as f64
}

#[device]
fn borrowed<const N: usize>(f: impl Fn(&[f64; N]) -> f64, to: [f64; N]) -> f64 {
    f(&to)
}

#[derive(Clone, Copy, DeviceType)]
struct Row<const N: usize> {
    values: [f64; N],
}

#[device]
impl<const N: usize> Row<N> {
    fn then<F: Fn(Self) -> Self>(self, f: F) -> Self {
        f(self)
    }

    fn with(&mut self, f: impl FnOnce(&mut Self, &[f64; N])) {
        let old = self.values;
        f(self, &old);
    }
}

#[device]
trait Shape: Copy {
    type Corner: Copy;
    fn corner(&self) -> Self::Corner;
}

#[device]
impl Shape for f64 {
    type Corner = [f64; 2];
    fn corner(&self) -> [f64; 2] {
        [*self, 1.5]
    }
}

#[device]
fn mapped<S: Shape, F: Fn(S::Corner) -> S::Corner>(shape: S, f: F) -> S::Corner {
    f(f(shape.corner()))
}

#[kernel]
fn lengths(x: f64, out: &mut [f64]) {
    let mut row = Row { values: [x, 1.0] }.then(|row| Row { values: [row.values[1], row.values[0] + 1.0] });
    row.with(|row, old| row.values[0] += old[1]);
    out[3] = row.values[0] * 10.0 + row.values[1];
    out[4] = mapped(x, |corner| [corner[1], corner[0] * 2.0])[0];
    out[0] = applied(|values| values[0] + values[1], [x, 2.0]);
    out[1] = lengthened(|value| [value, value + 1.0, value * 3.0], x);
    out[2] = borrowed(|values| values.iter().sum(), [x, x, 0.5]);
}

#[test]
fn bounds_of_closures_name_const_parameters_self_and_associated_types() {
    differ!(lengths, (1, 1), [3.5_f64], vec![0_f64; 5]);
}
