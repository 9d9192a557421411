//! Constructors: a call makes what rustc resolves its path to, however that is spelled.

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

/// A function with a struct's spelling.
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
