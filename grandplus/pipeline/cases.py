"""What trials are made of: a dataset, a matrix, changed settings; graph and rows are made once for all processes."""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.raw import read
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split, Splits
from grandplus.methods.grandplus.method import EarlyStopping, fit
from grandplus.methods.protocol import Task, Trained
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.dependencies import code_of
from grandplus.pipeline.files import get_files
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.rows import make_rows
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.propagation.rows import Rows
from grandplus.runtime.environment import requested_device
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import key_of, locked, scratch

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


def check_no_gpu() -> None:
    """Experiments train side by side on the CPU, and would not use a GPU that is asked for."""
    value = requested_device()
    if value == "cuda":
        raise GrandPlusError(f"GRANDPLUS_DEVICE is {value!r}", expected="auto or cpu, where experiments train")


def train_blind(
    prepared: Prepared,
    split: Split,
    trial: int,
    labels: NDArray[np.int64] | None = None,
    stopping: EarlyStopping | None = None,
) -> Trained:
    """Train with the labels of everything but training and validation nodes hidden (-1)."""
    given = prepared.graph.labels if labels is None else labels
    seen = np.full_like(given, -1)
    for nodes in (split.train, split.val):
        seen[nodes] = given[nodes]
    settings = prepared.settings
    task = Task(replace(prepared.graph, labels=seen), split, prepared.rows, seed=[settings.seed, trial])
    return fit(task, settings.train, stopping=stopping)


def graph_folder(settings: Settings) -> Path:
    """The folder of the graph and its splits."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as raw:
            get_files(settings, Path(raw))
            graph, splits = make_graph(read(Path(raw), settings.source, CATALOG), settings)
            graph.save(folder)
            splits.save(folder)

    used = {"dataset", "seed", "trials", "expect", "source", "synthetic", "preprocess"}
    return _kept("graph", key_of(settings.model_dump(include=used), code_of("preprocess", settings)), make)


def rows_folder(settings: Settings, graph: Path) -> Path:
    """The folder of the rows that the trials need; the same for settings that differ in training only."""
    adjacency, nodes = Adjacency.load(graph), Splits.load(graph).needing_rows()
    inputs = {
        "nodes": hashlib.sha256(nodes.data).hexdigest(),
        "graph": adjacency.fingerprint,
        "matrix": settings.matrix.model_dump(),
        "push": settings.gfpush.model_dump(),
    }

    def make(folder: Path) -> None:
        for _ in make_rows(settings, adjacency, nodes, folder):
            pass

    return _kept("rows", key_of(inputs, code_of("gfpush", settings)), make)


def _kept(name: str, key: str, make: Callable[[Path], None]) -> Path:
    target = STORE.absolute() / f"{name}-{key}"
    STORE.mkdir(parents=True, exist_ok=True)
    with locked(STORE / f"{name}-{key}.lock", quiet=True):
        if not target.exists():
            with scratch(f"experiments-{name}", key, target) as folder:
                make(folder)
    return target
