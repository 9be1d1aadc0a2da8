"""Training by any method: its settings say which."""

from __future__ import annotations

from typing import Any

from grandplus.methods.checked import checked_task
from grandplus.methods.memory import training_memory
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.registry import check_edges, method_of, name_of
from grandplus.methods.settings import MethodSettings


def fit(task: Task, settings: MethodSettings, **options: Any) -> Trained:
    """Train one model by the method that the settings are of.

    Parameters
    ----------
    task : Task
        The graph, the split of one trial, and rows of Π if the method needs some. Parts of the split may be masks.
    settings : MethodSettings
        Of the class ``Settings`` of a folder in ``grandplus.methods``.
    **options
        ``info`` and ``watch``, see `grandplus.methods.protocol.Method.fit`.

    Returns
    -------
    Trained
        The model, and the scores of each validation.

    Raises
    ------
    ArgumentError
        The settings are of no method, or the task is not what it should be; see `grandplus.methods.checked`.
    MemoryShortageError
        It would take more memory than ``GRANDPLUS_MEMORY`` allows.
    GrandPlusError
        The method does not take the graph's edges as they are, or the model can't be trained.
    """
    name, adjacency = name_of(settings), task.graph.adjacency
    check_edges(
        name,
        weighted=adjacency.weights is not None,
        directed=not adjacency.symmetric,
        to_ignore='make the adjacency with weights="ignore"',
        both_ways='make it with direction="both"',
    )
    task = checked_task(task)
    training_memory(task.graph, task.split, settings, task.rows.info.top_k if task.rows else 0)
    return method_of(name).fit(task, settings, **options)
