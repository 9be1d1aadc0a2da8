"""The embedding of a training step: the rows of W⁰ that a batch uses, their products and their gradients."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from grandplus.kernels.compiled import FLOAT32, INT32, INT64, kernel, matrix, writable
from grandplus.kernels.prefetch import LINE, prefetch
from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.csr import CSR, Factors
from grandplus.methods.grandplus.fused.memory import Memory
from grandplus.methods.grandplus.mlp import Embedding

AHEAD = 8  # rows that are prefetched


class Embedded:
    """H = X̄W⁰ (Eq. 9), with X̄ = Π̃X.

    Parameters
    ----------
    embedding : Embedding
        Is trained.
    adam : Adam
        Is given the gradients.
    """

    dropout = 0.0

    def __init__(self, embedding: Embedding, adam: Adam) -> None:
        self.embedding, self.adam = embedding, adam
        self._memory = Memory()

    def forward(self, x: Factors, seed: np.int64 | None) -> NDArray[np.float32]:
        """(b, h) of inputs (b, d); of the ``Used`` of a batch, or in validation, without a seed, of any."""
        table = self.embedding.weight.numpy()
        out = self._memory.array("out", x.rows, table.shape[1])
        if seed is None:
            return x.multiply(table, out)
        assert isinstance(x, Used)
        rows = self._memory.array("rows", len(x.columns), table.shape[1])
        _take(table, x.columns, rows)
        self.embedding.use(torch.from_numpy(x.columns), torch.from_numpy(rows))
        self._x = x
        return x.multiply(rows, out)

    def backward(self, upstream: NDArray[np.float32]) -> NDArray[np.float32]:
        """A gradient of no rows, as the inputs are not trained."""
        gradient = upstream
        for number, part in enumerate(self._x.transposed):
            out = self._memory.array(f"gradient {number}", part.shape[0], upstream.shape[1])
            gradient = part.multiply(gradient, out)
        self.adam.take_rows(gradient)
        return upstream[:0]


@dataclass(frozen=True, eq=False)
class Used(Factors):
    """Inputs over the columns alone that they use.

    Attributes
    ----------
    columns : int64 (t,), ascending
        Which these are.
    """

    columns: NDArray[np.int64] = field(kw_only=True)


class Columns:
    """Finds the columns that a batch of sparse features uses, in time that does not depend on their number in all.

    Parameters
    ----------
    width : int
        Columns in all: d.
    """

    def __init__(self, width: int) -> None:
        self._numbers = np.full(width, -1, np.int32)  # of the columns of a batch; -1 between batches

    def used(self, inputs: Factors) -> Used:
        """The inputs Π̃ and X (u, d), and Π̃ and X (u, t) over the columns that X uses."""
        mixing, features = inputs.parts
        stored = len(features.indices)
        indices = inputs.memory.array("numbers of columns", stored, dtype=np.int32)
        columns = inputs.memory.array("columns", stored, dtype=np.int64)
        # In ascending order the rows of W⁰ and of its moments are loaded in two thirds of the time.
        columns = columns[: _meet(features.indices, self._numbers, columns)]
        columns.sort()
        _number(features.indices, columns, self._numbers, indices)
        narrow = CSR(features.indptr, indices, features.data, len(columns))
        return Used((mixing, narrow), inputs.memory, columns=columns)


@kernel(matrix(FLOAT32), INT64, writable(matrix(FLOAT32)))
def _take(table, rows, out):
    """Copies of some rows of a table that is larger than the cache."""
    for i in range(len(rows)):
        if i + AHEAD < len(rows):
            later = table[np.uint64(rows[i + AHEAD])]
            for column in range(0, table.shape[1], LINE):
                prefetch(later, column)
        row = np.uint64(rows[i])
        for column in range(table.shape[1]):
            out[i, column] = table[row, column]


@kernel(INT32, writable(INT32), writable(INT64))
def _meet(indices, numbers, columns):
    """Which columns there are, each once; returns how many."""
    count = 0
    for i in range(len(indices)):
        if i + 2 * AHEAD < len(indices):
            prefetch(numbers, np.uint64(indices[i + 2 * AHEAD]))
        column = indices[i]
        columns[count] = column
        count += int(numbers[column] < 0)  # without a branch, as the processor can't predict it
        numbers[column] = 0
    return count


@kernel(INT32, INT64, writable(INT32), writable(INT32))
def _number(indices, columns, numbers, out):
    """Each column's position among those that are used; all ``numbers`` are -1 again at the end."""
    for i in range(len(columns)):
        numbers[columns[i]] = i
    for i in range(len(indices)):
        out[i] = numbers[indices[i]]
    for i in range(len(columns)):
        numbers[columns[i]] = -1
