"""Runs the suite's kernels on the device that Numba finds; the program is `kernels.py` followed by this file.

The first argument is a file with a line for each launch: `NAME GRID_X GRID_Y BLOCK_X BLOCK_Y` and the arguments, each
`TYPE:SHAPE:FILE`, of which the file is read before the launch and written after it. No shape is a number.
"""

import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def read(text):
    ty, shape, file = text.split(":", 2)
    values = np.fromfile(file, dtype=ty)
    return values.reshape([int(extent) for extent in shape.split(",")]) if shape else values[0]


kernels = {name: value for name, value in globals().items() if callable(value)}
for name in ["normal", "block_max", "block_sum"]:
    globals()[name] = cuda.jit(device=True)(kernels[name])
for line in open(sys.argv[1]):
    name, grid_x, grid_y, block_x, block_y, *arguments = line.split()
    values = [read(argument) for argument in arguments]
    device = [cuda.to_device(value) if isinstance(value, np.ndarray) else value for value in values]
    cuda.jit(kernels[name])[(int(grid_x), int(grid_y)), (int(block_x), int(block_y))](*device)
    cuda.synchronize()
    for argument, value in zip(arguments, device):
        if not isinstance(value, np.float32):
            value.copy_to_host().tofile(argument.split(":", 2)[2])
