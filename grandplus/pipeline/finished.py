"""Finished trials are found again by all that each of them depends on, whatever run they were made in."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from grandplus.graph.splits import Splits
from grandplus.pipeline.dependencies import code_of, read_stage
from grandplus.pipeline.folders import listed
from grandplus.pipeline.settings import Settings
from grandplus.propagation.rows import RowsInfo
from grandplus.runtime.environment import scratch_folder, store_limit
from grandplus.runtime.storage import key_of
from grandplus.runtime.store import Store

LIBRARIES = ("numba", "numpy", "pyarrow", "safetensors", "scipy", "torch")  # that compute results and write files


@dataclass(frozen=True)
class Finished:
    """What was made for single trials, by this run or by earlier ones.

    Parameters
    ----------
    store : Store
    keys : list of str
        A digest for each trial of this run of all that its files depend on.
    """

    store: Store
    keys: list[str]

    def take(self, trial: int, out: Path) -> bool:
        """Put a trial's files into a folder; whether they were there."""
        return self.store.take(self.keys[trial], out)

    def add(self, trial: int, *files: tuple[str, Path]) -> None:
        """Keep a trial's files, each with the name that it is found under; the last marks the end."""
        self.store.add(self.keys[trial], dict(files))


def finished_trainings(
    graph: Path, rows: Path, settings: Settings, device: str, start: list[str] | None = None
) -> Finished:
    """Models and histories. They lie in ``GRANDPLUS_SCRATCH``, as do all that are finished.

    A trial depends on the settings of the train stage but the number of trials, on the graph, its nodes and what their
    rows are made from, on the model that it starts from, on the code and on the libraries.

    Parameters
    ----------
    graph, rows : Path
        Folders of earlier stages; ``rows`` isn't read if the method needs none.
    settings : Settings
    device : {"cpu", "cuda"}
        A GPU rounds differently.
    start : list of str, optional
        The SHA-256 of the model that each trial starts from.

    Returns
    -------
    Finished

    Raises
    ------
    ArtifactError
        A file of an earlier stage is missing or damaged.
    GrandPlusError
        The folder can't be made, or ``GRANDPLUS_STORE`` is no size.
    """
    common = _common(graph, device) | {
        "settings": settings.model_dump(include=set(read_stage("train", settings).settings) - {"trials"})
    }
    if settings.needs_rows:
        # A row depends on its node, on this and on the graph, not on which other rows there are.
        common["rows"] = [asdict(RowsInfo.load(rows)), code_of("gfpush", settings)]
    splits, code = Splits.load(graph), code_of("train", settings)
    keys = []
    for trial in range(settings.trials):
        split = splits.of(trial)
        nodes = [_digest(part) for part in (split.train, split.val, split.unlabelled)]
        own = {"trial": trial, "nodes": nodes, "start": start and start[trial]}
        keys.append(key_of(common | own, code))
    return Finished(_store(), keys)


def finished_predictions(graph: Path, models: Path, settings: Settings, device: str) -> Finished:
    """Tables of predictions: each depends on its model, the graph, the trial's parts, the code and the libraries.

    Parameters
    ----------
    graph, models : Path
        Folders of earlier stages.
    settings : Settings
    device : {"cpu", "cuda"}

    Returns
    -------
    Finished

    Raises
    ------
    ArtifactError
        A file of an earlier stage is missing or damaged.
    GrandPlusError
        The folder can't be made, or ``GRANDPLUS_STORE`` is no size.
    """
    common, splits, code = _common(graph, device), Splits.load(graph), code_of("infer", settings)
    sums = [digest for name, digest in sorted(listed(models).items()) if name.endswith(".safetensors")]
    keys = []
    for trial, model in enumerate(sums):
        split = splits.of(trial)
        nodes = [_digest(part) for part in (split.train, split.val, split.test)]
        keys.append(key_of(common | {"model": model, "nodes": nodes}, code))
    return Finished(_store(), keys)


def _store() -> Store:
    store = Store(scratch_folder() / "trials", store_limit())
    store.trim()  # a run that was killed had no time for it
    return store


def _common(graph: Path, device: str) -> dict[str, Any]:
    """What all trials on a graph depend on; their splits are in one file, and each looks at its own alone."""
    return {
        "graph": {name: digest for name, digest in listed(graph).items() if name != "splits.parquet"},
        "device": device,
        "libraries": {name: metadata.version(name) for name in LIBRARIES},
    }


def _digest(nodes: NDArray[Any]) -> str:
    return hashlib.sha256(nodes.tobytes()).hexdigest()
