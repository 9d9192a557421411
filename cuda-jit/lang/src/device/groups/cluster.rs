//! Thread block clusters, from compute capability 9.0 on: blocks that run concurrently on neighbouring multiprocessors, and
//! can access each other's shared memory.
//!
//! The cluster size is set by the launch ([`LaunchConfig::cluster`](cuda_driver::LaunchConfig::cluster)) or by the kernel
//! (`#[kernel(cluster(2))]`); otherwise clusters have one block.

use super::this_block;
use crate::device as device_fn;
use crate::device::position::position;
use crate::device::{Dim3, block_idx, needs_other_threads};
use crate::typeinfo::{ElementType, Intrinsic, Returned};

/// The threads of a cluster.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Dim3, this_cluster};
///
/// // On the host, each block is a cluster of its own.
/// cuda_jit::host::for_each_thread((2, 4), || {
///     let cluster = this_cluster();
///     assert_eq!((cluster.size(), cluster.num_blocks(), cluster.block_rank()), (4, 1, 0));
///     assert!(cluster.thread_rank() < cluster.size());
///     assert_eq!((cluster.block_index(), cluster.dim_blocks()), (Dim3::default(), Dim3 { x: 1, y: 1, z: 1 }));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster;

super::group! { Cluster {} }

/// The thread's cluster. Kernels that call it compile for compute capability 9.0 and newer.
///
/// # Examples
///
/// ```
/// use cuda_driver::LaunchConfig;
/// use cuda_jit::{device::this_cluster, kernel};
///
/// #[kernel]
/// fn ranks(out: &mut [usize]) {
///     let cluster = this_cluster();
///     cluster.sync();
///     out[cuda_jit::device::block_idx().x] = cluster.block_rank() + 10 * cluster.num_blocks();
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let mut out = [0; 6];
/// ranks::launch(LaunchConfig::new(6, 1).cluster(3), &mut out)?;
/// assert_eq!(out, [30, 31, 32, 30, 31, 32]);
/// let error = ranks::compile_ptx((8, 0)).unwrap_err().to_string();
/// assert!(error.contains("`this_cluster` needs sm_90 or newer"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[device_fn]
pub fn this_cluster() -> Cluster {
    Cluster
}

#[device_fn]
impl Cluster {
    /// Waits until all threads of the cluster that have not returned arrive; their previous writes are then visible to all.
    ///
    /// # Panics
    ///
    /// On the host.
    pub fn sync(self) {
        cluster_barrier();
    }

    /// The thread's rank in the cluster: blocks in order, and threads within them.
    #[must_use]
    pub fn thread_rank(self) -> usize {
        let block = this_block();
        self.block_rank() * block.size() + block.thread_rank()
    }

    /// The number of threads in the cluster.
    #[must_use]
    pub fn size(self) -> usize {
        self.num_blocks() * this_block().size()
    }

    /// The block's rank in the cluster, `x` fastest.
    #[must_use]
    pub fn block_rank(self) -> usize {
        cluster_rank()
    }

    /// The number of blocks in the cluster.
    #[must_use]
    pub fn num_blocks(self) -> usize {
        cluster_blocks()
    }

    /// The block's index in the cluster.
    #[must_use]
    pub fn block_index(self) -> Dim3 {
        cluster_block_idx()
    }

    /// The cluster's extent in blocks.
    #[must_use]
    pub fn dim_blocks(self) -> Dim3 {
        cluster_dim()
    }
}

impl Cluster {
    /// Maps `shared` to the same position in the shared memory of the block of that rank: an array of
    /// [`shared!`](crate::shared), an element or subslice of one, or a slice of [`dynamic_shared!`](crate::dynamic_shared).
    /// It is read, written and updated by atomic functions as the block's own.
    ///
    /// The memory exists as long as any thread of the cluster runs: a kernel that maps it begins when all blocks of the
    /// cluster have started, and keeps each block until all threads of the cluster have returned or panicked.
    /// [`sync`](Self::sync) waits for the threads that have not returned. Between two `sync`s, the rules for the threads of
    /// a block apply to all threads of the cluster: no other thread uses an element that one writes, except by atomic
    /// functions.
    ///
    /// # Examples
    ///
    /// Each block of a cluster of two passes its value to the other.
    ///
    /// ```
    /// use cuda_driver::LaunchConfig;
    /// use cuda_jit::{device::{grid, shared, this_cluster, thread_idx}, kernel};
    ///
    /// #[kernel]
    /// fn exchange(x: &mut [u32]) {
    ///     let tile = shared!([u32; 4]);
    ///     let (cluster, i, t) = (this_cluster(), grid::<1>(), thread_idx().x);
    ///     tile[t] = x[i];
    ///     cluster.sync();
    ///     let other = cluster.map_shared_rank(tile, 1 - cluster.block_rank());
    ///     x[i] = other[t];
    ///     cluster.sync();
    /// }
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let _selected = context.select();
    /// let mut x = [1, 2, 3, 4, 5, 6, 7, 8];
    /// exchange::launch(LaunchConfig::new(2, 4).cluster(2), &mut x)?;
    /// assert_eq!(x, [5, 6, 7, 8, 1, 2, 3, 4]);
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the cluster has no block of that rank; on the host.
    #[must_use]
    pub fn map_shared_rank<A: InShared + ?Sized>(self, shared: &A, rank: usize) -> &'static mut A {
        let _ = (shared, rank);
        needs_other_threads()
    }

    #[doc(hidden)]
    pub fn __call_map_shared_rank<A: ?Sized>(
        &self,
        _: &A,
        _: usize,
    ) -> Returned<super::marker::MapShared, &'static mut A> {
        Returned::new()
    }
}

/// A type that can lie in shared memory: plain data, arrays of it, and slices.
///
/// Nothing unsafe relies on an implementation: the front end checks which memory a reference points to.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Cluster, InShared};
///
/// /// The same memory of the cluster's first block.
/// fn of_first<A: InShared + ?Sized>(cluster: Cluster, memory: &A) -> &'static mut A {
///     cluster.map_shared_rank(memory, 0)
/// }
/// let _of_arrays: fn(Cluster, &[f32; 4]) -> &'static mut [f32; 4] = of_first;
/// let _of_slices: fn(Cluster, &[f32]) -> &'static mut [f32] = of_first;
/// ```
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` does not lie in shared memory",
    label = "pass the array itself, `tile`, or a part of it, `&tile[i]`"
)]
pub trait InShared: 'static {}

impl<T: ElementType> InShared for T {}
impl<T: ElementType> InShared for [T] {}

/// The block's rank in its cluster, `x` fastest; [`Cluster::block_rank`].
///
/// # Examples
///
/// ```
/// use cuda_driver::LaunchConfig;
/// use cuda_jit::{device::{block_idx, cluster_blocks, cluster_rank}, kernel};
///
/// #[kernel]
/// fn ranks(out: &mut [usize]) {
///     out[block_idx().x] = 10 * cluster_blocks() + cluster_rank();
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut out = [0; 4];
/// ranks::launch(LaunchConfig::new(4, 1).cluster(2), &mut out)?;
/// assert_eq!(out, [20, 21, 20, 21]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn cluster_rank() -> usize {
    0
}

/// The number of blocks in the cluster, one on the host; [`Cluster::num_blocks`].
pub fn cluster_blocks() -> usize {
    let _inside = position();
    1
}

/// The block's index in its cluster; [`Cluster::block_index`].
pub fn cluster_block_idx() -> Dim3 {
    Dim3::default()
}

/// The cluster's extent in blocks, one on the host; [`Cluster::dim_blocks`].
///
/// # Examples
///
/// ```
/// use cuda_driver::LaunchConfig;
/// use cuda_jit::{device::{block_idx, cluster_block_idx, cluster_dim, cluster_idx}, kernel};
///
/// #[kernel]
/// fn places(out: &mut [usize]) {
///     out[block_idx().x] = 100 * cluster_idx().x + 10 * cluster_block_idx().x + cluster_dim().x;
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// let mut out = [0; 4];
/// places::launch(LaunchConfig::new(4, 1).cluster(2), &mut out)?;
/// assert_eq!(out, [2, 12, 102, 112]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn cluster_dim() -> Dim3 {
    let _inside = position();
    Dim3 { x: 1, y: 1, z: 1 }
}

/// The cluster's index in the grid, in clusters.
#[device_fn]
pub fn cluster_idx() -> Dim3 {
    let (block, extent) = (block_idx(), cluster_dim());
    Dim3 { x: block.x / extent.x, y: block.y / extent.y, z: block.z / extent.z }
}

/// Waits for the cluster.
fn cluster_barrier() {
    needs_other_threads()
}

calls! {
    cluster_block_idx() -> Dim3 => Intrinsic::ClusterBlockIdx;
    cluster_dim() -> Dim3 => Intrinsic::ClusterDim;
    cluster_rank() -> usize => Intrinsic::ClusterRank;
    cluster_blocks() -> usize => Intrinsic::ClusterRanks;
    cluster_barrier() => Intrinsic::ClusterBarrier;
}
