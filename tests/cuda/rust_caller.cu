// Calls device functions in Rust, whose declarations are inserted before this text.
extern "C" __global__ void calls(float *out) {
    int i = threadIdx.x;
    float x = i;
    Body body = {{x, 2.0f, 3.0f}, i % 2 == 1, (signed char)(5 - i), 0.5 * i};
    Body moved = shifted(body, 10.0f);
    float sums[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    add_to(sums, i % 4, x);
    Complex_f32 z = plus(Complex_f32{x, 1.0f}, f32x4{1.0f, 2.0f, 3.0f, 4.0f});
    out += 8 * i;
    out[0] = axpy_f32(2.0f, x, 0.5f);
    out[1] = scaled(3, i, 1);
    out[2] = moved.at[0] + 100.0f * moved.at[1] + 1000.0f * moved.at[2];
    out[3] = moved.fixed + 10.0f * moved.charge + 1000.0f * (float)moved.mass;
    out[4] = heavier(&moved, &body);
    out[5] = sums[0] + sums[1] + sums[2] + sums[3];
    out[6] = narrow(i, -3 * i) + 100.0f * fibonacci(i);
    out[7] = z.re + 100.0f * z.im;
}

extern "C" __global__ void out_of_bounds(float *out) {
    add_to(out, 4 + threadIdx.x, 1.0f);
}
