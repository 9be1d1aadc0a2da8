"""What preprocessing fitted to the features of a graph, so that new rows can be transformed in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.graph.features import Features, blocks_of, csr_of, degree_column, neighbor_marks, row_normalize
from grandplus.runtime.errors import ArgumentError

ARRAYS: dict[str, tuple[str, ...]] = {  # that each kind has fitted
    "row-normalize": (),
    "standardize": ("means", "deviations"),
    "as-is": (),
    "degree": (),
    "onehot-degree": ("degrees",),
    "adjacency": ("node_ids",),
    "standardized-adjacency": ("node_ids", "means", "deviations"),
}
_TYPES = {"means": np.float64, "deviations": np.float64, "degrees": np.int64, "node_ids": None}
# What stands for raw features where these are made from the graph.
RAW_ROWS = {
    "degree": degree_column,
    "onehot-degree": degree_column,
    "adjacency": neighbor_marks,
    "standardized-adjacency": neighbor_marks,
}
STANDARDIZED = ("standardize", "standardized-adjacency")  # columns of mean 0 and deviation 1, which are dense
OF_NEIGHBORS = ("adjacency", "standardized-adjacency")  # a column for each node


@dataclass(frozen=True, eq=False)
class FittedFeatures:
    """A transformation of raw features, with all that it needs to be applied to new rows.

    Attributes
    ----------
    kind : str
        As ``preprocess.features`` of a card. The raw columns of ``row-normalize``, ``standardize`` and ``as-is`` are
        the data's own; those of ``degree`` and ``onehot-degree`` are one, the number of neighbours; those of
        ``adjacency`` and ``standardized-adjacency`` are 1 for a neighbour and 0 for another node.
    names : list of str or None
        Of the raw columns, where the data names them, as the header of a table does.
    means, deviations : float64 (d,) or None
        Of each raw column, for ``standardize`` and ``standardized-adjacency``. The deviation of a constant column is 0.
    degrees : int64 (d,) or None
        The number of neighbours that each column stands for, for ``onehot-degree``.
    node_ids : (d,) or None
        The id of the node that each column stands for, for ``adjacency`` and ``standardized-adjacency``.

    Examples
    --------
    >>> fitted = FittedFeatures.fit("standardize", np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> fitted.transform(np.array([[2.0, 5.0], [5.0, 9.0]])).tolist()
    [[0.0, 0.0], [3.0, 0.0]]
    >>> fitted.to_json()
    {'kind': 'standardize', 'means': [2.0, 5.0], 'deviations': [1.0, 0.0]}
    """

    kind: str
    names: list[str] | None = None
    means: NDArray[np.float64] | None = None
    deviations: NDArray[np.float64] | None = None
    degrees: NDArray[np.int64] | None = None
    node_ids: NDArray[Any] | None = None

    @classmethod
    def fit(
        cls, kind: str, raw: Features, *, names: list[str] | None = None, node_ids: NDArray[Any] | None = None
    ) -> FittedFeatures:
        """Learn from raw features what the transformation needs.

        Parameters
        ----------
        kind : str
            See the class.
        raw : (n, d) ndarray or scipy sparse
            Finite numbers, at least one row.
        names : list of str, optional
            Of the raw columns.
        node_ids : (n,), optional
            Of the nodes; needed for ``adjacency`` and ``standardized-adjacency``.

        Raises
        ------
        ArgumentError
            There is no such kind.
        """
        if kind not in ARRAYS:
            raise ArgumentError(f"there are no features of kind {kind!r}", expected=f"one of {', '.join(ARRAYS)}")
        if kind in STANDARDIZED:
            means, deviations = _moments(_dense(raw))
            columns: dict[str, Any] = {"node_ids": node_ids} if kind in OF_NEIGHBORS else {"names": names}
            return cls(kind, means=means, deviations=deviations, **columns)
        if kind == "degree":
            return cls(kind)
        if kind == "onehot-degree":
            return cls(kind, degrees=np.unique(raw))
        if kind == "adjacency":
            return cls(kind, node_ids=node_ids)
        return cls(kind, names)

    def transform(self, raw: Features) -> Features:
        """The features that a model takes, from rows of the raw columns that were fitted.

        Parameters
        ----------
        raw : (m, d) ndarray or scipy sparse

        Returns
        -------
        float32 (m, d'), ndarray or scipy CSR
            Computed in float64. ``as-is`` returns rows of float32 unchanged.

        Raises
        ------
        ArgumentError
            There are other columns than those that were fitted, or a number of neighbours that no fitted node had.
        """
        self._check_width(raw)
        if self.kind in STANDARDIZED:
            return self._standardized(_dense(raw))
        if self.kind == "degree":
            return np.log1p(_dense(raw).astype(np.float64)).astype(np.float32)
        if self.kind == "onehot-degree":
            return self._one_hot(_dense(raw)[:, 0])
        if self.kind == "as-is":
            return raw.astype(np.float32, copy=False)
        return row_normalize(raw.tocsr() if sp.issparse(raw) else raw)

    def to_json(self) -> dict[str, Any]:
        """A mapping of text and lists of numbers, from which ``from_json`` makes the same again.

        Returns
        -------
        dict
            Only what the kind needs. JSON keeps float64 exactly.
        """
        content: dict[str, Any] = {"kind": self.kind}
        if self.names is not None:
            content["names"] = self.names
        return content | {key: getattr(self, key).tolist() for key in ARRAYS[self.kind]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> FittedFeatures:
        """The transformation that ``to_json`` has described, as ``preprocessing`` of a model holds it.

        Parameters
        ----------
        content : dict

        Raises
        ------
        ArgumentError
            It is no such mapping.
        """
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind not in ARRAYS or not set(ARRAYS[kind]) <= set(content):
            raise ArgumentError(f"fitted features are {str(content)[:80]}", expected="what to_json has given")
        arrays: dict[str, Any] = {key: np.array(content[key], _TYPES[key]) for key in ARRAYS[kind]}
        return cls(kind, content.get("names"), **arrays)

    def _check_width(self, raw: Features) -> None:
        expected = next((len(known) for known in (self.names, self.means, self.node_ids) if known is not None), None)
        if self.kind in ("degree", "onehot-degree"):
            expected = 1
        if raw.ndim != 2 or (expected is not None and raw.shape[1] != expected):
            columns = "any number of" if expected is None else expected
            raise ArgumentError(f"raw features have shape {raw.shape}", expected=f"rows of {columns} columns")

    def _standardized(self, dense: NDArray[Any]) -> NDArray[np.float32]:
        assert self.means is not None
        assert self.deviations is not None
        scale = np.divide(1, self.deviations, out=np.zeros_like(self.means), where=self.deviations != 0)
        features = np.empty(dense.shape, np.float32)
        for rows in blocks_of(len(dense)):
            features[rows] = (dense[rows] - self.means) * scale
        return features

    def _one_hot(self, neighbors: NDArray[Any]) -> Features:
        assert self.degrees is not None
        columns = np.minimum(np.searchsorted(self.degrees, neighbors), len(self.degrees) - 1)
        unknown = np.flatnonzero(self.degrees[columns] != neighbors)
        if len(unknown):
            row = int(unknown[0])
            raise ArgumentError(
                f"row {row} has {neighbors[row]} neighbours, and no node had as many when its features were fitted",
                expected="a number of neighbours that has a column of its own",
            )
        indptr = np.arange(len(neighbors) + 1, dtype=np.int64)
        ones = np.ones(len(neighbors), np.float32)
        return csr_of(indptr, columns.astype(np.int32), ones, len(self.degrees))


def _moments(dense: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column."""
    means = _means(dense)
    variances = sum(((dense[rows] - means) ** 2).sum(axis=0) for rows in blocks_of(len(dense))) / len(dense)
    # A rounded mean leaves a constant column a tiny variance: its values tell that it is constant.
    constant = dense.min(axis=0) == dense.max(axis=0)
    return means, np.where(constant, 0, np.sqrt(variances))


def _means(dense: NDArray[Any]) -> NDArray[np.float64]:
    if dense.dtype == np.float32:
        return np.asarray(dense.mean(axis=0, dtype=np.float64))
    # Values that need float64 may be large and alike: sums of their differences from the first row lose less.
    first = dense[0].astype(np.float64)
    sums = sum((dense[rows] - first).sum(axis=0) for rows in blocks_of(len(dense)))
    return np.asarray(first + sums / len(dense))


def _dense(features: Features) -> NDArray[Any]:
    return np.asarray(features.toarray() if sp.issparse(features) else features)
