"""When training ends, and which of its weights are kept: the rules of the methods' authors.

A rule has ``update``, which takes the validation's accuracy and loss once an epoch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias

Watched: TypeAlias = Literal["accuracy", "loss", "either"]


class Decision(NamedTuple):
    """What a rule says of an epoch."""

    keep: bool  # its weights take the place of those kept before
    stop: bool


class Stopping(Protocol):
    """A rule, which remembers the epochs that it has seen.

    Attributes
    ----------
    keeps_last : bool
        Whether it keeps the weights of every epoch, so those of the last one.
    """

    @property
    def keeps_last(self) -> bool: ...

    def update(self, accuracy: float, loss: float) -> Decision:
        """Take note of an epoch's validation."""


class LastWeights:
    """Training goes on to its last epoch, and the weights of that epoch are kept.

    Examples
    --------
    >>> LastWeights().update(accuracy=0.5, loss=1.0)
    Decision(keep=True, stop=False)
    """

    keeps_last: ClassVar[bool] = True

    def update(self, accuracy: float, loss: float) -> Decision:
        return Decision(keep=True, stop=False)


@dataclass
class RisingLoss:
    """Stops once the mean of the last losses is above the mean of those before; the last weights are kept.

    Source: the programs of GCN (``recent=1``) and FastGCN (``recent=2``).

    Attributes
    ----------
    window : int
        How many losses are compared with, from the one before the last on.
    recent : int
        How many of the last losses are averaged.

    Examples
    --------
    >>> rule = RisingLoss(window=2)
    >>> [rule.update(accuracy=0.5, loss=loss).stop for loss in (3.0, 2.0, 1.0, 2.0)]
    [False, False, False, True]
    """

    keeps_last: ClassVar[bool] = True

    window: int
    recent: int = 1
    losses: list[float] = field(default_factory=list)

    def update(self, accuracy: float, loss: float) -> Decision:
        self.losses.append(loss)
        if len(self.losses) <= self.window + 1:
            return Decision(keep=True, stop=False)
        before = self.losses[-self.window - 1 : -1]
        recent = self.losses[-self.recent :]
        return Decision(keep=True, stop=sum(recent) / len(recent) > sum(before) / len(before))


@dataclass
class Patience:
    """Stops after some epochs in a row in which what is watched did not reach its best so far.

    Attributes
    ----------
    patience : int
        So many epochs; 0: training goes on to its last one.
    watched : {"accuracy", "loss", "either"}
        What has to reach its best, where equal values count: the accuracy, the loss, or one of both.
    kept : {"accuracy", "loss", "both"}
        Which epoch's weights are kept: that of the highest accuracy, that of the lowest loss, or the latest one that
        reached the best of both.
    ties : {"loss", "latest", "first"}
        Which one is kept of epochs that have the highest accuracy: that of the lowest loss, the latest, or the first.
        With "first" an accuracy that equals the best one does not reach it.

    Examples
    --------
    >>> rule = Patience(2, watched="accuracy", kept="accuracy")
    >>> [tuple(rule.update(accuracy=value, loss=1.0)) for value in (0.5, 0.6, 0.4, 0.5)]
    [(True, False), (True, False), (False, False), (False, True)]
    """

    keeps_last: ClassVar[bool] = False

    patience: int
    watched: Watched
    kept: Literal["accuracy", "loss", "both"]
    ties: Literal["loss", "latest", "first"] = "loss"
    best_accuracy: float = -math.inf
    best_loss: float = math.inf
    kept_loss: float = math.inf
    without_gain: int = 0

    def update(self, accuracy: float, loss: float) -> Decision:
        record, equal = accuracy > self.best_accuracy, self.ties != "first" and accuracy == self.best_accuracy
        higher, lower = record or equal, loss <= self.best_loss
        reached = {"accuracy": higher, "loss": lower, "either": higher or lower}[self.watched]
        self.without_gain = 0 if reached else self.without_gain + 1
        by_accuracy = record or (equal and (self.ties == "latest" or loss <= self.kept_loss))
        keep = {"accuracy": by_accuracy, "loss": lower, "both": higher and lower}[self.kept]
        if keep:
            self.kept_loss = loss
        self.best_accuracy, self.best_loss = max(accuracy, self.best_accuracy), min(loss, self.best_loss)
        return Decision(keep, stop=0 < self.patience <= self.without_gain)
