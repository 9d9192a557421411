//! Structs that are no plain data, since rustc adds padding or reorders fields, however the struct is written.
#![forbid(unsafe_code)]

use cuda_jit::DeviceType;
use cuda_mem::Element;

/// Its size is 8 for every `T`.
#[derive(Clone, Copy, DeviceType)]
#[repr(C, align(8))]
struct Aligned<T> {
    a: T,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
#[repr(r#align(8))]
struct Raw<T> {
    a: T,
}

#[derive(Clone, Copy, DeviceType)]
#[cfg_attr(all(), repr(C, align(16)))]
struct Lanes<const N: usize> {
    a: [f32; N],
}

#[derive(Clone, Copy, DeviceType)]
#[r#repr(C, r#packed)]
struct Packed {
    a: [u8; 3],
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C, align(8))]
struct Whole {
    a: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Around {
    a: [Whole; 2],
}

fn plain<T: Element>() {}

fn main() {
    plain::<Aligned<u32>>();
    plain::<Aligned<u16>>();
    plain::<Raw<u32>>();
    plain::<Lanes<3>>();
    plain::<Packed>();
    plain::<Whole>();
    plain::<Around>();
}
