//! What the lanes of a warp tell each other: shuffles, votes, matches.
//!
//! Each takes a mask of the lanes that take part, a bit for each; all of them must call it with the same mask. On the
//! host these functions panic, since its threads run one after the other.

use super::block::needs_other_threads;
use crate::harvest::{Intrinsic, ScalarType};
use crate::kir::{ShuffleOp, VoteOp};

/// The mask of all 32 lanes.
pub const FULL_MASK: u32 = u32::MAX;

/// A number that lanes can pass to each other: 32 or 64 bits wide.
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

/// The value of the lane `delta` below; the thread's own where there is none.
///
/// # Panics
///
/// On the host.
pub fn shfl_up_sync<T: Shuffled>(_mask: u32, _value: T, _delta: u32) -> T {
    needs_other_threads()
}

/// The value of the lane `delta` above; the thread's own where there is none.
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

/// Whether `predicate` is true for all lanes of the mask.
///
/// # Panics
///
/// On the host.
pub fn all_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// Whether `predicate` is true for any lane of the mask.
///
/// # Panics
///
/// On the host.
pub fn any_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// Whether `predicate` is the same for all lanes of the mask.
///
/// # Panics
///
/// On the host.
pub fn eq_sync(_mask: u32, _predicate: bool) -> bool {
    needs_other_threads()
}

/// For which lanes of the mask `predicate` is true, a bit for each.
///
/// # Panics
///
/// On the host.
pub fn ballot_sync(_mask: u32, _predicate: bool) -> u32 {
    needs_other_threads()
}

/// For which lanes of the mask the value has this thread's bits, a bit for each.
///
/// # Panics
///
/// On the host.
pub fn match_any_sync<T: Shuffled>(_mask: u32, _value: T) -> u32 {
    needs_other_threads()
}

/// Waits for the lanes of the mask; what they wrote before is then visible to them.
///
/// # Panics
///
/// On the host.
pub fn sync_warp(_mask: u32) {
    needs_other_threads()
}

/// The lanes that run this together now, a bit for each; which ones those are is the hardware's choice.
///
/// # Panics
///
/// On the host.
pub fn active_mask() -> u32 {
    needs_other_threads()
}

calls! {
    <T: Shuffled> shfl_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Index);
    <T: Shuffled> shfl_up_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Up);
    <T: Shuffled> shfl_down_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Down);
    <T: Shuffled> shfl_xor_sync(u32, T, u32) -> T => Intrinsic::Shuffle(ShuffleOp::Xor);
    all_sync(u32, bool) -> bool => Intrinsic::Vote(VoteOp::All);
    any_sync(u32, bool) -> bool => Intrinsic::Vote(VoteOp::Any);
    eq_sync(u32, bool) -> bool => Intrinsic::Vote(VoteOp::Equal);
    ballot_sync(u32, bool) -> u32 => Intrinsic::Vote(VoteOp::Ballot);
    <T: Shuffled> match_any_sync(u32, T) -> u32 => Intrinsic::MatchAny;
    sync_warp(u32) => Intrinsic::SyncWarp;
    active_mask() -> u32 => Intrinsic::ActiveMask;
}
