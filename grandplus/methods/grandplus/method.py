"""Training of one model: the paper's Algorithm 2, from drawing batches to early stopping."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from grandplus.graph.splits import Split
from grandplus.methods.grandplus.adam import Adam, AdamOnGPU
from grandplus.methods.grandplus.losses import losses, warmup_weight
from grandplus.methods.grandplus.model import MLP, Model, Snapshot, as_input
from grandplus.methods.grandplus.random_propagation import RandomPropagation
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Scores, Task, Trained
from grandplus.runtime.errors import ArgumentError, GrandPlusError

VALIDATE_EVERY = 10  # steps


@dataclass(eq=False)
class EarlyStopping:
    """Keeps the parameters of the best validation; says when to stop.

    The best is the highest accuracy, the latest of equals. Patience is used up by validations
    that reach neither the best accuracy nor the lowest loss so far.
    """

    patience: int
    best_accuracy: float = -math.inf
    best_loss: float = math.inf
    best_step: int = -1
    best: Snapshot = field(default_factory=Snapshot)
    without_gain: int = 0

    def update(self, step: int, accuracy: float, loss: float, model: MLP) -> bool:
        """Take note of a validation; True if it is time to stop."""
        gained = accuracy >= self.best_accuracy or loss <= self.best_loss
        self.without_gain = 0 if gained else self.without_gain + 1
        if accuracy >= self.best_accuracy:
            self.best_accuracy, self.best_step = accuracy, step
            self.best.take(model)
        self.best_loss = min(self.best_loss, loss)
        return self.without_gain >= self.patience


def fit(
    task: Task,
    settings: Settings,
    *,
    info: dict[str, Any] | None = None,
    watch: Callable[[Scores], None] | None = None,
    stopping: EarlyStopping | None = None,
) -> Trained:
    """Train one model.

    Parameters
    ----------
    task : Task
        With rows of Π.
    settings : Settings
    info : dict, optional
        What to note in the model.
    watch : callable, optional
        Is given the scores of each validation, as they stand in the history: step, train_loss, train_accuracy,
        val_loss, val_accuracy (on undropped rows, so they compare) and consistency_loss (of that step's batch).
    stopping : EarlyStopping, optional
        By default one with the settings' patience.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite; there are too few nodes for BatchNorm.
    ArgumentError
        There are no rows; dense features are to be embedded.
    """
    features, labels, rows, split = task.graph.features, task.graph.labels, task.rows, task.split
    classes, seed, device = task.graph.classes, task.seed, task.device
    if rows is None:
        raise ArgumentError("there are no rows of Π to train on", expected="rows of the split's nodes")
    if settings.embed and not sp.issparse(features):
        raise ArgumentError("train.embed is true, but the features are dense", fix="set train.embed to false")
    rng = np.random.default_rng(seed)
    stopping = stopping or EarlyStopping(settings.patience)
    confidence = min(2 / len(classes), 1.0) if settings.confidence == "auto" else settings.confidence
    history: dict[str, list[float]] = {}
    with torch.random.fork_rng(devices=[0] if device == "cuda" else []):
        torch.manual_seed(int(rng.integers(2**63)))
        model = MLP(features.shape[1], len(classes), settings).to(device)
        # Sparse features stay sparse into the first layer where they can; their dropout is drawn with them.
        sparse = sp.issparse(features) and model.takes_sparse and (device == "cpu" or settings.embed)
        propagation = RandomPropagation(
            features,
            rows,
            dropnode=settings.dropnode,
            renormalize=settings.renormalize,
            sparse=sparse,
            dropout=0.0 if settings.embed else settings.dropout_input,
        )
        optimizer = Adam if device == "cpu" else AdamOnGPU
        adam = optimizer(model.parameters(), settings.lr, settings.weight_decay, settings.clip, model.embedding)
        # Training and validation nodes without dropping: constant, so mixed once.
        watched = np.concatenate([split.train, split.val])
        watched_inputs = as_input(propagation.expected(watched), device)
        watched_labels = _labels_of(watched, labels, device)
        parts = {"train": slice(len(split.train)), "val": slice(len(split.train), None)}
        for step, (labelled, unlabelled) in enumerate(batches(split, settings, rng)):
            nodes = np.concatenate([labelled, unlabelled])
            inputs = as_input(propagation.draw(nodes, rng, copies=settings.augmentations), device)
            # BatchNorm sees labelled and unlabelled nodes together, but each augmentation by itself.
            logits = model(inputs, rng, settings.augmentations).view(settings.augmentations, len(nodes), -1)
            loss, _, consistency = losses(
                logits,
                _labels_of(labelled, labels, device),
                weight=warmup_weight(step, lambda_max=settings.lambda_max, warmup=settings.warmup),
                temperature=settings.temperature,
                confidence=confidence,
                distance=settings.distance,
                consistency_mean=settings.consistency_mean,
            )
            if not math.isfinite(loss.item()):
                raise GrandPlusError(
                    f"the loss became {loss.item()} at step {step}", fix="lower train.lr, or set train.clip"
                )
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
            if step % VALIDATE_EVERY == 0:
                guesses = model.evaluate(watched_inputs)
                scores = {"step": float(step), "consistency_loss": consistency}
                for part, of in parts.items():
                    scores[f"{part}_loss"], scores[f"{part}_accuracy"] = _score(guesses[of], watched_labels[of])
                for name, value in scores.items():
                    history.setdefault(name, []).append(value)
                if watch:
                    watch(scores)
                if stopping.update(step, scores["val_accuracy"], scores["val_loss"], model):
                    break
    model.load_state_dict(stopping.best.state)
    outcome = {"steps": step + 1, "best_step": stopping.best_step, "val_accuracy": stopping.best_accuracy}
    trained = Model(
        classes=classes,
        settings=settings,
        preprocessing=task.graph.fitted.to_json(),
        info={**(info or {}), **outcome},
        mlp=model,
        weights=rows.info.weights,
    )
    return Trained(trained, history)


def batches(
    split: Split, settings: Settings, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """L_t and U_t of each step: L is shuffled each epoch, U_t drawn afresh without replacement."""
    size = min(settings.batch_unlabelled, len(split.unlabelled))
    if settings.batchnorm and len(split.train) + size < 2:
        raise GrandPlusError(
            "there is one labelled node and no unlabelled one, and BatchNorm needs two",
            fix="label more nodes, or set train.batchnorm to false",
        )
    for _ in range(settings.max_epochs):
        order = rng.permutation(split.train)
        starts = list(range(0, len(order), settings.batch_labelled))
        if len(starts) > 1 and len(order) - starts[-1] + size == 1:
            starts.pop()  # BatchNorm can't take a batch of one: leave it to the batch before
        for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
            yield order[start:end], rng.choice(split.unlabelled, size, replace=False, shuffle=False)


def _labels_of(nodes: NDArray[np.int64], labels: NDArray[np.int64], device: str) -> Tensor:
    return torch.from_numpy(np.asarray(labels)[nodes]).to(device)


def _score(logits: Tensor, labels: Tensor) -> tuple[float, float]:
    """Mean cross-entropy and accuracy."""
    return F.cross_entropy(logits, labels).item(), (logits.argmax(dim=-1) == labels).float().mean().item()
