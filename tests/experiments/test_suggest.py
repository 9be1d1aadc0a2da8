"""The experiment on what to label: what rules may choose, and that a kill loses no repetition."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.suggest import __main__ as experiment
from experiments.suggest.learner import Learner
from grandplus.pipeline.cases import Case


@pytest.fixture
def graph(prepared, tmp_path, monkeypatch):
    """Of 60 nodes, in place of each dataset's; 4, 8 and 12 labels are tried."""
    made = prepared(Case("cora", "ppr"), 1).graph
    more = np.random.default_rng(1).random((60, 40)).astype(np.float32)  # so that no row follows from others
    made = replace(made, features=np.hstack([made.features, more]))
    made.labels[:5] = -1
    (tmp_path / "graph").mkdir()
    made.save(tmp_path / "graph")
    monkeypatch.setattr(experiment, "graph_folder", lambda _: tmp_path / "graph")
    monkeypatch.setattr(experiment, "LABELS", range(4, 13, 4))
    monkeypatch.setattr(experiment, "ROUND", 4)
    monkeypatch.setattr(experiment, "FOLDER", tmp_path)
    monkeypatch.setattr(experiment, "FILE", tmp_path / "accuracy.csv")
    monkeypatch.setattr(experiment, "CHOOSING", ("cora",))
    monkeypatch.setattr(experiment, "SHOWING", ("citeseer",))
    return made


@pytest.mark.parametrize("rule", experiment.RULES)
def test_rules_choose_among_the_pool_each_node_once(graph, rule):
    pool = np.arange(5, 60, 2)
    chosen = experiment.RULES[rule](graph, Learner(graph), pool, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 12
    assert np.isin(chosen, pool).all()


def test_the_learner_sees_no_other_label(graph):
    labelled = np.array([7, 8, 9, 30])
    before = Learner(graph).probabilities(labelled)
    others = np.setdiff1d(np.arange(60), labelled)
    graph.labels[others] = (graph.labels[others] + 1) % 3
    np.testing.assert_array_equal(Learner(graph).probabilities(labelled), before)
    np.testing.assert_allclose(before.sum(axis=1), 1)
    assert before[labelled].argmax(axis=1).tolist() == graph.labels[labelled].tolist()


def test_a_class_without_a_label_is_never_predicted(graph):
    labelled = np.flatnonzero(graph.labels == 1)[:3]
    assert Learner(graph).probabilities(labelled).tolist() == [[0, 1, 0]] * 60


def test_repetitions_are_completed_and_a_table_is_written(graph, tmp_path):
    experiment.make(2)
    whole = (tmp_path / "accuracy.csv").read_text()
    assert len(whole.splitlines()) == 1 + 2 * 2 * len(experiment.RULES)
    (tmp_path / "accuracy.csv").write_text("".join(whole.splitlines(keepends=True)[:7]))
    experiment.make(2)
    assert (tmp_path / "accuracy.csv").read_text() == whole
    lines = (tmp_path / "table.md").read_text().splitlines()
    assert lines[0].startswith("| dataset | rule | 4 labels | 8 labels | 12 labels | mean | 95 % CI |")
    assert len(lines) == 2 + 2 * len(experiment.RULES)
    assert (tmp_path / "accuracy.png").read_bytes().startswith(b"\x89PNG")
