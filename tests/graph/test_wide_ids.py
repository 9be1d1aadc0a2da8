"""A graph of more nodes than int32 can number, by lowering the limit: every stage, and the same answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from processes import CHECKOUT
from stages_in_process import make_graph_folders, run_stage

from grandplus.datasets.arrays import edges as arrays
from grandplus.graph import adjacency as adjacencies
from grandplus.graph.graph import Graph
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.propagation.rows import Rows


@pytest.mark.parametrize("name", ["twin-mag-scholar-c", "twin-aminer-cs"])  # embedded sparse features, and dense ones
def test_every_stage_takes_ids_of_64_bits(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    scale = {"twin-mag-scholar-c": 0.0001, "twin-aminer-cs": 0.004}[name]
    short = {"max_epochs": 2, "warmup": 2}
    settings = load_settings(
        CHECKOUT, dataset=name, matrix="avg", trials=1, synthetic={"scale": scale}, train=short,
    )  # fmt: skip
    recipe = settings.source.synthetic.model_copy(update={"features": min(1000, settings.source.synthetic.features)})
    settings = settings.model_copy(update={"source": settings.source.model_copy(update={"synthetic": recipe})})
    narrow = run(settings, tmp_path / "narrow")
    for module in (adjacencies, arrays):
        monkeypatch.setattr(module, "INT32_IDS", 0)
    wide = run(settings, tmp_path / "wide")
    assert Graph.load(wide / "graph").adjacency.indices.dtype == np.int64
    assert Rows.load(wide / "gfpush").neighbors.dtype == np.int64
    assert Rows.load(narrow / "gfpush").neighbors.dtype == np.int32
    for made in ("train/trial-00000.safetensors", "train/history-00000.parquet", "infer/trial-00000.parquet"):
        assert (wide / made).read_bytes() == (narrow / made).read_bytes()


def run(settings: Settings, base: Path) -> Path:
    make_graph_folders(settings, base)
    for stage in ("gfpush", "train", "infer"):
        run_stage(stage, settings, base, base / stage)
    return base
