//! [`warm`]: several kernels compiled ahead of their first launch, in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cuda_driver::Context;
use once_cell::sync::OnceCell;

use crate::error::Result;
use crate::kernel::CompiledKernel;

/// Compiles and loads kernels for the current device on as many threads as the machine has cores, and returns them in
/// order. Each is given by its `compile`, so that the list is the list of specialisations.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Num, kernel, warm};
///
/// #[kernel]
/// fn scale<T: Num>(x: &mut [T], by: T) {
///     x[0] *= by;
/// }
///
/// #[kernel]
/// fn tile<const N: usize>(x: &mut [u32]) {
///     x[0] = N as u32;
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let kernels = warm([scale::<f32>::compile, scale::<f64>::compile, tile::<16>::compile])?;
/// assert_eq!(kernels[2].name(), "tile_16");
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// The first kernel's, in the list's order, that does not compile or load; the others are compiled all the same.
///
/// # Panics
///
/// If a compilation panics.
pub fn warm(kernels: impl IntoIterator<Item = fn() -> Result<CompiledKernel>>) -> Result<Vec<CompiledKernel>> {
    let kernels: Vec<_> = kernels.into_iter().map(|compile| (compile, OnceCell::new())).collect();
    let (next, selected) = (AtomicUsize::new(0), Context::current());
    let work = || {
        let _selected = selected.as_ref().map(Context::select);
        while let Some((compile, made)) = kernels.get(next.fetch_add(1, Ordering::Relaxed)) {
            made.get_or_init(compile);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(kernels.len());
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    kernels.into_iter().filter_map(|(_, made)| made.into_inner()).collect()
}
