KERNEL(softmax, View<const float> x, View<float> out) {
    __shared__ float tile[BLOCK];
    uint64 row = blockIdx.x, t = threadIdx.x;
    float largest = -__int_as_float(0x7f800000);
    for (uint64 col = t; col < x.cols; col += BLOCK) {
        CHECK(0, row, x.rows);
        largest = fmaxf(largest, x.at(row, col));
    }
    CHECK(1, t, BLOCK);
    tile[t] = largest;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (t < stride) {
            CHECK(2, t + stride, BLOCK);
            tile[t] = fmaxf(tile[t], tile[t + stride]);
        }
        __syncthreads();
    }
    largest = tile[0];
    __syncthreads();
    float sum = 0;
    for (uint64 col = t; col < x.cols; col += BLOCK) {
        CHECK(3, row, x.rows);
        float power = expf(x.at(row, col) - largest);
        CHECK2(4, row, col, out);
        out.at(row, col) = power;
        sum += power;
    }
    tile[t] = sum;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (t < stride) {
            CHECK(6, t + stride, BLOCK);
            tile[t] += tile[t + stride];
        }
        __syncthreads();
    }
    sum = tile[0];
    __syncthreads();
    for (uint64 col = t; col < x.cols; col += BLOCK) {
        CHECK2(7, row, col, out);
        out.at(row, col) /= sum;
    }
}
END
