//! Constructors: a call constructs the type that rustc resolves its path to, whatever its spelling.

#![allow(non_snake_case, non_camel_case_types, reason = "names that mislead are the point")]

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

use super::differ;

#[derive(Clone, Copy, DeviceType)]
struct Meters(u32);

#[derive(Clone, Copy, DeviceType)]
struct Both<T>(T, T);

#[derive(Clone, Copy, DeviceType)]
struct pair(u32, f32);

#[derive(Clone, Copy, DeviceType)]
struct Nothing();

use Meters as metres;

type Maybe = Option<u8>;

mod own {
    use cuda_jit::DeviceType;

    #[derive(Clone, Copy, DeviceType)]
    pub(super) struct Some(pub(super) u32);
}

/// A function that is spelled like a struct.
#[device]
fn Doubled(x: u32) -> Meters {
    Meters(2 * x)
}

#[device]
fn Tripled(x: u32) -> u32 {
    3 * x
}

#[device]
impl Meters {
    fn Of(x: u32) -> Meters {
        Self(5 * x)
    }
}

#[kernel]
fn functions_with_capitals(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        out[i] = Doubled(x[i]).0 + 100 * Tripled(x[i]) + 10_000 * Meters::Of(x[i]).0;
    }
}

#[test]
fn device_functions_may_have_capitals() {
    let x: Vec<u32> = (0..12).collect();
    differ!(functions_with_capitals, (1, 32), [&x[..]], vec![0_u32; 12]);
}

#[kernel]
fn structs_by_any_name(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let mut both = Both(pair(x[i], 2.0), pair(3, 0.5));
        let Both(pair(first, _), second) = both;
        Both(pair(both.1.0, _), _) = Both::<pair>(second, second);
        let _ = Nothing();
        let some = match Maybe::Some(7) {
            Maybe::Some(n) => n,
            Option::None => 0,
        };
        let nested = Option::Some(Both(metres(1), self::Meters(x[i])));
        let r#match = nested.unwrap_or(Both(Meters(0), Meters(0)));
        let r#plain = 1;
        out[i] = first + 10 * both.1.0 + 100 * some as u32 + 1000 * r#match.1.0 + plain + (second.1 * 2.0) as u32;
    }
}

#[test]
fn tuple_structs_are_made_under_any_name() {
    let x: Vec<u32> = (0..12).collect();
    differ!(structs_by_any_name, (1, 32), [&x[..]], vec![0_u32; 12]);
}

mod with_own_names {
    use super::own::Some;
    use cuda_jit::device::grid;
    use cuda_jit::kernel;

    #[kernel]
    pub(super) fn own_types(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        if i < x.len() {
            let Some(n) = Some(x[i]);
            let mut some = Some(n + 1);
            Some(some.0) = Some(some.0 * 2);
            out[i] = some.0;
        }
    }
}

use with_own_names::own_types;

#[test]
fn own_types_may_be_called_some() {
    let x: Vec<u32> = (0..12).collect();
    differ!(own_types, (1, 32), [&x[..]], vec![0_u32; 12]);
}

#[derive(Clone, Copy, DeviceType)]
enum E<T> {
    A(T),
    B(T, u32),
    C,
}

#[derive(Clone, Copy, DeviceType)]
struct W(u32);

const LIMIT: u32 = 40;
const LIMITS: [u32; 2] = [7, 9];

impl W {
    const MOST: W = W(11);
}

trait Bounded {
    const MOST: u32;
}

impl Bounded for W {
    const MOST: u32 = 77;
}

#[device]
fn apply<R, F: Fn(u32) -> R>(f: F, v: u32) -> R {
    f(v)
}

#[device]
fn apply_two<R, F: Fn(u32, u32) -> R>(f: F, v: u32) -> R {
    f(v, v + 1)
}

#[device]
fn of<T: DeviceType>(e: E<T>, or: T) -> T {
    match e {
        E::A(v) | E::B(v, _) => v,
        E::C => or,
    }
}

#[device]
fn sum(limits: [u32; 2], limit: u32, w: W) -> u32 {
    limits[0] + limits[1] * limit + w.0
}

#[device]
fn most<T: Bounded, const N: u32>(limit: u32) -> u32 {
    sum(LIMITS, T::MOST, W(N)) + limit.min(T::MOST).max(N)
}

#[kernel]
fn constructors_as_arguments(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let v = x[i];
        let some = Some(v).filter(|v| v % 2 == 0);
        out[7 * i] = apply(W, v).0 + some.map(W).map_or(5, |w| w.0);
        out[7 * i + 1] = of(apply(E::A, v), 1) + of(some.map(E::A).unwrap_or(E::C), 9) + of(apply_two(E::B, v), 2);
        out[7 * i + 2] = apply(Some, v).unwrap_or(3) + apply(Ok::<u32, u32>, v).unwrap_or(4);
        out[7 * i + 3] = apply(Tripled, v) + apply(Doubled, v).0;
        out[7 * i + 4] = sum(LIMITS, LIMIT, W::MOST) + v.min(LIMIT) + some.unwrap_or(LIMIT);
        out[7 * i + 5] = most::<W, 5>(v) + apply(metres, v).0 + some.map(E::A).is_none_or(|e| matches!(e, E::C)) as u32;
        out[7 * i + 6] = x.iter().copied().map(W).fold(0, |s, w| s * 3 + w.0) + of(E::C, LIMIT);
    }
}

#[test]
fn constructors_are_arguments_by_their_paths() {
    differ!(constructors_as_arguments, (1, 32), [&[1_u32, 2, 7, 60][..]], vec![0_u32; 28]);
}
