// Kernels as CUDA's users write them, for each of NVIDIA's compilers; ../tests/cuda_cpp.rs has the expected results.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#ifndef __CUDACC_RTC__
#include <cassert>
#include <cstdio>
#endif

namespace cg = cooperative_groups;

extern "C" __global__ void vector_add(int n, const float *x, const float *y, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}

extern "C" __global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void reduce(int n, const int *x, int *sum) {
    __shared__ int warps[32];
    int total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) total += x[i];
    for (int distance = 16; distance; distance /= 2) total += __shfl_down_sync(~0u, total, distance);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x < 32) {
        total = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (int distance = 16; distance; distance /= 2) total += __shfl_xor_sync(~0u, total, distance);
        if (threadIdx.x == 0) atomicAdd(sum, total);
    }
}

template <typename T, int TILE>
__device__ void matmul(int n, const T *a, const T *b, T *c) {
    __shared__ T left[TILE][TILE], right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    T total = 0;
    for (int k = 0; k < n; k += TILE) {
        left[y][x] = row < n && k + x < n ? a[row * n + k + x] : T(0);
        right[y][x] = col < n && k + y < n ? b[(k + y) * n + col] : T(0);
        __syncthreads();
        for (int j = 0; j < TILE; ++j) total += left[y][j] * right[j][x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = total;
}
extern "C" __global__ void matmul_float(int n, const float *a, const float *b, float *c) { matmul<float, 16>(n, a, b, c); }
extern "C" __global__ void matmul_long(int n, const long long *a, const long long *b, long long *c) {
    matmul<long long, 8>(n, a, b, c);
}

extern "C" __global__ void histogram(int n, const unsigned char *x, unsigned *bins) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

extern "C" __global__ void speak(int n) {
    printf("%d %s %.3f %c %5u|%-4d|%llx %%\n", n, "words", n / 8.0, 'x', 77u, -3, 1ull << 40);
    assert(n != 13);
}

extern "C" __global__ void grid_steps(int steps, int *x) {
    auto grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int step = 0; step < steps; ++step) {
        int next = x[(i + 1) % n];
        grid.sync();
        x[i] = next + 1;
        grid.sync();
    }
}

extern "C" __global__ void groups(const int *x, int *out) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    int i = block.thread_rank(), v = x[i];
    int total = v;
    for (int distance = 4; distance; distance /= 2) total += eight.shfl_xor(total, distance);
    out[i] = total + 1000 * eight.meta_group_rank() + 10000 * warp.any(v > 90);
    if (v % 2) {
        auto odd = cg::coalesced_threads();
        out[i] += 100000 * odd.size() + 10000000 * (odd.shfl(v, 0) == v);
    }
    block.sync();
}

extern "C" __global__ void halves(const float *x, float *out) {
    int i = threadIdx.x;
    __half h = __float2half(x[i]);
    __half2 pair = __halves2half2(h, __hmul(h, __float2half(2.0f)));
    pair = __hfma2(pair, pair, __float2half2_rn(0.5f));
    out[i] = __low2float(pair) + __high2float(pair) + (__hlt(h, __float2half(1.0f)) ? 100.0f : 0.0f) +
             __half2float(hsqrt(__float2half(4.0f))) + __half2int_rn(h);
}

extern "C" __global__ void reversed(int n, double *x) {
    extern __shared__ double dynamic[];
    dynamic[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = dynamic[n - 1 - threadIdx.x];
}

struct Coefficients { float slope; int shift[3]; };
__constant__ Coefficients coefficients = {0.5f, {1, 2, 3}};
extern "C" __global__ void constants(float *out) {
    int i = threadIdx.x;
    out[i] = coefficients.slope * i + coefficients.shift[i % 3];
}

__managed__ int counter = 40;
extern "C" __global__ void count() { atomicAdd(&counter, 1); }

extern "C" __global__ void votes(const int *x, unsigned *out) {
    int i = threadIdx.x, v = x[i], same;
    out[i] = __all_sync(~0u, v >= 0) + 2 * __any_sync(~0u, v == 7) + 4 * __popc(__ballot_sync(~0u, v & 1));
    out[i] += 1000 * __popc(__match_any_sync(~0u, v % 3)) + 100000 * (__match_all_sync(~0u, v / 100, &same) == ~0u);
#if __CUDA_ARCH__ >= 800
    out[i] += 1000000 * __reduce_max_sync(~0u, v);
#else
    out[i] += 1000000 * 31;
#endif
}

__device__ float plus(float a, float b) { return a + b; }
__device__ float times(float a, float b) { return a * b; }
__device__ float (*operations[])(float, float) = {plus, times};
struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Strip : Shape {
    float length;
    __device__ Strip(float length) : length(length) {}
    __device__ float area() const override { return 2 * length; }
};
extern "C" __global__ void pointers(float *out) {
    int i = threadIdx.x;
    Shape *shape = i % 3 ? static_cast<Shape *>(new Square(i)) : new Strip(i);
    out[i] = operations[i % 2](i, 3) + 1000 * shape->area();
    delete shape;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x); }
