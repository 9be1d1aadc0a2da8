"""The split of every trial: the data's own, or drawn from each class, or from all labelled nodes alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import EVERY_TRIAL, SAME_AS_TEST, UNKNOWN, Nodes, Splits, outside
from grandplus.runtime.errors import GrandPlusError


class TooFewNodes(GrandPlusError):
    """A split needs more labelled nodes than there are, of a class or of all."""


class _Part(NamedTuple):
    """Nodes that the table of splits lists."""

    trial: int
    name: str
    nodes: Nodes


def make_splits(
    labels: NDArray[np.int64],
    settings: Preprocess,
    public: list[dict[str, Nodes]],
    *,
    seed: int,
    trials: int,
    classes: Sequence[str] = (),
    node_ids: NDArray[Any] | None = None,
) -> Splits:
    """Draw the split of every trial.

    Parameters
    ----------
    labels : int64 (n,)
        -1 where unknown. Such nodes are in no part but ``unlabelled``; if ``settings.unlabelled`` is "test", it has
        those of them that would be test nodes if they had a label.
    settings : Preprocess
    public : list of dict
        The splits that the data came with, each with the nodes of "train", "val" and, if it isn't all others with a
        label, "test". Used for ``split: public``: trial i takes split i, and begins anew after the last.
    seed, trials : int
        Trial i's split is drawn from (seed, i).
    classes : sequence of str
        Names of the classes, for errors.
    node_ids : (n,), optional
        Of the nodes, for errors.

    Returns
    -------
    Splits

    Raises
    ------
    GrandPlusError
        There is no public split, or one whose parts overlap, or there are too few labelled nodes for the wanted split.
    """
    given = _given_splits(public, labels, node_ids) if settings.split == "public" else []
    parts = [_Part(EVERY_TRIAL, name, nodes) for name, nodes in given[0].items()] if len(given) == 1 else []
    size = settings.unlabelled if isinstance(settings.unlabelled, int) else len(labels)
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        split = given[trial % len(given)] if given else _drawn(labels, settings, rng, classes)
        if len(given) != 1:  # a single one is there already, for every trial
            parts += [_Part(trial, name, nodes) for name, nodes in split.items()]
        if size < max(len(labels) - len(either["train"]) for either in given or [split]):
            parts.append(_Part(trial, "unlabelled", _sample(len(labels), split["train"], size, rng)))
    implied = _implied({part.name for part in parts}, settings)
    if "test" in implied and (labels < 0).any():
        parts.append(_Part(EVERY_TRIAL, UNKNOWN, np.flatnonzero(labels < 0)))
    return Splits(len(labels), trials, _table(parts), implied)


def _drawn(
    labels: NDArray[np.int64], settings: Preprocess, rng: np.random.Generator, classes: Sequence[str]
) -> dict[str, Nodes]:
    """The training and validation nodes of one trial."""
    train, val = _DRAWS[settings.split](labels, settings, rng, classes)
    if not len(val):
        raise GrandPlusError("no labelled node is left to validate", expected="more labelled nodes")
    return {"train": train, "val": val}


def _sample(nodes: int, train: Nodes, size: int, rng: np.random.Generator) -> Nodes:
    """U': some of the nodes that are not trained on; all, if there are no more."""
    others = outside(nodes, train)
    return np.sort(rng.choice(others, min(size, len(others)), replace=False))


def _implied(listed: set[str], settings: Preprocess) -> frozenset[str]:
    """The parts that follow from the others, so that the table doesn't list them."""
    implied = {"test", "unlabelled"} - listed
    if settings.unlabelled == "test":
        implied = implied - {"unlabelled"} | {SAME_AS_TEST}
    return frozenset(implied)


def _table(parts: list[_Part]) -> pa.Table:
    sizes = [len(part.nodes) for part in parts]
    return pa.table(
        {
            "trial": pa.array(np.repeat([part.trial for part in parts], sizes), pa.int32()),
            "node": pa.array(np.concatenate([part.nodes for part in parts]), pa.int64()),
            "part": pa.array(np.repeat([part.name for part in parts], sizes), pa.string()),
        }
    )


def _given_splits(
    public: list[dict[str, Nodes]], labels: NDArray[np.int64], node_ids: NDArray[Any] | None
) -> list[dict[str, Nodes]]:
    """The data's own splits, checked; nodes without a label are left out, but for those of a test part.

    Either all of them list test nodes, or none does.
    """
    if not public:
        fix = "take per-class or uniform, or import lists of ids"
        raise GrandPlusError("preprocess.split is public, but the data has no split", fix=fix)
    splits = []
    for number, split in enumerate(public):
        where = "the data's split" if len(public) == 1 else f"split {number} of the data"
        labelled = {part: nodes[labels[nodes] >= 0] for part, nodes in split.items()}
        if "test" in split:
            labelled[UNKNOWN] = split["test"][labels[split["test"]] < 0]
        for part in ("train", "val"):
            if not len(labelled.get(part, ())):
                raise GrandPlusError(f"{where} has no labelled {part} node", fix="take per-class or uniform")
        _check_disjoint(split, where, node_ids)
        if "test" not in split and any("test" in other for other in public):
            labelled["test"] = np.setdiff1d(np.flatnonzero(labels >= 0), [*labelled["train"], *labelled["val"]])
            labelled[UNKNOWN] = np.flatnonzero(labels < 0)
        splits.append(labelled)
    return splits


def _check_disjoint(split: dict[str, Nodes], where: str, node_ids: NDArray[Any] | None) -> None:
    nodes, counts = np.unique(np.concatenate(list(split.values())), return_counts=True)
    if counts.max() > 1:
        twice = nodes[counts.argmax()]
        parts = " and ".join(part for part in split if twice in split[part])
        name = twice if node_ids is None else node_ids[twice]
        raise GrandPlusError(f"{where} has node {name} in {parts}", expected="each node once")


def _per_class(
    labels: NDArray[np.int64], settings: Preprocess, rng: np.random.Generator, classes: Sequence[str]
) -> tuple[Nodes, Nodes]:
    """The same number of nodes from each class; fewer from a class that has fewer."""
    train, val = [], []
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        name = classes[label] if classes else label
        few = f"class {name} has {len(members)} node{'s' * (len(members) != 1)}"
        train_count, val_count = _counts(len(members), 1, settings, few)
        drawn = rng.choice(members, train_count + val_count, replace=False)
        train.append(drawn[:train_count])
        val.append(drawn[train_count:])
    return np.concatenate(train), np.sort(np.concatenate(val))


def _uniform(
    labels: NDArray[np.int64], settings: Preprocess, rng: np.random.Generator, _: Sequence[str]
) -> tuple[Nodes, Nodes]:
    """As many nodes as a per-class split has, drawn from all labelled nodes alike."""
    known = np.flatnonzero(labels >= 0)
    classes = len(np.unique(labels[known]))
    train_count, val_count = _counts(len(known), classes, settings, f"{len(known)} labelled nodes are too few")
    drawn = rng.choice(known, train_count + val_count, replace=False)
    return drawn[:train_count], np.sort(drawn[train_count:])


def _counts(available: int, classes: int, settings: Preprocess, shortage: str) -> tuple[int, int]:
    """How many nodes to train and to validate on, of those that are available.

    If they are too few, two thirds of them are taken, in the wanted proportion, and at least one of them trains.

    Parameters
    ----------
    shortage : str
        What to say of too few.
    """
    train, val = settings.train_per_class * classes, settings.val_per_class * classes
    if available >= train + val:
        return train, val
    if settings.shortage == "fail":
        raise TooFewNodes(
            shortage,
            expected=f"at least {train} to train and {val} to validate",
            fix="lower preprocess.train_per_class or preprocess.val_per_class, or set preprocess.split to uniform, or "
            "preprocess.shortage to shrink in place of fail, which takes fewer where there are fewer",
        )
    taken = available - available // 3
    fewer = min(train, max(1, taken * train // (train + val)))
    return fewer, min(val, taken - fewer)


_Draw = Callable[[NDArray[np.int64], Preprocess, np.random.Generator, Sequence[str]], tuple[Nodes, Nodes]]
_DRAWS: dict[str, _Draw] = {"per-class": _per_class, "uniform": _uniform}
