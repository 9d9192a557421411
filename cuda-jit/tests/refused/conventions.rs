//! Types in lower case that are not imported, and modules that are spelled like types.
#![allow(non_camel_case_types)]

use cuda_jit::{DeviceType, device, kernel};
use cuda_jit::f16 as h;

type word = u32;

#[derive(Clone, Copy, DeviceType)]
struct point {
    x: f32,
}

#[device]
impl point {
    fn new(x: f32) -> Self {
        point { x }
    }
}

#[kernel]
fn lower(out: &mut [f32]) {
    out[0] = point::new(1.0).x + h::from_f32(1.0).to_f32();
    out[1] = word::from(3u8) as f32;
}

mod own {
    use cuda_jit::kernel;

    mod f32 {
        use cuda_jit::device;

        #[device]
        pub fn max(a: f32, b: f32) -> f32 {
            a + b
        }
    }

    mod sums {
        use cuda_jit::device;

        #[device]
        pub fn max(a: u32, b: u32) -> u32 {
            a + b
        }
    }

    #[kernel]
    fn named_as_a_type(out: &mut [f32]) {
        out[0] = f32::max(out[0], 1.0);
    }

    #[kernel]
    fn in_a_block(out: &mut [u32]) {
        if out[0] > 1 {
            use sums as u32;
            out[0] = u32::max(out[0], 1);
        }
    }
}

fn main() {}
