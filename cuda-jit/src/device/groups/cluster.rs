//! Clusters: blocks that run at the same time on neighbouring multiprocessors, from compute capability 9.0 on.
//!
//! A launch without cluster extents has clusters of one block. Shared memory of another block of the cluster cannot be
//! reached yet.

use super::this_block;
use crate::device as device_fn;
use crate::device::{Dim3, needs_other_threads};
use crate::harvest::Intrinsic;
use crate::host;

/// The threads of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster;

super::group! { Cluster {} }

/// The thread's cluster. Kernels that ask for it compile for compute capability 9.0 and newer.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::this_cluster, kernel};
///
/// #[kernel]
/// fn meet(out: &mut [usize]) {
///     let cluster = this_cluster();
///     cluster.sync();
///     out[cluster.thread_rank()] = cluster.num_blocks();
/// }
///
/// assert!(meet::compile_ptx((9, 0))?.contains("barrier.cluster.arrive"));
/// let error = meet::compile_ptx((8, 0)).unwrap_err().to_string();
/// assert!(error.contains("`this_cluster` needs sm_90 or newer"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[device_fn]
pub fn this_cluster() -> Cluster {
    Cluster
}

#[device_fn]
impl Cluster {
    /// Waits until every thread of the cluster that has not ended is here; what they wrote before is then visible to all.
    ///
    /// # Panics
    ///
    /// On the host.
    pub fn sync(self) {
        cluster_barrier();
    }

    /// The thread's number in the cluster: blocks in order, and threads within them.
    #[must_use]
    pub fn thread_rank(self) -> usize {
        let block = this_block();
        self.block_rank() * block.size() + block.thread_rank()
    }

    /// How many threads the cluster has.
    #[must_use]
    pub fn size(self) -> usize {
        self.num_blocks() * this_block().size()
    }

    /// The block's number in the cluster, `x` fastest.
    #[must_use]
    pub fn block_rank(self) -> usize {
        let (at, extent) = (cluster_block_idx(), cluster_dim());
        at.x + extent.x * (at.y + extent.y * at.z)
    }

    /// How many blocks the cluster has.
    #[must_use]
    pub fn num_blocks(self) -> usize {
        let extent = cluster_dim();
        extent.x * extent.y * extent.z
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

/// The block's index in its cluster.
fn cluster_block_idx() -> Dim3 {
    Dim3::default()
}

/// The cluster's extent in blocks: one on the host.
fn cluster_dim() -> Dim3 {
    let _inside = host::position();
    Dim3 { x: 1, y: 1, z: 1 }
}

/// Waits for the cluster.
fn cluster_barrier() {
    needs_other_threads()
}

calls! {
    cluster_block_idx() -> Dim3 => Intrinsic::ClusterBlockIdx;
    cluster_dim() -> Dim3 => Intrinsic::ClusterDim;
    cluster_barrier() => Intrinsic::ClusterBarrier;
}
