"""Adam for weights of millions of features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

LARGE = 2**20  # values; smaller parameters are in the cache anyway
BLOCK = 2**16  # values; with their gradient and both moments they fit into the cache


class BlockwiseAdam(torch.optim.Adam):
    """PyTorch's Adam, which goes through large parameters block by block: the same bits in a quarter of the time.

    PyTorch's step passes over all values ten times. A block stays in the cache from the first pass to the last one.

    Parameters
    ----------
    groups : list of dict
        ``params``, a list of parameters, and ``weight_decay``.
    lr : float
        Learning rate.

    Examples
    --------
    >>> weight = nn.Parameter(torch.zeros(2, LARGE))
    >>> adam = BlockwiseAdam([{"params": [weight], "weight_decay": 0.0}], lr=0.5)
    >>> weight.grad = torch.ones_like(weight)
    >>> _ = adam.step()
    >>> weight.unique()
    tensor([-0.5000], grad_fn=<Unique2Backward0>)
    """

    def __init__(self, groups: list[dict[str, Any]], lr: float) -> None:
        self._split: list[tuple[nn.Parameter, tuple[Tensor, ...]]] = []
        super().__init__([group | {"params": [*self._parts(group["params"])]} for group in groups], lr=lr)

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One step, by the gradients that the parameters have."""
        for whole, blocks in self._split:
            assert whole.grad is not None
            gradient = (
                whole.grad if whole.grad.stride() == whole.stride() else torch.empty_like(whole).copy_(whole.grad)
            )
            for block, part in zip(blocks, torch.split(_flat(gradient), BLOCK), strict=True):
                block.grad = part
        super().step(closure)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        super().zero_grad(set_to_none)
        for whole, _ in self._split:
            whole.grad = None

    def _parts(self, parameters: list[nn.Parameter]) -> Iterator[Tensor]:
        for parameter in parameters:
            if parameter.numel() < LARGE or parameter.device.type != "cpu":
                yield parameter
            else:
                blocks = torch.split(_flat(parameter.data), BLOCK)
                self._split.append((parameter, blocks))
                yield from blocks


def _flat(values: Tensor) -> Tensor:
    """The values of a matrix in the order of the memory, which they share with it."""
    return (values if values.is_contiguous() else values.T).view(-1)
