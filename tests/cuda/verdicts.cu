// Kernels with a mistake and without, for the software device's checkers; ../tests/cuda_cpp.rs has the expected reports.

template <bool WAITS>
__device__ void reversed_in_tile(const unsigned *x, unsigned *out) {
    __shared__ unsigned tile[64];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = x[t];
    if (WAITS) __syncthreads();
    out[t] = tile[63 - t];
}
extern "C" __global__ void reversed(const unsigned *x, unsigned *out) { reversed_in_tile<true>(x, out); }
extern "C" __global__ void reversed_without_barrier(const unsigned *x, unsigned *out) { reversed_in_tile<false>(x, out); }

extern "C" __global__ void counts(const unsigned *x, unsigned *out) { atomicAdd(&out[x[threadIdx.x] % 4], 1u); }
extern "C" __global__ void counts_without_atomics(const unsigned *x, unsigned *out) { out[x[threadIdx.x] % 4] += 1u; }

extern "C" __global__ void shifted(const unsigned *x, unsigned *out) {
    int i = threadIdx.x;
    if (i < 63) out[i] = x[i + 1];
}
extern "C" __global__ void shifted_beyond(const unsigned *x, unsigned *out) { out[threadIdx.x] = x[threadIdx.x + 1]; }
extern "C" __global__ void misaligned(const unsigned *x, unsigned *out) {
    out[threadIdx.x] = *(const unsigned *)((const char *)x + 2);
}

__device__ unsigned in_local_memory(const unsigned *x, int written) {
    unsigned own[8];
    for (int k = 0; k < written; ++k) own[k] = x[k];
    return own[x[7] % 8];
}
extern "C" __global__ void local_memory(const unsigned *x, unsigned *out) { out[threadIdx.x] = in_local_memory(x, x[8]); }
extern "C" __global__ void unwritten_local_memory(const unsigned *x, unsigned *out) {
    out[threadIdx.x] = in_local_memory(x, x[3]);
}

extern "C" __global__ void lanes_of_a_mask(const unsigned *x, unsigned *out) {
    if (threadIdx.x < 16) __syncwarp(0xffff);
    out[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void lanes_not_of_their_mask(const unsigned *x, unsigned *out) {
    if (threadIdx.x < 16) __syncwarp(0xfffe);
    out[threadIdx.x] = x[threadIdx.x];
}
