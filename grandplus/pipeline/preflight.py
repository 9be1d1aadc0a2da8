"""A run that can't finish ends before it starts: by what its card says of the graph, and what this machine has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from grandplus.graph.fitted import OF_NEIGHBORS, STANDARDIZED
from grandplus.pipeline.settings import Settings
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text

COPIES_OF_PARAMETERS = 3  # in training with Adam: the values and both moments


class Size(NamedTuple):
    """How large a graph is."""

    nodes: int
    edges: int
    features: int
    classes: int


def check_resources(settings: Settings, folder: Path) -> None:
    """Compare lower bounds of what the stages take with the memory and the disk at hand.

    Parameters
    ----------
    settings : Settings
    folder : Path
        On the disk that the results go to.

    Raises
    ------
    GrandPlusError
        There is too little; names what needs it.
    """
    size = _size(settings)
    if size is not None:
        _check_memory(settings, size)
        _check_disk(settings, size, folder)


def _check_memory(settings: Settings, size: Size) -> None:
    parameters = settings.train.parameters(size.features, size.classes)
    memory = {
        "edges in both directions": 8 * size.edges,
        "model's parameters in training": 4 * COPIES_OF_PARAMETERS * parameters,
        "standardized features": 4 * size.nodes * size.features * (settings.preprocess.features in STANDARDIZED),
        "one trial's probabilities": 4 * size.nodes * size.classes,
    }
    what, most = max(memory.items(), key=lambda item: item[1])
    if most > environment.memory():
        found = f"the {what} of {settings.dataset} take {size_text(most)}"
        expected = f"at most {size_text(environment.memory())}, the memory at hand"
        raise GrandPlusError(found, expected=expected, fix="set GRANDPLUS_MEMORY if there is more, or choose less")


def _check_disk(settings: Settings, size: Size, folder: Path) -> None:
    disk = 8 * size.edges + 4 * size.nodes * size.classes * settings.trials
    free = shutil.disk_usage(folder).free
    # What an earlier run has written counts as free, as it is replaced.
    if disk > free + _written(folder):
        found = f"the graph and the predictions of {settings.trials} trials take {size_text(disk)} of disk"
        expected = f"at most {size_text(free)}, which are free"
        raise GrandPlusError(found, where=folder.resolve(), expected=expected, fix="free some, or run fewer trials")


def _size(settings: Settings) -> Size | None:
    """As far as the card knows."""
    if settings.expect:
        expect = settings.expect
        made = expect.nodes if settings.preprocess.features in OF_NEIGHBORS else 1
        return Size(expect.nodes, expect.edges or 0, expect.features or made, expect.classes)
    if settings.source.synthetic:
        recipe, scale = settings.source.synthetic, settings.synthetic.scale
        return Size(int(recipe.nodes * scale), int(recipe.edges * scale), recipe.features, recipe.classes)
    return None


def _written(folder: Path) -> int:
    files = [file for name in ("graph", "predictions") for file in (folder / name).glob("*")]
    return sum(file.stat().st_size for file in files)
