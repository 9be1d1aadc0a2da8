"""Columns of features that tell nothing, as they have one value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from grandplus.datasets.raw import RawGraph
from grandplus.graph.features import Ranges, blocks_of
from grandplus.graph.graph import Graph

NAMED_COLUMNS = 10  # at most
_REASON = "the same in every node"


def with_constant_columns(raw: RawGraph, graph: Graph) -> RawGraph:
    """The account names the columns of dense features that are constant after preprocessing.

    Parameters
    ----------
    raw : RawGraph
        As the files have it.
    graph : Graph
        What preprocessing made of it.

    Returns
    -------
    RawGraph
    """
    if raw.features is None or sparse.issparse(raw.features) or graph.features.shape != raw.features.shape:
        return raw
    ranges = Ranges(graph.features.shape[1])
    for rows in blocks_of(len(graph.features)):
        ranges.add(np.asarray(graph.features[rows]))
    columns = ranges.constant().tolist()
    names = raw.feature_names or [f"feature {number}" for number in range(1, graph.features.shape[1] + 1)]
    unused = [f"{names[column]} ({_REASON})" for column in columns[:NAMED_COLUMNS]]
    if len(columns) > NAMED_COLUMNS:
        unused.append(f"{len(columns) - NAMED_COLUMNS:,} more features ({_REASON})")
    return replace(raw, account=replace(raw.account, unused=(*raw.account.unused, *unused)))
