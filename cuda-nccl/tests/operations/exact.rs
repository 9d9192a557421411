//! Numbers whose reductions have one result in every order, and the reductions on the host.

use cuda_nccl::{Number, Reduction};
use half::{bf16, f16};

/// A number with reductions on the host.
pub(crate) trait Exact: Number + PartialEq + std::fmt::Debug {
    const NAME: &'static str;
    fn of(value: i64) -> Self;
    fn reduce(op: Reduction, values: &[Self]) -> Self;
}

macro_rules! integers {
    ($($ty:ty),*) => { $(
        impl Exact for $ty {
            const NAME: &'static str = stringify!($ty);

            fn of(value: i64) -> Self {
                value as $ty
            }

            fn reduce(op: Reduction, values: &[Self]) -> Self {
                let sum = || values.iter().fold(0, |a: $ty, b| a.wrapping_add(*b));
                match op {
                    Reduction::Sum => sum(),
                    Reduction::Product => values.iter().fold(1, |a: $ty, b| a.wrapping_mul(*b)),
                    Reduction::Min => *values.iter().min().unwrap(),
                    Reduction::Max => *values.iter().max().unwrap(),
                    _ => sum() / values.len() as $ty,
                }
            }
        }
    )* };
}

macro_rules! floats {
    ($($ty:ty: $from:expr, $into:expr;)*) => { $(
        impl Exact for $ty {
            const NAME: &'static str = stringify!($ty);

            fn of(value: i64) -> Self {
                $from(value as f64)
            }

            fn reduce(op: Reduction, values: &[Self]) -> Self {
                let values = values.iter().map(|value| $into(*value));
                let count = values.len() as f64;
                $from(match op {
                    Reduction::Sum => values.sum(),
                    Reduction::Product => values.product(),
                    Reduction::Min => values.fold(f64::INFINITY, f64::min),
                    Reduction::Max => values.fold(f64::NEG_INFINITY, f64::max),
                    _ => values.sum::<f64>() / count,
                })
            }
        }
    )* };
}

integers! { i8, u8, i32, u32, i64, u64 }
floats! {
    f16: f16::from_f64, f16::to_f64;
    bf16: bf16::from_f64, bf16::to_f64;
    f32: |value: f64| value as f32, f64::from;
    f64: |value: f64| value, |value: f64| value;
}

/// Every operation.
pub(crate) const REDUCTIONS: [Reduction; 5] =
    [Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max, Reduction::Average];

/// The element at a position of a rank. Sums of up to four are small, and divisible by the number of ranks up to four unless it
/// is three; products are powers of two.
pub(crate) fn element<T: Exact>(op: Reduction, rank: usize, at: usize) -> T {
    let small = ((at + 2 * rank + at / 7) % 3) as i64;
    T::of(if op == Reduction::Product { 1 + small % 2 } else { 4 * small })
}

/// The elements of a rank.
pub(crate) fn elements<T: Exact>(op: Reduction, rank: usize, len: usize) -> Vec<T> {
    (0..len).map(|at| element(op, rank, at)).collect()
}

/// The reduced elements.
pub(crate) fn reduced<T: Exact>(op: Reduction, size: usize, len: usize) -> Vec<T> {
    let at = |at| T::reduce(op, &(0..size).map(|rank| element(op, rank, at)).collect::<Vec<T>>());
    (0..len).map(at).collect()
}
