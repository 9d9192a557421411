//! The host's position in the grid that it walks, which the functions of [`crate::device`] tell.

use std::cell::Cell;

use super::Dim3;

/// The place of the thread that the host is at, and the grid around it.
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
    /// In how many dimensions grid and block were given.
    pub given: usize,
    /// Refuses a grid that is given in other dimensions than its threads ask for: the former, and the latter.
    pub refuse: fn(usize, usize) -> !,
}

thread_local! {
    static POSITION: Cell<Option<Position>> = const { Cell::new(None) };
    /// In how many dimensions the threads have asked for their place; 0 if they have not.
    static USED: Cell<usize> = const { Cell::new(0) };
}

/// A walk over a grid; when it is dropped, the host is where it was before.
#[derive(Debug)]
pub struct Walk {
    before: (Option<Position>, usize),
}

impl Walk {
    /// Begins to walk, within any other walk of this thread.
    #[must_use]
    pub fn begin() -> Self {
        Walk { before: (POSITION.get(), USED.replace(0)) }
    }

    /// Goes to a thread.
    pub fn step(&self, to: Position) {
        POSITION.set(Some(to));
    }

    /// In how many dimensions the threads asked for their place; 0 if they did not.
    pub fn used(&self) -> usize {
        USED.get()
    }
}

/// Puts the outer position back, also when a kernel panics.
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
/// If the host walks over no grid.
pub(crate) fn position() -> Position {
    POSITION.get().expect(
        "this is the host, and no thread of a grid: launch the kernel, `KERNEL::launch((blocks, threads), ..)`, or call it inside \
         `cuda_jit::host::for_each_thread`",
    )
}

/// The same for a thread that asks for its place in so many dimensions.
///
/// # Panics
///
/// As for [`position`]; if the grid has fewer dimensions.
pub(crate) fn position_in(dims: usize) -> Position {
    let position = position();
    USED.set(USED.get().max(dims));
    if position.given < dims {
        (position.refuse)(position.given, dims);
    }
    position
}
