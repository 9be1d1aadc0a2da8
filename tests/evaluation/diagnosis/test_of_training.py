"""Rules on how training went: facts that earn a finding, and facts just beside them that don't."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_facts import LABELS, VAL_NODES, facts, graph, history, predictions

from grandplus.evaluation.diagnosis.facts import Labelled
from grandplus.evaluation.diagnosis.of_training import (
    collapse,
    ended_at_max_epochs,
    far_below,
    one_class,
    overfit,
    underfit,
    unsteady_trials,
)
from grandplus.methods.gat.settings import Settings as GAT
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.registry import NAMES, settings_of
from grandplus.methods.sgc.settings import Settings as SGC

ROOT = Path(__file__).resolve().parents[3]


def test_one_class_alone():
    found, advice = one_class(facts(predicted=[predictions(90), np.full(100, 2)]))
    assert found == (
        "the model predicts one class only: class c for 100.00 % of validation nodes, of which 25.00 % are of it "
        "(in 1 of 2 trials)"
    )
    assert advice == "train.weight_decay=0.0001 or preprocess.features=standardize"


def test_one_class_is_one_node_in_a_hundred_short_of_all():
    almost = np.full(100, 2)
    almost[:1] = 0
    assert one_class(facts(predicted=almost))
    almost[:2] = 0
    assert not one_class(facts(predicted=almost))


@pytest.mark.parametrize(("others", "found"), [(4, False), (5, True)])
def test_one_class_that_is_nearly_all_there_is(others, found):
    """Of 95 of 100 it is a finding, of 96 it isn't."""
    labels = np.where(np.isin(np.arange(len(LABELS)), VAL_NODES[:others]), 1, 0)
    assert bool(one_class(facts(graph=graph(labels=labels), predicted=np.zeros(100, int)))) == found


COLLAPSED = {
    "val_accuracy": [0.3, 0.59, 0.55, 0.2, 0.13],
    "val_top_share": [0.5, 0.3, 0.5, 0.8, 1.0],
    "train_loss": [1.4, 0.05, 0.02, 0.01, 0.01],
}


def test_a_collapse_is_told_with_its_first_validation():
    found, advice = collapse(facts(history=[history(**COLLAPSED), history()]))
    assert found == (
        "pseudo-labels collapsed onto one class: at step 30, 80.00 % of validation nodes are predicted as one class, "
        "with a loss of 0.010 on training nodes; validation accuracy is 20.00 % then, and 59.00 % at best "
        "(in 1 of 2 trials)"
    )
    assert advice == "train.lambda_max=0.1, train.warmup=10000 or more labelled nodes"


def test_a_collapse_may_be_there_from_the_start():
    early = {"val_top_share": [1.0, 0.82, 0.79, 0.79, 0.79]}
    assert collapse(facts(history=history(**COLLAPSED | early)))


@pytest.mark.parametrize(
    "change",
    [
        {"val_top_share": [0.5, 0.3, 0.5, 0.79, 0.79]},  # not one class
        {"train_loss": [1.4, 0.05, 1.1, 1.1, 1.1]},  # nothing is known by heart any more
        {"val_accuracy": [0.3, 0.59, 0.55, 0.2, 0.6], "val_top_share": [1.0, 0.9, 0.9, 0.9, 0.3]},  # it recovers
    ],
)
def test_what_is_no_collapse(change):
    assert not collapse(facts(history=history(**COLLAPSED | change)))


def test_a_large_class_is_no_collapse():
    """90 % of the validation nodes are of one class: half-way to 1 is 95 %."""
    given = {"graph": graph(labels=np.where(np.arange(len(LABELS)) % 10 == 0, 1, 0))}
    assert not collapse(facts(**given, history=history(**COLLAPSED | {"val_top_share": [0.94] * 5})))
    assert collapse(facts(**given, history=history(**COLLAPSED | {"val_top_share": [0.951] * 5})))


def test_the_only_class_is_no_collapse():
    given = {"graph": graph(labels=np.zeros(len(LABELS), int))}
    assert not collapse(facts(**given, history=history(**COLLAPSED | {"val_top_share": [1.0] * 5})))


def test_methods_without_pseudo_labels_have_no_collapse():
    scores = history(**COLLAPSED)
    del scores["consistency_loss"]
    assert not collapse(facts(history=scores))
    assert not collapse(facts(history=history(**COLLAPSED), settings=Settings(lambda_max=0)))


def test_underfit():
    found, advice = underfit(facts(history=history(train_accuracy=[0.3, 0.5, 0.79, 0.7, 0.7])))
    assert found == "the model underfits: it predicts 79.00 % of its training nodes right at best"
    assert advice == "train.weight_decay=0.0001, train.hidden=128 or preprocess.features=standardize"
    assert not underfit(facts(history=history(train_accuracy=[0.3, 0.5, 0.8, 0.7, 0.7])))


def test_overfit():
    """A quarter of the validation nodes are of one class: half-way to 1 is 62.5 %."""
    found, advice = overfit(facts(predicted=predictions(62)))
    assert found == (
        "the model overfits: it predicts 100.00 % of training nodes right and 62.00 % of validation nodes, of which "
        "25.00 % are of one class"
    )
    assert advice == "train.weight_decay=0.01 or more labelled nodes"
    assert not overfit(facts(predicted=predictions(63)))
    assert not overfit(facts(predicted=predictions(62), history=history(train_accuracy=[0.3, 0.7, 0.9, 0.98, 1.0])))


def test_the_model_that_is_kept_need_not_be_the_best_one():
    """As of GCN, which keeps the last epoch, or GCNII, which keeps that of the lowest loss."""
    by_heart = history(train_accuracy=[0.3, 0.7, 0.9, 0.98, 1.0])
    assert overfit(facts(predicted=predictions(62), history=by_heart, kept=4))
    assert not overfit(facts(predicted=predictions(62), history=by_heart, kept=2))
    assert not overfit(facts(predicted=predictions(62), history=by_heart))
    rising = facts(settings=Settings(max_epochs=50), kept=4)
    assert "with the best validation near the end" in ended_at_max_epochs(rising)[0]


def imbalanced(rare):
    """Of 100 validation nodes these many are of another class."""
    return graph(labels=np.where(np.isin(np.arange(len(LABELS)), VAL_NODES[:rare]), 1, 0) | (np.arange(140) < 20))


@pytest.mark.parametrize(("wrong", "found"), [(0, False), (1, False), (3, False), (5, True), (10, True)])
def test_a_few_nodes_of_a_rare_class_may_be_chance(wrong, found):
    """Nodes of it are all wrong: of 3 in 100 the standard error is 1.7 points, of 5 it is 2.2."""
    given = facts(graph=imbalanced(wrong), predicted=np.zeros(100, int))
    assert bool(overfit(given)) == found


def test_training_that_is_no_better_than_validation_is_no_overfit():
    below = history(train_accuracy=[0.3, 0.7, 0.9, 0.99, 1.0])
    assert overfit(facts(graph=imbalanced(10), predicted=np.zeros(100, int), history=below))
    assert not overfit(facts(graph=imbalanced(1), predicted=np.zeros(100, int), history=below))


def test_classes_that_are_not_trained_on_are_no_overfit():
    """Half the validation nodes are of classes without training nodes."""
    train = np.arange(40)[LABELS[:40] < 2]
    labelled = Labelled(train=train, val=VAL_NODES)
    known = np.where(LABELS[VAL_NODES] < 2, LABELS[VAL_NODES], 0)
    assert not overfit(facts(labelled=labelled, predicted=known))
    assert overfit(facts(labelled=labelled, predicted=np.zeros(100, int)))
    strangers = Labelled(train=train, val=VAL_NODES[LABELS[VAL_NODES] > 1])
    assert not overfit(facts(labelled=strangers, predicted=np.zeros(50, int)))


@pytest.mark.parametrize(
    ("right", "found"),
    [
        ([90, 80], False),  # a standard deviation of 7 points, and 3 × 3.6 by chance alone
        ([90, 70], True),  # 14 points, and 3 × 4
        ([90, 90, 50], True),
        ([40], False),
    ],
)
def test_trials_that_differ(right, found):
    given = facts(trials=len(right), predicted=[predictions(count) for count in right])
    assert bool(unsteady_trials(given)) == found


def test_trials_that_differ_are_told():
    right = [95, 70, 70]  # one is better than half of them; none is far below that
    found, advice = unsteady_trials(facts(trials=3, predicted=[predictions(count) for count in right]))
    assert found == (
        "trials differ: their validation accuracies are from 70.00 % to 95.00 %, with a standard deviation of 14.4 "
        "points"
    )
    assert advice == "train.lr=0.005, train.warmup=2000 or more labelled nodes"


def test_trials_that_failed_are_named():
    given = facts(trials=4, settings=GAT(), predicted=[predictions(count) for count in (28, 95, 16, 92)])
    found, advice = unsteady_trials(replace(given, search="grandplus search mine --model gat"))
    assert found == (
        "2 of 4 trials failed: trial 0 with 28.00 %, trial 2 with 16.00 % of validation nodes right, where half of the "
        "trials reach at least 92.00 %"
    )
    assert advice == "train.lr=0.0025 or grandplus search mine --model gat"


def test_many_trials_that_failed_are_counted():
    given = facts(trials=15, predicted=[predictions(20)] * 7 + [predictions(90)] * 8)
    found, advice = unsteady_trials(given)
    assert found.startswith("7 of 15 trials failed: trial 0 with 20.00 %, ")
    assert "trial 4 with 20.00 % and 2 more of validation nodes right" in found
    assert advice == "train.lr=0.005 or train.warmup=2000"


@pytest.mark.parametrize(
    ("low", "largest", "nodes", "failed"),
    [
        (0.725, 0.1, 1000, False),  # a quarter of the way from 0.9 down to 0.1 is 0.7
        (0.695, 0.1, 1000, True),
        (0.795, 0.5, 1000, True),  # down to 0.5 it is 0.8
        (0.795, 0.5, 50, False),  # 3 · √(0.9 · 0.1 / 50) are 12.7 points
        (0.77, 0.5, 50, True),
    ],
)
def test_how_far_below_the_others(low, largest, nodes, failed):
    accuracy = np.array([0.9, 0.91, low, 0.9, 0.89])
    assert far_below(accuracy, largest, nodes) == ([2] if failed else [])


def committed(name):
    """Validation accuracies of all trials in a table of ``experiments/compared``, by graph, method, matrix, change."""
    with (ROOT / "experiments/compared" / name).open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    runs = {}
    for line in lines:
        key = line["dataset"], line["model"], line["matrix"], line["change"]
        runs.setdefault(key, []).append(float(line["validation"]))
    return {key: np.array(accuracies) for key, accuracies in runs.items()}


def test_no_trial_on_graphs_that_train_well_failed():
    """With a larger share of the largest class than any of these graphs has, and more nodes, it is found sooner."""
    ours = {key: of for key, of in committed("unseen.csv").items() if key[1] == "grandplus"}
    runs = committed("citation.csv") | ours
    assert len(runs) >= 38
    assert not [key for key, accuracy in runs.items() if far_below(accuracy, largest=0.45, nodes=1000)]


def test_two_of_four_trials_of_gat_failed_on_amazon_photo_with_the_dropout_of_the_citation_graphs():
    """Validation accuracies of dropout 0.6 on four splits, eight classes with 30 validation nodes each."""
    assert far_below(np.array([0.2833, 0.1583, 0.95, 0.9208]), largest=1 / 8, nodes=8 * 30) == [0, 1]


def test_the_end_by_max_epochs():
    """40 training nodes are one step an epoch, and validations are 10 steps apart."""
    found, advice = ended_at_max_epochs(facts(settings=Settings(max_epochs=50)))
    assert found == (
        "training ended at train.max_epochs, not by early stopping (in 2 of 2 trials), some time after the best "
        "validation"
    )
    assert advice == "train.max_epochs=100"  # patience is 50 validations, and there are 5
    found, advice = ended_at_max_epochs(
        facts(trials=1, settings=Settings(max_epochs=50), history=history(val_accuracy=[0.3, 0.5, 0.6, 0.7, 0.8]))
    )
    assert found == "training ended at train.max_epochs, not by early stopping, with the best validation near the end"
    assert advice == "train.max_epochs=100 or train.lr=0.02"
    assert not ended_at_max_epochs(facts(settings=Settings(max_epochs=51)))


def ended(validations, *, best=10, gain_at=(), **changes):
    """A trial whose accuracy is best at one validation; the loss never falls but at some others."""
    positions = np.arange(validations)
    scores = {
        "step": 10 * positions,
        "train_accuracy": np.ones(validations),
        "val_accuracy": np.where(positions == best, 0.9, 0.5 - 1e-4 * positions),
        "val_loss": 1 + positions / 100 - np.isin(positions, gain_at) * positions,
    }
    return facts(
        trials=1, settings=Settings(max_epochs=10 * validations, **changes), history={**scores, "train_loss": 0}
    )


@pytest.mark.parametrize(
    ("given", "advised"),
    [
        (ended(60, patience=80), "train.patience=40"),  # 49 validations follow the best one
        (ended(60, patience=200), "train.patience=48"),  # with 49 the last one ended it
        (ended(60, patience=80, gain_at=[30]), "train.patience=28"),  # a gain of the loss prolongs it
        (ended(60, patience=200, best=40), "train.max_epochs=1200"),  # less than 40 ended it before the best
        (ended(20, patience=50), "train.max_epochs=400"),
    ],
)
def test_advised_patience_ends_training_between_the_best_and_the_last(given, advised):
    found, advice = ended_at_max_epochs(given)
    assert "some time after" in found
    assert advice == advised


def test_patience_that_is_used_up_at_the_last_validation_ended_it():
    assert ended_at_max_epochs(ended(60, patience=50))
    assert not ended_at_max_epochs(ended(60, patience=49))


def test_the_model_that_is_kept_is_the_latest_of_equals():
    perfect = history(val_accuracy=[0.3, 1, 1, 1, 1])
    found, advice = ended_at_max_epochs(facts(settings=Settings(max_epochs=50), history=perfect))
    assert found.endswith("with the best validation near the end")
    assert advice == "train.max_epochs=100 or train.lr=0.02"


def first(count, **changes):
    """The first validations."""
    return {name: scores[:count] for name, scores in history(**changes).items()}


@pytest.mark.parametrize("epochs", [1, 10])
def test_a_single_validation_is_no_training(epochs):
    found, advice = ended_at_max_epochs(facts(trials=1, settings=Settings(max_epochs=epochs), history=first(1)))
    assert found == "training ended at train.max_epochs, not by early stopping, after one validation"
    assert advice == "train.max_epochs=5000"


@pytest.mark.parametrize("name", NAMES)
def test_each_method_is_told_of_the_setting_that_it_has(name):
    kind = settings_of(name).Settings
    [length] = {"epochs", "max_epochs"} & kind.model_fields.keys()
    rising, settings = history(val_accuracy=[0.3, 0.5, 0.6, 0.7, 0.8]), kind(**{length: 50})
    remark = ended_at_max_epochs(facts(trials=1, settings=settings, history=rising))
    if settings.patience_steps() is None:  # it ends there as it should
        assert remark is None
        return
    found, advice = remark
    assert found == f"training ended at train.{length}, not by early stopping, with the best validation near the end"
    assert advice == f"train.{length}=100 or train.lr={2 * settings.lr:g}"
    found, advice = ended_at_max_epochs(facts(trials=1, settings=settings, history=history()))
    assert found == f"training ended at train.{length}, not by early stopping, some time after the best validation"
    assert advice == f"train.{length}=100"
    found, advice = ended_at_max_epochs(facts(trials=1, settings=settings, history=first(1)))
    assert advice == f"train.{length}={kind().model_dump()[length]}"


def test_a_method_of_a_fixed_number_of_steps_ends_as_it_should():
    assert not ended_at_max_epochs(facts(settings=SGC(epochs=41)))
