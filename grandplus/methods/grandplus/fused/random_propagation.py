"""Random propagation: augmented features of a batch, from sparse rows of Π (the paper's Eq. 8).

DropNode, the sum over surviving neighbours and, for a first layer that takes sparse inputs, their dropout are one pass
that never visits a zero. Without input dropout the sum is left to the first layer: Π̃(XW) is cheaper than (Π̃X)W, as
augmentations and neighbours have nodes in common.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numba import types
from numpy.typing import NDArray
from torch import Tensor

from grandplus.graph.features import Features
from grandplus.kernels.compiled import FLOAT32, IDS, INT32, INT64, jitable, kernel, matrix, writable
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.kernels.random import uniform
from grandplus.methods.grandplus.fused.csr import CSR, Factors
from grandplus.propagation.rows import Rows
from grandplus.runtime.errors import ArgumentError

NODES_AHEAD, LINES = 4, 4  # whose features are prefetched, and cache lines of each
Batch: TypeAlias = Tensor | Factors  # float32 (b, d)


class RandomPropagation:
    """Draws X̄_s = Σ z_v Π̃(s,v) X_v with z_v ~ Bernoulli(1 - δ), anew for each entry of a row.

    Parameters
    ----------
    features : float32 (n, d), dense or scipy CSR
    rows : Rows
        Of Π.
    dropnode : float
        δ.
    renormalize : bool
        Whether to divide by the sum of the surviving entries; the zero vector if none survived. False is Eq. 8 as
        printed, whose mean is (1 - δ) Σ Π̃(s,v) X_v.
    sparse : bool
        Whether to give ``Factors``; for sparse features.
    dropout : float
        Share of a sparse result's values to drop; the others are scaled by 1 / (1 - dropout).

    Raises
    ------
    ArgumentError
        The features are those of another graph.
    """

    def __init__(
        self,
        features: Features,
        rows: Rows,
        *,
        dropnode: float,
        renormalize: bool,
        sparse: bool = False,
        dropout: float = 0.0,
    ) -> None:
        if features.shape[0] != rows.info.nodes:
            raise ArgumentError(f"features have {features.shape[0]} rows", expected=f"{rows.info.nodes}, one a node")
        self.rows = rows
        self.dropnode = dropnode
        self.renormalize = renormalize
        self.width = int(features.shape[1])
        if sp.issparse(features):
            indptr, indices = (
                features.indptr.astype(np.int64, copy=False),
                features.indices.astype(np.int32, copy=False),
            )
            self._features: tuple[NDArray[Any], ...] = indptr, indices, np.asarray(features.data)
        else:
            self._features = (np.ascontiguousarray(features, np.float32),)
        self._entries = rows.neighbors, rows.values
        self.sparse, self.dropout = sparse, dropout
        if sparse:
            self._stored = np.diff(self._features[0])
            self._numbers = np.full(rows.info.nodes, -1, np.int32)  # of the nodes of a batch; -1 between batches
            ended = np.append(self._stored, 0)  # -1, where a row has ended, finds the 0
            self._most = ended[rows.neighbors].sum(axis=1)  # values of each row's mix, if none coincide

    def draw(self, nodes: NDArray[np.int64], rng: np.random.Generator, *, augmentations: int = 1) -> Batch:
        """Augmented features, one augmentation after the other.

        Parameters
        ----------
        nodes : int64 (b,)
        rng : numpy Generator
            Draws the seed of DropNode and dropout.
        augmentations : int
            M.

        Returns
        -------
        Tensor or Factors
            (M · b, d)
        """
        positions = np.tile(self.rows.positions(nodes), augmentations)
        seed = np.uint64(rng.integers(2**63))
        if not self.sparse:
            return self._mix_to_dense(positions, self.dropnode, 1.0, seed)
        if self.dropout == 0:
            return self._factors(positions, self.dropnode, 1.0, seed)
        return Factors((self._mix_to_sparse(positions, seed),))

    def expected(self, nodes: NDArray[np.int64]) -> Batch:
        """What validation and inference see instead: nothing dropped.

        Σ Π̃(s,v) X_v, divided by Σ Π̃(s,v) with renormalize, else times (1 - δ).

        Parameters
        ----------
        nodes : int64 (b,)

        Returns
        -------
        Tensor or Factors
            (b, d)
        """
        mix = self._factors if self.sparse else self._mix_to_dense
        scale = 1.0 if self.renormalize else 1 - self.dropnode
        return mix(self.rows.positions(nodes), 0.0, scale, np.uint64(0))

    def _mix_to_dense(self, positions: NDArray[np.int64], dropnode: float, scale: float, seed: np.uint64) -> Tensor:
        out = np.zeros((len(positions), self.width), np.float32)
        mix = _mix_to_dense if len(self._features) == 3 else _mix_dense
        mix(positions, *self._entries, dropnode, self.renormalize, scale, seed, *self._features, out)
        return torch.from_numpy(out)

    def _mix_to_sparse(self, positions: NDArray[np.int64], seed: np.uint64) -> CSR:
        most = int(self._most[positions].sum()) + 1
        indptr = np.zeros(len(positions) + 1, np.int32)
        indices, data = np.empty(most, np.int32), np.empty(most, np.float32)
        _mix_to_sparse(
            positions, *self._entries, self.dropnode, self.renormalize, 1.0, seed, *self._features, self.width,
            self.dropout, indptr, indices, data,
        )  # fmt: skip
        return CSR(indptr, indices[: indptr[-1]], data[: indptr[-1]], self.width)

    def _factors(self, positions: NDArray[np.int64], dropnode: float, scale: float, seed: np.uint64) -> Factors:
        most = len(positions) * self.rows.neighbors.shape[1]
        indptr, nodes = np.zeros(len(positions) + 1, np.int32), np.empty(most, np.int64)
        indices, data = np.empty(most, np.int32), np.empty(most, np.float32)
        count = _mix_to_factor(
            positions, *self._entries, dropnode, self.renormalize, scale, seed, self._numbers, indptr, indices, data,
            nodes,
        )  # fmt: skip
        mixing = CSR(indptr, indices[: indptr[-1]], data[: indptr[-1]], count)
        return Factors((mixing, self._features_of(nodes[:count])))

    def _features_of(self, nodes: NDArray[np.int64]) -> CSR:
        indptr = np.zeros(len(nodes) + 1, np.int32)
        np.cumsum(self._stored[nodes], out=indptr[1:])
        indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
        _take_rows(nodes, *self._features, indptr, indices, data)
        return CSR(indptr, indices, data, self.width)


# What the kernels have in common: positions, neighbors, values, dropnode, renormalize, scale, seed.
_DRAWING = INT64, matrix(IDS), matrix(FLOAT32), types.float64, types.boolean, types.float64, types.uint64
_SPARSE_FEATURES = INT64, INT32, FLOAT32


@kernel(
    *_DRAWING, *_SPARSE_FEATURES, types.int64, types.float64, writable(INT32), writable(INT32), writable(FLOAT32)
)  # fmt: skip
def _mix_to_sparse(
    positions, neighbors, values, dropnode, renormalize, scale, seed, indptr, indices, data, width, dropout,
    out_indptr, out_indices, out_data,
):  # fmt: skip
    """Row by row: sum into a dense row, note which columns were met, gather these and leave zeros."""
    state, dropout_state = seed, ~seed  # apart, so that the same neighbours survive in every kernel
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    sums = np.zeros(width, np.float32)
    unmet = np.ones(width, np.uint8)
    dropout_scale = np.float32(1 / (1 - dropout))
    end = 0
    for row in range(len(positions)):
        count, state = _draw(
            neighbors, values, positions[row], dropnode, renormalize, scale, state, survivors, mixed
        )  # fmt: skip
        start = end
        for i in range(count):
            _prefetch_features(survivors, i + NODES_AHEAD, count, indptr, indices, data)
            node, share = survivors[i], mixed[i]
            for j in range(indptr[node], indptr[node + 1]):
                column = np.uint32(indices[j])
                out_indices[end] = column
                end += int(unmet[column])  # without a branch, as the processor can't predict it
                unmet[column] = 0
                sums[column] += share * data[j]
        kept = start
        for i in range(start, end):
            column = np.uint32(out_indices[i])
            out_indices[kept] = column
            out_data[kept] = sums[column] * dropout_scale
            dropout_state, number = uniform(dropout_state)
            kept += number >= dropout
            sums[column] = 0
            unmet[column] = 1
        end = kept
        out_indptr[row + 1] = end


@kernel(*_DRAWING, *map(writable, (INT32, INT32, INT32, FLOAT32, INT64)))
def _mix_to_factor(
    positions, neighbors, values, dropnode, renormalize, scale, seed, numbers,
    out_indptr, out_indices, out_data, out_nodes,
):  # fmt: skip
    """Rows of Π̃ over the nodes that they need, which are numbered in the order in which they are met."""
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    met = end = 0
    for row in range(len(positions)):
        count, state = _draw(
            neighbors, values, positions[row], dropnode, renormalize, scale, state, survivors, mixed
        )  # fmt: skip
        for i in range(count):
            node = survivors[i]
            if numbers[node] < 0:
                numbers[node] = met
                out_nodes[met] = node
                met += 1
            out_indices[end], out_data[end] = numbers[node], mixed[i]
            end += 1
        out_indptr[row + 1] = end
    for i in range(met):
        numbers[out_nodes[i]] = -1
    return met


@kernel(INT64, *_SPARSE_FEATURES, INT32, writable(INT32), writable(FLOAT32))
def _take_rows(nodes, indptr, indices, data, out_indptr, out_indices, out_data):
    for row in range(len(nodes)):
        shift = indptr[nodes[row]] - out_indptr[row]
        for j in range(out_indptr[row], out_indptr[row + 1]):
            out_indices[j], out_data[j] = indices[j + shift], data[j + shift]


@kernel(*_DRAWING, *_SPARSE_FEATURES, writable(matrix(FLOAT32)))
def _mix_to_dense(positions, neighbors, values, dropnode, renormalize, scale, seed, indptr, indices, data, out):
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    for row in range(len(positions)):
        count, state = _draw(
            neighbors, values, positions[row], dropnode, renormalize, scale, state, survivors, mixed
        )  # fmt: skip
        for i in range(count):
            _prefetch_features(survivors, i + NODES_AHEAD, count, indptr, indices, data)
            node, share = survivors[i], mixed[i]
            for j in range(indptr[node], indptr[node + 1]):
                out[row, np.uint32(indices[j])] += share * data[j]


@kernel(*_DRAWING, matrix(FLOAT32), writable(matrix(FLOAT32)))
def _mix_dense(positions, neighbors, values, dropnode, renormalize, scale, seed, features, out):
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    for row in range(len(positions)):
        count, state = _draw(
            neighbors, values, positions[row], dropnode, renormalize, scale, state, survivors, mixed
        )  # fmt: skip
        for i in range(count):
            node, share = survivors[i], mixed[i]
            for column in range(features.shape[1]):
                out[row, column] += share * features[node, column]


@jitable
def _prefetch_features(survivors, i, count, indptr, indices, data):
    """The features of nodes lie anywhere in memory: load those of a later node while earlier ones are summed."""
    if i < count:
        start = indptr[survivors[i]]
        for line in range(LINES):
            prefetch(indices, start + line * LINE)
            prefetch(data, start + line * LINE)


@jitable
def _draw(neighbors, values, position, dropnode, renormalize, scale, state, survivors, mixed):
    """The v with z_v = 1 and their Π̃(s,v), renormalised if so wanted; how many, and the new state."""
    total = 0.0
    count = 0
    for i in range(neighbors.shape[1]):
        if neighbors[position, i] < 0:
            break
        survivors[count], mixed[count] = neighbors[position, i], values[position, i]
        if dropnode > 0:
            state, number = uniform(state)
            survives = number >= dropnode
        else:
            survives = True
        total += values[position, i] * survives
        count += survives  # without a branch, as the processor can't predict it
    factor = scale
    if renormalize and total > 0:
        factor = scale / total
    for i in range(count):
        mixed[i] = np.float32(mixed[i] * factor)
    return count, state
