"""What methods over the whole graph do besides dense products: our kernels against PyTorch's operations.

Each is a step forward and backward, of a product with Â and of dropout. Prints a JSON line for each, with the ratio.

    python -m benchmarks.full_batch
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.graphs import degree_corrected
from benchmarks.lines import print_line
from benchmarks.timing import least_seconds
from grandplus.methods.dropout import dropped
from grandplus.methods.full_batch import normalized
from grandplus.methods.symmetric import symmetric_product

CASES = {  # of graphs with as many nodes and edges as the paper's: (nodes, edges, width)
    "GCN on Cora": (2708, 5278, 16),
    "GCNII on Cora": (2708, 5278, 64),
    "GCNII on Citeseer": (3327, 4552, 256),
    "GCNII on Pubmed": (19717, 44324, 256),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    for case, (nodes, edges, width) in CASES.items():
        matrix, x = normalized(degree_corrected(nodes, edges, seed=0)), torch.randn(nodes, width, requires_grad=True)
        pairs = {
            "product": (partial(symmetric_product, matrix), partial(torch.mm, matrix)),
            "dropout": (partial(dropped, share=0.5), partial(F.dropout, p=0.5)),
        }
        for name, operations in pairs.items():
            ours, theirs = least_seconds([_step(operation, x) for operation in operations], repeats)
            ms = {"ms": ours * 1e3, "ms_of_pytorch": theirs * 1e3, "to_pytorch": theirs / ours}
            print_line(benchmark="full_batch", case=case, operation=name, **ms)


def _step(operation: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], object]:
    gradient = torch.randn(x.shape)
    return lambda: torch.autograd.grad(operation(x), x, gradient)


if __name__ == "__main__":
    main()
