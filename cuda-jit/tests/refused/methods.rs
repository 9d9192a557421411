use cuda_jit::{DeviceType, device, kernel};

#[derive(Clone, Copy, DeviceType)]
struct Plain(f32);

impl Plain {
    fn twice(self) -> f32 {
        self.0 * 2.0
    }

    fn len(&self) -> usize {
        1
    }

    fn new() -> Self {
        Plain(1.0)
    }
}

#[kernel]
fn plain_methods(out: &mut [f32]) {
    let p = Plain(1.0);
    out[0] = p.twice();
    out[p.len()] = out[0].to_owned();
}

#[kernel]
fn plain_associated(out: &mut [f32]) {
    out[0] = Plain::new().0;
}

#[device]
impl Plain {
    fn generic<T: cuda_jit::Num>(&self, t: T, by: f32) -> T {
        t
    }
}

#[kernel]
fn generic_methods(out: &mut [f32]) {
    let p = Plain(1.0);
    p.generic(1u8, 2u32);
    p.generic(1u8);
    p.generic(true, 1.0);
}

#[device]
trait Shape {
    fn area(&self) -> f32;
}

impl Shape for Plain {
    fn area(&self) -> f32 {
        self.0
    }
}

fn main() {}
