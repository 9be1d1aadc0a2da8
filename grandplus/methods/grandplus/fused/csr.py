"""Sparse matrices of one training step, and their product with a dense one."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from grandplus.kernels.compiled import FLOAT32, INT32, kernel, matrix, some_columns, writable
from grandplus.kernels.products import multiply_rows
from grandplus.methods.grandplus.fused.memory import Memory


@dataclass(frozen=True, eq=False)
class CSR:
    """A sparse matrix of b rows and d columns.

    Attributes
    ----------
    indptr : int32 (b + 1,)
    indices : int32 (stored,)
    data : float32 (stored,)
    width : int
        d.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """(b, d)."""
        return len(self.indptr) - 1, self.width

    def multiply(self, dense: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product with a dense matrix. Each entry is summed in stored order.

        Parameters
        ----------
        dense : float32 (d, h)
            It may be some columns of a wider matrix in C order, as ``out`` may.
        out : float32 (b, h)
            Is filled.

        Returns
        -------
        float32 (b, h)
            ``out``.

        Examples
        --------
        >>> matrix = CSR(np.array([0, 2], np.int32), np.array([0, 1], np.int32), np.array([2, 1], np.float32), 2)
        >>> matrix.multiply(np.eye(2, dtype=np.float32), np.empty((1, 2), np.float32)).tolist()
        [[2.0, 1.0]]
        """
        _multiply(self.indptr, self.indices, self.data, dense, out)
        return out

    def transposed(self, memory: Memory, name: str) -> CSR:
        """The transposed matrix (d, b), its rows in ascending order of column.

        Parameters
        ----------
        memory : Memory
        name : str
            How the names of its arrays begin there.
        """
        indptr = memory.array(f"{name} indptr", self.width + 1, dtype=np.int32)
        indices = memory.array(f"{name} indices", len(self.indices), dtype=np.int32)
        data = memory.array(f"{name} data", len(self.indices))
        _transpose(self.indptr, self.indices, self.data, indptr, indices, data)
        return CSR(indptr, indices, data, self.shape[0])

    def to_dense(self) -> NDArray[np.float32]:
        """The same as a dense matrix (b, d)."""
        return np.asarray(sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape).toarray())


@dataclass(frozen=True, eq=False)
class Factors:
    """Matrices whose product is a batch of inputs: (Π̃X,), or (Π̃, X) with the features of the nodes that it needs.

    Attributes
    ----------
    parts : tuple of CSR
    memory : Memory
        For what is computed with them.
    """

    parts: tuple[CSR, ...]
    memory: Memory = field(default_factory=Memory)

    @property
    def rows(self) -> int:
        """b."""
        return self.parts[0].shape[0]

    def __matmul__(self, dense: Tensor) -> Tensor:
        """The product (b, h) with a dense matrix (d, h)."""
        out = torch.empty(self.rows, dense.shape[1])
        self.multiply(dense.detach().numpy(), out.numpy())
        return out

    def multiply(
        self, dense: NDArray[np.float32], out: NDArray[np.float32], memory: Memory | None = None
    ) -> NDArray[np.float32]:
        """The product with a dense matrix, from right to left.

        Parameters
        ----------
        dense : float32 (d, h)
        out : float32 (b, h)
            Is filled, as `CSR.multiply` does it.
        memory : Memory, optional
            By default that of the matrices, which one thread may use at a time.
        """
        memory = memory or self.memory
        for part in reversed(self.parts[1:]):
            dense = part.multiply(dense, memory.array("product", part.shape[0], dense.shape[1]))
        return self.parts[0].multiply(dense, out)

    @functools.cached_property
    def transposed(self) -> tuple[CSR, ...]:
        """The factors transposed, in the same order."""
        return tuple(part.transposed(self.memory, f"transposed {number}") for number, part in enumerate(self.parts))

    def to_dense(self) -> NDArray[np.float32]:
        """The batch as a dense matrix (b, d)."""
        return functools.reduce(np.matmul, (part.to_dense() for part in self.parts))


@kernel(INT32, INT32, FLOAT32, some_columns(matrix(FLOAT32)), writable(some_columns(matrix(FLOAT32))))
def _multiply(indptr, indices, data, table, out):
    multiply_rows(indptr, indices, data, 0, len(out), table, out)


@kernel(INT32, INT32, FLOAT32, writable(INT32), writable(INT32), writable(FLOAT32))
def _transpose(indptr, indices, data, out_indptr, out_indices, out_data):
    """Counting sort by column. While values are placed, out_indptr[c + 1] is where column c goes on.

    Unsigned indices take half of the time: numba checks signed ones for being negative.
    """
    one, two, last = np.uint64(1), np.uint64(2), np.uint64(len(out_indptr) - 1)
    out_indptr[:] = 0
    for j in range(np.uint64(len(indices))):
        following = np.uint64(np.uint32(indices[j])) + two
        if following <= last:
            out_indptr[following] += 1
    for column in range(2, len(out_indptr)):
        out_indptr[column] += out_indptr[column - 1]
    for row in range(len(indptr) - 1):
        for j in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            following = np.uint64(np.uint32(indices[j])) + one
            position = np.uint64(np.uint32(out_indptr[following]))
            out_indices[position], out_data[position] = row, data[j]
            out_indptr[following] += 1
