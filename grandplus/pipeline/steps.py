"""What the stages up to gfpush do, for settings and folders: shared by stages, imports and experiments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from numpy.typing import NDArray

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.fetch.manifest import Manifest
from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.settings import Settings
from grandplus.propagation.shards import write_shards


def get_files(settings: Settings, folder: Path) -> None:
    """Fetch a dataset's files into an existing folder, or make them if it is synthetic."""
    source = settings.source
    if source.synthetic is None:
        fetch(source, folder, catalog=CATALOG, expect=settings.expect)
        return
    from grandplus.datasets.synthetic import generate  # here, as it compiles kernels

    files = generate(source.synthetic, settings.synthetic.scale, folder)
    Manifest("synthetic", dict.fromkeys(files, "")).save(folder)  # no checksums: nothing was sent


def make_graph(raw: RawGraph, settings: Settings) -> tuple[Graph, Splits]:
    """Preprocess what ``read`` has read."""
    return preprocess(
        raw,
        settings.preprocess,
        seed=settings.seed,
        trials=settings.trials,
        name=settings.dataset,
        expect=settings.expect,
    )


def make_rows(settings: Settings, adjacency: Adjacency, nodes: NDArray, folder: Path) -> Iterator[str]:  # type: ignore[type-arg]
    """Push the rows of nodes (r,) into shards in a folder, and tell each shard's name as it is there."""
    push, matrix = settings.gfpush, settings.matrix
    of_push = {"rmax": push.rmax, "top_k": push.top_k}
    return write_shards(adjacency, nodes, folder, weights=matrix.weights(), matrix=matrix.name, **of_push)
