//! `#[device]` before the `impl` of a trait that lacks it: one error, which says where to write it.
use cuda_jit::{DeviceType, device};

trait Shape {
    fn area(&self) -> f32;

    fn twice(&self) -> f32 {
        2.0 * self.area()
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Square {
    side: f32,
}

#[device]
impl Shape for Square {
    fn area(&self) -> f32 {
        self.side * self.side
    }
}

fn main() {}
