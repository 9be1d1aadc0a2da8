"""Experiments go on after a kill, choose without test labels, and compare as Welch does."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

from experiments import trials
from experiments.sensitivity.__main__ import neighbours, table
from experiments.table2 import __main__ as table2
from experiments.table2.__main__ import Cell
from experiments.trials import best_on_validation, fill, mean_and_std, read_rows
from experiments.unlabelled.__main__ import table as unlabelled_table
from grandplus.evaluation.statistics import Sample
from grandplus.methods.grandplus import method
from grandplus.pipeline.cases import Case, train_blind

CASES = [Case("cora", "ppr"), Case("cora", "avg", (("train.lr", 0.1),))]


def test_a_cut_file_is_completed_to_the_same_bytes(prepared, tmp_path):
    file = tmp_path / "trials.csv"
    rows = fill(file, CASES, 2)
    whole = file.read_bytes()
    assert [(row["matrix"], row["trial"]) for row in rows] == [("ppr", 0), ("avg", 0), ("ppr", 1), ("avg", 1)]
    for length in (0, 40, len(whole) // 2, len(whole) - 3):
        file.write_bytes(whole[:length])
        assert fill(file, CASES, 2) == rows
        assert file.read_bytes() == whole


def test_finished_trials_are_not_made_again(prepared, tmp_path, monkeypatch):
    file = tmp_path / "trials.csv"
    rows = fill(file, CASES, 2)
    monkeypatch.setattr(trials, "score_trial", pytest.fail)
    assert fill(file, CASES, 2) == rows
    assert fill(file, CASES[:1], 2) == rows[::2]  # and other cases' lines stay
    assert len(read_rows(file)) == 4


def test_two_that_fill_one_file_at_once_lose_no_line(prepared, tmp_path):
    """Each once wrote the lines that it knew itself, so the one that ended last dropped the other's."""
    file = tmp_path / "trials.csv"
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda case: fill(file, [case], 2), CASES))
    assert read_rows(file) == sorted(rows[0] + rows[1], key=lambda row: (row["matrix"], row["trial"]))


def test_lines_of_other_inputs_are_made_anew(prepared, tmp_path):
    file = tmp_path / "trials.csv"
    rows = fill(file, CASES[:1], 1)
    file.write_text(file.read_text().replace("digest0.01", "digest0.02").replace(str(rows[0]["steps"]), "1"))
    assert fill(file, CASES[:1], 1) == rows


def test_more_trials_keep_the_first_ones(prepared, tmp_path):
    few = fill(tmp_path / "few.csv", CASES[:1], 1)
    assert fill(tmp_path / "many.csv", CASES[:1], 3)[:1] == few


def test_the_choice_does_not_depend_on_test_labels(prepared, tmp_path, monkeypatch):
    """Validation scores, and so what is chosen, are the same when the test labels are scrambled."""

    def scrambled(case, count):
        found = prepared(case, count)
        labels = found.graph.labels.copy()
        for trial in range(2):
            test = found.splits.of(trial).test
            watched = found.splits.of(1 - trial)
            free = np.setdiff1d(test, np.concatenate([watched.train, watched.val]))
            labels[free] = np.random.default_rng(1).permutation(labels[free])
        return dataclasses.replace(found, graph=dataclasses.replace(found.graph, labels=labels))

    first = fill(tmp_path / "a.csv", CASES, 2)
    monkeypatch.setattr(trials, "prepare", scrambled)
    second = fill(tmp_path / "b.csv", CASES, 2)
    assert [row["test"] for row in first] != [row["test"] for row in second]
    assert [row["validation"] for row in first] == [row["validation"] for row in second]
    assert best_on_validation(first) == best_on_validation(second)


def test_training_is_given_no_test_label(prepared, monkeypatch):
    given = {}
    monkeypatch.setattr(method, "fit", lambda task, *_, **__: given.update(labels=task.graph.labels))
    found = prepared(CASES[0], 1)
    split = found.splits.of(0)
    train_blind(found, split, 0)
    assert set(given["labels"][split.test]) == {-1}
    watched = np.concatenate([split.train, split.val])
    np.testing.assert_array_equal(given["labels"][watched], found.graph.labels[watched])


def test_the_best_is_chosen_by_validation_alone():
    rows = [
        {"change": change, "validation": validation, "test": test}
        for change, validation, test in (("a", 0.8, 0.9), ("a", 0.7, 0.9), ("b", 0.9, 0.1), ("b", 0.7, 0.1))
    ]
    assert best_on_validation(rows) == "b"


def test_of_scores_that_are_equal_but_for_their_rounding_the_first_is_the_best():
    """258 + 266 + 258 of 300 nodes are as many as 268 + 258 + 256, in whichever order they come."""
    rows = [
        {"change": change, "validation": round(right / 300, 4), "test": 0.0}
        for change, rights in (("own", (258, 266, 258)), ("other", (268, 258, 256)), ("worse", (258, 266, 257)))
        for right in rights
    ]
    assert best_on_validation(rows) == "own"
    assert best_on_validation(sorted(rows, key=lambda row: row["change"])) == "other"


def test_a_cell_is_reached_if_it_misses_the_paper_by_a_standard_error_at_most():
    paper = Sample(0.858, 0.004, 100)
    error = np.hypot(0.007 / np.sqrt(30), 0.004 / np.sqrt(100))
    for short_by, reached in ((0.99 * error, True), (1.01 * error, False)):
        cell = Cell("cora", "ppr", Sample(0.858 - short_by, 0.007, 30), paper)
        assert cell.difference == pytest.approx(-short_by)
        assert cell.reached == reached


def test_the_interval_in_the_table_is_welchs():
    cell = Cell("cora", "ppr", Sample(0.85, 0.007, 30), Sample(0.858, 0.004, 100))
    [line] = table2.table([cell]).splitlines()[2:]
    assert line.startswith("| cora | ppr | 30 | 85.00 ± 0.70 | 85.8 ± 0.4 | -0.80 (")
    low, high = (float(end) / 100 for end in line[line.index("(") + 1 : line.index(")")].split(" to "))
    # A difference as large as half the interval is just significant at 5 %.
    at_the_edge = stats.ttest_ind_from_stats((high - low) / 2, 0.007, 30, 0.0, 0.004, 100, equal_var=False)
    assert at_the_edge.pvalue == pytest.approx(0.05, abs=0.003)  # the ends are rounded
    assert (low + high) / 2 == pytest.approx(cell.difference, abs=1e-4)


def test_neighbours_differ_from_the_card_in_one_setting():
    found = [case.change for case in neighbours(Case("citeseer", "avg"))]
    assert {"train.lr=0.01", "train.distance=kl", "train.dropout_hidden=0.5", "gfpush.top_k=16"} <= set(found)
    assert not {"train.lr=0.001", "train.distance=l2", "train.lambda_max=0.8", "gfpush.top_k=32"} & set(found)


def test_differences_from_the_card_are_paired():
    rows = [
        {"change": change, "validation": score} for change, score in (("", 0.8), ("", 0.78), ("a", 0.79), ("a", 0.802))
    ]
    low, high = stats.t.interval(0.95, df=1, loc=0.6, scale=1.6)  # differences of -1 and 2.2
    assert table(rows, 2).splitlines()[2:] == [
        "| the card | 79.00 |  |",
        f"| `a` | 79.60 | +0.60 ({low:+.2f} to {high:+.2f}) |",
    ]


def test_a_run_of_some_cells_leaves_the_others_in_the_table(prepared, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(table2, "FOLDER", tmp_path)
    for matrix in ("ppr", "avg"):
        table2.make(["cora"], [matrix], 2)
    shown = (tmp_path / "table.md").read_text()
    assert "| cora | ppr | 2 |" in shown
    assert "| cora | avg | 2 |" in shown


def test_one_trial_has_no_deviation():
    assert mean_and_std([0.85]) == "85.00"


def test_both_u_primes_stand_with_the_interval_of_their_difference():
    rng = np.random.default_rng(0)
    of_all, of_test = (
        [{"validation": 0.8, "test": score} for score in rng.normal(0.85, 0.01, count)] for count in (8, 5)
    )
    lines = unlabelled_table(of_all, of_test).splitlines()
    scores = [100 * np.array([row["test"] for row in rows]) for rows in (of_all, of_test)]
    expected = stats.ttest_ind(*scores, equal_var=False).confidence_interval(0.95)
    difference = scores[0].mean() - scores[1].mean()
    assert lines[-1].endswith(f"| {difference:+.2f} ({expected.low:+.2f} to {expected.high:+.2f}) |")
    assert lines[2].startswith("| all unlabelled nodes | 8 | 80.00 ± 0.00 |")
    assert lines[2].endswith(f"| {scores[0].mean():.2f} ± {scores[0].std(ddof=1):.2f} |")
