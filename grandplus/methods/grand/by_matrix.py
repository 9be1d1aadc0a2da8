"""GRAND's random propagation by a dense Π: on a small graph with sparse features, that is fewer multiplications."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import types
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.kernels.compiled import FLOAT32, INT32, kernel, matrix, writable
from grandplus.kernels.dropout import keep_of, mixed, row_keys
from grandplus.kernels.products import multiply_rows
from grandplus.methods.grand.augmentation import drawn_masks
from grandplus.propagation.matrices import Average
from grandplus.propagation.power import propagate


class PropagationByMatrix:
    """Draws X̄_s = Π (m_s ⊙ X) with a dense Π = (K + 1)⁻¹ Σ Âᵏ, and drops some of its values.

    Parameters
    ----------
    graph : Graph
        With sparse features.
    order, augmentations, dropnode, dropout
        As of `grandplus.methods.grand.augmentation.PropagationByPowers`.
    """

    def __init__(self, graph: Graph, *, order: int, augmentations: int, dropnode: float, dropout: float) -> None:
        self.dropnode, self.dropout = dropnode, dropout
        nodes, width = graph.features.shape
        root = np.sqrt(graph.adjacency.degrees).astype(np.float32)
        # Π is symmetric: D̃^½ (mean of Pᵏ) D̃^-½.
        self._matrix = propagate(graph, np.diag(1 / root), weights=Average(order=order).weights())
        self._matrix *= root[:, None]
        self._features = sp.csr_array(graph.features.T)
        self._out = np.empty((augmentations, width, nodes), np.float32)

    def draw(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """S augmentations, each transposed: float32 (S, d, n); those of the draw before are overwritten.

        Parameters
        ----------
        rng : numpy Generator
            Draws DropNode, and the seed of dropout.
        """
        masks = drawn_masks(rng, len(self._out), self._out.shape[2], self.dropnode)
        for mask, out in zip(masks, self._out, strict=True):
            _multiply(*self._kept(mask), self._matrix, out)
        _drop(self._out, self.dropout, rng.integers(2**63))
        return self._out

    def _kept(self, mask: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """The features of the nodes that are kept, transposed: indptr, indices and data of a CSR matrix."""
        indptr, indices, data = self._features.indptr, self._features.indices, self._features.data
        kept = mask[indices] > 0
        ends = np.concatenate([[0], np.cumsum(kept)])
        return ends[indptr].astype(np.int32), indices[kept].astype(np.int32, copy=False), data[kept]


@kernel(INT32, INT32, FLOAT32, matrix(FLOAT32), writable(matrix(FLOAT32)))
def _multiply(indptr, indices, data, table, out):
    multiply_rows(indptr, indices, data, 0, len(out), table, out)


@kernel(writable(matrix(FLOAT32, 3)), types.float64, types.int64)
def _drop(table, dropout, seed):
    """Dropout, in place."""
    keep, bar = keep_of(dropout)
    parts, rows, width = table.shape
    for part in range(parts):
        for row in range(rows):
            key, other_key = row_keys(seed, part * rows + row)
            line = table[part, row]
            for column in range(width):
                kept = mixed(np.uint32(column) + key, other_key) >= bar
                line[column] = line[column] * keep if kept else np.float32(0)
