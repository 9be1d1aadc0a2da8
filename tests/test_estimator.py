"""The scikit-learn-like class on arrays: labels of any kind, given splits, parameters, and what is refused.

That it gives the pipeline's bytes is tested beside the pipeline, in tests/stages.
"""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from ruamel.yaml import YAML
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from grandplus import GrandPlusClassifier
from grandplus.datasets.raw import RawGraph
from grandplus.graph.settings import Preprocess
from grandplus.importing.card import card_text
from grandplus.methods.grandplus.settings import Settings as Train
from grandplus.pipeline.settings import Settings
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import GrandPlusError

NODES = 90


def problem(seed=0):
    """Three communities whose features tell them apart: adjacency, X and numbers of classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(NODES) % 3
    edges = sp.csr_array(np.triu(rng.random((NODES, NODES)) < np.where(labels[:, None] == labels, 0.3, 0.02), 1))
    return edges, np.eye(3)[labels] + 0.3 * rng.random((NODES, 3)), labels


def small(**changes):
    plain = {"order": 1, "features": "as-is", "dropout_input": 0, "dropout_hidden": 0, "lr": 0.05, "max_epochs": 60}
    return GrandPlusClassifier(**plain | {"train_per_class": 4, "val_per_class": 14} | changes)


def test_it_learns_what_can_be_learnt():
    adjacency, X, y = problem()
    classifier = small(trials=2).fit(adjacency, X, y)
    probabilities = classifier.predict_proba()
    assert probabilities.shape == (NODES, 3)
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert classifier.score(np.arange(NODES), y) == 1
    assert len(classifier.models_) == len(classifier.calibration_.temperatures) == 2
    assert classifier.confident([3, 4]).tolist() == classifier.confident()[[3, 4]].tolist()
    assert classifier.predict([4, 3]).tolist() == [1, 0]
    assert classifier.rows_.l1_error.shape == (NODES,)


def test_defaults_suit_columns_of_any_scale():
    """As in a table of customers: an income, an age."""
    adjacency, X, y = problem()
    scales, means = np.array([20_000, 15, 0.1]), np.array([50_000, 40, -0.3])
    classifier = GrandPlusClassifier(train_per_class=4, val_per_class=14, max_epochs=60)
    assert classifier.fit(adjacency, X * scales + means, y).score(np.arange(NODES), y) > 0.95
    assert classifier.models_[0].settings.dropout_input == 0


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (["cust-1"], "nodes has shape .1,. and type <U6; expected numbers of rows, or a mask of 90"),
        ([0.0], "nodes has shape .1,. and type float64"),
        ([True, False], "nodes has shape .2,. and type bool"),
        ([0, NODES], "nodes names node 90; expected 0 to 89"),
        ([-1], "nodes names node -1; expected 0 to 89"),
        (3, r"nodes has shape \(\) and type int64"),
    ],
)
def test_nodes_are_rows(nodes, words):
    classifier = small(max_epochs=2).fit(*problem())
    with pytest.raises(GrandPlusError, match=words):
        classifier.predict(nodes)
    assert classifier.predict([]).shape == (0,)


def test_before_fit_it_says_so():
    with pytest.raises(NotFittedError):
        GrandPlusClassifier().predict()


UNKNOWN = np.arange(NODES) % 5 == 4
NAMES = np.array(["zoo", "ant", "bee"], object)


@pytest.mark.parametrize(
    ("names", "unknown", "kind"),
    [
        (np.arange(3), -1, int),
        (np.array([7, 27, 17]), -1, int),
        (np.arange(3), np.nan, int),
        (NAMES, None, str),
        (NAMES, np.nan, str),
        (NAMES, -1, str),
    ],
)
@pytest.mark.parametrize("given", [np.asarray, list])
def test_unknown_labels_are_left_out_and_predicted(names, unknown, kind, given):
    adjacency, X, numbers = problem()
    labels = names[numbers]
    classifier = small().fit(adjacency, X, given(np.where(UNKNOWN, unknown, labels)))
    assert classifier.classes_.tolist() == sorted(names)
    assert {type(name) for name in classifier.predict().tolist()} == {kind}
    assert (classifier.predict() == labels).mean() == 1


def test_given_nodes_are_trained_and_validated_on():
    adjacency, X, labels = problem()
    train, val = np.arange(15)[::-1], np.arange(15, 60)
    hidden = np.where(np.arange(NODES) < 60, labels, -1)
    first = small().fit(adjacency, X, labels, train=train, val=val).predict_proba()
    second = small().fit(adjacency, X, hidden, train=train, val=val).predict_proba()
    assert first.tobytes() == second.tobytes()


def test_masks_name_nodes_too():
    adjacency, X, labels = problem()
    parts = np.arange(NODES) % 9
    masks = small().fit(adjacency, X, labels, train=parts < 2, val=parts == 4)
    numbers = small().fit(adjacency, X, labels, train=np.flatnonzero(parts < 2), val=np.flatnonzero(parts == 4))
    assert masks.predict_proba().tobytes() == numbers.predict_proba().tobytes()
    assert masks.predict(parts == 7).tobytes() == masks.predict(np.flatnonzero(parts == 7)).tobytes()


def test_the_seed_decides_and_the_callers_threads_stay():
    adjacency, X, y = problem()
    torch.set_num_threads(2)
    runs = [small(seed=seed, max_epochs=3).fit(adjacency, X, y).predict_proba().tobytes() for seed in (0, 0, 1)]
    assert torch.get_num_threads() == 2
    assert runs[0] == runs[1] != runs[2]


def test_dense_and_sparse_features_and_both_triangles_are_the_same_problem():
    adjacency, X, y = problem()
    first = small(max_epochs=3).fit(adjacency, X, y)
    second = small(max_epochs=3).fit((adjacency + adjacency.T).tocoo(), X.tolist(), y.tolist())
    assert first.predict_proba().tobytes() == second.predict_proba().tobytes()


def test_arguments_are_left_as_they_are():
    adjacency, X, y = problem()
    sparse = sp.csr_array(X.astype(np.float32))
    sparse.data[3] = 0
    for array in (sparse.data, sparse.indices, sparse.indptr, adjacency.data, adjacency.indices, y):
        array.flags.writeable = False
    first = small(max_epochs=3).fit(adjacency, sparse, y).predict_proba()
    assert sparse.nnz == X.size
    assert first.tobytes() == small(max_epochs=3).fit(adjacency, sparse.tocoo(), y).predict_proba().tobytes()


def test_parameters_are_those_of_params_yaml():
    wanted = {*GFPush.model_fields, *Preprocess.model_fields, *Train.model_fields, "matrix", "seed", "trials"} - {
        "split"
    }
    assert set(inspect.signature(GrandPlusClassifier).parameters) == wanted
    assert {"matrix", "seed", "trials", "gfpush", "preprocess", "train"} <= set(Settings.model_fields)


@pytest.mark.parametrize("width", [10, 60])
def test_defaults_are_those_of_an_imported_card(width):
    raw = RawGraph(np.zeros((2, 0), np.int64), 9, np.eye(9, width), np.zeros(9, np.int64), ["a", "b"], np.arange(9), [])
    card = YAML(typ="safe", pure=True).load(card_text("own", {}, {"features": "as-is"}, raw))["avg"]
    wanted = GFPush(**card["gfpush"]).model_dump() | Train(**card["train"]).model_dump()
    mine = GrandPlusClassifier(dropout_input=0.5 if width >= 50 else 0).get_params()
    assert {name: mine[name] for name in wanted} == wanted


def test_scikit_learn_can_copy_and_change_it():
    classifier = GrandPlusClassifier(lr=0.5, matrix="ppr")
    assert clone(classifier).get_params() == classifier.get_params()
    assert classifier.set_params(hidden=3).hidden == 3
    assert repr(classifier) == "GrandPlusClassifier(hidden=3, lr=0.5, matrix='ppr')"


ADJACENCY, X, Y = problem()


@pytest.mark.parametrize(
    ("parameters", "arguments", "words"),
    [
        ({"lr": -1}, {}, "GrandPlusClassifier: train.lr is -1; expected greater than 0"),
        ({"matrix": "ppr"}, {}, "GrandPlusClassifier: gfpush.alpha is null; expected a value, as matrix is ppr"),
        ({"top_k": 0}, {}, "gfpush.top_k is 0"),
        ({"trials": 0}, {}, "trials is 0"),
        ({"train_per_class": 30}, {}, "class 0 has 30 nodes"),
        ({}, {"adjacency": np.eye(NODES)}, "adjacency: holds a ndarray; expected a sparse matrix"),
        ({}, {"adjacency": sp.eye_array(NODES, 3)}, "adjacency: has shape 90 x 3"),
        ({}, {"X": X[:5]}, "X: is .*5.*; expected numbers in 90 rows"),
        ({}, {"X": np.where(np.arange(NODES)[:, None] == 7, np.nan, X)}, "X: .*row 7"),
        ({}, {"y": Y[:5]}, r"y has shape \(5,\); expected \(90,\)"),
        ({}, {"y": np.eye(NODES)}, r"y has shape \(90, 90\)"),
        ({}, {"y": np.full(NODES, -1)}, r"y holds the labels \[\]; expected two classes"),
        ({}, {"y": np.where(Y > 0, 1, -1)}, r"y holds the labels \[1\]; expected two classes"),
        ({}, {"y": np.where(Y == 0, "a", Y.astype(object))}, "y holds labels of kinds int, str; expected names"),
        ({}, {"y": [[0], [1, 2]] * 45}, "y holds labels of kinds list"),
        ({}, {"train": [0, 1, 2]}, "val is not given"),
        ({}, {"train": [0, 1], "val": [1, 2]}, "val names a node that is named already"),
        ({}, {"train": [0, 0], "val": [1, 2]}, "train names a node that is named already"),
        ({}, {"train": [0, 90], "val": [1, 2]}, "train names node 90; expected 0 to 89"),
        ({}, {"train": [0, -2], "val": [1, 2]}, "train names node -2; expected 0 to 89"),
        ({}, {"train": [], "val": [1, 2]}, "train names no node"),
        ({}, {"train": [True] * 3, "val": [1, 2]}, "train has .* type bool"),
        ({}, {"train": [0.0, 1.0], "val": [1, 2]}, "train has .* type float64"),
        ({}, {"train": [0, 1], "val": [2], "y": np.where(Y == 2, -1, Y)}, "val names node 2; expected nodes with a kn"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(parameters, arguments, words):
    given = {"adjacency": ADJACENCY, "X": X, "y": Y} | arguments
    with pytest.raises(GrandPlusError, match=words):
        small(**parameters).fit(**given)
