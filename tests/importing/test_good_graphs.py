"""On graphs that GRAND+ does well on no rule finds anything; on heterophilous ones, import has remarks."""

from __future__ import annotations

from pathlib import Path

import pytest
from own import run_import

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.raw import RawGraph, read
from grandplus.evaluation.baselines.scores import score_baselines
from grandplus.evaluation.diagnosis.facts import GraphFacts, Trial
from grandplus.evaluation.diagnosis.rules import diagnose
from grandplus.methods.fitting import fit
from grandplus.methods.protocol import Task
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.propagation.gfpush import gfpush

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "datasets"
QUICK = {"patience": 5}  # so that a training takes seconds; its accuracy is a little lower


def diagnosed(raw: RawGraph, settings: Settings) -> list[str]:
    """The names of all findings on a trial."""
    graph, splits = make_graph(raw, settings)
    pushed = {"weights": settings.matrix.weights(), "rmax": settings.gfpush.rmax, "top_k": settings.gfpush.top_k}
    rows = gfpush(graph, splits.needing_rows(), **pushed)
    trained = fit(Task(graph, splits.of(0), rows, seed=[0, 0]), settings.train)
    known = GraphFacts.of_splits(graph, splits, rows.info.order)
    predicted = trained.model.predict_proba(graph)[known.labelled[0].val].argmax(axis=1)
    trials = [Trial.of(predicted, trained.history, trained.model.info["best_step"])]
    facts = known.after(trials, settings.train, rows)
    found = diagnose(facts.with_baselines(score_baselines(graph, [splits.of(0)], **pushed)))
    return [str(finding) for finding in found]


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_nothing_speaks_against_the_citation_graphs(name, raw_graph):
    assert diagnosed(raw_graph(name), load_settings(ROOT, dataset=name, trials=1, train=QUICK)) == []


@pytest.mark.parametrize("name", ["amazon_photo", "coauthor_cs"])
def test_nothing_speaks_against_imported_graphs(name, checkout, tmp_path, monkeypatch, capsys):
    file = SHARED / "graphdata" / f"{name}.npz"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    assert run_import(monkeypatch, checkout, "mine", file) == 0
    assert "remark" not in capsys.readouterr().out
    settings = load_settings(checkout, dataset="mine", trials=1, train=QUICK)
    (tmp_path / "raw").mkdir()
    fetch(settings.source, tmp_path / "raw", catalog=checkout / CATALOG, report=lambda _: None)
    assert diagnosed(read(tmp_path / "raw", settings.source, checkout / CATALOG), settings) == []


@pytest.mark.parametrize(
    ("case", "starts"),
    [
        ("hetero_minesweeper", ["edges hardly join nodes of the same class: 68.30 % of 22,199 edges"]),
        # Its edges join unlike nodes too, but the import has chosen an order of 0, which uses none of them.
        ("geomgcn_texas", ["class 1 has no node to train on"]),
    ],
)
def test_import_remarks_on_heterophilous_graphs(case, starts, checkout, monkeypatch, capsys):
    folder = SHARED / "cases" / case
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    files = sorted(file for file in folder.iterdir() if file.name != "README")
    assert run_import(monkeypatch, checkout, "mine", *files) == 0
    remarks = [line for line in capsys.readouterr().out.splitlines() if line.startswith("remark")]
    assert len(remarks) == len(starts)
    for remark, start in zip(remarks, starts, strict=True):
        assert remark.startswith(f"remark    {start}")
