//! What a kernel says to the debugger that watches it.

use crate::typeinfo::Intrinsic;

/// Stops the thread in cuda-gdb, as a breakpoint on this line would; PTX's `brkpt`.
///
/// What a GPU does with it when no debugger is attached is its own choice. The software device tells the place, the block
/// and the thread on standard error, and goes on; with `#[kernel(lineinfo)]` or `#[kernel(debug)]` the place is the line of the
/// Rust source. On the host it does nothing.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{breakpoint, grid}, kernel};
///
/// #[kernel(debug)]
/// fn suspicious(x: &mut [f32]) {
///     let i = grid::<1>();
///     if x[i].is_nan() {
///         breakpoint();
///     }
/// }
///
/// assert!(suspicious::compile_ptx((9, 0))?.contains("brkpt;"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn breakpoint() {}

calls! {
    breakpoint() => Intrinsic::Breakpoint;
}
