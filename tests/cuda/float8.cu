// Conversions of 8-bit floats by NVIDIA's own header.
#include <cuda_fp8.h>

template <typename T> __device__ unsigned codes(T v, unsigned (*code)(T, __nv_saturation_t, __nv_fp8_interpretation_t)) {
    return code(v, __NV_SATFINITE, __NV_E4M3) | code(v, __NV_NOSAT, __NV_E4M3) << 8
        | code(v, __NV_SATFINITE, __NV_E5M2) << 16 | code(v, __NV_NOSAT, __NV_E5M2) << 24;
}

__device__ unsigned of_float(float v, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
    return __nv_cvt_float_to_fp8(v, s, f);
}

__device__ unsigned of_double(double v, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
    return __nv_cvt_double_to_fp8(v, s, f);
}

__device__ unsigned of_half(__half_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
    return __nv_cvt_halfraw_to_fp8(v, s, f);
}

__device__ unsigned of_brain(__nv_bfloat16_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
    return __nv_cvt_bfloat16raw_to_fp8(v, s, f);
}

extern "C" __global__ void narrow(unsigned n, const unsigned *x, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = __uint_as_float(x[i]);
    __half_raw half;
    half.x = x[i];
    __nv_bfloat16_raw brain;
    brain.x = x[i];
    out[6 * i] = codes(v, of_float);
    out[6 * i + 1] = codes((double)v * 1.0000000001, of_double);
    out[6 * i + 2] = codes(half, of_half);
    out[6 * i + 3] = codes(brain, of_brain);
    out[6 * i + 4] = __nv_cvt_float_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)
        | __nv_cvt_float_to_e8m0(v, __NV_NOSAT, cudaRoundPosInf) << 8
        | __nv_cvt_float_to_e8m0(v, __NV_SATFINITE, cudaRoundZero) << 16
        | (unsigned)__nv_cvt_float_to_e8m0(v, __NV_NOSAT, cudaRoundZero) << 24;
    double d = (double)v * 0.9999999999;
    out[6 * i + 5] = __nv_cvt_double_to_e8m0(d, __NV_SATFINITE, cudaRoundPosInf)
        | __nv_cvt_double_to_e8m0(d, __NV_NOSAT, cudaRoundPosInf) << 8
        | __nv_cvt_bfloat16raw_to_e8m0(brain, __NV_SATFINITE, cudaRoundZero) << 16
        | (unsigned)__nv_cvt_bfloat16raw_to_e8m0(brain, __NV_NOSAT, cudaRoundPosInf) << 24;
}

extern "C" __global__ void widen(unsigned *out) {
    unsigned i = threadIdx.x;
    __nv_fp8_storage_t code = (__nv_fp8_storage_t)i;
    out[2 * i] = __nv_cvt_fp8_to_halfraw(code, __NV_E4M3).x | (unsigned)__nv_cvt_fp8_to_halfraw(code, __NV_E5M2).x << 16;
    out[2 * i + 1] = __nv_cvt_e8m0_to_bf16raw(code).x;
}
