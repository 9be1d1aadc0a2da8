"""A column of timestamps keeps its variance, whatever it is read from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.in_memory.inputs import inputs_of
from grandplus.datasets.tables.feature_files import read
from grandplus.graph.fitted import FittedFeatures
from grandplus.runtime.errors import GrandPlusError

X = np.stack([1_600_000_000 + np.arange(4) % 2, np.arange(4)], axis=1)
EDGES = np.array([[0, 1], [1, 2]])


def pandas_frame(_: Path) -> Any:
    pandas = pytest.importorskip("pandas")
    return inputs_of(EDGES, pandas.DataFrame({"joined": X[:, 0], "x": X[:, 1].astype(np.float32)})).features


def in_json(folder: Path) -> Any:
    (folder / "f.json").write_text(json.dumps({str(node): row.tolist() for node, row in enumerate(X + 0.5)}))
    return read(folder / "f.json", pa.array(range(4)))


def in_parquet(folder: Path) -> Any:
    pq.write_table(pa.table({"id": range(4), "x": (X + 0.5).tolist()}), folder / "f.parquet")
    return read(folder / "f.parquet", pa.array(range(4)))


def in_npy(folder: Path) -> Any:
    np.save(folder / "f.npy", X)
    return read(folder / "f.npy", pa.array(range(4)))


def in_npz(folder: Path) -> Any:
    sparse.save_npz(folder / "f.npz", sparse.csr_matrix(X.astype(np.float64)))
    return read(folder / "f.npz", pa.array(range(4)))


READERS: dict[str, Callable[[Path], Any]] = {
    "float64": lambda _: features_of(X.astype(np.float64), 4, "x"),
    "list": lambda _: inputs_of(EDGES, X.tolist()).features,
    "pandas": pandas_frame,
    "json": in_json,
    "parquet": in_parquet,
    "npy": in_npy,
    "npz": in_npz,
}


@pytest.mark.parametrize("reader", READERS)
def test_timestamps(tmp_path, reader):
    features = READERS[reader](tmp_path)
    standard = FittedFeatures.fit("standardize", features).transform(features)
    np.testing.assert_allclose(standard[:, 0], [-1, 1, -1, 1], rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    "value", [np.float16("inf"), np.float32("inf"), np.float64(1e300), np.iinfo(np.int64).min, np.nan]
)
def test_what_no_feature_is_in_any_type(kind, value):
    array = np.array([[1, value], [1, 2]], dtype=np.asarray(value).dtype)
    with pytest.raises(GrandPlusError, match="x: row 0, column 1 is "):
        features_of(kind(array) if array.dtype != np.float16 else array, 2, "x")
