"""The linear layers of a training step: their products, and the gradients of these."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.kernels.dense import multiply_dense
from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.csr import Factors
from grandplus.methods.grandplus.fused.memory import Memory
from grandplus.methods.grandplus.fused.team import Team
from grandplus.methods.grandplus.mlp import BLOCK
from grandplus.methods.grandplus.mlp import SparseLinear as Blocks


class Linear:
    """xWᵀ + b, of dense inputs.

    Parameters
    ----------
    linear : nn.Linear
        Is trained.
    adam : Adam
        Is given the gradients.
    wanted : bool
        Whether ``backward`` is to give a gradient.
    """

    dropout = 0.0

    def __init__(self, linear: nn.Linear, adam: Adam, *, wanted: bool) -> None:
        self.linear, self.adam, self.wanted = linear, adam, wanted
        self._weight, self._bias = linear.weight.detach().numpy(), linear.bias.detach().numpy()
        self._memory = Memory()

    def forward(self, x: NDArray[np.float32], _seed: np.int64 | None = None) -> NDArray[np.float32]:
        """(b, out) of inputs (b, in)."""
        self._x = x
        return multiply_dense(x, self._weight.T, self._memory.array("out", len(x), len(self._weight)), self._bias)

    def backward(self, upstream: NDArray[np.float32]) -> NDArray[np.float32]:
        """The gradient (b, in) of the inputs, of no rows if it isn't wanted."""
        array = self._memory.array
        of_x = array("gradient", len(upstream) if self.wanted else 0, self._weight.shape[1])
        if self.wanted:
            multiply_dense(upstream, self._weight, of_x)
        of_weight = multiply_dense(upstream.T, self._x, array("weight", *self._weight.shape))
        self.adam.take(self.linear.weight, of_weight)
        self.adam.take(self.linear.bias, _sum_of_rows(upstream, self._memory))
        return of_x


class SparseLinear:
    """xW + b, of sparse or dense inputs that need no gradient.

    Parameters
    ----------
    linear : SparseLinear
        Is trained.
    adam : Adam
        Is given the gradients.
    team : Team
        Shares the blocks of columns of W.
    """

    dropout = 0.0

    def __init__(self, linear: Blocks, adam: Adam, team: Team) -> None:
        self.linear, self.adam, self.team = linear, adam, team
        self._bias = linear.bias.detach().numpy()
        columns = (slice(start, start + BLOCK) for start in range(0, linear.outputs, BLOCK))
        self._blocks = list(zip(linear.blocks, columns, strict=True))
        self._memory = Memory()

    def forward(self, x: Factors | NDArray[np.float32], _seed: np.int64 | None = None) -> NDArray[np.float32]:
        """(b, out) of inputs (b, in)."""
        self._x = x
        out = self._memory.array("out", x.rows if isinstance(x, Factors) else len(x), self.linear.outputs)

        def multiply(of_block: tuple[Tensor, slice], memory: Memory) -> None:
            block, columns = of_block
            if isinstance(x, Factors):
                x.multiply(block.detach().numpy(), out[:, columns], memory)
            else:
                multiply_dense(x, block.detach().numpy(), out[:, columns])

        self.team.each(multiply, self._blocks)
        out += self._bias
        return out

    def backward(self, upstream: NDArray[np.float32]) -> NDArray[np.float32]:
        """A gradient of no rows, as the inputs are not trained."""
        self.team.each(functools.partial(self._use_gradient, upstream), self._blocks)
        self.adam.take(self.linear.bias, _sum_of_rows(upstream, self._memory))
        return upstream[:0]

    def _use_gradient(self, upstream: NDArray[np.float32], of_block: tuple[Tensor, slice], memory: Memory) -> None:
        block, columns = of_block
        gradient = upstream[:, columns]
        if isinstance(self._x, Factors):
            *others, first = self._x.transposed
            for part in others:
                gradient = part.multiply(gradient, memory.array("product", part.shape[0], block.shape[1]))
            self.adam.take_product(block, first, gradient)
        else:
            whole = self._memory.array(f"block {columns.start}", *block.shape)
            self.adam.take(block, multiply_dense(self._x.T, gradient, whole))


def _sum_of_rows(gradient: NDArray[np.float32], memory: Memory) -> NDArray[np.float32]:
    return np.add.reduce(gradient, axis=0, out=memory.array("bias", gradient.shape[1]))
