"""Probabilities as they stand in tables of predictions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

CLASSES = b"classes"  # the key of metadata with the names of classes, in the order of the probabilities


def probabilities_of(table: pa.Table) -> NDArray[np.float32]:
    """The probabilities of a table's lines: float32 (b, C).

    Parameters
    ----------
    table : pyarrow.Table
        Or a part of it, with the column ``probabilities``.
    """
    column = table["probabilities"]
    flat: NDArray[np.float32] = column.combine_chunks().flatten().to_numpy()
    return flat.reshape(len(column), column.type.list_size)
