"""Precision, recall and F1 of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from sklearn.metrics import precision_recall_fscore_support

from grandplus.evaluation.ranking import Ranking, told_mean
from grandplus.evaluation.scored import judged_by, select
from grandplus.evaluation.statistics import DECIMALS

SCORES = ("precision", "recall", "f1", "support")  # as scikit-learn orders them


def per_class(
    predictions: Sequence[pa.Table],
    classes: Sequence[str],
    rankings: Mapping[str, Sequence[Ranking]] | None = None,
) -> dict[str, dict[str, float]]:
    """Score each class, on the nodes of the part that `judged_by` names.

    Parameters
    ----------
    predictions : sequence of pyarrow.Table
        One per trial, at least one.
    classes : sequence of str
        Class names, by class number.
    rankings : mapping, optional
        How each trial ranks its nodes, by part; see `grandplus.evaluation.scored.load_rankings`.

    Returns
    -------
    dict
        The content of ``reports/per_class.json``: by class name ``precision``, ``recall``, ``f1`` and ``support``
        (labelled nodes of the class), means over trials. A score whose divisor is 0, as of a class that is never
        predicted, is 0. With rankings ``average_precision`` and ``auroc``, of the trials that test the class; they are
        left out if none does.

    Raises
    ------
    GrandPlusError
        See `grandplus.evaluation.scored.select`.
    """
    part, numbers = judged_by(predictions), range(len(classes))
    by_trial = [
        precision_recall_fscore_support(trial.label, trial.predicted, labels=numbers, zero_division=0)
        for trial in select(predictions, part, classes)
    ]
    means = np.mean(by_trial, axis=0)  # (scores, classes)
    scores = {
        name: {score: round(float(means[row, number]), DECIMALS) for row, score in enumerate(SCORES)}
        for number, name in enumerate(classes)
    }
    for score in Ranking._fields if rankings else ():
        of_trials = np.array([getattr(ranking, score) for ranking in (rankings or {})[part]])  # (trials, classes)
        for name, values in zip(classes, of_trials.T, strict=True):
            mean = told_mean(values)
            scores[name] |= {} if mean is None else {score: round(mean, DECIMALS)}
    return scores
