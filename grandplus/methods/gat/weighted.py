"""Sums over neighbours, weighted by head: no message is stored, neither for the sums nor for their gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grandplus.graph.adjacency import Adjacency
from grandplus.methods.full_batch import normalized_matrix
from grandplus.methods.inputs import csr_tensor, sparse_input, with_values


def weighted_sums(structure: Tensor, weights: Tensor, x: Tensor) -> Tensor:
    """Σⱼ wᵢⱼxⱼ of each head.

    Parameters
    ----------
    structure : int64 (n, n), sparse CSR
        Symmetric; each value is the place of the transposed entry, see `structure_of`.
    weights : float (entries, H)
        Of the entries, by head.
    x : float (n, H, w)

    Returns
    -------
    float (n, H, w)

    Examples
    --------
    >>> structure = torch.sparse_csr_tensor([0, 1, 3], [1, 0, 1], [1, 0, 2], check_invariants=False)
    >>> weighted_sums(structure, torch.tensor([[2.0], [3.0], [5.0]]), torch.tensor([[[1.0]], [[10.0]]])).flatten()
    tensor([20., 53.])
    """
    out: Tensor = _WeightedSums.apply(structure, weights, x)  # type: ignore[no-untyped-call]
    return out


def structure_of(adjacency: Adjacency) -> Tensor:
    """Where Ã = A + I has entries: int64 (n, n), sparse CSR; each value is the place of the transposed entry.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> structure_of(as_adjacency(sp.csr_array([[0, 1], [1, 0]]))).to_dense()
    tensor([[0, 2],
            [1, 3]])
    """
    matrix = normalized_matrix(adjacency)
    return csr_tensor(matrix, sparse_input(matrix, torch.device("cpu")).order)


class _WeightedSums(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, structure: Tensor, weights: Tensor, x: Tensor) -> Tensor:
        context.structure = structure
        context.save_for_backward(weights, x)
        return _sums(structure, weights, x)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[None, Tensor, Tensor]:
        structure, (weights, x) = context.structure, context.saved_tensors
        zeros = with_values(structure, torch.zeros_like(weights[:, 0]))
        of_weights = [
            torch.sparse.sampled_addmm(zeros, gradient[:, head], x[:, head].T, beta=0).values()
            for head in range(weights.shape[1])
        ]
        return None, torch.stack(of_weights, dim=1), _sums(structure, weights[structure.values()], gradient)


def _sums(structure: Tensor, weights: Tensor, x: Tensor) -> Tensor:
    by_head = weights.T.contiguous()
    return torch.stack([with_values(structure, values) @ x[:, head] for head, values in enumerate(by_head)], dim=1)
