KERNEL(saxpy, float a, Slice<const float> x, Slice<float> y) {
    uint64 i = grid_x();
    if (i < y.length) {
        CHECK(0, i, x.length);
        y.data[i] += a * x.data[i];
    }
}
END
