"""The experiment on nodes that come after training: what is hidden, and that a kill loses no trial."""

import numpy as np

from experiments.growth import __main__ as growth
from experiments.trials import read_rows
from grandplus.pipeline.cases import Case


def test_hidden_nodes_are_labelled_and_have_no_part_in_training(prepared):
    graph, split = prepared(Case("cora", "ppr"), 2).graph, prepared(Case("cora", "ppr"), 2).splits.of(0)
    graph.labels[50:] = -1
    hidden = growth.drawn(graph, split, [0, 0])
    assert len(hidden) == 6
    assert (graph.labels[hidden] >= 0).all()
    assert not np.isin(hidden, np.concatenate([split.train, split.val])).any()
    base, number_of = growth.without(graph, hidden)
    kept = number_of >= 0
    assert base.adjacency.nodes == 54
    assert base.node_ids.tolist() == np.flatnonzero(kept).tolist()
    assert np.array_equal(base.features, graph.features[kept])
    dense = np.zeros((60, 60))
    dense[np.repeat(np.arange(60), np.diff(graph.adjacency.indptr)), graph.adjacency.indices] = 1
    degrees = dense[np.ix_(kept, kept)].sum(axis=1)
    assert np.diff(base.adjacency.indptr).tolist() == degrees.tolist()


def test_trials_are_completed_and_a_table_is_written(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "prepare", prepared)
    monkeypatch.setattr(growth, "FOLDER", tmp_path)
    monkeypatch.setattr(growth, "TRIALS", tmp_path / "trials.csv")
    growth.make(["cora"], 2)
    whole = (tmp_path / "trials.csv").read_bytes()
    (tmp_path / "trials.csv").write_bytes(whole[:-5])
    growth.make(["cora"], 2)
    assert (tmp_path / "trials.csv").read_bytes() == whole
    rows = read_rows(tmp_path / "trials.csv")
    assert [row["hidden"] for row in rows] == ["6", "6"]
    assert all(0 <= float(row[name]) <= 1 for row in rows for name in ("later", "whole"))
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "table.md").read_text().splitlines()[2].startswith("| cora | 2 | 6 | ")
