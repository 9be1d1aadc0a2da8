"""Pickles that GRAND's authors publish (AMiner-CS): ``NAME.adj.sp.pkl``, ``NAME.features.pkl``, ``NAME.labels.pkl``.

They hold a scipy sparse matrix; an array or a sparse matrix; and one-hot rows or class numbers.
"""

from __future__ import annotations

import functools
from pathlib import Path

from grandplus.datasets.arrays.files import has_one_of_each, pick
from grandplus.datasets.arrays.numbered import Part, numbered_graph
from grandplus.datasets.arrays.unpickle import load_pickle
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source

SUFFIXES = (".adj.sp.pkl", ".features.pkl", ".labels.pkl")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the three files; nodes are numbered as in them, and there is no split.

    See `grandplus.datasets.formats.Format`.
    """
    adjacency, features, labels = (
        Part(functools.partial(load_pickle, file), file)
        for file in (pick(folder, files, suffix) for suffix in SUFFIXES)
    )
    return numbered_graph(source, adjacency=adjacency, features=features, labels=labels)


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file for each end of a name.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if has_one_of_each(files, SUFFIXES) else None
