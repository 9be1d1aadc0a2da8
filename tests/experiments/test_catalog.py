"""The experiment over the catalog: what is tuned is noted, trials go on, and figures stand beside published ones."""

from __future__ import annotations

import csv
import dataclasses
from types import SimpleNamespace

import pytest

from experiments.catalog import __main__ as catalog
from experiments.catalog.__main__ import GRAPHS, PUBLISHED, Line, lines_of, table
from grandplus.pipeline.card import CATALOG, read_card
from grandplus.pipeline.cases import Case

CHANGE = {"matrix": "single", "order": 4, "lr": 0.02}


@pytest.fixture
def short(prepared, tmp_path, monkeypatch):
    """A small graph in place of Amazon Photo, and a tuner that is quick to choose; how often it was asked."""
    asked = []

    def compared(own):
        asked.append(own)
        return SimpleNamespace(change=CHANGE, before=0.8, after=0.85)

    folder, facts = tmp_path / "graph", {"nodes": 60, "edges": 1, "classes": 3, "features": 3}
    folder.mkdir()
    dataclasses.replace(prepared(Case("amazon-photo", "avg"), 1).graph, facts=facts).save(folder)
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    monkeypatch.setattr(catalog, "compared", compared)
    monkeypatch.setattr(catalog, "graph_folder", lambda _: folder)
    return asked


def test_the_card_and_what_tuning_chooses_are_scored(short, tmp_path, capsys):
    catalog.make(["amazon-photo"], 2)
    rows = list(csv.DictReader((tmp_path / "trials.csv").open()))
    assert [(row["matrix"], row["change"], row["trial"]) for row in rows] == [
        ("avg", "", "0"), ("avg", "", "1"),
        ("single", "gfpush.order=4 train.lr=0.02", "0"), ("single", "gfpush.order=4 train.lr=0.02", "1"),
    ]  # fmt: skip
    [line] = (tmp_path / "table.md").read_text().splitlines()[2:]
    assert line.startswith("| amazon-photo | 2 | ")
    assert "| 91.4 (GraphSAGE) |" in line
    [graph] = csv.DictReader((tmp_path / "graphs.csv").open())
    assert 0.5 < float(graph["homophily"]) < 1
    assert (tmp_path / "table.png").stat().st_size > 1000
    before = {file.name: file.read_bytes() for file in tmp_path.glob("*.csv")}
    catalog.make(["amazon-photo"], 2)
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.csv")} == before
    assert short == [Case("amazon-photo", "avg")]  # tuned once


def test_without_tuning_the_card_alone_is_scored(short, tmp_path):
    catalog.make(["amazon-photo"], 1, tune=False)
    assert not short
    assert "after tune" in (tmp_path / "table.md").read_text()
    assert not (tmp_path / "tuned.csv").exists()


def test_the_case_that_tuning_has_chosen_is_read_back(short, tmp_path):
    first = catalog.tuned_case(Case("amazon-photo", "avg"), tune=True)
    assert first == Case("amazon-photo", "single", (("gfpush.order", 4), ("train.lr", 0.02)))
    assert catalog.tuned_case(Case("amazon-photo", "avg"), tune=False) == first


def test_graphs_and_published_figures_are_those_of_cards():
    cards = {name: read_card(CATALOG / f"{name}.yaml") for name in GRAPHS}
    assert set(PUBLISHED) <= set(cards)
    of_shchur = {name for name in PUBLISHED if "GCN" in PUBLISHED[name]}
    for name in of_shchur:  # their protocol
        preprocess = cards[name].preprocess
        assert (preprocess.split, preprocess.train_per_class, preprocess.val_per_class) == ("per-class", 20, 30)
    for name in set(PUBLISHED) - of_shchur:
        assert cards[name].preprocess.split == "public"


def test_a_line_has_means_and_deviations_over_trials():
    lines = [Line("coauthor-cs", [0.9, 0.92], []), Line("dblp", [0.8, 0.8], [0.82, 0.84])]
    assert table(lines).splitlines()[2:] == [
        "| coauthor-cs | 2 | 91.00 ± 1.41 |  | 91.3 (GraphSAGE) | GCN 91.1, GAT 90.5, MoNet 90.8, GraphSAGE 91.3, "
        "MLP 88.3, label propagation 73.6 |",
        "| dblp | 2 | 80.00 ± 0.00 | 83.00 ± 1.41 |  |  |",
    ]


def test_trials_of_other_settings_are_not_the_cards(monkeypatch, tmp_path):
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    row = {"dataset": "dblp", "matrix": "avg", "change": "", "test": 0.8}
    assert lines_of([row, row | {"change": "train.lr=1"}, row | {"matrix": "ppr"}]) == [Line("dblp", [0.8], [])]
