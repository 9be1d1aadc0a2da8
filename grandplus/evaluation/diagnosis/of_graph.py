"""Rules on the graph, its features and its labels: they can speak before anything is trained."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from grandplus.evaluation.diagnosis.advice import one_of, own_features, setting, two_steps
from grandplus.evaluation.diagnosis.facts import Facts, GraphFacts
from grandplus.evaluation.diagnosis.finding import Remark
from grandplus.evaluation.formats import percent
from grandplus.evaluation.homophily import Homophily
from grandplus.graph.adjacency import Adjacency
from grandplus.graph.features import Features, blocks_of
from grandplus.graph.splits import Nodes

# Adjusted: graphs called heterophilous have at most 0.14, citation graphs 0.6 to 0.8 (Platonov et al., 2023). On which
# side of it edges help was chosen on some graphs, and shown on others (`experiments/homophily`).
LOW_HOMOPHILY = 0.2
GOOD_SKILL = 0.8  # share of the way from the largest class to 1: a model that reaches it copes with its edges
FEW_VALIDATION_NODES = 5  # of a class: with fewer, one node more that is right is more than 20 points of its recall
LISTED_CLASSES = 5
MOST_ENTRIES = 2**20  # of the adjacency that are looked at in each trial
FROM_GRAPH = "onehot-degree", "adjacency"  # features that are made from it


def constant_features(facts: GraphFacts) -> Remark | None:
    """All nodes have the same features."""
    features = facts.graph.features
    if not _are_constant(features):
        return None
    others = [setting("preprocess.features", kind) for kind in FROM_GRAPH if kind != facts.graph.fitted.kind]
    return f"all {features.shape[0]:,} nodes have the same features", one_of(*others)


def unlike_edges(facts: GraphFacts) -> Remark | None:
    """The adjusted homophily of edges is below `LOW_HOMOPHILY` with 95 % confidence.

    It is counted on the edges between nodes that a trial trains or validates on. The limit is Wilson's, of the share of
    edges that join nodes of the same class, so that few edges earn no finding. Of very many edges a sample is taken.
    Nothing is said of an order of 0, which uses no edge, or after a training that went well: validation accuracy is at
    least that of logistic regression on X, and at least `GOOD_SKILL` of the way from the share of the largest class
    to 1.

    References
    ----------
    Platonov, O. et al. Characterizing graph datasets for node classification: homophily-heterophily dichotomy and
    beyond. NeurIPS 2023.
    """
    edges = _labelled_edges(facts)
    if not len(edges) or facts.order == 0 or (isinstance(facts, Facts) and _went_well(facts)):
        return None
    classes = np.asarray(facts.graph.labels)[edges]
    alike = int((classes[:, 0] == classes[:, 1]).sum())
    found = Homophily.of_counts(len(edges), alike, np.bincount(classes.ravel()))
    limit = stats.binomtest(alike, len(edges)).proportion_ci(0.9, method="wilson").high  # one-sided: 95 %
    if not found.adjusted_of(limit) < LOW_HOMOPHILY:  # it is NaN for a single class
        return None
    observation = (
        f"edges hardly join nodes of the same class: {percent(found.share)} of {len(edges):,} edges between labelled "
        f"nodes do, and {percent(found.by_chance)} would by chance "
        f"(adjusted homophily {round(found.adjusted, 2) + 0.0:.2f})"
    )
    return observation, one_of(*own_features(facts), *two_steps(facts))


def small_classes(facts: GraphFacts) -> Remark | None:
    """In some trial, a class has fewer than `FEW_VALIDATION_NODES` validation nodes, or no training node."""
    names, count = facts.graph.classes, len(facts.graph.classes)
    labels = np.asarray(facts.graph.labels)
    fewest = {
        part: np.min([np.bincount(labels[getattr(trial, part)], minlength=count) for trial in facts.labelled], axis=0)
        for part in ("train", "val")
    }
    unseen, small = (fewest["train"] == 0), fewest["val"] < FEW_VALIDATION_NODES
    said = []
    if unseen.any():
        said.append(f"{_listed(names, unseen)} has no node to train on")
    if small.any():
        counts = ", ".join(map(str, fewest["val"][small][:LISTED_CLASSES]))
        said.append(f"{_listed(names, small)} has fewer than {FEW_VALIDATION_NODES} nodes to validate on ({counts})")
    if not said:
        return None
    return "; ".join(said), "more labelled nodes of it, or joining it with another class"


def trains_one_class(facts: GraphFacts) -> bool:
    """Whether all training nodes of some trial are of one class, though there are others."""
    labels = np.asarray(facts.graph.labels)
    return len(facts.graph.classes) > 1 and any(len(np.unique(labels[trial.train])) == 1 for trial in facts.labelled)


def _went_well(facts: Facts) -> bool:
    accuracy = float(facts.accuracy.mean())
    largest = facts.largest_share
    good = accuracy >= largest + GOOD_SKILL * (1 - largest)
    return good and accuracy >= float(np.mean(facts.baselines.get("logistic_regression", [0.0])))


def _are_constant(features: Features) -> bool:
    """Whether all rows are equal; this ends at the first block with another row."""
    if not sp.issparse(features):
        return all(bool((features[rows] == features[0]).all()) for rows in blocks_of(len(features)))
    width = int(features.indptr[1])  # of the first row: scipy would copy all indices to take rows
    indices, data = features.indices[:width], features.data[:width]

    def are_equal(rows: slice) -> bool:
        ends = features.indptr[rows.start : rows.stop + 1]
        if (np.diff(ends) != width).any():
            return False
        stored = slice(ends[0], ends[-1])
        pairs = (features.indices[stored], indices), (features.data[stored], data)
        return all(bool((values == np.tile(first, len(ends) - 1)).all()) for values, first in pairs)

    return all(are_equal(rows) for rows in blocks_of(features.shape[0]))


def _labelled_edges(facts: GraphFacts) -> NDArray[np.int64]:
    """Edges, (e, 2), whose ends both are nodes that one trial trains or validates on: each once."""
    adjacency, numbers = facts.graph.adjacency, []
    for trial in facts.labelled:
        nodes = _of_few_entries(adjacency, np.concatenate([trial.train, trial.val]))
        known = np.zeros(adjacency.nodes, bool)
        known[nodes] = True
        start, end = _neighbors(adjacency, nodes)
        both = (start < end) & known[end]
        numbers.append(start[both] * adjacency.nodes + end[both])
    edges = np.unique(np.concatenate(numbers))
    return np.stack([edges // adjacency.nodes, edges % adjacency.nodes], axis=1)


def _of_few_entries(adjacency: Adjacency, nodes: Nodes) -> Nodes:
    """Nodes whose rows have at most ``MOST_ENTRIES`` entries together, drawn at random where all have more."""
    entries = adjacency.indptr[nodes + 1] - adjacency.indptr[nodes]
    if entries.sum() <= MOST_ENTRIES:
        return nodes
    order = np.random.default_rng(0).permutation(len(nodes))
    return nodes[order[np.cumsum(entries[order]) <= MOST_ENTRIES]]


def _neighbors(adjacency: Adjacency, nodes: Nodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries of the rows of some nodes."""
    first, count = adjacency.indptr[nodes], adjacency.indptr[nodes + 1] - adjacency.indptr[nodes]
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(nodes, count), np.asarray(adjacency.indices[np.repeat(first, count) + within], np.int64)


def _listed(names: list[str], where: NDArray[np.bool_]) -> str:
    chosen = [names[number] for number in np.flatnonzero(where)]
    more = f" and {len(chosen) - LISTED_CLASSES} more" if len(chosen) > LISTED_CLASSES else ""
    return f"{'each of classes' if len(chosen) > 1 else 'class'} {', '.join(chosen[:LISTED_CLASSES])}{more}"
