// Thread block clusters as CUDA's users write them; ../tests/cuda_cpp.rs has the expected results.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// A histogram of 64 bins, of which each block of a cluster of four has 16 in shared memory.
extern "C" __global__ void cluster_histogram(unsigned n, const unsigned *x, unsigned *bins) {
    __shared__ unsigned own[16];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    cluster.sync();
    for (unsigned i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
        unsigned bin = x[i] % 64;
        atomicAdd(cluster.map_shared_rank(own, bin / 16) + bin % 16, 1u);
    }
    cluster.sync();
    if (threadIdx.x < 16) bins[cluster.block_rank() * 16 + threadIdx.x] = own[threadIdx.x];
}

// Clusters that the kernel declares, in two dimensions; the split barrier (arrive and wait); dynamic shared memory.
extern "C" __global__ void __cluster_dims__(2, 2, 1) cluster_places(unsigned *out) {
    extern __shared__ unsigned mine[];
    cg::cluster_group cluster = cg::this_cluster();
    dim3 at = cluster.block_index(), extent = cluster.dim_blocks();
    mine[threadIdx.x] = 100 * cluster.block_rank() + threadIdx.x;
    cluster.barrier_arrive();
    unsigned place = at.x + 10 * at.y + 100 * extent.x + 1000 * extent.y + 10000 * extent.z;
    cluster.barrier_wait();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    unsigned *theirs = cluster.map_shared_rank(mine, next);
    unsigned rank = cluster.query_shared_rank(theirs) == next ? 1 : 0;
    unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    out[block * blockDim.x + threadIdx.x] = theirs[threadIdx.x] + 1000 * place + 100000000 * rank;
    cluster.sync();
}
