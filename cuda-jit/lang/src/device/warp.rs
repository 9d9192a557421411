//! Warp-level operations: shuffles, votes, matches, reductions.
//!
//! Each takes a mask of the participating lanes, one bit per lane; all of them must call it with the same mask. On the host
//! these functions panic, since it runs threads one after the other.

use super::block::needs_other_threads;
use crate::kir::{CompareOp, ReduceOp, ShuffleOp, VoteOp};
use crate::typeinfo::{Intrinsic, ScalarType};

/// The mask of all 32 lanes.
pub const FULL_MASK: u32 = u32::MAX;

/// A number that lanes can exchange: 32 or 64 bits wide.
///
/// Sealed: it is for types with [`ScalarType`] alone.
pub trait Shuffled: ScalarType {}

macro_rules! shuffled {
    ($($ty:ty)*) => { $( impl Shuffled for $ty {} )* };
}

shuffled! { i32 u32 i64 u64 isize usize f32 f64 }

/// The value of lane `lane`, modulo 32.
///
/// # Panics
///
/// On the host.
pub fn shfl_sync<T: Shuffled>(_mask: u32, _value: T, _lane: u32) -> T {
    needs_other_threads()
}

/// The value of the lane `delta` below; the thread's own if there is none.
///
/// # Panics
///
/// On the host.
pub fn shfl_up_sync<T: Shuffled>(_mask: u32, _value: T, _delta: u32) -> T {
    needs_other_threads()
}

/// The value of the lane `delta` above; the thread's own if there is none.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, shfl_down_sync, thread_idx}, kernel};
///
/// #[kernel]
/// fn warp_sum(x: &[f32], total: &mut [f32]) {
///     let lane = thread_idx().x;
///     let mut sum = x[lane];
///     let mut delta = 16;
///     while delta > 0 {
///         sum += shfl_down_sync(FULL_MASK, sum, delta);
///         delta /= 2;
///     }
///     if lane == 0 {
///         total[0] = sum;
///     }
/// }
/// assert!(warp_sum::compile_ptx((9, 0))?.contains("shfl.sync.down"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn shfl_down_sync<T: Shuffled>(_mask: u32, _value: T, _delta: u32) -> T {
    needs_other_threads()
}

/// The value of the lane whose number differs in the bits of `bits`.
///
/// # Panics
///
/// On the host.
pub fn shfl_xor_sync<T: Shuffled>(_mask: u32, _value: T, _bits: u32) -> T {
    needs_other_threads()
}

/// Returns true if `predicate` is true for all lanes of the mask.
///
/// # Panics
///
/// On the host.
pub fn all_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// Returns true if `predicate` is true for any lane of the mask.
///
/// # Panics
///
/// On the host.
pub fn any_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// Returns true if `predicate` is the same for all lanes of the mask.
///
/// # Panics
///
/// On the host.
pub fn eq_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// The lanes of the mask for which `predicate` is true, as a bit mask.
///
/// # Panics
///
/// On the host.
pub fn ballot_sync(_mask: u32, _predicate: bool) -> u32 {
    needs_other_threads()
}

/// The lanes of the mask whose value has the same bits as this thread's, as a bit mask.
///
/// # Panics
///
/// On the host.
pub fn match_any_sync<T: Shuffled>(_mask: u32, _value: T) -> u32 {
    needs_other_threads()
}

/// The mask and `true` if the value has the same bits in all lanes of the mask, else 0 and `false`.
///
/// # Panics
///
/// On the host.
pub fn match_all_sync<T: Shuffled>(_mask: u32, _value: T) -> (u32, bool) {
    needs_other_threads()
}

/// An integer with warp-wide reductions: `i32` and `u32`.
///
/// Sealed: it is for types with [`ScalarType`] alone.
pub trait Reduced: Shuffled + Ord {}

impl Reduced for i32 {}
impl Reduced for u32 {}

/// The wrapping sum over the lanes of the mask, in each of them.
///
/// This is one instruction from compute capability 8.0 on, and shuffles on older devices; so are the other reductions.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, reduce_add_sync}, kernel};
///
/// #[kernel]
/// fn sums(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = reduce_add_sync(FULL_MASK, x[i]);
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x = cuda_mem::from_slice(&context, &[2; 64])?;
/// sums::launch((1, 64), &mut x)?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [64; 64]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn reduce_add_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The smallest value in the lanes of the mask, in each of them.
///
/// # Panics
///
/// On the host.
pub fn reduce_min_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The largest value in the lanes of the mask, in each of them.
///
/// # Panics
///
/// On the host.
pub fn reduce_max_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The bitwise AND over the lanes of the mask, in each of them.
///
/// # Panics
///
/// On the host.
pub fn reduce_and_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The bitwise OR over the lanes of the mask, in each of them.
///
/// # Panics
///
/// On the host.
pub fn reduce_or_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The bitwise exclusive OR over the lanes of the mask, in each of them.
///
/// # Panics
///
/// On the host.
pub fn reduce_xor_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The thread's own lane, as a bit mask.
pub fn lanemask_eq() -> u32 {
    1 << super::lane_id()
}

/// The lanes below the thread's own, as a bit mask.
pub fn lanemask_lt() -> u32 {
    lanemask_eq() - 1
}

/// The lanes up to the thread's own, as a bit mask.
pub fn lanemask_le() -> u32 {
    lanemask_lt() | lanemask_eq()
}

/// The lanes above the thread's own, as a bit mask.
pub fn lanemask_gt() -> u32 {
    !lanemask_le()
}

/// The lanes from the thread's own on, as a bit mask.
pub fn lanemask_ge() -> u32 {
    !lanemask_lt()
}

/// Waits for the lanes of the mask; their previous writes are then visible to them.
///
/// # Panics
///
/// On the host.
pub fn sync_warp(_mask: u32) {
    needs_other_threads()
}

/// The lanes that are converged at this point, as a bit mask; which ones those are is the hardware's choice.
///
/// # Panics
///
/// On the host.
pub fn active_mask() -> u32 {
    needs_other_threads()
}

calls! {
    <T: ScalarType> shfl_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Index, 32);
    <T: ScalarType> shfl_up_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Up, 32);
    <T: ScalarType> shfl_down_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Down, 32);
    <T: ScalarType> shfl_xor_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Xor, 32);
    all_sync(u32, bool) -> bool => Intrinsic::Vote(VoteOp::All);
    any_sync(u32, bool) -> bool => Intrinsic::Vote(VoteOp::Any);
    eq_sync(u32, bool) -> bool => Intrinsic::Vote(VoteOp::Equal);
    ballot_sync(u32, bool) -> u32 => Intrinsic::Vote(VoteOp::Ballot);
    <T: ScalarType> match_any_sync(u32, T) -> u32 => Intrinsic::MatchAny;
    <T: ScalarType> match_all_sync(u32, T) -> (u32, bool) => Intrinsic::MatchAll;
    <T: ScalarType> reduce_add_sync(u32, T) -> T => Intrinsic::Reduce(ReduceOp::Add);
    <T: ScalarType> reduce_min_sync(u32, T) -> T => Intrinsic::Reduce(ReduceOp::Min);
    <T: ScalarType> reduce_max_sync(u32, T) -> T => Intrinsic::Reduce(ReduceOp::Max);
    <T: ScalarType> reduce_and_sync(u32, T) -> T => Intrinsic::Reduce(ReduceOp::And);
    <T: ScalarType> reduce_or_sync(u32, T) -> T => Intrinsic::Reduce(ReduceOp::Or);
    <T: ScalarType> reduce_xor_sync(u32, T) -> T => Intrinsic::Reduce(ReduceOp::Xor);
    lanemask_eq() -> u32 => Intrinsic::LaneMask(CompareOp::Eq);
    lanemask_lt() -> u32 => Intrinsic::LaneMask(CompareOp::Lt);
    lanemask_le() -> u32 => Intrinsic::LaneMask(CompareOp::Le);
    lanemask_gt() -> u32 => Intrinsic::LaneMask(CompareOp::Gt);
    lanemask_ge() -> u32 => Intrinsic::LaneMask(CompareOp::Ge);
    sync_warp(u32) => Intrinsic::SyncWarp;
    active_mask() -> u32 => Intrinsic::ActiveMask;
}
