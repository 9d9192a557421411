/* A C program that loads PTX from a file and runs the vector add through the libcuda.so.1 that the loader finds. The
 * prototypes are those of cuda.h, written out so that no toolkit is needed.
 *
 * Usage: vector_add FILE.ptx ENTRY
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

CUresult cuInit(unsigned int);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxSynchronize(void);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);

#define CHECK(call) check(call, #call)

static void check(CUresult status, const char *call) {
    const char *name = "?";
    if (status == 0) return;
    cuGetErrorName(status, &name);
    fprintf(stderr, "%s: %s (%d)\n", call, name, status);
    exit(2);
}

static char *contents(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

enum { N = 1000000, THREADS = 128 };
static float x[N], y[N], out[N];

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr dx, dy, dout, record;
    uint64_t length = N;
    uint32_t id = 1, state[14] = {0};
    char name[100];
    int i, wrong = 0;

    if (argc != 3) return 2;
    for (i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 2.0f * (float)i;
    }
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, contents(argv[1])));
    CHECK(cuModuleGetFunction(&kernel, module, argv[2]));
    CHECK(cuMemAlloc_v2(&dx, sizeof x));
    CHECK(cuMemAlloc_v2(&dy, sizeof y));
    CHECK(cuMemAlloc_v2(&dout, sizeof out));
    CHECK(cuMemAlloc_v2(&record, sizeof state));
    CHECK(cuMemcpyHtoD_v2(dx, x, sizeof x));
    CHECK(cuMemcpyHtoD_v2(dy, y, sizeof y));
    CHECK(cuMemcpyHtoD_v2(record, state, sizeof state));

    /* Three slices, each an address and a length, then the record of panics and the number that it gets. */
    void *parameters[] = {&dx, &length, &dy, &length, &dout, &length, &record, &id};
    CHECK(cuLaunchKernel(kernel, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(out, dout, sizeof out));
    CHECK(cuMemcpyDtoH_v2(state, record, sizeof state));

    for (i = 0; i < N; i++) wrong += out[i] != 3.0f * (float)i;
    printf("%s: %d sums, %d wrong, panicked %u\n", name, N, wrong, state[0]);
    CHECK(cuMemFree_v2(record));
    CHECK(cuMemFree_v2(dout));
    CHECK(cuMemFree_v2(dy));
    CHECK(cuMemFree_v2(dx));
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease_v2(device));
    return wrong == 0 && state[0] == 0 ? 0 : 1;
}
