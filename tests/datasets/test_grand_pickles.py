"""AMiner-CS's three pickles."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy
from scipy import sparse

from grandplus.datasets.formats.grand_pickles import read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Source
from grandplus.runtime.errors import GrandPlusError

NAMES = {"adjacency": "toy.adj.sp.pkl", "features": "toy.features.pkl", "labels": "toy.labels.pkl"}


def read_pickles(folder: Path, protocol: int = 4, classes: list[str] | None = None, **changed: Any) -> RawGraph:
    content = {"adjacency": toy.ADJACENCY, "features": toy.FEATURES, "labels": toy.ONE_HOT} | changed
    for part, name in NAMES.items():
        (folder / name).write_bytes(pickle.dumps(content[part], protocol))
    return read(
        folder,
        sorted(NAMES.values()),
        Source(format="grand-pickles", read=toy.WEIGHTS_IGNORED, files={}, places=[], classes=classes),
    )


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix])
def test_the_graph(tmp_path: Path, protocol: int, kind: type) -> None:
    graph = read_pickles(tmp_path, protocol, adjacency=kind(toy.ADJACENCY))
    graph.edges[:] = graph.edges[:, np.lexsort(graph.edges[::-1])]  # columns come in another order than rows
    toy.check(graph, sparse_features=False)


def test_sparse_features_and_class_numbers(tmp_path: Path) -> None:
    graph = read_pickles(tmp_path, features=sparse.csc_matrix(toy.FEATURES), labels=toy.NUMBERS)
    toy.check(graph, sparse_features=True)


def test_an_explicit_zero_is_no_edge(tmp_path: Path) -> None:
    adjacency = toy.ADJACENCY.copy()
    adjacency.data[1] = 0
    assert read_pickles(tmp_path, adjacency=adjacency).edges.tolist() == [[0, 1, 1, 3], [1, 1, 3, 1]]


def test_classes_that_the_card_names(tmp_path: Path) -> None:
    assert read_pickles(tmp_path, classes=["a", "b"]).classes == ["a", "b"]
    with pytest.raises(GrandPlusError, match=r"labels\.pkl: has 2 classes; expected 3, as the card names them"):
        read_pickles(tmp_path, classes=["a", "b", "c"])


def changed(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("adjacency", toy.FEATURES, "holds a ndarray; expected a sparse matrix"),
        ("adjacency", toy.ADJACENCY[:3], "has shape 3 x 4; expected a square matrix"),
        ("features", {0: 1}, "holds a dict; expected an array or a sparse matrix"),
        ("features", toy.FEATURES[:3], "is float64 3 x 3; expected numbers in 4 rows, as by the adjacency"),
        ("features", toy.FEATURES[0], "is float64 3; expected numbers in 4 rows"),
        ("features", changed(toy.FEATURES, (2, 1), np.nan), "row 2, column 1 is nan; expected a number from"),
        ("features", changed(toy.FEATURES, (3, 1), 1e300), "row 3, column 1 is 1e.300; expected"),
        ("features", sparse.csr_matrix(changed(toy.FEATURES, (2, 1), np.inf)), "row 2, column 1 is inf; expected"),
        ("labels", [1, 0, 1, 1], "holds a list; expected an array of labels"),
        ("labels", toy.ONE_HOT[:3], "is int64 3 x 2; expected 4 class numbers or one-hot rows"),
        ("labels", np.array([0.5, 1, 1, 1]), "row 0 is 0.5; expected a class: a whole number"),
        ("labels", np.array([0, 1, -2, 1]), "row 2 is -2; expected a class: a whole number, or -1"),
        ("labels", changed(toy.ONE_HOT, (1, 1), 1), "row 1 has 2 labels; expected .*multi-label"),
        ("labels", changed(toy.ONE_HOT, (1, 0), 2), r"row 1 is \[2, 0\]; expected at most a single 1"),
    ],
)
def test_a_wrong_part_is_named(tmp_path: Path, part: str, content: object, message: str) -> None:
    with pytest.raises(GrandPlusError, match=rf"{NAMES[part].replace('.', '[.]')}: {message}"):
        read_pickles(tmp_path, **{part: content})


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(GrandPlusError, match=r"expected one file \*\.features\.pkl"):
        read(tmp_path, [NAMES["adjacency"], NAMES["labels"]], Source(format="", files={}, places=[]))
