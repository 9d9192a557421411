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
///
/// # Examples
///
/// ```
/// use cuda_jit::{Num, device::{FULL_MASK, Shuffled, grid, shfl_sync}, kernel};
///
/// #[kernel]
/// fn broadcast<T: Num + Shuffled>(x: &mut [T]) {
///     let i = grid::<1>();
///     x[i] = shfl_sync(FULL_MASK, x[i], 3);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<f64> = (0..32).map(f64::from).collect();
/// broadcast::launch((1, 32), &mut x)?;
/// assert_eq!(x, [3.0; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub trait Shuffled: ScalarType {}

macro_rules! shuffled {
    ($($ty:ty)*) => { $( impl Shuffled for $ty {} )* };
}

shuffled! { i32 u32 i64 u64 isize usize f32 f64 }

/// The value of lane `lane`, modulo 32.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, shfl_sync}, kernel};
///
/// #[kernel]
/// fn broadcast(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = shfl_sync(FULL_MASK, x[i], 5);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).map(|i| i * i).collect();
/// broadcast::launch((1, 32), &mut x)?;
/// assert_eq!(x, [25; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn shfl_sync<T: Shuffled>(_mask: u32, _value: T, _lane: u32) -> T {
    needs_other_threads()
}

/// The value of the lane `delta` below; the thread's own if there is none.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, shfl_up_sync}, kernel};
///
/// #[kernel]
/// fn shift(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = shfl_up_sync(FULL_MASK, x[i], 1);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).collect();
/// shift::launch((1, 32), &mut x)?;
/// assert_eq!(x, (0..32u32).map(|i| i.saturating_sub(1)).collect::<Vec<_>>());
/// # Ok::<(), cuda_jit::Error>(())
/// ```
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
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, shfl_xor_sync}, kernel};
///
/// #[kernel]
/// fn swap_pairs(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = shfl_xor_sync(FULL_MASK, x[i], 1);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).collect();
/// swap_pairs::launch((1, 32), &mut x)?;
/// assert_eq!(x, (0..32u32).map(|i| i ^ 1).collect::<Vec<_>>());
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn shfl_xor_sync<T: Shuffled>(_mask: u32, _value: T, _bits: u32) -> T {
    needs_other_threads()
}

/// Returns true if `predicate` is true for all lanes of the mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, all_sync}, kernel};
///
/// #[kernel]
/// fn all_odd(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = u32::from(all_sync(FULL_MASK, x[i] % 2 == 1));
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).map(|i| 2 * i + 1).collect();
/// all_odd::launch((1, 32), &mut x)?;
/// assert_eq!(x, [1; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn all_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// Returns true if `predicate` is true for any lane of the mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, any_sync}, kernel};
///
/// #[kernel]
/// fn any_large(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = u32::from(any_sync(FULL_MASK, x[i] > 30));
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).collect();
/// any_large::launch((1, 32), &mut x)?;
/// assert_eq!(x, [1; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn any_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// Returns true if `predicate` is the same for all lanes of the mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, eq_sync}, kernel};
///
/// #[kernel]
/// fn same_parity(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = u32::from(eq_sync(FULL_MASK, x[i] % 2 == 0));
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).map(|i| 2 * i).collect();
/// same_parity::launch((1, 32), &mut x)?;
/// assert_eq!(x, [1; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn eq_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// The lanes of the mask for which `predicate` is true, as a bit mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, ballot_sync}, kernel};
///
/// #[kernel]
/// fn ballots(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = ballot_sync(FULL_MASK, x[i] < 4);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).collect();
/// ballots::launch((1, 32), &mut x)?;
/// assert_eq!(x, [0b1111; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn ballot_sync(_mask: u32, _predicate: bool) -> u32 {
    needs_other_threads()
}

/// The lanes of the mask whose value has the same bits as this thread's, as a bit mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, match_any_sync}, kernel};
///
/// #[kernel]
/// fn peers(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = match_any_sync(FULL_MASK, x[i]);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).map(|i| i / 16).collect();
/// peers::launch((1, 32), &mut x)?;
/// assert_eq!(x, [[0xffff; 16], [0xffff_0000; 16]].concat());
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn match_any_sync<T: Shuffled>(_mask: u32, _value: T) -> u32 {
    needs_other_threads()
}

/// The mask and `true` if the value has the same bits in all lanes of the mask, else 0 and `false`.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, match_all_sync}, kernel};
///
/// #[kernel]
/// fn uniform(x: &mut [u32]) {
///     let i = grid::<1>();
///     let (lanes, equal) = match_all_sync(FULL_MASK, x[i]);
///     x[i] = if equal { lanes } else { 0 };
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x = [7; 32];
/// uniform::launch((1, 32), &mut x)?;
/// assert_eq!(x, [FULL_MASK; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
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
///
/// # Examples
///
/// ```
/// use cuda_jit::{Num, device::{FULL_MASK, Reduced, grid, reduce_max_sync}, kernel};
///
/// #[kernel]
/// fn largest<T: Num + Reduced>(x: &mut [T]) {
///     let i = grid::<1>();
///     x[i] = reduce_max_sync(FULL_MASK, x[i]);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<i32> = (-31..1).collect();
/// largest::launch((1, 32), &mut x)?;
/// assert_eq!(x, [0; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
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
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, reduce_min_sync}, kernel};
///
/// #[kernel]
/// fn least(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = reduce_min_sync(FULL_MASK, x[i]);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (5..37).collect();
/// least::launch((1, 32), &mut x)?;
/// assert_eq!(x, [5; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn reduce_min_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The largest value in the lanes of the mask, in each of them.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, reduce_max_sync}, kernel};
///
/// #[kernel]
/// fn largest(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = reduce_max_sync(FULL_MASK, x[i]);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (5..37).collect();
/// largest::launch((1, 32), &mut x)?;
/// assert_eq!(x, [36; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn reduce_max_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The bitwise AND over the lanes of the mask, in each of them.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, reduce_and_sync}, kernel};
///
/// #[kernel]
/// fn common_bits(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = reduce_and_sync(FULL_MASK, x[i]);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (64..96).collect();
/// common_bits::launch((1, 32), &mut x)?;
/// assert_eq!(x, [64; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn reduce_and_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The bitwise OR over the lanes of the mask, in each of them.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, reduce_or_sync}, kernel};
///
/// #[kernel]
/// fn union_of_bits(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = reduce_or_sync(FULL_MASK, x[i]);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).collect();
/// union_of_bits::launch((1, 32), &mut x)?;
/// assert_eq!(x, [31; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn reduce_or_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The bitwise exclusive OR over the lanes of the mask, in each of them.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, grid, reduce_xor_sync}, kernel};
///
/// #[kernel]
/// fn parity(x: &mut [u32]) {
///     let i = grid::<1>();
///     x[i] = reduce_xor_sync(FULL_MASK, x[i]);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (1..33).collect();
/// parity::launch((1, 32), &mut x)?;
/// assert_eq!(x, [32; 32]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn reduce_xor_sync<T: Reduced>(_mask: u32, _value: T) -> T {
    needs_other_threads()
}

/// The thread's own lane, as a bit mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{lane_id, lanemask_eq};
///
/// cuda_jit::host::for_each_thread((1, 32), || assert_eq!(lanemask_eq(), 1 << lane_id()));
/// ```
pub fn lanemask_eq() -> u32 {
    1 << super::lane_id()
}

/// The lanes below the thread's own, as a bit mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{lane_id, lanemask_lt};
///
/// // The thread's rank among the lanes of a mask.
/// cuda_jit::host::for_each_thread((1, 32), || {
///     assert_eq!((0x5555_5555 & lanemask_lt()).count_ones() as usize, lane_id().div_ceil(2));
/// });
/// ```
pub fn lanemask_lt() -> u32 {
    lanemask_eq() - 1
}

/// The lanes up to the thread's own, as a bit mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{lane_id, lanemask_le};
///
/// cuda_jit::host::for_each_thread((1, 32), || assert_eq!(lanemask_le().count_ones() as usize, lane_id() + 1));
/// ```
pub fn lanemask_le() -> u32 {
    lanemask_lt() | lanemask_eq()
}

/// The lanes above the thread's own, as a bit mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{lanemask_gt, lanemask_le};
///
/// cuda_jit::host::for_each_thread((1, 32), || assert_eq!(lanemask_gt(), !lanemask_le()));
/// ```
pub fn lanemask_gt() -> u32 {
    !lanemask_le()
}

/// The lanes from the thread's own on, as a bit mask.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{lane_id, lanemask_ge};
///
/// cuda_jit::host::for_each_thread((1, 32), || assert_eq!(lanemask_ge().trailing_zeros() as usize, lane_id()));
/// ```
pub fn lanemask_ge() -> u32 {
    !lanemask_lt()
}

/// Waits for the lanes of the mask; their previous writes are then visible to them.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{FULL_MASK, shared, sync_warp, thread_idx}, kernel};
///
/// #[kernel]
/// fn reverse(x: &mut [u32]) {
///     let (tile, lane) = (shared!([u32; 32]), thread_idx().x);
///     tile[lane] = x[lane];
///     sync_warp(FULL_MASK);
///     x[lane] = tile[31 - lane];
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x: Vec<u32> = (0..32).collect();
/// reverse::launch((1, 32), &mut x)?;
/// assert_eq!(x, (0..32).rev().collect::<Vec<u32>>());
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn sync_warp(_mask: u32) {
    needs_other_threads()
}

/// The lanes that are converged at this point, as a bit mask; which ones those are is the hardware's choice.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{active_mask, grid, lane_id}, kernel};
///
/// #[kernel]
/// fn masks(out: &mut [u32]) {
///     out[grid::<1>()] = active_mask() >> lane_id() & 1;
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut out = [0; 32];
/// masks::launch((1, 32), &mut out)?;
/// assert_eq!(out, [1; 32]); // each thread is one of those that are converged with it
/// # Ok::<(), cuda_jit::Error>(())
/// ```
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
