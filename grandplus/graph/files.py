"""The files of a saved graph: memory-mapped arrays, JSON and Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.runtime.storage import finished_whole
from grandplus.runtime.system_errors import artifact_errors


def read_parquet(file: Path) -> pa.Table:
    """Read a Parquet file.

    Raises
    ------
    ArtifactError
        It is missing or damaged.
    """
    with artifact_errors(file, "is no readable table", pa.ArrowException):
        return pq.read_table(file)


def map_array(file: Path) -> NDArray[Any]:
    """Memory-map a ``.npy`` file, read-only.

    Raises
    ------
    ArtifactError
        It is missing or damaged.
    """
    with artifact_errors(file, "is no readable array", ValueError, EOFError):
        mapped = np.load(file, mmap_mode="r", allow_pickle=False)
        return np.asarray(mapped)  # a plain view: numba knows no memmap


def save_array(file: Path, array: NDArray[Any]) -> None:
    """Write a ``.npy`` file, beside one that may be memory-mapped, in whose place it then comes."""
    with finished_whole(file) as partial, partial.open("wb") as out:
        np.save(out, array)


def read_json(file: Path) -> Any:
    """Read a JSON file.

    Raises
    ------
    ArtifactError
        It is missing or damaged.
    """
    with artifact_errors(file, "is no readable JSON", ValueError):
        return json.loads(file.read_text(encoding="utf-8"))


def write_json(file: Path, content: Any) -> None:
    """Write a JSON file, with the keys of a mapping sorted, so that equal contents are equal bytes."""
    file.write_text(json.dumps(content, indent=2, sort_keys=isinstance(content, dict)) + "\n", encoding="utf-8")
