"""``gp.tune``: a classifier with the parameters that validation prefers; what the caller gives is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from communities import NODES, problem

import grandplus as gp
from grandplus import ArgumentError
from grandplus.graph.settings import Preprocess
from grandplus.tuning.portfolio import PROPAGATION, TRAINING

SHORT = {"max_epochs": 20, "warmup": 0, "train_per_class": 4, "val_per_class": 14, "dropout_input": 0}
FEW = SHORT | {
    "weight_decay": 0.001,
    "top_k": 32,
    "lambda_max": 1.0,
    "dropout_hidden": 0.5,
}  # which leaves fewer to try


def test_what_is_found_is_fitted():
    adjacency, X, y = problem()
    classifier = gp.tune(adjacency, X, y, **FEW)
    outcome = classifier.tuning_
    assert classifier.score(np.arange(NODES), y) > 0.9
    parameters = classifier.get_params()
    assert FEW.items() <= parameters.items()
    assert outcome.change.items() <= parameters.items()
    again = gp.GrandPlusClassifier(**FEW | outcome.change).fit(adjacency, X, y)
    assert classifier.predict_proba().tobytes() == again.predict_proba().tobytes()
    assert outcome.after >= outcome.before
    table = pd.DataFrame(outcome.table())
    assert table["settings"].iloc[0] == (str(outcome.candidates[outcome.winner]))
    assert table["val_accuracy"].iloc[0] == outcome.after


def test_the_same_for_any_number_of_jobs():
    adjacency, X, y = problem()
    one, two = (gp.tune(adjacency, X, y, matrix="single", n_jobs=jobs, **FEW) for jobs in (1, 2))
    assert one.tuning_.table() == two.tuning_.table()
    assert one.predict_proba().tobytes() == two.predict_proba().tobytes()


def test_labels_of_test_nodes_have_no_part(monkeypatch):
    """Nodes are given: with all other labels scrambled, everything is as before."""
    adjacency, X, y = problem()
    train, val = np.arange(12), np.arange(12, 60)
    scrambled = y.copy()
    scrambled[60:] = np.random.default_rng(0).permutation(y[60:])
    assert (scrambled != y).any()
    parameters = {key: value for key, value in FEW.items() if not key.endswith("per_class")} | {"matrix": "ppr"}
    one, two = (gp.tune(adjacency, X, labels, train=train, val=val, **parameters) for labels in (y, scrambled))
    assert one.tuning_.table() == two.tuning_.table()
    assert one.predict_proba().tobytes() == two.predict_proba().tobytes()


def test_what_is_given_is_not_tuned():
    adjacency, _, y = problem()
    given = FEW | {"matrix": "avg", "order": 4, "dropnode": 0.5, "hidden": 64, "layers": 2, "batchnorm": False}
    classifier = gp.tune(adjacency, y=y, features="degree", confidence="auto", **given)
    assert [row["settings"] for row in classifier.tuning_.table()] == ["as it is"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_jobs": 0}, "n_jobs is 0; expected a whole number of at least 1, or -1"),
        ({"model": "gcn"}, "tune: model is 'gcn', and the settings that are compared are those of 'grandplus'; "),
        ({"order": -1}, "tune: order is -1"),
        ({"train_per_class": 100}, "tune: class 0 has 30 nodes"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        gp.tune(*problem(), **SHORT | arguments)


@pytest.mark.parametrize("change", PROPAGATION + TRAINING, ids=str)
def test_every_line_of_the_portfolio_is_possible(change):
    adjacency, X, y = problem()
    features = change.get("features", "as-is")
    X = None if features.endswith("adjacency") else sp.csr_array(X)
    gp.GrandPlusClassifier(**SHORT | {"max_epochs": 2} | change | {"features": features}).fit(adjacency, X, y)
    assert features in Preprocess.model_fields["features"].annotation.__args__


def test_weights_of_the_callers_own_stay():
    adjacency, _, y = problem()
    classifier = gp.tune(adjacency, y=y, features="degree", matrix="custom", weights=[0.5, 0.5], **FEW)
    assert classifier.get_params()["weights"] == [0.5, 0.5]
    assert all("matrix" not in row["settings"] for row in classifier.tuning_.table())
