"""The pipeline's stages one by one, in this process and without DVC, for a synthetic dataset."""

from __future__ import annotations

from pathlib import Path

from processes import CHECKOUT

from grandplus.datasets.manifest import Manifest
from grandplus.datasets.raw import read
from grandplus.datasets.synthetic import generate
from grandplus.graph import Adjacency
from grandplus.inference import infer_trials
from grandplus.preprocess import preprocess
from grandplus.propagation.shards import write_shards
from grandplus.propagation.weights import weights
from grandplus.settings import Settings
from grandplus.splits import Splits
from grandplus.training.trials import train_trials


def make_graph(settings: Settings, base: Path) -> None:
    """base/raw and base/graph."""
    for name in ("raw", "graph"):
        (base / name).mkdir(parents=True)
    files = generate(settings.source.synthetic, settings.synthetic.scale, base / "raw")
    Manifest("synthetic", dict.fromkeys(files, "")).save(base / "raw")
    graph, splits = preprocess(read(base / "raw", settings.source, CHECKOUT / "data/catalog"), settings)
    graph.save(base / "graph")
    splits.save(base / "graph")


def run_stage(stage: str, settings: Settings, base: Path, out: Path) -> None:
    """gfpush, train or infer into ``out``, from base/graph, base/gfpush and base/train."""
    out.mkdir(exist_ok=True)
    if stage == "gfpush":
        push = settings.gfpush
        w = weights(settings.matrix, order=push.order, alpha=push.alpha, custom=push.weights)
        nodes = Splits.load(base / "graph").needing_rows()
        adjacency = Adjacency.load(base / "graph")
        list(write_shards(adjacency, nodes, out, weights=w, rmax=push.rmax, top_k=push.top_k))
    elif stage == "train":
        train_trials(base / "graph", base / "gfpush", out, settings, live=base / "live.json")
    else:
        infer_trials(base / "graph", base / "train", out)
