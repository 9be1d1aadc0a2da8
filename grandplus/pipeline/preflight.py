"""Refuse a run that can't finish before it starts: by what its card says of the graph, and what this machine has."""

from __future__ import annotations

import shutil
from pathlib import Path

from grandplus.pipeline.settings import Settings
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError

GIB = 2**30
_COPIES = 3  # of a parameter in training: itself, and Adam's two moments


def check_size(settings: Settings, folder: Path) -> None:
    """Compare lower bounds of what the stages take with the memory and the disk at hand.

    Parameters
    ----------
    folder : on the disk that the results go to

    Raises
    ------
    GrandPlusError : there is too little; with what needs it.
    """
    sizes = _sizes(settings)
    if sizes is None:
        return
    nodes, edges, features, classes = sizes
    train = settings.train
    wide = train.embed or train.layers > 1
    memory = {
        "edges in both directions": 8 * edges,
        "first layer's weights in training": 4 * _COPIES * features * (train.hidden if wide else classes),
        "standardized features": 4 * nodes * features if settings.preprocess.features == "standardize" else 0,
        "one trial's probabilities": 4 * nodes * classes,
    }
    what, most = max(memory.items(), key=lambda item: item[1])
    if most > environment.memory():
        found = f"the {what} of {settings.dataset} take {most / GIB:.2f} GiB"
        expected = f"at most {environment.memory() / GIB:.2f} GiB, the memory at hand"
        raise GrandPlusError(found, expected=expected, fix="set GRANDPLUS_MEMORY if there is more, or choose less")
    disk, free = 8 * edges + 4 * nodes * classes * settings.trials, shutil.disk_usage(folder).free
    # What a first run has written is on the disk by now, and is replaced.
    if disk > free + _written(folder):
        found = f"the graph and the predictions of {settings.trials} trials take {disk / GIB:.2f} GiB of disk"
        expected = f"at most {free / GIB:.2f} GiB, which are free"
        raise GrandPlusError(found, where=folder.resolve(), expected=expected, fix="free some, or run fewer trials")


def _sizes(settings: Settings) -> tuple[int, int, int, int] | None:
    """Nodes, edges, features and classes, as far as the card knows."""
    if settings.expect:
        found = settings.expect
        made = found.nodes if settings.preprocess.features == "adjacency" else 1
        return found.nodes, found.edges or 0, found.features or made, found.classes
    if settings.source.synthetic:
        recipe, scale = settings.source.synthetic, settings.synthetic.scale
        return int(recipe.nodes * scale), int(recipe.edges * scale), recipe.features, recipe.classes
    return None


def _written(folder: Path) -> int:
    found = [file for name in ("graph", "predictions") for file in (folder / name).glob("*")]
    return sum(file.stat().st_size for file in found)
