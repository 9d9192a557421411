//! Tiles: parts of a warp with a size that is fixed at compile time.

use super::{Block, marker, this_block};
use crate::device as device_fn;
use crate::device::{Shuffled, lane_id, sync_warp};
use crate::typeinfo::{GroupOp, Intrinsic};

/// A part of a warp: `N` consecutive threads, whose first rank in the block is a multiple of `N`.
///
/// All threads of a tile call its methods together, except for those that return a rank or a size. Masks and ranks count
/// from the tile's first thread.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{this_block, tiled_partition}, kernel};
///
/// #[kernel]
/// fn votes(x: &[u32], out: &mut [u32]) {
///     let block = this_block();
///     let tile = tiled_partition::<4>(&block);
///     let even = x[block.thread_rank()] % 2 == 0;
///     tile.sync();
///     let (all, any, votes) = (tile.all(even), tile.any(even), tile.ballot(even));
///     if tile.thread_rank() == 0 {
///         out[tile.meta_group_rank()] = 100 * u32::from(all) + 10 * u32::from(any) + votes.count_ones();
///     }
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut out = [0; 3];
/// votes::launch((1, 12), &[0, 2, 4, 6, 1, 2, 3, 4, 1, 3, 5, 7], &mut out)?;
/// assert_eq!(out, [114, 12, 0]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile<const N: usize>;

super::group! { Tile [const N] {} }

/// A number of threads that a tile can have.
///
/// Nothing unsafe relies on an implementation: a [`Tile`] of another size cannot be created.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Tile, TileSize, this_block, tiled_partition};
///
/// /// The number of tiles in a block, for tiles of any size.
/// fn tiles<const N: usize>() -> usize
/// where
///     Tile<N>: TileSize,
/// {
///     tiled_partition::<N>(&this_block()).meta_group_size()
/// }
/// cuda_jit::host::for_each_thread((1, 64), || assert_eq!((tiles::<8>(), tiles::<32>()), (8, 2)));
/// ```
#[diagnostic::on_unimplemented(
    message = "a tile has 1, 2, 4, 8, 16 or 32 threads",
    label = "a tile cannot have this size"
)]
pub trait TileSize {}

macro_rules! sizes {
    ($($size:literal)*) => { $( impl TileSize for Tile<$size> {} )* };
}

sizes! { 1 2 4 8 16 32 }

/// The tile of `N` threads that contains the thread; the block's size is a multiple of `N`.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{this_block, tiled_partition}, kernel};
///
/// /// The sum of every eight elements.
/// #[kernel]
/// fn sums(x: &[f32], out: &mut [f32]) {
///     let block = this_block();
///     let tile = tiled_partition::<8>(&block);
///     let sum = tile.reduce_add(x[block.thread_rank()]);
///     if tile.thread_rank() == 0 {
///         out[tile.meta_group_rank()] = sum;
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let x: Vec<f32> = (0..32).map(|i| i as f32).collect();
/// let mut out = [0.0; 4];
/// sums::launch((1, 32), &x, &mut out)?;
/// assert_eq!(out, [28.0, 92.0, 156.0, 220.0]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[device_fn]
pub fn tiled_partition<const N: usize>(_block: &Block) -> Tile<N>
where
    Tile<N>: TileSize,
{
    Tile::<N>
}

#[device_fn]
impl<const N: usize> Tile<N> {
    /// The thread's rank in the tile.
    #[must_use]
    pub fn thread_rank(self) -> usize {
        lane_id() % N
    }

    /// The number of threads in the tile.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::{this_block, tiled_partition};
    ///
    /// cuda_jit::host::for_each_thread((1, 64), || {
    ///     let tile = tiled_partition::<16>(&this_block());
    ///     assert_eq!((tile.size(), tile.lanes().count_ones()), (16, 16));
    /// });
    /// ```
    #[must_use]
    pub fn size(self) -> usize {
        N
    }

    /// The tile's rank among those of the block.
    #[must_use]
    pub fn meta_group_rank(self) -> usize {
        this_block().thread_rank() / N
    }

    /// The number of tiles in the block.
    #[must_use]
    pub fn meta_group_size(self) -> usize {
        this_block().size().div_ceil(N)
    }

    /// The tile's lanes in the warp, as a bit mask.
    #[must_use]
    pub fn lanes(self) -> u32 {
        let all = if N == 32 { u32::MAX } else { (1 << N as u32) - 1 };
        let first = lane_id() / N * N;
        all << first as u32
    }

    /// Waits for the tile's threads; their previous writes are then visible to them.
    ///
    /// # Panics
    ///
    /// On the host.
    pub fn sync(self) {
        sync_warp(self.lanes());
    }

    /// Returns true if `predicate` is true for all threads.
    ///
    /// # Panics
    ///
    /// On the host.
    #[must_use]
    pub fn all(self, predicate: bool) -> bool {
        crate::device::all_sync(self.lanes(), predicate)
    }

    /// Returns true if `predicate` is true for any thread.
    ///
    /// # Panics
    ///
    /// On the host.
    #[must_use]
    pub fn any(self, predicate: bool) -> bool {
        crate::device::any_sync(self.lanes(), predicate)
    }

    /// The threads of the tile for which `predicate` is true, as a bit mask.
    ///
    /// # Panics
    ///
    /// On the host.
    #[must_use]
    pub fn ballot(self, predicate: bool) -> u32 {
        let first = lane_id() / N * N;
        crate::device::ballot_sync(self.lanes(), predicate) >> first as u32
    }
}

impl<const N: usize> marker::WarpGroup for Tile<N> {
    fn intrinsic(op: GroupOp) -> Intrinsic {
        Intrinsic::Tile(op, N as u32)
    }
}

super::methods_of_values! {
    impl Tile<N> [const N: usize];
    /// The value of the thread of that rank, modulo the tile's size.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{this_block, tiled_partition}, kernel};
    ///
    /// /// The first value of each tile, the previous, the next, and that of the other thread of a pair.
    /// #[kernel]
    /// fn others(x: &[u32], out: &mut [[u32; 4]]) {
    ///     let block = this_block();
    ///     let (tile, i) = (tiled_partition::<4>(&block), block.thread_rank());
    ///     out[i] = [tile.shfl(x[i], 0), tile.shfl_up(x[i], 1), tile.shfl_down(x[i], 1), tile.shfl_xor(x[i], 1)];
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let mut out = [[0; 4]; 8];
    /// others::launch((1, 8), &[10, 11, 12, 13, 14, 15, 16, 17], &mut out)?;
    /// assert_eq!(out[5], [14, 14, 16, 14]);
    /// assert_eq!(out[7], [14, 16, 17, 16]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    fn shfl / __call_shfl / Index<T: Shuffled>(value, rank) -> T;
    /// The value of the thread `delta` below; the thread's own if there is none.
    fn shfl_up / __call_shfl_up / Up<T: Shuffled>(value, delta) -> T;
    /// The value of the thread `delta` above; the thread's own if there is none.
    fn shfl_down / __call_shfl_down / Down<T: Shuffled>(value, delta) -> T;
    /// The value of the thread whose rank differs in the bits of `bits`; the thread's own if there is none.
    fn shfl_xor / __call_shfl_xor / Xor<T: Shuffled>(value, bits) -> T;
    /// The threads of the tile whose value has the same bits as this thread's, as a bit mask.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::{this_block, tiled_partition}, kernel};
    ///
    /// /// The threads with the same value, and the sum, minimum and maximum of each tile.
    /// #[kernel]
    /// fn tiles(x: &[u32], out: &mut [[u32; 5]]) {
    ///     let block = this_block();
    ///     let (tile, i) = (tiled_partition::<4>(&block), block.thread_rank());
    ///     let (peers, (_, equal)) = (tile.match_any(x[i]), tile.match_all(x[i]));
    ///     out[i] = [peers, u32::from(equal), tile.reduce_add(x[i]), tile.reduce_min(x[i]), tile.reduce_max(x[i])];
    /// }
    ///
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let _selected = context.select();
    /// let mut out = [[0; 5]; 8];
    /// tiles::launch((1, 8), &[1, 2, 1, 4, 7, 7, 7, 7], &mut out)?;
    /// assert_eq!(out[2], [0b0101, 0, 8, 1, 4]);
    /// assert_eq!(out[6], [0b1111, 1, 28, 7, 7]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    fn match_any / __call_match_any / MatchAny<T: Shuffled>(value) -> u32;
    /// The tile's mask and `true` if the value has the same bits in all its threads, else 0 and `false`.
    fn match_all / __call_match_all / MatchAll<T: Shuffled>(value) -> (u32, bool);
    /// The sum over the tile, wrapping, in each of its threads.
    fn reduce_add / __call_reduce_add / Add<T: Shuffled>(value) -> T;
    /// The smallest value of the tile, in each of its threads; NaN is ignored unless all values are NaN.
    fn reduce_min / __call_reduce_min / Min<T: Shuffled>(value) -> T;
    /// The largest value of the tile, in each of its threads; NaN is ignored unless all values are NaN.
    fn reduce_max / __call_reduce_max / Max<T: Shuffled>(value) -> T;
}
