"""How a classifier makes rows of Π, and the baselines that use the same matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.estimator.parameters import Pushing
from grandplus.evaluation.baselines.scores import score_baselines
from grandplus.evaluation.baselines.table import BaselineScore
from grandplus.evaluation.orders import FAMILIES, suited_order
from grandplus.evaluation.suited import suited_top_k
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.rows import Rows


def suited_pushing(pushing: Pushing, given: dict[str, Any], graph: Graph, splits: Splits) -> Pushing:
    """The same, with the k and the order that an imported card would have, where none is given.

    Parameters
    ----------
    pushing : Pushing
    given : dict
        Parameters that are not None, by name.
    graph : Graph
    splits : Splits
    """
    matrix, push = pushing.matrix, pushing.gfpush
    if "top_k" not in given:
        push = push.model_copy(update={"top_k": suited_top_k(graph)})
    if "order" not in given and matrix.name in FAMILIES:
        matrix = matrix.model_copy(update={"order": suited_order(graph, splits.of(0), matrix.name, push)})
    return Pushing(matrix, push)


def rows_by(pushing: Pushing, graph: Graph, nodes: NDArray[np.int64]) -> Rows:
    """Rows of Π of some nodes."""
    matrix, settings = pushing.matrix, pushing.gfpush
    return gfpush(graph, nodes, weights=matrix.weights(), rmax=settings.rmax, top_k=settings.top_k, matrix=matrix.name)


def baselines_by(pushing: Pushing, graph: Graph, splits: Splits) -> list[BaselineScore]:
    """What cheap classifiers come to on the same splits."""
    each, settings = [splits.of(trial) for trial in range(splits.trials)], pushing.gfpush
    weights = pushing.matrix.weights()
    return score_baselines(graph, each, weights=weights, rmax=settings.rmax, top_k=settings.top_k)
