"""GBP's propagation of features: pushes of what is large enough, for each feature by itself.

Source: M. Chen, Z. Wei, B. Ding, Y. Li, Y. Yuan, X. Du, J.-R. Wen. Scalable Graph Neural Networks via Bidirectional
Propagation. NeurIPS 2020. Its program for citation graphs has the backward push alone, and so has this module.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import types
from numpy.typing import NDArray

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.features import Features
from grandplus.kernels.compiled import FLOAT32, FLOAT64, IDS, INT64, jitable, kernel, matrix, writable
from grandplus.kernels.prefetch import LINE
from grandplus.runtime import pools


def push_features(
    adjacency: Adjacency,
    features: Features,
    *,
    alpha: float,
    rmax: float,
    exponent: float,
    out: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Σ α(1 - α)^l (D^(r-1) A D^-r)^l X, of each entry an estimate; A is without self-loops.

    With D^-r X = R⁺ - R⁻ and the walk D⁻¹A, which keeps residues between 0 and their maximum, the two are pushed apart:
    a node's residue above r_max · Σ R is passed on to its neighbours. So the error of an entry of node v and feature f
    is at most (1 - α) d_v^r r_max (Σ R⁺_f + Σ R⁻_f). A node without edges gets α times its own features.

    Parameters
    ----------
    adjacency : Adjacency of n nodes
    features : float32 (n, d), ndarray or scipy CSR
    alpha : float
        α, in (0, 1].
    rmax : float
        r_max, above 0.
    exponent : float
        r, in [0, 1].
    out : float32 (n, d)
        Where the result goes; may be memory-mapped.

    Returns
    -------
    float32 (n, d)
        ``out``; the same bytes for any number of threads.

    Examples
    --------
    Two nodes with an edge:

    >>> pair = Adjacency(np.array([0, 1, 2]), np.array([1, 0], np.int32))
    >>> x, out = np.array([[3], [0]], np.float32), np.empty((2, 1), np.float32)
    >>> push_features(pair, x, alpha=0.5, rmax=1e-9, exponent=0.5, out=out).round(3).tolist()
    [[2.0], [1.0]]
    """
    degrees = np.diff(adjacency.indptr)
    powers = np.maximum(degrees, 1).astype(np.float64) ** exponent
    indptr, indices = np.asarray(adjacency.indptr), np.asarray(adjacency.indices)
    columns = sp.csc_array(features) if sp.issparse(features) else features

    def push(start: int) -> None:
        part = columns[:, start : start + LINE]
        block = np.array(part.toarray() if sp.issparse(part) else part, np.float32, order="C")
        _push_block(indptr, indices, powers, alpha, rmax, block)
        out[:, start : start + LINE] = block

    for _ in pools.map_threads(push, range(0, out.shape[1], LINE)):
        pass
    return out


@kernel(INT64, IDS, FLOAT64, types.float64, types.float64, writable(matrix(FLOAT32)))
def _push_block(indptr, indices, powers, alpha, rmax, block):
    """Each column in place.

    An edge costs one access to memory: beside a node's residue, times its degree so that nothing is divided, stands the
    limit above which it has to be pushed. While it waits in the queue, its limit is infinite.
    """
    nodes = len(block)
    degrees = np.maximum(indptr[1:] - indptr[:-1], 1).astype(np.float64)  # without edges nothing is passed on
    state, reserve, queue = np.empty((nodes, 2)), np.empty(nodes), np.empty(nodes, np.int64)
    for column in range(block.shape[1]):
        reserve[:] = 0.0
        for sign in (1.0, -1.0):
            total = 0.0
            for v in range(nodes):
                residue = max(sign * block[v, column], 0.0) / powers[v]
                state[v, 0] = residue * degrees[v]
                total += residue
            if total > 0.0:
                _push(indptr, indices, degrees, alpha, rmax * total, sign, state, reserve, queue)
                for v in range(nodes):
                    reserve[v] += sign * alpha * state[v, 0] / degrees[v]  # of what is left, the step that stays
        for v in range(nodes):
            block[v, column] = np.float32(powers[v] * reserve[v])


@jitable
def _push(indptr, indices, degrees, alpha, bar, sign, state, reserve, queue):
    """Push, first in first out, until no residue is above the bar; the queue is a ring."""
    nodes, first, count = len(state), 0, 0
    for v in range(nodes):
        state[v, 1] = bar * degrees[v]
        if state[v, 0] > state[v, 1]:
            queue[count], state[v, 1] = v, np.inf
            count += 1
    while count:
        v = queue[first]
        first = first + 1 if first + 1 < nodes else 0
        count -= 1
        mass = state[v, 0] / degrees[v]
        state[v, 0], state[v, 1] = 0.0, bar * degrees[v]
        reserve[v] += sign * alpha * mass
        share = (1.0 - alpha) * mass
        for j in range(indptr[v], indptr[v + 1]):
            u = indices[j]
            state[u, 0] += share
            if state[u, 0] > state[u, 1]:
                last = first + count
                queue[last if last < nodes else last - nodes], state[u, 1] = u, np.inf
                count += 1
