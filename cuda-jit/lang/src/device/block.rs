//! Block-level operations: shared memory, barriers, fences.
//!
//! On the host, barriers and shared memory panic, since it runs a kernel's threads one after the other.

use crate::kir::{BarrierOp, Order, Ordering, Scope};
use crate::typeinfo::{ElementType, Intrinsic};

/// Panics: the function needs other threads, which do not run on the host.
#[track_caller]
pub(super) fn needs_other_threads() -> ! {
    panic!("the host runs a kernel's threads one after the other; launch kernels whose threads wait for each other")
}

/// An array of the given type in the block's shared memory; its initial contents are unspecified. Each `shared!` in the
/// source is one array.
///
/// Threads that read elements which others wrote need a [`sync_threads`] in between.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{shared, sync_threads, thread_idx}, kernel};
/// use ndarray::array;
///
/// #[kernel]
/// fn reverse(x: &mut [u32]) {
///     let tile = shared!([u32; 64]);
///     let (i, n) = (thread_idx().x, x.len());
///     if i < n {
///         tile[i] = x[i];
///     }
///     sync_threads();
///     if i < n {
///         x[i] = tile[n - 1 - i];
///     }
/// }
/// assert!(reverse::compile_ptx((9, 0))?.contains("bar.sync"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[macro_export]
macro_rules! shared {
    ($array:ty) => {
        $crate::device::shared_array::<$array>()
    };
}
pub use crate::shared;

/// The dynamic shared memory that the launch gives each block (the fourth element of its configuration, or
/// `LaunchConfig::shared_bytes`), as slices. `dynamic_shared!([f32])` is all of it; `dynamic_shared!([f32; n], [u32; m])`
/// is a tuple of two consecutive slices, with lengths that are computed at run time, each aligned for its type. The last
/// may have no length. The initial contents are unspecified.
///
/// Each `dynamic_shared!` of a kernel starts at the beginning of the same memory. A length that does not fit is a panic.
/// More than 48 KiB need no further steps: the launch requests it from the driver.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{dynamic_shared, sync_threads, thread_idx}, kernel};
///
/// #[kernel]
/// fn reverse(x: &mut [u32]) {
///     let (i, n) = (thread_idx().x, x.len());
///     let tile = dynamic_shared!([u32; n]);
///     if i < n {
///         tile[i] = x[i];
///     }
///     sync_threads();
///     if i < n {
///         x[i] = tile[n - 1 - i];
///     }
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x = cuda_mem::from_slice(&context, &[1, 2, 3])?;
/// reverse::launch((1, 32, &context.default_stream(), 3 * 4), &mut x)?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [3, 2, 1]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[macro_export]
macro_rules! dynamic_shared {
    (@part $element:ty) => {
        $crate::device::dynamic_shared_all::<$element>()
    };
    (@part $element:ty, $len:expr) => {
        $crate::device::dynamic_shared_part::<$element>($len)
    };
    ($([$element:ty $(; $len:expr)?]),+ $(,)?) => {
        ($($crate::dynamic_shared!(@part $element $(, $len)?)),+)
    };
}
pub use crate::dynamic_shared;

/// The function behind `dynamic_shared!([T])`.
///
/// # Panics
///
/// On the host.
#[doc(hidden)]
pub fn dynamic_shared_all<T: ElementType>() -> &'static mut [T] {
    needs_other_threads()
}

/// The function behind an array of `dynamic_shared!`.
///
/// # Panics
///
/// On the host.
#[doc(hidden)]
pub fn dynamic_shared_part<T: ElementType>(_len: usize) -> &'static mut [T] {
    needs_other_threads()
}

/// The function behind `shared!`.
///
/// # Panics
///
/// On the host.
#[doc(hidden)]
pub fn shared_array<A: ElementType>() -> &'static mut A {
    needs_other_threads()
}

/// Waits until all threads of the block that have not returned arrive; their previous writes are then visible to all.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{shared, sync_threads, thread_idx}, kernel};
///
/// #[kernel]
/// fn rotate(x: &mut [u32]) {
///     let (tile, i) = (shared!([u32; 4]), thread_idx().x);
///     tile[i] = x[i];
///     sync_threads();
///     x[i] = tile[(i + 1) % 4];
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x = [1, 2, 3, 4];
/// rotate::launch((1, 4), &mut x)?;
/// assert_eq!(x, [2, 3, 4, 1]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn sync_threads() {
    needs_other_threads()
}

/// [`sync_threads`]; returns the number of threads of the block for which `predicate` is true.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{sync_threads_count, thread_idx}, kernel};
///
/// #[kernel]
/// fn positive(x: &mut [i32]) {
///     let count = sync_threads_count(x[thread_idx().x] > 0);
///     x[thread_idx().x] = count as i32;
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x = [3, -1, 0, 7];
/// positive::launch((1, 4), &mut x)?;
/// assert_eq!(x, [2; 4]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn sync_threads_count(_predicate: bool) -> u32 {
    needs_other_threads()
}

/// [`sync_threads`]; returns true if `predicate` is true for all threads of the block.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{sync_threads_and, sync_threads_or, thread_idx}, kernel};
///
/// #[kernel]
/// fn votes(x: &mut [u32]) {
///     let positive = x[thread_idx().x] > 0;
///     let (all, any) = (sync_threads_and(positive), sync_threads_or(positive));
///     x[thread_idx().x] = 10 * u32::from(all) + u32::from(any);
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x = [3, 0, 7];
/// votes::launch((1, 3), &mut x)?;
/// assert_eq!(x, [1; 3]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// On the host.
pub fn sync_threads_and(_predicate: bool) -> bool {
    needs_other_threads()
}

/// [`sync_threads`]; returns true if `predicate` is true for any thread of the block.
///
/// # Panics
///
/// On the host.
pub fn sync_threads_or(_predicate: bool) -> bool {
    needs_other_threads()
}

/// Orders this thread's previous writes before its later ones, as observed by its block.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{threadfence, threadfence_block, threadfence_system};
/// use cuda_jit::kernel;
///
/// #[kernel]
/// fn fences() {
///     threadfence_block();
///     threadfence();
///     threadfence_system();
/// }
/// let ptx = fences::compile_ptx((9, 0))?;
/// assert!(["membar.cta;", "membar.gl;", "membar.sys;"].iter().all(|fence| ptx.contains(fence)));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn threadfence_block() {}

/// Orders this thread's previous writes before its later ones, as observed by the device.
pub fn threadfence() {}

/// Orders this thread's previous writes before its later ones, as observed by the device and the host.
pub fn threadfence_system() {}

const fn sequential(scope: Scope) -> Order {
    Order { ordering: Ordering::SeqCst, scope }
}

calls! {
    sync_threads() => Intrinsic::Barrier;
    sync_threads_count(bool) -> u32 => Intrinsic::BarrierReduce(BarrierOp::Count);
    sync_threads_and(bool) -> bool => Intrinsic::BarrierReduce(BarrierOp::And);
    sync_threads_or(bool) -> bool => Intrinsic::BarrierReduce(BarrierOp::Or);
    threadfence_block() => Intrinsic::Fence(sequential(Scope::Block));
    threadfence() => Intrinsic::Fence(sequential(Scope::Device));
    threadfence_system() => Intrinsic::Fence(sequential(Scope::System));
}
