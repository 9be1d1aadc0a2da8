"""Scores of trainings on validation nodes, and which settings they speak for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Score(NamedTuple):
    """How well one training did on its validation nodes.

    Attributes
    ----------
    accuracy, loss : float
    right : bool (v,)
        Which validation nodes are predicted right.
    failed : str
        Why there is no model; "" if there is one.
    """

    accuracy: float
    loss: float
    right: NDArray[np.bool_]
    failed: str = ""


@dataclass(frozen=True, eq=False)
class Tried:
    """What is known of a candidate.

    Attributes
    ----------
    number : int
        In the order in which candidates were first tried.
    steps : int
        For how long it was trained, at most.
    scores : tuple of Score
        One for each trial.
    """

    number: int
    steps: int
    scores: tuple[Score, ...]

    @property
    def accuracy(self) -> float:
        """The mean over the trials."""
        return float(np.mean([score.accuracy for score in self.scores]))

    @property
    def failed(self) -> str:
        """Why a trial has no model; "" if all have one."""
        return next((score.failed for score in self.scores if score.failed), "")

    @property
    def rank(self) -> tuple[float, float, int]:
        """Lower is better: by accuracy, then by loss, then by order."""
        return -self.accuracy, float(np.mean([score.loss for score in self.scores])), self.number


def best(tried: Sequence[Tried], count: int) -> list[Tried]:
    """The best candidates that could be trained.

    Parameters
    ----------
    tried : sequence of Tried
    count : int
        How many, at most.

    Examples
    --------
    The loss decides between equal accuracies, and the order between equal losses:

    >>> scores = [(0.8, 1.0), (0.9, 2.0), (0.9, 1.0), (0.9, 1.0)]
    >>> tried = [Tried(i, 10, (Score(*score, np.zeros(0, bool)),)) for i, score in enumerate(scores)]
    >>> [one.number for one in best(tried, 3)]
    [2, 3, 1]
    """
    return sorted((one for one in tried if not one.failed), key=lambda one: one.rank)[:count]


def winner(first: Tried, others: Sequence[Tried]) -> Tried:
    """The best of some candidates, or the first one, if the best is better by noise only.

    The first is replaced if the best one is right on more validation nodes by more than one standard error of that
    difference, over the pairs of predictions of the same node. (The one-standard-error rule: L. Breiman et al.
    Classification and Regression Trees. 1984.)

    Parameters
    ----------
    first : Tried
    others : sequence of Tried
        With the same trials.

    Examples
    --------
    On 100 nodes, three more are a gain if no node is lost, and noise if fifteen are won and twelve are lost:

    >>> def candidate(number, right):
    ...     return Tried(number, 10, (Score(right.mean(), 0.0, right),))
    >>> first = candidate(0, np.arange(100) < 80)
    >>> winner(first, [candidate(1, np.arange(100) < 83)]).number
    1
    >>> winner(first, [candidate(1, (np.arange(100) >= 12) & (np.arange(100) < 95))]).number
    0
    """
    better = best(others, 1)
    if not better:
        return first
    clear = better[0].accuracy - first.accuracy > standard_error(first, better[0])
    return better[0] if clear or first.failed else first


def standard_error(first: Tried, other: Tried) -> float:
    """That of the difference of two candidates' accuracies, over the validation nodes of all trials.

    Parameters
    ----------
    first, other : Tried
        With the same trials.
    """
    pairs = zip(first.scores, other.scores, strict=True)
    differences = np.concatenate([b.right.astype(float) - a.right.astype(float) for a, b in pairs])  # 1, 0 or -1
    return float(differences.std() / np.sqrt(len(differences)))
