"""GRAND's random propagation of features: DropNode, then the mean of the powers 0..K of Â.

Source: W. Feng, J. Zhang, Y. Dong, Y. Han, H. Luan, Q. Xu, Q. Yang, E. Kharlamov, J. Tang. Graph Random Neural Networks
for Semi-Supervised Learning on Graphs. NeurIPS 2020, section 3.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import types
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.kernels.compiled import FLOAT32, INT32, INT64, UINT64, UNSIGNED_IDS, jitable, kernel, matrix, writable
from grandplus.kernels.dropout import keep_of, mixed, row_keys
from grandplus.kernels.vectors import LANES, fma, load, splat, store

EPS = 1e-5  # of BatchNorm
WIDTH = 2 * LANES  # columns that are propagated at a time: of few nodes they stay in the processor's cache
_0, _1, _SECOND = np.uint64(0), np.uint64(1), np.uint64(LANES)


class Augmented(NamedTuple):
    """What a draw gives."""

    features: NDArray[np.float32]  # (S · n, d), or (S · n, 2d): then the columns d.. are the dropout's factors
    mean: NDArray[np.float32]  # (S, d), of the columns of each augmentation before they were standardized
    variance: NDArray[np.float32]  # (S, d), likewise


class PropagationByPowers:
    """Draws X̄_s = (K + 1)⁻¹ Σ Âᵏ (m_s ⊙ X), in which a node's features are dropped with probability δ.

    Parameters
    ----------
    graph : Graph
    order : int
        K.
    augmentations : int
        S.
    dropnode : float
        δ. What is left is not rescaled.
    dropout : float
        Share of the values of X̄_s to drop; the others are scaled by 1 / (1 - dropout).
    standardize : bool
        Whether each column of X̄_s is made to have mean 0 and variance 1, before dropout. BatchNorm's own scale γ and
        shift β are still to come then. As dropout comes after them, its factors F, which are 0 or 1 / (1 - dropout),
        are given too: the dropped input is γF ⊙ X̂ + βF.
    """

    def __init__(
        self, graph: Graph, *, order: int, augmentations: int, dropnode: float, dropout: float, standardize: bool
    ) -> None:
        self.order, self.dropnode, self.dropout, self.standardize = order, dropnode, dropout, standardize
        (nodes, width), structure = graph.features.shape, graph.adjacency
        self._structure = (
            structure.indptr.view(np.uint64),
            structure.indices.view(f"uint{8 * structure.indices.itemsize}"),
        )
        self._root = np.sqrt(structure.degrees).astype(np.float32)
        # With y = D̃^½u, Horner's scheme y ← m ⊙ X + Ây becomes u ← D̃^-½(m ⊙ X) + D̃⁻¹Ãu, which needs no weights.
        columns = sp.csc_array(graph.features)
        scaled = columns.data / ((order + 1) * self._root[columns.indices])
        self._columns = columns.indptr.astype(np.int64), columns.indices.astype(np.int32), scaled.astype(np.float32)
        self._buffers = [np.zeros((nodes, WIDTH), np.float32) for _ in range(3)]
        self._out = np.empty((augmentations * nodes, (1 + standardize) * width), np.float32)
        self._statistics = np.zeros((2, augmentations, width), np.float32)

    def draw(self, rng: np.random.Generator) -> Augmented:
        """S augmentations; those of the draw before are overwritten.

        Parameters
        ----------
        rng : numpy Generator
            Draws DropNode, and the seed of dropout.
        """
        masks = drawn_masks(rng, self._statistics.shape[1], len(self._root), self.dropnode)
        _augment(
            *self._structure, *self._columns, self._root, masks, np.uint64(self.order), self.standardize, self.dropout,
            rng.integers(2**63), *self._buffers, *self._statistics, self._out,
        )  # fmt: skip
        return Augmented(self._out, *self._statistics)


def drawn_masks(rng: np.random.Generator, augmentations: int, nodes: int, dropnode: float) -> NDArray[np.float32]:
    """DropNode: 1 for the nodes that are kept, else 0; float32 (S, n)."""
    return (rng.random((augmentations, nodes)) >= dropnode).astype(np.float32)


_TABLE = matrix(FLOAT32)


@kernel(
    UINT64, UNSIGNED_IDS, INT64, INT32, FLOAT32, FLOAT32, _TABLE, types.uint64, types.boolean, types.float64,
    types.int64, *map(writable, (_TABLE, _TABLE, _TABLE, _TABLE, _TABLE, _TABLE)),
)  # fmt: skip
def _augment(
    indptr, indices, starts, nodes, values, root, masks, order, standardize, dropout, seed,
    x, u, v, mean, variance, out,
):  # fmt: skip
    """``WIDTH`` columns at a time, for all augmentations."""
    augmentations, width = len(masks), mean.shape[1]
    shift, scale = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    for first in range(0, width, WIDTH):
        columns = min(WIDTH, width - first)
        x[:] = 0
        for column in range(columns):
            for j in range(starts[first + column], starts[first + column + 1]):
                x[nodes[j], column] = values[j]
        for part in range(augmentations):
            current = _propagated(indptr, indices, x, masks[part], order, u, v)
            shift[:], scale[:] = np.float32(0), np.float32(1)
            if standardize:
                _note_statistics(current, root, shift, scale)
                mean[part, first : first + columns] = shift[:columns]
                variance[part, first : first + columns] = scale[:columns]
                scale[:] = np.float32(1) / np.sqrt(scale + np.float32(EPS))
            _drop(current, root, shift, scale, columns, first, dropout, seed, part, standardize, out)


@jitable
def _propagated(indptr, indices, x, mask, order, u, v):
    """Horner's scheme in u and v: the one of them that holds D̃^-½ times the sum of all powers."""
    one, zero = splat(np.float32(1)), splat(np.float32(0))
    for row in range(np.uint64(len(mask))):
        kept = splat(mask[row])
        store(u, row, _0, fma(kept, load(x, row, _0), zero))
        store(u, row, _SECOND, fma(kept, load(x, row, _SECOND), zero))
    for _ in range(order):
        for row in range(np.uint64(len(mask))):
            first, last = indptr[row], indptr[row + _1]
            a, b = load(u, row, _0), load(u, row, _SECOND)
            for j in range(first, last):
                neighbor = np.uint64(indices[j])
                a, b = fma(one, load(u, neighbor, _0), a), fma(one, load(u, neighbor, _SECOND), b)
            scale, kept = splat(np.float32(1) / np.float32(last - first + _1)), splat(mask[row])
            store(v, row, _0, fma(scale, a, fma(kept, load(x, row, _0), zero)))
            store(v, row, _SECOND, fma(scale, b, fma(kept, load(x, row, _SECOND), zero)))
        u, v = v, u
    return u


@jitable
def _note_statistics(table, root, mean, variance):
    """Of the columns of D̃^½ times a table, in one pass: squares of float32 are exact in float64."""
    count = len(table)
    total, squares = np.zeros(WIDTH), np.zeros(WIDTH)
    for row in range(count):
        for column in range(WIDTH):
            value = np.float64(table[row, column] * root[row])
            total[column] += value
            squares[column] += value * value
    for column in range(WIDTH):
        average = total[column] / count
        mean[column] = average
        variance[column] = max(squares[column] / count - average * average, 0.0)


@jitable
def _drop(table, root, shift, scale, columns, first, dropout, seed, part, factors, out):
    """Standardized and dropped columns into their place; dropout's factors, if asked for, into the second half."""
    count, half = len(table), out.shape[1] // 2
    keep, bar = keep_of(dropout)
    for row in range(count):
        target, line, length = out[part * count + row], table[row], root[row]
        key, other_key = row_keys(seed, part * count + row)
        for column in range(columns):
            factor = keep if mixed(np.uint32(first + column) + key, other_key) >= bar else np.float32(0)
            target[first + column] = (line[column] * length - shift[column]) * scale[column] * factor
            if factors:
                target[half + first + column] = factor
