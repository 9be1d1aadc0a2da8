"""Random propagation: augmented features of a batch, from sparse rows of Π (the paper's Eq. 8).

DropNode, the sum over surviving neighbours and, for a first layer that takes sparse inputs,
their dropout are one numba pass that never visits a zero. Without input dropout the sum is left
to the first layer: Π̃(XW) is cheaper than (Π̃X)W, as copies and neighbours share nodes.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import register_jitable
from numpy.typing import NDArray

from grandplus.graph.features import Features
from grandplus.kernels.compiled import FLOAT32, INT32, INT64, compiled, matrix, writable
from grandplus.kernels.prefetch import prefetch
from grandplus.kernels.random import SPREAD, mix
from grandplus.methods.grandplus.csr import CSR
from grandplus.propagation.rows import Rows
from grandplus.runtime.errors import GrandPlusError

AHEAD, LINES = 4, 4  # nodes ahead, and cache lines of each, that are prefetched
Factors = tuple[CSR, ...]  # matrices whose product is the batch: (Π̃X,), or (Π̃, X) of the nodes that it needs
Batch = NDArray[np.float32] | Factors


class RandomPropagation:
    """Draws X̄_s = Σ z_v Π̃(s,v) X_v with z_v ~ Bernoulli(1 - δ), anew for each entry of a row.

    Parameters
    ----------
    features : float32 (n, d), dense or scipy CSR
    rows : rows of Π
    dropnode : δ
    renormalize : divide by the sum of the surviving weights, the zero vector if none survived.
        False is Eq. 8 as printed, whose mean is (1 - δ) Σ Π̃(s,v) X_v.
    sparse : give ``Factors``; for sparse features
    dropout : share of a sparse result's values to drop, the others scaled by 1 / (1 - dropout)
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
            raise GrandPlusError(f"features have {features.shape[0]} rows", expected=f"{rows.info.nodes}, one a node")
        self.rows = rows
        self.dropnode = dropnode
        self.renormalize = renormalize
        self.width = int(features.shape[1])
        self._ids = rows.neighbors.dtype.name
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

    def draw(self, nodes: NDArray[np.int64], rng: np.random.Generator, *, copies: int = 1) -> Batch:
        """Augmentations of b nodes: (copies · b, d), copy by copy."""
        at = np.tile(self.rows.positions(nodes), copies)
        seed = np.uint64(rng.integers(2**63))
        if not self.sparse:
            return self._mix_to_dense(at, self.dropnode, 1.0, seed)
        if self.dropout == 0:
            return self._factors(at, self.dropnode, 1.0, seed)
        return (self._mix_to_sparse(at, seed),)

    def expected(self, nodes: NDArray[np.int64]) -> Batch:
        """What validation and inference see instead: nothing dropped, (b, d).

        Σ Π̃(s,v) X_v, divided by Σ Π̃(s,v) with renormalize, else times (1 - δ).
        """
        mix = self._factors if self.sparse else self._mix_to_dense
        return mix(self.rows.positions(nodes), 0.0, 1.0 if self.renormalize else 1 - self.dropnode, np.uint64(0))

    def _mix_to_dense(self, at: NDArray[np.int64], dropnode: float, scale: float, seed: np.uint64) -> Batch:
        out = np.zeros((len(at), self.width), np.float32)
        kernel = _sparse_to_dense(self._ids) if len(self._features) == 3 else _dense_to_dense(self._ids)
        kernel(at, *self._entries, dropnode, self.renormalize, scale, seed, *self._features, out)
        return out

    def _mix_to_sparse(self, at: NDArray[np.int64], seed: np.uint64) -> CSR:
        most = int(self._most[at].sum()) + 1
        indptr = np.zeros(len(at) + 1, np.int32)
        indices, data = np.empty(most, np.int32), np.empty(most, np.float32)
        _sparse_to_sparse(self._ids)(
            at, *self._entries, self.dropnode, self.renormalize, 1.0, seed, *self._features, self.width, self.dropout,
            indptr, indices, data,
        )  # fmt: skip
        return CSR(indptr, indices[: indptr[-1]], data[: indptr[-1]], self.width)

    def _factors(self, at: NDArray[np.int64], dropnode: float, scale: float, seed: np.uint64) -> Factors:
        most = len(at) * self.rows.neighbors.shape[1]
        indptr, nodes = np.zeros(len(at) + 1, np.int32), np.empty(most, np.int64)
        indices, data = np.empty(most, np.int32), np.empty(most, np.float32)
        count = _to_factor(self._ids)(
            at, *self._entries, dropnode, self.renormalize, scale, seed, self._numbers, indptr, indices, data, nodes
        )
        mixing = CSR(indptr, indices[: indptr[-1]], data[: indptr[-1]], count)
        return mixing, self._features_of(nodes[:count])

    def _features_of(self, nodes: NDArray[np.int64]) -> CSR:
        indptr = np.zeros(len(nodes) + 1, np.int32)
        np.cumsum(self._stored[nodes], out=indptr[1:])
        indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
        _take_rows()(nodes, *self._features, indptr, indices, data)
        return CSR(indptr, indices, data, self.width)


def _drawing(index_type: str) -> list[Any]:
    """The arguments that all kernels share: which rows, and how to draw."""
    ids = matrix({"int32": INT32, "int64": INT64}[index_type])
    return [INT64, ids, matrix(FLOAT32), types.float64, types.boolean, types.float64, types.uint64]


@functools.cache
def _sparse_to_sparse(index_type: str) -> Any:
    outputs = (writable(INT32), writable(INT32), writable(FLOAT32))
    features = (INT64, INT32, FLOAT32, types.int64)
    return compiled(_mix_to_sparse, *_drawing(index_type), *features, types.float64, *outputs)


@functools.cache
def _to_factor(index_type: str) -> Any:
    return compiled(
        _mix_to_factor,
        *_drawing(index_type),
        *(writable(kind) for kind in (INT32, INT32, INT32, FLOAT32, INT64)),
    )


@functools.cache
def _take_rows() -> Any:
    return compiled(_take, INT64, INT64, INT32, FLOAT32, INT32, writable(INT32), writable(FLOAT32))


@functools.cache
def _sparse_to_dense(index_type: str) -> Any:
    features = (INT64, INT32, FLOAT32)
    return compiled(_mix_to_dense, *_drawing(index_type), *features, writable(matrix(FLOAT32)))


@functools.cache
def _dense_to_dense(index_type: str) -> Any:
    return compiled(_mix_dense, *_drawing(index_type), matrix(FLOAT32), writable(matrix(FLOAT32)))


def _mix_to_sparse(  # type: ignore[no-untyped-def]
    at, neighbors, weights, dropnode, renormalize, scale, seed, indptr, indices, data, width, dropout,
    out_indptr, out_indices, out_data,
):  # fmt: skip
    """Row by row: sum into a dense row, note which columns were met, gather these and leave zeros."""
    state, dropout_state = seed, ~seed  # apart, so that the same neighbours survive in every kernel
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    sums = np.zeros(width, np.float32)
    unmet = np.ones(width, np.uint8)
    dropout_scale = np.float32(1 / (1 - dropout))
    end = 0
    for row in range(len(at)):
        count, state = _draw(neighbors, weights, at[row], dropnode, renormalize, scale, state, survivors, mixed)
        start = end
        for i in range(count):
            _prefetch_features(survivors, i + AHEAD, count, indptr, indices, data)
            node, weight = survivors[i], mixed[i]
            for j in range(indptr[node], indptr[node + 1]):
                column = np.uint32(indices[j])
                out_indices[end] = column
                end += int(unmet[column])  # without a branch, as it can't be foreseen
                unmet[column] = 0
                sums[column] += weight * data[j]
        kept = start
        for i in range(start, end):
            column = np.uint32(out_indices[i])
            out_indices[kept] = column
            out_data[kept] = sums[column] * dropout_scale
            dropout_state, number = _uniform(dropout_state)
            kept += number >= dropout
            sums[column] = 0
            unmet[column] = 1
        end = kept
        out_indptr[row + 1] = end


def _mix_to_factor(  # type: ignore[no-untyped-def]
    at, neighbors, weights, dropnode, renormalize, scale, seed, numbers, out_indptr, out_indices, out_data, out_nodes
):
    """Rows of Π̃ over the nodes that they need, which are numbered as they are met."""
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    met = end = 0
    for row in range(len(at)):
        count, state = _draw(neighbors, weights, at[row], dropnode, renormalize, scale, state, survivors, mixed)
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


def _take(nodes, indptr, indices, data, out_indptr, out_indices, out_data):  # type: ignore[no-untyped-def]
    for row in range(len(nodes)):
        shift = indptr[nodes[row]] - out_indptr[row]
        for j in range(out_indptr[row], out_indptr[row + 1]):
            out_indices[j], out_data[j] = indices[j + shift], data[j + shift]


def _mix_to_dense(  # type: ignore[no-untyped-def]
    at, neighbors, weights, dropnode, renormalize, scale, seed, indptr, indices, data, out
):
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    for row in range(len(at)):
        count, state = _draw(neighbors, weights, at[row], dropnode, renormalize, scale, state, survivors, mixed)
        for i in range(count):
            _prefetch_features(survivors, i + AHEAD, count, indptr, indices, data)
            node, weight = survivors[i], mixed[i]
            for j in range(indptr[node], indptr[node + 1]):
                out[row, np.uint32(indices[j])] += weight * data[j]


def _mix_dense(  # type: ignore[no-untyped-def]
    at, neighbors, weights, dropnode, renormalize, scale, seed, features, out
):
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    for row in range(len(at)):
        count, state = _draw(neighbors, weights, at[row], dropnode, renormalize, scale, state, survivors, mixed)
        for i in range(count):
            node, weight = survivors[i], mixed[i]
            for column in range(features.shape[1]):
                out[row, column] += weight * features[node, column]


@register_jitable
def _prefetch_features(survivors, i, count, indptr, indices, data):  # type: ignore[no-untyped-def]
    """The features of nodes lie anywhere in memory: fetch those of a later one while earlier ones are summed."""
    if i < count:
        start = indptr[survivors[i]]
        for line in range(LINES):
            prefetch(indices, start + line * 16)
            prefetch(data, start + line * 16)


@register_jitable
def _draw(neighbors, weights, at, dropnode, renormalize, scale, state, survivors, mixed):  # type: ignore[no-untyped-def]
    """The v with z_v = 1 and their Π̃(s,v), renormalised if so wanted; how many, and the new state."""
    total = 0.0
    count = 0
    for i in range(neighbors.shape[1]):
        if neighbors[at, i] < 0:
            break
        survivors[count], mixed[count] = neighbors[at, i], weights[at, i]
        if dropnode > 0:
            state, number = _uniform(state)
            survives = number >= dropnode
        else:
            survives = True
        total += weights[at, i] * survives
        count += survives  # without a branch, as it can't be foreseen
    factor = scale
    if renormalize and total > 0:
        factor = scale / total
    for i in range(count):
        mixed[i] = np.float32(mixed[i] * factor)
    return count, state


@register_jitable
def _uniform(state):  # type: ignore[no-untyped-def]
    """Next state and random number in [0, 1)."""
    state += SPREAD
    return state, np.float64(mix(state) >> np.uint64(11)) * 2.0**-53
