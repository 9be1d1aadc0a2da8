"""One ``.npz`` with pickled scipy matrices: the GraphData collection.

Keys: ``adj_matrix``, ``node_attr`` (optional) and ``node_label``. Only what ``load_pickle`` allows is unpickled.
"""

from __future__ import annotations

from pathlib import Path

from grandplus.datasets.arrays.files import pick
from grandplus.datasets.arrays.npz import check_npz, keys_of, read_npz_object
from grandplus.datasets.arrays.numbered import Part, numbered_graph
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source

EDGES, FEATURES, LABELS = "adj_matrix", "node_attr", "node_label"


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are numbered as in it, and there is no split.

    See `grandplus.datasets.formats.Format`.
    """
    file = pick(folder, files, ".npz")
    check_npz(file, [EDGES, LABELS], objects=True)

    def part(key: str) -> Part:
        return Part(lambda: read_npz_object(file, key), f"{file}, {key}")

    held = keys_of(file)
    return numbered_graph(
        source,
        adjacency=part(EDGES),
        features=part(FEATURES) if FEATURES in held else None,
        labels=part(LABELS),
        unused=[f"{file.name}, {key}" for key in sorted(held - {EDGES, FEATURES, LABELS})],
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One ``.npz`` with these keys.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if len(files) == 1 and {EDGES, LABELS} <= keys_of(files[0]) else None
