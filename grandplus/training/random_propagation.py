"""Random propagation: augmented features of a batch, from sparse rows of Π (the paper's Eq. 8).

Sparse features stay sparse: a numba pass adds up the surviving neighbours' stored values and
never visits a zero.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import types
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
        dense = np.zeros(self.shape, np.float32)
        _fill_kernel()(self.indptr, self.indices, self.data, dense)
        return dense


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
    """

    def __init__(self, features: Features, rows: Rows, *, dropnode: float, renormalize: bool) -> None:
        if features.shape[0] != rows.info.nodes:
            raise GrandPlusError(f"features have {features.shape[0]} rows", expected=f"{rows.info.nodes}, one a node")
        self.rows = rows
        self.dropnode = dropnode
        self.renormalize = renormalize
        self.width = int(features.shape[1])
        self.sparse = sp.issparse(features)
        self._mix: _SparseMixer | _DenseMixer
        self._mix = _SparseMixer(features) if self.sparse else _DenseMixer(features)

    def draw(self, nodes: NDArray[np.int64], rng: np.random.Generator, *, dropout: float = 0.0) -> Batch:
        """One augmentation of each of b nodes: (b, d).

        dropout : share of the result's values to drop, the others scaled by 1 / (1 - dropout);
            for sparse features only
        """
        at = self.rows.positions(nodes)
        neighbors, weights = self.rows.neighbors[at], self.rows.weights[at]
        survives = rng.random(weights.shape, dtype=np.float32) >= self.dropnode
        weights = np.where(survives, weights, np.float32(0))
        return self._mix(neighbors, self._scaled(weights), dropout, rng)

    def expected(self, nodes: NDArray[np.int64]) -> Batch:
        """What validation and inference see instead: nothing dropped, (b, d).

        Σ Π̃(s,v) X_v, divided by Σ Π̃(s,v) with renormalize, else times (1 - δ).
        """
        at = self.rows.positions(nodes)
        weights = self._scaled(self.rows.weights[at])
        if not self.renormalize:
            weights = weights * np.float32(1 - self.dropnode)
        return self._mix(self.rows.neighbors[at], weights, 0.0, None)

    def _scaled(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self.renormalize:
            return weights
        sums = weights.sum(axis=1, dtype=np.float64, keepdims=True)
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
        return np.asarray(weights * scale, np.float32)


class _DenseMixer:
    def __init__(self, features: NDArray[np.float32]) -> None:
        self.features = features

    def __call__(
        self, neighbors: NDArray[Any], weights: NDArray[np.float32], dropout: float, rng: np.random.Generator | None
    ) -> NDArray[np.float32]:
        assert dropout == 0, "the model drops dense inputs itself"
        out = np.zeros((len(neighbors), self.features.shape[1]), np.float32)
        _dense_kernel(neighbors.dtype.name)(neighbors, weights, self.features, out)
        return out


class _SparseMixer:
    def __init__(self, features: sp.csr_array) -> None:
        self.indptr = features.indptr.astype(np.int64, copy=False)
        self.indices = features.indices.astype(np.int32, copy=False)
        self.data = features.data
        self.width = int(features.shape[1])
        self.stored = np.diff(self.indptr)
        self.sums = np.zeros(self.width, np.float32)
        self.seen_in = np.full(self.width, -1, np.int64)

    def __call__(
        self, neighbors: NDArray[Any], weights: NDArray[np.float32], dropout: float, rng: np.random.Generator | None
    ) -> SparseBatch:
        most = int(self.stored[neighbors[weights > 0]].sum())  # entries, where no two neighbours share a feature
        # A value is kept where its number is at least `dropout`.
        numbers = rng.random(most, dtype=np.float32) if dropout and rng else np.empty(0, np.float32)
        indptr = np.zeros(len(neighbors) + 1, np.int64)
        indices, data = np.empty(most, np.int32), np.empty(most, np.float32)
        self.seen_in[:] = -1
        kernel = _sparse_kernel(neighbors.dtype.name)
        features = (self.indptr, self.indices, self.data)
        kernel(neighbors, weights, *features, dropout, numbers, self.sums, self.seen_in, indptr, indices, data)
        return SparseBatch(indptr, indices[: indptr[-1]], data[: indptr[-1]], self.width)


def _matrix(array: types.Array, *, readonly: bool = True) -> types.Array:
    return types.Array(array.dtype, 2, "C", readonly=readonly)


@functools.cache
def _sparse_kernel(index_type: str) -> Any:
    ids = _matrix({"int32": INT32, "int64": INT64}[index_type])
    features = (INT64, INT32, FLOAT32)
    scratch = (writable(FLOAT32), writable(INT64))
    outputs = (writable(INT64), writable(INT32), writable(FLOAT32))
    return compiled(_mix_sparse, ids, _matrix(FLOAT32), *features, types.float64, FLOAT32, *scratch, *outputs)


@functools.cache
def _dense_kernel(index_type: str) -> Any:
    ids = _matrix({"int32": INT32, "int64": INT64}[index_type])
    return compiled(_mix_dense, ids, _matrix(FLOAT32), _matrix(FLOAT32), _matrix(FLOAT32, readonly=False))


@functools.cache
def _fill_kernel() -> Any:
    return compiled(_fill, INT64, INT32, FLOAT32, _matrix(FLOAT32, readonly=False))


def _mix_sparse(  # type: ignore[no-untyped-def]
    neighbors, weights, indptr, indices, data, dropout, numbers, sums, seen_in, out_indptr, out_indices, out_data
):
    """Row by row: sum into ``sums``, gather the columns touched, then drop some of them."""
    scale = np.float32(1 / (1 - dropout))
    end = 0
    for row in range(neighbors.shape[0]):
        start = end
        for i in range(neighbors.shape[1]):
            weight = weights[row, i]
            if weight > 0:
                node = neighbors[row, i]
                for j in range(indptr[node], indptr[node + 1]):
                    column = indices[j]
                    if seen_in[column] != row:
                        seen_in[column] = row
                        sums[column] = 0
                        out_indices[end] = column
                        end += 1
                    sums[column] += weight * data[j]
        kept = start
        for i in range(start, end):
            if dropout == 0 or numbers[i] >= dropout:
                out_indices[kept] = out_indices[i]
                out_data[kept] = sums[out_indices[i]] * scale
                kept += 1
        end = kept
        out_indptr[row + 1] = end


def _mix_dense(neighbors, weights, features, out):  # type: ignore[no-untyped-def]
    for row in range(neighbors.shape[0]):
        for i in range(neighbors.shape[1]):
            weight = weights[row, i]
            if weight > 0:
                node = neighbors[row, i]
                for column in range(features.shape[1]):
                    out[row, column] += weight * features[node, column]


def _fill(indptr, indices, data, dense):  # type: ignore[no-untyped-def]
    for row in range(len(indptr) - 1):
        for j in range(indptr[row], indptr[row + 1]):
            dense[row, indices[j]] = data[j]
