"""Reddit's and Amazon2M's three array files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy
from scipy import sparse

from grandplus.datasets.formats.grand_npz import read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Source
from grandplus.runtime.errors import GrandPlusError

NAMES = ["toy_adj.npz", "toy_feat.npy", "toy_labels.npy"]


def write(
    folder: Path, adjacency: Any = toy.ADJACENCY, features: Any = toy.FEATURES, labels: Any = toy.ONE_HOT
) -> None:
    sparse.save_npz(folder / NAMES[0], adjacency)
    np.save(folder / NAMES[1], features)
    np.save(folder / NAMES[2], labels)


def read_files(folder: Path) -> RawGraph:
    return read(folder, NAMES, Source(format="grand-npz", read=toy.WEIGHTS_IGNORED, files={}, places=[]))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix])
@pytest.mark.parametrize("labels", [toy.ONE_HOT, toy.ONE_HOT.astype(np.float32), toy.NUMBERS])
def test_the_graph(tmp_path: Path, kind: type, labels: np.ndarray) -> None:
    write(tmp_path, kind(toy.ADJACENCY), labels=labels)
    graph = read_files(tmp_path)
    graph.edges[:] = graph.edges[:, np.lexsort(graph.edges[::-1])]
    toy.check(graph, sparse_features=False)


def test_features_of_float32_stay_in_their_file(tmp_path: Path) -> None:
    write(tmp_path, features=toy.FEATURES.astype(np.float32))
    graph = read_files(tmp_path)
    toy.check(graph, sparse_features=False)
    assert not graph.features.flags.owndata
    assert isinstance(graph.features.base, np.memmap)


def test_a_column_out_of_range(tmp_path: Path) -> None:
    adjacency = toy.ADJACENCY.copy()
    adjacency.indices[4] = 4
    write(tmp_path, adjacency)
    with pytest.raises(GrandPlusError, match=r"toy_adj\.npz: row 3 of indices holds 4; expected 0 to 3"):
        read_files(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": np.array(b"dia")}, "is no sparse matrix"),
        ({"format": np.array(b"bsr"), "data": np.ones((5, 1, 1))}, "is in format bsr; expected csr, csc or coo"),
        ({"format": np.array(7)}, "is no sparse matrix"),
        ({"indptr": np.array([0, 1, 4, 4, 9])}, "is no sparse matrix"),
        ({"indptr": np.array([0, 4, 1, 4, 5])}, "indptr falls at row 1, from 4 to 1; expected rising numbers"),
        ({"shape": np.array([4, 5])}, "has shape 4 x 5; expected a square matrix"),
        ({"shape": np.array([9, 9])}, "is no sparse matrix"),
        ({"shape": None}, "lacks shape, and holds data, format, indices, indptr"),
        ({"data": np.array([None] * 5)}, "array of Python objects"),
    ],
)
def test_a_wrong_adjacency(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write(tmp_path)
    matrix = toy.ADJACENCY
    parts = {"format": np.array(b"csr"), "shape": np.array([4, 4]), "data": matrix.data}
    parts |= {"indices": matrix.indices, "indptr": matrix.indptr} | changes
    np.savez(tmp_path / NAMES[0], **{key: value for key, value in parts.items() if value is not None})
    with pytest.raises(GrandPlusError, match=rf"toy_adj\.npz: .*{message}"):
        read_files(tmp_path)


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize("kind", ["objects", "cut", "text"])
def test_a_wrong_array_file(tmp_path: Path, name: str, kind: str) -> None:
    write(tmp_path)
    file = tmp_path / name
    if kind == "objects":
        np.save(file, np.array([{}]), allow_pickle=True)
    else:
        file.write_bytes(file.read_bytes()[:-8] if kind == "cut" else b"text")
    with pytest.raises(GrandPlusError, match=f"{name}: is no readable array"):
        read_files(tmp_path)


def test_an_array_that_declares_more_than_its_file(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / NAMES[1]
    file.write_bytes(file.read_bytes().replace(b"(4, 3)", b"(4, 3000000000000)".ljust(6))[:200])
    with pytest.raises(GrandPlusError, match="is no readable array"):
        read_files(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<html>"])
def test_a_file_that_is_no_npz(tmp_path: Path, content: bytes) -> None:
    write(tmp_path)
    (tmp_path / NAMES[0]).write_bytes(content)
    with pytest.raises(GrandPlusError, match=r"toy_adj\.npz: is no readable \.npz"):
        read_files(tmp_path)
