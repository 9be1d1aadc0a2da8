"""GML, read by networkx: nodes with an ``id``, edges with ``source`` and ``target``, and a class in each node.

The card names the attribute that is the class under ``source.read.label``; in most published graphs it is ``value``.
There are no features.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from grandplus.datasets.arrays.checks import pick, raise_weighted
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.ids import as_numpy, order_of, rows_of, same_type
from grandplus.runtime.errors import GrandPlusError

DEFAULT_LABEL = "value"


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    import networkx as nx  # here, as it takes long to import

    file = pick(folder, files, ".gml")
    try:
        graph = nx.parse_gml(file.read_text(encoding="utf-8-sig").splitlines(), label="id")
    except (nx.NetworkXError, OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise GrandPlusError(f"is no readable GML: {error}", where=file) from None
    weighted = next((pair for *pair, weight in graph.edges.data("weight", default=1) if weight != 1), None)
    if weighted and source.read.weights is None:
        raise_weighted(f"has a weight on the edge from {weighted[0]} to {weighted[1]}", file)
    label = source.read.label or DEFAULT_LABEL
    ids = pa.array([str(node) for node in graph], pa.large_string())
    order_of_ids = order_of(*same_type([ids]))
    labels = pa.array([_text(value) for _, value in graph.nodes.data(label)], pa.large_string())
    numbers, classes = class_numbers([labels], source, f"{file}, {label}", lambda row: f"node {ids[row]}")
    ends = [pa.array([str(edge[end]) for edge in graph.edges()], pa.large_string()) for end in (0, 1)]
    known = ids.take(pa.array(order_of_ids))
    return RawGraph(
        edges=np.stack([rows_of(end, known) for end in ends]),
        nodes=len(ids),
        features=None,
        labels=numbers[order_of_ids],
        classes=classes,
        node_ids=as_numpy(*same_type([known])),
        splits=[],
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .gml.

    See `grandplus.datasets.formats.Format`.
    """
    if [file.suffix for file in files] != [".gml"]:
        return None
    return asked.model_copy(update={"label": str(asked.label or DEFAULT_LABEL)})


def _text(value: object) -> str | None:
    return None if value is None else str(value)
