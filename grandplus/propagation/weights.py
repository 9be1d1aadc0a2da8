"""The weights w_0..w_N that make a propagation matrix Π = Σ wₙPⁿ (the paper's Eq. 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grandplus.errors import GrandPlusError


def weights(
    matrix: str, *, order: int | None = None, alpha: float | None = None, custom: Sequence[float] | None = None
) -> NDArray[np.float64]:
    """w_0..w_N, non-negative and summing to 1.

    Parameters
    ----------
    matrix : ``ppr`` (truncated personalised PageRank α(1-α)ⁿ, renormalised to sum to 1),
        ``avg`` (average pooling), ``single`` (Pᴺ alone) or ``custom``
    order : N, for all but custom
    alpha : teleport probability, for ppr
    custom : the weights themselves, for custom

    Returns
    -------
    float64 (N + 1,)

    >>> weights("avg", order=3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    >>> weights("ppr", order=2, alpha=0.5).round(4).tolist()
    [0.5714, 0.2857, 0.1429]
    """
    if matrix == "custom":
        w = checked_weights(custom if custom is not None else [])
        return np.asarray(w / w.sum())
    if order is None or order < 0:
        raise GrandPlusError(f"order is {order}", expected="a whole number of at least 0")
    if matrix == "avg":
        return np.full(order + 1, 1 / (order + 1))
    if matrix == "single":
        return np.asarray(np.eye(order + 1)[order])
    if matrix == "ppr":
        if alpha is None or not 0 < alpha <= 1:
            raise GrandPlusError(f"alpha is {alpha}", expected="a number above 0 and at most 1")
        unnormalised = alpha * (1 - alpha) ** np.arange(order + 1)
        return np.asarray(unnormalised / unnormalised.sum())
    raise GrandPlusError(f"matrix is {matrix!r}", expected="ppr, avg, single or custom")


def checked_weights(values: ArrayLike) -> NDArray[np.float64]:
    """w_0..w_N as a float64 array, if that is what they are.

    Raises
    ------
    GrandPlusError : a weight is negative or NaN, or their sum is not 1.
    """
    w = np.asarray(values, np.float64, order="C")
    if w.ndim != 1 or not len(w) or not np.all(w >= 0) or abs(w.sum() - 1) > 1e-6:
        raise GrandPlusError(
            f"the weights {w.tolist()} sum to {w.sum():g}", expected="w_0..w_N, at least 0 and summing to 1"
        )
    return w
