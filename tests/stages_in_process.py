"""The pipeline's stages one by one, in this process and without DVC, for a synthetic dataset."""

from __future__ import annotations

from pathlib import Path

from processes import CHECKOUT

from grandplus.datasets.fetch.manifest import Manifest
from grandplus.datasets.raw import read
from grandplus.datasets.synthetic import generate
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.splits import Splits
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.inference import infer_trials
from grandplus.pipeline.rows import make_rows
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.trials import train_trials
from grandplus.runtime.storage import remove_unfinished


def make_graph_folders(settings: Settings, base: Path) -> None:
    """base/raw and base/graph."""
    for name in ("raw", "graph"):
        (base / name).mkdir(parents=True)
    files = generate(settings.source.synthetic, settings.synthetic.scale, base / "raw")
    Manifest("synthetic", dict.fromkeys(files, "")).save(base / "raw")
    graph, splits = make_graph(read(base / "raw", settings.source, CHECKOUT / "data/catalog"), settings)
    graph.save(base / "graph")
    splits.save(base / "graph")


def run_stage(stage: str, settings: Settings, base: Path, out: Path) -> None:
    """gfpush, train or infer into ``out``, from base/graph, base/gfpush and base/train; `output` ends them alike."""
    out.mkdir(exist_ok=True)
    if stage == "gfpush":
        nodes = Splits.load(base / "graph").needing_rows()
        adjacency = Adjacency.load(base / "graph")
        list(make_rows(settings, adjacency, nodes, out))
    elif stage == "train":
        train_trials(base / "graph", base / "gfpush", out, settings, live=base / "live.json")
    else:
        infer_trials(base / "graph", base / "train", out)
    remove_unfinished(out)
