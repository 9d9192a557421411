constexpr unsigned POINTS = 2 * BLOCK;

KERNEL(fft, Slice<float> re, Slice<float> im) {
    __shared__ float a[POINTS], b[POINTS];
    uint64 t = threadIdx.x, start = uint64(blockIdx.x) * POINTS;
    for (uint64 i = t; i < POINTS; i += BLOCK) {
        unsigned mirrored = __brev(unsigned(i)) >> (__clz(POINTS) + 1);
        CHECK(0, start + i, re.length);
        CHECK(1, mirrored, POINTS);
        a[mirrored] = re.data[start + i];
        CHECK(2, start + i, im.length);
        b[mirrored] = im.data[start + i];
    }
    __syncthreads();
    for (uint64 half = 1; half < POINTS; half *= 2) {
        uint64 k = t % half, i = 2 * t - k, j = i + half;
        float sin, cos;
        sincosf(-3.14159265f * float(k) / float(half), &sin, &cos);
        CHECK(3, j, POINTS);
        float x = cos * a[j] - sin * b[j], y = cos * b[j] + sin * a[j];
        CHECK(4, i, POINTS);
        a[j] = a[i] - x;
        b[j] = b[i] - y;
        a[i] += x;
        b[i] += y;
        __syncthreads();
    }
    for (uint64 i = t; i < POINTS; i += BLOCK) {
        CHECK(5, start + i, re.length);
        re.data[start + i] = a[i];
        CHECK(6, start + i, im.length);
        im.data[start + i] = b[i];
    }
}
END
