//! The whole grid as a group, and its barrier.
//!
//! The barrier is CUDA's own: the driver gives every cooperative launch a word, whose sign bit flips when all blocks have
//! arrived. A panic anywhere in the kernel ends the waiting threads, since the panicking thread never arrives. Thread 0 of
//! a block waits for the other blocks, and the block's second barrier tells all of its threads if they have arrived: if
//! thread 0 has panicked, nobody says so, and no thread runs on past a barrier that did not open.

use super::{Block, this_block};
use crate::device as device_fn;
use crate::device::{
    Dim3, atomic_add_with, atomic_load_with, block_idx, grid_dim, needs_other_threads, order, scope, sync_threads,
    sync_threads_or,
};
use crate::typeinfo::Intrinsic;

/// The threads of the grid.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::this_grid;
///
/// let mut ranks = Vec::new();
/// cuda_jit::host::for_each_thread(((2, 2), 3), || {
///     let grid = this_grid();
///     assert_eq!((grid.size(), grid.num_blocks()), (12, 4));
///     ranks.push((grid.block_rank(), grid.thread_rank()));
/// });
/// assert_eq!(ranks[4], (1, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid;

super::group! { Grid {} }

/// The grid.
///
/// A kernel that calls [`Grid::sync`] is launched cooperatively: all its blocks run at once. Launching a grid with more
/// blocks than fit on the device is an error (`CompiledKernel::max_cooperative_blocks` returns that number).
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::this_grid, kernel};
///
/// /// Each thread passes its number to the opposite thread of the grid, in any block.
/// #[kernel]
/// fn turn_around(x: &mut [u32], out: &mut [u32]) {
///     let grid = this_grid();
///     let (i, n) = (grid.thread_rank(), grid.size());
///     x[i] = i as u32;
///     grid.sync();
///     out[i] = x[n - 1 - i];
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let mut out = [0; 6];
/// turn_around::launch((3, 2), &mut [0; 6], &mut out)?;
/// assert_eq!(out, [5, 4, 3, 2, 1, 0]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[device_fn]
pub fn this_grid() -> Grid {
    Grid
}

#[device_fn]
impl Grid {
    /// Waits until all threads of the grid arrive; their previous writes are then visible to all.
    ///
    /// All threads of the grid must arrive; if one has returned, the others wait forever.
    ///
    /// # Panics
    ///
    /// If another thread of the grid has panicked and therefore does not arrive; that thread's panic is the one that is
    /// reported. On the host.
    pub fn sync(self) {
        sync_threads();
        let mut has_opened = false;
        if this_block().thread_rank() == 0 {
            let blocks = self.num_blocks() as u32;
            // The contributions of all blocks add up to the sign bit.
            let mine = if self.block_rank() == 0 { 0x8000_0000 - (blocks - 1) } else { 1 };
            let word = grid_barrier();
            let before = atomic_add_with(word, mine, scope::Device, order::Release);
            while (atomic_load_with(word, scope::Device, order::Acquire) ^ before) & 0x8000_0000 == 0 {
                if kernel_panicked() {
                    panic!("another thread of the grid panicked");
                }
            }
            has_opened = true;
        }
        if !sync_threads_or(has_opened) {
            panic!("another thread of the grid panicked");
        }
    }

    /// The thread's rank in the grid: blocks in order, `x` fastest, and threads within them.
    #[must_use]
    pub fn thread_rank(self) -> usize {
        let block: Block = this_block();
        self.block_rank() * block.size() + block.thread_rank()
    }

    /// The number of threads in the grid.
    #[must_use]
    pub fn size(self) -> usize {
        self.num_blocks() * this_block().size()
    }

    /// The block's rank in the grid, `x` fastest.
    #[must_use]
    pub fn block_rank(self) -> usize {
        let (at, extent): (Dim3, Dim3) = (block_idx(), grid_dim());
        at.x + extent.x * (at.y + extent.y * at.z)
    }

    /// The number of blocks in the grid.
    #[must_use]
    pub fn num_blocks(self) -> usize {
        let extent = grid_dim();
        extent.x * extent.y * extent.z
    }
}

/// The word of the grid barrier.
fn grid_barrier() -> &'static mut u32 {
    needs_other_threads()
}

/// Returns true if a thread of this launch has panicked.
fn kernel_panicked() -> bool {
    false
}

calls! {
    grid_barrier() -> &'static mut u32 => Intrinsic::GridBarrier;
    kernel_panicked() -> bool => Intrinsic::KernelPanicked;
}
