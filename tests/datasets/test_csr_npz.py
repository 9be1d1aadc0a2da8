"""MAG-Scholar's single file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy
from scipy import sparse

from grandplus.datasets.formats.csr_npz import read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Source
from grandplus.runtime.errors import GrandPlusError


def parts(**changes: Any) -> dict[str, Any]:
    """The file's arrays; ``adj_indptr=`` stands for "adj_matrix.indptr"."""
    found: dict[str, Any] = {"labels": toy.NUMBERS}
    for name, matrix in (("adj", toy.ADJACENCY), ("attr", sparse.csr_matrix(toy.FEATURES))):
        for part in ("data", "indices", "indptr", "shape"):
            found[f"{name}_matrix.{part}"] = np.array(getattr(matrix, part))
    changes = {key.replace("_", "_matrix."): value for key, value in changes.items()}
    return {key: value for key, value in (found | changes).items() if value is not None}


def read_file(folder: Path) -> RawGraph:
    return read(folder, ["toy.npz"], Source(format="csr-npz", read=toy.WEIGHTS_IGNORED, files={}, places=[]))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_the_graph(tmp_path: Path, save: Any, index: type) -> None:
    changes = {key: np.array(toy.ADJACENCY.__dict__[key], index) for key in ("indices", "indptr")}
    save(tmp_path / "toy.npz", **parts(adj_indices=changes["indices"], adj_indptr=changes["indptr"]))
    toy.check(read_file(tmp_path), sparse_features=True)


def test_unsorted_and_repeated_attributes(tmp_path: Path) -> None:
    changes = {
        "attr_indptr": np.array([0, 3, 3, 5, 6]),
        "attr_indices": np.array([2, 0, 2, 1, 0, 1]),
        "attr_data": np.array([1.5, 0.5, 0.5, 3.0, -1.0, 0.1]),
    }
    np.savez(tmp_path / "toy.npz", **parts(**changes))
    graph = read_file(tmp_path)
    toy.check(graph, sparse_features=True)
    assert graph.features.indices.tolist() == [0, 2, 0, 1, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, r"toy\.npz: lacks labels, and holds adj_matrix\.data, "),
        ({"adj_shape": None}, r"lacks adj_matrix\.shape"),
        ({"adj_shape": np.array([4])}, r"adj_matrix\.shape is \[4\]; expected rows and columns"),
        ({"adj_shape": np.array([4.0, 4.0])}, r"adj_matrix\.shape is \[4\.0, 4\.0\]"),
        ({"adj_shape": np.array([-1, 4])}, r"adj_matrix\.shape is \[-1, 4\]"),
        ({"adj_shape": np.array([9, 9])}, r"adj_matrix\.indptr is int32 5; expected 10 integers, as by"),
        ({"adj_indptr": np.array([0, 2, 1, 4, 5])}, r"adj_matrix\.indptr falls at row 1, from 2 to 1"),
        ({"adj_indptr": np.array([0, 1, 4, 4, 6])}, r"indptr goes from \[0\] to \[6\]; expected 0 to 5, the length"),
        ({"adj_indices": np.array([1, 0, 4, 3, 1])}, r"row 1 of adj_matrix\.indices holds 4; expected 0 to 3"),
        ({"adj_indices": np.array([1, 0, 1, 3, -1])}, r"row 3 of adj_matrix\.indices holds -1"),
        ({"adj_indices": np.array([1.0, 0, 1, 3, 1])}, r"adj_matrix\.indices is float64 5; expected integers"),
        ({"adj_data": np.ones(4)}, r"adj_matrix\.data is float64 4; expected numbers of shape \(5,\)"),
        ({"attr_data": np.array([1, 1, np.nan, 1, 1])}, "attr_matrix: row 2, column 0 is nan; expected"),
        ({"attr_shape": np.array([4, 2])}, r"row 0 of attr_matrix\.indices holds 2; expected 0 to 1"),
        ({"labels": np.array([1, 0, 1])}, "labels: is int64 3; expected 4 class numbers"),
        ({"labels": np.array(["a"] * 4)}, "labels: is <U1 4; expected 4 class numbers"),
    ],
)
def test_a_wrong_part_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "toy.npz", **parts(**changes))
    with pytest.raises(GrandPlusError, match=message):
        read_file(tmp_path)
