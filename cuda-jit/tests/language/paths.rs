//! Device functions passed as arguments by path.

use super::differ;
use cuda_jit::{DeviceType, Num, device, kernel};

mod powers {
    use cuda_jit::device;

    #[device]
    pub(super) fn cube(x: u32) -> u32 {
        x * x * x
    }
}

#[device]
fn square(x: u32) -> u32 {
    x * x
}

#[device]
fn apply<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
    f(x).wrapping_add(f(1))
}

#[device]
fn apply_float<F: Fn(f32) -> f32>(f: F, x: f32) -> f32 {
    f(x) + f(1.0)
}

#[device]
fn combined<T: Num, F: Fn(T, T) -> T>(f: F, x: T) -> T {
    f(x, x)
}

#[device]
fn twice<T: Num>(x: T) -> T {
    x + x
}

#[device]
fn sum<T: Num>(x: T, y: T) -> T {
    x + y
}

#[derive(Clone, Copy, DeviceType)]
struct Pair {
    a: u32,
    b: u32,
}

#[device]
impl Pair {
    fn seven(x: u32) -> u32 {
        x + 7
    }

    fn total(self) -> u32 {
        self.a + self.b
    }

    fn with<F: Fn(u32) -> u32>(self, f: F) -> u32 {
        f(self.a) * f(self.b)
    }
}

#[device]
fn on_pair<F: Fn(Pair) -> u32>(f: F, x: u32) -> u32 {
    f(Pair { a: x, b: 3 })
}

#[kernel]
fn passed(x: u32, out: &mut [u32]) {
    #[device]
    fn inner(x: u32) -> u32 {
        x + 11
    }
    let pair = Pair { a: x, b: 9 };
    out[0] = apply(square, x);
    out[1] = apply(&square, x);
    out[2] = apply(powers::cube, x) + apply(inner, x);
    out[3] = apply(Pair::seven, x) + on_pair(Pair::total, x);
    out[4] = apply(twice, x) + apply(twice::<u32>, x) + combined(sum, x);
    out[5] = apply(u32::reverse_bits, x);
    out[6] = apply_float(f32::sqrt, x as f32).to_bits();
    out[7] = pair.with(square) + Pair::with(pair, square);
    out[8] = combined(u32::max, x) + combined(|a, b| a * b, x);
}

#[test]
fn functions_are_passed_by_their_paths() {
    for x in [0, 3, 1000] {
        differ!(passed, (1, 1), [x], vec![0u32; 9]);
    }
}
