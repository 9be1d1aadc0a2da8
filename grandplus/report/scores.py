"""The metrics of a run in words: as lines for one run, or as columns of a table of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from grandplus.evaluation.metric import PARTS, Metric
from grandplus.evaluation.metrics import METRICS
from grandplus.report.read import value_at


def score_lines(metrics: Mapping[str, Any]) -> dict[str, str]:
    """The metrics of a run that `Metric` has a line for; its baselines are in `grandplus.report.baselines`.

    Parameters
    ----------
    metrics : mapping
        The content of ``reports/metrics.json``; what it lacks, as results of older code do, is left out.

    Returns
    -------
    dict of str
        Values by name, part by part.

    Examples
    --------
    >>> score_lines({"val": {"accuracy": {"mean": 0.8854, "std": 0.0046, "ci95": 0.0033}, "ece": {"mean": 0.0826}}})
    {'validation accuracy': '88.54 % ± 0.46, 95 % CI 88.2–88.9', 'validation ECE': '0.083'}
    """
    lines = {
        metric.name(part): _text(metrics, part, metric, interval=True)
        for part in PARTS
        for metric in METRICS
        if part in metric.parts and part not in metric.only_in_json and part != "baselines"
    }
    lines = {name: text for name, text in lines.items() if text}
    return lines | _nodes_of_ensemble(metrics)


def score_columns(metrics: Mapping[str, Any], *, intervals: bool) -> dict[str, str]:
    """The metrics by which runs are compared, each a column of a table.

    Parameters
    ----------
    metrics : mapping
        As for `score_lines`; what it lacks is empty.
    intervals : bool
        Whether means over trials come with their 95 % intervals, beside the standard deviation.

    Examples
    --------
    >>> metrics = {"val": {"accuracy": {"mean": 0.8854, "std": 0.0046, "ci95": 0.0033}}}
    >>> score_columns(metrics, intervals=False)["validation accuracy"]
    '88.54 % ± 0.46'
    """
    return {
        metric.name(part): _text(metrics, part, metric, interval=intervals)
        for metric in METRICS
        for part in metric.in_tables
    }


def _nodes_of_ensemble(metrics: Mapping[str, Any]) -> dict[str, str]:
    """How many nodes the ensemble's accuracy is of: with random splits they may be few, or none."""
    nodes = value_at(metrics, "predictions.nodes")
    if not isinstance(nodes, int):
        return {}
    text = f"{nodes:,} nodes, which no trial trained on or validated with"
    return {"ensemble judged by": text if nodes else "no node, as each one with a label trained or validated a trial"}


def _text(metrics: Mapping[str, Any], part: str, metric: Metric, *, interval: bool) -> str:
    score = value_at(metrics, f"{part}.{metric.key}")
    if not isinstance(score, float | int):
        return ""
    if not metric.spreads:
        return metric.written(score)
    summary = value_at(metrics, f"{part}.{metric.key.removesuffix('.mean')}")
    if interval:
        return metric.written.summary(summary)
    return metric.written.with_std(score, summary.get("std", math.nan))
