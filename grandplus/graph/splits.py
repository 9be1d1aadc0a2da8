"""Which nodes are labelled (L), unlabelled (U'), for validation and for test, in every trial.

Trial i depends on (seed, i) alone, so more trials never change the first ones. Kept as one
table (trial, node, part); what is the same in every trial stands once, under trial -1, and
"all the rest" is implied instead of listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.graph.files import read_parquet
from grandplus.runtime.errors import GrandPlusError

Nodes = NDArray[np.int64]
PARTS = ("train", "val", "test", "unlabelled")
EVERY_TRIAL = -1
SAME_AS_TEST = "unlabelled=test"
UNKNOWN = "unknown"  # part of nodes that would be in test if they had a label
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
    # "test": nodes with a label in neither train nor val; "unlabelled": all but train; SAME_AS_TEST, unknown included
    rest: frozenset[str]

    def of(self, trial: int) -> Split:
        """The split of one trial."""
        if not 0 <= trial < self.trials:
            raise GrandPlusError(f"trial {trial} is not in the splits", expected=f"0 to {self.trials - 1}")
        mine = self.table.filter(pc.is_in(self.table["trial"], pa.array([EVERY_TRIAL, trial], pa.int32())))
        part = {name: mine.filter(pc.equal(mine["part"], name))["node"].to_numpy() for name in PARTS}
        unknown = mine.filter(pc.equal(mine["part"], UNKNOWN))["node"].to_numpy()
        if "test" in self.rest:
            part["test"] = outside(self.nodes, part["train"], part["val"], unknown)
        if "unlabelled" in self.rest:
            part["unlabelled"] = outside(self.nodes, part["train"])
        if SAME_AS_TEST in self.rest:
            part["unlabelled"] = np.union1d(part["test"], unknown) if len(unknown) else part["test"]
        return Split(**part)

    def needing_rows(self) -> Nodes:
        """L ∪ U' ∪ validation over all trials: the nodes whose rows are computed, sorted."""
        found = np.zeros(self.nodes, bool)
        for trial in range(self.trials):
            split = self.of(trial)
            for nodes in (split.train, split.val, split.unlabelled):
                found[nodes] = True
        return np.flatnonzero(found)

    def refuse_half_tested(self) -> None:
        """Trials are measured by the same part: test, or validation where no trial has a test node left.

        Raises
        ------
        GrandPlusError : some trials have test nodes and others have none.
        """
        tested = [bool(len(self.of(trial).test)) for trial in range(self.trials)]
        if len(set(tested)) > 1:
            found = f"trial {tested.index(False)} has no test node with a label, and trial {tested.index(True)} has"
            raise GrandPlusError(found, expected="some in every trial, or in none")

    def save(self, folder: Path) -> None:
        metadata = {REST: ",".join(sorted(self.rest)), b"nodes": str(self.nodes), b"trials": str(self.trials)}
        pq.write_table(self.table.replace_schema_metadata(metadata), folder / "splits.parquet")

    @classmethod
    def load(cls, folder: Path | str) -> Splits:
        table = read_parquet(Path(folder) / "splits.parquet")
        metadata = table.schema.metadata
        rest = frozenset(filter(None, metadata[REST].decode().split(",")))
        return cls(int(metadata[b"nodes"]), int(metadata[b"trials"]), table, rest)


def outside(nodes: int, *groups: Nodes) -> Nodes:
    rest = np.ones(nodes, bool)
    for group in groups:
        rest[group] = False
    return np.flatnonzero(rest)
