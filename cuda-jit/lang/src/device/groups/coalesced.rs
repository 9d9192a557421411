//! Coalesced groups: the threads of a warp that are converged at a point.

use super::marker;
use crate::device as device_fn;
use crate::device::{Reduced, Shuffled, active_mask, lanemask_lt, sync_warp};
use crate::typeinfo::{GroupOp, Intrinsic};

/// Threads of a warp that were converged when the group was created.
///
/// All of them call its methods together, except for those that return a rank or a size. Its masks and ranks count only its
/// own threads, in lane order.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{coalesced_threads, grid}, kernel};
///
/// /// The numbers of odd lanes that are converged, and of those that hold a large number.
/// #[kernel]
/// fn odd(x: &[u32], out: &mut [u32]) {
///     let i = grid::<1>();
///     if i % 2 == 1 {
///         let group = coalesced_threads();
///         group.sync();
///         let large = group.ballot(x[i] > 100);
///         if group.any(x[i] > 100) && !group.all(x[i] > 100) && group.thread_rank() == 0 {
///             out[0] = group.lanes();
///             out[1] = large;
///         }
///     }
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let x: Vec<u32> = (0..32).map(|i| if i < 4 { 200 } else { i }).collect();
/// let mut out = [0; 2];
/// odd::launch((1, 32), &x, &mut out)?;
/// // The lanes are those of the warp; a vote has a bit for each thread of the group.
/// assert_eq!(out, [0xaaaa_aaaa, 0b11]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalesced {
    lanes: u32,
}

super::group! { Coalesced { lanes: u32 } }

/// The threads that are converged here, such as in a branch that only some have taken; which ones those are is the
/// hardware's choice.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{atomic_add, coalesced_threads, grid}, kernel};
///
/// /// Compacts the odd numbers, with one atomic operation for all converged threads.
/// #[kernel]
/// fn odd(x: &[u32], count: &mut [u32], out: &mut [u32]) {
///     let i = grid::<1>();
///     if x[i] % 2 == 1 {
///         let group = coalesced_threads();
///         let mut first = 0;
///         if group.thread_rank() == 0 {
///             first = atomic_add(&mut count[0], group.size() as u32);
///         }
///         first = group.shfl(first, 0);
///         out[first as usize + group.thread_rank()] = x[i];
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let x: Vec<u32> = (0..64).map(|i| i * i % 10).collect();
/// let (mut count, mut out) = ([0], [0; 64]);
/// odd::launch((1, 64), &x, &mut count, &mut out)?;
/// assert_eq!(count, [32]);
/// assert!(out[..32].iter().all(|v| v % 2 == 1) && out[32..].iter().all(|&v| v == 0));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
#[device_fn]
pub fn coalesced_threads() -> Coalesced {
    Coalesced { lanes: active_mask() }
}

#[device_fn]
impl Coalesced {
    /// The thread's rank in the group.
    #[must_use]
    pub fn thread_rank(self) -> usize {
        (self.lanes & lanemask_lt()).count_ones() as usize
    }

    /// The number of threads in the group.
    #[must_use]
    pub fn size(self) -> usize {
        self.lanes.count_ones() as usize
    }

    /// The group's lanes in the warp, as a bit mask.
    #[must_use]
    pub fn lanes(self) -> u32 {
        self.lanes
    }

    /// Waits for the group's threads; their previous writes are then visible to them.
    ///
    /// # Panics
    ///
    /// On the host.
    pub fn sync(self) {
        sync_warp(self.lanes);
    }

    /// Returns true if `predicate` is true for all threads.
    ///
    /// # Panics
    ///
    /// On the host.
    #[must_use]
    pub fn all(self, predicate: bool) -> bool {
        crate::device::all_sync(self.lanes, predicate)
    }

    /// Returns true if `predicate` is true for any thread.
    ///
    /// # Panics
    ///
    /// On the host.
    #[must_use]
    pub fn any(self, predicate: bool) -> bool {
        crate::device::any_sync(self.lanes, predicate)
    }

    /// The threads of the group for which `predicate` is true, as a bit mask.
    ///
    /// # Panics
    ///
    /// On the host.
    #[must_use]
    pub fn ballot(self, predicate: bool) -> u32 {
        packed(self.lanes, crate::device::ballot_sync(self.lanes, predicate))
    }
}

/// The bits of `found` at the positions in `lanes`, packed without gaps.
#[cfg_attr(doc, doc(hidden))]
#[device_fn]
pub fn packed(lanes: u32, found: u32) -> u32 {
    let mut left = lanes;
    let mut bits = 0;
    let mut rank = 0;
    while left != 0 {
        bits |= (found >> left.trailing_zeros() & 1) << rank;
        rank += 1;
        left &= left - 1;
    }
    bits
}

/// The lane of a rank, modulo the group's size.
#[cfg_attr(doc, doc(hidden))]
#[device_fn]
pub fn lane_at(lanes: u32, rank: u32) -> u32 {
    let mut left = lanes;
    for _ in 0..rank % lanes.count_ones() {
        left &= left - 1;
    }
    left.trailing_zeros()
}

/// The lane `delta` ranks below the thread's own; its own if there is none.
#[cfg_attr(doc, doc(hidden))]
#[device_fn]
pub fn lane_up(lanes: u32, delta: u32) -> u32 {
    let own = (lanes & lanemask_lt()).count_ones();
    lane_at(lanes, if delta <= own { own - delta } else { own })
}

/// The lane `delta` ranks above the thread's own; its own if there is none.
#[cfg_attr(doc, doc(hidden))]
#[device_fn]
pub fn lane_down(lanes: u32, delta: u32) -> u32 {
    let own = (lanes & lanemask_lt()).count_ones();
    let beyond = delta >= lanes.count_ones() - own;
    lane_at(lanes, if beyond { own } else { own + delta })
}

/// The lane whose rank differs from the thread's own in these bits; its own if there is none.
#[cfg_attr(doc, doc(hidden))]
#[device_fn]
pub fn lane_xor(lanes: u32, bits: u32) -> u32 {
    let own = (lanes & lanemask_lt()).count_ones();
    let other = own ^ bits;
    lane_at(lanes, if other < lanes.count_ones() { other } else { own })
}

impl marker::WarpGroup for Coalesced {
    fn intrinsic(op: GroupOp) -> Intrinsic {
        Intrinsic::Coalesced(op)
    }
}

super::methods_of_values! {
    impl Coalesced [];
    /// The value of the thread of that rank, modulo the group's size.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{coalesced_threads, grid}, kernel};
    ///
    /// /// Adds what the first thread of a branch, and the previous and the next one have.
    /// #[kernel]
    /// fn neighbours(x: &mut [u32]) {
    ///     let i = grid::<1>();
    ///     if i % 2 == 1 {
    ///         let group = coalesced_threads();
    ///         let sum = group.shfl(x[i], 0) + group.shfl_up(x[i], 1) + group.shfl_down(x[i], 1);
    ///         x[i] = sum + group.shfl_xor(x[i], 1);
    ///     }
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let mut x: Vec<u32> = (0..32).collect();
    /// neighbours::launch((1, 32), &mut x)?;
    /// // Thread 5 is the third of the group: 1, 3, 7 and 7.
    /// assert_eq!((x[4], x[5]), (4, 18));
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    fn shfl / __call_shfl / Index<T: Shuffled>(value, rank) -> T;
    /// The value of the thread `delta` ranks below; the thread's own if there is none.
    fn shfl_up / __call_shfl_up / Up<T: Shuffled>(value, delta) -> T;
    /// The value of the thread `delta` ranks above; the thread's own if there is none.
    fn shfl_down / __call_shfl_down / Down<T: Shuffled>(value, delta) -> T;
    /// The value of the thread whose rank differs in these bits; the thread's own if there is none.
    fn shfl_xor / __call_shfl_xor / Xor<T: Shuffled>(value, bits) -> T;
    /// The threads of the group whose value has the same bits as this thread's, as a bit mask.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{coalesced_threads, grid}, kernel};
    ///
    /// #[kernel]
    /// fn statistics(x: &[u32], out: &mut [u32]) {
    ///     let i = grid::<1>();
    ///     if i % 2 == 1 {
    ///         let group = coalesced_threads();
    ///         let (peers, (_, equal)) = (group.match_any(x[i]), group.match_all(x[i]));
    ///         let (sum, least, largest) = (group.reduce_add(x[i]), group.reduce_min(x[i]), group.reduce_max(x[i]));
    ///         if i == 1 {
    ///             out[0] = peers;
    ///             out[1] = u32::from(equal);
    ///             out[2] = sum;
    ///             out[3] = least;
    ///             out[4] = largest;
    ///         }
    ///     }
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let x: Vec<u32> = (0..32).collect();
    /// let mut out = [0; 5];
    /// statistics::launch((1, 32), &x, &mut out)?;
    /// assert_eq!(out, [1, 0, 256, 1, 31]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    fn match_any / __call_match_any / MatchAny<T: Shuffled>(value) -> u32;
    /// The group's mask and `true` if the value has the same bits in all its threads, else 0 and `false`.
    fn match_all / __call_match_all / MatchAll<T: Shuffled>(value) -> (u32, bool);
    /// The sum over the group, wrapping, in each of its threads.
    fn reduce_add / __call_reduce_add / Add<T: Reduced>(value) -> T;
    /// The smallest value of the group, in each of its threads.
    fn reduce_min / __call_reduce_min / Min<T: Reduced>(value) -> T;
    /// The largest value of the group, in each of its threads.
    fn reduce_max / __call_reduce_max / Max<T: Reduced>(value) -> T;
}
