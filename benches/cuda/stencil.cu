KERNEL(stencil, float k, View<const float> x, View<float> out) {
    uint64 col = grid_x(), row = grid_y();
    if (row > 0 && row + 1 < x.rows && col > 0 && col + 1 < x.cols) {
        CHECK2(0, row, col, x);
        float here = x.at(row, col);
        CHECK(2, row - 1, x.rows);
        CHECK(3, col - 1, x.cols);
        float around = x.at(row - 1, col) + x.at(row + 1, col) + x.at(row, col - 1) + x.at(row, col + 1);
        CHECK2(4, row, col, out);
        out.at(row, col) = here + k * (around - 4.0f * here);
    }
}
END
