"""Defaults are chosen without a test label, on graphs that are not shown as unseen, and are what an import writes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.defaults import __main__ as defaults
from experiments.defaults import matrices, scores
from experiments.defaults.graphs import ADDED, CHOOSING, SHOWN, Given
from experiments.defaults.made import Recipe, make
from experiments.defaults.scores import Defaults, Loaded, choosing_nodes
from grandplus.evaluation.orders import suited_order
from grandplus.evaluation.suited import suited_top_k, suited_values
from grandplus.graph.drawing import make_splits
from grandplus.graph.settings import Preprocess
from grandplus.importing.files import Choices, chosen_preprocess

RECIPE = Recipe(240, 3, degree=8, homophily=0.8, noise=0.5)
FEW = (("train_per_class", 5), ("val_per_class", 10))


SKEWED = Recipe(300, 4, degree=4, homophily=0.25, noise=0.4, features="words", skew=2, splits=3)


def given(name: str, seed: int = 0) -> Given:
    return Given(name, RECIPE.nodes, lambda _: make(RECIPE, seed), FEW)


def names(half) -> set[str]:
    return {graph.name for graph in half}


def test_no_graph_is_in_both_halves():
    assert len(names(SHOWN) | names(CHOOSING) | names(ADDED)) == len(SHOWN) + len(CHOOSING) + len(ADDED)
    assert {"geomgcn_texas", "hetero_texas_4_classes"} <= names(SHOWN)  # one graph in two versions
    for half in (SHOWN, CHOOSING):
        assert {"amazon", "links", "made"} <= {word for name in names(half) for word in name.replace("_", " ").split()}


@pytest.mark.parametrize("features", ["dense", "words", "none"])
def test_a_made_graph_is_as_asked_for(features):
    recipe = Recipe(3000, 5, degree=10, homophily=0.7, noise=0.4, features=features, words=500, skew=1.5)
    raw = make(recipe, seed=3)
    assert raw.edges.shape == (2, 15_000)
    first, second = raw.labels[raw.edges]
    assert (first == second).mean() == pytest.approx(0.7, abs=0.02)
    sizes = np.bincount(raw.labels)
    assert sizes[0] / sizes[1] == pytest.approx(1.5, rel=0.2)
    if features == "dense":
        means = np.array([raw.features[raw.labels == label].mean(axis=0) for label in range(5)])
        assert np.linalg.norm(means, axis=1) == pytest.approx(1, abs=0.1)
        assert (raw.features - means[raw.labels]).std() == pytest.approx(0.4, rel=0.05)
    elif features == "words":
        columns = raw.features.tocoo()
        own = columns.coords[1] // 100 == raw.labels[columns.coords[0]]
        assert own.mean() == pytest.approx(0.6 + 0.4 / 5, abs=0.05)
        assert set(raw.features.data) == {1}
    else:
        assert raw.features is None
    assert make(recipe, seed=3).edges.tobytes() == raw.edges.tobytes()


def test_a_made_graph_has_splits_with_shares_of_classes_as_in_the_graph():
    raw = make(SKEWED, seed=1)
    assert len(raw.splits) == 3
    for split in raw.splits:
        assert [len(split[part]) for part in ("train", "val", "test")] == [144, 96, 60]
        assert sorted(np.concatenate(list(split.values()))) == list(range(300))
        assert np.bincount(raw.labels[split["train"]])[0] / 144 == pytest.approx(8 / 15, abs=0.1)


def test_candidates_of_the_same_settings_are_trained_once(tmp_path, monkeypatch):
    file, candidates = tmp_path / "trials.csv", (defaults.CANDIDATES[3], defaults.CHOSEN)
    scored = []

    def score(loaded, candidate, trial):
        scored.append(candidate.name)
        scores_of = {"validation": 0.5, "choosing": 0.5, "test": 0.5, "inputs": loaded.inputs_of(candidate)}
        return row(loaded.name, candidate.name, **scores_of)

    monkeypatch.setattr(Loaded, "score", score)
    rows = defaults.complete(file, tmp_path, given("one"), candidates, 1, True)
    assert scored == [candidates[0].name]  # with equally many training nodes of each class γ is the same
    assert [found["defaults"] for found in rows[:2]] == [candidate.name for candidate in candidates]
    skewed = Given("two", SKEWED.nodes, lambda _: make(SKEWED, 1))
    defaults.complete(file, tmp_path, skewed, candidates, 1, True)
    assert scored[1:] == [candidate.name for candidate in candidates]


def test_nodes_to_choose_by_neither_train_nor_validate_nor_test():
    labels = np.repeat([0, 1, 2], [40, 300, 500])
    splits = make_splits(labels, Preprocess(features="as-is", split="per-class", train_per_class=5, val_per_class=5),
                         [], seed=0, trials=2)  # fmt: skip
    for trial in range(2):
        whole = splits.of(trial)
        split, aside = choosing_nodes(splits, trial, labels, choosing=True)
        assert np.bincount(labels[aside]).tolist() == [15, 100, 100]
        assert sorted([*aside, *split.test]) == whole.test.tolist()
        unchanged, nothing = choosing_nodes(splits, trial, labels, choosing=False)
        assert len(nothing) == 0
        assert unchanged.test.tolist() == whole.test.tolist()


def row(graph: str, name: str, **values: float) -> scores.Row:
    return {"graph": graph, "defaults": name, "trial": 0, "order": 4, "steps": 1, "inputs": ""} | values


def test_the_choice_is_by_the_nodes_to_choose_by():
    rows = [
        row(graph.name, candidate.name, validation=0.5, choosing=choosing, test=test)
        for graph in (CHOOSING[0], CHOOSING[1])
        for candidate, choosing, test in ((defaults.CANDIDATES[0], 0.8, 0.1), (defaults.CANDIDATES[1], 0.7, 0.9))
    ]
    assert defaults.choice_of(rows) == defaults.CANDIDATES[0].name


def test_only_candidates_that_were_tried_on_all_graphs_are_chosen():
    everywhere, first_only = (candidate.name for candidate in defaults.CANDIDATES[:2])
    rows = [row(CHOOSING[0].name, name, choosing=choosing) for name, choosing in ((everywhere, 0.7), (first_only, 0.8))]
    assert defaults.choice_of(rows) == first_only
    assert defaults.choice_of([*rows, row(ADDED[0].name, everywhere, choosing=0.2)]) == everywhere


def test_the_table_judges_by_the_best_baseline_on_validation():
    accuracies = {
        defaults.CHOSEN.name: 0.80, defaults.BEFORE.name: 0.5, "majority": 0.4, "label_propagation": 0.9,
        "logistic_regression": 0.805, "propagated_logistic_regression": 0.6,
    }  # fmt: skip
    validation = {"logistic_regression": 0.9}
    rows = {
        ("one", name): [row("one", name, validation=validation.get(name, 0.5), choosing=0.5, test=test)]
        for name, test in accuracies.items()
    }
    lines = defaults._table_of(["one"], rows, {"one": [0.81]})
    assert lines[2] == "| one | 4 | 50.0 | 80.0 | 81.0 | 80.5 (logistic regression on X) | -0.5 |"
    assert lines[-3].startswith(
        "At least the best baseline less a point: 1 of 1 graphs. Mean difference: -0.5 points. "
    )
    assert lines[-1].endswith("less a point: 1 of 1 graphs. Mean difference: +0.5 points.")  # after tune


def test_what_is_chosen_is_what_an_import_writes(tmp_path):
    """Settings of the experiment and of the import come from the same functions."""
    raw = make(RECIPE, 0)
    settings = chosen_preprocess(raw, Choices(**dict(FEW)))
    loaded = Loaded(given("one"), tmp_path, 1, choosing=False)
    assert loaded.graph.fitted.kind == settings.features
    order, push, train = loaded.settings(defaults.CHOSEN)
    assert push.top_k == suited_top_k(loaded.graph)
    assert order == suited_order(loaded.graph, loaded.splits.of(0), "avg", push)
    suited = suited_values(loaded.graph, loaded.splits.of(0), order)
    assert train.model_dump(include=set(suited)) == suited
    assert train.model_dump(exclude=set(suited)) == type(train)().model_dump(exclude=set(suited))


def test_finished_trials_are_kept_and_others_made(tmp_path, monkeypatch):
    file = tmp_path / "trials.csv"
    short = Defaults(defaults.CHOSEN.name, train={"max_epochs": 10})
    monkeypatch.setattr(defaults, "CHOSEN", short)
    rows = defaults.complete(file, tmp_path, given("one"), (short,), 2, True)
    assert [row["trial"] for row in rows if row["defaults"] == short.name] == [0, 1]
    file.write_text(file.read_text()[:-20])  # as a kill leaves it
    again = defaults.complete(file, tmp_path, given("one"), (short,), 2, True)
    assert again == rows
    monkeypatch.setattr(Loaded, "score", pytest.fail)
    assert defaults.complete(file, tmp_path, given("one"), (short,), 2, True) == rows
    assert (
        defaults.complete(tmp_path / "none.csv", tmp_path, replace(given("one"), place="no"), (short,), 2, True) == []
    )


def test_a_run_of_fewer_graphs_and_trials_keeps_the_others(tmp_path, monkeypatch):
    def score(loaded, candidate, trial):
        scores_of = {"validation": 0.5, "choosing": 0.5, "test": 0.5, "inputs": loaded.inputs_of(candidate)}
        return row(loaded.name, candidate.name, **scores_of) | {"trial": trial}

    monkeypatch.setattr(Loaded, "score", score)
    monkeypatch.setattr(Loaded, "score_baselines", lambda *_: iter(()))
    one, two = given("one"), given("two")
    others = {"FOLDER": tmp_path, "CHOOSING": [], "ADDED": [], "SMALL": 0, "table": lambda *_: ""}
    for name, value in ({"SHOWN": [one, two]} | others).items():
        monkeypatch.setattr(defaults, name, value)
    defaults.make(tmp_path, 2, None)
    before = scores.read_rows(tmp_path / "trials.csv")
    assert len(before) == 2 * 2 * 2
    monkeypatch.setattr(defaults, "SHOWN", [one, replace(two, place="no")])
    defaults.make(tmp_path, 1, None)
    assert scores.read_rows(tmp_path / "trials.csv") == before


def test_the_map_of_matrices_has_a_value_for_each_case(tmp_path, monkeypatch):
    monkeypatch.setattr(matrices, "score", lambda *case: 0.5)
    accuracies = matrices.complete(tmp_path / "matrices.csv", 1)
    assert set(accuracies) == set(matrices.cases(1))
    assert matrices.complete(tmp_path / "matrices.csv", 1) == accuracies
    text = (tmp_path / "matrices.csv").read_text()
    (tmp_path / "matrices.csv").write_text(text[:-4])  # as a kill leaves it
    assert matrices.complete(tmp_path / "matrices.csv", 1) == accuracies
    assert (tmp_path / "matrices.csv").read_text() == text
    assert set(matrices.complete(tmp_path / "matrices.csv", 2)) == set(matrices.cases(2))
    assert matrices.complete(tmp_path / "matrices.csv", 1) == accuracies
    matrices.plot(accuracies, tmp_path / "matrices.png")
    assert (tmp_path / "matrices.png").stat().st_size > 10_000
