"""Graphs that earn each finding, and one that earns none, trained by the classifier in a moment."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import grandplus as gp
from grandplus import GrandPlusClassifier

NODES, CLASSES, FEATURES = 300, 3, 16
LABELS = np.arange(NODES) % CLASSES
QUICK = {"order": 2, "train_per_class": 10, "val_per_class": 30, "patience": 5, "trials": 2, "lr": 0.02}


def edges(*, inside: float = 0.08, outside: float = 0.005) -> Any:
    """Of nodes of the same class, and of others, with these probabilities."""
    alike = np.where(LABELS[:, None] == LABELS, inside, outside)
    return sp.csr_array(np.triu(np.random.default_rng(0).random((NODES, NODES)) < alike, 1))


def features(signal: float = 2.0) -> Any:
    noise = np.random.default_rng(1).normal(size=(NODES, FEATURES))
    return signal * np.eye(CLASSES, FEATURES)[LABELS] + noise


def fitted(*data: Any, fit: dict[str, Any] | None = None, **changes: Any) -> GrandPlusClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.DiagnosisWarning)
        return GrandPlusClassifier(**QUICK | changes).fit(*data, **fit or {})


def names(classifier: GrandPlusClassifier) -> set[str]:
    return {finding.name for finding in classifier.diagnosis_}


@pytest.fixture(scope="module")
def good() -> GrandPlusClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("error", gp.DiagnosisWarning)
        return GrandPlusClassifier(**QUICK).fit(edges(), features(), LABELS)


def test_a_good_result_earns_nothing(good):
    assert good.diagnosis_ == []
    assert good.score(np.arange(NODES), LABELS) > 0.95


def test_each_finding_is_a_warning_that_can_be_filtered():
    with pytest.warns(gp.DiagnosisWarning, match=r"^GrandPlusClassifier: training ended at max_epochs, .*; try max_ep"):
        GrandPlusClassifier(**QUICK | {"max_epochs": 20}).fit(edges(), features(), LABELS)
    assert issubclass(gp.DiagnosisWarning, UserWarning)


def test_parameters_are_named_as_they_are_written():
    [finding] = fitted(edges(), features(), LABELS, max_epochs=20).diagnosis_
    assert finding.name == "ended_at_max_epochs"
    assert finding.advice == "max_epochs=40 or lr=0.04"


def test_a_setting_is_named_as_any_methods_classifier_takes_it():
    """`NodeClassifier` has no parameter ``max_epochs``."""
    of_method = {key: QUICK[key] for key in ("order", "patience", "lr")} | {"max_epochs": 20}
    own = {key: QUICK[key] for key in QUICK.keys() - of_method}
    with pytest.warns(gp.DiagnosisWarning, match=r"^NodeClassifier: .*; try settings=\{'max_epochs': 40\} or "):
        classifier = gp.NodeClassifier("grandplus", of_method, **own).fit(edges(), features(), LABELS)
    [finding] = classifier.diagnosis_
    assert finding.advice == "settings={'max_epochs': 40} or settings={'lr': 0.04}"


def test_much_weight_decay_underfits():
    """One model of the two learns a little."""
    classifier = fitted(edges(), features(), LABELS, weight_decay=1.0)
    assert {"underfit", "unsteady_trials"} <= names(classifier)


def test_random_labels_are_known_by_heart():
    """Each node has a feature of its own, and edges have nothing to do with classes."""
    labels = np.random.default_rng(1).permutation(LABELS)
    assert names(fitted(edges(), np.eye(NODES), labels)) >= {"overfit", "unlike_edges"}


def test_a_ring_has_one_degree_and_one_class_is_predicted():
    ring = np.array([np.arange(NODES), np.roll(np.arange(NODES), 1)])
    classifier = fitted(ring, None, np.sort(LABELS), features="degree", max_epochs=50)
    assert {"constant_features", "one_class"} <= names(classifier)


def test_edges_that_join_unlike_nodes():
    classifier = fitted(edges(inside=0.005, outside=0.05), features(), LABELS)
    [finding] = [finding for finding in classifier.diagnosis_ if finding.name == "unlike_edges"]
    assert finding.advice.startswith("matrix=ppr with alpha=0.8")


def test_a_class_of_few_nodes():
    labels = np.where(np.arange(NODES) < 6, CLASSES, LABELS)
    assert names(fitted(edges(), features(), labels, shortage="shrink")) >= {"small_classes"}


def test_rows_that_are_cut_short():
    classifier = fitted(edges(), features(), LABELS, top_k=1)
    assert classifier.rows_.l1_error.mean() > 0.5
    assert "large_l1_error" in names(classifier)


def words(signal: float) -> tuple[Any, Any, Any]:
    """Eight classes of nodes with six words of 2,000 each, of which this share is typical of the class."""
    rng, labels = np.random.default_rng(0), np.arange(400) % 8
    alike = np.where(labels[:, None] == labels, 0.08, 0.005)
    typical = 20 * labels[:, None] + rng.integers(20, size=(400, 6))
    column = np.where(rng.random((400, 6)) < signal, typical, rng.integers(2000, size=(400, 6)))
    entries = np.ones(column.size), (np.repeat(np.arange(400), 6), column.ravel())
    return (
        sp.csr_array(np.triu(rng.random((400, 400)) < alike, 1)),
        sp.csr_array(sp.coo_array(entries, (400, 2000))),
        labels,
    )


EMBEDDED = {"embed": True, "weight_decay": 0.0, "train_per_class": 2, "val_per_class": 20, "trials": 1, "patience": 20}


def test_pseudo_labels_collapse():
    """Their weight is five times that of labels from the first step on, however unsure they are."""
    classifier = fitted(*words(0.3), **EMBEDDED, lambda_max=5.0, warmup=0, confidence=0.0)
    assert classifier.models_[0].info["val_accuracy"] < 0.5
    assert "collapse" in names(classifier)


def test_with_the_weight_that_is_usual_they_do_not_collapse():
    classifier = fitted(*words(0.3), **EMBEDDED, warmup=100)
    assert classifier.models_[0].info["val_accuracy"] > 0.7
    assert names(classifier) == set()


def test_weight_decay_that_a_baseline_beats():
    classifier = fitted(edges(), features(), LABELS, weight_decay=1.0)
    best = max(np.mean([score.val_accuracy for score in classifier.baselines_ if score.baseline == name])
               for name in {score.baseline for score in classifier.baselines_})  # fmt: skip
    assert best > 0.9
    [finding] = [finding for finding in classifier.diagnosis_ if finding.name == "below_baseline"]
    assert "weight_decay=0.1" in finding.advice


def test_features_of_noise():
    """Edges tell the classes all the same, since each node's neighbours are others."""
    found = fitted(edges(), features(signal=0), LABELS).diagnosis_
    [finding] = [finding for finding in found if finding.name == "uninformative_features"]
    assert finding.advice == "features=adjacency, order=4 or other features"


def test_methods_without_rows_are_diagnosed():
    from test_further_methods import SGCClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("error", gp.DiagnosisWarning)
        classifier = SGCClassifier(train_per_class=10, val_per_class=30, trials=2).fit(edges(), features(), LABELS)
    assert classifier.diagnosis_ == []
