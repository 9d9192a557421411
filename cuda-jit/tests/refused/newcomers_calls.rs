//! Calls of device functions, methods and closures that rustc refuses: one error each, as without the attribute.
use cuda_jit::device::{grid, reduce_add_sync, shfl_sync};
use cuda_jit::{DeviceType, Num, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[device]
impl Point {
    fn length(&self) -> f32 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    fn plus(self, other: Point) -> Point {
        Point { x: self.x + other.x, y: self.y + other.y }
    }

    fn along(x: f32) -> Point {
        Point { x, y: 0.0 }
    }
}

#[device]
fn apply<F: Fn(f32) -> f32>(f: F, x: f32) -> f32 {
    f(x)
}

#[device]
fn add<T: Num>(a: T, b: T) -> T {
    a + b
}

#[kernel]
fn methods(p: Point, out: &mut [f32]) {
    out[0] = p.length(1);
    out[1] = p.plus(1.0).x;
    out[2] = p.lenght();
    out[3] = Point::along(true).x;
    out[4] = out[3].squareroot();
    out.push(1.0);
}

#[kernel]
fn closures(out: &mut [f32]) {
    out[0] = apply(|x: f64| x, 1.0);
    out[1] = apply(|x| x > 1.0, 1.0);
    out[2] = apply(|x, y| x + y, 1.0);
    out[3] = apply(1.0, 1.0);
    let f = |x: f32| x * 2.0;
    out[4] = f(1u32);
    out[5] = f(1.0, 2.0);
}

#[kernel]
fn functions(out: &mut [f32]) {
    out[0] = add(1.0);
    out[1] = add(1.0, 2u32);
    out[2] = if add(true, false) { 1.0 } else { 0.0 };
    out[3] = shfl_sync(out[0], 0);
    out[4] = reduce_add_sync(!0, out[4]);
    out[grid::<1>(0)] = 1.0;
}

enum Way {
    Up,
    Down,
}

#[kernel]
fn underived(out: &mut [f32]) {
    out[0] = match Way::Up {
        Way::Up => 1.0,
        Way::Down => 2.0,
    };
}

fn main() {}
