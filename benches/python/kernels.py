"""The suite's kernels in Python, as a user of Numba writes them: plain functions, which the other files here decorate."""

import math

from numba import cuda, float32, uint8, uint32

BLOCK, TILE, BINS = 256, 16, 256
POINTS = 2 * BLOCK


def vector_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


def tiled_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k in range((a.shape[1] + TILE - 1) // TILE):
        tile_a[ty, tx] = a[row, k * TILE + tx] if row < a.shape[0] and k * TILE + tx < a.shape[1] else 0
        tile_b[ty, tx] = b[k * TILE + ty, col] if col < b.shape[1] and k * TILE + ty < b.shape[0] else 0
        cuda.syncthreads()
        for j in range(TILE):
            acc += tile_a[ty, j] * tile_b[j, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = acc


def reduction(x, sums):
    tile = cuda.shared.array(BLOCK, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = tile[0]


def histogram(data, counts):
    bins = cuda.shared.array(BINS, uint32)
    for i in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        bins[i] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, data[i], 1)
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, i, bins[i])


def normal(d):
    k = float32(1) / (float32(1) + float32(0.2316419) * abs(d))
    a, b, c = float32(0.31938153), float32(-0.35656378), float32(1.7814779)
    series = k * (a + k * (b + k * (c + k * (float32(-1.821256) + k * float32(1.3302745)))))
    tail = float32(0.3989423) * math.exp(float32(-0.5) * d * d) * series
    return float32(1) - tail if d > 0 else tail


def black_scholes(rate, volatility, price, strike, years, call, put):
    i = cuda.grid(1)
    if i < price.size:
        s, x, t = price[i], strike[i], years[i]
        deviation = volatility * math.sqrt(t)
        d1 = (math.log(s / x) + (rate + float32(0.5) * volatility * volatility) * t) / deviation
        n1, n2 = normal(d1), normal(d1 - deviation)
        discounted = x * math.exp(-rate * t)
        call[i] = s * n1 - discounted * n2
        put[i] = discounted * (float32(1) - n2) - s * (float32(1) - n1)


def block_max(tile, value):
    t = cuda.threadIdx.x
    tile[t] = value
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            tile[t] = max(tile[t], tile[t + stride])
        cuda.syncthreads()
        stride //= 2
    largest = tile[0]
    cuda.syncthreads()
    return largest


def block_sum(tile, value):
    t = cuda.threadIdx.x
    tile[t] = value
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    total = tile[0]
    cuda.syncthreads()
    return total


def softmax(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    row, first = cuda.blockIdx.x, cuda.threadIdx.x
    largest = float32(-math.inf)
    for col in range(first, x.shape[1], BLOCK):
        largest = max(largest, x[row, col])
    largest = block_max(tile, largest)
    total = float32(0)
    for col in range(first, x.shape[1], BLOCK):
        power = math.exp(x[row, col] - largest)
        out[row, col] = power
        total += power
    total = block_sum(tile, total)
    for col in range(first, x.shape[1], BLOCK):
        out[row, col] /= total


def stencil(k, x, out):
    col, row = cuda.grid(2)
    if row > 0 and row + 1 < x.shape[0] and col > 0 and col + 1 < x.shape[1]:
        here = x[row, col]
        around = x[row - 1, col] + x[row + 1, col] + x[row, col - 1] + x[row, col + 1]
        out[row, col] = here + k * (around - float32(4) * here)


def fft(re, im):
    a = cuda.shared.array(POINTS, float32)
    b = cuda.shared.array(POINTS, float32)
    t, start = cuda.threadIdx.x, cuda.blockIdx.x * POINTS
    for i in range(t, POINTS, BLOCK):
        mirrored = cuda.brev(uint32(i)) >> (32 - 9)
        a[mirrored] = re[start + i]
        b[mirrored] = im[start + i]
    cuda.syncthreads()
    half = 1
    while half < POINTS:
        k = t % half
        i = 2 * t - k
        j = i + half
        angle = float32(-math.pi) * float32(k) / float32(half)
        sin, cos = math.sin(angle), math.cos(angle)
        x, y = cos * a[j] - sin * b[j], cos * b[j] + sin * a[j]
        a[j] = a[i] - x
        b[j] = b[i] - y
        a[i] += x
        b[i] += y
        cuda.syncthreads()
        half *= 2
    for i in range(t, POINTS, BLOCK):
        re[start + i] = a[i]
        im[start + i] = b[i]


def n_body(bodies, accelerations):
    tile = cuda.shared.array((BLOCK, 4), float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    inside = i < bodies.shape[0]
    here_x = bodies[i, 0] if inside else float32(0)
    here_y = bodies[i, 1] if inside else float32(0)
    here_z = bodies[i, 2] if inside else float32(0)
    x, y, z = float32(0), float32(0), float32(0)
    for first in range(0, bodies.shape[0], BLOCK):
        for part in range(4):
            tile[t, part] = bodies[first + t, part] if first + t < bodies.shape[0] else float32(0)
        cuda.syncthreads()
        for j in range(BLOCK):
            dx, dy, dz = tile[j, 0] - here_x, tile[j, 1] - here_y, tile[j, 2] - here_z
            inverse = float32(1) / math.sqrt(dx * dx + dy * dy + dz * dz + float32(1e-3))
            pull = tile[j, 3] * inverse * inverse * inverse
            x += dx * pull
            y += dy * pull
            z += dz * pull
        cuda.syncthreads()
    if i < accelerations.shape[0]:
        accelerations[i, 0], accelerations[i, 1], accelerations[i, 2], accelerations[i, 3] = x, y, z, 0
