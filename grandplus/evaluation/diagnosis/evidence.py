"""What a run shows of its training and its features: several rules go by it, and so does what they advise."""

from __future__ import annotations

import numpy as np

from grandplus.evaluation.diagnosis.facts import Facts

LOW_TRAINING_ACCURACY = 0.8  # a model that can't even predict the nodes that it is shown
FULL_TRAINING_ACCURACY = 0.99
WELL_MEASURED = 0.1  # standard error of the difference of two accuracies; beyond it, nothing can be said of features


def kept_training_accuracy(facts: Facts) -> float:
    """Share of the training nodes that the models which are kept predict right, the mean of trials."""
    return float(np.mean([trial.history["train_accuracy"][trial.kept] for trial in facts.trials]))


def best_training_accuracy(facts: Facts) -> float:
    """The highest share of the training nodes that is predicted right at any validation, the mean of trials."""
    return float(np.mean([trial.history["train_accuracy"].max() for trial in facts.trials]))


def features_say_nothing(facts: Facts) -> bool:
    """Whether logistic regression on X is no better than the majority class, where both are known well enough.

    See `grandplus.evaluation.diagnosis.of_comparison.uninformative_features`.
    """
    if not {"logistic_regression", "majority"} <= facts.baselines.keys():
        return False
    features, majority = facts.baseline("logistic_regression"), facts.baseline("majority")
    error = error_of_shares(facts, features, majority)
    return error <= WELL_MEASURED and features <= majority + error and majority < 1 - WELL_MEASURED


def error_of_shares(facts: Facts, *shares: float) -> float:
    """The standard error of the difference of two shares of one trial's validation nodes, as if they were independent.

    On the same nodes the difference varies less.
    """
    nodes = min(len(trial.val) for trial in facts.labelled)
    return float(np.sqrt(sum(share * (1 - share) for share in shares) / nodes))
