"""A threshold for two classes: which one is chosen, and what follows from it."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.prediction.calibration import Calibration, HeldOut
from grandplus.prediction.decision import decision_threshold
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.runtime.errors import GrandPlusError

NODES = 60


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=2, max_size=30))
def test_no_threshold_has_a_higher_balanced_accuracy(nodes):
    shares, labels = (np.array(column) for column in zip(*nodes, strict=True))
    second = (shares / 20).astype(np.float32)
    threshold = decision_threshold(second, labels)
    if len(set(labels.tolist())) == 1:
        assert threshold is None
        return

    def score(cut):
        return balanced_accuracy_score(labels, second >= cut)

    every = [*np.unique(second)[1:], 0.5]  # those that predict both classes, and the plain one
    assert score(threshold) == pytest.approx(max(map(score, every)))
    if score(0.5) == pytest.approx(score(threshold)):
        assert threshold == 0.5  # what tells nothing changes nothing


def test_unknown_labels_have_no_part_in_it():
    second, labels = np.array([0.1, 0.2, 0.15], np.float32), np.array([0, 1, -1])
    assert decision_threshold(second, labels) == decision_threshold(second[:2], labels[:2]) == pytest.approx(0.15)


def problem(classes=("common", "rare"), spread=1):
    """Every fifth node is rare, and its probability of being so is higher, but below a half."""
    labels = (np.arange(NODES) % 5 == 0).astype(np.int64) * spread
    rng = np.random.default_rng(0)
    second = np.where(labels == 1, 0.3, 0.1) + 0.15 * rng.random(NODES)
    shares = np.stack([1 - second, second, *np.zeros((len(classes) - 2, NODES))], axis=1)
    ids = np.arange(NODES)
    graph = Graph(as_adjacency(sp.eye_array(NODES)), np.eye(NODES, dtype=np.float32), labels, [*classes], ids)
    public = [{"train": ids[:20], "val": ids[20:40]}]
    splits = make_splits(labels, Preprocess(features="as-is", split="public"), public, seed=0, trials=1)
    return graph, splits, shares.astype(np.float32)


def written(folder, decision, graph, splits, shares):
    write_trial(folder / "trial-00000.parquet", graph, splits.of(0), shares)
    write_predictions(folder, graph, splits, decision)
    return pq.read_table(folder / "predictions.parquet"), Calibration.load(folder / "calibration.json")


def test_only_if_asked_the_threshold_decides(tmp_path):
    graph, splits, shares = problem()
    tables = {}
    for decision in ("most-probable", "threshold"):
        (tmp_path / decision).mkdir()
        tables[decision], calibration = written(tmp_path / decision, decision, graph, splits, shares)
        assert calibration.decision == decision
        assert calibration.decision_threshold is not None
    plain, cut = tables["most-probable"].to_pydict(), tables["threshold"].to_pydict()
    assert set(plain["predicted"]) == {"common"}
    second = np.array(cut["probabilities"])[:, 1]
    rare = second >= calibration.decision_threshold
    assert cut["predicted"] == np.where(rare, "rare", "common").tolist()
    assert 0 < rare.sum() < NODES
    np.testing.assert_allclose(cut["confidence"], np.where(rare, second, 1 - second), atol=1e-6)
    assert cut["probabilities"] == plain["probabilities"]


def test_labels_of_test_nodes_have_no_part_in_it(tmp_path):
    graph, splits, shares = problem()
    other = np.where(np.isin(np.arange(NODES), splits.of(0).val), graph.labels, 1 - graph.labels)
    turned = Graph(graph.adjacency, graph.features, other, graph.classes, graph.node_ids)
    found = []
    for number, one in enumerate((graph, turned)):
        (tmp_path / str(number)).mkdir()
        found.append(written(tmp_path / str(number), "threshold", one, splits, shares)[1])
    assert found[0] == found[1]


def test_of_more_classes_the_file_says_nothing_of_it(tmp_path):
    _, calibration = written(tmp_path, "most-probable", *problem(("a", "b", "c")))
    assert calibration.decision_threshold is None
    content = json.loads((tmp_path / "calibration.json").read_text())
    assert list(content) == ["temperatures", "threshold", "precision", "certainty"]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"classes": ("a", "b", "c")}, "there are 3 classes; expected two for a threshold"),
        ({"spread": 0}, "all validation nodes are of one class; expected nodes of both to choose it on"),
    ],
)
def test_where_there_is_nothing_to_choose_it_is_refused(changes, found):
    graph, splits, _ = problem(**changes)
    with pytest.raises(GrandPlusError, match=f"infer.decision is threshold, and {found}"):
        HeldOut(graph, splits, "threshold")
