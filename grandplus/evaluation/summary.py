"""What all metrics come to for a run: the content of ``reports/metrics.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.evaluation.baselines.table import BaselineScore, accuracies_of, summarize_baselines
from grandplus.evaluation.metrics import METRICS
from grandplus.evaluation.ranking import Ranking
from grandplus.evaluation.scored import Scored, ScoredEnsemble, judged_by, select
from grandplus.evaluation.statistics import DECIMALS, over_trials


def summarize(
    predictions: Sequence[pa.Table],
    classes: Sequence[str],
    *,
    l1_error: NDArray[np.float32] | None = None,
    ensemble: ScoredEnsemble | None = None,
    baselines: Sequence[BaselineScore] | None = None,
    rankings: Mapping[str, Sequence[Ranking]] | None = None,
    overlap: float = 0.0,
) -> dict[str, Any]:
    """Compute all metrics of a run.

    Parameters
    ----------
    predictions : sequence of pyarrow.Table
        One per trial, at least one; see `grandplus.evaluation.scored`.
    classes : sequence of str
        Class names, by class number.
    l1_error : ndarray of float32, shape (rows,), optional
        L1 error of each row of Π; None for a method that uses none.
    ensemble : ScoredEnsemble, optional
        What the mean of the trials predicts.
    baselines : sequence of BaselineScore, optional
        What cheap classifiers come to in each of the trials.
    rankings : mapping, optional
        How each trial ranks its nodes, by part; see `grandplus.evaluation.scored.load_rankings`.
    overlap : float
        Of splits that are drawn anew for each trial; see `grandplus.evaluation.details.overlap_of`. It widens the
        intervals of means and of the difference to the best baseline, as it does between two runs.

    Returns
    -------
    dict
        The content of ``reports/metrics.json``: numbers by part and key, as nested dicts, and the name of the best
        baseline. ``test`` is left out where no trial has a test node with a known label, ``rows`` and ``baselines``
        where there are none. ``std`` (divisor n - 1) and ``ci95`` (half-width of the t interval over trials) are left
        out for a single trial.

    Raises
    ------
    GrandPlusError
        A trial has no labelled test node, though others have, or no validation node; a class number is beyond
        `classes`; a confidence is impossible.
    """
    judged = judged_by(predictions)
    scored = {part: select(predictions, part, classes) for part in dict.fromkeys([judged, "val"])}
    for part in scored.keys() & (rankings or {}).keys():
        pairs = zip(scored[part], (rankings or {})[part], strict=True)
        scored[part] = [trial._replace(ranking=ranking) for trial, ranking in pairs]
    content = {part: _measured(part, trials, overlap) for part, trials in scored.items()}
    if baselines is not None:
        content["baselines"] = _compared(baselines, judged, scored[judged], overlap)
    if l1_error is not None:
        content["rows"] = _measured("rows", [l1_error])
    if ensemble is not None:
        nodes = len(ensemble.correct)
        content["predictions"] = {"nodes": nodes} | (_measured("predictions", [ensemble]) if nodes else {})
    return content


def _compared(
    baselines: Sequence[BaselineScore], part: str, trials: Sequence[Scored], overlap: float
) -> dict[str, Any]:
    """The baselines, and what the run has more than the best of them in each trial."""
    content = summarize_baselines(baselines, overlap=overlap)
    others = accuracies_of(baselines, content.get("best", ""), part)
    if len(others) == len(trials):
        leads = [float(trial.correct.mean()) - other for trial, other in zip(trials, others, strict=True)]
        content |= _measured("baselines", leads, overlap)
    return content


def _measured(part: str, trials: Sequence[Any], overlap: float = 0.0) -> dict[str, Any]:
    """The metrics of one part, as nested dicts: means over its trials."""
    content: dict[str, Any] = {}
    for metric in METRICS:
        if part not in metric.parts:
            continue
        scores = [score for trial in trials if (score := metric.score(trial)) is not None]
        if scores:
            *path, name = metric.key.split(".")
            group = content
            for step in path:
                group = group.setdefault(step, {})
            mean = {name: round(float(np.mean(scores)), DECIMALS)}
            group |= over_trials(scores, overlap=overlap) if metric.spreads else mean
    return content
