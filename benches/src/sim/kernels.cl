// The kernels in OpenCL C, for pocl. Sizes are constants of the build (`-D`), since pocl compiles for each block size anyway.

kernel void saxpy(float a, global const float *x, global float *y, ulong n) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

kernel void matmul_naive(global const float *a, global const float *b, global float *c, ulong n) {
    size_t col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        float acc = 0.0f;
        for (ulong k = 0; k < n; k++) acc += a[row * n + k] * b[k * n + col];
        c[row * n + col] = acc;
    }
}

kernel void reduction(global const float *x, global float *sums, ulong n) {
    local float tile[BLOCK];
    size_t i = get_global_id(0), t = get_local_id(0);
    tile[t] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t stride = get_local_size(0) / 2; stride > 0; stride /= 2) {
        if (t < stride) tile[t] += tile[t + stride];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) sums[get_group_id(0)] = tile[0];
}

// pocl's package has no sub-groups: shuffles use local memory, with a barrier before and after each exchange.
kernel void shuffles(global const float *x, global float *sums, ulong n) {
    local float values[BLOCK];
    size_t i = get_global_id(0), t = get_local_id(0), lane = t % 32;
    float sum = i < n ? x[i] : 0.0f;
    for (size_t delta = 16; delta > 0; delta /= 2) {
        values[t] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += values[lane + delta < 32 ? t + delta : t];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) sums[i / 32] = sum;
}

kernel void matmul_tiled(global const float *a, global const float *b, global float *c, ulong n) {
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    size_t col = get_global_id(0), row = get_global_id(1), tx = get_local_id(0), ty = get_local_id(1);
    float acc = 0.0f;
    for (ulong k = 0; k < (n + TILE - 1) / TILE; k++) {
        tile_a[ty][tx] = row < n && k * TILE + tx < n ? a[row * n + k * TILE + tx] : 0.0f;
        tile_b[ty][tx] = col < n && k * TILE + ty < n ? b[(k * TILE + ty) * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t j = 0; j < TILE; j++) acc += tile_a[ty][j] * tile_b[j][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && col < n) c[row * n + col] = acc;
}
