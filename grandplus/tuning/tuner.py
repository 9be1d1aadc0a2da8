"""Tuning: the portfolio is compared on validation nodes, first briefly, and the best of it in full."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.propagation.gfpush import gfpush
from grandplus.runtime import pools
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.progress import Progress, Silent
from grandplus.tuning.candidates import Candidate, distinct
from grandplus.tuning.outcome import Outcome
from grandplus.tuning.portfolio import PROPAGATION, TRAINING, Change
from grandplus.tuning.scores import Score, Tried, best, winner
from grandplus.tuning.training import Training, kept, score

TRIALS = 2  # of each candidate, each with its seed and its split
BRIEFLY, FULLY = 300, 1500  # steps at most
FINALISTS = 3  # beside the first candidate


class Dataset(Protocol):
    """What is tuned: settings, and the graphs that they lead to."""

    def candidate(self, change: Change) -> Candidate:
        """The settings with a change.

        Parameters
        ----------
        change : dict
        """

    def graph(self, candidate: Candidate) -> Path:
        """A folder with the graph as a candidate preprocesses it, and the splits of ``TRIALS`` trials.

        Parameters
        ----------
        candidate : Candidate
        """


def tune(
    dataset: Dataset,
    folder: Path,
    *,
    propagation: Sequence[Change] = PROPAGATION,
    training: Sequence[Change] = TRAINING,
    seed: int = 0,
    workers: int = 1,
    name: str = "",
) -> Outcome:
    """Compare settings on validation nodes; no label of a test node is seen.

    All propagations are trained briefly, then all settings of training with the best propagation, then the best three
    of all and the first one in full. The outcome is the same for any number of workers. Scores are kept, so tuning
    that was interrupted goes on.

    Parameters
    ----------
    dataset : Dataset
    folder : Path
        For rows and scores. Its name must depend on the graph, the splits and the code, as its scores are reused.
    propagation, training : sequence of dict, optional
        The portfolio. The first propagation is what is to be improved on.
    seed : int
        Trial i is trained with the seed (seed, i).
    workers : int
        Processes; with 1, all is done here.
    name : str, optional
        Under which progress is shown; by default none is.

    Returns
    -------
    Outcome

    Raises
    ------
    GrandPlusError
        None of the settings can be trained.
    """
    folder_of_graph = dataset.graph(dataset.candidate(propagation[0]))
    graph = Graph.load(folder_of_graph)
    candidates = distinct([], propagation, dataset.candidate, graph)
    scores = folder / "scores"
    scores.mkdir(parents=True, exist_ok=True)
    rows = _RowFolders(folder, graph, max(candidate.gfpush.top_k for candidate in candidates))

    def train(numbers: Sequence[int], steps: int) -> list[Tried]:
        trainings = []
        for candidate in (candidates[number] for number in numbers):
            place = dataset.graph(candidate)
            for trial in range(TRIALS):
                training = Training(candidate, place, rows.of(candidate), seed, trial, steps)
                if not kept(scores, training):
                    rows.make(candidate, place)
                trainings.append(training)
        results = []
        for result in _map(pool, functools.partial(score, scores), trainings):
            results.append(result)
            bar.update(steps)
        starts = range(0, len(results), TRIALS)
        parts = [tuple(results[start : start + TRIALS]) for start in starts]
        return [Tried(number, steps, part) for number, part in zip(numbers, parts, strict=True)]

    with _pool(workers) as pool, _progress(name, len(candidates) + len(training)) as bar:
        tried = train(range(len(candidates)), BRIEFLY)
        for found in best(tried, 1):
            changes = [candidates[found.number].change | change for change in training]
            further = distinct(candidates, changes, dataset.candidate, graph)
            candidates += further
            tried += train(range(len(tried), len(candidates)), BRIEFLY)
        finalists = sorted(one.number for one in best(tried[1:], FINALISTS))
        first, *others = train([0, *finalists], FULLY)
    for one in (first, *others):
        tried[one.number] = one
    rows.remove()
    chosen = winner(first, others)
    if chosen.failed:
        raise GrandPlusError(f"none of {len(tried)} settings could be trained: {chosen.failed}")
    return Outcome(candidates, tried, chosen.number, _majority(graph.labels, Splits.load(folder_of_graph)))


def _majority(labels: NDArray[np.int64], splits: Splits) -> float:
    """The share of validation nodes of their most frequent class, mean of the trials."""
    counts = [np.bincount(labels[splits.of(trial).val]) for trial in range(TRIALS)]
    return float(np.mean([count.max() / count.sum() for count in counts]))


class _RowFolders:
    """Rows of the nodes that trials need: those of a matrix are pushed once, when they are first needed, with k large
    enough for all."""

    def __init__(self, folder: Path, graph: Graph, top_k: int) -> None:
        self._folder, self._graph, self._top_k = folder, graph, top_k

    def of(self, candidate: Candidate) -> Path:
        """The folder of a candidate's rows."""
        push = [candidate.matrix.weights().tolist(), candidate.gfpush.rmax, self._width(candidate)]
        return self._folder / f"rows-{hashlib.sha256(json.dumps(push).encode()).hexdigest()[:16]}"

    def make(self, candidate: Candidate, graph: Path) -> None:
        target = self.of(candidate)
        if target.exists():
            return
        nodes, weights = Splits.load(graph).needing_rows(), candidate.matrix.weights()
        width = self._width(candidate)
        rows = gfpush(self._graph, nodes, weights=weights, rmax=candidate.gfpush.rmax, top_k=width)
        partial = target.with_name(f"{target.name}.partial")
        rows.save(partial)
        partial.rename(target)

    def remove(self) -> None:
        for folder in self._folder.glob("rows-*"):
            shutil.rmtree(folder)

    def _width(self, candidate: Candidate) -> int:
        return max(self._top_k, candidate.gfpush.top_k)


def _progress(name: str, candidates: int) -> Progress | Silent:
    """Of steps, at most."""
    steps = TRIALS * (candidates * BRIEFLY + (1 + FINALISTS) * FULLY)
    return Progress(name, steps, "step") if name else Silent()


def _map(pool: Executor | None, function: Callable[..., Score], trainings: list[Training]) -> Iterator[Score]:
    tasks = ((training,) for training in trainings)
    if pool is None:
        return (function(*task) for task in tasks)
    return pools.map_in_order(pool, function, tasks, ahead=len(trainings))


@contextmanager
def _pool(workers: int) -> Iterator[Executor | None]:
    if workers == 1:
        yield None
        return
    with pools.processes(workers) as pool:
        yield pool
