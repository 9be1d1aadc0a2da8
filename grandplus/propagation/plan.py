"""How the propagation of many columns keeps within a budget of memory."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.kernels.prefetch import LINE
from grandplus.propagation.power import BUFFERS
from grandplus.runtime import environment
from grandplus.runtime.errors import MemoryShortageError, ShortageError
from grandplus.runtime.sizes import size_text
from grandplus.runtime.storage import reserve

BASE = 400 * 2**20  # of the process itself, with PyTorch


@dataclass(frozen=True)
class Plan:
    """How inference keeps within a budget of memory.

    Attributes
    ----------
    width : int
        Columns in all.
    columns : int
        Columns to propagate at a time.
    in_memory : bool
        Whether the array of all columns is in memory; else it lies in a file that is memory-mapped.
    peak : int
        Bytes of memory, as predicted. Files that are memory-mapped are not counted, but the adjacency and its weights
        are.
    """

    width: int
    columns: int
    in_memory: bool
    peak: int

    def __str__(self) -> str:
        where = "" if self.in_memory else ", kept in a file"
        return f"{size_text(self.peak)} of memory at most, {self.columns} of {self.width} columns at a time{where}"

    def array(self, nodes: int) -> NDArray[np.float32]:
        """An array (nodes, width) where the plan says.

        Raises
        ------
        ShortageError
            The disk has no room for the file.
        """
        if self.in_memory:
            return np.empty((nodes, self.width), np.float32)
        size = 4 * nodes * self.width
        # Without a name, so that nothing is left however this process ends.
        with tempfile.TemporaryFile(dir=environment.scratch_folder()) as file:
            try:
                reserve(file.fileno(), size)
                file.truncate(size)
            except OSError as error:
                found = f"power iteration can't keep {size_text(size)} in a file: {error.strerror}"
                fix = "set GRANDPLUS_SCRATCH to a folder with more room, or GRANDPLUS_MEMORY higher"
                raise ShortageError(found, where=environment.scratch_folder(), fix=fix) from None
            return np.memmap(file, np.float32, "r+", shape=(nodes, self.width))


def plan(graph: Graph, width: int, parameters: int) -> Plan:
    """Take as many columns at a time as ``GRANDPLUS_MEMORY`` allows; any number gives the same bytes.

    Parameters
    ----------
    graph : Graph
    width : int
        Columns to propagate.
    parameters : int
        Bytes of the model's parameters.

    Raises
    ------
    MemoryShortageError
        The budget is too small for any plan.
    """
    nodes, budget = graph.adjacency.nodes, environment.memory()
    weights = graph.adjacency.weights
    arrays = graph.adjacency.indptr, graph.adjacency.indices, *(weights.arrays if weights else ())
    adjacency = sum(array.nbytes for array in arrays)
    fixed = BASE + parameters + adjacency + 4 * nodes * len(graph.classes)
    a_column = 4 * BUFFERS * nodes
    least = min(width, LINE)
    for in_memory in (True, False):
        held = 4 * nodes * width if in_memory else 0
        columns = min(width, (budget - fixed - held) // max(a_column, 1))
        if columns >= least:
            return Plan(width, columns, in_memory, fixed + held + columns * a_column)
    needed = size_text(fixed + least * a_column)
    raise MemoryShortageError(
        f"power iteration would need {needed} of memory, and may use {size_text(budget)}",
        fix="set GRANDPLUS_MEMORY higher if the machine has more, or use one that has",
    )
