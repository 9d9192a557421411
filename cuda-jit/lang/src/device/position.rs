//! The host's position in the grid that it iterates over, which the functions of [`crate::device`] return.

use std::cell::Cell;

use super::Dim3;

/// The position of the host's current thread, and the grid around it.
#[cfg_attr(doc, doc(hidden))]
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The thread in its block.
    pub thread: Dim3,
    /// The block in the grid.
    pub block: Dim3,
    /// The extents of a block.
    pub block_dim: Dim3,
    /// The extents of the grid.
    pub grid_dim: Dim3,
    /// The number of dimensions in which grid and block were given.
    pub given: usize,
    /// Panics for a grid that is given in fewer dimensions than its threads query: the former, and the latter.
    pub refuse: fn(usize, usize) -> !,
}

thread_local! {
    static POSITION: Cell<Option<Position>> = const { Cell::new(None) };
    /// The number of dimensions in which the threads have queried their position; 0 if they have not.
    static USED: Cell<usize> = const { Cell::new(0) };
}

/// An iteration over a grid; dropping it restores the previous position.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct Walk {
    before: (Option<Position>, usize),
}

impl Walk {
    /// Begins an iteration, nested in any other of this host thread.
    #[must_use]
    pub fn begin() -> Self {
        Walk { before: (POSITION.get(), USED.replace(0)) }
    }

    /// Moves to a thread.
    pub fn step(&self, to: Position) {
        POSITION.set(Some(to));
    }

    /// The number of dimensions in which the threads queried their position; 0 if they did not.
    pub fn used(&self) -> usize {
        USED.get()
    }
}

/// Restores the outer position, also when a kernel panics.
impl Drop for Walk {
    fn drop(&mut self) {
        POSITION.set(self.before.0);
        USED.set(self.before.1);
    }
}

/// The position of the thread that is being run.
///
/// # Panics
///
/// If the host iterates over no grid.
pub(crate) fn position() -> Position {
    POSITION.get().expect(
        "this is the host, and no thread of a grid: launch the kernel, `KERNEL::launch((blocks, threads), ..)`, or call it inside \
         `cuda_jit::host::for_each_thread`",
    )
}

/// The position of a thread that queries it in `dims` dimensions.
///
/// # Panics
///
/// As [`position`]; also if the grid has fewer dimensions.
pub(crate) fn position_in(dims: usize) -> Position {
    let position = position();
    USED.set(USED.get().max(dims));
    if position.given < dims {
        (position.refuse)(position.given, dims);
    }
    position
}
