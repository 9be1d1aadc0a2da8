"""Products of dense matrices: ours, which have the same bits on every processor, against PyTorch's by MKL.

The shapes are those of training steps and of predictions. Prints a JSON line for each, with the ratio to the kernels
that MKL chooses for the processor, and to others if it is asked for them:

    python -m benchmarks.dense
    MKL_CBWR=AVX2 python -m benchmarks.dense
"""

from __future__ import annotations

import argparse
import os

import numpy as np
import torch

from benchmarks.lines import print_line
from benchmarks.timing import least_seconds
from grandplus.kernels.dense import multiply_dense

SHAPES = {  # (rows, summands, columns), and which of both are transposes
    "logits of Cora": ((480, 64, 7), "second"),
    "gradient of their weights": ((7, 480, 64), "first"),
    "first layer of Pubmed": ((480, 500, 32), "second"),
    "gradient of its weights": ((32, 480, 500), "first"),
    "wide layer": ((480, 256, 256), "second"),
    "gradient of the wide layer": ((256, 480, 256), "first"),
    "dense features of Citeseer": ((3327, 3703, 64), "none"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    for case, (shape, turned) in SHAPES.items():
        print_line(benchmark="dense", case=case, kernels=os.environ["MKL_CBWR"], **_measured(*shape, turned, repeats))


def _measured(rows: int, depth: int, width: int, turned: str, repeats: int) -> dict[str, float]:
    """Microseconds of both in turns, the least of each; and the largest difference of an entry."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((depth, rows) if turned == "first" else (rows, depth)).astype(np.float32)
    b = rng.standard_normal((width, depth) if turned == "second" else (depth, width)).astype(np.float32)
    a, b = a.T if turned == "first" else a, b.T if turned == "second" else b
    ours, theirs = np.empty((rows, width), np.float32), torch.empty(rows, width)
    tensors = torch.from_numpy(a), torch.from_numpy(b)
    calls = lambda: multiply_dense(a, b, ours), lambda: torch.mm(*tensors, out=theirs)
    microseconds, of_mkl = (seconds * 1e6 for seconds in least_seconds(calls, repeats))
    return {
        "us": round(microseconds, 1),
        "us_of_mkl": round(of_mkl, 1),
        "ratio": round(microseconds / of_mkl, 2),
        "largest_difference": float(np.abs(ours - theirs.numpy()).max()),
    }


if __name__ == "__main__":
    main()
