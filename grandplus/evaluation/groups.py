"""Accuracy of nodes of similar degree, or with a similar L1 error of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.evaluation.statistics import DECIMALS, over_trials

QUANTILE_GROUPS = 10  # at most, between quantiles


def accuracy_of_groups(
    values: Sequence[NDArray[Any]], edges: NDArray[Any], correct: Sequence[NDArray[np.bool_]], overlap: float = 0.0
) -> list[dict[str, float]]:
    """Accuracy of nodes of similar value, as means over trials.

    Parameters
    ----------
    values : sequence of ndarray, shape (n,)
        For each trial, what its nodes are grouped by; NaN leaves a node out.
    edges : ndarray, shape (g + 1,)
        Ascending. Group i holds values from edge i up to, but not including, edge i + 1; the last group holds its
        upper edge too.
    correct : sequence of ndarray of bool, shape (n,)
        For each trial, whether the node's prediction is right.
    overlap : float
        Of splits that are drawn anew for each trial, as of `over_trials`.

    Returns
    -------
    list of dict
        For each group that any trial has a node in: ``low`` and ``high`` (its edges), ``nodes`` (mean number per
        trial) and the accuracy's ``mean``, ``std`` and ``ci95`` over the trials that have such nodes.

    Examples
    --------
    >>> accuracy_of_groups([np.array([1, 2, 5])], np.array([1, 4, 8]), [np.array([True, False, True])])
    [{'low': 1, 'high': 4, 'nodes': 2.0, 'mean': 0.5}, {'low': 4, 'high': 8, 'nodes': 1.0, 'mean': 1.0}]
    """
    if len(edges) < 2:
        return []
    count, hits = (np.zeros((len(values), len(edges) - 1)) for _ in range(2))
    for trial, (keys, hit) in enumerate(zip(values, correct, strict=True)):
        known = ~np.isnan(keys)
        count[trial] = np.histogram(keys[known], edges)[0]
        hits[trial] = np.histogram(keys[known & hit], edges)[0]
    groups = []
    for number in np.flatnonzero(count.any(axis=0)):
        nodes, right = count[:, number], hits[:, number]
        low, high = _plain(edges[number]), _plain(edges[number + 1])
        group = {"low": low, "high": high, "nodes": round(float(nodes.mean()), 1)}
        groups.append(group | over_trials((right[nodes > 0] / nodes[nodes > 0]).tolist(), overlap=overlap))
    return groups


def powers_of_two(degrees: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Edges between groups of degrees: 0, 1, 2, 4, ... beyond the highest.

    Parameters
    ----------
    degrees : sequence of ndarray of int64, shape (n,)
        Of each trial's nodes.

    Examples
    --------
    >>> powers_of_two([np.array([0, 3])]).tolist()
    [0, 1, 2, 4]
    """
    highest = max(int(trial.max()) for trial in degrees)
    return np.concatenate([[0], 2 ** np.arange(highest.bit_length() + 1)])


def quantiles(errors: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Edges between groups of L1 errors with equally many nodes, all trials together.

    Parameters
    ----------
    errors : sequence of ndarray of float32, shape (n,)
        Of each trial's nodes; NaN where a node has no row.

    Returns
    -------
    ndarray of float64
        Empty where no node has a row; fewer than usual where many nodes have the same error.

    Examples
    --------
    >>> quantiles([np.array([0.0, 0.5, 1.0], np.float32)]).round(1).tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    known = np.concatenate(errors, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        return np.empty(0)
    first, *inner, last = 10**DECIMALS * np.quantile(known, np.linspace(0, 1, QUANTILE_GROUPS + 1))
    # Outwards at either end, where rounding could leave a node out.
    edges = np.unique([np.floor(first), *np.round(inner), np.ceil(last)]) / 10**DECIMALS
    return np.repeat(edges, 2) if len(edges) == 1 else edges


def _plain(number: Any) -> Any:
    return round(number.item(), DECIMALS)
