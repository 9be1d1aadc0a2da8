"""Tuning finds what suits a graph, the same each time, without the labels of test nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_graphs import SHORT, Saved, made, saved

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.runtime.errors import ArtifactError, GrandPlusError
from grandplus.tuning import training, tuner
from grandplus.tuning.outcome import ONE_CLASS, Outcome

ALONE = {"matrix": "avg", "order": 0, "dropnode": 0.0}
NEAR = {"matrix": "single", "order": 1}
FAR = {"matrix": "single", "order": 4}
MATRICES = [{}, ALONE, NEAR, FAR, {"top_k": 8}]  # the first is avg, N = 4
fit, gfpush = training.fit, tuner.gfpush


def tuned(graph: Path, folder: Path, propagation=MATRICES, **options) -> Outcome:
    return tuner.tune(Saved(graph), folder, propagation=propagation, **{"training": [{"layers": 1}]} | options)


def scores(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "scores").iterdir()}


def test_noisy_features_want_nodes_that_are_far_away(tmp_path):
    """Homophily .82: after four steps the mean over so many nodes has little noise left."""
    outcome = tuned(saved(made(homophily=0.82, noise=1.5), tmp_path / "graph"), tmp_path / "tuned")
    assert FAR.items() <= outcome.change.items()
    assert outcome.after > outcome.before + 0.1
    assert outcome.tried[outcome.winner].steps == tuner.FULLY
    assert outcome.gained().startswith("matrix=single order=4")


def test_where_edges_join_unlike_nodes_own_features_win(tmp_path):
    graph = saved(made(homophily=0.33, noise=0.4, degree=3), tmp_path / "graph")
    outcome = tuned(graph, tmp_path / "tuned")
    assert ALONE.items() <= outcome.change.items()
    assert outcome.after > 0.85 > outcome.before


def test_the_first_stays_where_nothing_is_better(tmp_path):
    outcome = tuned(saved(made(homophily=0.95, noise=0.2), tmp_path / "graph"), tmp_path / "tuned")
    assert (outcome.winner, outcome.change) == (0, {})
    assert outcome.before == outcome.after > 0.97
    assert (
        outcome.gained()
        == "as it is: 100.0% of validation nodes are right (mean of 2 trials); no other setting is better"
    )


def test_training_is_varied_with_the_best_propagation(tmp_path):
    outcome = tuned(saved(made(homophily=0.82, noise=1.5), tmp_path / "graph"), tmp_path / "tuned")
    assert [candidate.change for candidate in outcome.candidates] == [*MATRICES, FAR | {"layers": 1}]
    assert [one.steps for one in outcome.tried].count(tuner.FULLY) == 1 + tuner.FINALISTS
    assert outcome.tried[0].steps == tuner.FULLY
    table = outcome.table()
    assert len(table) == len(outcome.tried)
    assert table[0]["val_accuracy"] == outcome.after
    assert str(outcome).splitlines()[1].split()[-1] == f"{outcome.after:.2%}"


def test_the_table_ends_with_what_predicting_one_class_comes_to(tmp_path):
    folder = saved(made(homophily=0.95, noise=0.2), tmp_path / "graph")
    labels, splits = Graph.load(folder).labels, Splits.load(folder)
    shares = []
    for split in (splits.of(0), splits.of(1)):
        counts = [int((labels[split.val] == label).sum()) for label in set(labels[split.val])]
        shares.append(max(counts) / len(split.val))
    outcome = tuned(folder, tmp_path / "tuned", propagation=[{}], training=[])
    assert outcome.majority == pytest.approx(sum(shares) / 2)
    assert str(outcome).splitlines()[-1].split() == [*ONE_CLASS.split(), f"{outcome.majority:.2%}"]


def test_the_same_bytes_for_any_number_of_workers_and_with_other_test_labels(tmp_path):
    raw = made(homophily=0.7, noise=0.8, nodes=300)
    here = tuned(saved(raw, tmp_path / "graph"), tmp_path / "here")
    aside = tuned(saved(raw, tmp_path / "blind", test_labels=-1), tmp_path / "aside", workers=2)
    assert scores(tmp_path / "here") == scores(tmp_path / "aside")
    assert (here.winner, here.table()) == (aside.winner, aside.table())


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    """Scores that are there are not made again, and rows only where a score is missing."""
    graph = saved(made(homophily=0.7, noise=0.8, nodes=300), tmp_path / "graph")
    first = tuned(graph, tmp_path / "tuned")
    whole = scores(tmp_path / "tuned")
    assert not list((tmp_path / "tuned").glob("rows-*"))
    lost = [training.Training(first.candidates[number], graph, graph, 0, 1, tuner.BRIEFLY) for number in (2, 4)]
    for one in lost:
        (tmp_path / f"tuned/scores/{one.key}.json").unlink()
    trained, pushed = [], []
    monkeypatch.setattr(training, "fit", lambda *given: trained.append(given) or fit(*given))
    monkeypatch.setattr(tuner, "gfpush", lambda *given, **by: pushed.append(by) or gfpush(*given, **by))
    again = tuned(graph, tmp_path / "tuned")
    assert len(trained) == len(pushed) == len(lost)
    assert scores(tmp_path / "tuned") == whole
    assert again.table() == first.table()


def test_rows_of_a_matrix_are_pushed_once(tmp_path, monkeypatch):
    pushed = []
    monkeypatch.setattr(tuner, "gfpush", lambda *given, **by: pushed.append(by["top_k"]) or gfpush(*given, **by))
    tuned(saved(made(homophily=0.7, noise=0.8, nodes=300), tmp_path / "graph"), tmp_path / "tuned")
    assert pushed == [32] * 4  # two candidates differ in k only, and share those of the larger


def test_what_cannot_be_trained_goes_no_further(tmp_path):
    graph = saved(made(homophily=0.7, noise=0.8, nodes=300), tmp_path / "graph")
    wild = {"lr": 1e30}
    outcome = tuned(graph, tmp_path / "tuned", [{}, wild, FAR])
    assert outcome.tried[1].steps == tuner.BRIEFLY
    assert "the loss became" in outcome.tried[1].failed
    assert outcome.winner != 1
    with pytest.raises(GrandPlusError, match="none of 1 settings could be trained: the loss became"):
        tuned(graph, tmp_path / "tuned", [wild], training=[])


def test_what_memory_is_too_small_for_now_is_no_score(tmp_path, monkeypatch):
    graph = saved(made(homophily=0.7, noise=0.8, nodes=300), tmp_path / "graph")
    with monkeypatch.context() as patch:
        patch.setattr("grandplus.propagation.plan.BASE", 2**60)
        with pytest.raises(GrandPlusError, match="power iteration would need"):
            tuned(graph, tmp_path / "tuned", [{}], training=[])
    assert scores(tmp_path / "tuned") == {}
    assert not tuned(graph, tmp_path / "tuned", [{}], training=[]).tried[0].failed


def test_rows_that_are_lost_are_no_score(tmp_path):
    graph = saved(made(homophily=0.7, noise=0.8, nodes=300), tmp_path / "graph")
    one = training.Training(Saved(graph).candidate({}), graph, tmp_path / "lost", seed=0, trial=0, steps=9)
    (tmp_path / "scores").mkdir()
    with pytest.raises(ArtifactError, match="lost"):
        training.score(tmp_path / "scores", one)
    assert not training.kept(tmp_path / "scores", one)


def test_a_score_is_that_of_exact_inference_after_so_many_steps(tmp_path):
    graph = saved(made(homophily=0.7, noise=0.8, nodes=300), tmp_path / "graph")
    candidate = Saved(graph).candidate({"top_k": 4})
    loaded, splits = training._graph(graph)
    split, nodes = splits.of(1), splits.needing_rows()
    rows = gfpush(loaded, nodes, weights=candidate.matrix.weights(), rmax=1e-5, top_k=9)
    rows.save(tmp_path / "rows")
    (tmp_path / "scores").mkdir()
    one = training.Training(candidate, graph, tmp_path / "rows", seed=0, trial=1, steps=2000)
    task = training._task(one, loaded, split)
    assert set(np.flatnonzero(task.graph.labels >= 0)) == {*split.train, *split.val}
    assert task.rows.neighbors.shape[1] == 4
    model = fit(task, candidate.train).model
    assert model.info["steps"] == SHORT["max_epochs"]
    probabilities = model.predict_proba(loaded)[split.val]
    right = probabilities.argmax(axis=1) == loaded.labels[split.val]
    score = training.score(tmp_path / "scores", one)
    assert score.accuracy == right.mean()
    assert score.right.tolist() == right.tolist()
    expected = -np.log(probabilities[np.arange(len(right)), loaded.labels[split.val]].astype(float)).mean()
    assert score.loss == pytest.approx(expected, rel=1e-6)
    short = training.Training(candidate, graph, tmp_path / "rows", seed=0, trial=1, steps=11)
    assert training._shortened(short, split).max_epochs == 11  # one batch holds all labelled nodes
