"""The same kernels of PyTorch and numpy on as many x86-64 machines as can be, as others round differently.

PyTorch and numpy's OpenBLAS choose their kernels by the processor: those for AVX-512 add up in another order than those
for AVX2. So the latter are asked for wherever there are any. OpenBLAS reads its variable when numpy is imported, and
the command and the stages import grandplus before that. MKL, which multiplies dense matrices for PyTorch, does as it is
asked on Intel's processors only. So it is asked no more than to do the same in each run on a processor, and what has to
have the same bits on all of them goes through `grandplus.kernels.dense`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Haswell is the oldest processor with AVX2.
KERNELS = {"OPENBLAS_CORETYPE": "Haswell", "MKL_CBWR": "AUTO", "ATEN_CPU_CAPABILITY": "avx2"}


def choose_kernels() -> None:
    """Ask for these kernels, unless the user asks for others.

    Where numpy is imported already, nothing is changed: worker processes would have other kernels than this one.
    """
    if "numpy" not in sys.modules and _has_avx2():
        for variable, kernels in KERNELS.items():
            os.environ.setdefault(variable, kernels)


def _has_avx2() -> bool:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return any(line.startswith("flags") and "avx2" in line.split() for line in lines)
    except OSError:  # no Linux
        return False
