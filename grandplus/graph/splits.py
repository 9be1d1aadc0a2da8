"""Which nodes are labelled (L), unlabelled (U'), for validation and for test, in every trial.

Trial i depends on (seed, i) alone, so more trials never change the first ones. The splits are one table (trial, node,
part). What is the same in every trial stands once, under trial -1. A part that holds all other nodes is not listed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.graph.files import read_parquet
from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.paths import as_path

Nodes = NDArray[np.int64]
PARTS = ("train", "val", "test", "unlabelled")
EVERY_TRIAL = -1
SAME_AS_TEST = "unlabelled=test"
UNKNOWN = "unknown"  # part of nodes that would be in test if they had a label
REST = b"rest"  # key of the metadata under which the parts are named that the table doesn't list


@dataclass(frozen=True, eq=False)
class Split:
    """The nodes of one trial.

    Attributes
    ----------
    train, val, test : int64 arrays
        Disjoint. All but ``train`` are sorted.
    unlabelled : int64 array
        U': sorted, and disjoint from ``train`` only.
    """

    train: Nodes
    val: Nodes
    test: Nodes
    unlabelled: Nodes

    def needing_rows(self, *, unlabelled: bool = True) -> Nodes:
        """L ∪ validation, and U' if a method trains on it: the nodes whose rows a trial takes; int64, sorted."""
        return np.unique(np.concatenate([self.train, self.val, *([self.unlabelled] if unlabelled else [])]))

    def digest(self) -> str:
        """Tells splits apart by their train, val and test: 16 hexadecimal digits."""
        digest = hashlib.sha256()
        for nodes in (self.train, self.val, self.test):
            digest.update(len(nodes).to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(nodes, "<i8").data)
        return digest.hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Splits:
    """The splits of all trials.

    Attributes
    ----------
    nodes : int
        Of the graph.
    trials : int
    table : pyarrow.Table
        Columns trial (int32), node (int64) and part (string).
    rest : frozenset of str
        The parts that the table doesn't list: "test" holds all nodes with a label that are in neither train nor val,
        "unlabelled" all but train. SAME_AS_TEST: unlabelled nodes are the test nodes and those without a label that
        would be among them.
    """

    nodes: int
    trials: int
    table: pa.Table
    rest: frozenset[str]

    def of(self, trial: int) -> Split:
        """The split of one trial.

        Parameters
        ----------
        trial : int

        Returns
        -------
        Split

        Raises
        ------
        ArgumentError
            There is no such trial.
        """
        if not 0 <= trial < self.trials:
            raise ArgumentError(f"trial {trial} is not in the splits", expected=f"0 to {self.trials - 1}")
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

    def needing_rows(self, *, unlabelled: bool = True) -> Nodes:
        """The nodes whose rows are computed: those of all trials.

        Parameters
        ----------
        unlabelled : bool, default=True
            Whether the method trains on unlabelled nodes.

        Returns
        -------
        int64 array, sorted
        """
        needed = np.zeros(self.nodes, bool)
        for trial in range(self.trials):
            needed[self.of(trial).needing_rows(unlabelled=unlabelled)] = True
        return np.flatnonzero(needed)

    def check_tested(self) -> None:
        """Check that all trials can be measured by the same part.

        That is test, or validation if no trial has a test node.

        Raises
        ------
        GrandPlusError
            Some trials have test nodes and others have none.
        """
        tested = [bool(len(self.of(trial).test)) for trial in range(self.trials)]
        if len(set(tested)) > 1:
            raise GrandPlusError(
                f"trial {tested.index(False)} has no test node with a label, and trial {tested.index(True)} has",
                expected="some in every trial, or in none",
            )

    def save(self, folder: Path | str) -> None:
        """Write ``splits.parquet`` into an existing folder."""
        folder = as_path(folder, "folder")
        metadata = {REST: ",".join(sorted(self.rest)), b"nodes": str(self.nodes), b"trials": str(self.trials)}
        pq.write_table(self.table.replace_schema_metadata(metadata), folder / "splits.parquet")

    @classmethod
    def load(cls, folder: Path | str) -> Splits:
        """Read what ``save`` has written.

        Raises
        ------
        ArtifactError
            The file is missing or damaged.
        """
        table = read_parquet(as_path(folder, "folder") / "splits.parquet")
        metadata = table.schema.metadata
        rest = frozenset(filter(None, metadata[REST].decode().split(",")))
        return cls(int(metadata[b"nodes"]), int(metadata[b"trials"]), table, rest)


def outside(nodes: int, *groups: Nodes) -> Nodes:
    """All nodes of a graph that are in none of some groups.

    Examples
    --------
    >>> outside(5, np.array([3]), np.array([0, 1])).tolist()
    [2, 4]
    """
    rest = np.ones(nodes, bool)
    for group in groups:
        rest[group] = False
    return np.flatnonzero(rest)
