"""A training and its predictions have the same bytes on any processor, whatever kernels and threads libraries use."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from processes import CHECKOUT, LIMIT_SECONDS

import grandplus as gp
from grandplus.graph.adjacency import as_adjacency
from grandplus.methods.grandplus.settings import Settings

SCRIPT = """
import hashlib

import grandplus as gp
import numpy as np
import scipy.sparse as sp
import torch

from grandplus.graph.adjacency import as_adjacency
from grandplus.methods.grandplus.settings import Settings

nodes, width, rng = 200, 300, np.random.default_rng(0)
labels, numbers = np.arange(nodes) % 3, np.arange(nodes)
dense = rng.standard_normal((nodes, width)).astype(np.float32) + labels[:, None].astype(np.float32)
sparse = sp.csr_array(np.where(rng.random((nodes, width)) < 0.1, dense, 0).astype(np.float32))
adjacency = as_adjacency(sp.csr_array(rng.random((nodes, nodes)) < 0.02))
split = gp.Split(numbers[:60], numbers[60:120], numbers[120:], numbers[60:])
weights = gp.propagation_weights("ppr", order=4, alpha=0.2)
rows = gp.gfpush(adjacency, numbers, weights=weights, rmax=1e-5, top_k=16)
for features, own in (
    (sparse, {}),
    (sparse, {"embed": True, "clip": 0.1}),
    (dense, {"batchnorm": True, "layers": 3}),
    (dense, {"row_norm": True, "clip": 0.1}),
):
    graph = gp.Graph(adjacency, features, labels, ["a", "b", "c"], numbers)
    settings = Settings(max_epochs=15, patience=100, hidden=96, batch_unlabelled=50, **own)
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
    """Of a training that is no stage's, and of its predictions."""
    rng, nodes, threads = np.random.default_rng(0), np.arange(400), torch.get_num_threads()
    labels = nodes % 3
    features = rng.standard_normal((400, 700)).astype(np.float32) + labels[:, None].astype(np.float32)
    adjacency = as_adjacency(sp.csr_array(rng.random((400, 400)) < 0.02))
    graph = gp.Graph(adjacency, features, labels, ["a", "b", "c"], nodes)
    split = gp.Split(nodes[:60], nodes[60:200], nodes[200:], nodes[60:])
    rows = gp.gfpush(adjacency, nodes, weights=gp.propagation_weights("avg", order=2), rmax=1e-4, top_k=8)
    task, settings, found = gp.Task(graph, split, rows), Settings(max_epochs=6, batch_unlabelled=300), set()
    for count in (1, 2):
        torch.set_num_threads(count)
        model = gp.fit(task, settings).model
        weights = b"".join(tensor.numpy().tobytes() for tensor in model.tensors().values())
        found.add((weights, model.predict_proba(graph).tobytes()))
    torch.set_num_threads(threads)
    assert len(found) == 1


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these kernels are of x86-64")
def test_no_byte_depends_on_the_kernels_of_blas():
    *models, product = digests(MKL_CBWR="AVX2", OPENBLAS_CORETYPE="Haswell")
    *others, other_product = digests(MKL_CBWR="COMPATIBLE", OPENBLAS_CORETYPE="Nehalem")
    assert len(set(models)) == 4
    assert models == others
    assert product != other_product  # else nothing was tried
