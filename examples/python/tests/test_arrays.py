"""The module with NumPy's arrays, its own, and those of other libraries that are installed.

CUDA_DRIVER_PATH and NUMBA_CUDA_DRIVER name the driver, so that all of them work in one context.
"""

import unittest

import cuda_example
import numpy as np

try:
    from numba import cuda
except ImportError as error:
    cuda, why = None, str(error)


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
        with self.assertRaisesRegex(TypeError, "ndarray is neither a NumPy array of float32 nor a device array"):
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
    print("device:", cuda_example.device())
    unittest.main(verbosity=2)
