"""The splits of a graph that has grown: each old node stays in its part, and the new nodes are for test."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.drawing import make_splits
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import SAME_AS_TEST, Nodes, Splits


def grown_splits(splits: Splits, labels: NDArray[np.int64], settings: Preprocess, *, seed: int) -> Splits:
    """The splits of all trials with the nodes that came later.

    A new node with a label is a test node. One without is an unlabelled node as those without a label were before: it
    is trained on if U' holds them. If U' is a number of nodes, they are drawn from old and new ones.

    Parameters
    ----------
    splits : Splits
        Of the first n₀ nodes.
    labels : int64 (n,)
        -1 where unknown.
    settings : Preprocess
        Of the dataset.
    seed : int
        Trial i's U' is drawn from (seed, i).

    Returns
    -------
    Splits

    Examples
    --------
    >>> settings = Preprocess(features="as-is", split="per-class", train_per_class=1, val_per_class=1)
    >>> splits = make_splits(np.array([0, 1, 0, 1, 0]), settings, [], seed=0, trials=1)
    >>> split = grown_splits(splits, np.array([0, 1, 0, 1, 0, 1, -1]), settings, seed=0).of(0)
    >>> split.train.tolist() == splits.of(0).train.tolist(), split.test[-1], split.unlabelled[-1]
    (True, np.int64(5), np.int64(6))
    """
    given = [_given(splits, trial, len(labels)) for trial in range(splits.trials)]
    kept = settings.model_copy(update={"split": "public"})
    return make_splits(labels, kept, given, seed=seed, trials=splits.trials)


def _given(splits: Splits, trial: int, nodes: int) -> dict[str, Nodes]:
    """The parts of a trial as a dataset of its own would list them."""
    split = splits.of(trial)
    parts = {"train": split.train, "val": split.val}
    if "test" not in splits.rest:  # also those without a label, which are among the test nodes when it comes to U'
        test = split.unlabelled if SAME_AS_TEST in splits.rest else split.test
        parts["test"] = np.concatenate([test, np.arange(splits.nodes, nodes)])
    return parts
