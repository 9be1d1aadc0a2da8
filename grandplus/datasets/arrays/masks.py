"""Masks over nodes, as several formats hold their splits -> lists of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.arrays.matrices import described
from grandplus.runtime.errors import GrandPlusError


def splits_of(masks: dict[str, NDArray[Any]], nodes: int, where: object) -> list[dict[str, NDArray[np.int64]]]:
    """The nodes of each part in each split.

    Parameters
    ----------
    masks : dict of (n,) or (splits, n) ndarray
        Of 0 and 1, for "train", "val" and "test"; empty if there is no split.
    nodes : int
        n.
    where : object
        The file.

    Returns
    -------
    list of dict of int64 arrays

    Raises
    ------
    GrandPlusError
        A mask is something else, or the masks are of different numbers of splits.
    """
    rows = {part: _rows(mask, nodes, f"{where}, {part}") for part, mask in masks.items()}
    counts = {part: len(mask) for part, mask in rows.items()}
    if len(set(counts.values())) > 1:
        raise GrandPlusError(f"has {counts} splits", where=where, expected="as many of each part")
    splits = max(counts.values(), default=0)
    return [{part: np.flatnonzero(mask[split]) for part, mask in rows.items()} for split in range(splits)]


def _rows(mask: NDArray[Any], nodes: int, where: str) -> NDArray[np.bool_]:
    rows = np.atleast_2d(mask)
    if rows.ndim != 2 or rows.shape[1] != nodes or rows.dtype.kind not in "biu" or not np.isin(rows, (0, 1)).all():
        raise GrandPlusError(f"is {described(mask)}", where=where, expected=f"masks of 0 and 1 over {nodes} nodes")
    return rows.astype(bool)
