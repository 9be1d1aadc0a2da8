"""Weights of edges, as files have them: refused, left out or used, as the card says under ``source.read.weights``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.source import Reading
from grandplus.graph.edge_weights import checked_edge_weights, numbers_of
from grandplus.runtime.errors import GrandPlusError, argument_errors

_SAY = (
    "import it with --weights use, or with --weights ignore to count every edge once (source.read.weights in the card)"
)


def weights_read(values: Any, how: Reading, where: object) -> NDArray[np.float32] | None:
    """Weights as the graph takes them; None if edges count once each.

    Parameters
    ----------
    values : array_like of numbers, shape (E,) or (E, 1)
        Of all edges. Where it is 0, there is no edge.
    how : Reading
        ``weights`` says what becomes of them.
    where : object
        What holds them, for errors.

    Returns
    -------
    float32 (E,) or None

    Raises
    ------
    GrandPlusError
        Nothing says what becomes of weights other than 1, or one that is to be used is negative or no number.

    Examples
    --------
    >>> weights_read([1, 1], Reading(), "e.csv"), weights_read([2, 1], Reading(weights="ignore"), "e.csv")
    (None, None)
    >>> weights_read([2, 1], Reading(weights="use"), "e.csv").tolist()
    [2.0, 1.0]
    >>> weights_read([2, 1], Reading(), "e.csv")
    Traceback (most recent call last):
    grandplus.runtime.errors.GrandPlusError: e.csv: has an edge of weight 2; ...
    """
    if how.weights == "ignore":
        return None
    with argument_errors(where):
        given = numbers_of(values)
    given = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    if how.weights == "use":
        with argument_errors(where):
            return checked_edge_weights(given, len(given))
    other: Any = np.flatnonzero((given != 0) & (given != 1)) if given.ndim == 1 else []
    if given.ndim != 1:
        raise_weighted(f"has {given.shape[1:]} features of each edge", where)
    if len(other):
        raise_weighted(f"has an edge of weight {given[other[0]]:g}", where)
    return None


def raise_weighted(found: str, where: object) -> NoReturn:
    """Raise the error of edges that have weights, of which nothing says what becomes of them.

    Parameters
    ----------
    found : str
        Which weights there are.
    where : object
        The file.

    Raises
    ------
    GrandPlusError
    """
    raise GrandPlusError(found, where=where, expected="edges without weights", fix=_SAY)


def raise_further_columns(columns: Iterable[object], where: object) -> NoReturn:
    """Raise the error of an edge table that has more than the two ends, as weights or dates.

    Parameters
    ----------
    columns : iterable
        What the further ones are called.
    where : object
        The file.

    Raises
    ------
    GrandPlusError
    """
    found = f"has further columns: {', '.join(map(str, columns))}"
    expected = "the two ends of an edge only"
    raise GrandPlusError(found, where=where, expected=expected, fix=_SAY)


def raise_several(names: Iterable[object], where: object) -> NoReturn:
    """Raise the error of several columns or attributes that may be the weights.

    Parameters
    ----------
    names : iterable
        What they are called.
    where : object
        The file.

    Raises
    ------
    GrandPlusError
    """
    found = f"has several columns of edges that may be the weights: {', '.join(map(str, names))}"
    raise GrandPlusError(
        found, where=where, expected="one", fix="name it with --weight (source.read.weight in the card)"
    )


def check_unnamed(how: Reading, where: object) -> None:
    """Check that no column of weights is named where there is but one place for them.

    Parameters
    ----------
    how : Reading
    where : object
        The place.

    Raises
    ------
    GrandPlusError

    Examples
    --------
    >>> check_unnamed(Reading(), "a.npz")
    """
    if how.weight is not None:
        found, fix = (
            f"holds all weights, and {how.weight} is named",
            "leave --weight out (source.read.weight in the card)",
        )
        raise GrandPlusError(found, where=where, fix=fix)


def raise_without_weights(where: object, fix: str = "") -> NoReturn:
    """Raise the error of edges without weights where they are to be used.

    Parameters
    ----------
    where : object
        The file.
    fix : str
        What to do, if that isn't to leave an option out.

    Raises
    ------
    GrandPlusError
    """
    fix = fix or "import it without --weights use (source.read.weights in the card)"
    raise GrandPlusError("has no weights of edges", where=where, expected="weights, which are to be used", fix=fix)


def check_has_weights(
    weights: NDArray[np.float32] | None,
    how: Reading,
    where: object,
    fix: str = "",
) -> None:
    """Check that there are weights if they are to be used.

    Parameters
    ----------
    weights : float32 (E,) or None
        What a reader has found.
    how : Reading
    where : object
        The files.
    fix : str
        What to do.

    Raises
    ------
    GrandPlusError

    Examples
    --------
    >>> check_has_weights(None, Reading(), "e.csv")
    """
    if how.weights == "use" and weights is None:
        raise_without_weights(where, fix)
    if how.weight is not None and how.weights != "use":
        found = f"weight is {how.weight}, and weights are not used"
        raise GrandPlusError(found, where=where, fix="say --weights use, too (source.read.weights in the card)")
