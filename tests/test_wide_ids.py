"""A graph of more nodes than int32 can number, by lowering the limit: every stage, and the same answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from processes import CHECKOUT

from grandplus import graph as graphs
from grandplus.datasets import arrays
from grandplus.datasets.manifest import Manifest
from grandplus.datasets.raw import read
from grandplus.datasets.synthetic import generate
from grandplus.graph import Graph
from grandplus.inference import infer_trials
from grandplus.preprocess import preprocess
from grandplus.propagation.rows import Rows
from grandplus.propagation.shards import write_shards
from grandplus.settings import Settings, load_settings
from grandplus.training.trials import train_trials


@pytest.mark.parametrize("name", ["twin-mag-scholar-c", "twin-aminer-cs"])  # embedded sparse features, and dense ones
def test_every_stage_takes_ids_of_64_bits(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    scale = {"twin-mag-scholar-c": 0.0001, "twin-aminer-cs": 0.004}[name]
    short = {"max_epochs": 5, "warmup": 5}
    settings = load_settings(
        CHECKOUT, dataset=name, matrix="avg", trials=1, synthetic={"scale": scale}, train=short,
    )  # fmt: skip
    narrow = run(settings, tmp_path / "narrow")
    for module in (graphs, arrays):
        monkeypatch.setattr(module, "INT32_IDS", 0)
    wide = run(settings, tmp_path / "wide")
    assert Graph.load(wide / "graph").adjacency.indices.dtype == np.int64
    assert Rows.load(wide / "rows").neighbors.dtype == np.int64
    assert Rows.load(narrow / "rows").neighbors.dtype == np.int32
    for made in ("model/trial-00000.safetensors", "model/history-00000.parquet", "predictions/trial-00000.parquet"):
        assert (wide / made).read_bytes() == (narrow / made).read_bytes()


def run(settings: Settings, folder: Path) -> Path:
    for name in ("raw", "graph", "rows", "model", "predictions"):
        (folder / name).mkdir(parents=True)
    generate(settings.source.synthetic, settings.synthetic.scale, folder / "raw")
    Manifest("synthetic", {}).save(folder / "raw")
    graph, splits = preprocess(read(folder / "raw", settings.source, CHECKOUT / "data/catalog"), settings)
    graph.save(folder / "graph")
    splits.save(folder / "graph")
    push = settings.gfpush
    weights = [1 / (push.order + 1)] * (push.order + 1)
    nodes = splits.needing_rows()
    list(write_shards(folder / "graph", nodes, folder / "rows", weights=weights, rmax=push.rmax, top_k=push.top_k))
    train_trials(folder / "graph", folder / "rows", folder / "model", settings, live=folder / "live.json")
    infer_trials(folder / "graph", folder / "model", folder / "predictions")
    return folder
