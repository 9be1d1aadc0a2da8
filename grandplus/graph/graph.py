"""The graph: a CSR adjacency without self-loops, features, labels and names.

On disk it is a folder of ``.npy`` arrays, read by memory-mapping. ``graph.json`` says what was counted, merged and
dropped, ``features.json`` what was fitted to the features. The self-loop of Ã = A + I is never stored: the kernels
add it, exactly once, whatever the input held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.features import Features, csr_of, rows_of
from grandplus.graph.files import map_array, read_json, read_parquet, save_array, write_json
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.grown import GrownGraph, grown_graph
from grandplus.graph.ids import rows_of as rows_of_ids
from grandplus.runtime.errors import ArgumentError, ArtifactError
from grandplus.runtime.paths import as_path

FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with what training needs.

    Attributes
    ----------
    adjacency : Adjacency of n nodes
    features : float32 (n, d), ndarray or scipy CSR
    labels : int64 (n,)
        Numbers into ``classes``; -1 where unknown.
    classes : list of str
        Names, by class number.
    node_ids : (n,)
        The ids that the data came with.
    facts : dict
        What preprocessing counted, merged and dropped.
    fitted : FittedFeatures
        How ``features`` were made from raw ones.

    Raises
    ------
    ArgumentError
        Features, labels or ids are not those of n nodes.
    """

    adjacency: Adjacency
    features: Features
    labels: NDArray[np.int64]
    classes: list[str]
    node_ids: NDArray[Any]
    facts: dict[str, Any] = field(default_factory=dict)
    fitted: FittedFeatures = field(default_factory=lambda: FittedFeatures("as-is"))

    def __post_init__(self) -> None:
        nodes = self.adjacency.nodes
        for name in ("features", "labels", "node_ids"):
            shape = getattr(self, name).shape
            if shape[:1] != (nodes,) or len(shape) != (2 if name == "features" else 1):
                expected = f"{nodes} rows of columns" if name == "features" else f"({nodes},)"
                raise ArgumentError(
                    f"{name} has shape {shape}", expected=f"{expected}, as the adjacency has {nodes} nodes"
                )

    def grown(
        self,
        nodes: Sequence[int | str] | NDArray[Any],
        edges: Sequence[Sequence[int | str]] | NDArray[Any],
        features: Features | None = None,
        labels: Sequence[str | None] | None = None,
        weights: ArrayLike | None = None,
    ) -> GrownGraph:
        """The graph with nodes and edges that came later; nothing of this one is copied or changed.

        Parameters
        ----------
        nodes : sequence of int or str, shape (m,)
            The ids of the new nodes.
        edges : (2, E) array_like of ids
            Between any nodes, in one direction or both, unless the graph is directed. Edges that are there already
            change nothing, nor do self-loops.
        features : (m, d) ndarray or scipy sparse, optional
            Of the new nodes, as the data had them before preprocessing: the ``fitted`` transformation is applied. They
            may lack only where features are made from the graph; these are made anew for all nodes with new edges.
        labels : sequence of str or None, shape (m,), optional
            Names of classes; None where unknown.
        weights : (E,) array_like of numbers, optional
            Of the edges, if those of the graph have weights. A self-loop of a new node may have one, too.

        Raises
        ------
        ArgumentError
            A new node is there already or twice, an edge names an unknown node, a label is no class of this graph,
            features are missing or of another width, or weights lack or differ from those that are there.

        Examples
        --------
        >>> from grandplus.graph.adjacency import build_adjacency
        >>> adjacency, _ = build_adjacency(np.array([[0], [1]]), 2)
        >>> ids = np.array(["ann", "bob"], object)
        >>> graph = Graph(adjacency, np.eye(2, dtype=np.float32), np.array([0, 1]), ["a", "b"], ids)
        >>> grown = graph.grown(["eve"], [["eve"], ["ann"]], np.array([[0.5, 0.5]]))
        >>> grown.adjacency.nodes, grown.rows_of(["eve"]).tolist(), grown.features_of(np.array([0, 2])).tolist()
        (3, [2], [[1.0, 0.0], [0.5, 0.5]])
        """
        return grown_graph(self, nodes, edges, features, labels, weights)

    def rows_of(self, ids: Sequence[int | str]) -> NDArray[np.int64]:
        """The numbers of nodes by their ids: int64 (b,); see `grandplus.graph.ids.rows_of`."""
        return rows_of_ids(self.node_ids, ids)

    def ids_of(self, nodes: NDArray[np.integer[Any]]) -> list[Any]:
        """The ids of nodes by their numbers."""
        return list(self.node_ids[nodes].tolist())

    def labels_of(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The labels of some nodes: int64 (b,), -1 where unknown."""
        return np.asarray(self.labels[nodes])

    def features_of(self, nodes: NDArray[np.integer[Any]]) -> Features:
        """The features of some nodes: float32 (b, d), ndarray or scipy CSR."""
        return rows_of(self.features, nodes)

    def save(self, folder: Path | str) -> None:
        """Write the files into an existing folder.

        Parameters
        ----------
        folder : path
        """
        folder = as_path(folder, "folder")
        self.adjacency.save(folder)
        if not sp.issparse(self.features):
            save_array(folder / "features.npy", self.features)
        else:
            save_array(folder / "features.indptr.npy", self.features.indptr.astype(np.int64, copy=False))
            save_array(folder / "features.indices.npy", self.features.indices.astype(np.int32, copy=False))
            save_array(folder / "features.data.npy", self.features.data)
        save_array(folder / "labels.npy", self.labels)
        write_json(folder / "classes.json", self.classes)
        ids = pa.table({"row": pa.array(np.arange(len(self.node_ids))), "id": pa.array(self.node_ids)})
        pq.write_table(ids, folder / "node_ids.parquet")
        width = {"features": int(self.features.shape[1])}
        write_json(folder / "features.json", self.fitted.to_json())
        write_json(folder / "graph.json", self.facts | width | {"format_version": FORMAT_VERSION})

    @classmethod
    def load(cls, folder: Path | str) -> Graph:
        """Memory-map a saved graph; its arrays are read-only.

        Parameters
        ----------
        folder : path

        Raises
        ------
        ArtifactError
            A file is missing or damaged, or of another format.
        """
        folder = as_path(folder, "folder")
        facts, classes = read_json(folder / "graph.json"), read_json(folder / "classes.json")
        if not isinstance(facts, dict) or not isinstance(classes, list):
            raise ArtifactError("graph.json or classes.json is damaged", where=folder, expected="a mapping and a list")
        if facts.get("format_version") != FORMAT_VERSION:
            raise ArtifactError(
                f"format version is {facts.get('format_version')}", where=folder, expected=str(FORMAT_VERSION)
            )
        try:
            return cls(
                adjacency=Adjacency.load(folder),
                features=_load_features(folder, int(facts["features"])),
                labels=map_array(folder / "labels.npy"),
                classes=classes,
                node_ids=read_parquet(folder / "node_ids.parquet")["id"].to_numpy(),
                facts=facts,
                fitted=_load_fitted(folder / "features.json"),
            )
        except ArgumentError as error:
            raise ArtifactError(error.found, where=folder, expected=error.expected) from None


def _load_features(folder: Path, width: int) -> Features:
    if (folder / "features.npy").exists():
        dense: NDArray[np.float32] = map_array(folder / "features.npy")
        return dense
    indptr, indices, data = (map_array(folder / f"features.{part}.npy") for part in ("indptr", "indices", "data"))
    return csr_of(indptr, indices, data, width)


def _load_fitted(file: Path) -> FittedFeatures:
    try:
        return FittedFeatures.from_json(read_json(file))
    except ArgumentError as error:
        raise ArtifactError(error.found, where=file, expected="what preprocessing fitted to the features") from None
