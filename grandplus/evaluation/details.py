"""What the report shows beyond the metrics: a score for each trial, curves, and where the predictions are wrong.

Small whatever the graph's size, and kept with the run's other results: ``reports/details.json``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from grandplus.evaluation.curves import learning_curve
from grandplus.evaluation.metrics import Scored, judged_by, select
from grandplus.evaluation.reliability import expected_calibration_error, reliability
from grandplus.evaluation.statistics import DECIMALS, over_trials
from grandplus.graph.graph import Graph
from grandplus.graph.splits import PARTS, Nodes, Split, Splits
from grandplus.propagation.rows import Rows

GROUPS = 10  # of nodes by row L1 error


def details(
    run: Mapping[str, Any],
    changed: Mapping[str, Any],
    *,
    graph: Graph,
    splits: Splits,
    rows: Rows,
    history: pa.Table,
    predictions: Sequence[pa.Table],
) -> dict[str, Any]:
    """The content of ``reports/details.json``.

    Parameters
    ----------
    run : dataset, model, matrix, seed and trials
    changed : settings that differ from those of the card, as {"train.lr": [the card's, the run's]}
    history, predictions : as for `grandplus.evaluation.plots.write_plots`

    Returns
    -------
    ``run`` and ``changed`` (as given), ``graph`` (facts), ``parts`` (numbers of nodes), ``splits`` (a digest a
    trial: equal ones mean the same nodes to train on, validate and test), ``accuracy`` (``val`` and, where any has
    a label, ``test``: a value a trial), ``losses`` (means over trials) and, of the nodes that ``judged_by`` names,
    ``confusion`` (counts over all trials, a row for each actual class), ``reliability`` (``before`` and ``after``
    calibration), ``by_degree`` and ``by_l1_error`` (see `accuracy_of_groups`).
    """
    part, classes = judged_by(predictions), graph.classes
    parts = {name: select(predictions, name, classes) for name in dict.fromkeys([part, "val"])}
    judged = parts[part]
    splits_of = [splits.of(trial) for trial in range(splits.trials)]
    wanted: list[Nodes] = [getattr(split, part) for split in splits_of]
    nodes = [of[graph.labels[of] >= 0] for of in wanted]  # in the order of the predictions
    degree = round(len(graph.adjacency.indices) / graph.adjacency.nodes, 2)
    degrees = [graph.adjacency.degrees[of] - 1 for of in nodes]
    l1_error = np.full(graph.adjacency.nodes, np.nan, np.float32)  # where there is no row
    l1_error[rows.node] = rows.l1_error
    errors = [l1_error[of] for of in nodes]
    correct = [trial.correct for trial in judged]
    confidence = {"before": [trial.confidence for trial in judged], "after": [trial.calibrated for trial in judged]}
    return {
        "run": dict(run),
        "changed": dict(changed),
        "graph": {key: value for key, value in graph.facts.items() if key != "format_version"}
        | {"mean_degree": degree},
        "parts": {name: len(getattr(splits_of[0], name)) for name in PARTS},
        "splits": [_digest(split) for split in splits_of],
        "classes": classes,
        "accuracy": {name: _accuracies(trials) for name, trials in parts.items()},
        "losses": _losses(history),
        "judged_by": part,
        "confusion": _confusion(judged, len(classes)),
        "reliability": {when: _reliability(of, correct) for when, of in confidence.items()},
        "by_degree": accuracy_of_groups(degrees, _powers_of_two(degrees), correct),
        "by_l1_error": accuracy_of_groups(errors, _quantiles(errors), correct),
    }


def accuracy_of_groups(
    values: Sequence[NDArray[Any]], edges: NDArray[Any], correct: Sequence[NDArray[np.bool_]]
) -> list[dict[str, float]]:
    """Accuracy of nodes of similar value, as means over trials.

    Parameters
    ----------
    values : one array a trial, with what each node is grouped by; NaN leaves a node out
    edges : (g + 1,), ascending; group i holds values from edge i up to, but not including, edge i + 1; the last
        one holds that too
    correct : one array a trial, whether the node's prediction is right

    Returns
    -------
    For each group that any trial has a node in: ``low`` and ``high`` (the edges), ``nodes`` (mean number a trial)
    and the accuracy's ``mean``, ``std`` and ``ci95`` over the trials that have some.

    >>> accuracy_of_groups([np.array([1, 2, 5])], np.array([1, 4, 8]), [np.array([True, False, True])])
    [{'low': 1, 'high': 4, 'nodes': 2.0, 'mean': 0.5}, {'low': 4, 'high': 8, 'nodes': 1.0, 'mean': 1.0}]
    """
    if len(edges) < 2:
        return []
    count, right = (np.zeros((len(values), len(edges) - 1)) for _ in range(2))
    for trial, (of, hit) in enumerate(zip(values, correct, strict=True)):
        known = ~np.isnan(of)
        count[trial] = np.histogram(of[known], edges)[0]
        right[trial] = np.histogram(of[known & hit], edges)[0]
    groups = []
    for number in np.flatnonzero(count.any(axis=0)):
        held, hits = count[:, number], right[:, number]
        group = {"low": _plain(edges[number]), "high": _plain(edges[number + 1]), "nodes": round(float(held.mean()), 1)}
        groups.append(group | over_trials((hits[held > 0] / held[held > 0]).tolist()))
    return groups


def _powers_of_two(degrees: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """0, 1, 2, 4, ... beyond the highest degree."""
    highest = max(int(of.max()) for of in degrees)
    return np.concatenate([[0], 2 ** np.arange(highest.bit_length() + 1)])


def _quantiles(errors: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Edges between equally many nodes, all trials together; fewer where many nodes have the same error."""
    known = np.concatenate(errors, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        return np.empty(0)
    first, *inner, last = 10**DECIMALS * np.quantile(known, np.linspace(0, 1, GROUPS + 1))
    # Outwards at either end, where rounding could leave a node out.
    edges = np.unique([np.floor(first), *np.round(inner), np.ceil(last)]) / 10**DECIMALS
    return np.repeat(edges, 2) if len(edges) == 1 else edges


def _digest(split: Split) -> str:
    digest = hashlib.sha256()
    for nodes in (split.train, split.val, split.test):
        digest.update(len(nodes).to_bytes(8, "little"))
        digest.update(nodes.astype("<i8").data)
    return digest.hexdigest()[:16]


def _accuracies(trials: Sequence[Scored]) -> list[float]:
    return [round(float(trial.correct.mean()), DECIMALS) for trial in trials]


def _losses(history: pa.Table) -> dict[str, list[float]]:
    train, val = learning_curve(history, "train_loss"), learning_curve(history, "val_loss")
    means = {"train": train.mean, "val": val.mean}
    return {"step": train.steps[: train.common].tolist()} | {key: _list(mean) for key, mean in means.items()}


def _confusion(trials: Sequence[Scored], classes: int) -> list[list[int]]:
    numbers = range(classes)
    counts = np.sum([confusion_matrix(trial.label, trial.predicted, labels=numbers) for trial in trials], axis=0)
    return [[int(count) for count in row] for row in counts]


def _reliability(confidence: Sequence[NDArray[Any]], correct: Sequence[NDArray[np.bool_]]) -> dict[str, Any]:
    """Bins over all trials together, of those that hold any; the error as in the metrics, a mean over trials."""
    bins = reliability(np.concatenate(confidence), np.concatenate(correct))
    filled = bins.count > 0
    ece = [expected_calibration_error(*trial) for trial in zip(confidence, correct, strict=True)]
    return {
        "ece": round(float(np.mean(ece)), DECIMALS),
        "bin": np.flatnonzero(filled).tolist(),
        "count": bins.count[filled].tolist(),
        "confidence": _list(bins.confidence[filled]),
        "accuracy": _list(bins.accuracy[filled]),
    }


def _plain(number: Any) -> Any:
    return round(number.item(), DECIMALS)


def _list(values: NDArray[Any]) -> list[float]:
    return [_plain(value) for value in values]
