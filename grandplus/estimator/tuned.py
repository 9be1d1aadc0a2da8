"""Tuning on arrays in memory: the portfolio is compared, and a classifier is fitted with the best of it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.estimator.arguments import read_arguments
from grandplus.estimator.base import one_thread
from grandplus.estimator.grandplus import GrandPlusClassifier
from grandplus.estimator.parameters import given_parameters, named_as_parameters, preprocessing_of, sections_of
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.runtime import environment
from grandplus.runtime.errors import ArgumentError, argument_errors
from grandplus.tuning import tuner
from grandplus.tuning.candidates import Candidate, distinct
from grandplus.tuning.portfolio import PORTFOLIO, Change


def tune(
    graph: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    train: ArrayLike | None = None,
    val: ArrayLike | None = None,
    test: ArrayLike | None = None,
    n_jobs: int = 1,
    **parameters: Any,
) -> GrandPlusClassifier:
    """Choose a classifier's parameters on validation nodes, and fit it.

    A fixed portfolio of about 24 settings is compared: matrix and order, weight decay, layers, k, and the scaling of
    features. All of them are trained for a short time, the better half for longer, and the best four as a classifier
    is fitted, in two trials with splits and seeds of their own. The highest validation accuracy is taken, or the
    parameters as they were, if the difference is within its standard error. Labels of test nodes have no part in it.
    The result is the same each time, and for any ``n_jobs``.

    Parameters
    ----------
    graph, X, y, train, val, test
        As in `GrandPlusClassifier.fit`.
    n_jobs : int, default=1
        How many settings are trained side by side, each in a process of its own; -1: as many as ``GRANDPLUS_WORKERS``
        says, or as there are cores. A script then needs ``if __name__ == "__main__":``.
    **parameters
        Those of `GrandPlusClassifier`. One that is given keeps its value: settings that would change it are left out.

    Returns
    -------
    GrandPlusClassifier
        Fitted, with one attribute more: ``tuning_``, an `Outcome`. ``tuning_.before`` and ``tuning_.after`` are the
        validation accuracies without and with tuning, and ``tuning_.table()`` is a list of all settings that were
        tried, as ``pandas.DataFrame`` takes it. Chosen as the highest of many, ``after`` is likely to be a little too
        high: test nodes tell how good the result is.

    Raises
    ------
    ArgumentError
        An argument or a parameter is not what it should be. It is a ``ValueError``.
    GrandPlusError
        Training fails, or needs more memory than there is.

    Examples
    --------
    A ring of two halves, whose features are mostly noise: nodes far away help.

    >>> import numpy as np
    >>> import grandplus as gp
    >>> ring = np.array([range(80), [*range(1, 80), 0]])
    >>> y = np.repeat([0, 1], 40)
    >>> X = y[:, None] + np.random.default_rng(0).standard_normal((80, 2))
    >>> short = {"max_epochs": 10, "warmup": 0, "train_per_class": 10, "val_per_class": 25}
    >>> classifier = gp.tune(ring, X, y, weight_decay=0.001, **short)
    >>> classifier.matrix, classifier.order
    ('avg', 10)
    >>> f"{classifier.tuning_.before:.0%} of validation nodes before, {classifier.tuning_.after:.0%} after"
    '75% of validation nodes before, 79% after'
    """
    workers = _workers(n_jobs)
    classifier = GrandPlusClassifier(**parameters)
    parts = {"train": train, "val": val, "test": test}
    with tempfile.TemporaryDirectory(prefix="grandplus-tune-") as folder:
        with named_as_parameters(), argument_errors("tune"):
            given = given_parameters(classifier)
            raw = read_arguments(graph, X, y, parts, edge_weights=classifier.edge_weights).raw
            graphs = _Graphs(raw, given["random_state"], Path(folder))
            candidates = _candidates(classifier, given, set(parameters), graphs)
        name = "tune" if classifier.verbose else ""
        with named_as_parameters(), one_thread():
            outcome = tuner.tune(
                candidates, graphs.folder_of, Path(folder), seed=given["random_state"], workers=workers, name=name
            )
    classifier.set_params(random_state=given["random_state"], **outcome.change).fit(graph, X, y, **parts)
    classifier.tuning_ = outcome
    return classifier


class _Graphs:
    """Graphs and splits, preprocessed once for each scaling of the features, in a folder each."""

    def __init__(self, raw: RawGraph, seed: int, folder: Path) -> None:
        self.raw, self._seed, self._folder = raw, seed, folder
        self._folders: dict[Preprocess, Path] = {}

    def folder_of(self, candidate: Candidate) -> Path:
        return self.folder_for(candidate.preprocess)

    def folder_for(self, settings: Preprocess) -> Path:
        if settings not in self._folders:
            graph, splits = preprocess(self.raw, settings, seed=self._seed, trials=tuner.TRIALS, name="tune")
            folder = self._folder / f"graph-{len(self._folders)}"
            folder.mkdir()
            graph.save(folder)
            splits.save(folder)
            self._folders[settings] = folder
        return self._folders[settings]


def _candidates(
    classifier: GrandPlusClassifier, given: dict[str, Any], fixed: set[str], graphs: _Graphs
) -> list[Candidate]:
    """The classifier as it is, and as the portfolio changes it; what was given is fixed."""
    graph = Graph.load(graphs.folder_for(preprocessing_of(given, graphs.raw)))

    def resolve(change: Change) -> Candidate:
        changed = given | change
        sections = sections_of(changed, "grandplus")
        assert sections.pushing
        matrix, gfpush = sections.pushing.matrix, sections.pushing.gfpush
        train = sections.method.model_copy(update=classifier.suited(graph))
        return Candidate(preprocessing_of(changed, graphs.raw), matrix, gfpush, train, change)

    allowed = [
        change for change in PORTFOLIO if all(given.get(name) == change[name] for name in fixed.intersection(change))
    ]
    return distinct(allowed, resolve, graph)


def _workers(n_jobs: int) -> int:
    if n_jobs == -1:
        return environment.workers()
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs < 1:
        raise ArgumentError(f"n_jobs is {n_jobs!r}", expected="a whole number of at least 1, or -1")
    return n_jobs
