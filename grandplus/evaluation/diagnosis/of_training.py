"""Rules on how training went: its history, and what the trained models predict for validation nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grandplus.evaluation.diagnosis.advice import (
    MORE_LABELS,
    changed,
    farther,
    more_decay,
    one_of,
    other_features,
    searched,
    tenth,
    wider,
)
from grandplus.evaluation.diagnosis.evidence import (
    FULL_TRAINING_ACCURACY,
    LOW_TRAINING_ACCURACY,
    best_training_accuracy,
    kept_training_accuracy,
)
from grandplus.evaluation.diagnosis.facts import Facts, Trial
from grandplus.evaluation.diagnosis.finding import Remark
from grandplus.evaluation.formats import percent

ONE_CLASS = 0.99  # share of validation nodes that are predicted as one class; a node in a hundred is chance
MOST_OF_ONE_CLASS = 0.95  # true share of a class beyond which predicting it alone can be right
COLLAPSED = 0.8  # share of validation nodes that are predicted as one class after a collapse
MEMORISED_LOSS = 0.1  # mean cross-entropy of training nodes: their classes have a probability of about 0.9
CLEARLY = 2  # standard errors: a smaller gap between training and validation may be chance
POOR_SKILL = 0.5  # share of the way from the majority's accuracy to 1: Cora, Citeseer and Pubmed reach 0.6 to 0.8
STEPS_LEFT = 0.2  # of all steps: a first best validation in the last fifth means that accuracy still rises
FEW_VALIDATIONS = 5  # a training with fewer has only begun: nothing but its length can be judged
LEAST_PATIENCE = 10  # validations
UNSTEADY = 0.05  # standard deviation over trials; 0.01 to 0.03 is common where splits are drawn anew
FAR_BELOW = 0.25  # of the way down to the largest class; a tenth and less is common
LISTED_TRIALS = 5
TIMES_SAMPLING = 3  # how many times the standard deviation that drawing so many validation nodes explains


def one_class(facts: Facts) -> Remark | None:
    """In some trial, at least `ONE_CLASS` of the validation nodes are predicted as one class.

    Nothing is said where the class really has more than `MOST_OF_ONE_CLASS` of the validation nodes.
    """
    names, chosen = facts.graph.classes, []
    for number, trial in enumerate(facts.trials):
        counts = np.bincount(trial.predicted, minlength=len(names))
        actual = float(np.mean(facts.actual(number) == counts.argmax()))
        if counts.max() >= ONE_CLASS * counts.sum() and actual <= MOST_OF_ONE_CLASS:
            chosen.append((names[counts.argmax()], counts.max() / counts.sum(), actual))
    if not chosen:
        return None
    name, predicted, actual = chosen[0]
    observation = (
        f"the model predicts one class only: class {name} for {percent(predicted)} of validation nodes, of which "
        f"{percent(actual)} are of it{_in_trials(len(chosen), facts)}"
    )
    return observation, one_of(*changed(facts, weight_decay=tenth), *other_features(facts))


def collapse(facts: Facts) -> Remark | None:
    """In some trial, pseudo-labels collapsed onto one class while the loss of training nodes was near 0.

    That is, at the best validation or a later one the loss of training nodes is at most `MEMORISED_LOSS`, and at least
    `COLLAPSED` of the validation nodes are predicted as one class, which is also at least half-way from the share of
    the largest class to 1. It is said of GRAND+ only, and not where a class really has more than `MOST_OF_ONE_CLASS` of
    the validation nodes.
    """
    collapsed = [scores for number in range(len(facts.trials)) if (scores := _collapsed(facts, number))]
    if not collapsed:
        return None
    scores = collapsed[0]
    observation = (
        f"pseudo-labels collapsed onto one class: at step {scores['step']:.0f}, {percent(scores['val_top_share'])} of "
        f"validation nodes are predicted as one class, with a loss of {scores['train_loss']:.3f} on training nodes; "
        f"validation accuracy is {percent(scores['val_accuracy'])} then, and {percent(scores['best'])} at best"
        f"{_in_trials(len(collapsed), facts)}"
    )
    weaker = changed(facts, lambda_max=tenth, warmup=lambda old: max(10 * old, 1000))
    return observation, one_of(*weaker, MORE_LABELS)


def underfit(facts: Facts) -> Remark | None:
    """At no validation are `LOW_TRAINING_ACCURACY` of the training nodes predicted right, in the mean of trials."""
    accuracy = best_training_accuracy(facts)
    if accuracy >= LOW_TRAINING_ACCURACY:
        return None
    observation = f"the model underfits: it predicts {percent(accuracy)} of its training nodes right at best"
    return observation, one_of(*changed(facts, weight_decay=tenth), *wider(facts), *other_features(facts))


def overfit(facts: Facts) -> Remark | None:
    """At least `FULL_TRAINING_ACCURACY` of training nodes are predicted right, and validation nodes poorly.

    Poorly means that validation accuracy is less than `POOR_SKILL` of the way from the share of the largest class to 1,
    and more than `CLEARLY` standard errors below that of training nodes. All are means over trials, of the model that
    is kept. Validation nodes of classes that a trial doesn't train on are left out.
    """
    training = kept_training_accuracy(facts)
    seen = facts.of_trained_classes()
    if not all(len(trial.val) for trial in seen.labelled):
        return None
    validation, largest = float(seen.accuracy.mean()), seen.largest_share
    error = np.sqrt(validation * (1 - validation) / min(len(trial.val) for trial in seen.labelled))
    if training < FULL_TRAINING_ACCURACY or training - validation <= CLEARLY * error:
        return None
    if validation - largest >= POOR_SKILL * (1 - largest):
        return None
    observation = (
        f"the model overfits: it predicts {percent(training)} of training nodes right and {percent(validation)} of "
        f"validation nodes, of which {percent(largest)} are of one class"
    )
    return observation, one_of(*changed(facts, weight_decay=more_decay), *farther(facts), MORE_LABELS)


def unsteady_trials(facts: Facts) -> Remark | None:
    """Some trials are far below the others, or validation accuracy varies much over trials.

    Far below is at least `FAR_BELOW` of the way from the accuracy that half of the trials reach down to the share of
    the largest class. Much is a standard deviation of at least `UNSTEADY`. Either must also be more than
    `TIMES_SAMPLING` times the standard deviation where each trial drew its validation nodes anew and all models were
    equally good.
    """
    accuracy = facts.accuracy
    if len(accuracy) < 2:
        return None
    nodes, std = min(len(trial.val) for trial in facts.labelled), float(accuracy.std(ddof=1))
    slower = changed(facts, lr=lambda old: old / 2, warmup=lambda old: max(2 * old, 1000))
    if low := far_below(accuracy, facts.largest_share, nodes):
        reached = percent(_reached_by_half(accuracy))
        named = [f"trial {number} with {percent(float(accuracy[number]))}" for number in low[:LISTED_TRIALS]]
        more = f" and {len(low) - LISTED_TRIALS} more" if len(low) > LISTED_TRIALS else ""
        observation = (
            f"{len(low)} of {len(accuracy)} trials failed: {', '.join(named)}{more} of validation nodes right, where "
            f"half of the trials reach at least {reached}"
        )
        return observation, one_of(*slower, *searched(facts))
    if std < UNSTEADY or std <= TIMES_SAMPLING * _error_by_nodes(float(accuracy.mean()), nodes):
        return None
    observation = (
        f"trials differ: their validation accuracies are from {percent(float(accuracy.min()))} to "
        f"{percent(float(accuracy.max()))}, with a standard deviation of {100 * std:.1f} points"
    )
    return observation, one_of(*slower, MORE_LABELS)


def far_below(accuracy: NDArray[np.float64], largest: float, nodes: int) -> list[int]:
    """The trials that are far below the others; see `unsteady_trials`.

    Parameters
    ----------
    accuracy : ndarray of float64, shape (trials,)
        Of validation nodes.
    largest : float
        Share of the largest class.
    nodes : int
        How many a trial validates on.

    Examples
    --------
    >>> far_below(np.array([0.91, 0.55, 0.94, 0.93]), largest=0.2, nodes=100)
    [1]
    """
    reached = _reached_by_half(accuracy)
    enough = max(FAR_BELOW * (reached - largest), TIMES_SAMPLING * _error_by_nodes(reached, nodes))
    return [int(number) for number in np.flatnonzero(reached - accuracy > enough)]


def ended_at_max_epochs(facts: Facts) -> Remark | None:
    """In some trial, training ended at `train.max_epochs`, or the method's `train.epochs`, not by early stopping."""
    ended = [trial for number, trial in enumerate(facts.trials) if _at_the_end(facts, number)]
    if not ended:
        return None
    fields = type(facts.settings).model_fields
    length = "max_epochs" if "max_epochs" in fields else "epochs"
    observation = f"training ended at train.{length}, not by early stopping{_in_trials(len(ended), facts)}"
    if any(len(trial.history["step"]) == 1 for trial in ended):
        usual = changed(facts, **{length: lambda old: fields[length].default})
        return f"{observation}, after one validation", one_of(*usual)
    if any(_still_rises(trial) for trial in ended):
        longer = changed(facts, **dict.fromkeys((length, "lr"), lambda old: 2 * old))
        return f"{observation}, with the best validation near the end", one_of(*longer)
    observation = f"{observation}, some time after the best validation"
    shortest, longest = _patience_between(facts.trials, ended)
    patience = min(getattr(facts.settings, "patience", 0) // 2, longest)
    if patience < max(shortest, LEAST_PATIENCE):
        return observation, one_of(*changed(facts, **{length: lambda old: 2 * old}))
    return observation, one_of(*changed(facts, patience=lambda old: patience))


def is_too_short(facts: Facts) -> bool:
    """Whether the most epochs ended each trial after fewer than `FEW_VALIDATIONS` validations."""
    return all(
        _at_the_end(facts, number) and len(trial.history["step"]) < FEW_VALIDATIONS
        for number, trial in enumerate(facts.trials)
    )


def _reached_by_half(accuracy: NDArray[np.float64]) -> float:
    """The median of trials, the higher one of two: where half of them failed, it is that of the others."""
    return float(np.sort(accuracy)[len(accuracy) // 2])


def _error_by_nodes(share: float, nodes: int) -> float:
    """The standard deviation of a share of nodes that are drawn anew."""
    return float(np.sqrt(share * (1 - share) / nodes))


def _collapsed(facts: Facts, number: int) -> dict[str, float] | None:
    """The scores of a trial's first validation after a collapse, and its best accuracy."""
    trial, actual = facts.trials[number], facts.actual(number)
    history = trial.history
    if not {"consistency_loss", "val_top_share"} <= history.keys() or not getattr(facts.settings, "lambda_max", 1):
        return None
    largest = np.bincount(actual).max() / len(actual)
    if largest > MOST_OF_ONE_CLASS:
        return None
    one_class = history["val_top_share"] >= max(COLLAPSED, (1 + largest) / 2)
    collapsed = one_class & (history["train_loss"] <= MEMORISED_LOSS)
    collapsed[: trial.kept] = False
    if not collapsed.any():
        return None
    first = int(collapsed.argmax())
    scores = {name: float(values[first]) for name, values in history.items()}
    return scores | {"best": float(history["val_accuracy"].max())}


def _at_the_end(facts: Facts, number: int) -> bool:
    """Whether there were steps for no further validation, and patience wasn't used up."""
    most, step = facts.settings.most_steps(len(facts.labelled[number].train)), facts.trials[number].history["step"]
    patience = facts.settings.patience_steps()
    if patience is None:  # it is the end that was asked for
        return False
    if len(step) == 1:  # which never uses up patience
        return True
    since = _without_gain(facts.trials[number])[-1] * (step[-1] - step[-2])
    return bool(step[-1] + (step[-1] - step[-2]) >= most and since < patience)


def _still_rises(trial: Trial) -> bool:
    """Whether the model that is kept is of a validation near the end."""
    step = trial.history["step"]
    return bool(step[trial.kept] >= (1 - STEPS_LEFT) * step[-1])


def _without_gain(trial: Trial) -> NDArray[np.int64]:
    """For each validation, how many have passed since the accuracy or the loss was the best so far."""
    accuracy, loss = trial.history["val_accuracy"], trial.history["val_loss"]
    gained = (accuracy >= np.maximum.accumulate(accuracy)) | (loss <= np.fmin.accumulate(loss))
    positions = np.arange(len(accuracy))
    return positions - np.maximum.accumulate(np.where(gained, positions, 0))


def _patience_between(trials: Sequence[Trial], ended: Sequence[Trial]) -> tuple[int, int]:
    """The least patience with which trials keep their models, and the greatest with which those that ended end sooner.

    The first can be above the second.
    """
    before = max(_without_gain(trial)[: trial.kept].max(initial=0) for trial in trials)
    return int(before) + 1, int(min(_without_gain(trial).max() for trial in ended)) - 1


def _in_trials(count: int, facts: Facts) -> str:
    return f" (in {count} of {len(facts.trials)} trials)" if len(facts.trials) > 1 else ""
