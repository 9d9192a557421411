//! Items whose names break Rust's conventions, and user methods with names of standard ones.

#![expect(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_unsafe,
    reason = "the kernels are named against Rust's conventions"
)]

use super::{differ, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, device_fn, kernel};

const factor: u32 = 3;
const Factor: u32 = 5;
const F: u32 = 7;

#[device]
fn Square(x: u32) -> u32 {
    x * x
}

#[device]
fn SQUARE(x: u32) -> u32 {
    x * x + 1
}

#[device]
fn S(x: u32) -> u32 {
    x + 2
}

#[device]
fn Applied<G: Fn(u32) -> u32>(x: u32, f: G) -> u32 {
    f(x)
}

#[kernel]
fn capital_functions(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let squared = Some(x[i]).map(Square).unwrap_or(0) + x.iter().copied().map(self::Square).sum::<u32>();
    out[i] = Square(x[i]) * 100 + SQUARE(x[i]) * 10 + S(x[i]) + Applied(x[i], |v| v + 1) + squared;
    out[i] += match x[i] {
        factor => 1000,
        Factor => 2000,
        F => 3000,
        _ => factor + Factor + F,
    };
}

#[kernel]
fn passed<G: Fn(u32) -> u32>(f: G, x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[i] = f(x[i]);
}

#[test]
fn functions_and_constants_have_any_case() {
    differ!(capital_functions, (1, 4), [&[3, 5, 7, 9][..]], vec![0u32; 4]);
    let mut out = on_device(&[0u32; 2]);
    passed::launch((1, 2), device_fn!(Square), &on_device(&[3, 4]), &mut out).unwrap();
    assert_eq!(on_host(&out), [9, 16]);
}

#[derive(Clone, Copy, DeviceType)]
struct meters(u32);

#[derive(Clone, Copy, DeviceType)]
enum Shape {
    circle(u32),
    Square(u32),
    none,
}

#[derive(Clone, Copy, DeviceType)]
enum shape {
    Circle(u32),
    None,
}

#[derive(Clone, Copy, DeviceType)]
struct point {
    x: u32,
}

#[device]
impl point {
    fn new(x: u32) -> point {
        point { x }
    }

    fn twice(&self) -> u32 {
        self.x * 2
    }
}

type word = u32;

#[kernel]
fn lower_types(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let long = Some(x[i]).map(meters);
    let meters(far) = meters(x[i] + 1);
    let made = match x[i] % 3 {
        0 => Shape::circle(x[i]),
        1 => Shape::Square(far),
        _ => Shape::none,
    };
    out[i] = match made {
        Shape::circle(r) => r * 3,
        Shape::Square(a) => a * a,
        Shape::none => 1,
    };
    let lower = if x[i] > 5 { shape::Circle(x[i]) } else { shape::None };
    if let shape::Circle(r) = lower {
        out[i] += r * 10_000;
    }
    out[i] += long.map_or(0, |long| long.0) * 100 + <point>::new(x[i]).twice() + <word>::max(x[i], 2) + word::MAX / 2;
}

#[test]
fn types_and_variants_have_any_case() {
    differ!(lower_types, (1, 4), [&[3, 5, 7, 9][..]], vec![0u32; 4]);
}

mod modules {
    use super::super::differ;
    use cuda_jit::device::grid;
    use cuda_jit::kernel;

    mod u32 {
        use cuda_jit::device;

        #[device]
        pub(super) fn max(a: usize, b: usize) -> usize {
            a * 10 + b
        }
    }

    mod f32x4 {
        use cuda_jit::device;

        #[device]
        pub(super) fn dot(a: usize, b: usize) -> usize {
            a * 100 + b
        }
    }

    mod launched {
        use cuda_jit::device;

        #[device]
        pub(super) fn launch(x: usize) -> usize {
            x + 7
        }

        #[device]
        pub(super) fn from_f32(x: usize) -> usize {
            x + 8
        }

        #[device]
        pub(super) fn grid(x: usize) -> usize {
            x + 9
        }
    }

    #[kernel]
    fn modules(x: &[usize], out: &mut [usize]) {
        use launched::launch;
        let i = grid::<1>();
        out[i] = self::u32::max(x[i], 3) + self::f32x4::dot(x[i], 2) + <u32>::max(4, x[i] as u32) as usize;
        out[i] += launch(x[i]) * 1000 + launched::from_f32(x[i]) + launched::grid(x[i]);
    }

    #[test]
    fn modules_are_named_as_types_and_kernels_are() {
        differ!(modules, (1, 2), [&[3usize, 5][..]], vec![0usize; 2]);
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Own {
    x: u32,
    y: u32,
}

#[device]
impl Own {
    fn clone(&self) -> u32 {
        self.x + 1
    }

    fn fetch_add(&self, by: u32) -> u32 {
        self.x + by
    }

    fn get_unchecked(&self, index: usize) -> &u32 {
        if index == 3 { &self.x } else { &self.y }
    }

    fn expect(&self, by: u32) -> u32 {
        self.x * by
    }

    fn launch(x: u32) -> u32 {
        x + 30
    }

    fn forall(&self) -> u32 {
        self.x + 40
    }
}

#[kernel]
fn own_methods(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let own = Own { x: x[i], y: 7 };
    out[i] = own.clone() + own.fetch_add(2) * 10 + *own.get_unchecked(i) * 100 + own.expect(3) * 1000;
    out[i] += Own::launch(x[i]) + own.forall();
}

#[test]
fn methods_of_ones_own_are_named_as_the_standard_librarys() {
    differ!(own_methods, (1, 4), [&[3, 5, 7, 9][..]], vec![0u32; 4]);
}

#[device]
fn called<G: Closure(u32) -> u32>(f: G, x: u32) -> u32 {
    f(x)
}

use std::ops::Fn as Closure;

#[derive(Clone, Copy, DeviceType)]
struct ArrayViewer<T> {
    x: T,
}

#[device]
fn seen(viewer: &ArrayViewer<u32>) -> &u32 {
    &viewer.x
}

#[kernel]
fn other_names(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[i] = called(|v| v + 1, x[i]) + *seen(&ArrayViewer { x: x[i] });
}

#[test]
fn bounds_and_views_are_not_known_by_their_first_letters() {
    differ!(other_names, (1, 4), [&[3, 5, 7, 9][..]], vec![0u32; 4]);
}

#[kernel]
fn constants_in_unsafe_blocks(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let LOCAL = x[i];
    // SAFETY: nobody writes `LOCAL`, and there is a thread for each element of both slices.
    out[i] = unsafe { LOCAL } + unsafe { *x.get_unchecked(i) * F };
}

#[test]
fn capitals_in_unsafe_blocks_are_no_statics() {
    differ!(constants_in_unsafe_blocks, (1, 4), [&[3, 5, 7, 9][..]], vec![0u32; 4]);
}
