"""Which nodes are labelled (L), unlabelled (U'), for validation and for test, in every trial.

Trial i depends on (seed, i) alone, so more trials never change the first ones. Kept as one
table (trial, node, part); what is the same in every trial stands once, under trial -1, and
"all the rest" is implied instead of listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.errors import GrandPlusError
from grandplus.graph import read_parquet
from grandplus.settings import Preprocess

Nodes = NDArray[np.int64]
PARTS = ("train", "val", "test", "unlabelled")
EVERY_TRIAL = -1
SAME_AS_TEST = "unlabelled=test"
REST = b"rest"  # metadata: parts that hold all the nodes which ...


@dataclass(frozen=True, eq=False)
class Split:
    """One trial's nodes, each int64 and sorted but for ``train``, which keeps its order."""

    train: Nodes
    val: Nodes
    test: Nodes
    unlabelled: Nodes  # U', outside of train only


@dataclass(frozen=True, eq=False)
class Splits:
    """All trials' splits of a graph of ``nodes`` nodes."""

    nodes: int
    trials: int
    table: pa.Table  # trial int32, node int64, part string
    rest: frozenset[str]  # "test": nodes in neither train nor val; "unlabelled": all but train; SAME_AS_TEST

    def of(self, trial: int) -> Split:
        """The split of one trial."""
        if not 0 <= trial < self.trials:
            raise GrandPlusError(f"trial {trial} is not in the splits", expected=f"0 to {self.trials - 1}")
        mine = self.table.filter(pc.is_in(self.table["trial"], pa.array([EVERY_TRIAL, trial], pa.int32())))
        part = {name: mine.filter(pc.equal(mine["part"], name))["node"].to_numpy() for name in PARTS}
        if "test" in self.rest:
            part["test"] = _outside(self.nodes, part["train"], part["val"])
        if "unlabelled" in self.rest:
            part["unlabelled"] = _outside(self.nodes, part["train"])
        if SAME_AS_TEST in self.rest:
            part["unlabelled"] = part["test"]
        return Split(**part)

    def needing_rows(self) -> Nodes:
        """L ∪ U' ∪ validation over all trials: the nodes whose rows are computed, sorted."""
        found = np.zeros(self.nodes, bool)
        for trial in range(self.trials):
            split = self.of(trial)
            for nodes in (split.train, split.val, split.unlabelled):
                found[nodes] = True
        return np.flatnonzero(found)

    def save(self, folder: Path) -> None:
        metadata = {REST: ",".join(sorted(self.rest)), b"nodes": str(self.nodes), b"trials": str(self.trials)}
        pq.write_table(self.table.replace_schema_metadata(metadata), folder / "splits.parquet")

    @classmethod
    def load(cls, folder: Path | str) -> Splits:
        table = read_parquet(Path(folder) / "splits.parquet")
        metadata = table.schema.metadata
        rest = frozenset(filter(None, metadata[REST].decode().split(",")))
        return cls(int(metadata[b"nodes"]), int(metadata[b"trials"]), table, rest)


def make_splits(
    labels: NDArray[np.int64], settings: Preprocess, public: dict[str, Nodes], *, seed: int, trials: int
) -> Splits:
    """Draw every trial's split.

    Parameters
    ----------
    labels : int64 (n,), -1 where unknown; such nodes are never drawn to train or validate
    public : the split that the data came with (train, val, test), for ``split: public``

    Raises
    ------
    GrandPlusError : no public split, or too few labelled nodes for the wanted one.
    """
    parts: list[tuple[int, str, Nodes]] = []
    if settings.split == "public":
        parts += [(EVERY_TRIAL, part, nodes) for part, nodes in _complete(public).items()]
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        if settings.split == "public":
            train = public["train"]
        else:
            train, val = _DRAWS[settings.split](labels, settings, rng)
            parts += [(trial, "train", train), (trial, "val", val)]
        if isinstance(settings.unlabelled, int) and settings.unlabelled < len(labels) - len(train):
            pool = _outside(len(labels), train)
            parts.append((trial, "unlabelled", np.sort(rng.choice(pool, settings.unlabelled, replace=False))))
    rest = {"test", "unlabelled"} - {part for _, part, _ in parts}
    if settings.unlabelled == "test":
        rest = rest - {"unlabelled"} | {SAME_AS_TEST}
    table = pa.table(
        {
            "trial": pa.array(np.repeat([t for t, _, _ in parts], [len(n) for _, _, n in parts]), pa.int32()),
            "node": pa.array(np.concatenate([nodes for _, _, nodes in parts]), pa.int64()),
            "part": pa.array(np.repeat([p for _, p, _ in parts], [len(n) for _, _, n in parts]), pa.string()),
        }
    )
    return Splits(len(labels), trials, table, frozenset(rest))


def _complete(public: dict[str, Nodes]) -> dict[str, Nodes]:
    for part in ("train", "val", "test"):
        if part not in public:
            raise GrandPlusError(
                f"preprocess.split is public, but the data has no {part} part", fix="take per-class or uniform"
            )
    return public


def _per_class(labels: NDArray[np.int64], settings: Preprocess, rng: np.random.Generator) -> tuple[Nodes, Nodes]:
    """The same number of nodes from each class."""
    train_count, val_count = settings.train_per_class, settings.val_per_class
    train, val = [], []
    for label in np.unique(labels[labels >= 0]):
        members = np.flatnonzero(labels == label)
        if len(members) < train_count + val_count:
            raise GrandPlusError(
                f"class {label} has {len(members)} nodes",
                expected=f"at least {train_count} to train and {val_count} to validate",
                fix="lower preprocess.train_per_class or val_per_class, or set preprocess.split to uniform",
            )
        drawn = rng.choice(members, train_count + val_count, replace=False)
        train.append(drawn[:train_count])
        val.append(drawn[train_count:])
    return np.concatenate(train), np.sort(np.concatenate(val))


def _uniform(labels: NDArray[np.int64], settings: Preprocess, rng: np.random.Generator) -> tuple[Nodes, Nodes]:
    """As many nodes as a per-class split has, from all labelled ones alike."""
    classes = len(np.unique(labels[labels >= 0]))
    train_count, val_count = settings.train_per_class * classes, settings.val_per_class * classes
    known = np.flatnonzero(labels >= 0)
    if len(known) < train_count + val_count:
        raise GrandPlusError(
            f"{len(known)} labelled nodes are too few for {train_count} to train and {val_count} to validate",
            fix="lower preprocess.train_per_class or val_per_class",
        )
    drawn = rng.choice(known, train_count + val_count, replace=False)
    return drawn[:train_count], np.sort(drawn[train_count:])


def _outside(nodes: int, *groups: Nodes) -> Nodes:
    rest = np.ones(nodes, bool)
    for group in groups:
        rest[group] = False
    return np.flatnonzero(rest)


_Draw = Callable[[NDArray[np.int64], Preprocess, np.random.Generator], tuple[Nodes, Nodes]]
_DRAWS: dict[str, _Draw] = {"per-class": _per_class, "uniform": _uniform}
