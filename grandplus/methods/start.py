"""Training that starts from the weights of a model that is there, in place of random ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from grandplus.graph.fitted import FittedFeatures
from grandplus.methods.files import load_model
from grandplus.methods.protocol import Model, Task
from grandplus.methods.registry import name_of
from grandplus.runtime.errors import ArgumentError, ArtifactError


def begin(network: nn.Module, task: Task, settings: Any) -> None:
    """Put the weights of the model that training starts from into a network; without such a model, do nothing.

    What the optimizer remembers, and the random numbers of training, are those of a fresh start.

    Parameters
    ----------
    network : torch.nn.Module
        With its first weights.
    task : Task
    settings : MethodSettings

    Raises
    ------
    ArgumentError
        The model's file is damaged, or it is of another method or classes, takes other features, or has other layers.
    """
    if task.start is None:
        return
    try:
        model = load_model(task.start)
    except ArtifactError as error:  # whose path may be that of a copy
        found, fix = f"{Path(task.start).name} {error.found}", "name a run or a folder whose models are whole"
        raise ArgumentError(found, where="train.from", expected=error.expected, fix=fix) from None
    try:
        _check_method(model, settings)
        _check_graph(model, task)
        _check_layers(model, network, settings, width=int(task.graph.features.shape[1]))
    except ArgumentError as error:
        raise error.at("train.from") from None  # which names the model
    network.load_state_dict(model.tensors())


def _check_method(model: Model, settings: Any) -> None:
    if model.method != (method := name_of(settings)):
        fix = f"name a run of {method}, set model to {model.method}, or set train.from to null"
        raise ArgumentError(f"the model to start from is of {model.method}", expected=f"one of {method}", fix=fix)


def _check_graph(model: Model, task: Task) -> None:
    graph = task.graph
    if model.classes != graph.classes:
        found = f"the model to start from knows the classes {', '.join(model.classes)}"
        raise ArgumentError(found, expected=f"{', '.join(graph.classes)}, in this order, as the graph has them")
    before = FittedFeatures.from_json(model.preprocessing)
    if before.kind != graph.fitted.kind:
        found = f"the model to start from takes features that are scaled by {before.kind}"
        raise ArgumentError(found, expected=graph.fitted.kind, fix=f"set preprocess.features to {before.kind}")
    if before.names != graph.fitted.names:
        found = f"the model to start from takes {_named(before.names)}"
        raise ArgumentError(found, expected=f"{_named(graph.fitted.names)}, as the graph has")
    if model.preprocessing != graph.fitted.to_json():
        raise ArgumentError(
            f"the model to start from takes features that were fitted to another graph by {before.kind}",
            expected="the same means, deviations or columns",
            fix="let the old graph grow, which keeps them, or train without it",
        )


def _check_layers(model: Model, network: nn.Module, settings: Any, *, width: int) -> None:
    old = {name: tuple(tensor.shape) for name, tensor in model.tensors().items()}
    new = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    if old == new:
        return
    name = next(name for name in {**new, **old} if old.get(name) != new.get(name))
    size = width, len(model.classes)
    before = {
        key: value
        for key, value in model.settings.model_dump().items()
        if value != getattr(settings, key)
        and (
            isinstance(value, bool)
            or settings.model_copy(update={key: value}).parameters(*size) != settings.parameters(*size)
        )
    }
    fix = ", ".join(f"train.{key} to {str(value).lower()}" for key, value in before.items())
    raise ArgumentError(
        f"the model to start from has {_shape(name, old)}",
        expected=_shape(name, new),
        fix=f"set {fix}, as it has" if fix else "",
    )


def _named(names: list[str] | None) -> str:
    """
    >>> _named(["age", "pages"]), _named(None)
    ('2 features with names, age to pages', 'features without names')
    """
    return f"{len(names)} features with names, {names[0]} to {names[-1]}" if names else "features without names"


def _shape(name: str, shapes: dict[str, tuple[int, ...]]) -> str:
    """
    >>> _shape("first.weight", {"first.weight": (32, 1433)}), _shape("second.weight", {})
    ('first.weight of 32 x 1433', 'no second.weight')
    """
    return f"{name} of {' x '.join(map(str, shapes[name]))}" if name in shapes else f"no {name}"
