"""Programs of Numba's users, on the driver that NUMBA_CUDA_DRIVER names. Each function checks its own results.

Usage: numba_client.py GROUP ..., with the groups at the end of this file.
"""

import math
import os
import sys
import tempfile
import warnings

import numpy as np
from numba import cuda, float32, float64, guvectorize, int32, vectorize
from numba.core.errors import NumbaPerformanceWarning
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

warnings.simplefilter("ignore", NumbaPerformanceWarning)
TILE = 16
TABLE = np.array([2.5, -1.0, 7.0, 0.125])


def same(got, want, tolerance=0.0):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# The manual's first programs.


def vector_add():
    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] + y[i]

    x = np.arange(100_003, dtype=np.float64)
    y = np.sqrt(x)
    out = cuda.device_array_like(x)
    kernel.forall(len(x))(cuda.to_device(x), cuda.to_device(y), out)
    same(out.copy_to_host(), x + y)
    host = np.zeros_like(x)
    kernel[(len(x) + 127) // 128, 128](x, y, host)
    same(host, x + y)


def matrices(kernel, grid_of):
    rng = np.random.default_rng(7)
    a, b = rng.random((70, 45), dtype=np.float32), rng.random((45, 83), dtype=np.float32)
    c = np.zeros((70, 83), dtype=np.float32)
    kernel[grid_of(*c.shape), (TILE, TILE)](a, b, c)
    same(c, a @ b, 1e-4)


def blocks(length):
    return (length + TILE - 1) // TILE


def matmul():
    @cuda.jit
    def kernel(a, b, c):
        row, col = cuda.grid(2)
        if row < c.shape[0] and col < c.shape[1]:
            total = float32(0)
            for k in range(a.shape[1]):
                total += a[row, k] * b[k, col]
            c[row, col] = total

    matrices(kernel, lambda rows, cols: (blocks(rows), blocks(cols)))


def matmul_tiled():
    @cuda.jit
    def kernel(a, b, c):
        left = cuda.shared.array((TILE, TILE), float32)
        right = cuda.shared.array((TILE, TILE), float32)
        col, row = cuda.grid(2)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for start in range(0, a.shape[1], TILE):
            left[y, x] = a[row, start + x] if row < a.shape[0] and start + x < a.shape[1] else 0
            right[y, x] = b[start + y, col] if col < b.shape[1] and start + y < b.shape[0] else 0
            cuda.syncthreads()
            for k in range(TILE):
                total += left[y, k] * right[k, x]
            cuda.syncthreads()
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total

    matrices(kernel, lambda rows, cols: (blocks(cols), blocks(rows)))


def reduction():
    @cuda.jit
    def kernel(data):
        shared = cuda.shared.array(1024, int32)
        i = cuda.threadIdx.x
        shared[i] = data[i]
        distance = cuda.blockDim.x // 2
        while distance > 0:
            cuda.syncthreads()
            if i < distance:
                shared[i] += shared[i + distance]
            distance //= 2
        if i == 0:
            data[0] = shared[0]

    values = np.arange(1024, dtype=np.int32)
    device = cuda.to_device(values)
    kernel[1, 1024](device)
    assert device[0] == values.sum()

    @cuda.reduce
    def largest(a, b):
        return max(a, b)

    assert largest(np.sin(np.arange(5000.0))) == np.sin(np.arange(5000.0)).max()


# Cooperation of threads.


def atomics():
    @cuda.jit
    def kernel(ints, words, floats, old):
        i = cuda.grid(1)
        cuda.atomic.add(ints, 0, 1)
        cuda.atomic.sub(ints, 1, 2)
        cuda.atomic.max(ints, 2, i)
        cuda.atomic.min(ints, 3, -i)
        cuda.atomic.and_(ints, 4, ~(1 << (i % 32)))
        cuda.atomic.or_(ints, 5, 1 << (i % 16))
        cuda.atomic.xor(ints, 6, i)
        cuda.atomic.inc(words, 0, 9)
        cuda.atomic.dec(words, 1, 9)
        cuda.atomic.exch(ints, 7, i)
        cuda.atomic.cas(ints, 8, 0, i + 1)
        old[cuda.atomic.add(ints, 9, 1)] = i
        cuda.atomic.add(floats, 0, 0.5)
        cuda.atomic.max(floats, 1, float(i))
        cuda.atomic.nanmin(floats, 2, -float(i))

    n = 640
    ints, words, floats = np.zeros(10, dtype=np.int32), np.zeros(2, dtype=np.uint32), np.array([0.0, 0.0, np.nan])
    ints[4], old = -1, np.zeros(n, dtype=np.int64)
    kernel[n // 64, 64](ints, words, floats, old)
    xor = np.bitwise_xor.reduce(np.arange(n))
    assert list(ints[:7]) == [n, -2 * n, n - 1, 1 - n, 0, 0xFFFF, xor], ints
    assert list(words) == [n % 10, 0] and 0 <= ints[7] < n and 1 <= ints[8] <= n, (words, ints)
    same(np.sort(old), np.arange(n))
    same(floats, [n / 2, n - 1, 1 - n])


def warps():
    @cuda.jit
    def kernel(out):
        lane = cuda.laneid
        total = lane
        for distance in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, distance)
        out[0, lane] = total
        out[1, lane] = cuda.shfl_sync(0xFFFFFFFF, lane * 3, 5)
        out[2, lane] = cuda.ballot_sync(0xFFFFFFFF, lane % 3 == 0)
        out[3, lane] = cuda.all_sync(0xFFFFFFFF, lane < 32) + 2 * cuda.any_sync(0xFFFFFFFF, lane > 30)
        out[4, lane] = cuda.match_any_sync(0xFFFFFFFF, lane % 4)
        if lane % 2 == 0:
            out[5, lane] = cuda.activemask()
        else:
            out[5, lane] = cuda.activemask()
        out[6, lane] = cuda.lanemask_lt()
        cuda.syncwarp()
        out[7, lane] = cuda.shfl_up_sync(0xFFFFFFFF, lane, 2)

    out = np.zeros((8, 32), dtype=np.uint32)
    kernel[1, 32](out)
    lanes = np.arange(32)
    of = lambda keep: sum(1 << int(lane) for lane in lanes if keep(lane))
    same(out[0], 496)
    same(out[1], 15)
    same(out[2], of(lambda lane: lane % 3 == 0))
    same(out[3], 3)
    same(out[4], [of(lambda other: other % 4 == lane % 4) for lane in lanes])
    same(out[5], [0xAAAAAAAA if lane % 2 else 0x55555555 for lane in lanes])
    same(out[6], [(1 << int(lane)) - 1 for lane in lanes])
    same(out[7], np.where(lanes < 2, lanes, lanes - 2))


def barriers():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        out[i] = cuda.syncthreads_count(int32(i % 5 == 0))
        out[i] += 1000 * cuda.syncthreads_and(int32(i < 96)) + 2000 * cuda.syncthreads_or(int32(i == 3))

    out = np.zeros(96, dtype=np.int64)
    kernel[1, 96](out)
    same(out, 20 + 1000 + 2000)


def cooperative_groups():
    @cuda.jit
    def kernel(matrix):
        col = cuda.grid(1)
        grid = cuda.cg.this_grid()
        for row in range(1, matrix.shape[0]):
            matrix[row, col] = matrix[row - 1, matrix.shape[1] - col - 1] + 1
            grid.sync()

    matrix = np.zeros((40, 256), dtype=np.int64)
    signature = kernel.compile(f"void({'int64[:,::1]'})")
    assert signature.cooperative and signature.max_cooperative_grid_blocks(64) >= 4
    kernel[4, 64](matrix)
    same(matrix, np.tile(np.arange(40), (256, 1)).T)


# The language of a single thread.


def functions_and_math():
    @cuda.jit(device=True)
    def scaled(x, by):
        return x * by, x - by

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            product, difference = scaled(x[i], 1.5)
            out[0, i] = math.sin(x[i]) + math.exp(-x[i]) * math.sqrt(x[i] + 1)
            out[1, i] = math.log1p(x[i]) + math.atan2(product, difference) + math.erf(x[i])
            out[2, i] = math.pow(x[i] + 0.5, 1.7) + math.gamma(x[i] + 1) + math.fmod(product, 0.7)
            out[3, i] = cuda.fma(x[i], x[i], 1.0) + cuda.popc(i) + cuda.clz(i) + cuda.ffs(i) + math.floor(product)
            out[4, i] = i // 3 + i % 7 + (i ** 2) + cuda.selp(i > 3, 1, 2) + cuda.cbrt(x[i])
            out[5, i] = math.tanh(x[i]) + math.hypot(x[i], 2.0) + math.lgamma(x[i] + 1) + math.ldexp(x[i], 3)

    x = np.linspace(0, 4, 50)
    out = np.zeros((6, 50))
    kernel[2, 32](x, out)
    i, each = np.arange(50), lambda of: np.array([of(v) for v in x])
    bits = [bin(v).count("1") + 64 - int(v).bit_length() + (int(v) & -int(v)).bit_length() for v in i]
    same(out[0], np.sin(x) + np.exp(-x) * np.sqrt(x + 1), 1e-12)
    same(out[1], np.log1p(x) + np.arctan2(x * 1.5, x - 1.5) + each(math.erf), 1e-12)
    same(out[2], (x + 0.5) ** 1.7 + each(lambda v: math.gamma(v + 1)) + np.fmod(x * 1.5, 0.7), 1e-12)
    same(out[3], x * x + 1 + bits + np.floor(x * 1.5), 1e-12)
    same(out[4], i // 3 + i % 7 + i**2 + np.where(i > 3, 1, 2) + np.cbrt(x), 1e-12)
    same(out[5], np.tanh(x) + np.hypot(x, 2) + each(lambda v: math.lgamma(v + 1)) + x * 8, 1e-12)


def local_and_constant_memory():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        table = cuda.const.array_like(TABLE)
        own = cuda.local.array(10, float64)
        for k in range(10):
            own[k] = table[(i + k) % 4] * k
        for k in range(10):
            out[i] += own[(i + k) % 10]

    out = np.zeros(64)
    kernel[2, 32](out)
    same(out, [sum(TABLE[(i + k) % 4] * k for k in range(10)) for i in range(64)], 1e-12)
    assert list(kernel.get_const_mem_size().values()) == [TABLE.nbytes]


def records_and_slices():
    record = np.dtype([("weight", np.float32), ("count", np.int16), ("place", np.float64, (3,))], align=True)

    @cuda.jit
    def kernel(records, matrix):
        i = cuda.grid(1)
        if i < records.size:
            records[i].weight += records[i].count
            records[i].place[i % 3] = matrix[i, 1]

    records = np.zeros(20, dtype=record)
    records["count"] = np.arange(20)
    matrix = np.arange(200.0).reshape(20, 10)
    device = cuda.to_device(matrix)
    kernel[1, 32](records, device[:, 3:9:2])
    same(records["weight"], np.arange(20))
    same(records["place"].sum(axis=1), matrix[:, 5])
    device[2:4] = cuda.to_device(np.ones((2, 10)))
    matrix[2:4] = 1
    same(device.copy_to_host(), matrix)
    same(device.T[1:3].copy_to_host(), matrix.T[1:3])


def universal_functions():
    @vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
    def relative(a, b):
        return 2 * (a - b) / (a + b)

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")
    def running(values, out):
        total = 0.0
        for i in range(values.shape[0]):
            total += values[i]
            out[i] = total

    a, b = np.arange(1.0, 1001), np.arange(1001.0, 2001)[::-1].copy()
    same(relative(a, b), 2 * (a - b) / (a + b), 1e-15)
    rows = np.arange(60.0).reshape(6, 10)
    same(running(rows), np.cumsum(rows, axis=1))


def random_numbers():
    @cuda.jit
    def kernel(states, out):
        i = cuda.grid(1)
        for _ in range(50):
            out[i] += xoroshiro128p_uniform_float64(states, i)

    out = np.zeros(256)
    kernel[4, 64](create_xoroshiro128p_states(256, seed=5), out)
    assert abs(out.mean() / 50 - 0.5) < 0.02 and len(np.unique(out)) == 256


def printing():
    @cuda.jit
    def kernel(x):
        i = cuda.threadIdx.x
        if i < 3:
            print("thread", i, "has", x[i])

    kernel[1, 32](np.array([1.5, -2.25, 1e10]))
    cuda.synchronize()
    print("printed")


def exceptions():
    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        if cuda.threadIdx.x == 3:
            raise ValueError("of that thread")
        x[cuda.threadIdx.x] = 1

    try:
        kernel[1, 8](np.zeros(8))
    except ValueError as error:
        # Numba numbers the dimensions from the last.
        assert "tid=[0, 0, 3] ctaid=[0, 0, 0]: of that thread" in str(error), error
    else:
        raise AssertionError("the kernel's exception was lost")

    @cuda.jit(debug=True, opt=False)
    def beyond(x):
        x[0] = (1.5, 2.5)[cuda.grid(1) + len(x)]

    try:
        beyond[1, 1](np.zeros(8))
    except IndexError:
        pass
    else:
        raise AssertionError("an index beyond the tuple was accepted")


# The host's functions.


def host_memory():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += i

    n = 10_000
    mapped, managed = cuda.mapped_array(n, dtype=np.int64), cuda.managed_array(n, dtype=np.int64)
    pinned = cuda.pinned_array(n, dtype=np.int64)
    for array in mapped, managed, pinned:
        array[:] = 1
        kernel[n // 100, 100](array)
        cuda.synchronize()
        same(array, np.arange(n) + 1)
    own = np.ones(n, dtype=np.int64)
    with cuda.pinned(own):
        device = cuda.to_device(own)
        kernel[n // 100, 100](device)
        device.copy_to_host(own)
    same(own, np.arange(n) + 1)
    with cuda.defer_cleanup():
        del device
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total


def streams_and_events():
    @cuda.jit
    def kernel(x, by):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * by + 1

    n, called = 50_000, []
    streams = [cuda.stream() for _ in range(3)] + [cuda.per_thread_default_stream()]
    hosts = [cuda.pinned_array(n, dtype=np.float64) for _ in streams]
    start, end = cuda.event(), cuda.event()
    start.record(streams[0])
    for k, (stream, host) in enumerate(zip(streams, hosts)):
        host[:] = k
        device = cuda.to_device(host, stream=stream)
        for _ in range(3):
            kernel[(n + 255) // 256, 256, stream](device, 2.0)
        device.copy_to_host(host, stream=stream)
        stream.add_callback(lambda stream, status, k: called.append((k, status)), k)
    end.record(streams[0])
    end.synchronize()
    for stream in streams:
        stream.synchronize()
    for k, host in enumerate(hosts):
        same(host, 8.0 * k + 7)
    assert start.elapsed_time(end) > 0 and end.query()
    cuda.synchronize()
    assert sorted(called) == [(k, 0) for k in range(4)], called
    with streams[1].auto_synchronize():
        kernel[1, 32, streams[1]](cuda.to_device(np.zeros(32), stream=streams[1]), 1.0)


def linking():
    """CUDA C++ through NVRTC, and PTX from a file, in one kernel."""
    source = 'extern "C" __device__ int twice(int *result, int x) { *result = 2 * x; return 0; }'
    text = """
        .version 7.0
        .target sm_70
        .address_size 64
        .visible .func (.param .b32 status) thrice(.param .b64 result, .param .b32 x)
        {
            .reg .b32 %x, %y;
            .reg .b64 %to;
            ld.param.b64 %to, [result];
            ld.param.b32 %x, [x];
            mul.lo.s32 %y, %x, 3;
            st.b32 [%to], %y;
            st.param.b32 [status], 0;
            ret;
        }"""
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, "twice.cu"), os.path.join(folder, "thrice.ptx")]
        for name, content in zip(files, (source, text)):
            with open(name, "w") as file:
                file.write(content)
        twice = cuda.declare_device("twice", "int32(int32)")
        thrice = cuda.declare_device("thrice", "int32(int32)")

        @cuda.jit(link=files)
        def kernel(out):
            i = cuda.grid(1)
            out[i] = twice(i) + 100 * thrice(i)

        out = np.zeros(32, dtype=np.int32)
        kernel[1, 32](out)
    same(out, np.arange(32) * 302)


def contexts():
    assert cuda.is_available() and cuda.detect()
    device = cuda.get_current_device()
    assert device.MAX_THREADS_PER_BLOCK == 1024 and device.WARP_SIZE == 32 and device.compute_capability >= (7, 0)
    array = cuda.to_device(np.arange(5))
    try:
        cuda.to_device(np.arange(5)).copy_to_host(np.zeros(3, dtype=np.int64))
    except ValueError:
        pass
    cuda.close()
    del array
    same(cuda.to_device(np.arange(5)).copy_to_host(), np.arange(5))
    cuda.select_device(0)
    cuda.profile_start()
    cuda.profile_stop()


GROUPS = {
    "manual": [vector_add, matmul, matmul_tiled, reduction],
    "cooperation": [atomics, warps, barriers, cooperative_groups],
    "language": [
        functions_and_math,
        local_and_constant_memory,
        records_and_slices,
        universal_functions,
        random_numbers,
        printing,
        exceptions,
    ],
    "host": [host_memory, streams_and_events, linking, contexts],
}

for group in sys.argv[1:]:
    for function in GROUPS[group]:
        function()
        print("ok", function.__name__, flush=True)
