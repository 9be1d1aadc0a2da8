"""What a task must be: checked before training, as other libraries would tell of it by a traceback."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.in_memory.splits import row_numbers
from grandplus.graph.splits import PARTS, Split
from grandplus.methods.files import check_device
from grandplus.runtime.errors import ArgumentError

if TYPE_CHECKING:
    from grandplus.methods.protocol import Task

JUDGED = ("train", "val")  # parts whose labels are used


def checked_task(task: Task) -> Task:
    """A task that can be trained, with row numbers in place of masks and lists.

    Parameters
    ----------
    task : Task

    Returns
    -------
    Task

    Raises
    ------
    ArgumentError
        A part of the split holds other things than row numbers or a mask of all nodes; train or val is empty, or has a
        node without a label; the graph has no features; or the seed, the device or threads is not what it should be.
    """
    check_device(task.device)
    if not task.graph.features.shape[1]:
        raise ArgumentError("the graph has no features", expected="at least one column")
    if not (isinstance(task.threads, int | np.integer) and task.threads >= 1):
        raise ArgumentError(f"threads is {task.threads!r}", expected="a whole number of at least 1")
    try:
        np.random.default_rng(task.seed)
    except (TypeError, ValueError):
        expected = "a whole number of at least 0, or a list of them"
        raise ArgumentError(f"seed is {task.seed!r}", expected=expected) from None
    labels = np.asarray(task.graph.labels)
    parts = {part: row_numbers(getattr(task.split, part), len(labels), part) for part in PARTS}
    for part in JUDGED:
        _check_labels(parts[part], labels, part)
    return replace(task, split=Split(**parts))


def _check_labels(nodes: NDArray[np.int64], labels: NDArray[np.int64], part: str) -> None:
    if not len(nodes):
        raise ArgumentError(f"{part} names no node", expected="at least one")
    unknown = nodes[labels[nodes] < 0]
    if len(unknown):
        raise ArgumentError(f"{part} names node {unknown[0]}, which has no label", expected="nodes with a label")
