struct __align__(16) Body {
    float x, y, z, mass;
};

KERNEL(n_body, Slice<const Body> bodies, Slice<Body> accelerations) {
    __shared__ Body tile[BLOCK];
    uint64 i = grid_x(), t = threadIdx.x;
    const Body nobody = {0, 0, 0, 0};
    Body here = nobody;
    if (i < bodies.length) here = bodies.data[i];
    float x = 0, y = 0, z = 0;
    for (uint64 first = 0; first < bodies.length; first += BLOCK) {
        Body brought = nobody;
        if (first + t < bodies.length) brought = bodies.data[first + t];
        CHECK(0, t, BLOCK);
        tile[t] = brought;
        __syncthreads();
        for (uint64 j = 0; j < BLOCK; j++) {
            Body other = tile[j];
            float dx = other.x - here.x, dy = other.y - here.y, dz = other.z - here.z;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float pull = other.mass * inverse * inverse * inverse;
            x += dx * pull;
            y += dy * pull;
            z += dz * pull;
        }
        __syncthreads();
    }
    if (i < accelerations.length) accelerations.data[i] = Body{x, y, z, 0};
}
END
