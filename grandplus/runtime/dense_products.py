"""The same kernels for products of dense matrices on all x86-64 machines, as others round differently.

OpenBLAS, which numpy brings, and MKL, which PyTorch brings, choose their kernels by the CPU: those for AVX-512 add up
in another order than those for AVX2. So the latter are asked for wherever there are any. OpenBLAS reads its variable
when numpy is imported, and the command and the stages import grandplus before that.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

KERNELS = {"OPENBLAS_CORETYPE": "Haswell", "MKL_CBWR": "AVX2"}  # the oldest CPU with AVX2, by its name


def choose_kernels() -> None:
    """Ask for kernels of AVX2, unless the user asks for others.

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
