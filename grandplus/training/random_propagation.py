"""Random propagation: augmented features of a batch, from sparse rows of Π (the paper's Eq. 8).

DropNode, the sum over surviving neighbours and, for a first layer that takes sparse inputs,
their dropout are one numba pass that never visits a zero.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import register_jitable
from numpy.typing import NDArray

from grandplus.compiled import FLOAT32, INT32, INT64, compiled, writable
from grandplus.errors import GrandPlusError
from grandplus.graph import Features
from grandplus.propagation.rows import Rows


@dataclass(frozen=True, eq=False)
class SparseBatch:
    """b rows of d features as CSR: int64 (b + 1,), int32 (stored,), float32 (stored,)."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.width

    def to_dense(self) -> NDArray[np.float32]:
        return np.asarray(sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape).toarray())


Batch = NDArray[np.float32] | SparseBatch


class RandomPropagation:
    """Draws X̄_s = Σ z_v Π̃(s,v) X_v with z_v ~ Bernoulli(1 - δ), anew for each entry of a row.

    Parameters
    ----------
    features : float32 (n, d), dense or scipy CSR
    rows : rows of Π
    dropnode : δ
    renormalize : divide by the sum of the surviving weights, the zero vector if none survived.
        False is Eq. 8 as printed, whose mean is (1 - δ) Σ Π̃(s,v) X_v.
    sparse : keep the result sparse; for sparse features
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
        self._mix = self._to_sparse if sparse else self._to_dense
        self._dropout = dropout
        if sparse:
            stored = np.append(np.diff(self._features[0]), 0)  # -1, where a row has ended, finds the 0
            self._most = stored[rows.neighbors].sum(axis=1)  # values of each row's mix, if none coincide

    def draw(self, nodes: NDArray[np.int64], rng: np.random.Generator, *, copies: int = 1) -> Batch:
        """Augmentations of b nodes: (copies · b, d), copy by copy."""
        at = np.tile(self.rows.positions(nodes), copies)
        return self._mix(at, self.dropnode, 1.0, self._dropout, np.uint64(rng.integers(2**63)))

    def expected(self, nodes: NDArray[np.int64]) -> Batch:
        """What validation and inference see instead: nothing dropped, (b, d).

        Σ Π̃(s,v) X_v, divided by Σ Π̃(s,v) with renormalize, else times (1 - δ).
        """
        scale = 1.0 if self.renormalize else 1 - self.dropnode
        return self._mix(self.rows.positions(nodes), 0.0, scale, 0.0, np.uint64(0))

    def _to_dense(
        self, at: NDArray[np.int64], dropnode: float, scale: float, _: float, seed: np.uint64
    ) -> NDArray[np.float32]:
        out = np.zeros((len(at), self.width), np.float32)
        kernel = _sparse_to_dense(self._ids) if len(self._features) == 3 else _dense_to_dense(self._ids)
        entries = (at, self.rows.neighbors, self.rows.weights)
        kernel(*entries, dropnode, self.renormalize, scale, seed, *self._features, out)
        return out

    def _to_sparse(
        self, at: NDArray[np.int64], dropnode: float, scale: float, dropout: float, seed: np.uint64
    ) -> Batch:
        most = int(self._most[at].sum()) + 1
        indptr = np.zeros(len(at) + 1, np.int64)
        indices, data = np.empty(most, np.int32), np.empty(most, np.float32)
        entries = (at, self.rows.neighbors, self.rows.weights)
        kernel = _sparse_to_sparse(self._ids)
        kernel(
            *entries, dropnode, self.renormalize, scale, seed, *self._features, self.width, dropout,
            indptr, indices, data,
        )  # fmt: skip
        return SparseBatch(indptr, indices[: indptr[-1]], data[: indptr[-1]], self.width)


def _matrix(array: types.Array, *, readonly: bool = True) -> types.Array:
    return types.Array(array.dtype, 2, "C", readonly=readonly)


def _drawing(index_type: str) -> list[Any]:
    """The arguments that all kernels share: which rows, and how to draw."""
    ids = _matrix({"int32": INT32, "int64": INT64}[index_type])
    return [INT64, ids, _matrix(FLOAT32), types.float64, types.boolean, types.float64, types.uint64]


@functools.cache
def _sparse_to_sparse(index_type: str) -> Any:
    outputs = (writable(INT64), writable(INT32), writable(FLOAT32))
    features = (INT64, INT32, FLOAT32, types.int64)
    return compiled(_mix_to_sparse, *_drawing(index_type), *features, types.float64, *outputs)


@functools.cache
def _sparse_to_dense(index_type: str) -> Any:
    features = (INT64, INT32, FLOAT32)
    return compiled(_mix_to_dense, *_drawing(index_type), *features, _matrix(FLOAT32, readonly=False))


@functools.cache
def _dense_to_dense(index_type: str) -> Any:
    return compiled(_mix_dense, *_drawing(index_type), _matrix(FLOAT32), _matrix(FLOAT32, readonly=False))


def _mix_to_sparse(  # type: ignore[no-untyped-def]
    at, neighbors, weights, dropnode, renormalize, scale, seed, indptr, indices, data, width, dropout,
    out_indptr, out_indices, out_data,
):  # fmt: skip
    """Row by row: sum into a dense row, note which columns were met, gather these."""
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    sums = np.zeros(width, np.float32)
    met_in = np.full(width, -1, np.int32)
    dropout_scale = np.float32(1 / (1 - dropout))
    end = 0
    for row in range(len(at)):
        count, state = _draw(neighbors, weights, at[row], dropnode, renormalize, scale, state, survivors, mixed)
        start = end
        for i in range(count):
            node, weight = survivors[i], mixed[i]
            for j in range(indptr[node], indptr[node + 1]):
                column = np.uint32(indices[j])
                new = met_in[column] != row  # used without a branch, likewise
                met_in[column] = row
                out_indices[end] = column
                end += new
                sums[column] = (np.float32(0) if new else sums[column]) + weight * data[j]
        kept = start
        for i in range(start, end):
            column = out_indices[i]
            out_indices[kept] = column
            out_data[kept] = sums[column] * dropout_scale
            if dropout > 0:
                state, number = _uniform(state)
                kept += number >= dropout
            else:
                kept += 1
        end = kept
        out_indptr[row + 1] = end


def _mix_to_dense(  # type: ignore[no-untyped-def]
    at, neighbors, weights, dropnode, renormalize, scale, seed, indptr, indices, data, out
):
    state = seed
    survivors, mixed = np.empty(neighbors.shape[1], np.int64), np.empty(neighbors.shape[1], np.float32)
    for row in range(len(at)):
        count, state = _draw(neighbors, weights, at[row], dropnode, renormalize, scale, state, survivors, mixed)
        for i in range(count):
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
    """Next state and number in [0, 1) of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return state, np.float64(z >> np.uint64(11)) * 2.0**-53
