"""The baselines of a run in words: a row for each, and the difference to the best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grandplus.evaluation.baselines.table import LABELS
from grandplus.evaluation.formats import percent, points, points_interval
from grandplus.evaluation.statistics import Interval
from grandplus.report.read import value_at

METHODS = {"grandplus": "GRAND+"}  # as people write them; others go by their own name


def baseline_rows(metrics: Mapping[str, Any], model: str) -> list[dict[str, str]]:
    """A table of the run and of its baselines.

    Parameters
    ----------
    metrics : mapping
        The content of ``reports/metrics.json``.
    model : str
        The method of the run.

    Returns
    -------
    list of dict of str
        Cells by the heads of their columns. Empty where the results have no baselines, as those of older code.

    Examples
    --------
    >>> majority = {"val": {"accuracy": {"mean": 0.25}}}
    >>> baseline_rows({"val": {"accuracy": {"mean": 0.75}}, "baselines": {"majority": majority}}, "grandplus")[1]
    {'on the same splits': 'majority class', 'test accuracy': '', 'validation accuracy': '25.00 %'}
    """
    known = {name: LABELS.get(name, name) for name in _names(metrics)}
    rows = {f"baselines.{name}.": label for name, label in known.items()}
    rows = rows and {"": METHODS.get(model, model), **rows}
    return [
        {
            "on the same splits": label,
            "test accuracy": _accuracy(metrics, f"{start}test.accuracy"),
            "validation accuracy": _accuracy(metrics, f"{start}val.accuracy"),
        }
        for start, label in rows.items()
    ]


def difference_line(metrics: Mapping[str, Any], model: str) -> str:
    """What the run has more than the best baseline, which validation chooses.

    Parameters
    ----------
    metrics : mapping
        The content of ``reports/metrics.json``.
    model : str
        The method of the run.

    Returns
    -------
    str
        Empty where the results have no such difference.

    Examples
    --------
    >>> difference = {"mean": 0.05, "std": 0.01, "ci95": 0.02}
    >>> metrics = {"test": {}, "baselines": {"best": "label_propagation", "difference": difference}}
    >>> difference_line(metrics, "grandplus")
    'GRAND+ minus label propagation: +5.00 points of test accuracy (95 % interval +3.00 to +7.00)'
    """
    best, mean = value_at(metrics, "baselines.best"), value_at(metrics, "baselines.difference.mean")
    half = value_at(metrics, "baselines.difference.ci95")
    if not isinstance(best, str) or not isinstance(mean, float | int):
        return ""
    part = "test" if "test" in metrics else "validation"
    line = f"{METHODS.get(model, model)} minus {LABELS.get(best, best)}: {points(mean)} points of {part} accuracy"
    if isinstance(half, float | int):
        interval = Interval(mean - half, mean + half)
        line += f" (95 % interval {points_interval(interval)})"
        line += "; no evidence of a difference" if interval.low <= 0 <= interval.high else ""
    return line


def _names(metrics: Mapping[str, Any]) -> list[str]:
    baselines = metrics.get("baselines")
    return [name for name in baselines if name not in ("best", "difference")] if isinstance(baselines, Mapping) else []


def _accuracy(metrics: Mapping[str, Any], key: str) -> str:
    mean, std = value_at(metrics, f"{key}.mean"), value_at(metrics, f"{key}.std")
    if not isinstance(mean, float | int):
        return ""
    return percent.with_std(mean, std) if isinstance(std, float | int) else percent(mean)
