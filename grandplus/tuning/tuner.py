"""Tuning: what candidates have in common is made once, then they are compared round by round."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.splits import Splits
from grandplus.propagation.gfpush import gfpush
from grandplus.runtime import pools
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.progress import Progress, Silent
from grandplus.tuning.candidates import Candidate
from grandplus.tuning.halving import ROUNDS, Round, Score, halve, winner
from grandplus.tuning.outcome import Outcome
from grandplus.tuning.training import Training, score

TRIALS = 1 + max(trial for one in ROUNDS for trial in one.trials)


def tune(
    candidates: Sequence[Candidate],
    graph_of: Callable[[Candidate], Path],
    folder: Path,
    *,
    seed: int = 0,
    workers: int = 1,
    name: str = "",
) -> Outcome:
    """Compare candidates on validation nodes; no label of a test node is seen.

    The outcome is the same for any number of workers. Scores are kept, so tuning that was interrupted goes on.

    Parameters
    ----------
    candidates : sequence of Candidate
        The first is the one to be improved on.
    graph_of : callable
        Gives a folder with the graph of a candidate and the splits of ``TRIALS`` trials.
    folder : Path
        For rows and scores. Its name must depend on the graph, the splits and the code, as what it holds is reused.
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
        None of the candidates can be trained.
    """
    graphs = [graph_of(candidate) for candidate in candidates]
    inputs = list(zip(candidates, graphs, _push(candidates, graphs[0], folder), strict=True))
    scores = folder / "scores"
    scores.mkdir(parents=True, exist_ok=True)
    best = 0.0

    def train(one: Round, numbers: list[int]) -> list[tuple[Score, ...]]:
        nonlocal best
        trainings = [Training(*inputs[number], seed, trial, one.steps) for number in numbers for trial in one.trials]
        results = []
        for result in _map(pool, functools.partial(score, scores), trainings):
            results.append(result)
            best = max(best, result.accuracy)
            bar.update(one.steps)
        each = len(one.trials)
        return [tuple(results[start : start + each]) for start in range(0, len(results), each)]

    total = sum(one.steps * len(one.trials) * min(one.enter or len(inputs), len(inputs)) for one in ROUNDS)
    shown = Progress(name, total, "step", note=lambda: f"best so far {best:.1%}") if name else Silent()
    with _pool(workers) as pool, shown as bar:
        tried = halve(len(inputs), train)
    chosen = winner(tried)
    if chosen.failed:
        raise GrandPlusError(f"none of {len(tried)} settings could be trained: {chosen.failed}")
    return Outcome(list(candidates), tried, chosen.number)


def _push(candidates: Sequence[Candidate], graph: Path, folder: Path) -> list[Path]:
    """The folder with the rows of each candidate: those of a matrix are pushed once, with the largest k."""
    adjacency, nodes = Adjacency.load(graph), Splits.load(graph).needing_rows()
    keys = [(tuple(candidate.matrix.weights().tolist()), candidate.gfpush.rmax) for candidate in candidates]
    largest = dict.fromkeys(keys, 0)
    for key, candidate in zip(keys, candidates, strict=True):
        largest[key] = max(largest[key], candidate.gfpush.top_k)
    folders = {}
    for (weights, rmax), top_k in largest.items():
        digest = hashlib.sha256(json.dumps([weights, rmax, top_k]).encode()).hexdigest()[:16]
        target, partial = (folder / f"rows-{digest}{ending}" for ending in ("", ".partial"))
        if not target.exists():
            gfpush(adjacency, nodes, weights=weights, rmax=rmax, top_k=top_k).save(partial)
            partial.rename(target)
        folders[weights, rmax] = target
    return [folders[key] for key in keys]


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
