"""The compared systems on small graphs: trials go on after a kill, and tables tell what was measured."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from experiments import trials
from experiments.compared import __main__ as compared
from experiments.compared import below, measured, searching, unseen, why
from experiments.compared.citation import Cell, tables
from experiments.compared.figures import CITATION, OWN, PAPER, PAPER_LARGE, REFERENCE, SYSTEMS
from experiments.compared.gaps import Run, on_one_split, on_random_splits
from experiments.compared.measured import bits_file, complete, own_case
from experiments.compared.right import Right
from experiments.compared.space import BUDGET, VALUES, candidates
from experiments.compared.unseen import Limits
from experiments.compared.unseen_table import Entry
from experiments.compared.unseen_table import tables as unseen_tables
from experiments.notes import read_notes
from experiments.table2.__main__ import PAPER as TABLE2
from experiments.trials import read_rows, rows_of
from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.statistics import paired, welch
from grandplus.methods.registry import NAMES
from grandplus.pipeline.cases import BEST_MATRIX, Case
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError, ShortageError

MEASURES = ("seconds", "memory")  # which differ from run to run


@pytest.fixture
def short(prepared, monkeypatch):
    """The small graph for every case, here and not in other processes."""
    monkeypatch.setattr(trials.pools, "map_processes", lambda function, *arguments, **_: map(function, *arguments))
    for module in (measured, searching):
        monkeypatch.setattr(module, "prepare", prepared)
    monkeypatch.setattr(unseen, "trials_at_once", lambda *_: 1)
    monkeypatch.setattr(unseen, "graph_folder", lambda _: None)
    monkeypatch.setattr(unseen.Graph, "load", lambda _: None)
    monkeypatch.setattr(unseen, "Splits", Mock())
    return prepared


def made_up(mean, trials=4, *, first=0, seconds=3.0, **known):
    """Rows around a mean accuracy, and the nodes that they have right: always the same 200."""
    rng, labels = np.random.default_rng(7), np.arange(200) % 4
    right = [rng.random(200) < mean for _ in range(trials)]
    rows = [
        {"trial": first + trial, "test": float(each.mean()), "seconds": seconds, "memory": 400 + trial} | known
        for trial, each in enumerate(right)
    ]
    return rows, NodeScores.of([np.arange(200)] * trials, right, labels)


def scored_by(accuracy, prepared):
    """What a search takes for the score of a case with a seed."""

    def score(trials, case, seed):
        row = {"dataset": case.dataset, "model": case.model, "matrix": case.matrix, "change": case.change}
        inputs = prepared(case, trials).inputs
        return row | {"trial": seed, "validation": accuracy(case, seed), "seconds": 1.0, "inputs": inputs}

    return score


def test_the_paper_s_figures_are_those_of_the_other_table():
    assert set(PAPER) == set(SYSTEMS) > set(OWN)
    assert set(PAPER_LARGE) < set(SYSTEMS)
    for dataset in CITATION:
        assert PAPER[REFERENCE][dataset] == TABLE2[dataset, BEST_MATRIX[dataset]]


def test_a_killed_run_goes_on_and_remakes_trials_whose_nodes_are_lost(short, tmp_path):
    file, case = tmp_path / "citation.csv", Case("cora", "ppr")
    rows = complete(file, case, 3)
    lost = [{name: value for name, value in row.items() if name not in MEASURES} for row in read_rows(file)]
    whole, bits = file.read_text(), bits_file(file, "cora")
    for length in (0, 60, len(whole) - 3):
        file.write_text(whole[:length])
        complete(file, case, 3)
        assert [{name: row[name] for name in lost[0]} for row in read_rows(file)] == lost
    bits.unlink()
    assert [row["test"] for row in complete(file, case, 3)] == [row["test"] for row in rows]
    nodes = Right(bits).of(rows)
    shares = [of_trial.sum() / tested.sum() for of_trial, tested in zip(nodes.correct, nodes.tested, strict=True)]
    np.testing.assert_allclose(shares, [row["test"] for row in rows], atol=5e-5)


def test_finished_trials_stay_and_are_read_back_as_they_are(short, tmp_path, monkeypatch):
    file = tmp_path / "citation.csv"
    for model in ("grandplus", "sgc"):
        complete(file, own_case("cora", model), 2)
    text, nodes = file.read_bytes(), bits_file(file, "cora").read_bytes()
    monkeypatch.setattr(measured, "scored", pytest.fail)
    for model in ("grandplus", "sgc"):
        complete(file, own_case("cora", model), 2)
    assert (file.read_bytes(), bits_file(file, "cora").read_bytes()) == (text, nodes)
    assert [row["model"] for row in read_rows(file)] == ["grandplus"] * 2 + ["sgc"] * 2


def test_slow_systems_have_fewer_trials(short, tmp_path, monkeypatch, capsys):
    for name, count in (("FIRST", 1), ("FEW", 2), ("MANY", 3)):
        monkeypatch.setattr(compared, name, count)
    for quick, expected in ((1e9, 3), (0, 2)):
        monkeypatch.setattr(compared, "QUICK", quick)
        file = tmp_path / f"{expected}.csv"
        compared.make(file, ["grandplus"], ["cora"], None)
        assert len(read_rows(file)) == expected
    compared.make(tmp_path / "one.csv", ["grandplus"], ["cora"], 1)
    assert len(read_rows(tmp_path / "one.csv")) == 1
    assert (tmp_path / "one.png").stat().st_size > 1000


def test_the_table_names_what_was_not_run_and_what_is_to_be_explained():
    cells = {("cora", "gcn"): Cell(*made_up(0.7)), ("cora", "grandplus"): Cell(*made_up(0.85))}
    text = tables(cells)
    [line] = [line for line in text.splitlines() if line.startswith("| GCN | published")]
    gap = on_one_split(cells["cora", "gcn"].run, cells["cora", "grandplus"].run)
    assert line == f"| GCN | published | 4 | {cells['cora', 'gcn']} | 81.5 | 81.5 | {gap} | 3.0 | 403 |"
    assert "| GAT | | | not run | 83.0 | 83.0 | | | | |" in text
    assert "- GCN on Cora" in text
    assert "the reason is not known yet" in text
    widths = {line.count("|") for line in text.split("## Cora")[1].split("##")[0].splitlines() if line}
    assert widths == {11}


def test_gaps_are_welch_s_on_one_split_and_corrected_pairs_on_random_ones():
    first, second = (Run([row["test"] for row in rows], nodes) for rows, nodes in (made_up(0.8, 6), made_up(0.7, 4)))
    gap = on_one_split(first, second)
    assert gap.trials == welch(first.scores, second.scores)
    assert gap.nodes.high - gap.nodes.low >= 0.95 * (gap.trials.high - gap.trials.low)
    gap = on_random_splits(first, second, train=20)
    assert gap.trials == paired(first.scores[:4], second.scores, overlap=0.1)


@pytest.mark.parametrize("model", sorted(set(SYSTEMS) & set(NAMES)))
def test_every_system_has_as_many_settings_to_search(model):
    for dataset in ("amazon-photo", "coauthor-cs"):
        found = candidates(dataset, model)
        assert len({case.change for case in found}) == BUDGET
        assert found == candidates(dataset, model)
        assert found[0] == own_case(dataset, model)
        for case in found:
            case.settings(1)  # each is possible


def test_every_system_has_a_space():
    assert set(VALUES) == set(SYSTEMS)


def test_the_search_looks_at_validation_alone(short, tmp_path, monkeypatch):
    scores = {}

    def accuracy(case, seed):
        """The second candidate is best with the first seed, and the third one over all seeds."""
        place = [each.change for each in candidates("cora", "grandplus")].index(case.change)
        scores[place, seed] = {1: 0.9 if seed == 0 else 0.1, 2: 0.8}.get(place, 0.7)
        return scores[place, seed]

    monkeypatch.setattr(searching, "score_on_first_split", scored_by(accuracy, short))
    best = searching.searched(tmp_path / "search.csv", tmp_path / "chosen.csv", "cora", "grandplus")
    assert best == candidates("cora", "grandplus")[2]
    assert len(scores) == BUDGET + 2 * searching.FINALISTS
    [row] = read_notes(tmp_path / "chosen.csv")
    assert (row["change"], row["validation"], row["seconds"]) == (best.change, "0.8000", "16")


def test_a_search_keeps_a_system_s_own_settings_unless_others_are_better(short, tmp_path, monkeypatch):
    """Here others are better with the first seed, and all are equal over three."""
    own = own_case("cora", "grandplus")

    def accuracy(case, seed):
        return 0.7 if case == own else (0.8, 0.7, 0.6)[seed]

    monkeypatch.setattr(searching, "candidates", lambda *_: candidates("cora", "grandplus")[:3])
    monkeypatch.setattr(searching, "score_on_first_split", scored_by(accuracy, short))
    assert searching.searched(tmp_path / "search.csv", tmp_path / "chosen.csv", "cora", "grandplus") == own


def test_what_a_wider_search_finds_stands_beside_what_is_in_use(short, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trials, "prepare", short)
    monkeypatch.setattr(below, "CELLS", [["grandplus", "cora"]])
    scores = {case.change: 0.5 + place / 10 for place, case in enumerate(candidates("cora", "grandplus", 5))}
    accuracies = scored_by(lambda case, _: scores[case.change], short)
    monkeypatch.setattr(searching, "score_on_first_split", accuracies)
    below.make(tmp_path, 5, 2)
    first, second = (tmp_path / "below.md").read_text().splitlines()[2:4]
    rows = read_rows(tmp_path / "below-trials.csv")
    assert first.startswith("| GRAND+ on Cora | in use | 50.00 | ")
    assert second.startswith("| GRAND+ on Cora | the best of 5: `")
    assert "` | 90.00 | " in second
    own = [row["test"] for row in rows_of(rows, own_case("cora", "grandplus"))]
    assert f"{100 * np.mean(own):.2f} ±" in first
    assert len(rows) == 4
    below.make(tmp_path, 1, 2)
    assert "in use, the best of all | 50.00" in (tmp_path / "below.md").read_text()


def test_a_search_is_not_made_again(short, tmp_path, monkeypatch):
    files = tmp_path / "search.csv", tmp_path / "chosen.csv"
    best = searching.searched(*files, "cora", "grandplus")
    before = [file.read_bytes() for file in files]
    monkeypatch.setattr(searching, "train_blind", pytest.fail)
    assert searching.searched(*files, "cora", "grandplus") == best
    assert [file.read_bytes() for file in files] == before


def test_settings_that_cannot_be_trained_are_the_worst_but_a_lack_of_memory_is_no_score(prepared, monkeypatch):
    def sgc(case, trials):
        sgc = load_settings(dataset="cora", matrix="ppr", model="sgc")
        return replace(prepared(case, trials), settings=sgc)

    monkeypatch.setattr(searching, "prepare", sgc)
    case = Case("cora", "ppr", model="sgc")
    monkeypatch.setattr("grandplus.propagation.plan.BASE", 2**60)
    with pytest.raises(ShortageError, match="power iteration would need"):
        searching.score_on_first_split(1, case, 0)
    monkeypatch.setattr(searching, "train_blind", Mock(side_effect=GrandPlusError("the loss became nan")))
    assert searching.score_on_first_split(1, case, 0)["validation"] == 0


def test_unseen_graphs_have_defaults_and_searched_settings(short, tmp_path, monkeypatch, capsys):
    file = tmp_path / "unseen.csv"
    for _ in range(2):
        unseen.make(file, ["grandplus", "sgc"], ["amazon-photo"], 2, Limits(1e9, 1e9))
        text = file.with_suffix(".md").read_text()
        assert "| GRAND+ | searched | 2 |" in text
        assert "| SGC | default | 2 |" in text
        assert "coauthor-cs" not in text.split("## amazon-photo")[1]
        monkeypatch.setattr(measured, "scored", pytest.fail)


def test_a_system_that_takes_too_long_has_one_trial(short, tmp_path, capsys):
    unseen.make(tmp_path / "unseen.csv", ["grandplus"], ["amazon-photo"], 2, Limits(-1, 1e9))
    text = (tmp_path / "unseen.md").read_text()
    assert "- GRAND+: one trial and no search, as a trial takes" in text
    assert "searched |" not in text.split("## amazon-photo")[1]
    assert len(read_rows(tmp_path / "unseen.csv")) == 1
    for longest in (1e9, -1):  # trials that another limit allowed stay, and are told of
        unseen.make(tmp_path / "unseen.csv", ["grandplus"], ["amazon-photo"], 2, Limits(longest, -1))
        text = (tmp_path / "unseen.md").read_text()
        assert "- GRAND+: no search, as a trial takes" in text
        assert "| GRAND+ | default | 2 |" in text


def test_a_system_whose_search_would_take_too_long_has_its_defaults_until_it_is_searched(short, tmp_path, capsys):
    file = tmp_path / "unseen.csv"
    for limit, lines in ((-1, 1), (1e9, 0), (-1, 0)):
        unseen.make(file, ["grandplus"], ["amazon-photo"], 2, Limits(1e9, limit))
        text = file.with_suffix(".md").read_text()
        assert text.count("- GRAND+: no search, as a trial takes") == lines
        assert text.split("## amazon-photo")[1].count("| GRAND+ | searched | 2 |") == 1 - lines
        assert text.count("not searched") == lines


def test_each_change_is_compared_with_grandplus_as_it_is():
    trials = {
        name: [{"validation": 0.9, "test": test + part / 100} for part in (0, 1, 3)]
        for name, test in (("as it is", 0.8), ("other", 0.82))
    }
    first, second = why.table(trials, 0.0).splitlines()[2:]
    assert first == "| as it is | 90.00 ± 0.00 | 81.33 ± 1.53 |  |"
    assert second == "| other | 90.00 ± 0.00 | 83.33 ± 1.53 | +2.00 (+2.00 to +2.00) |"


def test_refused_systems_stand_in_the_table():
    rows, nodes = made_up(0.8)
    entries = {
        ("amazon-photo", "gcn"): Entry({"default": rows, "searched": []}, {"default": nodes}, ""),
        ("amazon-photo", "gat"): Entry({"default": [], "searched": []}, {}, "refused: too large"),
    }
    text = unseen_tables(entries)
    assert "- GAT: refused: too large" in text
    assert "| GAT | refused | not searched |" in text
    assert text.count("not run") == 2 * (len(SYSTEMS) * 4 - 2)
