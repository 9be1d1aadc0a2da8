"""One training of a candidate, in a process of its own or here: its graph and rows are read from folders."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split, Splits
from grandplus.methods.fitting import fit
from grandplus.methods.protocol import Task, Trained
from grandplus.methods.training import one_thread
from grandplus.propagation.rows import Rows
from grandplus.runtime.errors import GrandPlusError, ShortageError
from grandplus.runtime.storage import finished_whole
from grandplus.tuning.candidates import Candidate
from grandplus.tuning.scores import Score


@dataclass(frozen=True)
class Training:
    """What is to be trained.

    Attributes
    ----------
    candidate : Candidate
    graph : Path
        A folder with the graph and the splits of all trials.
    rows : Path
        A folder with rows of the candidate's matrix, of k entries or more.
    seed, trial : int
    steps : int
        At most.
    """

    candidate: Candidate
    graph: Path
    rows: Path
    seed: int
    trial: int
    steps: int

    @property
    def key(self) -> str:
        """A digest of all of it but the folders."""
        values = [self.candidate.values(), self.seed, self.trial, self.steps]
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def score(scores: Path, training: Training) -> Score:
    """Train, and score on the trial's validation nodes; a score that the folder has is read.

    The labels of all other nodes but those to train on are hidden. That settings can't be trained is a score too; that
    memory or disk is too small for now is an error.

    Parameters
    ----------
    scores : Path
        A folder of scores.
    training : Training
    """
    file = _file(scores, training)
    if not file.exists():
        with finished_whole(file) as partial:
            partial.write_text(json.dumps(_to_json(_score(training))), encoding="utf-8")
    return _from_json(json.loads(file.read_text(encoding="utf-8")))


def kept(scores: Path, training: Training) -> bool:
    """Whether a folder has the score of a training.

    Parameters
    ----------
    scores : Path
    training : Training
    """
    return _file(scores, training).exists()


def _file(scores: Path, training: Training) -> Path:
    return scores / f"{training.key}.json"


def _score(training: Training) -> Score:
    graph, splits = _graph(training.graph)
    split = splits.of(training.trial)
    task, settings = _task(training, graph, split), _shortened(training, split)
    try:
        with one_thread():
            return _scored(fit(task, settings), graph, split)
    except ShortageError:
        raise
    except GrandPlusError as error:
        return Score(0.0, np.inf, np.zeros(len(split.val), bool), str(error))


def _task(training: Training, graph: Graph, split: Split) -> Task:
    seen = np.full_like(graph.labels, -1)
    for nodes in (split.train, split.val):
        seen[nodes] = graph.labels[nodes]
    rows = _rows(training.rows).largest(training.candidate.gfpush.top_k)
    return Task(replace(graph, labels=seen), split, rows, seed=[training.seed, training.trial])


def _shortened(training: Training, split: Split) -> Any:
    """The settings of training, with at most so many steps: an epoch at least."""
    settings: Any = training.candidate.train
    epoch = -(-len(split.train) // settings.batch_labelled)
    return settings.model_copy(update={"max_epochs": min(settings.max_epochs, -(-training.steps // epoch))})


def _scored(trained: Trained, graph: Graph, split: Split) -> Score:
    """By exact inference, as the pipeline's metrics have it: rows that were cut short can mislead."""
    probabilities = trained.model.predict_proba(graph)[split.val]
    labels = graph.labels[split.val]
    right = probabilities.argmax(axis=1) == labels
    of_label = np.maximum(probabilities[np.arange(len(labels)), labels], np.finfo(np.float32).tiny)
    return Score(float(right.mean()), float(-np.log(of_label, dtype=np.float64).mean()), right)


def _to_json(score: Score) -> dict[str, Any]:
    return score._asdict() | {"right": "".join("1" if right else "0" for right in score.right.tolist())}


def _from_json(content: dict[str, Any]) -> Score:
    right: NDArray[np.bool_] = np.array([digit == "1" for digit in content["right"]], bool)
    return Score(**content | {"right": right})


@functools.lru_cache(maxsize=4)
def _graph(folder: Path) -> tuple[Graph, Splits]:
    """Once for the trainings of a process that share them."""
    return Graph.load(folder), Splits.load(folder)


@functools.lru_cache(maxsize=4)
def _rows(folder: Path) -> Rows:
    return Rows.load(folder)
