"""What trials are made of: a dataset, a matrix, changed settings; graph and rows are made once for all processes."""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grandplus.datasets.raw import read
from grandplus.graph import Adjacency, Graph
from grandplus.preprocess import preprocess
from grandplus.propagation.rows import Rows
from grandplus.propagation.shards import write_shards
from grandplus.propagation.weights import weights
from grandplus.scratch import key_of, locked, scratch
from grandplus.settings import CATALOG, Settings, load_settings
from grandplus.splits import Splits
from stages.download import get

STORE = Path(".grandplus/experiments")  # of graphs and rows, named after all that they depend on
BEST_MATRIX = {"cora": "ppr", "citeseer": "ppr", "pubmed": "avg"}  # by the paper's Table 2


@dataclass(frozen=True)
class Case:
    """A dataset and a matrix with what differs from the card's settings, as ("train.lr", 0.1) pairs."""

    dataset: str
    matrix: str
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def change(self) -> str:
        """As ``dvc exp run`` takes it.

        >>> Case("cora", "ppr", (("train.lr", 0.1), ("gfpush.top_k", 8))).change
        'train.lr=0.1 gfpush.top_k=8'
        """
        return " ".join(f"{key}={value}" for key, value in self.changes)

    def settings(self, trials: int) -> Settings:
        """Those of the card, changed; params.yaml has no say."""
        changes: dict[str, Any] = {"preprocess": {}, "gfpush": {}, "train": {}, "synthetic": {}}
        for key, value in self.changes:
            section, name = key.split(".")
            changes[section][name] = value
        return load_settings(dataset=self.dataset, matrix=self.matrix, seed=0, trials=trials, **changes)


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that the trials of a case have in common.

    inputs : a digest of the settings and the graph
    """

    settings: Settings
    graph: Graph
    splits: Splits
    rows: Rows
    inputs: str


@functools.lru_cache(maxsize=16)
def prepare(case: Case, trials: int) -> Prepared:
    """Download, preprocess and push for so many trials, as the stages of the pipeline do; what is there is read."""
    settings = case.settings(trials)
    folder = graph_folder(settings)
    graph, splits = _load(folder)
    rows = Rows.load(rows_folder(settings, folder), graph.adjacency.fingerprint)
    # Without defaults, so that a setting which is new and unused doesn't make finished trials worthless.
    sections = {"dataset", "matrix", "seed", "preprocess", "gfpush", "train"}
    used = settings.model_dump_json(include=sections, exclude_defaults=True)
    digest = hashlib.sha256(used.encode())
    digest.update(graph.adjacency.fingerprint.encode())
    digest.update(graph.labels.tobytes())
    return Prepared(settings, graph, splits, rows, digest.hexdigest()[:12])


@functools.lru_cache(maxsize=4)
def _load(folder: Path) -> tuple[Graph, Splits]:
    """Once for the cases that share them."""
    return Graph.load(folder), Splits.load(folder)


def graph_folder(settings: Settings) -> Path:
    """The folder of the graph and its splits."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as raw:
            get(settings, Path(raw))
            graph, splits = preprocess(read(Path(raw), settings.source, CATALOG), settings)
            graph.save(folder)
            splits.save(folder)

    return _kept("graph", settings.model_dump(exclude={"matrix", "gfpush", "train"}), make)


def rows_folder(settings: Settings, graph: Path) -> Path:
    """The folder of the rows that the trials need; the same for settings that differ in training only."""
    push, matrix = settings.gfpush, settings.matrix
    w = weights(matrix, order=push.order, alpha=push.alpha, custom=push.weights)
    adjacency, nodes = Adjacency.load(graph), Splits.load(graph).needing_rows()
    of = {"nodes": hashlib.sha256(nodes.data).hexdigest(), "graph": adjacency.fingerprint}

    def make(folder: Path) -> None:
        for _ in write_shards(adjacency, nodes, folder, weights=w, rmax=push.rmax, top_k=push.top_k, matrix=matrix):
            pass

    return _kept("rows", {**of, "matrix": matrix, "push": push.model_dump()}, make)


def _kept(name: str, inputs: dict[str, Any], make: Callable[[Path], None]) -> Path:
    key = key_of(**inputs)
    target = STORE.absolute() / f"{name}-{key}"
    STORE.mkdir(parents=True, exist_ok=True)
    with locked(STORE / f"{name}-{key}.lock", quiet=True):
        if not target.exists():
            with scratch(f"experiments-{name}", key, target) as folder:
                make(folder)
    return target
