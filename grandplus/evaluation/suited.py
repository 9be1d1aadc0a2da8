"""Settings that suit a graph which nobody has tuned them for, by what its features are like (experiments/defaults)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from grandplus.graph.features import MIN_FEATURES_FOR_DROPOUT, mean_squared_norm
from grandplus.graph.fitted import STANDARDIZED
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.grandplus.settings import Settings
from grandplus.propagation.settings import MIN_NODES_OF_LARGE_GRAPH, GFPush

MANY_ENTRIES = 128  # k of a row that averages over many nodes
AFFORDABLE_VALUES = {True: 100, False: 800}  # in a row of features that are sparse, or not, for so many entries
OF_STANDARDIZED = 0.07  # weight decay times the number of classes, for columns of deviation 1
OF_NORM = 0.01  # the same, at most, in units of the norm of a row of other features
MOST_CONFIDENCE = 0.99  # γ is less than 1


def suited_values(graph: Graph, split: Split, order: int) -> dict[str, Any]:
    """The values of those settings whose default depends on the graph: `suited_to_features`, and two more.

    With N = 0 a row of Π has one entry: DropNode would drop a node's features as a whole.

    The confidence threshold γ is twice the share of the largest class among the training nodes, and at most 0.99. With
    equally many nodes of each class that is the usual 2 / C. Where a class has a larger share than 2 / C, a guess by
    shares would count as confident otherwise, and pseudo-labels would draw all predictions to that class.

    Parameters
    ----------
    graph : Graph
    split : Split
        Of the first trial.
    order : int
        N of Π.

    Returns
    -------
    dict
        With ``dropout_input``, ``weight_decay``, ``dropnode`` and ``confidence``.

    Examples
    --------
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.diags_array(np.ones(9), offsets=1, shape=(10, 10)))
    >>> words, labels = np.full((10, 900), 1 / 900, np.float32), np.array([0, 0, 0, 1, 1, 2, 2, 3, 4, 4])
    >>> nodes = np.arange(10)
    >>> graph = Graph(path, words, labels, list("abcde"), nodes)
    >>> suited_values(graph, Split(train=nodes[:9], val=nodes[9:], test=nodes[9:], unlabelled=nodes[9:]), order=0)
    {'dropout_input': 0.5, 'weight_decay': 7e-05, 'dropnode': 0.0, 'confidence': 0.67}
    """
    usual, share = Settings(), np.bincount(graph.labels[split.train]).max() / len(split.train)
    is_usual = min(2 * share, 1) <= usual.threshold(len(graph.classes))
    return suited_to_features(graph) | {
        "dropnode": usual.dropnode if order else 0.0,
        "confidence": usual.confidence if is_usual else min(round(2 * float(share), 2), MOST_CONFIDENCE),
    }


def suited_to_features(graph: Graph) -> dict[str, Any]:
    """The values of those settings whose default depends on the features.

    Narrow features are not dropped out, as too little would be left of them.

    Weight decay λ competes with the gradient of the labelled nodes. As long as predictions are alike, that is about
    ‖x‖ / C for C classes: a λ of that size holds all weights at zero, and the model predicts one class for ever. So
    wide features whose rows are short, and many classes, get less than the usual decay; standardized columns, which
    are long, get more, against their noise.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    dict
        With ``dropout_input`` and ``weight_decay``.

    Examples
    --------
    >>> from grandplus.graph.adjacency import as_adjacency
    >>> path = as_adjacency(sp.diags_array(np.ones(5), offsets=1, shape=(6, 6)))
    >>> words, classes = np.full((6, 900), 1 / 900, np.float32), [str(label) for label in range(10)]
    >>> suited_to_features(Graph(path, words, np.arange(6), classes, np.arange(6)))
    {'dropout_input': 0.5, 'weight_decay': 3e-05}
    """
    usual, classes = Settings(), len(graph.classes)
    if graph.fitted.kind in STANDARDIZED:
        decay = OF_STANDARDIZED / classes
    else:
        decay = min(usual.weight_decay, OF_NORM * mean_squared_norm(graph.features) ** 0.5 / classes)
    narrow = graph.features.shape[1] < MIN_FEATURES_FOR_DROPOUT
    return {
        "dropout_input": 0.0 if narrow else usual.dropout_input,
        "weight_decay": float(f"{decay:.1g}"),
    }


def suited_top_k(graph: Graph) -> int:
    """The number k of entries that rows of Π keep.

    A row that keeps more entries averages over more nodes, against the noise of features. On large graphs this costs
    memory, and with features of many values time; there the default is kept.

    Parameters
    ----------
    graph : Graph
    """
    sparse = sp.issparse(graph.features)
    nodes, width = graph.features.shape
    values = graph.features.nnz / max(nodes, 1) if sparse else width
    affordable = nodes < MIN_NODES_OF_LARGE_GRAPH and values <= AFFORDABLE_VALUES[sparse]
    return MANY_ENTRIES if affordable else GFPush().top_k
