"""Numba's simulator: prints the seconds of a vector add and of a tiled matrix product, once each, results checked.

The program is `kernels.py` followed by this file.
"""

import time

import numpy as np


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
seconds, out = timed(cuda.jit(vector_add), math.ceil(n / block), block, x, y, np.zeros_like(x))
assert (out == x + y).all()
print(seconds)
a = (np.arange(side * side) % 7).astype(np.float32).reshape(side, side)
b = (np.arange(side * side) % 5).astype(np.float32).reshape(side, side)
seconds, out = timed(cuda.jit(tiled_matmul), (side // TILE, side // TILE), (TILE, TILE), a, b, np.zeros_like(a))
assert (out == a @ b).all()
print(seconds)
