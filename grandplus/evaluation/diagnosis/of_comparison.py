"""Rules that compare: GRAND+ with cheap baselines on the same validation nodes, and rows with those of the exact Π."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from grandplus.evaluation.baselines.table import LABELS
from grandplus.evaluation.diagnosis.advice import (
    decay_by_training,
    farther,
    linear,
    nearer,
    neighbors_as_features,
    one_of,
    own_features,
    searched,
    setting,
)
from grandplus.evaluation.diagnosis.evidence import error_of_shares, features_say_nothing
from grandplus.evaluation.diagnosis.facts import Facts
from grandplus.evaluation.diagnosis.finding import Remark
from grandplus.evaluation.formats import percent
from grandplus.evaluation.statistics import LEVEL, Interval, overlap_of_trials, paired

WORSE = 0.01  # of accuracy, a point: a smaller difference is no reason to change settings
PAIRED_TRIALS = 3  # from here on, an interval over trials says something: for two, Student's t is 12.7
LARGE_ERROR = 0.5  # a row that has lost most of its mass


def below_baseline(facts: Facts) -> Remark | None:
    """A baseline has a higher validation accuracy, by at least `WORSE`, and the difference's 95 % interval excludes 0.

    From `PAIRED_TRIALS` trials on this is Student's interval of the trials' differences, which is wider where splits
    are drawn anew or repeated, as they share nodes. With fewer trials it is the interval of the difference of two
    shares of the validation nodes. Test nodes aren't looked at, since other settings follow
    from the finding. Early stopping favours the model on validation nodes, so a small deficit can go unnoticed.
    """
    if not facts.baselines:
        return None
    best = max(facts.baselines, key=facts.baseline)
    ours, theirs = facts.accuracy, np.asarray(facts.baselines[best])
    difference, interval = float(np.mean(ours - theirs)), _interval(facts, ours, theirs)
    if difference > -WORSE or interval.high >= 0:
        return None
    observation = (
        f"{LABELS[best]} is better: {percent(float(theirs.mean()))} of validation nodes are right by it, and "
        f"{percent(float(ours.mean()))} by this model"
    )
    return observation, one_of(*_towards(facts, best), *searched(facts))


def uninformative_features(facts: Facts) -> Remark | None:
    """Logistic regression on X, without any edge, is no better than the majority class.

    That is, its validation accuracy is at most one standard error higher. The error is that of the difference of two
    shares of the validation nodes; where it is above `WELL_MEASURED`, there are too few of them to tell. Nothing is
    said where no more than `WELL_MEASURED` of the validation nodes are left for features to tell.
    """
    if not features_say_nothing(facts):
        return None
    observation = (
        "features say next to nothing of classes: logistic regression on them predicts "
        f"{percent(facts.baseline('logistic_regression'))} of validation nodes right, and the majority class "
        f"{percent(facts.baseline('majority'))}"
    )
    return observation, one_of(*neighbors_as_features(facts), *farther(facts), "other features")


def large_l1_error(facts: Facts) -> Remark | None:
    """Most rows of Π that were trained on have an L1 error above `LARGE_ERROR`."""
    rows = facts.rows
    if rows is None or not len(rows.l1_error):
        return None
    share = float(np.mean(rows.l1_error > LARGE_ERROR))
    if share <= 0.5:
        return None
    observation = (
        f"rows of Π are cut short: {percent(share)} of them have an L1 error above {LARGE_ERROR} "
        f"(on average {float(rows.l1_error.mean(dtype=np.float64)):.2f})"
    )
    full = float(np.mean(rows.neighbors[:, -1] >= 0))
    longer = setting("gfpush.top_k", 4 * rows.info.top_k) if full > 0.5 else setting("gfpush.rmax", rows.info.rmax / 10)
    return observation, one_of(longer, *nearer(facts))


def _towards(facts: Facts, baseline: str) -> list[str]:
    """Settings that lead towards a baseline, as far as the run shows a direction."""
    if baseline == "logistic_regression" and facts.order:
        return [*own_features(facts), *nearer(facts)]
    if baseline == "label_propagation":
        return [*neighbors_as_features(facts), *farther(facts)]
    return [*decay_by_training(facts), *linear(facts)]


def _overlap(facts: Facts) -> float:
    """Of the trials' splits, of which validation nodes judge."""
    splits = {(nodes.train.tobytes(), nodes.val.tobytes()) for nodes in facts.labelled}
    train, val = (len(nodes) for nodes in (facts.labelled[0].train, facts.labelled[0].val))
    return overlap_of_trials(trials=len(facts.labelled), splits=len(splits), train=train, test=val)


def _interval(facts: Facts, first: NDArray[np.float64], second: NDArray[np.float64]) -> Interval:
    """The 95 % interval of the mean difference."""
    differences = first - second
    if len(differences) >= PAIRED_TRIALS:
        test = paired(first, second, overlap=_overlap(facts))
        return Interval(float(test.low), float(test.high))
    mean = float(differences.mean())
    half = float(stats.norm.ppf(1 - LEVEL / 2)) * error_of_shares(facts, float(first.mean()), float(second.mean()))
    return Interval(mean - half, mean + half)
