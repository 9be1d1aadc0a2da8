"""The training loop of methods that are a network and an optimizer: epochs, validation, and the weights to keep."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.methods.blockwise import BlockwiseAdam
from grandplus.methods.class_weights import class_weights
from grandplus.methods.protocol import Model, Scores, Task, Trained
from grandplus.methods.scores import decisive_scores, part_scores
from grandplus.methods.stopping import Stopping
from grandplus.runtime.errors import GrandPlusError

Watch: TypeAlias = Callable[[Scores], None] | None

STANDARDIZE = "set preprocess.features=standardize"  # for a first loss, which large features alone make infinite


@dataclass(frozen=True)
class Training:
    """How a training went.

    Attributes
    ----------
    history : dict of list of float
        The scores of each epoch, by name.
    outcome : dict
        steps, best_step (the epoch whose weights are kept) and val_accuracy (of that epoch), for ``Model.info``.
    """

    history: dict[str, list[float]]
    outcome: dict[str, Any]


def train(
    network: nn.Module,
    task: Task,
    *,
    epoch: Callable[[], float],
    evaluate: Callable[[], Tensor],
    settings: Any,
    stopping: Stopping,
    penalty: Callable[[], float] = lambda: 0.0,
    watch: Watch = None,
) -> Training:
    """Train to the end, and put the weights that the rule keeps into the network.

    Parameters
    ----------
    network : torch.nn.Module
    task : Task
    epoch : callable
        Trains for one epoch, and returns its loss; the network is in training mode.
    evaluate : callable
        Returns the logits (t + v, C) of the training nodes and, below them, of the validation nodes; the network is in
        evaluation mode, and no gradients are kept.
    settings : MethodSettings
        Of which it takes ``epochs``, of which there are so many at most, and ``class_weight``.
    stopping : Stopping
    penalty : callable, optional
        Returns what is added to the validation's loss before the rule sees it.
    watch : callable, optional
        Is given the scores of each epoch, see `grandplus.methods.scores.part_scores`.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite.
    """
    split, history, outcome = task.split, dict[str, list[float]](), dict[str, Any]()
    parts = {"train": slice(len(split.train)), "val": slice(len(split.train), None)}
    labels, weights = labels_of(task, watched_nodes(task)), weights_of(task, settings)
    kept: dict[str, Tensor] = {}
    for step in range(settings.epochs):
        network.train()
        loss = epoch()
        if not math.isfinite(loss):
            fix = "lower train.lr" if step else f"{STANDARDIZE}; or lower train.lr, if an epoch has several batches"
            raise GrandPlusError(f"the loss became {loss} at step {step}", fix=fix)
        network.eval()
        with torch.inference_mode():
            logits = evaluate()
        scores: Scores = {"step": float(step)}
        for part, rows in parts.items():
            scores |= part_scores(part, logits[rows], labels[rows])
        for name, value in scores.items():
            history.setdefault(name, []).append(value)
        if watch:
            watch(scores)
        val = parts["val"]
        accuracy, val_loss = decisive_scores(scores, logits[val], labels[val], weights)
        decision = stopping.update(accuracy, val_loss + penalty())
        if decision.keep or not outcome:
            outcome = {"best_step": step, "val_accuracy": scores["val_accuracy"]}
            if not stopping.keeps_last:
                kept.clear()  # first, so that both are never in memory
                kept |= {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
        if decision.stop:
            break
    if kept:
        network.load_state_dict(kept)
    network.eval()
    return Training(history, {"steps": step + 1, **outcome})


def trained(
    model: type[Model], task: Task, settings: Any, training: Training, info: dict[str, Any] | None, **own: Any
) -> Trained:
    """What training leaves.

    Parameters
    ----------
    model : type
        The method's model.
    task : Task
    settings : MethodSettings
    training : Training
    info : dict or None
        What else to note in the model.
    **own
        The attributes that this model has beside those of all models.
    """
    graph, noted = task.graph, {**(info or {}), **training.outcome}
    common: Any = {"settings": settings, "preprocessing": graph.fitted.to_json(), "info": noted}
    return Trained(model(classes=graph.classes, **common, **own), training.history)


def labels_of(task: Task, nodes: NDArray[np.int64]) -> Tensor:
    """Class numbers of some nodes, on the task's device: int64 (b,)."""
    return torch.from_numpy(np.asarray(task.graph.labels)[nodes]).to(task.device)


def weights_of(task: Task, settings: Any) -> Tensor | None:
    """What a node of each class counts in the supervised loss, on the task's device: float32 (C,); None: all alike.

    Raises
    ------
    GrandPlusError
        ``train.class_weight`` names a class that the graph lacks.
    """
    graph = task.graph
    weights = class_weights(settings.class_weight, graph.classes, np.asarray(graph.labels)[task.split.train])
    return None if weights is None else torch.from_numpy(weights).float().to(task.device)


def watched_nodes(task: Task) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The nodes of which ``evaluate`` gives the logits: int64 (t + v,)."""
    return np.concatenate([task.split.train, task.split.val])


def batches(count: int, size: int, rng: np.random.Generator) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """The numbers 0 to count - 1, shuffled, in batches of a size; the last one may be smaller.

    Examples
    --------
    >>> [len(batch) for batch in batches(5, 2, np.random.default_rng(0))]
    [2, 2, 1]
    """
    return np.split(rng.permutation(count), range(size, count, size))


def adam(lr: float, *groups: tuple[nn.Module, float]) -> torch.optim.Adam:
    """Adam, with a weight decay for each module.

    Parameters
    ----------
    lr : float
        Learning rate.
    *groups : (torch.nn.Module, float)
        Modules, each with its weight decay, which is coupled (L2).
    """
    return BlockwiseAdam([{"params": [*part.parameters()], "weight_decay": decay} for part, decay in groups], lr)


def decay_penalty(optimizer: torch.optim.Optimizer) -> float:
    """½λ‖W‖², of all groups of parameters with their weight decay λ: what a coupled weight decay adds to the loss.

    Examples
    --------
    >>> layer = nn.Linear(2, 1, bias=False)
    >>> _ = nn.init.constant_(layer.weight, 3.0)
    >>> decay_penalty(adam(0.01, (layer, 0.5)))
    4.5
    """
    total = 0.0
    for group in optimizer.param_groups:
        if group["weight_decay"]:
            total += group["weight_decay"] / 2 * sum(part.detach().square().sum().item() for part in group["params"])
    return total


@contextlib.contextmanager
def seeded(task: Task) -> Iterator[np.random.Generator]:
    """PyTorch's generator starts from the task's seed, and afterwards goes on as if nothing had been drawn.

    PyTorch has one thread meanwhile, and no denormal numbers.

    Yields
    ------
    numpy.random.Generator
        For what numpy draws.
    """
    rng = np.random.default_rng(task.seed)
    with torch.random.fork_rng(devices=[0] if task.device == "cuda" else []), one_thread(), without_denormals():
        torch.manual_seed(int(rng.integers(2**63)))
        yield rng


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch has one thread meanwhile, as its sums depend on how many there are."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def without_denormals() -> Iterator[None]:
    """Numbers below 1.2e-38 count as 0 in this thread meanwhile.

    Weights that nothing but decay moves get there after some thousand steps. An Intel processor then takes twice as
    long for a step.
    """
    before = bool(torch.tensor([1e-39]) * 1 == 0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
