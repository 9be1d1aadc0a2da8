"""DataFrames of pandas and Polars, told apart by what they have; neither library is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.runtime.errors import ArgumentError


def is_pandas(value: Any) -> bool:
    """Whether it is a Series or a DataFrame of pandas."""
    return hasattr(value, "iloc") and hasattr(value, "index")


def is_frame(value: Any) -> bool:
    """Whether it is a DataFrame, of pandas or Polars."""
    return hasattr(value, "columns") and (is_pandas(value) or _is_polars(value))


def _is_polars(value: Any) -> bool:
    return hasattr(value, "get_columns") and hasattr(value, "to_series")


def column_names(frame: Any) -> list[str]:
    """The names of the columns, as text."""
    return [str(name) for name in frame.columns]


def column(frame: Any, position: int) -> Any:
    """A Series."""
    return frame.iloc[:, position] if is_pandas(frame) else frame.to_series(position)


def without(frame: Any, positions: Sequence[int]) -> Any:
    """The frame without some columns.

    Parameters
    ----------
    frame : DataFrame
    positions : sequence of int

    Returns
    -------
    DataFrame
    """
    rest = [position for position in range(len(frame.columns)) if position not in positions]
    if is_pandas(frame):
        return frame.iloc[:, rest]
    return frame.select([frame.columns[position] for position in rest])


def columns_of_text(frame: Any) -> list[int]:
    """The positions of columns that hold something else than numbers, or true and false."""
    pandas = is_pandas(frame)
    numeric = (
        getattr(kind, "kind", "O") in "biuf" if pandas else kind.is_numeric() or str(kind) == "Boolean"
        for kind in frame.dtypes
    )
    return [position for position, is_numeric in enumerate(numeric) if not is_numeric]


def frame_values(frame: Any) -> NDArray[Any]:
    """The numbers of a DataFrame.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    ndarray of float32 or float64, shape (n, d)
        NaN where a number is missing.

    Raises
    ------
    ArgumentError
        A column holds something else than numbers.
    """
    for place in columns_of_text(frame):
        found = f"column {frame.columns[place]!r} holds {list(frame.dtypes)[place]}"
        fix = "encode it as numbers, or leave it out; a column of ids is called id, or made the index"
        raise ArgumentError(found, where="X", expected="numbers", fix=fix)
    try:
        if not is_pandas(frame):
            columns = [np.asarray(one.to_numpy(), np.float64) for one in frame.get_columns()]
            return np.column_stack(columns) if columns else np.empty((len(frame), 0))
        small = all(np.can_cast(getattr(kind, "numpy_dtype", kind), np.float32) for kind in frame.dtypes)
        return np.asarray(frame.to_numpy(np.float32 if small else np.float64))
    except (TypeError, ValueError) as error:  # such as missing values among whole numbers
        raise ArgumentError(f"is no array: {error}", where="X") from None
