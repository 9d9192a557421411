// Sums on two devices of one process, with the types and the functions of NVIDIA's header.
#include <nccl.h>
#include <stdio.h>
#include <string.h>

// The functions of the driver that it calls, as cuda.h declares them.
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(CUcontext *, int);
int cuCtxSetCurrent(CUcontext);
int cuMemAlloc_v2(CUdeviceptr *, size_t);
int cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
int cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
int cuStreamCreate(cudaStream_t *, unsigned);
int cuStreamSynchronize(cudaStream_t);

#define CHECK(call) \
    do { \
        int code = (call); \
        if (code) { \
            printf("%s: %d %s\n", #call, code, ncclGetLastError(NULL)); \
            return 1; \
        } \
    } while (0)

int main(void) {
    int devices[2] = {1, 0};
    ncclComm_t comms[2];
    cudaStream_t streams[2];
    CUcontext contexts[2];
    CUdeviceptr data[2];
    float values[1000];
    CHECK(cuInit(0));
    CHECK(ncclCommInitAll(comms, 2, devices));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 1000; j++) values[j] = (float)(j * (i + 1));
        CHECK(cuDevicePrimaryCtxRetain(&contexts[i], devices[i]));
        CHECK(cuCtxSetCurrent(contexts[i]));
        CHECK(cuMemAlloc_v2(&data[i], sizeof values));
        CHECK(cuMemcpyHtoD_v2(data[i], values, sizeof values));
        CHECK(cuStreamCreate(&streams[i], 1));
    }
    CHECK(ncclGroupStart());
    for (int i = 0; i < 2; i++) {
        void *at = (void *)data[i];
        CHECK(ncclAllReduce(at, at, 1000, ncclFloat, ncclSum, comms[i], streams[i]));
    }
    CHECK(ncclGroupEnd());
    int wrong = 0;
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxSetCurrent(contexts[i]));
        CHECK(cuStreamSynchronize(streams[i]));
        CHECK(cuMemcpyDtoH_v2(values, data[i], sizeof values));
        for (int j = 0; j < 1000; j++) wrong += values[j] != (float)(j * 3);
    }
    // The structures of the header have the sizes that the library reads.
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    ncclComm_t one;
    CHECK(ncclGetUniqueId(&id));
    CHECK(ncclCommInitRankConfig(&one, 1, id, 0, &config));
    config.magic = 0;
    if (ncclCommInitRankConfig(&one, 1, id, 0, &config) != ncclInvalidArgument) wrong++;
    if (strcmp(ncclGetErrorString(ncclInvalidUsage), "no error") == 0) wrong++;
#ifdef NCCL_COLLCONFIG_INITIALIZER /* since NCCL 2.31 */
    ncclCollConfig_t call = NCCL_COLLCONFIG_INITIALIZER;
    CHECK(ncclAllReduceConfig((void *)data[1], (void *)data[1], 1000, ncclFloat, ncclSum, one, streams[1], &call));
    CHECK(cuStreamSynchronize(streams[1]));
#endif
    CHECK(ncclCommDestroy(one));
    ncclCommAbort(comms[0]);
    ncclCommAbort(comms[1]);
    printf("1000 sums, %d wrong\n", wrong);
    return wrong != 0;
}
