KERNEL(vector_add, Slice<const float> x, Slice<const float> y, Slice<float> out) {
    uint64 i = grid_x();
    if (i < out.length) {
        CHECK(0, i, x.length);
        CHECK(1, i, y.length);
        out.data[i] = x.data[i] + y.data[i];
    }
}
END
