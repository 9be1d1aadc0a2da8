"""What trials are made of: a dataset, a matrix, changed settings; graph and rows are made once for all processes."""

from __future__ import annotations

import functools
import hashlib
import json
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
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.registry import check_installed, method_of
from grandplus.pipeline.card import CATALOG, OWN_METHOD
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
    """A dataset, a matrix and a method, with what differs from their published settings.

    Attributes
    ----------
    dataset : str
    matrix : str
    changes : tuple of (str, value)
        Like ``("train.lr", 0.1)``.
    model : str
        The method.
    """

    dataset: str
    matrix: str
    changes: tuple[tuple[str, Any], ...] = ()
    model: str = OWN_METHOD

    @property
    def change(self) -> str:
        """What differs from GRAND+'s published settings, as ``dvc exp run -S`` takes it.

        >>> Case("cora", "ppr", (("train.lr", 0.1), ("gfpush.top_k", 8))).change
        'train.lr=0.1 gfpush.top_k=8'
        >>> Case("cora", "ppr", (("train.lr", 0.1),), model="sgc").change
        'model=sgc train.lr=0.1'
        """
        model = [f"model={self.model}"] * (self.model != OWN_METHOD)
        return " ".join([*model, *(f"{key}={value}" for key, value in self.changes)])

    def settings(self, trials: int) -> Settings:
        """The published settings, changed; params.yaml has no say.

        Parameters
        ----------
        trials : int
        """
        changes: dict[str, Any] = {"preprocess": {}, "gfpush": {}, "train": {}, "synthetic": {}}
        for key, value in self.changes:
            section, name = key.split(".")
            changes[section][name] = value
        changes |= {"dataset": self.dataset, "model": self.model, "matrix": self.matrix, "seed": 0, "trials": trials}
        return load_settings(**changes)


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that the trials of a case have in common.

    Attributes
    ----------
    settings : Settings
    graph : Graph
    splits : Splits
    rows : Rows or None
        None if the method needs none.
    inputs : str
        A digest of the settings and the graph.
    """

    settings: Settings
    graph: Graph
    splits: Splits
    rows: Rows | None
    inputs: str


@functools.lru_cache(maxsize=16)
def prepare(case: Case, trials: int) -> Prepared:
    """Download, preprocess and push as the stages of the pipeline do; what is there already is read.

    Parameters
    ----------
    case : Case
    trials : int
        How many splits to draw.
    """
    settings = case.settings(trials)
    check_installed(settings.model)
    folder = graph_folder(settings)
    graph, splits = _load(folder)
    rows = None
    if settings.needs_rows:
        rows = Rows.load(rows_folder(settings, folder), graph.adjacency.fingerprint)
    return Prepared(settings, graph, splits, rows, inputs_key(settings, graph))


def inputs_key(settings: Settings, graph: Graph) -> str:
    """A digest of all that a trial's scores depend on, but for the code and the trial's number.

    Values that are the defaults of their classes are left out: a setting that is new and not used keeps the key.

    Parameters
    ----------
    settings : Settings
    graph : Graph
    """
    of_matrix = settings.matrix.model_dump(by_alias=True, exclude={"name"}, exclude_defaults=True)
    used = {
        "dataset": settings.dataset,
        "model": settings.model,
        "matrix": settings.matrix.name,
        "seed": settings.seed,
        "preprocess": settings.preprocess.model_dump(exclude_defaults=True),
        "gfpush": of_matrix | settings.gfpush.model_dump(exclude_defaults=True),
        "train": settings.train.model_dump(exclude_defaults=True),
    }
    digest = hashlib.sha256(json.dumps(used, sort_keys=True).encode())
    digest.update(graph.adjacency.fingerprint.encode())
    digest.update(graph.labels.tobytes())
    return digest.hexdigest()[:12]


@functools.lru_cache(maxsize=4)
def _load(folder: Path) -> tuple[Graph, Splits]:
    """Once for the cases that share them."""
    return Graph.load(folder), Splits.load(folder)


def check_cpu() -> None:
    """Experiments train side by side on the CPU, and would not use a GPU that is asked for."""
    value = requested_device()
    if value == "cuda":
        raise GrandPlusError(f"GRANDPLUS_DEVICE is {value!r}", expected="auto or cpu, where experiments train")


def train_blind(
    prepared: Prepared,
    split: Split,
    trial: int,
    labels: NDArray[np.int64] | None = None,
    **options: Any,
) -> Trained:
    """Train one trial with the labels of all nodes but those of training and validation hidden (-1).

    Parameters
    ----------
    prepared : Prepared
    split : Split
    trial : int
        Its number, for the seed.
    labels : int64 (n,), optional
        In place of the graph's.
    **options
        For the method's ``fit``.
    """
    given = prepared.graph.labels if labels is None else labels
    seen = np.full_like(given, -1)
    for nodes in (split.train, split.val):
        seen[nodes] = given[nodes]
    settings = prepared.settings
    task = Task(replace(prepared.graph, labels=seen), split, prepared.rows, seed=[settings.seed, trial])
    return method_of(settings.model).fit(task, settings.train, **options)


def graph_folder(settings: Settings) -> Path:
    """The folder of the graph and its splits.

    Parameters
    ----------
    settings : Settings
    """

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as raw:
            get_files(settings, Path(raw))
            graph, splits = make_graph(read(Path(raw), settings.source, CATALOG), settings, Path(raw))
            graph.save(folder)
            splits.save(folder)

    used = {"dataset", "seed", "trials", "expect", "source", "synthetic", "preprocess"}
    code = code_of("download", settings) + code_of("preprocess", settings)  # a synthetic graph is made by the former
    return _kept("graph", key_of(settings.model_dump(include=used), code), make)


def rows_folder(settings: Settings, graph: Path) -> Path:
    """The folder of the rows that the trials need; the same for settings that differ in training only.

    Parameters
    ----------
    settings : Settings
    graph : Path
        The folder of the graph.
    """
    adjacency = Adjacency.load(graph)
    nodes = Splits.load(graph).needing_rows(unlabelled=settings.train.uses_unlabelled)
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
    if target.exists():  # it appears whole
        return target
    STORE.mkdir(parents=True, exist_ok=True)
    with locked(STORE / f"{name}-{key}.lock"):
        if not target.exists():
            with scratch(f"experiments-{name}", key, target) as folder:
                make(folder)
    return target
