"""What the classifiers of all methods share: reading a graph, training trials, and predictions of its nodes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from grandplus.datasets.in_memory.inputs import Inputs
from grandplus.datasets.in_memory.splits import row_numbers
from grandplus.datasets.preprocess import preprocess
from grandplus.estimator.arguments import read_arguments
from grandplus.estimator.other_graph import is_graph, other_graph
from grandplus.estimator.parameters import (
    PLAIN_EDGES,
    Pushing,
    Run,
    given_parameters,
    in_parameters,
    named_as_parameters,
    preprocessing_of,
    sections_of,
)
from grandplus.estimator.pushing import baselines_by, rows_by, suited_pushing
from grandplus.evaluation.diagnosis.facts import Facts, GraphFacts, Trial
from grandplus.evaluation.diagnosis.finding import DiagnosisWarning
from grandplus.evaluation.diagnosis.rules import diagnose
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.methods import training
from grandplus.methods.memory import training_memory
from grandplus.methods.protocol import Model, Scores, Task
from grandplus.methods.registry import check_edges, check_installed, method_of
from grandplus.methods.remaining import Course, Estimate
from grandplus.methods.settings import MethodSettings
from grandplus.prediction.calibration import HeldOut, mean_of
from grandplus.propagation.matrices import Average
from grandplus.propagation.rows import Rows
from grandplus.propagation.settings import GFPush
from grandplus.runtime import environment
from grandplus.runtime.errors import ArgumentError, argument_errors
from grandplus.runtime.progress import Progress, Silent

_PROCESS = threading.Lock()  # on PyTorch's threads and random state, of which a process has one


class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifies all nodes of a graph from the labels of some; a subclass says by which method.

    A subclass has the name of its method and, in ``__init__``, the parameters declared here, those of `Run`,
    `Preprocess` and the method's settings, and, if the method needs rows of Π, ``matrix`` with those of the families of
    Π and `GFPush`. One that it lacks has its default.
    """

    _method: ClassVar[str]

    edge_weights: str | None
    direction: Any
    verbose: bool

    def fit(
        self,
        graph: Any,
        X: Any = None,
        y: ArrayLike | str | None = None,
        *,
        train: ArrayLike | None = None,
        val: ArrayLike | None = None,
        test: ArrayLike | None = None,
    ) -> Self:
        """Train, and predict every node.

        Parameters
        ----------
        graph : object
            An edge counts in both directions, unless ``direction`` says otherwise. One of these:

            - A scipy sparse matrix, array or tensor (n, n): the adjacency, of 0 and 1.
            - An integer array or tensor (2, E): an ``edge_index``, pairs of row numbers of X.
            - A graph of networkx, or a DataFrame of edges, of pandas or Polars, with columns such as source and
              target, or two columns only. They name nodes by the index of X, or its column called id, if X is a
              DataFrame, else by row numbers of X.
            - A graph of igraph, whose vertices are the rows of X, or are named in the index of X.
            - A ``Data`` object of PyTorch Geometric. Its ``x``, ``y`` and masks stand for X, y, train, val and test
              that are not given. With all three masks, labels of nodes in none of them count as unknown.
        X : array_like, tensor, scipy sparse matrix, DataFrame or list of str, shape (n, d), optional
            A row of numbers for each node; or the names of attributes that nodes of a graph have, by default all that
            hold numbers if y is no array. It may lack only where ``features`` makes features from the graph.
        y : array_like, shape (n,), or str
            Labels of any kind; -1, None, NaN, "" and text such as "NA" where unknown. Or the name of a column of X or
            an attribute of nodes, by default the one with a usual name, such as class or label.
        train, val : array_like, optional
            The nodes to train on and to validate on: row numbers, a mask (n,), or masks (n, s) of s splits, of which
            trial i takes the i-th and begins anew after the last. Both or neither: without them each trial draws
            ``train_per_class`` and ``val_per_class`` labelled nodes of each class.
        test : array_like, optional
            The nodes that ``unlabelled="test"`` names; by default all others.

        Returns
        -------
        self

        Raises
        ------
        ArgumentError
            An argument or a parameter is not what it should be. It is a ``ValueError``.
        GrandPlusError
            Training fails, or needs more memory than there is.
        """
        name = type(self).__name__
        with named_as_parameters(), argument_errors(name):
            given = self._given()
            check_installed(self._method)
            sections = sections_of(given, self._method)
            parts = {"train": train, "val": val, "test": test}
            arguments = read_arguments(graph, X, y, parts, edge_weights=self.edge_weights)
            raw = arguments.raw
            seed, trials = sections.run.random_state, sections.run.trials
            prepared, splits = preprocess(raw, preprocessing_of(given, raw), seed=seed, trials=trials, name=name)
            structure = prepared.adjacency
            weighted, directed = structure.weights is not None, not structure.symmetric
            check_edges(self._method, weighted=weighted, directed=directed, **PLAIN_EDGES)
        with named_as_parameters(), alone():
            pushing = suited_pushing(sections.pushing, given, prepared, splits) if sections.pushing else None
            settings = sections.method.model_copy(update=self.suited(prepared, splits, pushing))
            nodes = splits.needing_rows(unlabelled=settings.uses_unlabelled)
            rows = rows_by(pushing, prepared, nodes) if pushing else None
            facts = self._train(prepared, splits, rows, settings, sections.run)
            self.baselines_ = baselines_by(pushing or Pushing(Average(), GFPush()), prepared, splits)
        self.classes_, self.rows_, self.seed_, self.graph_facts_ = arguments.classes, rows, seed, prepared.facts
        self._describe(arguments.inputs)
        found, own = diagnose(facts.with_baselines(self.baselines_)), self.get_params(deep=False)
        self.diagnosis_ = [in_parameters(finding, own.keys()) for finding in found]
        for finding in self.diagnosis_:
            warnings.warn(f"{name}: {finding}", DiagnosisWarning, stacklevel=2)
        return self

    def predict_proba(self, nodes: Any = None, X: Any = None) -> NDArray[np.float32]:
        """Calibrated probabilities, the mean over all trials.

        Parameters
        ----------
        nodes : array_like, shape (b,), or a graph, optional
            Row numbers of the X of ``fit``, or a mask of all n nodes; all nodes by default. Or a graph, as ``fit``
            takes it, such as the same one with further nodes and edges. All its nodes are predicted.
        X : array_like or DataFrame, shape (n', d), optional
            The features of the nodes of another graph, if that has none itself and they are not made of its edges. They
            are scaled as those of ``fit`` were. Columns that it had not are ignored, if columns have names.

        Returns
        -------
        ndarray of float32, shape (b, C)
            Columns in the order of ``classes_``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            ``fit`` was not called.
        ArgumentError
            ``nodes`` are no rows of X, or the other graph or its X is not what it should be.

        Examples
        --------
        >>> from grandplus.estimator import GrandPlusClassifier
        >>> ring, X = np.array([range(80), [*range(1, 80), 0]]), np.repeat(np.eye(2), 40, axis=0)
        >>> y = np.repeat(["left", "right"], 40)
        >>> classifier = GrandPlusClassifier(train_per_class=10, val_per_class=20, max_epochs=50).fit(ring, X, y)
        >>> classifier.predict(np.hstack([ring, [[80], [20]]]), np.vstack([X, [[1, 0]]])).tolist()[-1]
        'left'
        """
        check_is_fitted(self, "calibration_")
        if X is not None or is_graph(nodes, self.models_[0]):
            return self._of_other_graph(nodes, X)
        if nodes is None:
            return np.array(self._probabilities)  # a copy, which the caller may change
        return np.asarray(self._probabilities[row_numbers(nodes, len(self._probabilities), "nodes")])

    def predict(self, nodes: Any = None, X: Any = None) -> NDArray[Any]:
        """The most probable labels; or, with ``decision="threshold"``, those that the threshold says.

        Parameters
        ----------
        nodes, X : optional
            As in `predict_proba`.

        Returns
        -------
        ndarray, shape (b,)
            Of the kind of y.
        """
        probabilities = self.predict_proba(nodes, X)
        numbers, _ = self.calibration_.decide(probabilities)
        return np.asarray(self.classes_[numbers])

    def confident(self, nodes: Any = None, X: Any = None) -> NDArray[np.bool_]:
        """Whether predictions can be relied on: validation bears out that 90 % of those as confident are right.

        Parameters
        ----------
        nodes, X : optional
            As in `predict_proba`.

        Returns
        -------
        ndarray of bool, shape (b,)
        """
        probabilities = self.predict_proba(nodes, X)
        _, confidence = self.calibration_.decide(probabilities)
        return self.calibration_.confident(confidence)

    def embeddings(self, graph: Any, X: Any = None, *, trial: int = 0) -> NDArray[np.float32]:
        """The hidden layer of every node, by the model of one trial: what its last layer takes.

        Parameters
        ----------
        graph : object
            As ``fit`` takes it: the same, or another one.
        X : array_like or DataFrame, shape (n, d), optional
            Its features, as in `predict_proba`.
        trial : int, default=0
            Whose model; the hidden layers of trials have nothing to do with each other.

        Returns
        -------
        ndarray of float32, shape (n, h)
            Of a model with one layer, the propagated features; see `grandplus.methods.protocol.Model.embed`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            ``fit`` was not called.
        ArgumentError
            The graph or X is not what it should be, there is no such trial, or the method has no hidden layer that sees
            a node's neighbours.
        """
        check_is_fitted(self, "models_")
        if not (isinstance(trial, int | np.integer) and 0 <= trial < len(self.models_)):
            raise ArgumentError(f"trial is {trial!r}", expected=f"a whole number from 0 to {len(self.models_) - 1}")
        other = self._other(graph, X)
        with named_as_parameters(), alone():
            return self.models_[trial].embed(other)

    def suited(self, graph: Graph, splits: Splits, pushing: Pushing | None) -> dict[str, Any]:
        """Values for this graph of those settings of the method that are None."""
        return {}

    def _of_other_graph(self, graph: Any, X: Any) -> NDArray[np.float32]:
        """Probabilities of all nodes of a graph that the models were not trained on: float32 (n', C)."""
        first, other = self.models_[0], self._other(graph, X)
        with named_as_parameters(), alone():
            shared = first.shared_inputs(other)
            return self.calibration_.combine(model.predict_proba(other, shared) for model in self.models_)

    def _other(self, graph: Any, X: Any) -> Graph:
        """A graph that is given after ``fit``, with features scaled as then."""
        width = getattr(self, "n_features_in_", None)
        with named_as_parameters(), argument_errors(type(self).__name__):
            return other_graph(
                graph, X, self.models_[0], width, edge_weights=self.edge_weights, direction=self.direction
            )

    def _given(self) -> dict[str, Any]:
        """The parameters that are not None, by name; a method's settings by their own names."""
        return given_parameters(self)

    def _train(self, graph: Graph, splits: Splits, rows: Rows | None, settings: MethodSettings, run: Run) -> Facts:
        """Train all trials, and predict with each; how it went."""
        method, device = method_of(self._method), environment.device()
        training_memory(graph, splits.of(0), settings, rows.info.top_k if rows else 0)
        held_out, seed = HeldOut(graph, splits, run.decision), run.random_state
        latest = _Latest(Estimate.of(settings, len(splits.of(0).train), splits.trials))
        known = GraphFacts.of_splits(graph, splits, None if rows is None else rows.info.order)
        models, trained_trials = list[Model](), list[Trial]()

        def trials() -> Iterator[tuple[NDArray[np.float32], float]]:
            shared = None
            for trial in range(splits.trials):
                split = splits.of(trial)
                task = Task(graph, split, rows, [seed, trial], device)
                trained = method.fit(task, settings, watch=latest.watch_of_next())
                model = trained.model
                models.append(model)
                shared = model.shared_inputs(graph) if shared is None else shared
                probabilities = model.predict_proba(graph, shared)
                predicted = probabilities[known.labelled[trial].val].argmax(axis=1)
                trained_trials.append(Trial.of(predicted, trained.history, model.info["best_step"]))
                yield probabilities, held_out.add(split.val, probabilities[split.val])
                bar.update()

        name = type(self).__name__
        told = Progress(name, splits.trials, "trial", note=latest.note, remaining=False)  # the note knows better
        with told if self.verbose else Silent() as bar:
            self._probabilities = mean_of(trials())
        self.models_, self.calibration_ = models, held_out.calibration()
        return known.after(trained_trials, settings, rows)

    def _describe(self, inputs: Inputs) -> None:
        """Set what scikit-learn has of X, and only that: an earlier fit's X may have had names."""
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, attribute):
                delattr(self, attribute)
        if inputs.features is not None:
            self.n_features_in_ = int(inputs.features.shape[1])
        if inputs.feature_names is not None:
            self.feature_names_in_ = np.array(inputs.feature_names, object)


class _Latest:
    """The latest validation and the time that is left, for a note on how training goes."""

    def __init__(self, estimate: Estimate) -> None:
        self._estimate, self._courses, self._scores = estimate, list[Course](), Scores()

    def watch_of_next(self) -> Callable[[Scores], None]:
        for course in self._courses:
            course.ended = True
        self._courses.append(Course())
        return self._watch

    def note(self) -> str:
        if not self._scores:
            return ""
        step = "step {step:.0f}, validation {val_accuracy:.1%}".format(**self._scores)
        return "; ".join(filter(None, [self._estimate.text(self._courses), step]))

    def _watch(self, scores: Scores) -> None:
        self._courses[-1].note(scores)
        self._scores = scores


@contextmanager
def alone() -> Iterator[None]:
    """PyTorch has one thread, as a process has one number of them; fits in several threads wait for each other."""
    with _PROCESS, training.one_thread():
        yield
