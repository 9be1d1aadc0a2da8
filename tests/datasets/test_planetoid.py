"""Planetoid's files: the known traps, and files that disagree."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from grandplus.datasets import raw
from grandplus.datasets.arrays.unpickle import load_pickle
from grandplus.datasets.raw import RawGraph
from grandplus.pipeline import settings
from grandplus.runtime.errors import GrandPlusError

CATALOG = Path(__file__).resolve().parents[2] / "data" / "catalog"
NAMES = ("cora", "citeseer", "pubmed")


def undirected(edges: np.ndarray) -> np.ndarray:
    """(2, E) unique edges i < j."""
    return np.unique(np.sort(edges[:, edges[0] != edges[1]], axis=0), axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_card(name: str, raw_graph: Callable[..., RawGraph]) -> None:
    expect = settings.read_card(CATALOG / f"{name}.yaml").expect
    graph = raw_graph(name)
    assert graph.nodes == expect.nodes
    assert graph.features.shape == (expect.nodes, expect.features)
    assert len(graph.classes) == expect.classes
    assert undirected(graph.edges).shape == (2, expect.edges)


@pytest.mark.parametrize(("name", "edges"), [("cora", 5278), ("citeseer", 4552), ("pubmed", 44324)])
def test_undirected_edges(name: str, edges: int, raw_graph: Callable[..., RawGraph]) -> None:
    assert undirected(raw_graph(name).edges).shape[1] == edges


@pytest.mark.parametrize("name", NAMES)
def test_public_split(name: str, raw_graph: Callable[..., RawGraph]) -> None:
    graph = raw_graph(name)
    train, val, test = (graph.splits[0][part] for part in ("train", "val", "test"))
    assert np.bincount(graph.labels[train]).tolist() == [20] * len(graph.classes)
    assert (len(val), len(test)) == (500, 1000)
    assert len(set(train) | set(val) | set(test)) == len(train) + 1500
    assert (np.diff(test) > 0).all()
    assert (graph.labels[np.concatenate([train, val, test])] >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_types(name: str, raw_graph: Callable[..., RawGraph]) -> None:
    graph = raw_graph(name)
    assert graph.edges.dtype == graph.labels.dtype == graph.node_ids.dtype == np.int64
    assert {part.dtype for part in graph.splits[0].values()} == {np.dtype(np.int64)}
    assert graph.features.dtype == np.float32
    assert graph.features.has_canonical_format
    assert graph.node_ids.tolist() == list(range(graph.nodes))


@pytest.mark.parametrize("name", NAMES)
def test_test_rows_go_to_the_nodes_that_test_index_names(
    name: str, raw_graph: Callable[..., RawGraph], dataset_folder: Callable[..., Path]
) -> None:
    graph, folder = raw_graph(name), dataset_folder(name)
    ids = [int(line) for line in (folder / f"ind.{name}.test.index").read_text().split()]
    assert ids != sorted(ids)
    rows: Any = load_pickle(folder / f"ind.{name}.tx")
    labels: Any = load_pickle(folder / f"ind.{name}.ty")
    assert (graph.features[ids] != rows).nnz == 0
    assert graph.labels[ids].tolist() == labels.argmax(axis=1).tolist()
    seen: Any = load_pickle(folder / f"ind.{name}.allx")
    assert (graph.features[: seen.shape[0]] != seen).nnz == 0


def test_citeseer_has_nodes_without_a_row_and_without_an_edge(raw_graph: Callable[..., RawGraph]) -> None:
    graph = raw_graph("citeseer")
    without_row = np.flatnonzero(graph.labels == -1)
    assert len(without_row) == 15
    assert graph.features[without_row].nnz == 0
    assert without_row.min() > 2312
    assert graph.nodes - len(np.unique(undirected(graph.edges))) == 48


def test_classes_are_named_by_number_unless_the_card_names_them(raw_graph: Callable[..., RawGraph]) -> None:
    assert raw_graph("pubmed").classes == ["0", "1", "2"]


# Files that disagree: one file of Citeseer is changed.


def _unlabelled(labels: np.ndarray) -> np.ndarray:
    labels[3] = 0
    return labels


def _far(graph: dict[int, list[int]]) -> dict[int, list[int]]:
    graph[5].append(3327)
    return graph


def _negative(graph: dict[int, list[int]]) -> dict[int, list[int]]:
    graph[5].append(-1)
    return graph


def _nan(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    matrix.data[0] = np.nan
    return matrix


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("ally", _unlabelled, r"ally: row 3 is \[0, 0, 0, 0, 0, 0\]; expected a single 1"),
        ("ally", lambda labels: labels[:-1], r"ally: has shape 2311 x 6; expected 2312 x 6"),
        ("ty", lambda labels: labels[:, :1] * 0 + 1, r"ty: has shape 1000 x 1; expected 1000 x 6"),
        ("y", lambda labels: labels[::-1], r"\.y: differs from the first rows of ally"),
        ("y", lambda labels: labels.tolist(), r"\.y: holds a list; expected a matrix of labels"),
        ("x", lambda matrix: 2 * matrix, r"\.x: differs from the first rows of allx"),
        ("x", lambda matrix: matrix[1:], r"\.x: has shape 119 x 3703; expected 120 x 3703"),
        ("tx", lambda matrix: matrix[:, 1:], r"tx: has shape 1000 x 3702; expected 1000 x 3703"),
        ("allx", lambda matrix: matrix.toarray(), r"allx: holds a ndarray; expected a CSR matrix"),
        ("allx", _nan, r"allx: row 0, column 184 is nan; expected a number"),
        ("graph", _far, r"graph: names node 3327; expected 0 to 3326"),
        ("graph", _negative, r"graph: names node -1"),
        ("graph", lambda graph: {**graph, 7: [1.5]}, r"graph: names node 1\.5"),
        ("graph", lambda graph: {node: graph[node] for node in range(3000)}, r"graph: has 3000 nodes; expected 3327"),
        ("graph", lambda graph: [1, 2], r"graph: holds a list"),
    ],
)
def test_a_pickle_that_disagrees(
    part: str, change: Callable[[Any], object], message: str, tmp_path: Path, dataset_folder: Callable[..., Path]
) -> None:
    folder = shutil.copytree(dataset_folder("citeseer"), tmp_path / "changed")
    file = folder / f"ind.citeseer.{part}"
    file.write_bytes(pickle.dumps(change(load_pickle(file)), 4))
    with pytest.raises(GrandPlusError, match=message):
        raw.read(folder, settings.read_card(CATALOG / "citeseer.yaml").source, CATALOG)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2488", "24x8", r"test\.index: line 1 is '24x8'; expected a node id"),
        ("2488", "12", r"line 1 is '12'; expected a node id of at least 2312"),
        ("2488", "2644", r"names a node twice"),
        ("2488", "99999999999", r"line 1 is '99999999999'"),
        ("2488\n", "", r"tx: has shape 1000 x 3703; expected 999 x 3703"),
    ],
)
def test_a_test_index_that_disagrees(
    old: str, new: str, message: str, tmp_path: Path, dataset_folder: Callable[..., Path]
) -> None:
    folder = shutil.copytree(dataset_folder("citeseer"), tmp_path / "changed")
    file = folder / "ind.citeseer.test.index"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(GrandPlusError, match=message):
        raw.read(folder, settings.read_card(CATALOG / "citeseer.yaml").source, CATALOG)


def test_another_number_of_classes_than_the_card_names(dataset_folder: Callable[..., Path]) -> None:
    source = settings.read_card(CATALOG / "citeseer.yaml").source.model_copy(update={"classes": ["a", "b"]})
    with pytest.raises(GrandPlusError, match="has 6 classes; expected 2, as the card names them"):
        raw.read(dataset_folder("citeseer"), source, CATALOG)
