"""Kernels of Numba with a mistake and without, for the checkers of the software device that NUMBA_CUDA_DRIVER names.

Usage: numba_verdicts.py KERNEL. ../tests/verdicts/clients.rs has the expected reports.
"""

import sys
import warnings

import numpy as np
from numba import cuda, uint32
from numba.core.errors import NumbaPerformanceWarning
from numba.cuda.cudadrv.driver import CudaAPIError

warnings.simplefilter("ignore", NumbaPerformanceWarning)
THREADS = 64


@cuda.jit
def reversed_in_shared_memory(x, out):
    tile = cuda.shared.array(64, uint32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[63 - t]


@cuda.jit
def reversed_without_barrier(x, out):
    tile = cuda.shared.array(64, uint32)
    t = cuda.threadIdx.x
    tile[t] = 0
    cuda.syncthreads()
    tile[t] = x[t]
    out[t] = tile[63 - t]


@cuda.jit
def counts(x, out):
    cuda.atomic.add(out, x[cuda.grid(1)] % 4, 1)


@cuda.jit
def counts_without_atomics(x, out):
    out[x[cuda.grid(1)] % 4] += 1


@cuda.jit
def shifted(x, out):
    i = cuda.grid(1)
    if i + 1 < x.size:
        out[i] = x[i + 1]


@cuda.jit
def shifted_beyond(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


@cuda.jit
def copied(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


@cuda.jit
def lanes_of_a_mask(x, out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncwarp(0xFFFF)
    out[t] = x[t]


@cuda.jit
def lanes_not_of_their_mask(x, out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncwarp(0xFFFE)
    out[t] = x[t]


def run(name):
    out = cuda.to_device(np.zeros(THREADS, dtype=np.uint32))
    x = cuda.to_device(np.arange(THREADS, dtype=np.uint32))
    if name == "copied_from_nothing":
        copied[1, THREADS](cuda.device_array(THREADS, np.uint32), out)
    else:
        globals()[name][1, THREADS](x, out)
    cuda.synchronize()


try:
    run(sys.argv[1])
except CudaAPIError as error:
    print("error", error)
print("ran", sys.argv[1], flush=True)
