//! A call's path resolves to one function, the same on the host and on the device.

use cuda_jit::device::*;
use cuda_jit::{device, kernel};

use super::differ;

mod marked {
    use cuda_jit::device;

    #[device]
    pub(super) fn twice(x: i64) -> i64 {
        x * 2
    }

    #[device]
    pub(super) fn applied<F: Fn(i64) -> i64>(f: F, x: i64) -> i64 {
        f(x) * 2
    }

    #[device]
    pub(super) fn nth<T: Copy, const N: usize>(x: [T; N], at: usize) -> T {
        x[at % N]
    }

    #[device]
    pub(super) fn longest<'a>(x: &'a [i32], y: &'a [i32]) -> &'a [i32] {
        if x.len() > y.len() { x } else { y }
    }

    #[device]
    #[expect(non_snake_case, reason = "the case of a name decides nothing")]
    pub(super) fn Half(x: i64) -> i64 {
        x / 2
    }
}

/// Functions that shadow glob imports of the same name, but not the types of that name.
mod plain {
    pub(super) use super::marked::*;

    pub(super) fn twice(x: i64) -> i64 {
        x + 77
    }

    pub(super) fn applied<F: Fn(i64) -> i64>(f: F, x: i64) -> i64 {
        f(x) + 5
    }

    #[expect(non_snake_case, reason = "the case of a name decides nothing")]
    pub(super) fn Half(x: i64) -> i64 {
        x / 3
    }
}

fn clz(x: u32) -> u32 {
    x + 1000
}

#[kernel]
fn by_every_path(x: &[i32], out: &mut [i64]) {
    use self::marked::twice as doubled;
    let i = grid::<1>();
    let v = x[i] as i64;
    out[i] = marked::twice(v) + doubled(v) + marked::applied(|w| w + v, 3) + marked::applied(marked::twice, v);
    out[i] +=
        plain::nth([1, 2, v], i) + marked::nth::<i64, 2>([4, v], 1) + marked::Half(v) + Some(v).map_or(0, marked::Half);
    out[i] += plain::longest(x, &x[1..]).len() as i64 + Some(v).map(doubled).unwrap_or(0) + popc(x[i] as u32) as i64;
    out[i] += {
        #[device]
        fn twice(x: i64) -> i64 {
            x * 20
        }
        twice(v) + self::marked::applied(twice, 1)
    };
}

mod constants {
    #![expect(non_upper_case_globals, reason = "the case of a name decides nothing")]

    pub(super) const limit: i64 = 5;
    pub(super) static bound: i64 = 6;
    pub(super) const table: [i64; 3] = [4, 5, 6];
    pub(super) const pair: (u32, f32) = (3, 4.5);
}

#[device]
fn first<T: Copy>(x: T, _: i64) -> T {
    x
}

#[device]
fn sum(x: &[i64; 3], y: [i64; 3]) -> i64 {
    x[0] + x[1] * 2 + y[2]
}

#[kernel]
fn constants_in_lower_case(x: &[i32], out: &mut [i64]) {
    use self::constants::{bound, limit, pair};
    let i = grid::<1>();
    let v = x[i] as i64;
    out[i] = marked::twice(limit) + first(bound, limit) * 3 + sum(&constants::table, constants::table);
    out[i] += first(pair, bound).0 as i64 + marked::applied(marked::twice, limit) + popc(constants::pair.0) as i64;
    out[i] += Some(limit).map_or(bound, marked::twice) + v.max(limit) + marked::applied(|w| w * bound, v);
}

#[test]
fn constants_are_arguments_in_any_case() {
    differ!(constants_in_lower_case, (1, 4), [&[7i32, -2, 1 << 20, 0][..]], vec![0i64; 4]);
}

#[test]
fn every_path_of_a_function_means_it() {
    differ!(by_every_path, (1, 4), [&[7i32, -2, 1 << 20, 0][..]], vec![0i64; 4]);
}

#[kernel]
fn beside_a_glob(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[i] = clz(x[i]);
}

#[kernel]
fn by_a_module(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = plain::twice(x[i]);
}

#[kernel]
fn with_a_closure(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = plain::applied(|v| v + 3, x[i]);
}

#[kernel]
fn as_an_argument(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = marked::applied(plain::twice, x[i]);
}

#[kernel]
fn as_an_argument_of_a_method(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = Some(x[i]).map(plain::twice).unwrap_or(0);
}

#[kernel]
fn with_a_capital(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = plain::Half(x[i]);
}

#[kernel]
fn with_a_capital_as_an_argument(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = Some(x[i]).map_or(0, plain::Half);
}

#[test]
fn a_function_of_ones_own_that_hides_one_of_the_device_is_refused() {
    macro_rules! refused {
        ($($kernel:ident: $name:literal;)*) => { $(
            let said = $kernel::compile_ptx((9, 0)).expect_err("the host calls another function").to_string();
            let why = concat!("the host calls `all::language::one_function::", $name, "`, which hides a device function of that name");
            assert!(said.contains(why), "{said}");
            // host calls are unaffected
            let mut out = [0; 1];
            cuda_jit::host::for_each_thread((1, 1), || $kernel(&[3], &mut out));
            assert_ne!(out, [0]);
        )* };
    }
    refused! {
        beside_a_glob: "clz";
        by_a_module: "plain::twice";
        with_a_closure: "plain::applied";
        as_an_argument: "plain::twice";
        as_an_argument_of_a_method: "plain::twice";
        with_a_capital: "plain::Half";
        with_a_capital_as_an_argument: "plain::Half";
    }
}
