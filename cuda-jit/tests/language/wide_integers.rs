//! `i128` and `u128`: boundary values and random ones of every length, against the host's.

use super::{differ, on_device, on_host};
use crate::support::generate::Random;
use cuda_jit::device::{grid, ldcg, ldg, shared, stcs, sync_threads};
use cuda_jit::{DeviceType, Integer, compile_ptx, device, device_fn, kernel};

/// Numbers of every length, with few and with many set bits.
fn numbers() -> Vec<u128> {
    let mut random = Random(0x1280);
    let mut numbers = vec![0, 1, 2, 10, u128::MAX, u128::MAX - 1, 1 << 127, (1 << 127) - 1, (1 << 127) + 1, 1 << 64];
    for length in (1..=128).step_by(9) {
        let random = u128::from(random.next()) << 64 | u128::from(random.next());
        numbers.extend([random >> (128 - length), 1 << (length - 1), u128::MAX >> (128 - length)]);
    }
    numbers
}

/// Every pair of them, cast to another type.
fn pairs<T>(cast: fn(u128) -> T) -> (Vec<T>, Vec<T>) {
    let numbers = numbers();
    numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| (cast(a), cast(b)))).unzip()
}

/// The number of threads in a block.
const BLOCK: usize = 64;

macro_rules! differences {
    ($($ty:ident: $wide:ident $told:ident $counts:ident $bits:ident;)*) => { $(
        /// Operations that do not panic for any pair.
        #[kernel]
        fn $wide(x: &[$ty], y: &[$ty], out: &mut [$ty]) {
            let i = grid::<1>();
            if i >= x.len() {
                return;
            }
            let (a, b) = (x[i], y[i]);
            let at = i * 16;
            out[at] = a.wrapping_add(b);
            out[at + 1] = a.wrapping_sub(b);
            out[at + 2] = a.wrapping_mul(b);
            out[at + 3] = a.saturating_add(b);
            out[at + 4] = a.saturating_sub(b);
            out[at + 5] = a.saturating_mul(b);
            out[at + 6] = a.min(b);
            out[at + 7] = a.max(b);
            out[at + 8] = a.abs_diff(b) as $ty;
            out[at + 9] = a.wrapping_pow(b as u32 & 7);
            if b != 0 {
                out[at + 10] = a.wrapping_div(b);
                out[at + 11] = a.wrapping_rem(b);
                if let Some(quotient) = a.checked_div(b) {
                    out[at + 12] = quotient;
                    out[at + 13] = a.div_euclid(b);
                    out[at + 14] = a.rem_euclid(b);
                }
            }
            out[at + 15] = a.wrapping_neg();
        }

        #[kernel]
        fn $told(x: &[$ty], y: &[$ty], out: &mut [$ty]) {
            let i = grid::<1>();
            if i >= x.len() {
                return;
            }
            let (a, b) = (x[i], y[i]);
            let at = i * 9;
            out[at] = a.checked_add(b).unwrap_or(7);
            out[at + 1] = a.checked_sub(b).unwrap_or(7);
            out[at + 2] = a.checked_mul(b).unwrap_or(7);
            out[at + 3] = a.checked_rem(b).unwrap_or(7);
            out[at + 4] = a.checked_shl(b as u32).unwrap_or(7);
            out[at + 5] = a.checked_shr(b as u32).unwrap_or(7);
            out[at + 6] = a.checked_neg().unwrap_or(7);
            let ((sum, above), (product, beyond)) = (a.overflowing_add(b), a.overflowing_mul(b));
            let (difference, below) = a.overflowing_sub(b);
            out[at + 7] = sum ^ product ^ difference;
            out[at + 8] = above as $ty + beyond as $ty * 2 + below as $ty * 4;
        }

        #[kernel]
        fn $counts(x: &[$ty], out: &mut [u32]) {
            let i = grid::<1>();
            if i >= x.len() {
                return;
            }
            let (a, at) = (x[i], i * 8);
            out[at] = a.count_ones();
            out[at + 1] = a.count_zeros();
            out[at + 2] = a.leading_zeros();
            out[at + 3] = a.leading_ones();
            out[at + 4] = a.trailing_zeros();
            out[at + 5] = a.trailing_ones();
            out[at + 6] = if a > 0 { a.ilog2() } else { 0 };
            out[at + 7] = (a == a) as u32 + (a < 9) as u32 * 2 + (a >= x[0]) as u32 * 4;
        }

        #[kernel]
        fn $bits(x: &[$ty], amounts: &[u32], out: &mut [$ty]) {
            let i = grid::<1>();
            if i >= x.len() {
                return;
            }
            let (a, amount, at) = (x[i], amounts[i], i * 8);
            out[at] = a.reverse_bits();
            out[at + 1] = a.swap_bytes();
            out[at + 2] = a.rotate_left(amount);
            out[at + 3] = a.rotate_right(amount);
            out[at + 4] = a.wrapping_shl(amount);
            out[at + 5] = a.wrapping_shr(amount);
            out[at + 6] = a & (a >> amount % 128) | !a ^ (a << amount % 128);
            let mut v = a;
            v &= x[0];
            v |= 0x1234_5678_9abc_def0_0fed_cba9_8765_4321;
            v ^= a;
            v <<= 3;
            v >>= amount % 128;
            out[at + 7] = v;
        }

        #[test]
        fn $ty() {
            let (x, y) = pairs(|number| number as $ty);
            let blocks = x.len().div_ceil(BLOCK);
            differ!($wide, (blocks, BLOCK), [&x[..], &y[..]], vec![0 as $ty; 16 * x.len()]);
            differ!($told, (blocks, BLOCK), [&x[..], &y[..]], vec![0 as $ty; 9 * x.len()]);
            let x: Vec<$ty> = numbers().into_iter().map(|number| number as $ty).collect();
            differ!($counts, (1, x.len()), [&x[..]], vec![0; 8 * x.len()]);
            let (x, amounts) = pairs(|number| number as $ty);
            let amounts: Vec<u32> = amounts.into_iter().map(|amount| amount as u32).collect();
            differ!($bits, (blocks, BLOCK), [&x[..], &amounts[..]], vec![0 as $ty; 8 * x.len()]);
        }
    )* };
}

differences! {
    i128: signed signed_told signed_counts signed_bits;
    u128: unsigned unsigned_told unsigned_counts unsigned_bits;
}

#[kernel]
fn powers_of_two(x: &[u128], out: &mut [u128]) {
    let i = grid::<1>();
    out[3 * i] = x[i].is_power_of_two() as u128;
    out[3 * i + 1] = if x[i] <= 1 << 127 { x[i].next_power_of_two() } else { 0 };
    out[3 * i + 2] = x[i].div_ceil(1 + (x[0] | 9));
}

#[kernel]
fn signs(x: &[i128], out: &mut [i128]) {
    let i = grid::<1>();
    out[4 * i] = x[i].signum();
    out[4 * i + 1] = if x[i] == i128::MIN { 0 } else { x[i].abs() };
    out[4 * i + 2] = x[i].unsigned_abs() as i128;
    out[4 * i + 3] = x[i].is_negative() as i128 - x[i].is_positive() as i128;
}

#[test]
fn methods_of_one_sign() {
    let x = numbers();
    differ!(powers_of_two, (1, x.len()), [&x[..]], vec![0; 3 * x.len()]);
    let x: Vec<i128> = x.into_iter().map(|number| number as i128).collect();
    differ!(signs, (1, x.len()), [&x[..]], vec![0; 4 * x.len()]);
}

#[kernel]
fn to_narrow(x: &[i128], y: &[u128], out: &mut [u64]) {
    let i = grid::<1>();
    let at = i * 12;
    out[at] = x[i] as i8 as u64;
    out[at + 1] = x[i] as u16 as u64;
    out[at + 2] = y[i] as i32 as u64;
    out[at + 3] = y[i] as usize as u64;
    out[at + 4] = (x[i] as f32).to_bits() as u64;
    out[at + 5] = (x[i] as f64).to_bits();
    out[at + 6] = (y[i] as f32).to_bits() as u64;
    out[at + 7] = (y[i] as f64).to_bits();
    out[at + 8] = x[i] as u128 as u64;
    out[at + 9] = (y[i] as i128 >> 64) as u64;
}

#[kernel]
fn of_narrow(a: &[i8], b: &[u64], c: &[f32], d: &[f64], out: &mut [u128]) {
    let i = grid::<1>();
    let at = i * 10;
    out[at] = a[i % a.len()] as u128;
    out[at + 1] = a[i % a.len()] as i128 as u128;
    out[at + 2] = b[i % b.len()] as u128;
    out[at + 3] = u128::from(b[i % b.len()]) << 64;
    out[at + 4] = (a[i % a.len()] < 0) as u128;
    out[at + 5] = c[i % c.len()] as u128;
    out[at + 6] = c[i % c.len()] as i128 as u128;
    out[at + 7] = d[i % d.len()] as u128;
    out[at + 8] = d[i % d.len()] as i128 as u128;
    out[at + 9] = i128::from(a[i % a.len()]) as u128;
}

#[test]
fn casts_are_rusts() {
    // next to the midpoints of two floats, where rounding changes
    let middles =
        (0..104).flat_map(|up| [(1_u128 << 24) + 1, (1 << 53) + 1, (1 << 24) + 3].map(|middle| middle << up >> 1));
    let near = middles.flat_map(|middle| [middle - 1, middle, middle + 1]);
    let mut y: Vec<u128> = numbers().into_iter().chain(near).collect();
    // the largest that `f32` rounds down, and the smallest that becomes infinite
    y.extend([u128::MAX << 103, (u128::MAX << 103) - 1, u128::MAX << 104]);
    let x: Vec<i128> = y.iter().map(|&y| y as i128).collect();
    differ!(to_narrow, (1, y.len()), [&x[..], &y[..]], vec![0; 12 * y.len()]);

    let mut random = Random(7);
    let mut d: Vec<f64> = (0..200).map(|_| f64::from_bits(random.next())).collect();
    let scale = |power: i32| [1.0, 1.5, 1.75 + f64::EPSILON].map(|significand| significand * 2f64.powi(power));
    d.extend((-3..132).flat_map(scale).flat_map(|x| [x, -x]));
    d.extend([0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 0.999_999, -0.999_999]);
    let c: Vec<f32> = d.iter().map(|&d| d as f32).collect();
    let a: Vec<i8> = (-128..=127).collect();
    let b = [0, 1, u64::MAX, 1 << 63];
    let blocks = d.len().div_ceil(BLOCK);
    differ!(of_narrow, (blocks, BLOCK), [&a[..], &b[..], &c[..], &d[..]], vec![0; 10 * blocks * BLOCK]);
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Sums {
    high: i128,
    low: u128,
    count: u64,
    spare: u64,
}

const TABLE: [u128; 3] = [1, 1 << 100, u128::MAX];
const LIMIT: i128 = -170_141_183_460_469_231_731_687_303_715_884_105_728;

#[device]
fn grown<const BY: u128>(sums: Sums, by: i128) -> Sums {
    Sums { high: sums.high - by, low: sums.low + BY, count: sums.count + 1, ..sums }
}

#[kernel]
fn places(start: i128, given: Sums, pair: (u8, u128), x: &[Sums], out: &mut [Sums], found: &mut [u128]) {
    let i = grid::<1>();
    let tile = shared!([u128; 8]);
    tile[i % 8] = x[i].low + i as u128;
    sync_threads();
    let mut local = [0i128; 4];
    for k in 0..4i128 {
        local[k as usize] = start * k;
    }
    let mut sums = grown::<{ 1 << 90 }>(x[i], local[3]);
    let high = &mut sums.high;
    *high -= given.high;
    out[i] = sums;
    found[i] = match x[i].low {
        0 => TABLE[1],
        5..=0x1_0000_0000_0000_0000 => tile[(i + 1) % 8],
        340_282_366_920_938_463_463_374_607_431_768_211_455 => TABLE[i % 3] - pair.1,
        other if other > 3 => other / 3,
        _ => (LIMIT + 1) as u128,
    };
    let mut steps = 0;
    for k in (start..start + 40).rev().step_by(7) {
        steps += k;
    }
    found[i] += steps as u128;
}

#[test]
fn they_lie_wherever_numbers_do() {
    let sums = |high, low| Sums { high, low, count: 1, spare: 2 };
    let x = [sums(-5, 0), sums(i128::MAX, 7), sums(0, u128::MAX), sums(1, 1 << 64), sums(9, 3), sums(8, 1 << 70)];
    let (given, pair) = (sums(1 << 99, 4), (200, 1 << 66));
    let start = -(1i128 << 80);
    let (mut out, mut found) = (on_device(&[sums(0, 0); 6]), on_device(&[0; 6]));
    places::launch((1, 6), start, given, pair, &on_device(&x), &mut out, &mut found).unwrap();
    let (out, found) = (on_host(&out), on_host(&found));
    let steps: i128 = (start..start + 40).rev().step_by(7).sum();
    for (i, x) in x.iter().enumerate() {
        let low = x.low.wrapping_add(1 << 90);
        let high = x.high.wrapping_sub(start * 3).wrapping_sub(1 << 99);
        assert_eq!(out[i], Sums { high, low, count: 2, spare: 2 }, "{i}");
        let expected = match x.low {
            0 => TABLE[1],
            7 => x.low.max(0).wrapping_add(u128::MAX - 7).wrapping_add(2),
            u128::MAX => TABLE[2] - (1 << 66),
            0x1_0000_0000_0000_0000 => 3 + 4,
            3 => (LIMIT + 1) as u128,
            other => other / 3,
        };
        assert_eq!(found[i], expected.wrapping_add(steps as u128), "{i}");
    }
}

#[kernel]
fn with<F: Fn(i128) -> i128>(f: F, out: &mut [i128]) {
    let i = grid::<1>();
    out[i] = f(i as i128);
}

#[test]
fn closures_take_them_along() {
    let (step, base) = (1i128 << 77, -3i128);
    let mut out = on_device(&[0; 3]);
    with::launch((1, 3), device_fn!(|i: i128| base + i * step), &mut out).unwrap();
    assert_eq!(on_host(&out), [-3, (1 << 77) - 3, (1 << 78) - 3]);
}

#[kernel]
fn odd<T: Integer>(x: &mut [T], mask: T) {
    let i = grid::<1>();
    x[i] &= mask;
    x[i] |= T::ONE;
    x[i] ^= mask;
    x[i] <<= 2;
    x[i] >>= 1;
}

#[test]
fn generic_integers_have_operators_with_assignment() {
    fn run<T: Integer + cuda_jit::launch::ArgType>(values: [T; 2], mask: T) -> Vec<T> {
        let mut x = on_device(&values);
        odd::launch((1, 2), &mut x, mask).unwrap();
        on_host(&x)
    }
    let expected = |x: i128, mask: i128| (((x & mask) | 1) ^ mask) << 2 >> 1;
    assert_eq!(run([5i128, -9], 0x77), [expected(5, 0x77), expected(-9, 0x77)]);
    assert_eq!(run([5u16, 90], 0x77), [expected(5, 0x77) as u16, expected(90, 0x77) as u16]);
}

#[kernel(checked)]
fn product(x: &mut [i128]) {
    let i = grid::<1>();
    x[i] = x[i] * x[i];
}

#[kernel]
fn quotient(x: &mut [i128], by: i128) {
    let i = grid::<1>();
    x[i] = x[i] / by;
}

#[test]
fn overflowing_operations_panic() {
    if !super::in_child_process("language::wide_integers::overflowing_operations_panic") {
        return;
    }
    let panics = |run: &dyn Fn()| {
        run();
        super::context().synchronize().unwrap_err().to_string()
    };
    let mut fits = on_device(&[1i128 << 62, -3]);
    product::launch((1, 2), &mut fits).unwrap();
    assert_eq!(on_host(&fits), [1 << 124, 9]);
    let overflows = panics(&|| product::launch((1, 1), &mut on_device(&[1i128 << 64])).unwrap());
    assert!(overflows.contains("multiplication overflows"), "{overflows}");
    let by_zero = panics(&|| quotient::launch((1, 1), &mut on_device(&[5i128]), 0).unwrap());
    assert!(by_zero.contains("division by zero"), "{by_zero}");
    let minimum = panics(&|| quotient::launch((1, 1), &mut on_device(&[i128::MIN]), -1).unwrap());
    assert!(minimum.contains("division overflows"), "{minimum}");
}

#[kernel]
fn hinted(x: &[i128], out: &mut [i128]) {
    let i = grid::<1>();
    stcs(&mut out[i], ldcg(&x[i]) + ldg(&x[0]));
}

#[test]
fn hints_for_the_caches_move_both_halves_at_once() {
    differ!(hinted, (1, 3), [&[1i128 << 90, -(1 << 70), 5][..]], vec![0; 3]);
    let ptx = compile_ptx::<hinted>((9, 0)).unwrap();
    assert!(ptx.contains("ld.global.cg.v2.b64") && ptx.contains("st.global.cs.v2.b64"), "{ptx}");
}

/// As CUDA C++ passes `__int128`.
#[test]
fn parameters_are_aligned_to_their_size() {
    for target in [(7, 5), (9, 0), (10, 0)] {
        let ptx = compile_ptx::<quotient>(target).unwrap();
        assert!(ptx.contains(".param .align 16 .b8 quotient_param_2[16]"), "{ptx}");
        assert!(!ptx.contains(".extern"), "{ptx}");
    }
}

/// The largest number less another, which LLVM's code generator mistook for an absolute value in unsimplified code.
#[kernel(opt = 0)]
fn distance_from_the_largest(x: &[u64], out: &mut [u64]) {
    let i = grid::<1>();
    let wide = u128::MAX.abs_diff((x[i] as u128) << 64 | 5);
    out[3 * i] = wide as u64;
    out[3 * i + 1] = (wide >> 64) as u64;
    out[3 * i + 2] = u64::MAX.abs_diff(x[i]) ^ u32::MAX.abs_diff(x[i] as u32) as u64;
}

#[test]
fn distances_from_the_largest() {
    differ!(distance_from_the_largest, (1, 4), [&[0, 1, 1 << 63, 77][..]], vec![0u64; 12]);
}
