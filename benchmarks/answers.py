"""How long is one prediction? Milliseconds of a call for one node, and nodes a second in bulk, with ten models.

Beside it, the same node the plain way: a row of Π by ``gfpush``, its product with the features by scipy, and each MLP
on the dense result. The models are untrained, which takes as long. Prints a JSON line for each dataset. Ends with 1 if
a probability differs by more than 1e-5:

    python -m benchmarks.answers
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from benchmarks.lines import print_line
from grandplus.graph.graph import Graph
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.model import Model
from grandplus.methods.grandplus.settings import Settings
from grandplus.pipeline.cases import BEST_MATRIX, Case, graph_folder
from grandplus.prediction.calibration import Calibration
from grandplus.prediction.predictor import ROW_ENTRIES, Predictor
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.rows import RowsInfo

TRIALS = 10
CALLS, BULK = 32, 2048  # nodes that are asked for one by one, and at once
REPEATS = 5
TOLERANCE = 1e-5


def main() -> int:
    lines = [measure(dataset) for dataset in BEST_MATRIX]
    return 0 if all(line["right"] for line in lines) else 1


def measure(dataset: str, calls: int = CALLS, bulk: int = BULK) -> dict[str, Any]:
    predictor = untrained(Case(dataset, BEST_MATRIX[dataset]))
    nodes = np.random.default_rng(0).choice(predictor.graph.adjacency.nodes, bulk, replace=False)
    predictor.predict(nodes[:1]), plain(predictor, nodes[0])  # compile
    ours, others, error = [], [], 0.0
    for node in nodes[:calls]:
        seconds, predicted = _best(functools.partial(predictor.predict, [node]))
        plain_seconds, expected = _best(functools.partial(plain, predictor, node))
        ours.append(seconds)
        others.append(plain_seconds)
        error = max(error, float(np.abs(predicted.probabilities - expected).max()))
    together, _ = _best(lambda: predictor.predict(nodes))
    cpu_time, _ = _best(lambda: predictor.predict(nodes), time.process_time)
    return print_line(
        benchmark="answers", dataset=dataset, matrix=predictor.info.matrix, models=TRIALS,
        ms_a_call=1e3 * float(np.mean(ours)), plain_ms=1e3 * float(np.mean(others)), to_plain=sum(others) / sum(ours),
        nodes_per_s=bulk / together, cpu_ms_a_node=1e3 * cpu_time / bulk,
        largest_error=error, right=error <= TOLERANCE,
    )  # fmt: skip


def untrained(case: Case) -> Predictor:
    """What `Predictor.load` would give, but for the values of the models."""
    settings = case.settings(TRIALS)
    graph, weights = Graph.load(graph_folder(settings)), tuple(settings.matrix.weights())
    push, models = settings.gfpush, []
    assert isinstance(settings.train, Settings)
    for trial in range(TRIALS):
        torch.manual_seed(trial)
        mlp = MLP(graph.features.shape[1], len(graph.classes), settings.train)
        models.append(Model(mlp=mlp, weights=weights, classes=graph.classes, settings=settings.train))
    info = RowsInfo(case.matrix, weights, push.rmax, push.top_k, graph.adjacency.nodes, graph.adjacency.fingerprint)
    return Predictor(graph, models, info, Calibration((1.0,) * TRIALS, None))


def plain(predictor: Predictor, node: int) -> NDArray[np.float32]:
    """Probabilities (1, C) of one node, step by step."""
    graph, info, models = predictor.stored_graph, predictor.info, predictor.models
    rows = gfpush(graph, [node], weights=info.weights, rmax=info.rmax, top_k=ROW_ENTRIES)
    inputs = (rows.to_csr() @ sp.csr_array(graph.features)).toarray()
    settings = models[0].settings
    inputs *= 1 / rows.values.sum() if settings.renormalize else 1 - settings.dropnode
    return predictor.calibration.combine(model.probabilities_of(inputs) for model in models if isinstance(model, Model))


def _best(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Seconds of the best of ``REPEATS``, and the result."""
    seconds = []
    for _ in range(REPEATS):
        start = clock()
        result = work()
        seconds.append(clock() - start)
    return min(seconds), result


if __name__ == "__main__":
    sys.exit(main())
