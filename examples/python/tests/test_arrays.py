"""The module with NumPy's arrays, its own, and those of other libraries that are installed.

CUDA_DRIVER_PATH and NUMBA_CUDA_DRIVER name the driver, so that all of them work in one context. CuPy and PyTorch do not run on the software
device. Objects stand for their arrays, with dictionaries of the same keys, versions and values over memory of the module's own arrays.
"""

import unittest

import cuda_example
import numpy as np

try:
    from numba import cuda
except ImportError as error:
    cuda, why = None, str(error)
try:
    import torch
except ImportError as error:
    torch, why_no_torch = None, str(error)


class NumPy(unittest.TestCase):
    def test_arrays_are_copied_and_written_in_place(self):
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        y = np.ones((3, 4), dtype=np.float32)
        cuda_example.saxpy(2.0, x, y)
        np.testing.assert_array_equal(y, 2 * x + 1)

    def test_any_layout_is_taken(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6).T[::2]
        y = np.zeros((4, 3), dtype=np.float32).T
        cuda_example.saxpy(1.0, x, y)
        np.testing.assert_array_equal(y, x)

    def test_nothing_is_an_array_too(self):
        y = np.zeros(0, dtype=np.float32)
        cuda_example.saxpy(1.0, y, y)

    def test_what_does_not_fit_is_refused(self):
        x = np.zeros(4, dtype=np.float32)
        with self.assertRaisesRegex(RuntimeError, r"x has the shape \[4\], and y \[3\]"):
            cuda_example.saxpy(1.0, x, x[:3])
        with self.assertRaisesRegex(TypeError, "list is neither an array of float32 in host memory nor a device array"):
            cuda_example.saxpy(1.0, x, [0.0] * 4)
        with self.assertRaisesRegex(TypeError, "not one of float32 in host memory"):
            cuda_example.saxpy(1.0, x, np.zeros(4))
        x.flags.writeable = False
        with self.assertRaisesRegex(TypeError, "it is read-only"):
            cuda_example.saxpy(1.0, x, x)


class Own(unittest.TestCase):
    def test_an_array_stays_on_the_device(self):
        x = cuda_example.Array(np.full(1000, 3, dtype=np.float32))
        y = cuda_example.Array(np.arange(1000, dtype=np.float32))
        for _ in range(2):
            cuda_example.saxpy(0.5, x, y)
        np.testing.assert_array_equal(y.copy_to_host(), np.arange(1000, dtype=np.float32) + 3)

    def test_dlpack_hands_an_array_over_and_back(self):
        class OnlyDlpack:
            def __init__(self, array):
                self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

        x = cuda_example.Array(np.arange(6, dtype=np.float32).reshape(2, 3))
        y = cuda_example.Array(np.ones((2, 3), dtype=np.float32))
        cuda_example.saxpy(4.0, OnlyDlpack(x), OnlyDlpack(y))
        np.testing.assert_array_equal(y.copy_to_host(), 4 * np.arange(6).reshape(2, 3) + 1)
        with self.assertRaisesRegex(RuntimeError, "x and y share memory"):
            cuda_example.saxpy(4.0, OnlyDlpack(y), OnlyDlpack(y))
        capsule = y.__dlpack__()
        del capsule                             # one that nobody takes
        with self.assertRaisesRegex(NotImplementedError, "legacy default stream"):
            y.__dlpack__(stream=2)


class Described:
    """A device array of another library: what describes it, over the memory of one of the module's own."""

    def __init__(self, own, **described):
        own_description = own.__cuda_array_interface__
        shape = described.pop("shape", own_description["shape"])
        pointer = own_description["data"][0] if 0 not in shape else 0
        self.own = own
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": "<f4", "strides": None, "data": (pointer, False), **described}


def like_cupy(own, version=3, **changes):
    """As CuPy describes its arrays: strides only where they are not C order's, a stream in version 3, 1 for the default one."""
    described = {"descr": [("", "<f4")], "version": version}
    if version == 3:
        described["stream"] = 1
    return Described(own, **{**described, **changes})


def like_pytorch(own, **changes):
    """As PyTorch describes its tensors: version 2, which names no stream, and never read-only."""
    return Described(own, **{"version": 2, **changes})


class ArrayInterface(unittest.TestCase):
    def arrays(self, shape=(10,)):
        count = int(np.prod(shape))
        x = np.arange(count, dtype=np.float32).reshape(shape)
        return x, cuda_example.Array(x), cuda_example.Array(np.ones(shape, dtype=np.float32))

    def test_arrays_of_cupys_and_pytorchs_are_used_where_they_lie(self):
        for like in (like_cupy, like_pytorch, lambda own: like_cupy(own, version=2)):
            x, own_x, own_y = self.arrays()
            cuda_example.saxpy(2.0, like(own_x), like(own_y))
            np.testing.assert_array_equal(own_y.copy_to_host(), 2 * x + 1)

    def test_strides_of_c_order_may_be_given_and_others_are_refused_by_a_kernel_of_slices(self):
        x, own_x, own_y = self.arrays((3, 4))
        for like in (like_cupy, like_pytorch):
            cuda_example.saxpy(1.0, like(own_x, strides=(16, 4)), like(own_y))
            turned = like(own_x, shape=(4, 3), strides=(4, 16))
            with self.assertRaisesRegex(RuntimeError, "contiguous"):
                cuda_example.saxpy(1.0, turned, like(own_y, shape=(4, 3)))
            with self.assertRaisesRegex(RuntimeError, r"\[10, 4\] in bytes are no multiples of the element's 4 bytes"):
                cuda_example.saxpy(1.0, like(own_x, strides=(10, 4)), like(own_y))
        np.testing.assert_array_equal(own_y.copy_to_host(), 2 * x + 1)

    def test_streams(self):
        x, own_x, own_y = self.arrays()
        for stream in (1, 2, None):                # the two default streams, and none to wait for
            cuda_example.saxpy(1.0, like_cupy(own_x, stream=stream), like_cupy(own_y, stream=stream))
        np.testing.assert_array_equal(own_y.copy_to_host(), 3 * x + 1)
        with self.assertRaisesRegex(RuntimeError, "stream 0 is ambiguous"):
            cuda_example.saxpy(1.0, like_cupy(own_x, stream=0), like_cupy(own_y))

    def test_read_only_arrays_are_read_and_not_written(self):
        x, own_x, own_y = self.arrays()
        pointer = own_x.__cuda_array_interface__["data"][0]
        for like in (like_cupy, like_pytorch):
            read_only = like(own_x, data=(pointer, True))
            cuda_example.saxpy(1.0, read_only, like(own_y))
            with self.assertRaisesRegex(RuntimeError, "the array is read-only"):
                cuda_example.saxpy(1.0, own_y, read_only)
        np.testing.assert_array_equal(own_x.copy_to_host(), x)
        np.testing.assert_array_equal(own_y.copy_to_host(), 2 * x + 1)

    def test_nothing_is_an_array_too(self):
        _, own_x, own_y = self.arrays()
        for like in (like_cupy, like_pytorch):
            for shape in ((0,), (0, 3)):
                cuda_example.saxpy(1.0, like(own_x, shape=shape), like(own_y, shape=shape))
        np.testing.assert_array_equal(own_y.copy_to_host(), np.ones(10))

    def test_what_the_protocol_does_not_have_is_refused(self):
        _, own_x, own_y = self.arrays()
        for changes, text in (
            ({"version": 1}, "version 1 of the protocol is not supported"),
            ({"mask": own_y}, "masked arrays are not supported"),
            ({"typestr": "<f8"}, "the array's elements are `<f8`, not `<f4`"),
        ):
            with self.assertRaisesRegex(RuntimeError, text):
                cuda_example.saxpy(1.0, like_cupy(own_x, **changes), own_y)
        with self.assertRaisesRegex(TypeError, "the array interface has no `data`"):
            cuda_example.saxpy(1.0, like_cupy(own_x, data=None), own_y)


class OfTheHost:
    """An array of the host that has DLPack alone, as a CPU tensor of PyTorch's has."""

    def __init__(self, array):
        self.array, self.__dlpack_device__ = array, array.__dlpack_device__

    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream is None, "the host has no streams"
        return self.array.__dlpack__(max_version=max_version)


class BeforeVersions(OfTheHost):
    """One of a library from before DLPack 1.0."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


class HostDlpack(unittest.TestCase):
    def test_arrays_are_copied_and_written_in_place(self):
        for of in (OfTheHost, BeforeVersions):
            x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((3, 4), dtype=np.float32)
            cuda_example.saxpy(2.0, of(x), of(y))
            np.testing.assert_array_equal(y, 2 * x + 1)

    def test_any_layout_is_taken(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6).T[::2]
        y = np.zeros((4, 3), dtype=np.float32).T
        cuda_example.saxpy(1.0, OfTheHost(x), OfTheHost(y))
        np.testing.assert_array_equal(y, x)
        with self.assertRaisesRegex(TypeError, "negative strides; copy it first"):
            cuda_example.saxpy(1.0, OfTheHost(x[::-1]), OfTheHost(y))
        empty = np.zeros((0, 3), dtype=np.float32)
        cuda_example.saxpy(1.0, OfTheHost(empty), OfTheHost(empty))

    def test_read_only_arrays_are_read_and_not_written(self):
        x, y = np.arange(4, dtype=np.float32), np.ones(4, dtype=np.float32)
        x.flags.writeable = False
        cuda_example.saxpy(1.0, OfTheHost(x), OfTheHost(y))
        np.testing.assert_array_equal(y, x + 1)
        with self.assertRaisesRegex(TypeError, "it is read-only"):
            cuda_example.saxpy(1.0, OfTheHost(y), OfTheHost(x))
        with self.assertRaises(BufferError):           # NumPy's own refusal: that structure cannot say so
            cuda_example.saxpy(1.0, BeforeVersions(x), OfTheHost(y))

    def test_another_type_is_refused(self):
        with self.assertRaisesRegex(TypeError, "not one of float32 in host memory"):
            cuda_example.saxpy(1.0, OfTheHost(np.zeros(4)), np.zeros(4, dtype=np.float32))


@unittest.skipIf(torch is None, "PyTorch is not there")
class PyTorch(unittest.TestCase):
    def test_tensors_of_the_host_are_copied_and_written_in_place(self):
        x, y = torch.arange(12, dtype=torch.float32).reshape(3, 4).T, torch.ones((4, 3))
        cuda_example.saxpy(2.0, x, y)
        np.testing.assert_array_equal(y.numpy(), 2 * x.numpy() + 1)


@unittest.skipIf(cuda is None, "Numba is not there")
class Numba(unittest.TestCase):
    def test_numbas_arrays_are_used_where_they_lie(self):
        x = cuda.to_device(np.arange(100, dtype=np.float32))
        y = cuda.to_device(np.ones(100, dtype=np.float32))
        cuda_example.saxpy(3.0, x, y)
        np.testing.assert_array_equal(y.copy_to_host(), 3 * np.arange(100, dtype=np.float32) + 1)

    def test_a_stream_of_numbas_is_waited_for(self):
        stream = cuda.stream()
        host = cuda.pinned_array(100_000, dtype=np.float32)
        host[:] = 2
        x = cuda.to_device(host, stream=stream)
        y = cuda.device_array(100_000, dtype=np.float32, stream=stream)
        y.copy_to_device(host, stream=stream)
        cuda_example.saxpy(1.0, x, y)
        np.testing.assert_array_equal(y.copy_to_host(), np.full(100_000, 4, dtype=np.float32))

    def test_parts_with_strides_are_refused_by_a_kernel_of_slices(self):
        x = cuda.to_device(np.zeros((4, 4), dtype=np.float32))
        with self.assertRaisesRegex(RuntimeError, "contiguous"):
            cuda_example.saxpy(1.0, x[:, 0], x[:, 1])

    def test_numba_takes_an_array_of_ours(self):
        ours = cuda_example.Array(np.arange(10, dtype=np.float32))
        theirs = cuda.as_cuda_array(ours)
        np.testing.assert_array_equal(theirs.copy_to_host(), np.arange(10, dtype=np.float32))
        theirs.copy_to_device(np.full(10, 7, dtype=np.float32))
        cuda_example.saxpy(1.0, cuda.to_device(np.arange(10, dtype=np.float32)), ours)
        np.testing.assert_array_equal(theirs.copy_to_host(), np.arange(10) + 7)
        with self.assertRaisesRegex(RuntimeError, "x and y share memory"):
            cuda_example.saxpy(1.0, theirs, ours)

    def test_another_type_is_refused(self):
        x = cuda.to_device(np.zeros(4))
        with self.assertRaisesRegex(RuntimeError, "the array's elements are `<f8`, not `<f4`"):
            cuda_example.saxpy(1.0, x, x)


if __name__ == "__main__":
    if cuda is None:
        print(f"skipped: Numba's arrays ({why})")
    if torch is None:
        print(f"skipped: PyTorch's tensors ({why_no_torch})")
    print("device:", cuda_example.device())
    unittest.main(verbosity=2)
