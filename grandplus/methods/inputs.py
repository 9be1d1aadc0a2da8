"""Features as the first layer of a network takes them: sparse ones stay sparse, in training too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class SparseInput:
    """A sparse matrix X whose product with weights has a gradient.

    Both X and its transpose are kept, as PyTorch would transpose X anew for every gradient.

    Attributes
    ----------
    matrix : float32 (n, d), sparse CSR
    transposed : float32 (d, n), sparse CSR
        Its values are not used.
    order : int64 (stored values,)
        Where in ``matrix`` each value of ``transposed`` stands.
    """

    matrix: Tensor
    transposed: Tensor
    order: Tensor

    def dropped(self, share: float) -> SparseInput:
        """Dropout of the stored values; a 0 stays 0 whether it is dropped or not."""
        return replace(self, matrix=_with_values(self.matrix, F.dropout(self.matrix.values(), share)))

    def __matmul__(self, dense: Tensor) -> Tensor:
        out: Tensor = _Product.apply(self, dense)  # type: ignore[no-untyped-call]
        return out


class InputLinear(nn.Linear):
    """XWᵀ + b of dense or sparse features."""

    def forward(self, x: Tensor | SparseInput) -> Tensor:
        """Outputs (n, h) of features (n, d)."""
        if isinstance(x, Tensor):
            return super().forward(x)
        product = x @ self.weight.T
        return product if self.bias is None else product + self.bias


def dropout(x: Tensor | SparseInput, share: float, training: bool) -> Any:
    """Dropout of features, of the same kind as they are."""
    if isinstance(x, Tensor):
        return F.dropout(x, share, training)
    return x.dropped(share) if training and share else x


def input_of(features: Any, device: torch.device) -> Tensor | SparseInput:
    """Features on a device.

    Parameters
    ----------
    features : float32 (n, d), ndarray or scipy CSR
    device : torch.device

    Examples
    --------
    >>> x = input_of(sp.csr_array(np.array([[0, 2], [1, 3]], np.float32)), torch.device("cpu"))
    >>> x @ torch.eye(2)
    tensor([[0., 2.],
            [1., 3.]])
    """
    if not sp.issparse(features):
        return torch.tensor(features, device=device)
    numbers = np.arange(1, features.size + 1)  # from 1 on, since a 0 is no stored value
    transposed = sp.csr_array((numbers, features.indices, features.indptr), shape=features.shape).T.tocsr()
    values, order = torch.tensor(features.data), torch.from_numpy(transposed.data - 1)
    matrix, turned = csr_tensor(features, values), csr_tensor(transposed, values[order])
    return SparseInput(matrix.to(device), turned.to(device), order.to(device))


def csr_tensor(structure: Any, values: Tensor) -> Tensor:
    """A sparse CSR tensor with the structure of a scipy matrix, and these values (stored values,)."""
    indptr, indices = (torch.tensor(part, dtype=torch.int64) for part in (structure.indptr, structure.indices))
    return torch.sparse_csr_tensor(indptr, indices, values, structure.shape, check_invariants=False)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: SparseInput, dense: Tensor) -> Tensor:
        context.x = x
        return x.matrix @ dense

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[None, Tensor]:
        x = context.x
        return None, _with_values(x.transposed, x.matrix.values()[x.order]) @ gradient


def _with_values(matrix: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        matrix.crow_indices(), matrix.col_indices(), values, matrix.shape, check_invariants=False
    )
