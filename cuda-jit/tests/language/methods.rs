//! Every method that kernels can call, on every type that has it.

#![expect(noop_method_call, suspicious_double_ref_op, reason = "a clone of a reference is one of what kernels have")]

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, Float, device, kernel};

macro_rules! unsigned {
    ($($module:ident $ty:ident)*) => { $(
        mod $module {
            use super::*;

            #[kernel]
            fn methods(x: &[$ty], y: &[$ty], out: &mut [u64]) {
                let i = grid::<1>();
                let (a, b, at) = (x[i], y[i], i * 24);
                out[at] = a.min(b) as u64;
                out[at + 1] = a.max(b) as u64;
                out[at + 2] = a.clamp(3, 90) as u64;
                out[at + 3] = a.abs_diff(b) as u64;
                out[at + 4] = a.is_power_of_two() as u64;
                out[at + 5] = if b > 0 { a.div_ceil(b) as u64 } else { 0 };
                out[at + 6] = a.count_ones() as u64;
                out[at + 7] = a.count_zeros() as u64;
                out[at + 8] = a.leading_zeros() as u64;
                out[at + 9] = a.leading_ones() as u64;
                out[at + 10] = a.trailing_zeros() as u64;
                out[at + 11] = a.trailing_ones() as u64;
                out[at + 12] = a.reverse_bits() as u64;
                out[at + 13] = a.swap_bytes() as u64;
                out[at + 14] = a.wrapping_neg() as u64;
                out[at + 15] = a.rotate_left(b as u32) as u64;
                out[at + 16] = a.rotate_right(b as u32) as u64;
                out[at + 17] = a.wrapping_shl(b as u32) as u64;
                out[at + 18] = a.wrapping_shr(b as u32) as u64;
                out[at + 19] = a.wrapping_add(b) as u64;
                out[at + 20] = a.wrapping_sub(b) as u64;
                out[at + 21] = a.wrapping_mul(b) as u64;
                out[at + 22] = a.saturating_add(b) as u64;
                out[at + 23] = $ty::saturating_sub(a, b) as u64;
            }

            #[test]
            fn differ_nowhere() {
                let values = [0, 1, 2, 3, 64, 200, $ty::MAX, $ty::MAX / 3, $ty::MAX - 1];
                let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
                let (x, y): (Vec<$ty>, Vec<$ty>) = pairs.unzip();
                differ!(methods, (1, x.len()), [&x[..], &y[..]], vec![0u64; x.len() * 24]);
            }
        }
    )* };
}

unsigned! { on_u8 u8 on_u16 u16 on_u32 u32 on_u64 u64 }

macro_rules! signed {
    ($($module:ident $ty:ident)*) => { $(
        mod $module {
            use super::*;

            #[kernel]
            fn methods(x: &[$ty], y: &[$ty], out: &mut [i64]) {
                let i = grid::<1>();
                let (a, b, at) = (x[i], y[i], i * 20);
                out[at] = a.min(b) as i64;
                out[at + 1] = a.max(b) as i64;
                out[at + 2] = a.clamp(-5, 5) as i64;
                out[at + 3] = a.abs_diff(b) as i64;
                out[at + 4] = if a == $ty::MIN { 0 } else { a.abs() as i64 };
                out[at + 5] = a.unsigned_abs() as i64;
                out[at + 6] = a.signum() as i64;
                out[at + 7] = a.is_positive() as i64 + 2 * a.is_negative() as i64;
                out[at + 8] = a.count_ones() as i64;
                out[at + 9] = a.leading_zeros() as i64;
                out[at + 10] = a.trailing_ones() as i64;
                out[at + 11] = a.reverse_bits() as i64;
                out[at + 12] = a.swap_bytes() as i64;
                out[at + 13] = a.rotate_left(b as u32) as i64;
                out[at + 14] = a.rotate_right(b as u32) as i64;
                out[at + 15] = a.wrapping_shr(b as u32) as i64;
                out[at + 16] = a.wrapping_mul(b) as i64;
                out[at + 17] = a.saturating_add(b) as i64;
                out[at + 18] = a.saturating_sub(b) as i64;
                out[at + 19] = a.wrapping_neg() as i64;
            }

            #[test]
            fn differ_nowhere() {
                let values = [0, 1, -1, 5, -6, 100, $ty::MAX, $ty::MIN, $ty::MAX - 1, $ty::MIN + 1];
                let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
                let (x, y): (Vec<$ty>, Vec<$ty>) = pairs.unzip();
                differ!(methods, (1, x.len()), [&x[..], &y[..]], vec![0i64; x.len() * 20]);
            }
        }
    )* };
}

signed! { on_i8 i8 on_i16 i16 on_i32 i32 on_i64 i64 }

macro_rules! floats {
    ($($module:ident $ty:ident $bits:ident)*) => { $(
        mod $module {
            use super::*;

            #[kernel(fma = false)]
            fn methods(x: &[$ty], y: &[$ty], out: &mut [$bits]) {
                let i = grid::<1>();
                let (a, b, at) = (x[i], y[i], i * 20);
                out[at] = a.abs().to_bits();
                out[at + 1] = if a >= 0.0 { a.sqrt().to_bits() } else { 0 };
                out[at + 2] = a.floor().to_bits();
                out[at + 3] = a.ceil().to_bits();
                out[at + 4] = a.trunc().to_bits();
                out[at + 5] = a.round_ties_even().to_bits();
                out[at + 6] = a.fract().to_bits();
                out[at + 7] = if a != 0.0 { a.recip().to_bits() } else { 0 };
                out[at + 8] = a.signum().to_bits();
                out[at + 9] = a.copysign(b).to_bits();
                // Rust does not specify which zero `min` and `max` return
                out[at + 10] = (a.min(b) + 0.0).to_bits();
                out[at + 11] = (a.max(b) + 0.0).to_bits();
                out[at + 12] = a.clamp(-2.0, 2.0).to_bits();
                out[at + 13] = a.mul_add(b, 1.0).to_bits();
                out[at + 14] = a.is_nan() as $bits + 2 * a.is_infinite() as $bits + 4 * a.is_finite() as $bits;
                out[at + 15] = a.is_sign_negative() as $bits + 2 * a.is_sign_positive() as $bits;
                out[at + 16] = $ty::max(a, 1.0).to_bits();
                out[at + 17] = (a * b + a).to_bits();
            }

            #[test]
            fn differ_nowhere() {
                let values = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 1e9, -3.7, $ty::MAX, $ty::MIN_POSITIVE, $ty::INFINITY];
                let pairs = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
                let finite = |&(a, b): &($ty, $ty)| !(a.is_infinite() && b == 0.0) && a.mul_add(b, 1.0) == a.mul_add(b, 1.0);
                let (x, y): (Vec<$ty>, Vec<$ty>) = pairs.filter(finite).filter(|&(a, b)| (a * b + a) == (a * b + a)
                    && a.fract() == a.fract()).unzip();
                differ!(methods, (1, x.len()), [&x[..], &y[..]], vec![0 as $bits; x.len() * 20]);
            }
        }
    )* };
}

floats! { on_f32 f32 u32 on_f64 f64 u64 }

#[kernel]
fn nan(x: &[f32], out: &mut [u32]) {
    let n = x[0];
    out[0] = n.is_nan() as u32 + 2 * n.is_finite() as u32 + 4 * (n == n) as u32 + 8 * (n != n) as u32;
    out[1] = (n < 1.0) as u32 + 2 * (n >= 1.0) as u32 + 4 * !(n > 1.0) as u32;
    out[2] = n.min(3.0).to_bits();
    out[3] = 4.0f32.max(n).to_bits();
    out[4] = n.signum().is_nan() as u32;
}

#[test]
fn nan_is_unordered() {
    differ!(nan, (1, 1), [&[f32::NAN][..]], vec![0u32; 5]);
}

#[kernel]
fn norm<T: Float>(x: &[T], out: &mut [T]) {
    let i = grid::<1>();
    out[i] = T::sqrt(x[i].mul_add(x[i], T::ONE)).floor().max(x[i].abs().ceil()) - x[i].trunc();
    if x.is_empty() || x[i].is_nan() {
        out[i] = -T::ONE;
    }
}

#[test]
fn bounds_carry_methods() {
    differ!(norm::<f32>, (1, 4), [&[3.0, -1.5, 0.0, 100.25][..]], vec![0f32; 4]);
    differ!(norm::<f64>, (1, 4), [&[3.0, -1.5, 0.0, 100.25][..]], vec![0f64; 4]);
}

#[kernel]
fn ordered(x: &[u8], out: &mut [i32]) {
    let i = grid::<1>();
    let (c, d, at) = (char::from(x[i]), char::from(x[i] / 2 + 40), i * 16);
    out[at] = c.cmp(&d) as i32 * 2 + c.partial_cmp(&d).map_or(7, |order| order as i32);
    out[at + 1] = (c.max(d) as u32 * 256 + c.min(d) as u32) as i32;
    out[at + 2] = c.clamp('C', 'p') as i32;
    let (p, q) = (c < 'b', d > 'Q');
    out[at + 3] = p.cmp(&q) as i32 * 2 + p.max(q) as i32 + 4 * p.min(q) as i32 + 8 * q.clamp(p, true) as i32;
    let (less, greater) = (c.cmp(&d), d.cmp(&'P'));
    out[at + 4] = less.max(greater) as i32 * 3 + less.cmp(&greater) as i32;
    out[at + 5] = (x[i], d).max((90, c)).0 as i32 + [x[i], 3].min([80, x[i]])[0] as i32;
    out[at + 6] = (x[i], p).partial_cmp(&(70, q)).map_or(7, |order| order as i32);
    let (good, bad): (Result<u8, bool>, Result<u8, bool>) = (Ok(x[i]), if p { Err(q) } else { Ok(99) });
    out[at + 8] = good.cmp(&bad) as i32 + 2 * good.max(bad).is_ok() as i32;
    out[at + 7] = [c, d].into_iter().map(|c| c.max('M') as i32).fold(0, i32::max);
}

#[test]
fn all_that_is_ordered_has_the_methods_of_ord() {
    let x: Vec<u8> = (0..16).map(|n| n * 15 + 3).collect();
    differ!(ordered, (1, 16), [&x[..]], vec![0i32; 256]);
}

#[kernel]
fn by_path(x: &[i32], y: &[f32], out: &mut [f64]) {
    let i = grid::<1>();
    let (n, v, at) = (x[i], y[i], i * 12);
    out[at] = Some(n).map(i32::wrapping_abs).map_or(0, i32::leading_zeros) as f64;
    out[at + 1] = i32::overflowing_neg(n).0 as f64 + i32::checked_neg(n).is_none() as u32 as f64;
    out[at + 2] = Some(v).map(f32::to_degrees).map_or(0.0, f32::to_radians) as f64;
    out[at + 3] = [v, 2.0].map(f32::abs).into_iter().fold(0.5, f32::max) as f64;
    out[at + 4] = f32::total_cmp(&v, &0.0) as i32 as f64 + i32::cmp(&n, &3) as i32 as f64;
    out[at + 5] = u64::rotate_left(n as u64, 9) as f64 + f32::to_bits(v) as f64;
    out[at + 6] = [n, 5, -9].into_iter().map(i32::unsigned_abs).map(u32::next_power_of_two).sum::<u32>() as f64;
    out[at + 7] = f32::min(v, 1.5).mul_add(2.0, f32::clamp(v, -1.0, 1.0)) as f64;
}

#[test]
fn methods_are_named_by_paths() {
    let x = [0, 1, -1, 7, -300, 65_537, 1 << 29, -(1 << 29)];
    let y = [0.0, -0.0, 1.5, -2.25, 1e3, -7e-3, 90.0, 180.0];
    differ!(by_path, (1, 8), [&x[..], &y[..]], vec![0f64; 96]);
}

#[derive(Clone, Copy, DeviceType)]
struct Cloned {
    x: f32,
    of: [u32; 2],
}

#[device]
fn cloned<T: Clone>(x: &[T], at: usize) -> T {
    x[at].clone()
}

#[kernel]
fn clones(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let mut first = Cloned { x: x[i], of: [1, 2] };
    let second = first.clone();
    first.of[1] = 7;
    let (rest, both) = (x.clone(), (first, 3u32).clone());
    let by_reference = (&&first).clone();
    let mut counted = 0;
    let optional = Some({
        counted += 1;
        x[i]
    })
    .clone();
    out[i] = second.x + second.of[1] as f32 * 10.0 + both.0.of[1] as f32 * 100.0 + rest[0] + by_reference.x;
    out[i] += cloned(x, i)
        + x.iter().map(|v| v.clone()).sum::<f32>()
        + optional.unwrap()
        + counted as f32
        + [x[i]; 2].clone()[1];
}

#[test]
fn clones_are_copies() {
    differ!(clones, (1, 3), [&[1.0f32, 2.5, 5.0][..]], vec![0f32; 3]);
}

#[derive(Clone, Copy, Debug, DeviceType)]
struct Stack<T> {
    of: [T; 4],
    count: u32,
}

#[device]
trait Filled<T> {
    fn filled(&mut self, with: T) -> &mut Self;
    fn top(&mut self) -> Option<&mut T>;
}

#[device]
impl<T: Float> Stack<T> {
    fn push(&mut self, v: T) -> &mut Self {
        self.of[self.count as usize] = v;
        self.count += 1;
        self
    }

    fn pop(&mut self) -> &mut T {
        self.count -= 1;
        &mut self.of[self.count as usize]
    }

    fn ends(&mut self) -> (&mut T, &mut T) {
        let last = self.count as usize - 1;
        let (first, rest) = self.of.split_at_mut(last);
        (&mut first[0], &mut rest[0])
    }
}

#[device]
impl<T: Float> Filled<T> for Stack<T> {
    fn filled(&mut self, with: T) -> &mut Self {
        while self.count < 4 {
            self.push(with);
        }
        self
    }

    fn top(&mut self) -> Option<&mut T> {
        if self.count == 0 {
            return None;
        }
        self.of.get_mut(self.count as usize - 1)
    }
}

#[kernel]
fn fluent(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let mut stack = Stack { of: [0.0; 4], count: 0 };
    stack.push(x[i]).push(x[i] * 2.0).filled(7.0);
    *stack.pop() += 1.0;
    if let Some(top) = stack.push(3.0).top() {
        *top += x[i];
    }
    let (first, last) = stack.ends();
    std::mem::swap(first, last);
    out[i] = stack.of[0] * 1000.0 + stack.of[1] * 100.0 + stack.of[2] * 10.0 + stack.of[3] + stack.count as f32 / 8.0;
}

#[test]
fn methods_return_mutable_references_of_their_receiver() {
    differ!(fluent, (1, 3), [&[1.0f32, 2.5, 5.0][..]], vec![0f32; 3]);
}
