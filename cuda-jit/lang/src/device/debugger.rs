//! Breakpoints for an attached debugger.

use crate::typeinfo::Intrinsic;

/// Stops the thread in cuda-gdb, as a breakpoint on this line would; PTX's `brkpt`.
///
/// Its effect without a debugger depends on the GPU. The software device prints the location, the block and the thread to
/// standard error, and continues; with `#[kernel(lineinfo)]` or `#[kernel(debug)]` the location is the line of the Rust
/// source. On the host it does nothing.
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
