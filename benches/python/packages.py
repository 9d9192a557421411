"""The folder of packages that the first argument names: what stands before `kernels.py` in one program."""

import site
import sys

# numba-cuda looks for NVIDIA's libraries in Python's own folder of packages.
site.addsitedir(sys.argv[1])
site.getsitepackages = lambda: [sys.argv[1]]

