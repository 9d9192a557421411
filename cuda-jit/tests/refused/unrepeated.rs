//! Mistakes in generic functions, methods, and functions with a `?` or a lifetime. rustc reports them once where the probe
//! learns of errors in the body as written, else for the probe too, without a hidden item in the first line.
use cuda_jit::device::tiled_partition;
use cuda_jit::{DeviceType, Num, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn times<T: Num>(&self, t: T) -> T {
        t
    }

    fn misspelled(&self) -> f32 {
        self.x.squareroot()
    }
}

#[device]
fn add<T: Num>(a: T, b: T) -> T {
    a + b
}

#[device]
fn operands<T: Num>(a: T) -> T {
    a + 1u32
}

#[device]
fn no_option(x: Option<f32>) -> f32 {
    x?
}

#[kernel]
fn returned(out: &mut [f32]) {
    if out.is_empty() {
        return 1;
    }
    let double = |v: f32| return 2.0 * v;
    out[0] = double(out[0]);
}

#[device]
fn arguments<const N: usize>(p: Point, x: &[f32; N]) -> f32 {
    p.times(true);
    add::<bool>(true, false);
    add(1.0, 2u32);
    tiled_partition::<12>(&cuda_jit::device::this_block());
    misspelled(x[0])
}

#[device]
fn iterators<const N: usize>(x: &[f32; N]) -> f32 {
    for v in x.iter().sum::<f32>() {}
    x[0]
}

#[device]
fn trying(x: Option<f32>) -> Option<f32> {
    Some(x?.squareroot() + Point { x: 1.0 }.lenght())
}

enum Way {
    Up,
    Down,
}

#[device]
fn underived<const N: usize>() -> usize {
    match Way::Up {
        Way::Up => N,
        Way::Down => 2,
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair<T> {
    a: T,
    b: T,
}

#[device]
impl<T: Num> Pair<T> {
    fn sum(&self) -> T {
        self.a.plus(self.b)
    }

    fn first<U: Num>(&self, u: U) -> U {
        u.plus(self.a)
    }
}

#[device]
fn of_a_lifetime<'a, T: Num + 'a>(x: &'a [T]) -> &'a T {
    &x.frist()
}

#[kernel]
fn calls(out: &mut [f32]) {
    out[0] = arguments(Point { x: 1.0 }, &[1.0]) + iterators(&[1.0]);
}

fn main() {}
