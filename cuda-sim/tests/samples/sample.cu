// Kernels of the samples: no library functions whose code would come along.
#include <cuda_fp16.h>
#ifndef __CUDACC_RTC__
#include <cstdio>
#include <cassert>
#endif
struct Pair { double sum; int count; };
__device__ int table[8] = {1, 1, 2, 3, 5, 8, 13, 21};
__constant__ unsigned scale[2] = {3, 5};
typedef int (*Op)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ Op ops[2] = {plus, times};
__device__ __noinline__ Pair collect(const double* v, int n) { Pair p = {0, 0}; for (int i = 0; i < n; ++i) if (v[i] > 0) { p.sum += v[i]; ++p.count; } return p; }
__device__ __noinline__ int depth(int n) { return n < 2 ? 1 : depth(n - 1) + depth(n - 2); }
extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i]; }
extern "C" __global__ void integers(unsigned* u, long long* l) { int i = threadIdx.x; unsigned x = u[i]; int s = (int)x; u[i] = __popc(x) + __clz(s) * 3 + __brev(x) + __ffs(s) + x / 7 + x % 10 + __umulhi(x, 0x9e3779b9u) + __funnelshift_l(x, ~x, 9) + __byte_perm(x, x + 1, 0x2415) + min(s, 100) + __sad(s, 5, 6u); l[i] = (long long)s * l[i] + (l[i] >> (x & 63)) + __mul64hi(l[i], 0x123456789abcdefll) + l[i] / 1000003; }
extern "C" __global__ void halves(__half2* h, float* f) { int i = threadIdx.x; __half2 v = h[i]; v = __hfma2(v, v, __float2half2_rn(0.5f)); h[i] = __hmax2(v, __hneg2(v)); f[i] = __half2float(__low2half(h[i])) + __double2float_rz(f[i] * 1.1); }
extern "C" __global__ void programs(int n, const double* v, double* out) { int i = threadIdx.x; Pair p = collect(v, n); double r = p.sum / p.count; r += ops[i & 1](i, 7); r += depth(i) + table[i & 7] * (int)scale[i & 1]; switch (i) { case 0: r += 0.5; break; case 1: r *= 2; break; case 2: r -= 4; break; case 3: r = -r; break; case 4: r *= r; break; case 7: r = 9; break; default: r += 1; } out[i] = r; }
extern "C" __global__ void atomics(int* a, float* f, unsigned long long* m) { extern __shared__ int dynamic[]; int i = threadIdx.x; dynamic[i] = i; atomicAdd(&a[0], dynamic[i]); atomicMax(&a[1], i); atomicCAS(&a[2], 0, i + 1); atomicAdd(f, 0.5f); atomicMin(m, (unsigned long long)(i + 3)); atomicInc((unsigned*)&a[3], 9); __threadfence(); }
extern "C" __global__ void speaks(int n, const char* word) { int local[40]; for (int i = 0; i < 40; ++i) local[i] = i * n; printf("%s %d %.2f %llx\n", word, local[n % 40], n / 4.0, 1ull << 35); assert(n != 13); }
