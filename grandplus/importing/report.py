"""What an import understood, in lines."""

from __future__ import annotations

import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from grandplus.datasets.raw import RawGraph
from grandplus.datasets.tables.split_columns import columns_of_split
from grandplus.evaluation.diagnosis.facts import GraphFacts
from grandplus.evaluation.diagnosis.of_graph import LOW_HOMOPHILY
from grandplus.evaluation.diagnosis.rules import diagnose_graph
from grandplus.evaluation.formats import percent
from grandplus.evaluation.homophily import Homophily, homophily
from grandplus.evaluation.orders import usual_order
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.importing.reconciliation import Entries, reconciliation
from grandplus.pipeline.settings import Settings
from grandplus.runtime.sizes import counted

_INDEX = re.compile(r"__index_level_\d+__")  # as pandas calls it in Parquet
_WITHOUT_EDGE = {
    "both": "nodes without an edge",
    "out": "nodes at which no edge starts",
    "in": "nodes at which no edge ends",
}
LISTED_CLASSES = 8  # at most
MATLAB = "matlab"  # the format in which classes are counted from 1
MIN_CLASSES_TO_DOUBT = 3  # of two classes 0 is one

MIN_UNKNOWN_TO_DOUBT = 0.3  # of the nodes with a text as label


def report(raw: RawGraph, graph: Graph, splits: Splits, settings: Settings, orders: dict[str, int]) -> list[str]:
    """A line on each of format, nodes, edges, homophily, classes, features, split, unusual orders, and what is missing.

    A note says if class 0 may stand for an unknown label.

    It ends with a reconciliation: lines read and skipped, ids in edges and nodes, values that are no numbers, columns
    that are not used, and whatever is dropped.

    A remark says what speaks against a result before anything is trained.

    Parameters
    ----------
    raw : RawGraph
        As the files have it.
    graph : Graph
        What preprocessing made of it.
    splits : Splits
    settings : Settings
        Of the card.
    orders : dict of int
        N by matrix.

    Returns
    -------
    list of str
    """
    read = settings.source.read.model_dump(exclude_defaults=True)
    details = f", read with {', '.join(f'{key}: {_short(value)}' for key, value in read.items())}" if read else ""
    ids = graph.node_ids
    first, last = pc.min_max(pa.array(ids)).as_py().values()
    lines = {
        "format": settings.source.format + details,
        "nodes": f"{len(ids):,}, from {first} to {last}",
        "edges": _edges(raw, graph),
        "weights": _weights(raw, graph, settings.source.read.weight),
        "homophily": homophily_text(homophily(graph), directed=not graph.adjacency.symmetric),
        "classes": classes_text(graph),
        "features": _features(raw, settings),
        "split": _split(raw, splits, settings),
        "order": _orders(orders),
        "missing": _missing(raw, graph),
        "note": _class_of_unknown(graph, settings) or _unknown_of_class(raw, graph, settings),
        **reconciliation(raw.account),
    }
    order = len(settings.matrix.weights()) - 1 if settings.needs_rows else None
    facts = GraphFacts.of_splits(graph, splits, order)
    remarks = [("remark", str(finding)) for finding in diagnose_graph(facts)]
    return [f"{name:<9} {text}" for name, text in [*lines.items(), *remarks] if text]


def homophily_text(found: Homophily, *, directed: bool = False) -> str:
    """How alike neighbours are, and whether that is too little; nothing where no edge joins two labelled nodes.

    Parameters
    ----------
    found : Homophily
    directed : bool
        Whether edges count in one direction only.

    Returns
    -------
    str

    Examples
    --------
    >>> homophily_text(Homophily(edges=8, alike=6, by_chance=0.5))
    '75.00 % of 8 edges between labelled nodes join nodes of the same class; adjusted for chance 0.50'
    >>> homophily_text(Homophily(edges=8, alike=4, by_chance=0.5)).partition("; ")[2]
    'adjusted for chance 0.00, below 0.2: neighbours are hardly alike, though GRAND+ assumes they are'
    """
    if not found.edges:
        return ""
    edges = f"{found.edges:,} {'directed ' if directed else ''}edges"
    text = f"{percent(found.share)} of {edges} between labelled nodes join nodes of the same class"
    if math.isnan(found.adjusted):
        return text
    text = f"{text}; adjusted for chance {round(found.adjusted, 2) + 0.0:.2f}"
    if found.adjusted >= LOW_HOMOPHILY:
        return text
    return f"{text}, below {LOW_HOMOPHILY:g}: neighbours are hardly alike, though GRAND+ assumes they are"


def _orders(orders: dict[str, int]) -> str:
    """Those that are not the usual ones.

    >>> _orders({"avg": 0, "single": 2})
    'N = 0 for avg, in place of 4; so logistic regression predicts more validation nodes right'
    >>> _orders({"avg": 4, "single": 2})
    ''
    """
    parts = [
        f"N = {order} for {matrix}, in place of {usual_order(matrix)}"
        for matrix, order in orders.items()
        if order != usual_order(matrix)
    ]
    return "; ".join([*parts, "so logistic regression predicts more validation nodes right"]) if parts else ""


def _short(value: object) -> str:
    if isinstance(value, dict):
        return f"[{', '.join(f'{key} {part}' for key, part in value.items())}]"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_short, value))}]"
    return "the index" if _INDEX.fullmatch(str(value)) else str(value)


def _without_direction(raw: RawGraph) -> int:
    return int(np.broadcast_to(raw.undirected, raw.edges.shape[1:]).sum())


def _weights(raw: RawGraph, graph: Graph, column: object) -> str:
    """The range of the weights that are used, and what was merged; nothing where edges have none."""
    if raw.weights is None:
        return ""
    weights, facts = graph.adjacency.weights, graph.facts
    none = facts.get("zero_weights", 0)
    notes = [counted(none, "entry of weight 0 is no edge", "entries of weight 0 are no edges")] if none else []
    if weights is None:
        return "; ".join(["all are 1, so every edge counts once", *notes])
    several, loops = facts["differing_weights"], facts["weighted_self_loops"]
    if several:
        text = counted(several, "edge has several weights", "edges have several weights")
        notes.append(f"{text}, of which the largest counts")
    if loops:
        notes.append(f"{counted(loops, 'self-loop has a weight', 'self-loops have a weight')}, others have 1")
    low, high = weights.entries.min(), weights.entries.max()
    of_column = "" if column is None else f" (column {column})" if isinstance(column, int) else f" ({column})"
    return "; ".join([f"from {low:g} to {high:g}{of_column}; a walk follows edges by their share of weight", *notes])


def _edges(raw: RawGraph, graph: Graph) -> str:
    entries = Entries.of(raw, graph)
    repeated, loops = entries.repeated, entries.loops
    without = 0 if graph.adjacency.symmetric else _without_direction(raw)
    one_way = {
        "both": "found in one direction only, and taken for both",
        "out": "found in one direction only, and followed from their first end to their second",
        "in": "found in one direction only, and followed from their second end to their first",
    }
    parts = {
        one_way[graph.adjacency.direction]: entries.one_way - without,
        "found in both directions": entries.both_ways,
        "entry merged into one that it repeats"
        if repeated == 1
        else "entries merged into others, which they repeat": repeated,
        "without a direction, and followed both ways": without,
        "self-loop dropped" if loops == 1 else "self-loops dropped": loops,
    }
    notes = "; ".join(f"{count:,} {what}" for what, count in parts.items() if count)
    return f"{graph.facts['edges']:,}, of {entries.listed:,} entries" + (f": {notes}" if notes else "")


def classes_text(graph: Graph) -> str:
    """The classes of a graph, each with the number of its nodes; of many, the first.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    str
    """
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=len(graph.classes))
    listed = [f"{name} ({count:,})" for name, count in zip(graph.classes, counts, strict=True)]
    more = f", … ({len(listed) - LISTED_CLASSES} more)" if len(listed) > LISTED_CLASSES else ""
    return f"{len(listed)}: {', '.join(listed[:LISTED_CLASSES])}{more}"


def _class_of_unknown(graph: Graph, settings: Settings) -> str:
    """Whether 0 may stand for an unknown label: beside classes 1, 2, … it has most nodes, or MATLAB wrote it."""
    named = graph.classes == [str(number) for number in range(len(graph.classes))]
    if settings.source.read.na is not None or not named or len(graph.classes) < MIN_CLASSES_TO_DOUBT:
        return ""
    share = float(np.mean(graph.labels[graph.labels >= 0] == 0))
    if settings.source.format != MATLAB and share <= 0.5:
        return ""
    return f"class 0 has {share:.0%} of the labelled nodes; if 0 stands for an unknown label, say --na 0"


def _unknown_of_class(raw: RawGraph, graph: Graph, settings: Settings) -> str:
    """Whether labels that were taken for unknown may be a class, as so many nodes have them."""
    unknown, labelled = raw.account.unknown, int((graph.labels >= 0).sum())
    count = sum(unknown.values())
    if settings.source.read.na is not None or not count or count < MIN_UNKNOWN_TO_DOUBT * (labelled + count):
        return ""
    called = ", ".join(f"{number:,} nodes called {text}" for text, number in unknown.items())
    return f'{called} were taken for unknown; if that is a class, say --na "", so that only empty cells are unknown'


def _features(raw: RawGraph, settings: Settings) -> str:
    choice = settings.preprocess.features
    if raw.features is None:
        return f"none; as chosen, {choice} in place of them"
    kind = "sparse" if sparse.issparse(raw.features) else "dense"
    return f"{raw.features.shape[1]:,}, {kind}; preprocess.features is {choice}"


def _split(raw: RawGraph, splits: Splits, settings: Settings) -> str:
    split, chosen = splits.of(0), settings.preprocess
    sizes = f"{len(split.train):,} nodes train, {len(split.val):,} validate, {len(split.test):,} test"
    if not len(split.test):
        sizes += ", so that validation is what tells how good a run is"
    if chosen.split != "public":
        wanted = f"{chosen.train_per_class} and {chosen.val_per_class} a class to train and validate"
        return f"{chosen.split}, {wanted}, new for each trial: {sizes}"
    which = f" of the first of {len(raw.splits)}, one a trial" if len(raw.splits) > 1 else ""
    columns = ", ".join(map(str, columns_of_split(settings.source.read)))
    where = f", of {columns}" if columns and settings.source.read.train is None else ""
    return f"the data's own{where}: {sizes}{which}"


def _missing(raw: RawGraph, graph: Graph) -> str:
    facts = graph.facts
    listed = sum(int((raw.labels[nodes] < 0).sum()) for split in raw.splits for nodes in split.values())
    called = ", ".join(f"{count:,} are called {text}" for text, count in raw.account.unknown.items())
    what = f"nodes without a label{f' ({called})' if called else ''}, which are predicted all the same"
    parts = {
        what: facts["unlabelled_nodes"],
        "of the splits' places are left out, as they have none": listed,
        _WITHOUT_EDGE[graph.adjacency.direction]: facts["isolated_nodes"],
        "nodes whose features are all 0": facts["zero_feature_rows"],
    }
    return "; ".join(f"{count:,} {what}" for what, count in parts.items() if count) or "nothing"
