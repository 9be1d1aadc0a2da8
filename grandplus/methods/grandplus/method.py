"""GRAND+ (the paper's Algorithm 2) in plain PyTorch, from drawing batches to early stopping.

``Plain`` has what a step computes, on any device; on the CPU ``Fused`` computes the same in a fraction of the time.
Shapes: n nodes, d features, C classes; rows of Π keep k neighbours; a step has b nodes, those with a label first, and
M augmentations of each, one augmentation after the other.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from grandplus.graph.splits import Split
from grandplus.methods.grandplus.adam import Adam
from grandplus.methods.grandplus.fused.backend import Fused
from grandplus.methods.grandplus.mlp import MLP, Noise, Snapshot, layer_input, sparse_tensor
from grandplus.methods.grandplus.model import Model
from grandplus.methods.grandplus.settings import VALIDATE_EVERY, Settings
from grandplus.methods.losses import consistency_loss, supervised_loss
from grandplus.methods.protocol import Scores, Task, Trained
from grandplus.methods.scores import decisive_scores, part_scores
from grandplus.methods.start import begin
from grandplus.methods.training import STANDARDIZE, seeded, weights_of
from grandplus.runtime.errors import ArgumentError, GrandPlusError

LONGEST_CONSTANT = 2  # times the patience: how long validation accuracy may stay the same
LONGEST_TIE = 8  # times the patience: how long validations may equal the best ones
LOSS_STEP = 0.01  # by how much the validation loss has to fall to count as a record
LEAST_FALL = 0.001  # by which share of it, where that is more
Nodes: TypeAlias = NDArray[np.int64]
Info: TypeAlias = dict[str, Any] | None
Watch: TypeAlias = Callable[[Scores], None] | None


def fit(
    task: Task, settings: Settings, *, info: Info = None, watch: Watch = None, stopping: EarlyStopping | None = None
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
        val_loss, val_accuracy, train_top_share, val_top_share (on undropped rows, so they compare) and
        consistency_loss (of that step's batch).
    stopping : EarlyStopping, optional
        By default one with the settings' patience.

    Raises
    ------
    ArgumentError
        There are no rows; dense features are to be embedded.
    GrandPlusError
        The loss is no longer finite; there are too few nodes for BatchNorm.
    """
    if task.rows is None:
        raise ArgumentError("there are no rows of Π to train on", expected="rows of the split's nodes")
    if settings.embed and not sp.issparse(task.graph.features):
        raise ArgumentError("train.embed is true, but the features are dense", fix="set train.embed to false")
    stopping = stopping or EarlyStopping(settings.patience)
    mlp, history, steps = _train(task, settings, Fused if task.device == "cpu" else Plain, stopping, watch)
    best = history["val_accuracy"][history["step"].index(stopping.best_step)]
    info = dict(info or {}, steps=steps, best_step=stopping.best_step, val_accuracy=best)
    common: Any = {"settings": settings, "preprocessing": task.graph.fitted.to_json(), "info": info}
    return Trained(Model(mlp=mlp, weights=task.rows.info.weights, classes=task.graph.classes, **common), history)


def _train(
    task: Task, settings: Settings, backend: type[Plain | Fused], stopping: EarlyStopping, watch: Watch = None
) -> tuple[MLP, dict[str, list[float]], int]:
    """The MLP of the best validation, the scores of each one by name, and how many steps there were."""
    split, device, labels = task.split, task.device, np.asarray(task.graph.labels)
    history = list[Scores]()
    with seeded(task) as rng:
        mlp = MLP(int(task.graph.features.shape[1]), len(task.graph.classes), settings).to(device)
        begin(mlp, task, settings)
        compute: Any = backend(task, settings, mlp, rng)
        # What validation looks at is constant, as nothing is dropped from it.
        watched = np.concatenate([split.train, split.val])
        watched_inputs, watched_labels = compute.undropped(watched), torch.from_numpy(labels[watched]).to(device)
        parts = {"train": slice(len(split.train)), "val": slice(len(split.train), None)}
        for step, (labelled, inputs) in enumerate(compute.inputs(batches(split, settings, rng))):
            weight = warmup_weight(step, lambda_max=settings.lambda_max, warmup=settings.warmup)
            loss, consistency = compute.step(inputs, labels[labelled], weight)
            if not math.isfinite(loss):
                message = f"the loss became {loss} at step {step}"
                raise GrandPlusError(message, fix="lower train.lr, or set train.clip" if step else STANDARDIZE)
            if step % VALIDATE_EVERY:
                continue
            scores, outputs = {"step": float(step), "consistency_loss": consistency}, compute.evaluate(watched_inputs)
            for part, nodes in parts.items():
                scores |= part_scores(part, outputs[nodes], watched_labels[nodes])
            history.append(scores)
            if watch:
                watch(scores)
            val = parts["val"]
            accuracy, loss = decisive_scores(scores, outputs[val], watched_labels[val], compute.weights)
            if stopping.update(step, accuracy, loss, mlp):
                break
    mlp.load_state_dict(stopping.best.state)
    return mlp, {name: [scores[name] for scores in history] for name in history[0]}, step + 1


def batches(split: Split, settings: Settings, rng: np.random.Generator) -> Iterator[tuple[Nodes, Nodes]]:
    """L_t and U_t of each step: L is shuffled each epoch, U_t drawn afresh without replacement."""
    size = min(settings.batch_unlabelled, len(split.unlabelled))
    if settings.batchnorm and len(split.train) + size < 2:
        message = "there is one labelled node and no unlabelled one, and BatchNorm needs two"
        raise GrandPlusError(message, fix="label more nodes, or set train.batchnorm to false")
    if settings.batchnorm and settings.batch_labelled + size < 2:
        message = "each batch is of one labelled node and no unlabelled one, and BatchNorm needs two"
        raise GrandPlusError(message, fix="set train.batch_labelled to 2 or more, or train.batchnorm to false")
    for _ in range(settings.max_epochs):
        order = rng.permutation(split.train)
        starts = list(range(0, len(order), settings.batch_labelled))
        if len(starts) > 1 and len(order) - starts[-1] + size == 1:
            starts.pop()  # BatchNorm can't take a batch of one: leave it to the batch before
        for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
            yield order[start:end], rng.choice(split.unlabelled, size, replace=False, shuffle=False)


class Plain:
    """What a step computes, in PyTorch's own functions; ``rng`` is for backends that draw by another generator."""

    def __init__(self, task: Task, settings: Settings, mlp: MLP, rng: np.random.Generator) -> None:
        assert task.rows is not None
        self.settings, self.mlp, self.device, self.noise = settings, mlp, task.device, Noise()
        # Only the features that rows need are kept. A row that has ended goes on with node -1, and 0.
        nodes, numbers = np.unique(task.rows.neighbors, return_inverse=True)
        features = task.graph.features[nodes]
        self.features = features if sp.issparse(features) else torch.from_numpy(features).to(self.device)  # (u, d)
        home = "cpu" if sp.issparse(features) else self.device  # of what meets the features
        self.positions = task.rows.positions
        self.neighbors = torch.from_numpy(numbers.reshape(task.rows.neighbors.shape)).to(home)  # (r, k)
        self.values = torch.tensor(task.rows.values).to(home)  # (r, k)
        self.adam = Adam(mlp.parameters(), settings.lr, settings.weight_decay, settings.clip, mlp.embedding)
        self.weights = weights_of(task, settings)

    def inputs(self, batches: Iterable[tuple[Nodes, Nodes]]) -> Iterator[tuple[Nodes, Tensor]]:
        """The labelled nodes of each batch, and what ``step`` takes."""
        for labelled, unlabelled in batches:
            yield labelled, self.augmented(np.concatenate([labelled, unlabelled]))

    def step(self, inputs: Any, labels: NDArray[np.int64], weight: float) -> tuple[float, float]:
        """Train on a batch, whose first nodes have these labels (l,): the total loss, the consistency loss."""
        logits = self.logits(inputs).view(self.settings.augmentations, len(inputs) // self.settings.augmentations, -1)
        supervised = supervised_loss(logits[:, : len(labels)], torch.from_numpy(labels).to(self.device), self.weights)
        consistency = consistency_loss(
            logits[:, len(labels) :],
            temperature=self.settings.temperature,
            threshold=self.settings.threshold(logits.shape[-1]),
            distance=self.settings.distance,
            mean=self.settings.consistency_mean,
        )
        loss = supervised + weight * consistency  # Eq. 14
        loss.backward()  # type: ignore[no-untyped-call]
        self.adam.step()
        return loss.item(), consistency.item()

    def augmented(self, nodes: Nodes) -> Tensor:
        """Random propagation (Eq. 8): X̄_s = Σ z_v Π̃(s,v) X_v, with z drawn for each entry of a row: (M · b, d)."""
        rows = np.tile(self.positions(nodes), self.settings.augmentations)
        return self._mixed(rows, self.noise.dropnode(self.values[rows], self.settings.dropnode))

    def evaluate(self, inputs: Tensor) -> Tensor:
        """Logits (b, C) with nothing dropped."""
        return self.mlp.evaluate(inputs)

    def undropped(self, nodes: Nodes) -> Tensor:
        """What ``evaluate`` takes of nodes (b,), the mean of Eq. 8: (b, d)."""
        rows = self.positions(nodes)
        return self._mixed(rows, self.values[rows] * (1 - self.settings.dropnode))

    def _mixed(self, rows: Nodes, values: Tensor) -> Tensor:
        """Σ_v values(s,v) X_v of values (b, k), divided by their sum if rows are to be renormalised."""
        if self.settings.renormalize:
            values = F.normalize(values, p=1, dim=1)  # a row of which nothing has survived stays 0
        if isinstance(self.features, Tensor):
            return F.embedding_bag(self.neighbors[rows], self.features, per_sample_weights=values, mode="sum")
        # scipy's product of two sparse matrices is faster than PyTorch's.
        indptr = np.arange(0, values.numel() + 1, values.shape[1])
        entries = values.flatten().numpy(), self.neighbors[rows].flatten().numpy(), indptr
        sparse_rows = sp.csr_array(entries, shape=(len(values), self.features.shape[0]))
        sparse_rows.eliminate_zeros()
        mixed = sparse_rows @ self.features
        stays_sparse = self.mlp.embedding is not None
        return (sparse_tensor(mixed) if stays_sparse else torch.from_numpy(mixed.toarray())).to(self.device)

    def logits(self, inputs: Tensor) -> Tensor:
        """(M · b, C) of the augmented inputs, with dropout."""
        if self.mlp.embedding is not None:
            inputs = self.mlp.embedding(inputs)  # H = X̄W⁰ (Eq. 9)
        regularised = functools.partial(layer_input, augmentations=self.settings.augmentations, noise=self.noise)
        return self.mlp.forward(inputs, regularised)


def warmup_weight(step: int, *, lambda_max: float, warmup: int) -> float:
    """λ(t) = λ_max · min(1, t / warm-up).

    >>> [warmup_weight(step, lambda_max=1.0, warmup=4) for step in (0, 1, 4, 9)]
    [0.0, 0.25, 1.0, 1.0]
    """
    return lambda_max * min(1.0, step / warmup) if warmup else lambda_max


@dataclass(eq=False)
class EarlyStopping:
    """Keeps the parameters of the highest validation accuracy, the latest of equals; says when to stop.

    Patience is used up by validations that reach neither the best accuracy nor the lowest loss so far. Reaching them
    again prolongs a run, but not for ever. It also ends

    - after ``LONGEST_CONSTANT · patience`` validations of the same accuracy, as where one class is predicted for ever;
    - after ``LONGEST_TIE · patience`` validations without a record, which is an accuracy above all earlier ones, or a
      finite loss that is ``LOSS_STEP``, and the share ``LEAST_FALL`` of itself, below that of the last record.

    So, without class weights, a run whose first finite loss is l, on v validation nodes, has at most
    (v + l / LOSS_STEP + 2) · LONGEST_TIE · patience validations; where l is above c = LOSS_STEP / LEAST_FALL, that is
    (v + c / LOSS_STEP + ln(l / c) / ln(1 + LEAST_FALL) + 3) · LONGEST_TIE · patience. The constants leave the trials of
    the paper's Table 2 as they were (``benchmarks/early_stopping``).
    """

    patience: int
    best_accuracy: float = -math.inf
    best_loss: float = math.inf
    best_step: int = -1
    best: Snapshot = field(default_factory=Snapshot)
    without_gain: int = 0
    without_record: int = 0
    without_change: int = 0
    record_loss: float = math.inf
    last_accuracy: float = -math.inf

    def update(self, step: int, accuracy: float, loss: float, mlp: MLP) -> bool:
        """Take note of a validation; True if it is time to stop."""
        fell = math.isfinite(loss) and loss <= self.record_loss - max(LOSS_STEP, LEAST_FALL * abs(loss))
        record = accuracy > self.best_accuracy or fell
        if record:
            self.record_loss = min(self.record_loss, loss)
        gained = accuracy >= self.best_accuracy or loss <= self.best_loss
        self.without_gain = 0 if gained else self.without_gain + 1
        self.without_record = 0 if record else self.without_record + 1
        self.without_change = self.without_change + 1 if accuracy == self.last_accuracy else 0
        self.last_accuracy = accuracy
        if accuracy >= self.best_accuracy:
            self.best_accuracy, self.best_step = accuracy, step
            self.best.take(mlp)
        self.best_loss = min(self.best_loss, loss)
        return (
            self.without_gain >= self.patience
            or self.without_change >= LONGEST_CONSTANT * self.patience
            or self.without_record >= LONGEST_TIE * self.patience
        )
