// Products of matrices as CUDA C++ writes them: wmma of three types, with copies in the background in inline PTX.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda::wmma;
__device__ __forceinline__ void copy(void* to, const void* from) { unsigned at = (unsigned)__cvta_generic_to_shared(to); asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory"); }
// A block of four warps: D (64 x 64) = A (64 x k, by rows) * B (k x 64, by rows), 16 columns of A at a time, two stages.
extern "C" __global__ void halves(const half* a, const half* b, float* d, int k) {
  __shared__ __align__(32) half ta[2][64 * 16], tb[2][16 * 64];
  int t = threadIdx.x, w = t / 32;
  fragment<accumulator, 16, 16, 16, float> sums[4];
  for (int i = 0; i < 4; ++i) fill_fragment(sums[i], 0.0f);
  auto start = [&](int s, int at) { if (at < k) { copy(&ta[s][t * 8], &a[t / 2 * k + at + t % 2 * 8]); copy(&tb[s][t * 8], &b[(at + t / 8) * 64 + t % 8 * 8]); } asm volatile("cp.async.commit_group;" ::: "memory"); };
  start(0, 0);
#pragma unroll 1
  for (int at = 0, s = 0; at < k; at += 16, s ^= 1) {
    start(s ^ 1, at + 16);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    load_matrix_sync(x, &ta[s][w * 256], 16);
    for (int i = 0; i < 4; ++i) { fragment<matrix_b, 16, 16, 16, half, row_major> y; load_matrix_sync(y, &tb[s][i * 16], 64); mma_sync(sums[i], x, y, sums[i]); }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) store_matrix_sync(&d[w * 1024 + i * 16], sums[i], 64, mem_row_major);
}
// One warp: D (32 x 8, by columns) = A (32 x 16) * B (16 x 8, by columns), of bytes; and of 19 bits, 16 x 16 = 16 x 8 * 8 x 16.
extern "C" __global__ void bytes(const signed char* a, const signed char* b, int* d) { fragment<matrix_a, 32, 8, 16, signed char, row_major> x; fragment<matrix_b, 32, 8, 16, signed char, col_major> y; fragment<accumulator, 32, 8, 16, int> z; fill_fragment(z, 1); load_matrix_sync(x, a, 16); load_matrix_sync(y, b, 16); mma_sync(z, x, y, z); store_matrix_sync(d, z, 32, mem_col_major); }
extern "C" __global__ void singles(const float* a, const float* b, float* d) { fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> x; fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> y; fragment<accumulator, 16, 16, 8, float> z; load_matrix_sync(z, d, 16, mem_row_major); load_matrix_sync(x, a, 8); load_matrix_sync(y, b, 8); for (int i = 0; i < x.num_elements; ++i) x.x[i] = __float_to_tf32(x.x[i]); mma_sync(z, x, y, z); for (int i = 0; i < z.num_elements; ++i) z.x[i] *= 2.0f; store_matrix_sync(d, z, 16, mem_row_major); }
