//! [`warm`] and [`record`]: compile several kernels ahead of their first launch, in parallel, for this process or for a
//! bundle.

#[cfg(all(feature = "bundle", feature = "compiler"))]
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cuda_driver::Context;
use once_cell::sync::OnceCell;

use crate::error::Result;
use crate::kernel::CompiledKernel;
#[cfg(all(feature = "bundle", feature = "compiler"))]
use crate::{record::Recording, target::ComputeCapability};

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
/// The error of the first kernel, in the list's order, that does not compile or load; the others are compiled nevertheless.
///
/// # Panics
///
/// If a compilation panics.
pub fn warm<F>(kernels: impl IntoIterator<Item = F>) -> Result<Vec<CompiledKernel>>
where
    F: Fn() -> Result<CompiledKernel> + Send + Sync,
{
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

/// Compiles kernels, as [`warm`] does, and adds them to a bundle's file for these compute capabilities; for that of the
/// current device if there are none. Each kernel is given by its `compile`.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Num, bundle, kernel, record};
///
/// #[kernel]
/// fn scale<T: Num>(x: &mut [T], by: T) {
///     x[0] *= by;
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let folder = std::env::temp_dir().join(format!("bundle-example-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// let file = folder.join("kernels.bundle");
/// record(&file, &[(7, 5).into(), (9, 0).into()], [scale::<f32>::compile, scale::<f64>::compile])?;
/// assert!(bundle::is_bundle(&std::fs::read(&file).unwrap()));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Errors
///
/// The error of the first kernel, in the list's order, that does not compile or load; if a compute capability is unknown,
/// or the file cannot be written or is no bundle.
///
/// # Panics
///
/// If a compilation panics.
#[cfg(all(feature = "bundle", feature = "compiler"))]
pub fn record<F>(
    file: impl AsRef<Path>,
    targets: &[ComputeCapability],
    kernels: impl IntoIterator<Item = F>,
) -> Result<()>
where
    F: Fn() -> Result<CompiledKernel> + Send + Sync,
{
    let recording = Recording::new(file.as_ref().to_owned(), targets)?;
    warm(kernels)?.iter().try_for_each(|kernel| recording.add(&kernel.loaded.compiled, kernel.signature()))
}
