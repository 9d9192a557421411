//! Kernels on the host, one thread at a time: an oracle for kernels without barriers, not a device.
//!
//! A kernel is an ordinary function, so the host can call it. [`for_each_thread`] calls it once for each thread of a grid,
//! in order, and the functions of [`device`](mod@crate::device) return that thread's values.

use cuda_driver::{DeviceLimits, Dims, LaunchConfig, LaunchConfigError};

use crate::device::{Dim3, Position, Walk};
use crate::launch::suits;

/// Panics for a grid that is given in fewer dimensions than its threads query.
fn refuse(given: usize, used: usize) -> ! {
    panic!("{}", LaunchConfigError::Dimensions { kernel: None, given, used })
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
/// A configuration that a launch refuses on every device panics with the same text:
///
/// ```should_panic
/// cuda_jit::host::for_each_thread((1, 5000), || ()); // x is 5000, it must be from 1 to 1024
/// ```
///
/// # Panics
///
/// If `thread` panics; before the first thread, if a launch of that grid and block would be refused on every device; if a
/// thread calls [`grid`](crate::device::grid) with more dimensions than the launch has; and at the end, if all threads
/// queried fewer dimensions than it extends in.
pub fn for_each_thread<G: Dims, B: Dims>((grid, block): (G, B), mut thread: impl FnMut()) {
    walk(&LaunchConfig::new(grid, block), &mut thread);
}

/// As [`for_each_thread`], compiled once and not for each closure.
fn walk(config: &LaunchConfig, thread: &mut dyn FnMut()) {
    if let Err(refused) = config.check_within(&DeviceLimits::EVERYWHERE) {
        panic!("{refused}");
    }
    // Extents that have passed the check fit the driver's integers.
    let [grid, block] = [config.grid(), config.block()].map(|dims| dims.extents().map(|extent| extent as u32));
    let [grid_dim, block_dim] = [grid, block].map(|extents| {
        let [x, y, z] = extents.map(|extent| extent as usize);
        Dim3 { x, y, z }
    });
    let given = config.ndim();
    let walk = Walk::begin();
    for block_idx in indices(grid_dim) {
        for thread_idx in indices(block_dim) {
            walk.step(Position { thread: thread_idx, block: block_idx, block_dim, grid_dim, given, refuse });
            thread();
        }
    }
    if !suits(walk.used(), given, grid, block) {
        refuse(given, walk.used());
    }
}

fn indices(extent: Dim3) -> impl Iterator<Item = Dim3> {
    let rows = move |z| (0..extent.y).flat_map(move |y| (0..extent.x).map(move |x| Dim3 { x, y, z }));
    (0..extent.z).flat_map(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{grid, grid_size};

    /// The panic message of an iteration over a grid.
    fn refused<G: Dims, B: Dims>(extents: (G, B), thread: impl FnMut()) -> String {
        let walk = std::panic::AssertUnwindSafe(|| for_each_thread(extents, thread));
        let message = std::panic::catch_unwind(walk).expect_err("it is refused");
        *message.downcast().expect("a message with values")
    }

    #[test]
    fn what_no_device_launches_is_refused_at_once() {
        let never = || unreachable!("no thread runs");
        let block = "threads: x is 5000, it must be from 1 to 1024; nothing was launched";
        assert_eq!(refused((1, 5000), never), format!("block of 5000 {block}"));
        assert!(refused((1, (32, 33)), never).contains("that is 1056 together, the device allows at most 1024"));
        assert!(refused((1, (1, 1, 65)), never).contains("z is 65, it must be from 1 to 64"));
        assert!(refused(((1, 65536), 1), never).contains("y is 65536, it must be from 1 to 65535"));
        assert!(refused((1_u64 << 31, 1), never).contains("x is 2147483648, it must be from 1 to 2147483647"));
        assert!(refused((0, 1), never).contains("x is 0, it must be from 1"));
        assert!(refused((-1, 1), never).contains("x is -1, it must be from 1"));
        assert!(refused((vec![1, 1, 1, 1], 1), never).contains("grid in 4 dimensions: it must be in 1 to 3"));
    }

    #[test]
    fn threads_ask_for_as_many_dimensions_as_the_launch_has() {
        let text = |given: &str, used| {
            format!(
                "a launch in {given}: the kernel uses its position in {used}; give grid and block as many extents; nothing was launched"
            )
        };
        let mut ran = 0;
        let in_two = refused((2, 2), || {
            ran += 1;
            grid::<2>();
        });
        assert_eq!((in_two, ran), (text("1 dimension", 2), 1));
        assert_eq!(refused((1, (2, 2)), || _ = grid_size::<1>()), text("2 dimensions", 1));
        // as many dimensions as are given, even of extent one; as many as any thread queries
        for_each_thread((1, (2, 1, 1)), || _ = grid::<1>());
        for_each_thread((1, (2, 2)), || _ = (grid::<1>(), grid::<2>()));
        for_each_thread((1, (2, 2)), || ());
        // a nested iteration has its own queries
        for_each_thread((1, 2), || {
            grid::<1>();
            for_each_thread((1, (2, 2)), || _ = grid::<2>());
        });
    }
}
