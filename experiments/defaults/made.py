"""Small graphs of every difficulty: homophily, noise of the features, size, number and sizes of classes, degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grandplus.datasets.raw import RawGraph

WORDS_A_NODE = 20
DIMENSIONS = 32  # of dense features


@dataclass(frozen=True)
class Recipe:
    """What a made graph is like.

    Attributes
    ----------
    nodes, classes : int
    degree : float
        Mean number of neighbours.
    homophily : float
        The share of edges that are drawn within a class; the others join two different classes.
    noise : float
        Of dense features: the deviation of the noise along each axis, beside means of length 1. Of words: the share
        of a node's words that are drawn from the whole vocabulary, and not from its class's part of it.
    features : {"dense", "words", "none"}
    words : int
        Size of the vocabulary.
    skew : float
        A class has this many times the nodes of the next.
    splits : int
        Number of splits that the files have: 48 % of all nodes train and 32 % validate, whatever their classes.
    """

    nodes: int
    classes: int
    degree: float
    homophily: float
    noise: float
    features: str = "dense"
    words: int = 2000
    skew: float = 1.0
    splits: int = 0


def make(recipe: Recipe, seed: int) -> RawGraph:
    """A graph as its files would have it; the same for the same seed."""
    rng = np.random.default_rng([seed, recipe.nodes])
    shares = float(recipe.skew) ** -np.arange(recipe.classes)
    labels = rng.choice(recipe.classes, recipe.nodes, p=shares / shares.sum())
    return RawGraph(
        edges=_edges(recipe, labels, rng),
        nodes=recipe.nodes,
        features=_FEATURES[recipe.features](recipe, labels, rng),
        labels=labels,
        classes=[f"class {label}" for label in range(recipe.classes)],
        node_ids=np.arange(recipe.nodes),
        splits=[_split(recipe.nodes, rng) for _ in range(recipe.splits)],
    )


def _edges(recipe: Recipe, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Ends are drawn by a weight of each node, so that degrees differ; the second one by the class it is to have."""
    wanted = round(recipe.nodes * recipe.degree / 2)
    weight = rng.pareto(2.5, recipe.nodes) + 1
    first = rng.choice(recipe.nodes, wanted, p=weight / weight.sum())
    inside = rng.random(wanted) < recipe.homophily
    second = np.empty(wanted, np.int64)
    for label in range(recipe.classes):
        for same in (True, False):
            edges = np.flatnonzero((labels[first] == label) & (inside == same))
            ends = np.flatnonzero((labels == label) == same)
            second[edges] = rng.choice(ends, len(edges), p=weight[ends] / weight[ends].sum())
    return np.stack([first, second])


def _split(nodes: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    train, val, test = np.split(rng.permutation(nodes), [round(0.48 * nodes), round(0.8 * nodes)])
    return {"train": np.sort(train), "val": np.sort(val), "test": np.sort(test)}


def _dense(recipe: Recipe, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float32]:
    means = rng.standard_normal((recipe.classes, DIMENSIONS))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    noise = recipe.noise * rng.standard_normal((recipe.nodes, DIMENSIONS))
    return (means[labels] + noise).astype(np.float32)


def _words(recipe: Recipe, labels: NDArray[np.int64], rng: np.random.Generator) -> Any:
    """Marks of words; frequent words have low numbers in each class's part of the vocabulary."""
    own = recipe.words // recipe.classes
    shape = recipe.nodes, WORDS_A_NODE
    typical = labels[:, None] * own + (own * rng.random(shape) ** 2).astype(np.int64)
    any_word = (recipe.words * rng.random(shape)).astype(np.int64)
    columns = np.where(rng.random(shape) < recipe.noise, any_word, typical).ravel()
    rows = np.repeat(np.arange(recipe.nodes), WORDS_A_NODE)
    marks = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), (recipe.nodes, recipe.words))
    marks.data[:] = 1
    return marks


_FEATURES = {"dense": _dense, "words": _words, "none": lambda *_: None}
