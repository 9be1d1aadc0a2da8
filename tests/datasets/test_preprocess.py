"""The three datasets: what is counted, merged and dropped, and the same bytes by every route."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

ROOT = Path(__file__).resolve().parents[2]
# Merged and dropped entries explain the paper's table, which counts 5,429, 4,732 and 44,338 edges.
FACTS = {
    "cora": {
        "nodes": 2708, "edges": 5278, "merged_duplicates": 151, "dropped_self_loops": 0, "isolated_nodes": 0,
        "unlabelled_nodes": 0, "zero_feature_rows": 0, "classes": 7, "features": 1433,
    },
    "citeseer": {
        "nodes": 3327, "edges": 4552, "merged_duplicates": 56, "dropped_self_loops": 124, "isolated_nodes": 48,
        "unlabelled_nodes": 15, "zero_feature_rows": 15, "classes": 6, "features": 3703,
    },
    "pubmed": {
        "nodes": 19717, "edges": 44324, "merged_duplicates": 11, "dropped_self_loops": 3, "isolated_nodes": 0,
        "unlabelled_nodes": 0, "zero_feature_rows": 0, "classes": 3, "features": 500,
    },
}  # fmt: skip


def saved(raw_graph: Callable, name: str, file_format: str, folder: Path) -> Path:
    graph, splits = make_graph(raw_graph(name, file_format), load_settings(ROOT, dataset=name, trials=3))
    folder.mkdir()
    graph.save(folder)
    splits.save(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "file_format"),
    [("cora", "planetoid"), ("cora", "content-cites"), ("citeseer", "planetoid"), ("pubmed", "planetoid")],
)
def test_graph_as_it_is_known(raw_graph, tmp_path, name, file_format):
    graph = Graph.load(saved(raw_graph, name, file_format, tmp_path / "graph"))
    assert graph.facts == FACTS[name] | {"format_version": 1}
    sums = np.asarray(graph.features.sum(axis=1)).ravel()
    np.testing.assert_allclose(sums[sums > 0], 1, atol=1e-5)
    assert (sums == 0).sum() == FACTS[name]["zero_feature_rows"]
    _, splits = make_graph(raw_graph(name, file_format), load_settings(ROOT, dataset=name, trials=3))
    for trial in range(3):
        split = splits.of(trial)
        assert np.bincount(graph.labels[split.train]).tolist() == [20] * FACTS[name]["classes"]
        assert (len(split.val), len(split.test)) == (500, 1000)
        np.testing.assert_array_equal(split.unlabelled, split.test)  # U', as the cards have it


def test_both_routes_to_cora_give_the_same_bytes(raw_graph, tmp_path):
    folders = [saved(raw_graph, "cora", kind, tmp_path / kind) for kind in ("planetoid", "content-cites")]
    names = [sorted(file.name for file in folder.iterdir()) for folder in folders]
    assert names[0] == names[1]
    for name in names[0]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name


def test_dense_columns_for_each_node_are_refused_before_memory_runs_out(monkeypatch):
    nodes, edges = 1000, np.array([[0, 1], [1, 2]])
    raw = RawGraph(edges, nodes, None, np.arange(nodes) % 2, ["a", "b"], np.arange(nodes), [])
    settings = Preprocess(features="standardized-adjacency", split="per-class")
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(4 * nodes**2))
    preprocess(raw, settings, seed=0, trials=1)
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(4 * nodes**2 - 1))
    with pytest.raises(GrandPlusError, match=r"columns of 1000 nodes take .*; choose preprocess\.features: adjacency"):
        preprocess(raw, settings, seed=0, trials=1)


def test_a_card_whose_features_are_replaced_by_those_of_the_graph(raw_graph):
    """As -S preprocess.features=adjacency does; the card expects 1,433."""
    settings = load_settings(ROOT, dataset="cora", trials=1, preprocess={"features": "adjacency"})
    graph, _ = make_graph(raw_graph("cora"), settings)
    assert graph.features.shape == (2708, 2708)
