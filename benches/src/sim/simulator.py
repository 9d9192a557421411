"""Numba's simulator: prints the seconds of a vector add and of a tiled matrix product, once each, results checked."""

import math
import time

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def vector_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def matmul_tiled(a, b, c):
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


def timed(kernel, grid, block, *arrays):
    device = [cuda.to_device(array) for array in arrays]
    start = time.perf_counter()
    kernel[grid, block](*device)
    cuda.synchronize()
    seconds = time.perf_counter() - start
    return seconds, device[-1].copy_to_host()


n, side, block = 100_000, 64, 256
x = (np.arange(n) % 1009).astype(np.float32)
y = (np.arange(n) % 499).astype(np.float32)
seconds, out = timed(vector_add, math.ceil(n / block), block, x, y, np.zeros_like(x))
assert (out == x + y).all()
print(seconds)
a = (np.arange(side * side) % 7).astype(np.float32).reshape(side, side)
b = (np.arange(side * side) % 5).astype(np.float32).reshape(side, side)
seconds, out = timed(matmul_tiled, (side // TILE, side // TILE), (TILE, TILE), a, b, np.zeros_like(a))
assert (out == a @ b).all()
print(seconds)
