"""Kinds of files that people have and that went wrong: each gives the right graph, or is refused in one line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own import FEW, NODES, run_import

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.raw import read
from grandplus.graph.graph import Graph
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings

CASES = Path(__file__).resolve().parents[3] / "shared" / "datasets" / "cases-made"
if not CASES.is_dir():
    pytest.skip(f"{CASES} is not there", allow_module_level=True)

RING = {"nodes": NODES, "edges": NODES, "classes": 2}
DEGREE = ["--features", "degree"]


@dataclass(frozen=True)
class Right:
    """What is right: counts of the graph and of its unlabelled nodes, and words of the output or of the refusal."""

    arguments: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    unlabelled: int = 0
    words: list[str] = field(default_factory=list)
    refused: bool = False
    name: str = "mine"


RIGHT: dict[str, Right] = {
    "edge-ends-weight-column": Right(["--weights", "ignore"], RING, words=["ends: [src_id, dst_id]"]),
    # Five in both directions, and two self-loops
    "edge-ends-pandas-index": Right(
        counts={**RING, "edges": 5}, words=["5, of 12 entries", "ends: [citing_id, cited_id]", "column 1 (an index"]
    ),
    "first-edge-taken-for-header": Right(DEGREE, {**RING, "edges": 11}, words=["11, of 11 entries"]),
    "text-header-phantom-node": Right(["--split", "uniform", *DEGREE], RING, words=["id: paper, label: topic"]),
    "hash-ids-lost-edges": Right(counts=RING, words=["12, of 12 entries"]),
    "label-minus-one-float": Right(counts=RING, unlabelled=4, words=["0 (4), 1 (4)"]),
    "label-excel-NA": Right(counts=RING, unlabelled=4, words=["4 nodes without a label"]),
    "labels-of-some-nodes-only": Right(DEGREE, RING, unlabelled=4, words=["4 nodes without a label"]),
    "big-offset-feature": Right(counts={**RING, "features": 2}),
    "index-column-as-feature": Right(counts={**RING, "features": 1}, words=["column 1 (an index"]),
    "decimal-comma-dropped": Right(counts={**RING, "features": 2}),
    "semicolon-decimal-comma-no-header": Right(counts={**RING, "features": 1}),
    "numeric-dataset-name": Right(name="2024", words=["2024"], refused=True),
    "split-list-row-number": Right(
        ["--train", "tr.txt", "--val", "va.txt"], words=["502", "tr.txt", "va.txt"], refused=True
    ),
    "matrix-market-size-line": Right(["--edges", "graph.mtx"], RING),
    "ogb-label-file": Right(DEGREE, RING),
    "gml-duplicate-edge": Right(DEGREE, RING, words=["1 entry merged"]),
    "gml-other-attribute": Right(DEGREE, words=["--label club"], refused=True),
    "graphml-message": Right(words=["no node has a label"], refused=True),  # read: it has two nodes, without labels
    "pyg-pt-file": Right(words=["save_dataset"], refused=True),
    "cr-line-ends": Right(counts=RING),
}


def test_each_case_has_its_row():
    assert set(RIGHT) == {folder.name for folder in CASES.iterdir() if folder.is_dir()}


def graph_of(checkout: Path, folder: Path, name: str) -> Graph:
    """What a run makes of the card."""
    settings = load_settings(checkout, dataset=name, trials=1)
    folder.mkdir()
    fetch(settings.source, folder, catalog=checkout / CATALOG, report=lambda _: None)
    return make_graph(read(folder, settings.source, checkout / CATALOG), settings)[0]


def imported(case: str, tmp_path: Path, monkeypatch: Any, capsys: Any, checkout: Path) -> Graph | None:
    """The graph after its counts and words were checked; None if it was rightly refused."""
    right, folder = RIGHT[case], CASES / case
    lists = {word for word in right.arguments if word in ("tr.txt", "va.txt")}
    files = [file for file in sorted(folder.iterdir()) if file.name not in lists]
    arguments = [str(folder / word) if word in lists else word for word in right.arguments]
    code = run_import(monkeypatch, checkout, right.name, *files, *FEW, *arguments)
    out, err = capsys.readouterr()
    assert code == (2 if right.refused else 0), err
    for word in right.words:
        assert word in (err if code else out)
    if code:
        assert err.count("\n") == 1
        assert not list((checkout / CATALOG).iterdir())
        return None
    graph = graph_of(checkout, tmp_path / "raw", right.name)
    assert graph.facts | right.counts == graph.facts
    assert graph.facts["unlabelled_nodes"] == right.unlabelled
    return graph


@pytest.mark.parametrize("case", RIGHT)
def test_it_is_right(case, tmp_path, monkeypatch, capsys, checkout):
    graph = imported(case, tmp_path, monkeypatch, capsys, checkout)
    if case == "big-offset-feature":  # 0 and 1 in turn, standardized
        assert graph is not None
        np.testing.assert_allclose(graph.features[:, 0], [-1, 1] * (NODES // 2), rtol=1e-6)
