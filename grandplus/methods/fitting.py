"""Training by any method: its settings say which."""

from __future__ import annotations

from typing import Any

from grandplus.methods.protocol import Task, Trained
from grandplus.methods.registry import method_of, name_of
from grandplus.methods.settings import MethodSettings


def fit(task: Task, settings: MethodSettings, **options: Any) -> Trained:
    """Train one model by the method that the settings are of.

    Parameters
    ----------
    task : Task
        The graph, the split of one trial, and rows of Π if the method needs some.
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
        The settings are of no method, or the task lacks what the method needs.
    GrandPlusError
        The model can't be trained.
    """
    return method_of(name_of(settings)).fit(task, settings, **options)
