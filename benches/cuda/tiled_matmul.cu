KERNEL(tiled_matmul, View<const float> a, View<const float> b, View<float> c) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    uint64 col = grid_x(), row = grid_y();
    uint64 tx = threadIdx.x, ty = threadIdx.y;
    float acc = 0;
    for (uint64 k = 0; k < a.cols / TILE + (a.cols % TILE != 0); k++) {
        float value = 0;
        if (row < a.rows && k * TILE + tx < a.cols) value = a.at(row, k * TILE + tx);
        CHECK(0, ty, TILE);
        CHECK(1, tx, TILE);
        tile_a[ty][tx] = value;
        value = 0;
        if (col < b.cols && k * TILE + ty < b.rows) value = b.at(k * TILE + ty, col);
        tile_b[ty][tx] = value;
        __syncthreads();
        for (uint64 j = 0; j < TILE; j++) acc += tile_a[ty][j] * tile_b[j][tx];
        __syncthreads();
    }
    if (row < c.rows && col < c.cols) c.at(row, col) = acc;
}
END
