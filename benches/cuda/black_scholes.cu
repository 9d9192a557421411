// The cumulative normal distribution, by formula 26.2.17 of Abramowitz and Stegun.
__device__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float series =
        k * (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.821256f + k * 1.3302745f))));
    float tail = 0.3989423f * expf(-0.5f * d * d) * series;
    return d > 0 ? 1.0f - tail : tail;
}

KERNEL(black_scholes, float rate, float volatility, Slice<const float> price, Slice<const float> strike,
       Slice<const float> years, Slice<float> call, Slice<float> put) {
    uint64 i = grid_x();
    if (i < price.length) {
        CHECK(0, i, strike.length);
        CHECK(1, i, years.length);
        float s = price.data[i], x = strike.data[i], t = years.data[i];
        float deviation = volatility * sqrtf(t);
        float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / deviation;
        float n1 = normal(d1), n2 = normal(d1 - deviation);
        float discounted = x * expf(-rate * t);
        CHECK(2, i, call.length);
        call.data[i] = s * n1 - discounted * n2;
        CHECK(3, i, put.length);
        put.data[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}
END
