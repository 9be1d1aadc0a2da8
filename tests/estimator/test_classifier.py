"""The classifier on graphs in memory: labels of any kind, given splits, parameters, and what is refused.

That it gives the pipeline's bytes is tested beside the pipeline, in tests/stages.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from communities import NODES, problem, small
from ruamel.yaml import YAML
from sklearn.exceptions import NotFittedError

from grandplus import GrandPlusClassifier
from grandplus.estimator.base import _Latest
from grandplus.importing.python import save_dataset
from grandplus.methods.grandplus.settings import Settings as Train
from grandplus.methods.remaining import Estimate
from grandplus.propagation.matrices import Average
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import ArgumentError, GrandPlusError


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
        (["cust-1"], "nodes has shape .1,. and type <U6; expected row numbers, or a mask of 90"),
        ([0.0], "nodes has shape .1,. and type float64"),
        ([True, False], "nodes has shape .2,. and type bool"),
        ([0, NODES], "nodes names node 90; expected 0 to 89"),
        ([-1], "nodes names node -1; expected 0 to 89"),
        (3, r"nodes has shape \(\) and type int64"),
    ],
)
def test_nodes_are_rows(nodes, words):
    classifier = small(max_epochs=2).fit(*problem())
    with pytest.raises(ArgumentError, match=words):
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
    runs = [small(random_state=seed, max_epochs=3).fit(adjacency, X, y).predict_proba().tobytes() for seed in (0, 0, 1)]
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


@pytest.mark.parametrize("features", ["as-is", "row-normalize", "standardize", "adjacency"])
@pytest.mark.parametrize("width", [10, 60])
def test_defaults_are_those_of_an_imported_card(tmp_path, width, features):
    """Also the order, on a graph whose edges say nothing."""
    _, X, y = problem()
    X = np.hstack([np.abs(X), np.zeros((NODES, width - 3))])
    edges = np.random.default_rng(0).integers(NODES, size=(2, 2 * NODES))
    (tmp_path / "data/catalog").mkdir(parents=True)
    chosen = {"features": features, "train_per_class": 4, "val_per_class": 14}
    save_dataset("mine", edges, X, y, root=tmp_path, **chosen)
    card = YAML(typ="safe", pure=True).load((tmp_path / "data/catalog/mine.yaml").read_text())
    classifier = GrandPlusClassifier(max_epochs=1, **chosen).fit(edges, X, y)
    wanted, info = card["gfpush"]["any"] | card["gfpush"].get("avg", {}), classifier.rows_.info
    assert info.top_k == GFPush(top_k=wanted["top_k"]).top_k
    assert len(info.weights) - 1 == wanted.get("order", Average().order)
    mine = classifier.models_[0].settings.model_dump() | {"max_epochs": Train().max_epochs}
    assert mine == Train(**card["train"].get("any", {}) | card["train"].get("avg", {})).model_dump()


def data(**changes):
    """As PyTorch Geometric has it."""
    adjacency, X, y = problem()
    edges = torch.tensor(np.stack(adjacency.nonzero()), dtype=torch.int64)
    parts = np.arange(NODES) % 9
    masks = {"train_mask": parts < 2, "val_mask": parts == 4, "test_mask": parts > 6}
    tensors = {"edge_index": edges, "x": torch.tensor(X), "y": torch.tensor(y), "edge_weight": None, "edge_attr": None}
    return SimpleNamespace(**tensors | {name: torch.tensor(mask) for name, mask in masks.items()} | changes)


def test_data_of_pytorch_geometric_is_enough():
    adjacency, X, y = problem()
    parts = np.arange(NODES) % 9
    arrays = small().fit(adjacency, X, y, train=parts < 2, val=parts == 4, test=parts > 6)
    classifier = small().fit(data())
    assert classifier.predict_proba().tobytes() == arrays.predict_proba().tobytes()
    # Those in no mask, of which Data can't say that they have no label.
    assert classifier.graph_facts_["unlabelled_nodes"] == np.isin(parts, [2, 3, 5, 6]).sum()
    assert arrays.graph_facts_["unlabelled_nodes"] == 0
    assert small().fit(data(), train=parts < 3, val=parts > 3).predict(data().test_mask).shape == (20,)


def test_each_trial_takes_a_split_of_its_own():
    parts = np.arange(NODES) % 9
    masks = {"train_mask": parts < 2, "val_mask": parts == 4}
    two = {name: torch.tensor(np.stack([mask, np.roll(mask, 1)], axis=1)) for name, mask in masks.items()}
    both = small(trials=2).fit(data(**two))
    second = small().fit(data(train_mask=two["train_mask"][:, 1], val_mask=two["val_mask"][:, 1]))
    assert both.calibration_.temperatures[0] == small().fit(data()).calibration_.temperatures[0]
    assert both.models_[1].info["val_accuracy"] == second.models_[0].info["val_accuracy"]
    with pytest.raises(ArgumentError, match="val has 2 splits; expected 3"):
        small().fit(data(train_mask=torch.ones(NODES, 3, dtype=torch.bool), val_mask=two["val_mask"], test_mask=None))


def test_weights_are_refused_unless_they_are_to_be_ignored():
    adjacency, X, y = problem()
    weighted = 0.5 * adjacency
    plain = small(max_epochs=3).fit(adjacency, X, y)
    ignoring = small(max_epochs=3, edge_weights="ignore").fit(weighted, X, y)
    assert ignoring.predict_proba().tobytes() == plain.predict_proba().tobytes()
    with pytest.raises(ArgumentError, match="has edge_weight; expected edges without weights"):
        small().fit(data(edge_weight=torch.ones(3)))


def test_what_was_counted_is_kept():
    adjacency, X, y = problem()
    entries = sp.coo_array(adjacency)
    rows, columns = np.append(entries.row, [5, entries.col[0]]), np.append(entries.col, [5, entries.row[0]])
    X[7], y = 0, np.where(np.arange(NODES) < 4, -1, y)
    facts = small(max_epochs=1).fit(np.stack([rows, columns]), X, y).graph_facts_
    wanted = {"nodes": 90, "edges": adjacency.nnz, "merged_duplicates": 1, "dropped_self_loops": 1, "classes": 3}
    wanted |= {"isolated_nodes": 0, "unlabelled_nodes": 4, "zero_feature_rows": 1, "features": 3}
    assert facts == wanted


@pytest.mark.parametrize("features", ["adjacency", "standardized-adjacency"])
def test_features_can_be_made_from_the_graph(features):
    adjacency, _, y = problem()
    classifier = small(features=features, dropout_input=None, max_epochs=3).fit(adjacency, y=y)
    assert classifier.graph_facts_["features"] == NODES
    assert classifier.models_[0].settings.dropout_input == 0.5
    assert not hasattr(classifier, "n_features_in_")


def test_as_many_nodes_can_be_drawn_from_all_alike():
    adjacency, X, y = problem()
    y = np.where((y == 0) & (np.arange(NODES) > 30), -1, y)  # of class 0 there are too few for 4 and 14
    with pytest.raises(ArgumentError, match="class 0 has 11 nodes"):
        small().fit(adjacency, X, y)
    assert small(split="uniform").fit(adjacency, X, y).predict_proba().shape == (NODES, 3)


def test_a_training_that_fails_names_parameters():
    with pytest.raises(GrandPlusError, match=r"^the loss became \S+ at step \d+; lower lr, or set clip$") as caught:
        small(lr=1e30, dropnode=0.0, weight_decay=1e30, max_epochs=500).fit(*problem())
    assert not isinstance(caught.value, ValueError)


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal(terminal, monkeypatch, capsys):
    adjacency, X, y = problem()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    small(max_epochs=3).fit(adjacency, X, y)
    assert capsys.readouterr().err == ""
    small(max_epochs=3, trials=2, verbose=True).fit(adjacency, X, y)
    assert ("GrandPlusClassifier: 100%" in capsys.readouterr().err) == terminal


def test_the_time_that_is_left_is_told_beside_the_latest_validation(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("grandplus.methods.remaining.time.monotonic", lambda: now[0])
    latest = _Latest(Estimate(2, most=1000, patience=100))
    watch = latest.watch_of_next()
    assert latest.note() == ""
    for now[0], step in ((0.0, 0), (2.0, 20)):
        watch({"step": step, "val_accuracy": 0.8, "val_loss": 0.5 - step})
    # 100 steps each, at 10 steps a second.
    assert latest.note() == "00:22 left if validation improves no more, at most 03:18; step 20, validation 80.0%"
    latest.watch_of_next()({"step": 0, "val_accuracy": 0.7, "val_loss": 1.0})
    assert latest.note() == "about 00:10 left; step 0, validation 70.0%"


ADJACENCY, X, Y = problem()


@pytest.mark.parametrize(
    ("parameters", "arguments", "words"),
    [
        ({"lr": -1}, {}, "^GrandPlusClassifier: lr is -1; expected greater than 0$"),
        ({"matrix": "pagerank"}, {}, "^GrandPlusClassifier: matrix is 'pagerank'; expected one of ppr, avg, single"),
        ({"matrix": ["ppr"]}, {}, r"matrix is \['ppr'\]; expected one of ppr, avg, single"),
        ({"matrix": "custom", "order": None}, {}, "weights is None; expected a value, as matrix is custom"),
        ({"alpha": 0.3}, {}, "alpha is 0.3; expected None, as matrix is avg"),
        ({"matrix": "ppr", "alpha": 2}, {}, "GrandPlusClassifier: alpha is 2; expected less than or equal to 1"),
        ({"matrix": "custom", "weights": [0.5], "order": None}, {}, "sum to 0.5; expected a sum of 1"),
        ({"top_k": 0}, {}, "top_k is 0"),
        ({"trials": 0}, {}, "trials is 0"),
        ({"random_state": -1}, {}, "random_state is -1"),
        ({"random_state": "one"}, {}, "random_state is 'one'"),
        ({"edge_weights": "sum"}, {}, 'edge_weights is .sum.; expected None, "ignore" or "use"'),
        ({"verbose": "loud"}, {}, "verbose is 'loud'"),
        ({"features": "l2"}, {}, "features is 'l2'; expected 'row-normalize'"),
        ({"embed": True}, {}, "^embed is true, but the features are dense; set embed to false$"),
        ({"train_per_class": 30}, {}, "class 0 has 30 nodes; .* or set split to uniform, or shortage to shrink"),
        ({"split": "random"}, {}, "split is 'random'; expected 'public', 'per-class' or 'uniform'"),
        ({}, {"graph": "cora"}, "graph is a str; expected a scipy sparse matrix"),
        ({}, {"graph": sp.eye_array(NODES, 3)}, "adjacency: has shape 90 x 3; expected a square matrix"),
        ({}, {"graph": 2 * ADJACENCY}, 'adjacency: has an edge of weight 2; .* say edge_weights="use", or'),
        ({"features": None}, {"X": None}, "there is no X, and features is None; expected X, or features of the graph"),
        ({}, {"y": None}, "there are no labels"),
        ({}, {"X": X[:5]}, "X: is .*5.*; expected numbers in 90 rows"),
        ({}, {"X": np.where(np.arange(NODES)[:, None] == 7, np.nan, X)}, "X: .*row 7"),
        ({}, {"y": Y[:5]}, r"y has shape \(5,\); expected \(90,\), a label for each node"),
        ({}, {"y": np.eye(NODES)}, r"y has shape \(90, 90\)"),
        ({}, {"y": np.full(NODES, -1)}, r"y holds the labels \[\]; expected two classes"),
        ({}, {"y": np.where(Y > 0, 1, -1)}, r"y holds the labels \[1\]; expected two classes"),
        ({}, {"y": np.where(Y == 0, "a", Y.astype(object))}, "y holds labels of kinds int, str; expected names"),
        ({}, {"y": np.where(Y == 0, 0.5, Y)}, "y holds 0.5; expected classes, not a quantity"),
        ({}, {"y": np.arange(NODES)}, "y has another label for each of 90 nodes, like 0; expected classes"),
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
    given = {"graph": ADJACENCY, "X": X, "y": Y} | arguments
    with pytest.raises(ArgumentError, match=words):
        small(**parameters).fit(**given)
