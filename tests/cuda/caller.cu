// Half of a program of two files, compiled with -rdc=true: the other half defines what is declared here.
extern __device__ int weights[4];
extern __device__ int weighed(int x, int by);
static __device__ int own(int x) { return x + 1; }
extern "C" __global__ void linked(int *out) {
    int i = threadIdx.x;
    out[i] = weighed(own(i), weights[i % 4]);
}
