"""LINQS files: the same Cora as Planetoid's, and lines that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grandplus.datasets.formats.content_cites import read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Source
from grandplus.runtime.errors import GrandPlusError

CONTENT = "p1\t0\t1\t1\tB\np2\t0\t0\t0\tA\np3\t1\t0\t0\tB\n"
CITES = "p1\tp2\np3\tp3\np2\tp1\n"
SOURCE = Source(format="content-cites", files={}, places=[])


def read_text(folder: Path, content: str = CONTENT, cites: str = CITES, source: Source = SOURCE) -> RawGraph:
    (folder / "toy.content").write_bytes(content.encode())
    (folder / "toy.cites").write_bytes(cites.encode())
    return read(folder, ["toy.cites", "toy.content"], source)


def undirected(edges: np.ndarray) -> np.ndarray:
    return np.unique(np.sort(edges[:, edges[0] != edges[1]], axis=0), axis=1)


def test_cora_is_planetoids_array_by_array(raw_graph: Callable[..., RawGraph]) -> None:
    ours, planetoids = raw_graph("cora", "content-cites"), raw_graph("cora", "planetoid")
    assert ours.nodes == planetoids.nodes
    assert ours.classes == planetoids.classes
    np.testing.assert_array_equal(undirected(ours.edges), undirected(planetoids.edges))
    for part in ("indptr", "indices", "data"):
        mine, theirs = getattr(ours.features, part), getattr(planetoids.features, part)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    for name in ("labels", "node_ids"):
        mine, theirs = getattr(ours, name), getattr(planetoids, name)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    assert len(ours.splits) == len(planetoids.splits) == 1
    assert list(ours.splits[0]) == list(planetoids.splits[0])
    for part, nodes in planetoids.splits[0].items():
        assert ours.splits[0][part].dtype == nodes.dtype
        np.testing.assert_array_equal(ours.splits[0][part], nodes)


def test_cora_from_the_wheel(raw_graph: Callable[..., RawGraph]) -> None:
    graph = raw_graph("cora", "content-cites")
    assert undirected(graph.edges).shape[1] == 5278
    assert np.bincount(graph.labels[graph.splits[0]["train"]]).tolist() == [20] * 7
    assert np.bincount(graph.labels).tolist() == [351, 217, 418, 818, 426, 298, 180]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_values_in_file_order(tmp_path: Path, line_end: str) -> None:
    graph = read_text(tmp_path, CONTENT.replace("\n", line_end), CITES.replace("\n", line_end))
    assert graph.features.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert graph.edges.tolist() == [[0, 2, 1], [1, 2, 0]]
    assert graph.labels.tolist() == [1, 0, 1]
    assert graph.classes == ["A", "B"]
    assert graph.node_ids.tolist() == ["p1", "p2", "p3"]
    assert graph.splits == []


def test_classes_in_the_cards_order(tmp_path: Path) -> None:
    graph = read_text(tmp_path, source=SOURCE.model_copy(update={"classes": ["B", "A"]}))
    assert graph.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("p2\t0\t0\t0", "p2\t0\t0", r"toy\.content: line 2 has other fields; expected an id, 3 words"),
        ("p2\t0\t0\t0", "p2\t0\t2\t0", r"toy\.content: line 2, word 2 is something else; expected 0 or 1"),
        ("p2\t0\t0\t0", "p2\t0\t000", r"toy\.content: line 2, word 2 is something else"),
        ("p2\t0\t0\t0", "p2\t0.5\t0", r"line 2, word 1 is something else"),
        ("\tB\np2", "\t\np2", r"line 1 has other fields"),
        ("p3\t1", "p1\t1", r"toy\.content: line 3 has the id p1 of line 1"),
        ("p2\t0", "\np2\t0", r"line 2 has other fields"),
        (CONTENT, "", r"line 1 has fewer than 3 fields"),
    ],
)
def test_a_wrong_line_of_content(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(GrandPlusError, match=message):
        read_text(tmp_path, CONTENT.replace(old, new, 1))


def test_a_class_that_the_card_does_not_name(tmp_path: Path) -> None:
    with pytest.raises(GrandPlusError, match="line 2 has class 'A'; expected one of B"):
        read_text(tmp_path, source=SOURCE.model_copy(update={"classes": ["B"]}))


@pytest.mark.parametrize(
    ("cites", "message"),
    [
        ("p1\tp2\np1\tp9\n", r"toy\.cites: line 2 cites unknown paper 'p9'"),
        ("p9\tp2\n", r"toy\.cites: line 1 cites unknown paper 'p9'"),
        ("p1\tp2\tp3\n", r"toy\.cites: line 1 has 3 fields; expected 2 ids"),
        ("p1\tp2\n\n", r"toy\.cites: line 2 has 1 fields"),
    ],
)
def test_a_wrong_line_of_cites(tmp_path: Path, cites: str, message: str) -> None:
    with pytest.raises(GrandPlusError, match=message):
        read_text(tmp_path, cites=cites)


def test_no_edges(tmp_path: Path) -> None:
    assert read_text(tmp_path, cites="").edges.shape == (2, 0)


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    read_text(tmp_path)
    (tmp_path / "toy.cites").write_bytes(b"p1\tp2\n\xff\tp1\n")
    with pytest.raises(GrandPlusError, match="line 2 is not UTF-8"):
        read(tmp_path, ["toy.cites", "toy.content"], SOURCE)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 1], "is no order; expected each of the rows 0 to 2 once"),
        ([0, 1, 1], "is no order"),
        ([1, 2, 3], "is no order"),
        ([0, 1, 2], "orders 3 nodes; expected at least 1640"),
    ],
)
def test_a_wrong_order(tmp_path: Path, rows: list[int], message: str) -> None:
    read_text(tmp_path)
    np.save(tmp_path / "order.npy", np.array(rows))
    with pytest.raises(GrandPlusError, match=message):
        read(tmp_path, ["toy.cites", "toy.content"], SOURCE, tmp_path / "order.npy")


def test_an_order_that_is_pickled_is_not_loaded(tmp_path: Path) -> None:
    read_text(tmp_path)
    np.save(tmp_path / "order.npy", np.array([0, 1, 2], dtype=object), allow_pickle=True)
    with pytest.raises(GrandPlusError, match="can't be read"):
        read(tmp_path, ["toy.cites", "toy.content"], SOURCE, tmp_path / "order.npy")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(GrandPlusError, match=r"expected one file \*\.content"):
        read(tmp_path, ["toy.cites"], SOURCE)
