"""Arrays that GRAND+'s authors publish (Reddit, Amazon2M): ``NAME_adj.npz``, ``NAME_feat.npy``, ``NAME_labels.npy``.

The adjacency is a matrix that ``scipy.sparse.save_npz`` has written; labels are one-hot rows or class numbers.
"""

from __future__ import annotations

from pathlib import Path

from grandplus.datasets.arrays.files import has_one_of_each, pick, read_npy
from grandplus.datasets.arrays.npz import read_scipy_npz
from grandplus.datasets.arrays.numbered import Part, numbered_graph
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source

SUFFIXES = ("_adj.npz", "_feat.npy", "_labels.npy")


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the three files, the features memory-mapped; nodes are numbered as in them, and there is no split.

    See `grandplus.datasets.formats.Format`.
    """
    adjacency, features, labels = (pick(folder, files, suffix) for suffix in SUFFIXES)
    return numbered_graph(
        source,
        adjacency=Part(lambda: read_scipy_npz(adjacency), adjacency),
        features=Part(lambda: read_npy(features), features),
        labels=Part(lambda: read_npy(labels), labels),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file for each end of a name.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if has_one_of_each(files, SUFFIXES) else None
