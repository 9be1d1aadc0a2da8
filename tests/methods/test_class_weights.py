"""Class weights: the rule, what is refused, and that a node counts in training as often as its class says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.class_weight import compute_class_weight
from small_graph import small_graph, small_split

from grandplus.methods.class_weights import class_weights
from grandplus.methods.fitting import fit
from grandplus.methods.graphsaint.method import Batches
from grandplus.methods.graphsaint.sampler import Sampler
from grandplus.methods.losses import supervised_loss
from grandplus.methods.protocol import Task
from grandplus.methods.registry import NAMES, method_of, settings_of
from grandplus.methods.scores import decisive_scores, part_scores
from grandplus.methods.training import weights_of
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import PPR
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import validated

SAMPLED = ("fastgcn", "graphsaint")  # their steps are random, whatever the settings
TWICE = {"a": 2.0}
# Nothing is drawn at random, and every step sees all training nodes.
PLAIN = {"lr": 0.003, "weight_decay": 0.0}  # with larger steps rounding grows, by as much as the processor has it
DETERMINISTIC = {
    "grandplus": {"dropnode": 0.0, "dropout_input": 0.0, "dropout_hidden": 0.0, "lambda_max": 0.0, "max_epochs": 20},
    "grand": {"dropnode": 0.0, "dropout_input": 0.0, "dropout_hidden": 0.0, "lambda_max": 0.0, "epochs": 20},
    "gcnii": {"dropout": 0.0, "layers": 4, "weight_decay_convolutions": 0.0, "epochs": 12},
    "sgc": {"epochs": 20},
}


def task(train=None):
    graph, split = small_graph(), small_split()
    split = split if train is None else replace(split, train=train)
    rows = gfpush(graph, np.arange(30), weights=PPR(alpha=0.2, order=4).weights(), rmax=0.0, top_k=30)
    return Task(graph, split, rows)


def settings(name, **changes):
    own = DETERMINISTIC.get(name, {"dropout": 0.0, "epochs": 20})
    return validated(settings_of(name).Settings, PLAIN | own | changes, "")


@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_balanced_weights_are_those_of_scikit_learn(labels):
    weights = class_weights("balanced", ["a", "b", "c", "d"], labels)
    occurring = np.unique(labels)
    np.testing.assert_allclose(weights[occurring], compute_class_weight("balanced", classes=occurring, y=labels))
    assert weights[labels].mean() == pytest.approx(1)
    assert (np.delete(weights, occurring) == 1).all()


def test_weights_by_name():
    assert class_weights({"c": 7.0, "a": 0.5}, ["a", "b", "c"], [0]).tolist() == [0.5, 1, 7]
    assert class_weights(None, ["a"], [0]) is None
    assert class_weights({}, ["a"], [0]) is None


def test_an_unknown_class_is_refused_with_the_classes():
    with pytest.raises(GrandPlusError) as refused:
        fit(task(), settings("sgc", class_weight={"A": 3}))
    assert str(refused.value) == (
        "train.class_weight has 3 for 'A', which is no class; expected names among a, b, c; did you mean a?"
    )


@pytest.mark.parametrize("value", [-1, 0, 1e-46, 1e38, float("nan"), float("inf"), True, "many", None, [1]])
def test_an_impossible_weight_is_refused(value):
    with pytest.raises(GrandPlusError) as refused:
        validated(settings_of("gcn").Settings, {"class_weight": {"rare": value}}, "params.yaml", "train.")
    found = f"params.yaml: train.class_weight of rare is {value!r}; expected a number from 1e-09 to 1e+09"
    assert str(refused.value) == found


@pytest.mark.parametrize("value", ["equal", 3, [1, 2], True])
def test_what_is_no_mapping_is_refused(value):
    with pytest.raises(GrandPlusError, match="expected null, balanced, or weights by name of class"):
        validated(settings_of("gcn").Settings, {"class_weight": value}, "", "train.")


def test_names_may_be_numbers_and_numbers_text():
    read = validated(settings_of("gcn").Settings, {"class_weight": {1: "1e1", "b": 2}}, "")
    assert read.class_weight == {"1": 10.0, "b": 2.0}


@given(
    logits=arrays.arrays(np.float32, (2, 6, 3), elements=st.floats(-9, 9, width=32)),
    labels=st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_the_weighted_loss_is_the_dense_mean(logits, labels):
    exact, weights = logits.astype(np.float64), np.array([0.5, 1.0, 8.0])
    logs = exact - np.log(np.exp(exact).sum(axis=-1, keepdims=True))
    expected = -np.mean([weights[label] * logs[m, node, label] for m in range(2) for node, label in enumerate(labels)])
    loss = supervised_loss(torch.from_numpy(logits), torch.tensor(labels), torch.from_numpy(weights).float())
    assert loss.item() == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SAMPLED])
def test_a_weight_of_two_trains_as_nodes_that_are_there_twice(name):
    """The losses have a constant ratio, which Adam does not see without weight decay."""
    train = small_split().train
    rare = train[small_graph().labels[train] == 0]
    weighted = fit(task(), settings(name, class_weight=TWICE)).history["val_loss"]
    repeated = fit(task(np.sort(np.concatenate([train, rare]))), settings(name)).history["val_loss"]
    plain = fit(task(), settings(name)).history["val_loss"]
    steps = min(map(len, (plain, weighted, repeated)))
    assert steps > 1
    np.testing.assert_allclose(weighted[:steps], repeated[:steps], rtol=1e-3)
    assert not np.allclose(weighted[:steps], plain[:steps], rtol=1e-3)


def test_fastgcn_passes_its_weights_on(monkeypatch):
    method, seen = method_of("fastgcn"), []
    monkeypatch.setattr(method, "supervised_loss", lambda *given: seen.append(given[2]) or supervised_loss(*given))
    fit(task(), settings("fastgcn", class_weight={"b": 3}))
    assert {tuple(weights.tolist()) for weights in seen} == {(1.0, 3.0, 1.0)}


def test_graphsaint_multiplies_its_weights_of_losses():
    made, train = task(), small_split().train
    sampler = Sampler(made.graph.adjacency, train, walks=10, depth=2, seed=0)
    sampler.count(5)
    weights = weights_of(made, settings("graphsaint", class_weight={"b": 3}))
    plain, weighted = Batches(made, sampler), Batches(made, sampler, weights)
    for _ in range(3):
        before, after = plain.following(), weighted.following()
        expected = before.weights * torch.where(before.labels == 1, 3.0, 1.0)
        torch.testing.assert_close(after.weights, expected)


@given(
    predicted=st.lists(st.integers(0, 2), min_size=9, max_size=9),
    order=st.permutations(range(9)),
)
def test_early_stopping_goes_by_balanced_accuracy_if_weights_are_balanced(predicted, order):
    labels = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2])
    weights = torch.from_numpy(class_weights("balanced", ["a", "b", "c"], labels)).float()
    logits = torch.eye(3)[predicted] * 4

    def scored(nodes):
        parts = logits[nodes], torch.from_numpy(labels[nodes])
        return decisive_scores(part_scores("val", *parts), *parts, weights)

    accuracy, loss = scored(np.arange(9))
    assert accuracy == pytest.approx(balanced_accuracy_score(labels, predicted))
    losses = torch.nn.functional.cross_entropy(logits.double(), torch.from_numpy(labels), reduction="none")
    assert loss == pytest.approx(np.average(losses, weights=weights[labels]))
    assert scored(np.array(order))[0] == accuracy  # to the bit: early stopping counts ties


@pytest.mark.parametrize("name", NAMES)
def test_balanced_classes_of_equal_size_change_next_to_nothing(name):
    graph = small_graph()  # with three training nodes of each class
    plain, balanced = (
        fit(task(), settings(name, class_weight=weight)).model.predict_proba(graph) for weight in (None, "balanced")
    )
    np.testing.assert_allclose(plain, balanced, atol=1e-3)
