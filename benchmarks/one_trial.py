"""How long is one whole trial? Rows, training to its early stop and inference, in seconds of one core.

Beside it, the same work the plain way: rows by a push with hash maps, as many steps of plain PyTorch (of which some are
measured), and power iteration by scipy. Prints a JSON line for each dataset. Ends with 1 if rows or probabilities
differ from the plain ones:

    python -m benchmarks.one_trial
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.lines import print_line
from benchmarks.plain_push import errors_of, hash_map
from benchmarks.power import mixed, walk_of
from benchmarks.training import run
from grandplus.methods.grandplus.method import Plain, fit
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.cases import BEST_MATRIX, Case, prepare
from grandplus.propagation.gfpush import gfpush

CHECKED_ROWS = 32
TOLERANCE = 1e-5  # of a probability


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=["cora"], choices=list(BEST_MATRIX))
    parser.add_argument("--plain-steps", type=int, default=300)
    options = parser.parse_args()
    os.environ["GRANDPLUS_WORKERS"] = "1"
    torch.set_num_threads(1)
    lines = [measure(Case(dataset, BEST_MATRIX[dataset]), options.plain_steps) for dataset in options.datasets]
    return 0 if all(line["right"] for line in lines) else 1


def measure(case: Case, plain_steps: int) -> dict[str, Any]:
    prepared = prepare(case, 1)
    graph, split, settings = prepared.graph, prepared.splits.of(0), prepared.settings
    train = settings.train
    assert isinstance(train, Settings)
    w, push = np.array(settings.matrix.weights()), settings.gfpush
    nodes, features = prepared.splits.needing_rows(), graph.features
    gfpush(graph, nodes[:1], weights=w, rmax=push.rmax, top_k=push.top_k)  # compile
    hash_map(graph.adjacency, nodes[:1], w, push.rmax, push.top_k)
    brief = train.model_copy(update={"max_epochs": 1})
    fit(Task(graph, split, prepared.rows), brief).model.predict_proba(graph)
    seconds, plain = {}, {}

    seconds["rows"], rows = _timed(lambda: gfpush(graph, nodes, weights=w, rmax=push.rmax, top_k=push.top_k))
    seconds["training"], trained = _timed(lambda: fit(Task(graph, split, rows, seed=[settings.seed, 0]), train))
    model, steps = trained.model, int(trained.model.info["steps"])
    seconds["inference"], probabilities = _timed(lambda: model.predict_proba(graph))

    plain["rows"], _ = _timed(lambda: hash_map(graph.adjacency, nodes, w, push.rmax, push.top_k))
    plain["training"] = 1e-3 * steps * run(Plain, case, plain_steps, trial=0)["mean"]
    walk = walk_of(graph.adjacency)
    scale = np.float32(1 if train.renormalize else 1 - train.dropnode)

    def infer() -> Any:
        dense = np.asarray(features.toarray() if hasattr(features, "toarray") else features, np.float32)
        return model.probabilities_of(scale * mixed(lambda y: walk @ y, dense, w))

    plain["inference"], expected = _timed(infer)
    rows_right = errors_of(graph.adjacency, rows.of(nodes[:: max(1, len(nodes) // CHECKED_ROWS)]), w, push.rmax)
    error = float(np.abs(probabilities - expected).max())
    return print_line(
        benchmark="one_trial", dataset=case.dataset, matrix=case.matrix, steps=steps, seconds=seconds, plain=plain,
        whole=sum(seconds.values()), to_plain_trial=sum(plain.values()) / sum(seconds.values()),
        largest_error=error, right=rows_right["right"] and error <= TOLERANCE,
    )  # fmt: skip


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


if __name__ == "__main__":
    sys.exit(main())
