"""Measures Numba's time from each kernel of the suite to PTX; the program is `kernels.py` followed by this file.

Questions come on standard input: a line `NAME RUNS` asks for the seconds of the fastest of that many compilations for
sm_90. Each run compiles, since `compile_ptx` caches nothing.
"""

import sys
import time
import types

from numba.cuda import dispatcher

# The compute capability of device functions, which Numba cannot query without a GPU.
dispatcher.get_current_device = lambda: types.SimpleNamespace(compute_capability=(9, 0))

f, row, matrix = float32, float32[::1], float32[:, :]
SIGNATURES = {
    vector_add: (row, row, row),
    saxpy: (f, row, row),
    tiled_matmul: (matrix, matrix, matrix),
    reduction: (row, row),
    histogram: (uint8[::1], uint32[::1]),
    black_scholes: (f, f, row, row, row, row, row),
    softmax: (matrix, matrix),
    stencil: (f, matrix, matrix),
    fft: (row, row),
    n_body: (float32[:, ::1], float32[:, ::1]),
}
KERNELS = {kernel.__name__: (kernel, signature) for kernel, signature in SIGNATURES.items()}
DEVICE_FUNCTIONS = [normal, block_max, block_sum]


def seconds(name):
    kernel, signature = KERNELS[name]
    # A dispatcher caches compiled kernels, so each run needs a new one.
    for function in DEVICE_FUNCTIONS:
        globals()[function.__name__] = cuda.jit(device=True)(function)
    start = time.perf_counter()
    ptx, _ = cuda.compile_ptx(kernel, signature, cc=(9, 0))
    end = time.perf_counter()
    assert ".target sm_90" in ptx and ".entry" in ptx, ptx
    return end - start


if __name__ == "__main__":
    for question in sys.stdin:
        name, runs = question.split()
        try:
            answer = min(seconds(name) for _ in range(int(runs)))
        except Exception as error:
            answer = "error: " + " ".join(str(error).split())
        print(answer, flush=True)
