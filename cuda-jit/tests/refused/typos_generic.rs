//! Misspelled names in generic functions and methods: one error each; in the last three, whose body is not copied, two.
use cuda_jit::{DeviceType, Num, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn length(&self) -> f32 {
        self.x
    }

    fn method(&self) -> f32 {
        self.x.squareroot()
    }

    fn own(&self) -> f32 {
        self.lenght()
    }

    fn function(self) -> f32 {
        squareroot(self.x)
    }

    fn field<T: Num>(&mut self, of: T) -> T {
        self.z = 1.0;
        of
    }
}

#[device]
fn method<T: Num>(a: T, b: f32) -> T {
    b.squareroot();
    a
}

#[device]
fn of_parameter<T: Copy + Num, const N: usize>(a: [T; N]) -> T {
    a[0].squareroot()
}

#[device]
fn function<'a, T: Num>(a: &'a [T]) -> &'a T {
    squareroot(a);
    &a[0]
}

#[device]
fn with_closure<T: Num, F: Fn(T) -> T>(a: T, f: F) -> T {
    apply(f(a).squareroot(), |v| v)
}

#[device]
fn trying(x: Option<f32>) -> Option<f32> {
    Some(squareroot(x?))
}

trait Unknown {}

#[device]
fn bounded<T: Unknown + DeviceType>(a: T) -> f32 {
    squareroot(2.0)
}

#[kernel]
fn long(out: &mut [f32]) {
    let mut v = 0.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    v += 1.0;
    out[0] = squareroot(v);
}

fn main() {}
