"""Weights of a graph's edges, for P = D̃⁻¹W̃ in place of D̃⁻¹Ã.

W̃ is W with a self-loop for each node, of weight 1 where the data has none. D̃ holds the sums of its rows.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.kernels.compiled import FLOAT32, FLOAT64, INT64, kernel, writable
from grandplus.runtime.errors import ArgumentError, ArtifactError

FILES = ("weights.npy", "loops.npy", "strengths.npy")


@dataclass(frozen=True, eq=False)
class EdgeWeights:
    """Weights of the stored entries of an adjacency.

    Attributes
    ----------
    entries : float32 (stored entries,)
        Greater than 0, in the order of ``indices``.
    loops : float32 (n,)
        Of the self-loops, greater than 0.
    strengths : float64 (n,)
        The sums of the rows of W̃.
    """

    entries: NDArray[np.float32]
    loops: NDArray[np.float32]
    strengths: NDArray[np.float64]

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the weights."""
        digest = hashlib.sha256(self.entries.data)
        digest.update(self.loops.data)
        return digest.hexdigest()

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All of them, in the order of `FILES`."""
        return self.entries, self.loops, self.strengths


def checked_edge_weights(weights: Any, edges: int) -> NDArray[np.float32]:
    """Weights as float32.

    Parameters
    ----------
    weights : array_like of numbers, shape (E,)
    edges : int
        E.

    Raises
    ------
    ArgumentError
        There are more or fewer, or one is negative, no finite number, or neither 0 nor within float32.

    Examples
    --------
    >>> checked_edge_weights([2, 0.5, 0], 3).tolist()
    [2.0, 0.5, 0.0]
    """
    given = numbers_of(weights)
    if given.shape != (edges,) or given.dtype.kind not in "biuf":
        found = f"edge weights have shape {given.shape} and type {given.dtype}"
        raise ArgumentError(found, expected=f"({edges},) numbers, one for each edge")
    limits = np.finfo(np.float32)
    wrong = np.flatnonzero(~((given == 0) | ((given >= limits.tiny) & (given <= limits.max))))
    if len(wrong):
        expected = f"0, for no edge, or from {limits.tiny:.1e} to {limits.max:.1e}, as P holds shares of weight"
        raise ArgumentError(f"edge {wrong[0] + 1} has weight {given[wrong[0]]:g}", expected=expected)
    return given.astype(np.float32)


def weights_of_files(folder: Path, *arrays: NDArray[Any], entries: int, nodes: int) -> EdgeWeights:
    """Weights that were read from a folder.

    Parameters
    ----------
    folder : Path
    *arrays : ndarray
        In the order of `FILES`.
    entries, nodes : int
        How many the adjacency has.

    Raises
    ------
    ArtifactError
        An array has another length or type.
    """
    wanted = ((entries, np.float32), (nodes, np.float32), (nodes, np.float64))
    for name, array, (length, kind) in zip(FILES, arrays, wanted, strict=True):
        if array.shape != (length,) or array.dtype != kind:
            found = f"has shape {array.shape} and type {array.dtype}"
            raise ArtifactError(found, where=folder / name, expected=f"({length},) and {np.dtype(kind)}")
    return EdgeWeights(*arrays)


def numbers_of(weights: Any) -> NDArray[Any]:
    """An array of one dimension at least, of what may be weights.

    Raises
    ------
    ArgumentError
        It is ragged.

    Examples
    --------
    >>> numbers_of(2.0).tolist()
    [2.0]
    """
    try:
        return np.atleast_1d(np.asarray(weights))
    except ValueError as error:
        raise ArgumentError(f"edge weights are no array: {error}", expected="a number for each edge") from None


def row_sums(
    indptr: NDArray[np.int64], entries: NDArray[np.float32], loops: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The sums of the rows of W̃, each added from its self-loop on in the order of the entries: float64 (n,).

    Examples
    --------
    >>> row_sums(np.array([0, 1, 2]), np.array([2, 0.5], np.float32), np.ones(2, np.float32)).tolist()
    [3.0, 1.5]
    """
    sums = loops.astype(np.float64)
    _add_rows(indptr, entries, sums)
    return sums


@kernel(INT64, FLOAT32, writable(FLOAT64))
def _add_rows(indptr, entries, sums):
    for row in range(len(sums)):
        for j in range(indptr[row], indptr[row + 1]):
            sums[row] += entries[j]
