"""Kept trials are trained once more: those of today's code are told from others."""

import pytest

from experiments.again import case_of, check, first_of_each
from experiments.trials import score_trial
from grandplus.pipeline.cases import Case

CASE = Case("cora", "ppr", (("train.lr", 0.02),))


@pytest.fixture
def row(prepared):
    return score_trial(3, CASE, 2)


def test_what_differs_is_told(row, capsys):
    assert check([row]) == 0
    assert capsys.readouterr().out == "cora ppr train.lr=0.02 trial 2: same\n"
    old = row | {"test": 0.5, "inputs": "0123456789ab"}
    assert check([old, row]) == 1
    told = capsys.readouterr().out
    assert f"trial 2: kept validation {row['validation']}, test 0.5, steps {row['steps']}, now validation" in told
    assert told.count("its settings or its graph have changed") == 1
    assert check([old | {"seconds": 11.0}], seconds=10) == 0


def test_the_first_trial_of_each_case_is_taken():
    cells = [("cora", "", 1), ("cora", "model=gcn", 1), ("cora", "", 0), ("citeseer", "", 2)]
    rows = [{"dataset": dataset, "matrix": "ppr", "change": change, "trial": trial} for dataset, change, trial in cells]
    assert [(row["dataset"], row["change"], row["trial"]) for row in first_of_each(rows)] == [
        ("cora", "", 0),
        ("cora", "model=gcn", 1),
        ("citeseer", "", 2),
    ]
    assert case_of(rows[1]) == Case("cora", "ppr", (), "gcn")
