"""What speaks against a result before anything is trained is said at import."""

import numpy as np
import pytest
import scipy.sparse as sp

import grandplus as gp
from grandplus.importing import files

LABELS = np.arange(240) % 3


def remarks(checkout, monkeypatch, *, alike: int, constant: bool = False, few: bool = False) -> list[str]:
    """Of a graph whose nodes are joined to the node that is so many places after them."""
    monkeypatch.chdir(checkout)
    # Of features that are noise, chance would choose the order; and one of 0 uses no edge.
    monkeypatch.setattr(files, "suited_order", lambda *_: 2)
    nodes = np.arange(len(LABELS))
    edges = np.array([nodes, np.roll(nodes, -alike)])
    adjacency = sp.coo_array((np.ones(len(nodes)), edges), shape=(len(nodes),) * 2)
    X = np.ones((len(nodes), 4)) if constant else np.random.default_rng(0).normal(size=(len(nodes), 4))
    y = np.where(nodes < 6, 3, LABELS) if few else LABELS
    lines = gp.save_dataset("mine", adjacency, X, y, shortage="shrink" if few else "fail").splitlines()
    return [line for line in lines if line.startswith("remark ")]


def test_a_good_graph_earns_no_remark(checkout, monkeypatch):
    assert remarks(checkout, monkeypatch, alike=3) == []


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ({"alike": 1}, "remark    edges hardly join nodes of the same class: 0.00 % of "),
        ({"alike": 3, "constant": True}, "remark    all 240 nodes have the same features; try preprocess.features=one"),
        ({"alike": 3, "few": True}, "remark    class 3 has fewer than 5 nodes to validate on (3); try more labelled"),
    ],
)
def test_each_rule_that_needs_no_training(checkout, monkeypatch, graph, words):
    [remark] = remarks(checkout, monkeypatch, **graph)
    assert remark.startswith(words)
