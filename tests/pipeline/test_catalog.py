"""The list of cards: sizes, sources, and committed results, of which validation nodes choose the best."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.datasets.fetch.fetch import is_at_hand
from grandplus.datasets.source import Source
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.catalog import Listed, best_results, list_cards
from grandplus.runtime.sums import sha256, write_sums

ROOT = Path(__file__).resolve().parents[2]
CARD = """
title: Mine
citation: own
licence: CC BY
expect: {nodes: 5, edges: 4, classes: 2, features: 1}
source:
  format: edges-npz
  files: {mine.npz: null}
  places: [{mirror: GRANDPLUS_MIRROR}, {url: 'https://example.org/data/'}]
preprocess: {features: as-is, split: per-class}
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MIRROR", "")
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    (tmp_path / CATALOG).mkdir(parents=True)
    (tmp_path / CATALOG / "mine.yaml").write_text(CARD)
    return tmp_path


def committed(checkout: Path, name: str, rows: list[dict[str, object]]) -> None:
    file = checkout / "experiments" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def trials(validation: list[float], test: list[float], **more: object) -> list[dict[str, object]]:
    scores = zip(validation, test, strict=True)
    return [
        {"dataset": "mine", "matrix": "avg", "change": "", **more, "trial": trial, "validation": first, "test": second}
        for trial, (first, second) in enumerate(scores)
    ]


def test_validation_nodes_choose_the_best_and_test_nodes_score_it(checkout):
    rows = trials([0.8, 0.8], [0.9, 0.9]) + trials([0.9, 0.7], [0.5, 0.7], change="train.lr=0.1", matrix="ppr")
    committed(checkout, "a/trials.csv", [*rows, *trials([0.81, 0.81], [0.6, 0.8], matrix="single")])
    best = best_results(checkout)["mine"]
    assert (best.settings, best.file) == ("single", "experiments/a/trials.csv")
    assert best.test.mean == pytest.approx(0.7)
    assert best.test.trials == 2


def test_settings_with_fewer_trials_and_smaller_graphs_do_not_count(checkout):
    committed(checkout, "a/trials.csv", trials([0.8, 0.8], [0.7, 0.7]) + trials([0.9], [0.9], matrix="ppr"))
    committed(checkout, "b/trials.csv", trials([0.9] * 3, [1.0] * 3, scale=0.01))
    committed(checkout, "c/trials.csv", trials([0.9] * 3, [1.0] * 3, change="synthetic.scale=0.01 train.lr=1"))
    committed(checkout, "d/other.csv", [{"graph": "mine", "trial": 0, "validation": 1, "test": 1}])
    assert best_results(checkout)["mine"].test.mean == pytest.approx(0.7)


def test_a_line_that_a_kill_has_cut_short_does_not_count(checkout):
    committed(checkout, "a/trials.csv", trials([0.8, 0.8], [0.7, 0.7]))
    file = checkout / "experiments/a/trials.csv"
    file.write_text(file.read_text() + "mine,avg,,2,0.9")
    assert best_results(checkout)["mine"].test.trials == 2


def test_a_card_is_listed_with_what_is_known(checkout):
    [card] = list_cards(checkout)
    assert card == Listed("mine", "Mine", 5, 4, 2, 1, None, False, "example.org", "CC BY", None)
    committed(checkout, "a/graphs.csv", [{"dataset": "mine", "homophily": 0.25}])
    assert list_cards(checkout)[0].homophily == 0.25


def test_the_graph_of_the_last_run_tells_its_homophily(checkout):
    path = as_adjacency(sp.diags_array(np.ones(4), offsets=1, shape=(5, 5)))
    graph = Graph(path, np.ones((5, 1), np.float32), np.array([0, 0, 1, 1, -1]), ["a", "b"], np.arange(5))
    (checkout / "data/graph").mkdir(parents=True)
    graph.save(checkout / "data/graph")
    (checkout / "reports").mkdir()
    (checkout / "reports/settings.yaml").write_text("dataset: mine\n")
    assert list_cards(checkout)[0].homophily is None  # no run has ended
    write_sums(checkout / "data/graph", {"indptr.npy": "0" * 64})
    files = {"settings.yaml": "reports/settings.yaml", "../data/graph/SHA256SUMS": "data/graph/SHA256SUMS"}
    write_sums(checkout / "reports", {name: sha256(checkout / file) for name, file in files.items()})
    assert list_cards(checkout)[0].homophily == pytest.approx(2 / 3)
    write_sums(checkout / "data/graph", {"indptr.npy": "1" * 64})  # of a later run, which has not ended
    assert list_cards(checkout)[0].homophily is None


def test_files_in_a_mirror_in_place_or_in_the_cache_are_on_this_machine(checkout, monkeypatch):
    def source(**place: object) -> Source:
        return Source.model_validate({"format": "x", "files": {"mine.npz": "0" * 64}, "places": [place]})

    public, mirror = source(url="https://example.org/"), source(mirror="GRANDPLUS_MIRROR")
    local = source(local={"mine.npz": str(checkout / "mine.npz")})
    assert not any(map(is_at_hand, (public, mirror, local)))
    (checkout / "mine.npz").touch()
    assert is_at_hand(local)
    monkeypatch.setenv("GRANDPLUS_MIRROR", str(checkout))
    assert is_at_hand(mirror)
    assert not is_at_hand(public)
    (checkout / "cache/downloads" / ("0" * 64)).touch()
    assert is_at_hand(public)


def test_cards_of_this_checkout(monkeypatch):
    cards = {card.dataset: card for card in list_cards(ROOT)}
    assert set(cards) == {file.stem for file in (ROOT / CATALOG).glob("*.yaml")}
    assert cards["ogbn-arxiv"].licence == "ODC-BY"
    assert cards["ogbn-arxiv"].source == "snap.stanford.edu"
    assert cards["twin-reddit"].source == "made"
    assert cards["twin-reddit"].here
    assert (cards["twin-reddit"].nodes, cards["twin-reddit"].homophily) == (232965, 0.7)
    assert cards["pubmed"].best.settings == "avg"
    assert cards["pubmed"].best.test.trials == 100
