"""The metrics of a run in words: as lines for one run, or as columns of a table of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from grandplus.evaluation.metrics import METRICS, PARTS, Metric
from grandplus.report.read import value_at


def score_lines(metrics: Mapping[str, Any]) -> dict[str, str]:
    """All metrics of a run; its baselines are in `grandplus.report.baselines`.

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
        if part in metric.parts and part != "baselines"
    }
    return {name: text for name, text in lines.items() if text}


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
