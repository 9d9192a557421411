use cuda_jit::{DeviceType, device};
use std::ops::Add;

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Nothing {}

#[derive(Clone, Copy, DeviceType)]
struct Metres {
    of: f32,
}

#[device]
impl Add for Metres {
    type Output = Metres;
}

fn main() {}
