// The common part of the kernels. Their bounds checks are those of the Rust kernels: the first thread that is out of bounds
// records it, and the thread ends. All checks of a kernel branch to one place, since nvcc inlines `panic` at each call: a
// vector add whose accessors call it has 96 instructions instead of 72.

typedef unsigned char uint8;
typedef unsigned long long uint64;
typedef long long int64;

struct Record {
    unsigned state, kernel, site;
    unsigned block[3], thread[3], padding;
    uint64 args[2];
};

template <typename T>
struct Slice {
    T *data;
    uint64 length;
};

template <typename T>
struct View {
    T *data;
    uint64 rows, cols;
    int64 row_stride, col_stride;
    __device__ T &at(uint64 row, uint64 col) { return data[row * row_stride + col * col_stride]; }
};

__device__ void panic(Record *record, unsigned kernel, unsigned site, uint64 index, uint64 length) {
    if (atomicCAS(&record->state, 0u, 1u) == 0u) {
        record->site = site;
        record->block[0] = blockIdx.x;
        record->block[1] = blockIdx.y;
        record->block[2] = blockIdx.z;
        record->thread[0] = threadIdx.x;
        record->thread[1] = threadIdx.y;
        record->thread[2] = threadIdx.z;
        record->args[0] = index;
        record->args[1] = length;
        __threadfence_system();
        record->kernel = kernel;
    }
    asm volatile("exit;");
}

// A kernel is `KERNEL(name, parameters) { .. } END`; in it CHECK comes before each index, and `return` is `RETURN`.
#define KERNEL(name, ...)                                                                   \
    extern "C" __global__ void name(__VA_ARGS__, Record *panic_record, unsigned panic_kernel) { \
        unsigned panic_site;                                                                \
        uint64 panic_index, panic_length;                                                   \
        do
#define CHECK(site, index, length)                                                          \
    if ((index) >= (length)) {                                                              \
        panic_site = site, panic_index = index, panic_length = length;                      \
        goto out_of_bounds;                                                                 \
    }
#define CHECK2(site, row, col, view) CHECK(site, row, (view).rows) CHECK(site + 1, col, (view).cols)
#define END                                                                                 \
    while (false);                                                                          \
    return;                                                                                 \
    out_of_bounds:                                                                          \
    panic(panic_record, panic_kernel, panic_site, panic_index, panic_length);               \
    }

[[maybe_unused]] constexpr unsigned BLOCK = 256, TILE = 16;

__device__ uint64 grid_x() { return uint64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ uint64 grid_y() { return uint64(blockIdx.y) * blockDim.y + threadIdx.y; }
