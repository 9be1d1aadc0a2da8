"""Arrays that each step fills anew: to ask the system for them at every step takes longer than to fill them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LINE = 64  # bytes of a cache line, where arrays begin: vectors that lie in two lines are loaded half as fast


class Memory:
    """Arrays by name, kept for the next batch, which may be smaller or larger.

    Examples
    --------
    >>> memory = Memory()
    >>> first, second = memory.array("products", 3, 4), memory.array("products", 2, 4)
    >>> second.shape, np.shares_memory(first, second)
    ((2, 4), True)
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}

    def array(self, name: str, *shape: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """An array of any content; the one that had this name before is overwritten with it.

        Parameters
        ----------
        name : str
        *shape : int
        dtype : dtype
        """
        size, kept = math.prod(shape), self._kept.get(name)
        if kept is None or len(kept) < size:
            kept = self._kept[name] = _aligned(size, np.dtype(dtype))
        return kept[:size].reshape(shape)


def _aligned(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    content = np.empty(size * dtype.itemsize + LINE, np.uint8)
    start = -content.ctypes.data % LINE
    return content[start : start + size * dtype.itemsize].view(dtype)
