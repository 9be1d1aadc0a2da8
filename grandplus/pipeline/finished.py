"""Finished trials are found again by all that each of them depends on, whatever run they were trained in."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
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

LIBRARIES = ("numba", "numpy", "pyarrow", "safetensors", "scipy", "torch")  # that compute a trial and write its files


def trial_store() -> Store:
    """The store of this checkout's finished trials; it lies in ``GRANDPLUS_SCRATCH``.

    Returns
    -------
    Store

    Raises
    ------
    GrandPlusError
        The folder can't be made, or ``GRANDPLUS_STORE`` is no size.
    """
    return Store(scratch_folder() / "trials", store_limit())


def keys_of_trials(graph: Path, rows: Path, settings: Settings, device: str) -> list[str]:
    """A digest for each trial of all that its model and history depend on.

    That is the settings of the train stage but the number of trials, the graph, the trial's nodes and what their rows
    are made from, the code, and the libraries.

    Parameters
    ----------
    graph, rows : Path
        Folders of earlier stages; ``rows`` isn't read if the method needs none.
    settings : Settings
    device : {"cpu", "cuda"}
        A GPU rounds differently.

    Returns
    -------
    list of str

    Raises
    ------
    ArtifactError
        A file of an earlier stage is missing or damaged.
    """
    splits = Splits.load(graph)
    code = code_of("train", settings)
    common: dict[str, Any] = {
        "settings": settings.model_dump(include=set(read_stage("train", settings).settings) - {"trials"}),
        "graph": {name: digest for name, digest in listed(graph).items() if name != "splits.parquet"},
        "device": device,
        "libraries": {name: metadata.version(name) for name in LIBRARIES},
    }
    if settings.needs_rows:
        # A row depends on its node, on this and on the graph, not on which other rows there are.
        common["rows"] = [asdict(RowsInfo.load(rows)), code_of("gfpush", settings)]
    keys = []
    for trial in range(settings.trials):
        split = splits.of(trial)
        nodes = [_digest(part) for part in (split.train, split.val, split.unlabelled)]
        keys.append(key_of({**common, "trial": trial, "nodes": nodes}, code))
    return keys


def _digest(nodes: NDArray[Any]) -> str:
    return hashlib.sha256(nodes.tobytes()).hexdigest()
