"""Random propagation: augmented features of a batch, from sparse rows of Π (the paper's Eq. 8).

DropNode, the sum over surviving neighbours and, for a first layer that takes sparse inputs, their dropout are one pass
that never visits a zero. Without input dropout the sum is left to the first layer: Π̃(XW) is cheaper than (Π̃X)W, as
augmentations and neighbours have nodes in common.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from grandplus.graph.features import Features
from grandplus.methods.grandplus.fused import mixing
from grandplus.methods.grandplus.fused.csr import CSR, Factors
from grandplus.methods.grandplus.fused.memory import Memory
from grandplus.propagation.rows import Rows
from grandplus.runtime.errors import ArgumentError

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
        self.sparse, self.dropout = sparse, dropout
        self._dense = None if sp.issparse(features) else np.ascontiguousarray(features, np.float32)
        if self._dense is None:
            indptr, indices = (
                features.indptr.astype(np.int64, copy=False),
                features.indices.astype(np.int32, copy=False),
            )
            self._sparse = indptr, indices, np.asarray(features.data)
        if sparse:
            self._stored = np.diff(self._sparse[0])
            self._numbers = np.full(rows.info.nodes, -1, np.int32)  # of the nodes of a batch; -1 between batches

    def draw(
        self, nodes: NDArray[np.int64], seed: int, *, augmentations: int = 1,
        memory: Memory | None = None,
    ) -> NDArray[np.float32] | Factors:  # fmt: skip
        """Augmented features, one augmentation after the other.

        Parameters
        ----------
        nodes : int64 (b,)
        seed : int
            Of DropNode and dropout.
        augmentations : int
            M.
        memory : Memory, optional
            What the last draw gave is overwritten there. By default the result is in memory of its own.

        Returns
        -------
        Array or Factors
            (M · b, d)
        """
        memory = memory or Memory()
        positions = np.tile(self.rows.positions(nodes), augmentations)
        drawn = self._drawn(positions, self.dropnode, 1.0, np.uint64(seed), memory)
        if not self.sparse:
            return self._mixed(*drawn, memory)
        if self.dropout == 0:
            return self._factors(*drawn, memory)
        # Dropout's numbers are apart from DropNode's, so that the same neighbours survive with any dropout.
        return Factors((self._mixed_sparsely(*drawn, ~np.uint64(seed), memory),), memory)

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
        memory, scale = Memory(), 1.0 if self.renormalize else 1 - self.dropnode
        drawn = self._drawn(self.rows.positions(nodes), 0.0, scale, np.uint64(0), memory)
        return self._factors(*drawn, memory) if self.sparse else torch.from_numpy(self._mixed(*drawn, memory))

    def _drawn(
        self, positions: NDArray[np.int64], dropnode: float, scale: float, seed: np.uint64, memory: Memory
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float32]]:
        """Rows of Π̃: where each begins, the surviving neighbours, and their values."""
        neighbors, values = self.rows.neighbors, self.rows.values
        most = len(positions) * neighbors.shape[1]
        indptr = memory.array("drawn indptr", len(positions) + 1, dtype=np.int32)
        survivors, shares = memory.array("survivors", most, dtype=np.int64), memory.array("shares", most)
        mixing.draw(positions, neighbors, values, dropnode, self.renormalize, scale, seed, indptr, survivors, shares)
        return indptr, survivors[: indptr[-1]], shares[: indptr[-1]]

    def _mixed(
        self, indptr: NDArray[np.int32], survivors: NDArray[np.int64], shares: NDArray[np.float32], memory: Memory
    ) -> NDArray[np.float32]:
        out = memory.array("mixed", len(indptr) - 1, self.width)
        if self._dense is None:
            mixing.mix_to_dense(indptr, survivors, shares, *self._sparse, out)
        else:
            mixing.mix_dense(indptr, survivors, shares, self._dense, out)
        return out

    def _mixed_sparsely(
        self, indptr: NDArray[np.int32], survivors: NDArray[np.int64], shares: NDArray[np.float32], seed: np.uint64,
        memory: Memory,
    ) -> CSR:  # fmt: skip
        most = int(self._stored[survivors].sum()) + 1  # if no two neighbours have a feature in common
        out_indptr = memory.array("mixed indptr", len(indptr), dtype=np.int32)
        indices, data = memory.array("mixed indices", most, dtype=np.int32), memory.array("mixed data", most)
        out = self.width, self.dropout, seed, out_indptr, indices, data
        mixing.mix_to_sparse(indptr, survivors, shares, *self._sparse, *out)
        return CSR(out_indptr, indices[: out_indptr[-1]], data[: out_indptr[-1]], self.width)

    def _factors(
        self, indptr: NDArray[np.int32], survivors: NDArray[np.int64], shares: NDArray[np.float32], memory: Memory
    ) -> Factors:
        indices = memory.array("mixing indices", len(survivors), dtype=np.int32)
        nodes = memory.array("nodes", len(survivors), dtype=np.int64)
        nodes = nodes[: mixing.number(survivors, self._numbers, indices, nodes)]
        return Factors((CSR(indptr, indices, shares, len(nodes)), self._features_of(nodes, memory)), memory)

    def _features_of(self, nodes: NDArray[np.int64], memory: Memory) -> CSR:
        indptr = np.zeros(len(nodes) + 1, np.int32)
        np.cumsum(self._stored[nodes], out=indptr[1:])
        indices = memory.array("features indices", indptr[-1], dtype=np.int32)
        data = memory.array("features data", indptr[-1])
        mixing.take_rows(nodes, *self._sparse, indptr, indices, data)
        return CSR(indptr, indices, data, self.width)
