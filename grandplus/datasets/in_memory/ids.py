"""Ids of nodes, as a notebook has them -> the rows that the nodes have."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHOWN = 2  # ids, in an error


@dataclass(frozen=True, eq=False)
class NodeIds:
    """The id of each node, in the order of their rows.

    Attributes
    ----------
    values : ndarray, shape (n,)
    name : str
        What holds them, for an error.

    Examples
    --------
    >>> ids = NodeIds(np.array(["a", "b"], object), "the index of X")
    >>> ids.rows(["b", "x"]).tolist(), ids.examples()
    ([1, -1], "'a', 'b'")
    """

    values: NDArray[Any]
    name: str
    _row_of: dict[Hashable, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_row_of", {name: row for row, name in enumerate(self.values.tolist())})

    @property
    def unique(self) -> bool:
        """Whether each id is there once."""
        return len(self._row_of) == len(self.values)

    def repeated(self) -> Any:
        """An id that is there twice, if they are not unique."""
        return next(name for row, name in enumerate(self.values.tolist()) if self._row_of[name] != row)

    def rows(self, names: Any) -> NDArray[np.int64]:
        """The rows of nodes, -1 for an unknown id.

        Parameters
        ----------
        names : array_like, shape (b,)

        Returns
        -------
        ndarray of int64, shape (b,)
        """
        listed = names.tolist() if hasattr(names, "tolist") else list(names)
        return np.fromiter((self._row_of.get(name, -1) for name in listed), np.int64, len(listed))

    def examples(self) -> str:
        """Some ids, for an error."""
        return ", ".join(map(repr, self.values[:_SHOWN].tolist()))
