"""Tuning on arrays in memory: the portfolio is compared, and a classifier is fitted with the best of it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.estimator.arguments import read_arguments
from grandplus.estimator.base import alone
from grandplus.estimator.grandplus import GrandPlusClassifier
from grandplus.estimator.parameters import Pushing, given_parameters, named_as_parameters, preprocessing_of, sections_of
from grandplus.estimator.pushing import suited_pushing
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Splits
from grandplus.runtime import environment
from grandplus.runtime.errors import ArgumentError, argument_errors
from grandplus.tuning import tuner
from grandplus.tuning.candidates import Candidate
from grandplus.tuning.portfolio import PROPAGATION, TRAINING, Change


def tune(
    graph: Any,
    X: Any = None,
    y: ArrayLike | str | None = None,
    *,
    train: ArrayLike | None = None,
    val: ArrayLike | None = None,
    test: ArrayLike | None = None,
    n_jobs: int = 1,
    **parameters: Any,
) -> GrandPlusClassifier:
    """Choose a classifier's parameters on validation nodes, and fit it.

    A fixed portfolio of about 24 settings is compared: first matrices, orders and k, then weight decay, layers, the
    scaling of features and others, with the best matrix. Each has two trials, with splits and seeds of their own. All
    are trained briefly, and the best three and the parameters as they were in full. The highest validation accuracy
    wins, or the parameters as they were, if the difference is within its standard error. Labels of test nodes have no
    part in it. The result is the same each time, and for any ``n_jobs``.

    Parameters
    ----------
    graph, X, y, train, val, test
        As in `GrandPlusClassifier.fit`.
    n_jobs : int, default=1
        How many settings are trained side by side, each in a process of its own; -1: as many as ``GRANDPLUS_WORKERS``
        says, or as there are cores. A script then needs ``if __name__ == "__main__":``.
    **parameters
        Those of `GrandPlusClassifier`. One that is given keeps its value: settings that would change it are left out.
        ``model`` can be "grandplus" only.

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
    ('single', 8)
    >>> f"{classifier.tuning_.before:.0%} of validation nodes before, {classifier.tuning_.after:.0%} after"
    '74% of validation nodes before, 87% after'
    """
    workers = _workers(n_jobs)
    _check_model(parameters.pop("model", "grandplus"))
    classifier = GrandPlusClassifier(**parameters)
    parts = {"train": train, "val": val, "test": test}
    with named_as_parameters(), argument_errors("tune"):
        given = given_parameters(classifier)
        raw = read_arguments(graph, X, y, parts, edge_weights=classifier.edge_weights).raw
    seed = given["random_state"]
    with tempfile.TemporaryDirectory(prefix="grandplus-tune-") as folder, named_as_parameters(), alone():
        outcome = tuner.tune(
            _InMemory(classifier, given, raw, Path(folder)),
            Path(folder),
            propagation=_allowed(PROPAGATION, given, set(parameters)),
            training=_allowed(TRAINING, given, set(parameters)),
            seed=seed,
            workers=workers,
            name="tune" if classifier.verbose else "",
        )
    classifier.set_params(random_state=seed, **outcome.change).fit(graph, X, y, **parts)
    classifier.tuning_ = outcome
    return classifier


class _InMemory:
    """A graph that is preprocessed once for each scaling of its features, and a classifier's parameters."""

    def __init__(self, classifier: GrandPlusClassifier, given: dict[str, Any], raw: RawGraph, folder: Path) -> None:
        self._classifier, self._given, self._raw, self._folder = classifier, given, raw, folder
        self._folders: dict[Preprocess, Path] = {}
        self._suited: dict[tuple[Preprocess, str, bool, bool], Pushing] = {}
        with argument_errors("tune"):
            sections_of(given, "grandplus")
            self._folder_of(preprocessing_of(given, raw))

    def candidate(self, change: Change) -> Candidate:
        changed = self._given | change
        sections = sections_of(changed, "grandplus")
        assert sections.pushing
        settings = preprocessing_of(changed, self._raw)
        graph, splits = self._loaded(settings)
        # What suits the graph stands where nothing is given.
        pushing = self._pushing(changed, settings, sections.pushing)
        suited = self._classifier.suited(graph, splits, pushing)
        suited = {name: value for name, value in suited.items() if name not in change}
        train = sections.method.model_copy(update=suited)
        return Candidate(settings, pushing.matrix, pushing.gfpush, train, change)

    def _pushing(self, changed: Change, settings: Preprocess, pushing: Pushing) -> Pushing:
        """With the order and k that suit the graph, where none is given."""
        key = settings, repr(pushing), "order" in changed, "top_k" in changed  # as weights are a list
        if key not in self._suited:
            self._suited[key] = suited_pushing(pushing, changed, *self._loaded(settings))
        return self._suited[key]

    def graph(self, candidate: Candidate) -> Path:
        return self._folder_of(candidate.preprocess)

    def _loaded(self, settings: Preprocess) -> tuple[Graph, Splits]:
        folder = self._folder_of(settings)
        return Graph.load(folder), Splits.load(folder)

    def _folder_of(self, settings: Preprocess) -> Path:
        if settings not in self._folders:
            seed = self._given["random_state"]
            graph, splits = preprocess(self._raw, settings, seed=seed, trials=tuner.TRIALS, name="tune")
            folder = self._folder / f"graph-{len(self._folders)}"
            folder.mkdir()
            graph.save(folder)
            splits.save(folder)
            self._folders[settings] = folder
        return self._folders[settings]


def _allowed(changes: Sequence[Change], given: dict[str, Any], fixed: set[str]) -> list[Change]:
    """Those that leave what was given as it is."""
    return [change for change in changes if all(given.get(name) == change[name] for name in fixed & change.keys())]


def _check_model(model: object) -> None:
    if model != "grandplus":
        raise ArgumentError(
            f"model is {model!r}, and the settings that are compared are those of 'grandplus'",
            where="tune",
            fix=f"keep the graph with gp.save_dataset, and tune it by: grandplus search NAME --model {model}",
        )


def _workers(n_jobs: int) -> int:
    if n_jobs == -1:
        return environment.workers()
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs < 1:
        raise ArgumentError(f"n_jobs is {n_jobs!r}", expected="a whole number of at least 1, or -1")
    return n_jobs
