"""Adds the folder of packages that the first argument names; the program is this file followed by `kernels.py`."""

import site
import sys

# numba-cuda searches for NVIDIA's libraries in Python's own folder of packages.
site.addsitedir(sys.argv[1])
site.getsitepackages = lambda: [sys.argv[1]]

