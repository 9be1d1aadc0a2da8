"""How much better one system is than another: intervals over trials, and over nodes and trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grandplus.evaluation.formats import points, points_interval
from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.resampling import over_nodes
from grandplus.evaluation.statistics import Difference, overlap_of_splits, paired, welch


class Gap(NamedTuple):
    """The mean accuracy of one system minus another's.

    Attributes
    ----------
    trials, nodes : Difference
        With the interval over trials, and the one over nodes and trials.
    """

    trials: Difference
    nodes: Difference

    def __str__(self) -> str:
        """The difference and both intervals, as two cells of a table."""
        of_trials, of_nodes = points_interval(self.trials.interval), points_interval(self.nodes.interval)
        return f"{points(self.trials.difference)} ({of_trials}) | {of_nodes}"


class Run(NamedTuple):
    """The trials of a system.

    Attributes
    ----------
    scores : sequence of float
        Their test accuracies, as shares.
    nodes : NodeScores
        Which nodes they have right.
    """

    scores: Sequence[float]
    nodes: NodeScores

    def first(self, trials: int) -> Run:
        """The same of the first trials alone."""
        return Run(self.scores[:trials], self.nodes.of_trials(slice(trials)))


def on_one_split(first: Run, second: Run) -> Gap:
    """If all trials have the same split, trials of two systems have nothing else in common."""
    trials = welch(first.scores, second.scores)
    return Gap(trials, over_nodes(trials, first.nodes, second.nodes, paired=False))


def on_random_splits(first: Run, second: Run, *, train: int) -> Gap:
    """If trial i has the same split in both; the splits of trials overlap. Of the trials that both have.

    Parameters
    ----------
    first, second : Run
    train : int
        How many nodes each trial trains on.
    """
    both = min(len(first.scores), len(second.scores))
    first, second = first.first(both), second.first(both)
    shared = overlap_of_splits(train=train, test=round(first.nodes.size))
    trials = paired(first.scores, second.scores, overlap=shared)
    return Gap(trials, over_nodes(trials, first.nodes, second.nodes, overlap=shared))
