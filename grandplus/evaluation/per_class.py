"""Precision, recall and F1 of each class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from sklearn.metrics import precision_recall_fscore_support

from grandplus.evaluation.scored import judged_by, select
from grandplus.evaluation.statistics import DECIMALS

SCORES = ("precision", "recall", "f1", "support")  # as scikit-learn orders them


def per_class(predictions: Sequence[pa.Table], classes: Sequence[str]) -> dict[str, dict[str, float]]:
    """Score each class, on the nodes of the part that `judged_by` names.

    Parameters
    ----------
    predictions : sequence of pyarrow.Table
        One per trial, at least one.
    classes : sequence of str
        Class names, by class number.

    Returns
    -------
    dict
        The content of ``reports/per_class.json``: by class name ``precision``, ``recall``, ``f1`` and ``support``
        (labelled nodes of the class), means over trials. A score whose divisor is 0, as of a class that is never
        predicted, is 0.

    Raises
    ------
    GrandPlusError
        See `grandplus.evaluation.scored.select`.
    """
    numbers = range(len(classes))
    by_trial = [
        precision_recall_fscore_support(trial.label, trial.predicted, labels=numbers, zero_division=0)
        for trial in select(predictions, judged_by(predictions), classes)
    ]
    means = np.mean(by_trial, axis=0)  # (scores, classes)
    return {
        name: {score: round(float(means[row, number]), DECIMALS) for row, score in enumerate(SCORES)}
        for number, name in enumerate(classes)
    }
