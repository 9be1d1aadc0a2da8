"""``class_weight`` of the classifiers, by scikit-learn's convention: its keys are labels of y."""

import warnings

import numpy as np
import pytest
from communities import NODES, problem, small
from sklearn.metrics import recall_score

import grandplus as gp
from grandplus.runtime.errors import ArgumentError, GrandPlusError


@pytest.fixture(autouse=True)
def _diagnosis_is_another_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.DiagnosisWarning)
        yield


def parts():
    """Nodes to train and validate on: of class 0 there are ten times as many as of the others."""
    labels = problem()[2]
    nodes = [np.flatnonzero(labels == label)[:count] for label, count in ((0, 20), (1, 4), (2, 4))]
    return {"train": np.concatenate([of[::2] for of in nodes]), "val": np.concatenate([of[1::2] for of in nodes])}


@pytest.mark.parametrize("keys", [int, np.int64, str])
def test_weights_are_by_label(keys):
    adjacency, X, y = problem()
    y = y.astype(str) if keys is str else y
    classifier = small(class_weight={keys(1): 5, keys(2): np.float64(5)}).fit(adjacency, X, y, **parts())
    assert classifier.models_[0].settings.class_weight == {"1": 5.0, "2": 5.0}
    assert classifier.get_params()["class_weight"] == {keys(1): 5, keys(2): 5}


def test_weights_of_a_method():
    adjacency, X, y = problem()
    recall = {}
    for weight in (None, "balanced"):
        classifier = gp.NodeClassifier("sgc", {"epochs": 8}, features="as-is", class_weight=weight)
        predicted = classifier.fit(adjacency, X, y, **parts()).predict()
        recall[weight] = recall_score(y, predicted, average="macro")
    assert recall["balanced"] > recall[None]


def test_an_unknown_label_is_refused():
    adjacency, X, y = problem()
    with pytest.raises(GrandPlusError) as refused:
        small(class_weight={7: 5}).fit(adjacency, X, y, **parts())
    assert str(refused.value) == "class_weight has 5 for '7', which is no class; expected names among 0, 1, 2"


@pytest.mark.parametrize(
    ("weight", "found"), [("even", "class_weight is 'even'"), ({1: -2}, "class_weight of 1 is -2")]
)
def test_an_impossible_weight_is_refused(weight, found):
    with pytest.raises(GrandPlusError, match=found):
        small(class_weight=weight).fit(*problem(), **parts())


def test_weights_in_two_places_are_refused():
    classifier = gp.NodeClassifier("sgc", {"class_weight": {1: 2}}, class_weight="balanced")
    with pytest.raises(ArgumentError, match="class_weight is given, and among the settings too"):
        classifier.fit(np.zeros((NODES, NODES)), *problem()[1:])
