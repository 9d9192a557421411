//! User-chosen names: of types, and those that could collide with the macros' own.

#![expect(non_camel_case_types, reason = "types of the user are named like the language's")]

use super::{differ, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

type Half = half::f16;
use half::bf16 as Brain;

#[kernel]
fn halves_by_other_names(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let a = Half::from_f32(x[i]) * half::f16::from_f64(0.5) + Half::from_bits(0x3c00);
    let b = Brain::from_f32(x[i]) + cuda_jit::bf16::from_f32_const(0.25) + Brain::from_f64(x[i] as f64);
    let c = <Half>::from_f32(2.0);
    out[i] = a.to_f32() + (b.to_f32() + c.to_f32()) * x[i];
}

#[kernel]
fn vectors_by_other_names(x: &[f32], out: &mut [f32]) {
    use cuda_jit::f32x2 as Float2;
    type Float4 = cuda_jit::f32x4;
    let i = grid::<1>();
    let a = Float4::new(x[i], 1.0, 2.0, 3.0) + Float4::splat(x[0]) * cuda_jit::f32x4::new(1.0, 2.0, 3.0, 4.0);
    let b = Float2::splat(3.0);
    out[i] = a.dot(a) + cuda_jit::f32x2::dot(b, b) + cuda_jit::f32x2::min(Float2::new(x[i], 4.0), b).x;
}

#[test]
fn types_have_other_names() {
    const X: [f32; 3] = [1.5, -2.25, 77.0];
    differ!(halves_by_other_names, (1, 3), [&X[..]], vec![0f32; 3]);
    differ!(vectors_by_other_names, (1, 3), [&X[..]], vec![0f32; 3]);
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct f32x4 {
    x: f32,
    of: [f32; 3],
}

#[device]
impl f32x4 {
    fn new(of: f32) -> Self {
        f32x4 { x: of, of: [of * 2.0; 3] }
    }

    fn splat(a: f32, b: f32) -> Self {
        f32x4 { x: a, of: [b, b, a] }
    }

    fn dot(&self, by: f32) -> f32 {
        (self.x + self.of[2]) * by
    }
}

#[derive(Clone, Copy, DeviceType)]
struct bf16 {
    hundredths: f32,
}

#[device]
impl bf16 {
    fn from_f32(v: f32) -> Self {
        bf16 { hundredths: v * 100.0 }
    }
}

#[kernel]
fn users_types(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let (a, b) = (f32x4::new(x[i]), f32x4::splat(x[i], 9.0));
    out[i] = a.x + a.of[1] + b.of[0] + b.of[2] + f32x4::dot(&a, 2.0) + b.dot(10.0) + bf16::from_f32(x[i]).hundredths;
}

#[test]
fn types_of_the_user_have_the_names_of_the_languages() {
    differ!(users_types, (1, 2), [&[1.5f32, -2.25][..]], vec![0f32; 2]);
}

#[device]
fn __unify(__f0: u32) -> u32 {
    let __c0 = __f0 + 1;
    __c0 * 2
}

#[device]
fn __query(__reported: u32) -> u32 {
    __reported
}

#[kernel]
fn called(x: &[u32], config: u32, count: u32, __probe: u32, out: &mut [u32]) {
    let __w0 = grid::<1>();
    let (__w1, __w2, __n0, __c0, __f0) = (x[__w0], 2u8, 3u64, 4.5f32, true);
    let __v = __unify(__query(__w1));
    let __part0 = (__w2, __n0);
    let (mut __a, mut __b) = (__v, 1);
    (__a, __b) = (__b, __a);
    out[__w0] =
        __a + __b * config + count + __probe + __c0 as u32 + __f0 as u32 + (__part0.0 as u64 + __part0.1) as u32;
}

#[test]
fn bindings_have_the_names_of_the_macros() {
    let mut out = on_device(&[0u32; 2]);
    called::launch((1, 2), &[10, 20], 3, 1000, 500, &mut out).unwrap();
    assert_eq!(on_host(&out), [1 + 66 + 1500 + 10, 1 + 126 + 1500 + 10]);
    let (__w0, __capture1) = (5u32, 6u32);
    let f = cuda_jit::device_fn!(|__w1: u32| __w1 + __w0 * __capture1);
    let mut out = on_device(&[1u32]);
    passed::launch((1, 1), f, &mut out).unwrap();
    assert_eq!(on_host(&out), [31]);
}

#[kernel]
fn passed<F: Fn(u32) -> u32>(f: F, out: &mut [u32]) {
    out[0] = f(out[0]);
}

/// There is a crate of that name.
#[device]
fn ndarray(v: f32) -> f32 {
    v * 2.0
}

#[kernel]
fn calls_the_crates_namesake(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    out[i] = self::ndarray(x[i]);
}

#[test]
fn a_device_function_may_have_a_crates_name() {
    differ!(calls_the_crates_namesake, (1, 2), [&[1.0, 2.5][..]], vec![0f32; 2]);
}

mod hidden {
    //! User functions that shadow glob imports.

    use super::others::*;
    use crate::language::{differ, on_device, on_host};
    use cuda_jit::device::*;
    use cuda_jit::{DeviceType, device, device_fn, kernel};

    #[device]
    fn clz(x: u32) -> u32 {
        x * 3 + 1
    }

    #[device]
    fn shared_name(x: u32) -> u32 {
        x ^ 5
    }

    #[device]
    fn generic<T: DeviceType + Copy>(x: T) -> (T, u32) {
        (x, 7)
    }

    #[device]
    fn applied<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
        f(x) + 100
    }

    #[kernel]
    fn called(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        let (same, seven) = generic::<u32>(shared_name(x[i]));
        out[i] = clz(x[i]) + generic(same).0 * seven + applied(|v| v.rotate_left(2), x[i]) + other(2) + popc(x[i]);
    }

    #[kernel]
    fn passed<F: Fn(u32) -> u32>(f: F, x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        out[i] = f(x[i]);
    }

    #[test]
    fn globs_give_way_to_functions_of_the_module() {
        differ!(called, (1, 3), [&[1, 20, 300][..]], vec![0u32; 3]);
        let expected: Vec<u32> = [1, 20, 300].map(clz).to_vec();
        let mut out = on_device(&[0u32; 3]);
        passed::launch((1, 3), device_fn!(clz), &on_device(&[1, 20, 300]), &mut out).unwrap();
        assert_eq!(on_host(&out), expected);
    }
}

mod others {
    use cuda_jit::device;

    #[device]
    pub(super) fn other(x: u32) -> u32 {
        x + 50
    }

    #[device]
    pub(super) fn shared_name(_: u32) -> u32 {
        0
    }

    #[device]
    pub(super) fn generic(_: u32) -> u32 {
        0
    }

    #[device]
    pub(super) fn applied(_: u32) -> u32 {
        0
    }
}
