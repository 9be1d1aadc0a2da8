"""The verb ``datasets``: one list, as text and for programs."""

from __future__ import annotations

import csv
import io
import json

import pytest

from grandplus.cli.main import main
from grandplus.evaluation.statistics import Sample
from grandplus.pipeline.catalog import Best, Listed

CARDS = [
    Listed("mine", "Mine, own", 1234, None, 2, 3, 0.8125, True, "own files", "", None),
    Listed("other", "Other", 5, 4, 2, 1, None, False, "example.org", "MIT",
           Best(Sample(0.855, 0.004, 10), "ppr train.lr=0.1", "experiments/a/trials.csv")),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _cards(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grandplus.pipeline.catalog.list_cards", lambda: CARDS)


def output(capsys, *arguments: str) -> str:
    assert main(["datasets", *arguments]) == 0
    return str(capsys.readouterr().out)


def test_text(capsys):
    assert output(capsys).splitlines() == [
        "dataset  nodes  edges  classes  features  homophily  here  source       licence  best test accuracy",
        "mine     1,234         2        3         0.81       yes   own files",
        "other    5      4      2        1                    no    example.org  MIT      "
        "85.50 ± 0.40 % (ppr train.lr=0.1, 10 trials)",
    ]


@pytest.mark.parametrize(("kind", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_tables_for_programs(capsys, kind, delimiter):
    mine, other = csv.DictReader(io.StringIO(output(capsys, "--format", kind)), delimiter=delimiter)
    assert (mine["title"], mine["nodes"], mine["edges"], mine["homophily"], mine["here"]) == (
        "Mine, own", "1234", "", "0.8125", "True"
    )  # fmt: skip
    assert (other["best_test"], other["best_std"], other["best_trials"]) == ("0.855", "0.004", "10")


def test_json(capsys):
    mine, other = json.loads(output(capsys, "--format", "json"))
    assert (mine["nodes"], mine["edges"], mine["here"], mine["best_test"]) == (1234, None, True, None)
    assert (other["best_settings"], other["best_file"]) == ("ppr train.lr=0.1", "experiments/a/trials.csv")
