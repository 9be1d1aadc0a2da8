"""The graphs, in two halves: defaults are chosen on one, and shown on the other."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from experiments.defaults.made import Recipe, make
from grandplus.datasets.raw import RawGraph, read, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.graph.settings import Preprocess
from grandplus.importing.files import Choices, chosen_preprocess
from grandplus.importing.recognise import recognise
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.files import get_files
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.validation import checked_as

Say = tuple[tuple[str, Any], ...]  # what a user has to say at import, where the files alone don't tell
LINKS: Say = (("features", "adjacency"),)  # of a graph whose features aren't looked at
FEW: Say = (("shortage", "shrink"),)  # nodes of a class


@dataclass(frozen=True)
class Given:
    """A graph to be classified.

    Attributes
    ----------
    name : str
    nodes : int
    read : callable
        Takes the folder of files, and gives the graph as these have it.
    say : tuple
        Choices of the import, as (name, value).
    place : str
        Of its files in the folder; empty for one that is made, or in the catalog.
    """

    name: str
    nodes: int
    read: Callable[[Path], RawGraph]
    say: Say = ()
    place: str = ""

    def present(self, folder: Path) -> bool:
        """Whether its files are there."""
        return (folder / self.place).exists()

    def load(self, folder: Path) -> tuple[RawGraph, Preprocess]:
        """The graph, and how an import would preprocess it."""
        raw = self.read(folder)
        return raw, chosen_preprocess(raw, Choices(**dict(self.say)))


def _of_files(place: str, nodes: int, say: Say = (), *, weights: Literal["ignore"] | None = None) -> Given:
    """A graph of a folder of files, or of one."""

    def load(folder: Path) -> RawGraph:
        path = folder / place
        files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.name != "README")
        file_format, reading = recognise(files, Reading(weights=weights))
        source = checked_as(
            Source,
            {"format": file_format, "read": reading, "files": {file.name: None for file in files}, "places": []},
            where=place,
        )
        return read_files(files[0].parent, file_format, [file.name for file in files], source)

    return Given(Path(place).stem, nodes, load, say, place)


def _published(name: str) -> Callable[[Path], RawGraph]:
    """A reader of a graph of the catalog; its own split is not looked at."""

    def load(_: Path) -> RawGraph:
        settings = load_settings(dataset=name)
        with tempfile.TemporaryDirectory() as folder:
            get_files(settings, Path(folder))
            raw = read(Path(folder), settings.source, CATALOG)
        raw.splits.clear()
        return raw

    return load


def _made(recipe: Recipe, number: int) -> Given:
    name = f"made {recipe.nodes} h {recipe.homophily:g}"
    say = (LINKS if recipe.features == "none" else ()) + (() if recipe.splits else FEW)
    return Given(name, recipe.nodes, lambda _: make(recipe, number), say)


# By kind; in each kind from small to large. The two versions of Texas, which are one graph, count as one.
WORDS_OF_NODES = [
    Given("cora", 2708, _published("cora")),
    _of_files("cases/acm", 3025),
    _of_files("cases/uai", 3067, FEW),
    Given("citeseer", 3327, _published("citeseer")),
    _of_files("graphdata/amazon_photo.npz", 7650),
    _of_files("graphdata/amazon_cs.npz", 13752),
    _of_files("graphdata/coauthor_cs.npz", 18333),
    Given("pubmed", 19717, _published("pubmed")),
    _of_files("graphdata/coauthor_phy.npz", 34493),
]
UNLIKE_NEIGHBOURS = [
    _of_files("cases/geomgcn_texas", 183),
    _of_files("cases/twitch_PTBR", 1912),
    _of_files("cases/geomgcn_film", 7600),
    _of_files("cases/hetero_minesweeper", 10000),
]
ONLY_LINKS = [
    _of_files("cases/karate_club", 34, LINKS + FEW),
    _of_files("cases/gml_polbooks", 105, LINKS + FEW),
    _of_files("cases/airports_usa", 1190, (("features", "onehot-degree"),)),
    _of_files("cases/nettack_polblogs", 1490, LINKS, weights="ignore"),
    Given("cora, links only", 2708, _published("cora"), LINKS),
    Given("citeseer, links only", 3327, _published("citeseer"), LINKS),
]
MADE = [
    _made(recipe, number)
    for number, recipe in enumerate(
        (
            Recipe(600, 4, degree=8, homophily=0.82, noise=0.9),
            Recipe(700, 5, degree=4, homophily=0.2, noise=0.4, features="words", words=3000, skew=1.5),
            Recipe(1000, 12, degree=20, homophily=0.5, noise=0, features="none"),
            Recipe(1200, 20, degree=16, homophily=0.6, noise=0, features="none"),
            Recipe(2000, 3, degree=3, homophily=0.9, noise=0.8),
            Recipe(2500, 2, degree=12, homophily=0.75, noise=1.5),
            Recipe(3000, 15, degree=10, homophily=0.7, noise=0.9, features="words", words=5000),
            Recipe(4000, 10, degree=6, homophily=0.8, noise=0.8, features="words", words=1000, skew=1.2),
            Recipe(5000, 6, degree=30, homophily=0.15, noise=0.3),
            Recipe(8000, 8, degree=5, homophily=0.6, noise=0.6),
            Recipe(15000, 5, degree=8, homophily=0.7, noise=1.2),
            Recipe(20000, 3, degree=15, homophily=0.5, noise=0.5, features="words", words=500, skew=2),
        )
    )
]
# To choose by as well. Classes have as many training nodes as their shares say, and the edges of most say nothing.
ADDED = [
    _made(recipe, 20 + number)
    for number, recipe in enumerate(
        (
            Recipe(200, 5, degree=3, homophily=0.25, noise=0.4, features="words", words=1700, skew=1.7, splits=10),
            Recipe(300, 4, degree=4, homophily=0.3, noise=0.75, features="words", words=1000, skew=1.5, splits=10),
            Recipe(2500, 6, degree=5, homophily=0.17, noise=0.85, features="words", words=500, splits=10),
            Recipe(4000, 5, degree=5, homophily=0.2, noise=0.93, features="words", words=900, splits=10),
            Recipe(900, 3, degree=4, homophily=0.35, noise=0.6, splits=10),
            Recipe(1500, 4, degree=6, homophily=0.7, noise=0.8, features="words", words=1000, skew=2, splits=10),
            Recipe(2200, 5, degree=5, homophily=0.6, noise=0.9, skew=1.7, splits=10),
        )
    )
]
KINDS = (WORDS_OF_NODES, UNLIKE_NEIGHBOURS, ONLY_LINKS, MADE)
SHOWN = [given for kind in KINDS for given in kind[::2]] + [
    _of_files("cases/hetero_texas_4_classes", 183)
]  # fmt: skip
CHOOSING = [given for kind in KINDS for given in kind[1::2]]
