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

#[device]
trait Area {
    fn area(&self) -> u32;

    fn doubled(self) -> u32;

    fn third(&self) -> Option<u32> {
        Some(self.area() / 3)
    }
}

#[device]
impl Area for Pair {
    fn area(&self) -> u32 {
        self.a * self.b
    }

    fn doubled(self) -> u32 {
        self.a * 2
    }
}

#[device]
impl Area for u32 {
    fn area(&self) -> u32 {
        *self
    }

    fn doubled(self) -> u32 {
        self + 1
    }
}

#[device]
fn halved(v: u32) -> Result<u32, u8> {
    if v % 2 == 0 { Ok(v / 2) } else { Err(v as u8) }
}

#[kernel]
fn of_any_type(x: &[u32], out: &mut [u32]) {
    let halves = || x.iter().map(|v| halved(*v));
    let less = || x.iter().map(|v| v.checked_sub(3));
    let pairs = || x.iter().map(|v| Pair { a: *v, b: 5 });
    out[0] = halves().filter_map(Result::ok).sum();
    out[1] = halves().filter_map(Result::err).map(u32::from).sum();
    out[2] = halves().filter(Result::is_ok).count() as u32;
    out[3] = less().filter(Option::is_some).count() as u32;
    out[4] = less().map(Option::unwrap_or_default).sum();
    out[5] = x.iter().map(Some).map(Option::unwrap).sum();
    out[6] = halves().map(Some).map(Option::transpose).filter_map(Result::ok).map(Option::unwrap).sum();
    out[7] = pairs().map(Area::doubled).sum::<u32>() + x.iter().copied().map(Area::doubled).sum::<u32>();
    out[8] = x.iter().map(Area::area).sum::<u32>() + x.iter().map(Area::third).map(Option::unwrap).sum::<u32>();
}

/// The path names a method of a generic type, or of a trait; what it is called with says of which type.
#[test]
fn the_types_of_methods_are_inferred() {
    let out = differ!(of_any_type, (1, 1), [&[8, 1, 6, 9, 2, 3][..]], vec![0u32; 9]);
    assert_eq!(&out[..4], [8, 13, 3, 4]);
}
