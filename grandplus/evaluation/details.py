"""What the report shows beyond the metrics: a score for each trial, curves, and where the predictions are wrong.

Small whatever the graph's size, as of many test nodes a sample is listed, and kept with the run's other results:
``reports/details.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from grandplus.evaluation.curves import learning_curve
from grandplus.evaluation.groups import accuracy_of_groups, powers_of_two, quantiles
from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.reliability import expected_calibration_error, reliability
from grandplus.evaluation.scored import Scored, judged_by, select
from grandplus.evaluation.statistics import DECIMALS, overlap_of_trials
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import PARTS, Nodes, Splits
from grandplus.propagation.rows import Rows


def details(
    run: Mapping[str, Any],
    changed: Mapping[str, Any],
    *,
    graph: Graph,
    splits: Splits,
    rows: Rows | None,
    history: pa.Table,
    predictions: Sequence[pa.Table],
) -> dict[str, Any]:
    """Compute what the report's charts show.

    Parameters
    ----------
    run : mapping
        ``dataset``, ``model``, ``matrix``, ``seed`` and ``trials``.
    changed : mapping
        Settings that differ from those of the card, as ``{"train.lr": [the card's, the run's]}``.
    graph : Graph
    splits : Splits
    rows : Rows or None
        None for a method that uses none.
    history, predictions
        As for `grandplus.evaluation.plots.write_plots`.

    Returns
    -------
    dict
        The content of ``reports/details.json``: ``run`` and ``changed`` (as given), ``graph`` (facts), ``parts``
        (numbers of nodes), ``splits`` (a digest per trial: equal ones mean the same nodes to train on, validate and
        test), ``accuracy`` (``val`` and, where any has a label, ``test``: a value per trial), ``losses`` (means over
        trials) and, of the nodes of the part ``judged_by``, ``confusion`` (counts over all trials, a row for each
        actual class), ``reliability`` (``before`` and ``after`` calibration), ``by_degree`` and, if there are rows,
        ``by_l1_error`` (see `grandplus.evaluation.groups`), and ``node_scores`` (see
        `grandplus.evaluation.node_scores`).
    """
    part, classes = judged_by(predictions), graph.classes
    scored = {name: select(predictions, name, classes) for name in dict.fromkeys([part, "val"])}
    judged, correct = scored[part], [trial.correct for trial in scored[part]]
    trials = [splits.of(trial) for trial in range(splits.trials)]
    nodes = [_labelled(getattr(split, part), graph) for split in trials]  # in the order of the predictions
    degrees = [graph.adjacency.degrees[chosen] - 1 for chosen in nodes]
    facts = {key: value for key, value in graph.facts.items() if key != "format_version"}
    facts["mean_degree"] = round(len(graph.adjacency.indices) / graph.adjacency.nodes, 2)
    facts |= _of_edges(graph.adjacency)
    content: dict[str, Any] = {
        "run": dict(run),
        "changed": dict(changed),
        "graph": facts,
        "parts": {name: len(getattr(trials[0], name)) for name in PARTS},
        "splits": [split.digest() for split in trials],
        "classes": classes,
        "accuracy": {name: _accuracies(chosen) for name, chosen in scored.items()},
        "losses": _losses(history),
        "judged_by": part,
        "confusion": _confusion(judged, len(classes)),
        "reliability": {
            "before": _reliability([trial.confidence for trial in judged], correct),
            "after": _reliability([trial.calibrated for trial in judged], correct),
        },
    }
    overlap = overlap_of(content)
    content["by_degree"] = accuracy_of_groups(degrees, powers_of_two(degrees), correct, overlap)
    content["node_scores"] = NodeScores.of(nodes, correct, graph.labels).to_json()
    if rows is not None:
        errors = _l1_errors(rows, nodes, graph.adjacency.nodes)
        content["by_l1_error"] = accuracy_of_groups(errors, quantiles(errors), correct, overlap)
    return content


def overlap_of(details: Mapping[str, Any], trials: int | None = None) -> float:
    """The overlap of a run's trials, see `overlap_of_trials`: of their training nodes and those that judge them.

    Parameters
    ----------
    details : mapping
        The content of ``reports/details.json``.
    trials : int, optional
        Of so many of the first trials; by default of all.

    Returns
    -------
    float
        0 if all these trials have the same split.

    Examples
    --------
    >>> content = {"splits": ["3f", "a0"], "parts": {"train": 160, "test": 7250}, "judged_by": "test"}
    >>> overlap_of(content) == 160 / 7250, overlap_of(content | {"splits": ["3f", "3f"]})
    (True, 0.0)
    """
    splits, parts = details["splits"][:trials], details["parts"]
    nodes = {"train": parts["train"], "test": parts[details["judged_by"]]}
    return overlap_of_trials(trials=len(splits), splits=len(set(splits)), **nodes)


def _of_edges(adjacency: Adjacency) -> dict[str, str]:
    """What edges have beside their ends; nothing of most graphs."""
    weights = {} if adjacency.weights is None else {"edge_weights": "used"}
    return weights | ({} if adjacency.symmetric else {"direction": adjacency.direction})


def _labelled(nodes: Nodes, graph: Graph) -> Nodes:
    return nodes[graph.labels[nodes] >= 0]


def _l1_errors(rows: Rows, nodes: Sequence[Nodes], total: int) -> list[NDArray[np.float32]]:
    """Of each trial's nodes; NaN where a node has no row."""
    errors = np.full(total, np.nan, np.float32)
    errors[rows.node] = rows.l1_error
    return [errors[chosen] for chosen in nodes]


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


def _list(values: NDArray[Any]) -> list[float]:
    return [round(value.item(), DECIMALS) for value in values]
