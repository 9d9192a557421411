//! Atomic operations on numbers in global or shared memory: relaxed, at the device's scope. Each returns the old number.
//!
//! On the host they are plain operations, since its threads run one after the other.

use crate::harvest::{Intrinsic, ScalarType};
use crate::kir::AtomicOp;

/// A number that can be added to, or exchanged, at once: the 32-bit and 64-bit integers, `f32` and `f64`.
pub trait AtomicNumber: ScalarType {
    /// The wrapping sum.
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
}

/// An integer that all atomic operations work on: 32 or 64 bits wide.
pub trait AtomicInteger: AtomicNumber + Ord {
    /// `[wrapping difference, and, or, exclusive or]`
    #[doc(hidden)]
    fn combined(self, other: Self) -> [Self; 4];
}

macro_rules! atomic {
    ($($ty:ty)*) => { $(
        impl AtomicNumber for $ty {
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
        }
        impl AtomicInteger for $ty {
            fn combined(self, other: Self) -> [Self; 4] {
                [self.wrapping_sub(other), self & other, self | other, self ^ other]
            }
        }
    )* };
}

atomic! { i32 u32 i64 u64 isize usize }

impl AtomicNumber for f32 {
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl AtomicNumber for f64 {
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

/// Adds `value`, wrapping, and returns the old number.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{atomic_add, grid}, kernel};
///
/// #[kernel]
/// fn sum(x: &[u32], total: &mut [u32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         atomic_add(&mut total[0], x[i]);
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let mut total = [0];
/// sum::launch((4, 64), &vec![1; 200], &mut total)?;
/// assert_eq!(total, [200]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn atomic_add<T: AtomicNumber>(place: &mut T, value: T) -> T {
    std::mem::replace(place, place.plus(value))
}

/// Subtracts `value`, wrapping, and returns the old number.
pub fn atomic_sub<T: AtomicInteger>(place: &mut T, value: T) -> T {
    std::mem::replace(place, place.combined(value)[0])
}

/// Keeps the smaller number, and returns the old one.
pub fn atomic_min<T: AtomicInteger>(place: &mut T, value: T) -> T {
    std::mem::replace(place, value.min(*place))
}

/// Keeps the larger number, and returns the old one.
pub fn atomic_max<T: AtomicInteger>(place: &mut T, value: T) -> T {
    std::mem::replace(place, value.max(*place))
}

/// Keeps the bits that both have, and returns the old number.
pub fn atomic_and<T: AtomicInteger>(place: &mut T, value: T) -> T {
    std::mem::replace(place, place.combined(value)[1])
}

/// Keeps the bits that either has, and returns the old number.
pub fn atomic_or<T: AtomicInteger>(place: &mut T, value: T) -> T {
    std::mem::replace(place, place.combined(value)[2])
}

/// Keeps the bits that only one has, and returns the old number.
pub fn atomic_xor<T: AtomicInteger>(place: &mut T, value: T) -> T {
    std::mem::replace(place, place.combined(value)[3])
}

/// Writes `value`, and returns the old number.
pub fn atomic_exch<T: AtomicNumber>(place: &mut T, value: T) -> T {
    std::mem::replace(place, value)
}

/// Counts up to `limit` and then from 0 again, and returns the old number.
pub fn atomic_inc(place: &mut u32, limit: u32) -> u32 {
    let next = if *place >= limit { 0 } else { *place + 1 };
    std::mem::replace(place, next)
}

/// Counts down to 0 and then from `limit` again, and returns the old number.
pub fn atomic_dec(place: &mut u32, limit: u32) -> u32 {
    let next = if *place == 0 || *place > limit { limit } else { *place - 1 };
    std::mem::replace(place, next)
}

/// Writes `new` if the number is `old`, and returns what it was.
pub fn cas<T: AtomicInteger>(place: &mut T, old: T, new: T) -> T {
    let found = *place;
    if found == old {
        *place = new;
    }
    found
}

calls! {
    <T: AtomicNumber> atomic_add(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::Add);
    <T: AtomicInteger> atomic_sub(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::Sub);
    <T: AtomicInteger> atomic_min(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::Min);
    <T: AtomicInteger> atomic_max(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::Max);
    <T: AtomicInteger> atomic_and(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::And);
    <T: AtomicInteger> atomic_or(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::Or);
    <T: AtomicInteger> atomic_xor(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::Xor);
    <T: AtomicNumber> atomic_exch(&'static mut T, T) -> T => Intrinsic::Atomic(AtomicOp::Exchange);
    atomic_inc(&'static mut u32, u32) -> u32 => Intrinsic::Atomic(AtomicOp::Inc);
    atomic_dec(&'static mut u32, u32) -> u32 => Intrinsic::Atomic(AtomicOp::Dec);
    <T: AtomicInteger> cas(&'static mut T, T, T) -> T => Intrinsic::CompareExchange;
}
