//! Kernels on the host, one thread at a time: an oracle for kernels without barriers, not a device.
//!
//! A kernel is an ordinary function, so the host can call it. [`for_each_thread`] calls it once for each thread of a
//! grid, in order, and the functions of [`device`](mod@crate::device) answer for that thread.

use std::cell::Cell;

use cuda_driver::Dims;

use crate::device::Dim3;

/// Where the host is in the grid that it walks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    pub(crate) thread: Dim3,
    pub(crate) block: Dim3,
    pub(crate) block_dim: Dim3,
    pub(crate) grid_dim: Dim3,
}

thread_local! {
    static POSITION: Cell<Option<Position>> = const { Cell::new(None) };
}

/// The position of the thread that is being run.
///
/// # Panics
///
/// If the host is not inside [`for_each_thread`].
pub(crate) fn position() -> Position {
    POSITION.get().expect("on the host, call the kernel inside `cuda_jit::host::for_each_thread`")
}

/// Calls `thread` once for each thread of a grid of blocks, `x` fastest, block after block.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, host::for_each_thread};
///
/// let mut seen = Vec::new();
/// for_each_thread(((2, 1), (2, 2)), || seen.push(grid::<2>()));
/// assert_eq!(seen, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 0), (2, 1), (3, 1)]);
/// ```
///
/// # Panics
///
/// If `thread` does, or an extent is negative.
pub fn for_each_thread<G: Dims, B: Dims>((grid, block): (G, B), mut thread: impl FnMut()) {
    let extent = |dims: [i128; 3]| {
        let [x, y, z] = dims.map(|extent| usize::try_from(extent).expect("an extent is not negative"));
        Dim3 { x, y, z }
    };
    let (grid_dim, block_dim) = (extent(grid.dims().extents()), extent(block.dims().extents()));
    let _restore = Restore(POSITION.get());
    for block in indices(grid_dim) {
        for index in indices(block_dim) {
            POSITION.set(Some(Position { thread: index, block, block_dim, grid_dim }));
            thread();
        }
    }
}

/// Puts the outer position back, also when a kernel panics.
struct Restore(Option<Position>);

impl Drop for Restore {
    fn drop(&mut self) {
        POSITION.set(self.0);
    }
}

fn indices(extent: Dim3) -> impl Iterator<Item = Dim3> {
    let rows = move |z| (0..extent.y).flat_map(move |y| (0..extent.x).map(move |x| Dim3 { x, y, z }));
    (0..extent.z).flat_map(rows)
}
