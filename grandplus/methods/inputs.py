"""Features as the first layer of a network takes them: sparse ones stay sparse, in training and inference."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.features import Features
from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.kernels.dense import multiply_dense
from grandplus.methods.dropout import dropped
from grandplus.methods.settings import ROWS_AT_ONCE
from grandplus.propagation.rows import Rows
from grandplus.runtime import pools

with warnings.catch_warnings():  # PyTorch says so once a process: now
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
    torch.sparse_csr_tensor([0], [], [], (0, 0), check_invariants=False)


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
        return replace(self, matrix=with_values(self.matrix, dropout(self.matrix.values(), share, True)))

    def __matmul__(self, dense: Tensor) -> Tensor:
        out: Tensor = _Product.apply(self, dense)  # type: ignore[no-untyped-call]
        return out


class InputLinear(nn.Linear):
    """XWᵀ + b of dense or sparse features."""

    def forward(self, x: Tensor | SparseInput) -> Tensor:
        """Outputs (n, h) of features (n, d)."""
        return linear(x, self.weight, self.bias)

    def store_by_features(self) -> None:
        """Store W so that Wᵀ is contiguous: sparse features are multiplied with it, and nothing is turned at each step.

        Of millions of features, turning W and its gradient takes longer than all else but the optimizer. The bits are
        the same.
        """
        self.weight.data = self.weight.data.T.contiguous().T

    def store_by_outputs(self) -> None:
        """Store W as usual again."""
        self.weight.data = self.weight.data.contiguous()


def linear(x: Tensor | SparseInput, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """XWᵀ + b of dense or sparse features.

    Parameters
    ----------
    x : Tensor or SparseInput
        float32 (n, d)
    weight : float32 (h, d)
    bias : float32 (h,), optional
    """
    if isinstance(x, SparseInput):
        product = x @ weight.T
        return product if bias is None else product + bias
    out: Tensor = F.linear(x, weight, bias)
    return out


def dropout(x: Tensor | SparseInput, share: float, training: bool) -> Any:
    """Dropout of features, of the same kind as they are.

    Parameters
    ----------
    x : Tensor or SparseInput
    share : float
        Of the values, in [0, 1).
    training : bool
        If not, nothing is dropped.
    """
    if not (training and share):
        return x
    if isinstance(x, SparseInput):
        return x.dropped(share)
    return dropped(x, share)


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
    return sparse_input(features, device) if sp.issparse(features) else torch.tensor(features, device=device)


def sparse_input(matrix: Any, device: torch.device) -> SparseInput:
    """A sparse matrix on a device.

    Parameters
    ----------
    matrix : float32 (n, d), scipy CSR
    device : torch.device
    """
    numbers = np.arange(1, matrix.size + 1)  # from 1 on, since a 0 is no stored value
    transposed = sp.csr_array((numbers, matrix.indices, matrix.indptr), shape=matrix.shape).T.tocsr()
    values, order = torch.tensor(matrix.data), torch.from_numpy(transposed.data - 1)
    matrix, turned = csr_tensor(matrix, values), csr_tensor(transposed, values[order])
    return SparseInput(matrix.to(device), turned.to(device), order.to(device))


def features_of_rows(graph: Graph | GrownGraph, rows: Rows) -> tuple[Features, Rows]:
    """The features of the neighbours that rows name, and the rows with numbers of these features in place of nodes.

    Parameters
    ----------
    graph : Graph or GrownGraph
        The features of a stored graph are taken as they are, and so are the rows.
    rows : Rows
        Of b nodes.

    Returns
    -------
    features : float32 (m, d), ndarray or scipy CSR
    rows : Rows
    """
    if isinstance(graph, Graph):
        return graph.features, rows
    held, numbers = rows.neighbors >= 0, np.full_like(rows.neighbors, -1)
    nodes, numbers[held] = np.unique(rows.neighbors[held], return_inverse=True)
    return graph.features_of(nodes), replace(rows, neighbors=numbers, info=replace(rows.info, nodes=len(nodes)))


def multiply(features: Features, weight: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
    """XW without a gradient, by blocks of rows, each summed by one thread.

    Parameters
    ----------
    features : float32 (n, d), ndarray or scipy CSR
    weight : float32 (d, h)
    out : float32 (n, h)
        Where the result goes.
    """

    def of_block(start: int) -> None:
        end = min(start + ROWS_AT_ONCE, len(out))
        if not sp.issparse(features):
            multiply_dense(features[start:end], weight, out[start:end])
            return
        first, last = int(features.indptr[start]), int(features.indptr[end])
        indptr = (features.indptr[start : end + 1] - first).astype(np.int32)
        # Copies, as PyTorch warns of arrays that can't be written to.
        indices, data = features.indices[first:last].copy(), features.data[first:last].copy()
        dense, ids, starts, shares = (torch.from_numpy(array) for array in (weight, indices, indptr, data))
        # A sum of weighted rows is an embedding bag. Its kernel prefetches, as the table is larger than the cache.
        part = torch.embedding_bag(dense, ids, starts, False, 0, False, shares, include_last_offset=True)[0]
        out[start:end] = part.numpy()

    for _ in pools.map_threads(of_block, range(0, len(out), ROWS_AT_ONCE)):
        pass
    return out


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
        return None, with_values(x.transposed, x.matrix.values()[x.order]) @ gradient


def with_values(matrix: Tensor, values: Tensor) -> Tensor:
    """A sparse CSR matrix with the entries of another one, and other values."""
    return torch.sparse_csr_tensor(
        matrix.crow_indices(), matrix.col_indices(), values, matrix.shape, check_invariants=False
    )
