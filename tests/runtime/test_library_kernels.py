"""PyTorch and numpy use the same kernels on every CPU with AVX2, and in every process of a run."""

import os
import subprocess
import sys

import pytest

from grandplus.runtime.library_kernels import KERNELS, _has_avx2

pytestmark = pytest.mark.skipif(not _has_avx2(), reason="this CPU has no AVX2")
ARCHITECTURE = """
import threadpoolctl
libraries = threadpoolctl.threadpool_info()
found = {library["architecture"] for library in libraries if library["internal_api"] == "openblas"}
names = "OPENBLAS_CORETYPE", "MKL_CBWR", "ATEN_CPU_CAPABILITY"
print(*found, *map(os.environ.get, names))
"""


def printed(imports: str, **variables: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name not in KERNELS} | variables
    command = [sys.executable, "-c", f"import os\n{imports}\n{ARCHITECTURE}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def test_kernels_of_avx2_are_used():
    assert printed("import grandplus, numpy, scipy.linalg") == ["Haswell", "Haswell", "AUTO", "avx2"]
    assert printed("import experiments.trials") == ["Haswell", "Haswell", "AUTO", "avx2"]
    assert printed("import stages.evaluate") == ["Haswell", "Haswell", "AUTO", "avx2"]


def test_pytorch_has_vectors_of_avx2():
    script = "import grandplus, torch\nprint(torch.backends.cpu.get_cpu_capability())"
    environment = {name: value for name, value in os.environ.items() if name not in KERNELS}
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "AVX2\n"


def test_the_tests_have_them_too():
    assert {name: os.environ.get(name) for name in KERNELS} == KERNELS


def test_what_the_user_asks_for_is_kept():
    asked = {"OPENBLAS_CORETYPE": "Nehalem", "MKL_CBWR": "SSE4_2", "ATEN_CPU_CAPABILITY": "default"}
    assert printed("import grandplus, numpy", **asked) == ["Nehalem", *asked.values()]


def test_workers_have_the_kernels_of_the_process_that_imported_numpy_first():
    assert printed("import numpy, grandplus")[-3:] == ["None", "None", "None"]
