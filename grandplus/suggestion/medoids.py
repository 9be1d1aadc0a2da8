"""Greedy k-medoids: one representative after the other, each the one that brings the others nearest to one.

This is the first phase, BUILD, of PAM: L. Kaufman, P. J. Rousseeuw. Finding groups in data. Wiley, 1990, chapter 2.
What a representative gains never grows as others are chosen. So the gains of earlier steps are bounds, and few are
computed anew: M. Minoux. Accelerated greedy algorithms for maximizing submodular set functions. Optimization
Techniques, 1978. The sum of gains is at least 1 - 1/e of the best: G. L. Nemhauser, L. A. Wolsey, M. L. Fisher. An
analysis of approximations for maximizing submodular set functions, I. Mathematical Programming, 1978.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from grandplus.kernels.compiled import FLOAT32, FLOAT64, INT64, jitable, kernel, matrix, writable
from grandplus.runtime import pools

BATCH = 32  # candidates whose gains are computed anew at a time
TASK = 256  # candidates of a thread at a time
BLOCK = 512  # points whose rows stay in the cache


class Medoids(NamedTuple):
    """Representatives, in the order in which they were chosen.

    Attributes
    ----------
    chosen : int64 (b,)
        Numbers of candidates.
    gains : float64 (b,)
        By how much each lowered the weighted sum of distances.
    nearest : int64 (p,)
        The place in ``chosen`` of the representative that a point is nearest to; -1 where a point was as near to
        something else before.
    """

    chosen: NDArray[np.int64]
    gains: NDArray[np.float64]
    nearest: NDArray[np.int64]


def greedy_medoids(
    points: NDArray[np.float32],
    weights: NDArray[np.float64],
    candidates: NDArray[np.float32],
    count: int,
    *,
    near: NDArray[np.float32],
    farthest: float,
) -> Medoids:
    """Choose candidates one after the other, each the one with the largest gain Σᵢ wᵢ max(0, dᵢ - ‖xᵢ - y‖).

    dᵢ is the distance of point i to the nearest representative so far. Of equal gains the first candidate's is taken.
    Distances are in float32 and sums in float64, in a fixed order: the result is the same for any number of workers.

    Parameters
    ----------
    points : float32 (p, r)
        The xᵢ, which are to be represented.
    weights : float64 (p,)
        The wᵢ, not negative.
    candidates : float32 (c, r)
    count : int
        How many to choose, at most c.
    near : float32 (a, r)
        What represents points already; may be empty.
    farthest : float
        dᵢ as long as nothing represents a point: the largest distance that there may be.

    Returns
    -------
    Medoids

    Examples
    --------
    Of five points on a line, the one in the middle comes first, then the one far from it:

    >>> line = np.array([[0], [1], [2], [3], [9]], np.float32)
    >>> chosen, gains, nearest = greedy_medoids(line, np.ones(5), line, 2, near=line[:0], farthest=10)
    >>> chosen.tolist(), gains.tolist(), nearest.tolist()
    ([2, 4], [39.0, 7.0], [0, 0, 0, 0, 1])
    """
    columns = np.ascontiguousarray(points.T)
    distances = np.full(len(points), farthest, np.float32)
    nearest = np.full(len(points), -1)
    for known in near:
        _approach(columns, known, -1, distances, nearest)

    def gains_of(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        gains = np.empty(len(numbers))
        _gains(columns, distances, weights, candidates[numbers], gains)
        return gains

    tasks = np.array_split(np.arange(len(candidates)), -(-len(candidates) // TASK) or 1)
    bounds = np.concatenate(list(pools.map_threads(gains_of, tasks)))
    fresh = np.ones(len(candidates), bool)
    chosen, gained = np.empty(count, np.int64), np.empty(count)
    for place in range(count):
        while not fresh[best := int(bounds.argmax())]:
            stale = np.flatnonzero(~fresh & (bounds >= 0))
            highest = stale[np.argsort(-bounds[stale], kind="stable")[:BATCH]]
            bounds[highest], fresh[highest] = gains_of(highest), True
        chosen[place], gained[place] = best, bounds[best]
        _approach(columns, candidates[best], place, distances, nearest)
        bounds[best], fresh = -1.0, np.zeros(len(candidates), bool)
    return Medoids(chosen, gained, nearest)


@kernel(matrix(FLOAT32), FLOAT32, FLOAT64, matrix(FLOAT32), writable(FLOAT64))
def _gains(columns, distances, weights, candidates, gains):
    """The gain of each candidate; ``columns`` has a point in each column."""
    squares = np.empty(BLOCK, np.float32)
    gains[:] = 0
    for start in range(0, columns.shape[1], BLOCK):
        count = min(BLOCK, columns.shape[1] - start)
        for number in range(len(candidates)):
            _squared_distances(columns, candidates[number], start, count, squares)
            gain = gains[number]
            for point in range(count):
                nearer = distances[start + point] - np.sqrt(squares[point])
                gain += weights[start + point] * max(nearer, np.float32(0))
            gains[number] = gain


@kernel(matrix(FLOAT32), FLOAT32, types.int64, writable(FLOAT32), writable(INT64))
def _approach(columns, center, place, distances, nearest):
    """Note the points that are nearer to a center than to anything before."""
    squares = np.empty(BLOCK, np.float32)
    for start in range(0, columns.shape[1], BLOCK):
        count = min(BLOCK, columns.shape[1] - start)
        _squared_distances(columns, center, start, count, squares)
        for point in range(count):
            distance = np.sqrt(squares[point])
            if distance < distances[start + point]:
                distances[start + point], nearest[start + point] = distance, place


@jitable
def _squared_distances(columns, center, start, count, squares):
    """To ``count`` points from ``start`` on; column by column, so that many points are computed at once."""
    squares[:count] = 0
    for column in range(len(center)):
        of_points, value = columns[column, start : start + count], center[column]
        for point in range(count):
            difference = of_points[point] - value
            squares[point] += difference * difference
