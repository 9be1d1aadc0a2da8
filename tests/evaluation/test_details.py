"""Details of a run, against numbers worked out by hand or anew."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import NODES, run

from grandplus.evaluation.details import overlap_of
from grandplus.evaluation.groups import accuracy_of_groups
from grandplus.evaluation.statistics import over_trials


@pytest.fixture(scope="module")
def of_run():
    return run("a", trials=4, skill=0.8, gfpush={"top_k": 3}, train={"lr": 0.5})


def test_details_agree_with_the_metrics(of_run):
    details, metrics = of_run.details, of_run.metrics
    for part in ("test", "val"):
        expected = over_trials(details["accuracy"][part], overlap=overlap_of(details))
        assert expected == pytest.approx(metrics[part]["accuracy"], abs=2e-6)
    assert details["reliability"]["before"]["ece"] == metrics["test"]["ece"]["mean"]
    assert details["reliability"]["after"]["ece"] == metrics["test"]["ece"]["calibrated"]
    confusion = np.array(details["confusion"])
    tested = details["parts"]["test"] * 4
    assert confusion.sum() == sum(details["reliability"]["before"]["count"]) == tested
    assert np.trace(confusion) / tested == pytest.approx(metrics["test"]["accuracy"]["mean"], abs=1e-6)


def test_groups_hold_every_test_node_that_has_a_value(of_run):
    details = of_run.details
    for groups in (details["by_degree"], details["by_l1_error"]):
        assert sum(of["nodes"] for of in groups) == pytest.approx(details["parts"]["test"], abs=0.05 * len(groups))
        assert [of["low"] for of in groups] == sorted({of["low"] for of in groups})


def test_what_differs_from_the_card_is_told(of_run):
    changed = of_run.details["changed"]
    assert changed["gfpush.top_k"] == [32, 3]
    assert changed["train.lr"] == [0.01, 0.5]
    assert set(changed) == {
        "gfpush.top_k",
        "train.lr",
        "preprocess.split",
        "preprocess.train_per_class",
        "preprocess.val_per_class",
        "preprocess.unlabelled",
    }


def test_equal_splits_have_equal_digests(of_run):
    splits = of_run.details["splits"]
    assert run("b", trials=6, skill=0.5).details["splits"][:4] == splits
    assert len(set(splits)) == 4
    assert not set(splits) & set(run("c", seed=1).details["splits"])
    assert of_run.details["graph"]["nodes"] == NODES


def test_losses_are_means_over_trials(of_run):
    losses = of_run.details["losses"]
    assert losses["step"] == [0, 10, 20, 30, 40]
    assert losses["train"] == pytest.approx(np.exp(-np.arange(0, 50, 10) / 20), abs=1e-6)
    assert losses["val"] == pytest.approx(np.exp(-np.arange(0, 50, 10) / 40), abs=1e-6)


def test_details_are_plain_json(of_run):
    assert json.loads(json.dumps(of_run.details, allow_nan=False)) == of_run.details


@given(st.lists(st.lists(st.tuples(st.floats(0, 8), st.booleans()), max_size=12), min_size=1, max_size=4))
def test_accuracy_of_groups_by_the_definition(trials):
    edges = [0, 1, 3, 8]
    values = [np.array([value for value, _ in trial]) for trial in trials]
    correct = [np.array([hit for _, hit in trial], bool) for trial in trials]
    expected = []
    for low, high in itertools.pairwise(edges):
        held = [[hit for value, hit in trial if low <= value < high or value == high == 8] for trial in trials]
        shares = [sum(of) / len(of) for of in held if of]
        if shares:
            nodes = round(float(np.mean([len(of) for of in held])), 1)
            expected.append({"low": low, "high": high, "nodes": nodes} | over_trials(shares))
    found = accuracy_of_groups(values, np.array(edges), correct)
    assert found == [pytest.approx(group) for group in expected]


def test_splits_that_are_drawn_widen_the_interval_of_each_group():
    values, correct = [np.zeros(2)] * 2, [np.array([True, True]), np.array([True, False])]
    [narrow], [wide] = (accuracy_of_groups(values, np.array([0, 1]), correct, overlap) for overlap in (0.0, 0.25))
    assert wide["ci95"] / narrow["ci95"] == pytest.approx((1 + 2 * 0.25) ** 0.5)
    assert (wide["mean"], wide["std"]) == (narrow["mean"], narrow["std"])


def test_nodes_without_a_value_count_nowhere():
    values, correct = [np.array([0.5, np.nan, 0.5])], [np.array([True, True, False])]
    [group] = accuracy_of_groups(values, np.array([0.0, 1.0]), correct)
    assert (group["nodes"], group["mean"]) == (2, 0.5)
    assert accuracy_of_groups(values, np.empty(0), correct) == []
