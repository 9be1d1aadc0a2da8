"""Draw the split of every trial: from the data's own, a number of nodes per class, or from all nodes alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import EVERY_TRIAL, SAME_AS_TEST, UNKNOWN, Nodes, Splits, outside
from grandplus.runtime.errors import GrandPlusError


def make_splits(
    labels: NDArray[np.int64],
    settings: Preprocess,
    public: list[dict[str, Nodes]],
    *,
    seed: int,
    trials: int,
    classes: Sequence[str] = (),
) -> Splits:
    """Draw every trial's split.

    Parameters
    ----------
    labels : int64 (n,), -1 where unknown; such nodes are in no part but ``unlabelled``, which has those that would be
        in test where it is to be the same
    public : the splits that the data came with (train, val, and test if it isn't all others with a label), for
        ``split: public``; trial i takes split i, and begins anew after the last
    classes : names, for errors

    Raises
    ------
    GrandPlusError : no public split, or one whose parts overlap, or too few labelled nodes for the wanted one.
    """
    given = _usable(public, labels) if settings.split == "public" else []
    parts: list[tuple[int, str, Nodes]] = []
    if len(given) == 1:
        parts += [(EVERY_TRIAL, part, nodes) for part, nodes in given[0].items()]
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        if settings.split == "public":
            mine = given[trial % len(given)]
            train = mine["train"]
            parts += [(trial, part, nodes) for part, nodes in mine.items() if len(given) > 1]
        else:
            train, val = _DRAWS[settings.split](labels, settings, rng, classes)
            if not len(val):
                raise GrandPlusError("no labelled node is left to validate", expected="more labelled nodes")
            parts += [(trial, "train", train), (trial, "val", val)]
        if isinstance(settings.unlabelled, int) and settings.unlabelled < len(labels) - len(train):
            pool = outside(len(labels), train)
            parts.append((trial, "unlabelled", np.sort(rng.choice(pool, settings.unlabelled, replace=False))))
    rest = {"test", "unlabelled"} - {part for _, part, _ in parts}
    if settings.unlabelled == "test":
        rest = rest - {"unlabelled"} | {SAME_AS_TEST}
    if "test" in rest and (labels < 0).any():
        parts.append((EVERY_TRIAL, UNKNOWN, np.flatnonzero(labels < 0)))
    table = pa.table(
        {
            "trial": pa.array(np.repeat([t for t, _, _ in parts], [len(n) for _, _, n in parts]), pa.int32()),
            "node": pa.array(np.concatenate([nodes for _, _, nodes in parts]), pa.int64()),
            "part": pa.array(np.repeat([p for _, p, _ in parts], [len(n) for _, _, n in parts]), pa.string()),
        }
    )
    return Splits(len(labels), trials, table, frozenset(rest))


def _usable(public: list[dict[str, Nodes]], labels: NDArray[np.int64]) -> list[dict[str, Nodes]]:
    """The data's own splits, checked, without the nodes that have no label."""
    if not public:
        fix = "take per-class or uniform, or import lists of ids"
        raise GrandPlusError("preprocess.split is public, but the data has no split", fix=fix)
    found = []
    for number, split in enumerate(public):
        where = "the data's split" if len(public) == 1 else f"split {number} of the data"
        known = {part: nodes[labels[nodes] >= 0] for part, nodes in split.items()}
        if "test" in split:
            known[UNKNOWN] = split["test"][labels[split["test"]] < 0]
        for part in ("train", "val"):
            if not len(known.get(part, ())):
                raise GrandPlusError(f"{where} has no labelled {part} node", fix="take per-class or uniform")
        nodes, counts = np.unique(np.concatenate(list(split.values())), return_counts=True)
        if counts.max() > 1:
            twice = nodes[counts.argmax()]
            parts = " and ".join(part for part in split if twice in split[part])
            raise GrandPlusError(f"{where} has node {twice} in {parts}", expected="each node once")
        found.append(known)
    return found


def _per_class(
    labels: NDArray[np.int64], settings: Preprocess, rng: np.random.Generator, classes: Sequence[str]
) -> tuple[Nodes, Nodes]:
    """The same number of nodes from each class; from one that has fewer, what it has."""
    train, val = [], []
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        name = classes[label] if classes else label
        train_count, val_count = _counts(len(members), 1, settings, f"class {name} has {len(members)} nodes")
        drawn = rng.choice(members, train_count + val_count, replace=False)
        train.append(drawn[:train_count])
        val.append(drawn[train_count:])
    return np.concatenate(train), np.sort(np.concatenate(val))


def _uniform(
    labels: NDArray[np.int64], settings: Preprocess, rng: np.random.Generator, _: Sequence[str]
) -> tuple[Nodes, Nodes]:
    """As many nodes as a per-class split has, from all labelled ones alike."""
    known = np.flatnonzero(labels >= 0)
    classes = len(np.unique(labels[known]))
    train_count, val_count = _counts(len(known), classes, settings, f"{len(known)} labelled nodes are too few")
    drawn = rng.choice(known, train_count + val_count, replace=False)
    return drawn[:train_count], np.sort(drawn[train_count:])


def _counts(there: int, classes: int, settings: Preprocess, found: str) -> tuple[int, int]:
    """How many nodes train and validate, of those that are there.

    Where they are too few, two thirds of them do, in the wanted proportion, and one at least trains.
    """
    train, val = settings.train_per_class * classes, settings.val_per_class * classes
    if there >= train + val:
        return train, val
    if settings.shortage == "fail":
        raise GrandPlusError(
            found,
            expected=f"at least {train} to train and {val} to validate",
            fix="lower them, or set preprocess.split to uniform, or preprocess.shortage to shrink in place of fail, "
            "which takes fewer where there are fewer",
        )
    used = there - there // 3
    fewer = min(train, max(1, used * train // (train + val)))
    return fewer, min(val, used - fewer)


_Draw = Callable[[NDArray[np.int64], Preprocess, np.random.Generator, Sequence[str]], tuple[Nodes, Nodes]]


_DRAWS: dict[str, _Draw] = {"per-class": _per_class, "uniform": _uniform}
