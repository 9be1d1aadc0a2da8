"""Successive halving: many candidates are trained for a short time, the better ones for longer, the best in full.

Source: K. Jamieson, A. Talwalkar. Non-stochastic best arm identification and hyperparameter optimization. AISTATS 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


@dataclass(frozen=True)
class Round:
    """How long candidates are trained, and how many go on.

    Attributes
    ----------
    steps : int
        At most, for each training.
    trials : tuple of int
        The trials, each with its seed and its split.
    enter : int or None
        How many of the candidates take part: the best of the round before, and always the first of all.
    """

    steps: int
    trials: tuple[int, ...]
    enter: int | None = None


ROUNDS = (Round(200, (0,)), Round(600, (0,), 12), Round(2000, (0, 1), 4))


@dataclass(frozen=True)
class Tried:
    """What is known of a candidate.

    Attributes
    ----------
    number : int
        In the order of the candidates.
    round : int
        The last that it took part in, from 0.
    scores : tuple of Score
        One for each trial of that round.
    """

    number: int
    round: int
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
        """Lower is better: by accuracy, then by loss, then by the order of the candidates."""
        return -self.accuracy, float(np.mean([score.loss for score in self.scores])), self.number


Scorer = Callable[[Round, list[int]], Sequence[tuple[Score, ...]]]


def halve(count: int, score: Scorer, rounds: Sequence[Round] = ROUNDS) -> list[Tried]:
    """Run all rounds.

    Parameters
    ----------
    count : int
        How many candidates there are.
    score : callable
        Takes a round and the numbers of candidates, and gives their scores in that order.
    rounds : sequence of Round

    Returns
    -------
    list of Tried
        One for each candidate, in their order.

    Examples
    --------
    Of four candidates, the better half goes on. The first one always does:

    >>> accuracy = [0.5, 0.9, 0.6, 0.8]
    >>> def score(of, numbers):
    ...     return [(Score(accuracy[number], 0.0, np.array([])),) for number in numbers]
    >>> tried = halve(4, score, (Round(10, (0,)), Round(20, (0,), 2)))
    >>> [candidate.round for candidate in tried]
    [1, 1, 0, 0]
    """
    tried: dict[int, Tried] = {}
    entering = list(range(count))
    for position, one in enumerate(rounds):
        if position:
            ranked = sorted((tried[number] for number in entering if number), key=lambda other: other.rank)
            others = [other.number for other in ranked if not other.failed]
            entering = [0, *sorted(others[: (one.enter or count) - 1])]
        for number, scores in zip(entering, score(one, entering), strict=True):
            tried[number] = Tried(number, position, scores)
    return [tried[number] for number in range(count)]


def winner(tried: Sequence[Tried]) -> Tried:
    """The best of the last round, or the first candidate, if the best is better by noise only.

    The first candidate is replaced if the best one is right on more validation nodes by more than one standard error
    of that difference, over the pairs of predictions of the same node. (The one-standard-error rule: L. Breiman et al.
    Classification and Regression Trees. 1984.)

    Parameters
    ----------
    tried : sequence of Tried
        Of all candidates, in their order.

    Examples
    --------
    On 100 nodes, three more are a gain if no node is lost, and noise if fifteen are won and twelve are lost:

    >>> first = np.arange(100) < 80
    >>> def candidate(number, right):
    ...     return Tried(number, 0, (Score(right.mean(), 0.0, right),))
    >>> winner([candidate(0, first), candidate(1, np.arange(100) < 83)]).number
    1
    >>> winner([candidate(0, first), candidate(1, (np.arange(100) >= 12) & (np.arange(100) < 95))]).number
    0
    """
    first = tried[0]
    last = max(candidate.round for candidate in tried)
    best = min((candidate for candidate in tried if candidate.round == last), key=lambda candidate: candidate.rank)
    if first.failed:
        return best
    return best if best.accuracy - first.accuracy > standard_error(first, best) else first


def standard_error(first: Tried, other: Tried) -> float:
    """That of the difference of two candidates' accuracies, over the validation nodes of all trials.

    Parameters
    ----------
    first, other : Tried
        Of the same round.
    """
    pairs = [
        b.right.astype(float) - a.right.astype(float) for a, b in zip(first.scores, other.scores, strict=True)
    ]  # 1, 0 or -1 for each node
    differences = np.concatenate(pairs)
    return float(differences.std() / np.sqrt(len(differences)))
