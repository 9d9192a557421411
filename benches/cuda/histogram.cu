KERNEL(histogram, Slice<const uint8> data, Slice<unsigned> counts) {
    __shared__ unsigned bins[256];
    for (uint64 bin = threadIdx.x; bin < 256; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    for (uint64 i = grid_x(); i < data.length; i += uint64(gridDim.x) * blockDim.x) atomicAdd(&bins[data.data[i]], 1u);
    __syncthreads();
    for (uint64 bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        CHECK(0, bin, counts.length);
        atomicAdd(&counts.data[bin], bins[bin]);
    }
}
END
