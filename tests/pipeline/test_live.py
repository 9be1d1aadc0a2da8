"""Partial metrics of running trials."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.grandplus.method import fit
from grandplus.methods.protocol import Task
from grandplus.methods.remaining import Estimate
from grandplus.pipeline import live
from grandplus.pipeline.live import Live, Watch
from grandplus.pipeline.settings import load_settings
from grandplus.propagation.gfpush import gfpush

ESTIMATE = Estimate(trials=2, most=1000, patience=None)
SCORES = {"step": 10.0, "train_loss": 0.5, "train_accuracy": 0.9, "val_loss": 0.7, "val_accuracy": 0.8}


def test_means_over_the_trials_that_have_begun(tmp_path):
    file = tmp_path / "live" / "metrics.json"
    with Live(file, tmp_path / "notes", ESTIMATE) as partial:
        assert partial.sum_up() == ""
        assert not file.exists()
        Watch(tmp_path / "notes", 0)(SCORES | {"consistency_loss": 3.0})
        Watch(tmp_path / "notes", 7)(SCORES | {"step": 30.0, "val_accuracy": 0.9})
        assert partial.sum_up() == "step 20 on average, validation accuracy 85.0 %"
        found = json.loads(file.read_text())
        assert found == pytest.approx(SCORES | {"trials_begun": 2, "step": 20, "val_accuracy": 0.85})
    assert not file.exists()
    assert not (tmp_path / "notes").exists()


def test_means_that_cannot_be_written_are_told_all_the_same(tmp_path):
    (tmp_path / "live").touch()  # where a folder should be
    with Live(tmp_path / "live" / "metrics.json", tmp_path / "notes", ESTIMATE) as partial:
        Watch(tmp_path / "notes", 0)(SCORES)
        assert partial.sum_up() == "step 10 on average, validation accuracy 80.0 %"
        (tmp_path / "live").unlink()
        partial.sum_up()
        assert (tmp_path / "live" / "metrics.json").exists()
    assert not list((tmp_path / "live").iterdir())


def test_a_trial_notes_its_latest_but_not_each(tmp_path, monkeypatch):
    watch, now = Watch(tmp_path, 0), iter([0.0, 0.0, 0.0, 0.4, 0.4, 1.0, 1.0, 1.0, 1.2, 1.2])
    monkeypatch.setattr(live.time, "monotonic", lambda: next(now))
    seen = []
    for step in (10, 20, 30):
        watch(SCORES | {"step": step})
        seen.append(json.loads((tmp_path / "trial-00000.json").read_text())["scores"]["step"])
    assert seen == [10, 10, 30]
    watch(SCORES | {"step": 40})
    watch.end()
    note = json.loads((tmp_path / "trial-00000.json").read_text())
    assert note["scores"] == SCORES | {"step": 40}
    assert note["course"] == {"step": 40, "gained": 40, "seconds": 1.2, "ended": True}


def test_what_is_left_is_told_before_a_trial_has_ended(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    with Live(tmp_path / "metrics.json", tmp_path / "notes", Estimate(2, most=1000, patience=100)) as partial:
        watch = Watch(tmp_path / "notes", 0)
        for now[0], step in ((0.0, 0), (2.0, 20)):
            watch(SCORES | {"step": step})
        # 100 steps, and 120 of the other trial, at 10 steps a second.
        left = "00:22 left if validation improves no more, at most 03:18"
        assert partial.sum_up() == f"{left}; step 20 on average, validation accuracy 80.0 %"
        watch.end()
        assert partial.sum_up().startswith("about 00:02 left; step 20 on average")


def test_what_a_killed_run_left_is_gone(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    Watch(notes, 3)(SCORES)
    with Live(tmp_path / "metrics.json", notes, ESTIMATE) as partial:
        assert partial.sum_up() == ""


def test_a_trial_goes_on_when_its_stage_is_gone(tmp_path):
    Watch(tmp_path / "gone", 0)(SCORES)
    assert list(tmp_path.iterdir()) == []


def test_training_tells_each_validation():
    """``watch`` is given what the history keeps."""
    labels = np.arange(12) % 2
    ring = sp.csr_array((np.ones(12), (np.arange(12), (np.arange(12) + 2) % 12)), shape=(12, 12))
    rows = gfpush(ring, np.arange(12), weights=[0.5, 0.5], rmax=1e-4, top_k=4)
    nodes = np.arange(12)
    split = Split(nodes[:4], nodes[4:8], nodes[8:], nodes[8:])
    settings = load_settings(dataset="cora", matrix="ppr", train={"max_epochs": 21, "hidden": 4}).train
    seen: list[dict[str, float]] = []
    graph = Graph(as_adjacency(ring), np.eye(12, dtype=np.float32), labels, ["a", "b"], nodes)
    trained = fit(Task(graph, split, rows), settings, watch=seen.append)
    assert {name: [scores[name] for scores in seen] for name in seen[0]} == trained.history
    assert len(seen) == 3
