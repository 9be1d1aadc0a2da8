"""The first product of the MLP for sparse inputs, which visits only what they store."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor, nn

from grandplus.methods.grandplus.csr import Product
from grandplus.methods.grandplus.random_propagation import Factors

BLOCK = 64  # columns of W at a time, which stay in the cache while their rows are gathered


class SparseLinear(nn.Module):
    """x W + b with W of (in, out), of which a sparse x touches only the rows that it needs.

    Of two factors of x, the right one meets W first: (S X) W = S (X W), where X W is that of each node once.
    W is kept in blocks of columns, each a parameter of its own. Initial values as in nn.Linear.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        widths = [min(BLOCK, outputs - start) for start in range(0, outputs, BLOCK)]
        self.blocks = nn.ParameterList(_initial(inputs, inputs, width) for width in widths)
        self.bias = nn.Parameter(_initial(inputs, outputs))

    def forward(self, inputs: Tensor | Factors) -> Tensor:
        """(b, out) of inputs (b, in); sparse ones on the CPU only."""
        if isinstance(inputs, Tensor):
            products = [inputs @ block for block in self.blocks]
        else:
            transposed = functools.cache(lambda: [factor.transposed() for factor in inputs])
            products = [Product.apply(inputs, transposed, block) for block in self.blocks]  # type: ignore[no-untyped-call]
        return torch.cat(products, dim=1) + self.bias


def _initial(inputs: int, *shape: int) -> Tensor:
    bound = 1 / math.sqrt(inputs)
    return torch.empty(*shape).uniform_(-bound, bound)
