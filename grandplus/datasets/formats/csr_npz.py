"""One ``.npz`` with the arrays of two CSR matrices, and class numbers: MAG-Scholar, and the graphs of gnn-benchmark.

Keys: ``adj_data``, ``adj_indices``, ``adj_indptr`` and ``adj_shape``, or ``adj_matrix.data``, ...; likewise with attr
for the features, which are optional; and ``labels``.
"""

from __future__ import annotations

from pathlib import Path

from grandplus.datasets.arrays.files import pick
from grandplus.datasets.arrays.npz import CSR_PARTS, check_npz, keys_of, read_csr, read_npz
from grandplus.datasets.arrays.numbered import Part, numbered_graph
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source

# How each of the two collections begins the keys of edges and of features.
PREFIXES = (("adj_", "attr_"), ("adj_matrix.", "attr_matrix."))


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are numbered as in it, and there is no split.

    See `grandplus.datasets.formats.Format`.
    """
    file = pick(folder, files, ".npz")
    held = keys_of(file)
    edge_keys, feature_keys = PREFIXES[f"{PREFIXES[1][0]}data" in held]
    wanted = [edge_keys, feature_keys] if f"{feature_keys}data" in held else [edge_keys]
    read_keys = [*(f"{prefix}{part}" for prefix in wanted for part in CSR_PARTS), "labels"]
    # The file may hold more, such as names of nodes, as Python objects; that isn't read.
    check_npz(file, read_keys, objects=True)

    def matrix(keys: str) -> Part:
        return Part(lambda: read_csr(file, keys), f"{file}, {keys[:-1]}")

    return numbered_graph(
        source,
        adjacency=matrix(edge_keys),
        features=matrix(feature_keys) if feature_keys in wanted else None,
        labels=Part(lambda: read_npz(file, "labels"), f"{file}, labels"),
        unused=[f"{file.name}, {key}" for key in sorted(held - set(read_keys))],
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One ``.npz`` with the arrays of an adjacency.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if len(files) == 1 and keys_of(files[0]) & {f"{edges}indptr" for edges, _ in PREFIXES} else None
