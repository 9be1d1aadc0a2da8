"""A training and its predictions have the same bytes on any processor, whatever kernels and threads libraries use."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest
from processes import CHECKOUT, LIMIT_SECONDS

SCRIPT = """
import hashlib

import grandplus as gp
import numpy as np
import scipy.sparse as sp
import torch

from grandplus.graph.adjacency import as_adjacency
from grandplus.methods.grandplus.settings import Settings

nodes, width, rng = 400, 700, np.random.default_rng(0)
labels, numbers = np.arange(nodes) % 3, np.arange(nodes)
dense = rng.standard_normal((nodes, width)).astype(np.float32) + labels[:, None].astype(np.float32)
sparse = sp.csr_array(np.where(rng.random((nodes, width)) < 0.1, dense, 0).astype(np.float32))
adjacency = as_adjacency(sp.csr_array(rng.random((nodes, nodes)) < 0.02))
split = gp.Split(numbers[:60], numbers[60:200], numbers[200:], numbers[60:])
weights = gp.propagation_weights("ppr", order=4, alpha=0.2)
rows = gp.gfpush(adjacency, numbers, weights=weights, rmax=1e-5, top_k=16)
for features, own in (
    (sparse, {}),
    (sparse, {"embed": True, "clip": 0.1}),
    (dense, {"batchnorm": True, "layers": 3}),
    (dense, {"row_norm": True, "clip": 0.1}),
):
    graph = gp.Graph(adjacency, features, labels, ["a", "b", "c"], numbers)
    settings = Settings(max_epochs=8, patience=100, hidden=96, batch_unlabelled=300, **own)
    model = gp.fit(gp.Task(graph, split, rows, seed=0), settings).model
    digest = hashlib.sha256(model.predict_proba(graph).tobytes())
    for tensor in model.tensors().values():
        digest.update(tensor.numpy().tobytes())
    print(digest.hexdigest())
product = (torch.from_numpy(dense) @ torch.from_numpy(dense.T)).numpy()  # by MKL, and below by OpenBLAS
print(hashlib.sha256(product.tobytes() + (dense @ dense[::2].T).tobytes()).hexdigest())
"""


def digests(**kernels: str) -> list[str]:
    """Of four models, and of products by BLAS."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT), "ATEN_CPU_CAPABILITY": "avx2", **kernels},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_no_byte_depends_on_the_threads_of_pytorch():
    *models, _ = digests(MKL_CBWR="AVX2", OMP_NUM_THREADS="1")
    assert digests(MKL_CBWR="AVX2", OMP_NUM_THREADS="2")[:-1] == models


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these kernels are of x86-64")
def test_no_byte_depends_on_the_kernels_of_blas():
    *models, product = digests(MKL_CBWR="AVX2", OPENBLAS_CORETYPE="Haswell")
    *others, other_product = digests(MKL_CBWR="COMPATIBLE", OPENBLAS_CORETYPE="Nehalem")
    assert len(set(models)) == 4
    assert models == others
    assert product != other_product  # else nothing was tried
