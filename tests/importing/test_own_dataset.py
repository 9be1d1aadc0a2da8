"""The card of docs/own-graph.md, with files of its kind, goes through download and preprocess."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.raw import read
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.runtime.errors import GrandPlusError

ROOT = Path(__file__).resolve().parents[2]
NODES, CLASSES, WORDS = 120, 3, 30


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """params.yaml and a catalog with that card, and its files in a mirror."""
    mirror, catalog = tmp_path / "mirror", tmp_path / CATALOG
    mirror.mkdir()
    catalog.mkdir(parents=True)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    write_files(mirror)
    card = YAML(typ="safe").load(
        re.search(r"```yaml\n(title: My.*?)```", (ROOT / "docs/own-graph.md").read_text(), re.S)[1]
    )
    for name in card["source"]["files"]:
        card["source"]["files"][name] = hashlib.sha256((mirror / name).read_bytes()).hexdigest()
    YAML(typ="safe").dump(card, catalog / "mine.yaml")
    monkeypatch.setenv("GRANDPLUS_MIRROR", str(mirror))
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    return tmp_path


def write_files(folder: Path) -> None:
    """A ring in which each paper cites the next two, written in another order than its ids'."""
    rng = np.random.default_rng(0)
    content = [
        "\t".join([f"paper{i}", *map(str, rng.integers(0, 2, WORDS)), f"topic{i % CLASSES}"])
        for i in rng.permutation(NODES)
    ]
    cites = [f"paper{(i + step) % NODES}\tpaper{i}" for i in range(NODES) for step in (1, 2)]
    (folder / "mine.content").write_text("\n".join([*content, ""]))
    (folder / "mine.cites").write_text("\n".join([*cites, cites[0], "paper3\tpaper3", ""]))


def run(checkout: Path, settings: Settings):
    folder = checkout / "raw"
    folder.mkdir()
    fetch(settings.source, folder, catalog=checkout / CATALOG, report=lambda _: None)
    return make_graph(read(folder, settings.source, checkout / CATALOG), settings)


@pytest.mark.parametrize("matrix", ["ppr", "avg", "single"])
def test_the_card_loads_for_each_matrix(checkout, matrix):
    assert load_settings(checkout, dataset="mine", matrix=matrix).gfpush.top_k == 32


def test_the_card_becomes_a_graph_with_a_split_for_each_trial(checkout):
    graph, splits = run(checkout, load_settings(checkout, dataset="mine", trials=3))
    assert graph.facts == {
        "nodes": 120, "edges": 240, "classes": 3, "features": 30, "merged_duplicates": 1, "dropped_self_loops": 1,
        "isolated_nodes": 0, "unlabelled_nodes": 0, "zero_feature_rows": 0,
    }  # fmt: skip
    assert sorted(graph.node_ids) == sorted(f"paper{i}" for i in range(NODES))
    row = {str(name): number for number, name in enumerate(graph.node_ids)}
    neighbors = graph.adjacency.indices[slice(*graph.adjacency.indptr[row["paper5"] : row["paper5"] + 2])]
    assert set(graph.node_ids[neighbors]) == {"paper3", "paper4", "paper6", "paper7"}
    assert graph.classes[graph.labels[row["paper5"]]] == "topic2"
    for trial in range(3):
        split = splits.of(trial)
        assert (len(split.train), len(split.val), len(split.test), len(split.unlabelled)) == (60, 30, 30, 60)
        assert np.bincount(graph.labels[split.train]).tolist() == [20, 20, 20]


def test_counts_that_the_card_does_not_expect_are_named(checkout):
    file = checkout / CATALOG / "mine.yaml"
    file.write_text(file.read_text().replace("edges: 240", "edges: 241"))
    with pytest.raises(GrandPlusError, match=r"mine: the files hold 240 edges; expected 241, as the card says"):
        run(checkout, load_settings(checkout, dataset="mine"))


def test_a_count_of_edges_that_the_card_does_not_know(checkout):
    file = checkout / CATALOG / "mine.yaml"
    file.write_text(file.read_text().replace("edges: 240", "edges: null"))
    graph, _ = run(checkout, load_settings(checkout, dataset="mine"))
    assert graph.facts["edges"] == 240


def test_scaling_as_the_card_says(checkout):
    card = (checkout / CATALOG / "mine.yaml").read_text()
    found = {}
    for scaling in ("as-is", "row-normalize", "standardize"):
        (checkout / CATALOG / "mine.yaml").write_text(card.replace("row-normalize", scaling))
        found[scaling] = run(checkout, load_settings(checkout, dataset="mine"))[0].features
        shutil.rmtree(checkout / "raw")
    words = found["as-is"].toarray()
    assert set(np.unique(words)) == {0, 1}
    np.testing.assert_allclose(found["row-normalize"].sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(found["standardize"], (words - words.mean(axis=0)) / words.std(axis=0), atol=1e-6)
