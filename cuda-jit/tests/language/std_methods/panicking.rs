//! Methods that panic: for the arguments for which they panic on the host, and no others.

use super::super::{context, on_device, on_host};
use super::*;
use std::panic::catch_unwind;

/// Stands for the result of a method that panics.
const NONE: u32 = 1 << 31;

/// A test case of each method: the expression's name, and the expression, of two small numbers and an array.
macro_rules! panicking {
    (|$a:ident, $b:ident, $all:ident| $($name:ident: $value:expr;)*) => {
        mod called {
            use super::*;
            $(
                #[device]
                pub(super) fn $name($a: u32, $b: u32) -> u32 {
                    let mut $all = [$a, 1, 2, 3, 4, $b];
                    let value = $value;
                    value as u32
                }
            )*
        }
        /// Calls a method.
        #[device]
        fn chosen(which: u32, a: u32, b: u32) -> u32 {
            let (mut at, mut value) = (0u32, 0u32);
            $(
                if which == at {
                    value = called::$name(a, b);
                }
                at += 1;
            )*
            value
        }
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

panicking! {
    |a, b, all|
    option_unwrap: a.checked_sub(b).unwrap();
    option_expect: a.checked_sub(b).expect("not less");
    result_unwrap: u8::try_from(a * 100).unwrap();
    result_expect: u8::try_from(a * 100).expect("a byte");
    result_unwrap_err: a.checked_sub(b).ok_or(b).unwrap_err();
    result_expect_err: a.checked_sub(b).ok_or(b).expect_err("less");
    strict_add: (a as u8).wrapping_mul(40).strict_add((b as u8).wrapping_mul(40));
    strict_sub: a.strict_sub(b);
    strict_mul: (a as u8).wrapping_mul(9).strict_mul((b as u8).wrapping_mul(9));
    strict_neg: (a as i8).wrapping_mul(64).strict_neg();
    strict_div: (a as i8).wrapping_mul(64).strict_div((b as i8).wrapping_sub(2));
    strict_rem: (a as i8).wrapping_mul(64).strict_rem((b as i8).wrapping_sub(2));
    strict_div_euclid: (a as i8).wrapping_mul(64).strict_div_euclid((b as i8).wrapping_sub(2));
    strict_rem_euclid: (a as i8).wrapping_mul(64).strict_rem_euclid((b as i8).wrapping_sub(2));
    strict_pow: (a as u8).wrapping_mul(4).strict_pow(b);
    strict_shl: a.strict_shl(b << 4);
    strict_shr: a.strict_shr(b << 4);
    strict_abs: (a as i8).wrapping_mul(64).strict_abs();
    to_digit: 'a'.to_digit(a << 4).unwrap_or(7);
    from_digit: char::from_digit(a, b << 4).map_or(7, |c| c as u32);
    index: all[(a + b) as usize];
    range: all[a as usize..b as usize].len();
    inclusive: all[a as usize..=b as usize].len();
    split_at: all[..4].split_at(a as usize).1.len();
    split_at_mut: all[..4].split_at_mut(a as usize).1.len();
    swap: { all[..5].swap(a as usize, b as usize); all[2] };
    rotate_left: { all[..4].rotate_left(a as usize); all[0] };
    rotate_right: { all[..4].rotate_right(a as usize); all[0] };
    copy_from_slice: { let from = [7u32; 6]; all[..a as usize].copy_from_slice(&from[..b as usize]); all[0] };
    clone_from_slice: { let from = [7u32; 6]; all[..a as usize].clone_from_slice(&from[..b as usize]); all[0] };
    swap_with_slice: { let mut from = [7u32; 6]; all[..a as usize].swap_with_slice(&mut from[..b as usize]); all[0] };
    chunks: all.chunks(a as usize).len();
    chunks_exact: all.chunks_exact(a as usize).len();
    rchunks: all.rchunks(a as usize).len();
    rchunks_exact_mut: all.rchunks_exact_mut(a as usize).len();
    copy_within: { all.copy_within(a as usize..b as usize, 3); all[3] };
    copy_within_inclusive: { all.copy_within(a as usize..=b as usize, 0); all[1] };
    copy_within_from: { all[..4].copy_within(a as usize.., b as usize); all[1] };
    select_nth_unstable: *all[..4].select_nth_unstable(a as usize).1;
    select_nth_unstable_by_key: *all[..b as usize].select_nth_unstable_by_key(a as usize, |v| 9 - *v).1;
    wrapping_division: (std::num::Wrapping(a) / std::num::Wrapping(b)).0;
    wrapping_remainder: { let mut v = std::num::Wrapping(a); v %= std::num::Wrapping(b); v.0 };
    saturating_division: (std::num::Saturating(a) / std::num::Saturating(b)).0;
    windows: all.windows(a as usize).len();
    step_by: all.iter().step_by(a as usize).len();
    clamp: 3u32.clamp(a, b);
    clamp_of_floats: 3f32.clamp(a as f32, if b == 0 { f32::NAN } else { b as f32 });
    div_euclid: a.div_euclid(b);
    rem_euclid: (i32::MIN + a as i32).rem_euclid(b as i32 - 1);
    wrapping_div: a.wrapping_div(b);
    wrapping_rem: a.wrapping_rem(b);
    overflowing_div: a.overflowing_div(b).0;
    saturating_div: (a as i32).saturating_div(b as i32);
    div_ceil: a.div_ceil(b);
    next_multiple_of: a.next_multiple_of(b);
    ilog: a.ilog(b);
    ilog2: a.ilog2();
    ilog10: a.ilog10();
    isqrt: (a as i32 - b as i32).isqrt();
}

/// A thread that panics leaves its element.
#[kernel]
fn program(which: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    out[i as usize] = chosen(which, i / 7, i % 7);
}

#[test]
fn methods_panic_where_the_hosts_do() {
    if !crate::language::in_child_process("language::std_methods::panicking::methods_panic_where_the_hosts_do") {
        return;
    }
    for (which, name) in (0..).zip(NAMES) {
        let of = |i: u32| catch_unwind(|| chosen(which, i / 7, i % 7)).unwrap_or(NONE);
        let host: Vec<u32> = (0..49).map(of).collect();
        let mut device = on_device(&[NONE; 49]);
        program::launch((1, 49), which, &mut device).expect("the kernel compiles and launches");
        let panic = context().synchronize();
        assert!(matches!(panic, Err(cuda_driver::Error::KernelPanic(_))), "{name}: {panic:?}");
        assert_eq!(on_host(&device), host, "{name}");
        assert!(host.iter().any(|value| *value != NONE), "{name} always panics");
    }
}
