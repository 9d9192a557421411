//! Alignments beyond that of device memory.
#![forbid(unsafe_code)]

use cuda_jit::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C, align(16384))]
struct Large {
    a: [u8; 16384],
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
#[repr(align(0x200))]
struct Generic<T> {
    a: T,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C, align(256))]
struct Largest {
    a: [u8; 256],
}

fn main() {
    fn plain<T: cuda_mem::Element>() {}
    plain::<Largest>();
}
