"""A run that can't finish ends before it starts: by what its card says of the graph, and what this machine has."""

from __future__ import annotations

import shutil
from pathlib import Path

from grandplus.graph.fitted import OF_NEIGHBORS, STANDARDIZED
from grandplus.methods.registry import check_edges, check_installed
from grandplus.methods.settings import GraphSize
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.settings import Settings
from grandplus.runtime import environment
from grandplus.runtime.errors import MemoryShortageError, ShortageError
from grandplus.runtime.sizes import size_text


def check_resources(settings: Settings, folder: Path) -> None:
    """Look for the method's package and at what edges it takes, and compare lower bounds of needs with what is at hand.

    Parameters
    ----------
    settings : Settings
    folder : Path
        On the disk that the results go to.

    Raises
    ------
    GrandPlusError
        The package is not installed, or the method takes no such edges.
    ShortageError
        There is too little; names what needs it.
    """
    check_installed(settings.model)
    directed, weighted = settings.preprocess.direction != "both", settings.source.read.weights == "use"
    card = CATALOG / f"{settings.dataset}.yaml"
    check_edges(
        settings.model,
        weighted=weighted,
        directed=directed,
        to_ignore=f"set source.read.weights to ignore in {card}, or import it with --weights ignore --replace",
        both_ways="set preprocess.direction to both",
    )
    size = _size(settings)
    if size is not None:
        _check_memory(settings, size)
        _check_disk(settings, size, folder)


def _check_memory(settings: Settings, size: GraphSize) -> None:
    memory = {
        "edges in both directions": 8 * size.edges,
        f"training of one {settings.model}": settings.train.training_memory(size),
        "standardized features": 4 * size.nodes * size.features * (settings.preprocess.features in STANDARDIZED),
        "one trial's probabilities": 4 * size.nodes * size.classes,
    }
    what, most = max(memory.items(), key=lambda item: item[1])
    if most > environment.memory():
        found = f"the {what} on {settings.dataset} would take {size_text(most)}"
        expected = f"at most {size_text(environment.memory())}, the memory at hand"
        raise MemoryShortageError(found, expected=expected, fix="set GRANDPLUS_MEMORY if there is more, or choose less")


def _check_disk(settings: Settings, size: GraphSize, folder: Path) -> None:
    disk = 8 * size.edges + 4 * size.nodes * size.classes * settings.trials
    free = shutil.disk_usage(folder).free
    # What an earlier run has written counts as free, as it is replaced.
    if disk > free + _written(folder):
        found = f"the graph and the predictions of {settings.trials} trials take {size_text(disk)} of disk"
        expected = f"at most {size_text(free)}, which are free"
        raise ShortageError(found, where=folder.resolve(), expected=expected, fix="free some, or run fewer trials")


def _size(settings: Settings) -> GraphSize | None:
    """As far as the card knows; it doesn't know how many values of the features are stored."""
    if settings.expect:
        expect = settings.expect
        made = expect.nodes if settings.preprocess.features in OF_NEIGHBORS else 1
        return GraphSize(expect.nodes, expect.edges or 0, expect.features or made, expect.classes, 0)
    if settings.source.synthetic:
        recipe, scale = settings.source.synthetic, settings.synthetic.scale
        nodes, edges = int(recipe.nodes * scale), int(recipe.edges * scale)
        return GraphSize(nodes, edges, recipe.features, recipe.classes, 0)
    return None


def _written(folder: Path) -> int:
    files = [file for name in ("graph", "predictions") for file in (folder / name).glob("*")]
    return sum(file.stat().st_size for file in files)
