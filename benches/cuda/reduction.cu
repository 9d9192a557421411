KERNEL(reduction, Slice<const float> x, Slice<float> sums) {
    __shared__ float tile[BLOCK];
    uint64 i = grid_x(), t = threadIdx.x;
    CHECK(0, t, BLOCK);
    tile[t] = i < x.length ? x.data[i] : 0;
    __syncthreads();
    for (uint64 stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) {
            CHECK(1, t + stride, BLOCK);
            tile[t] += tile[t + stride];
        }
        __syncthreads();
    }
    if (t == 0) {
        CHECK(2, blockIdx.x, sums.length);
        sums.data[blockIdx.x] = tile[0];
    }
}
END
