"""GRAND+ as scikit-learn's estimators are used: the pipeline's own functions, on arrays in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Annotated, Any, TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike, NDArray
from pydantic import Field
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from grandplus.datasets.arrays.checks import edges_of, features_of
from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.graph.features import MIN_FEATURES_FOR_DROPOUT, suited_scaling
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Splits
from grandplus.methods.grandplus.method import fit
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.prediction.calibration import HeldOut, mean_of
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import MATRICES, Matrix, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Section, checked_as, validated

AnySection = TypeVar("AnySection", bound=Section)
_NAME = "GrandPlusClassifier"
_SOURCE = Source(format="arrays", read=Reading(weights="ignore"))


class GrandPlusClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifies all nodes of a graph from the labels of some.

    Parameters are those of ``params.yaml``, by the same names and with the same effect; the defaults are those of
    an imported graph's card: ``features`` None is what suits X (``suited_scaling``), ``dropout_input`` None is 0.5, and
    0 for fewer than 50 features. With the same values it gives the bytes of the pipeline's ``predictions.parquet``.

    Attributes
    ----------
    classes_ : (C,) the labels that occur
    models_ : one a trial
    rows_ : rows of Π that were trained on, with ``l1_error``
    calibration_ : temperatures and threshold

    >>> ring = sp.csr_array(np.roll(np.eye(80), 1, axis=1))
    >>> X, y = np.repeat(np.eye(2), 40, axis=0), np.repeat(["left", "right"], 40).astype(object)
    >>> y[::4] = None
    >>> classifier = GrandPlusClassifier(train_per_class=10, val_per_class=20, max_epochs=40, warmup=0)
    >>> classifier.fit(ring, X, y).predict([0, 60]).tolist()
    ['left', 'right']
    """

    def __init__(
        self,
        *,
        matrix: str = "avg",
        order: int | None = 4,
        alpha: float | None = None,
        weights: list[float] | None = None,
        rmax: float = 1e-5,
        top_k: int = 32,
        trials: int = 1,
        seed: int = 0,
        features: str | None = None,
        train_per_class: int = 20,
        val_per_class: int = 30,
        shortage: str = "fail",
        unlabelled: str | int = "all",
        lr: float = 0.01,
        weight_decay: float = 0.001,
        embed: bool = False,
        layers: int = 2,
        hidden: int = 64,
        batchnorm: bool = False,
        row_norm: bool = False,
        dropout_input: float | None = None,
        dropout_hidden: float = 0.5,
        dropnode: float = 0.5,
        augmentations: int = 2,
        batch_labelled: int = 50,
        batch_unlabelled: int = 100,
        temperature: float = 0.1,
        confidence: str | float = "auto",
        distance: str = "l2",
        consistency_mean: str = "confident",
        lambda_max: float = 1.0,
        warmup: int = 1000,
        clip: float = 0,
        patience: int = 50,
        max_epochs: int = 5000,
        renormalize: bool = True,
    ) -> None:
        given = dict(locals())  # kept as given and checked by fit, as scikit-learn wants it
        self.__dict__.update({name: value for name, value in given.items() if name not in ("self", "__class__")})

    def fit(
        self,
        adjacency: Any,
        X: Any,
        y: ArrayLike,
        *,
        train: ArrayLike | None = None,
        val: ArrayLike | None = None,
        test: ArrayLike | None = None,
    ) -> GrandPlusClassifier:
        """Train, and predict every node.

        Parameters
        ----------
        adjacency : scipy sparse (n, n); symmetrised, its values ignored
        X : (n, d) numbers, dense or scipy sparse
        y : (n,) labels of any kind; -1, None or NaN where unknown
        train, val : nodes to train on and to validate on, as numbers of rows or as masks; both or neither. Without
            them each trial draws ``train_per_class`` and ``val_per_class`` labelled nodes of each class
        test : those that ``unlabelled="test"`` names; by default all others

        Raises
        ------
        GrandPlusError : an argument is not what it should be, or a parameter's value is impossible.
        """
        nodes = adjacency.shape[0] if sp.issparse(adjacency) else 0
        edges = edges_of(sp.coo_array(adjacency) if nodes else adjacency, _SOURCE, "adjacency")
        # A copy of what is sparse, as entries are merged and zeros dropped where they stand.
        matrix = features_of(X.tocsr(copy=True) if sp.issparse(X) else np.asarray(X), nodes, "X")
        self.classes_, labels = _numbered(y, nodes)
        split = _split({"train": train, "val": val, "test": test}, labels)
        names = [str(name) for name in self.classes_.tolist()]
        chosen = {
            "split": "public" if split else "per-class",
            "features": self.features or suited_scaling(matrix),
        }
        if self.dropout_input is None:
            chosen["dropout_input"] = 0.5 * (matrix.shape[1] >= MIN_FEATURES_FOR_DROPOUT)
        matrix_of_pi, preprocessing, push, settings = self._chosen(chosen)
        raw = RawGraph(edges, nodes, matrix, labels, names, np.arange(nodes), [split] if split else [])
        graph, splits = preprocess(raw, preprocessing, seed=self.seed, trials=self.trials, name=_NAME)
        held_out = HeldOut(graph, splits)
        with _one_thread():
            wanted = splits.needing_rows()
            self.rows_ = gfpush(
                graph,
                wanted,
                weights=matrix_of_pi.weights(),
                rmax=push.rmax,
                top_k=push.top_k,
                matrix=matrix_of_pi.name,
            )
            self._probabilities = mean_of(self._trained(graph, splits, settings, held_out))
        self.calibration_ = held_out.calibration()
        self.n_features_in_ = int(matrix.shape[1])
        return self

    def predict_proba(self, nodes: ArrayLike | None = None) -> NDArray[np.float32]:
        """Calibrated probabilities float32 (b, C) of these nodes, by default of all; columns as ``classes_``.

        Parameters
        ----------
        nodes : numbers of rows of X, or a mask of all

        Raises
        ------
        GrandPlusError : ``nodes`` are no rows of X.
        """
        check_is_fitted(self, "calibration_")
        if nodes is None:
            return self._probabilities
        return np.asarray(self._probabilities[_rows(nodes, len(self._probabilities), "nodes")])

    def predict(self, nodes: ArrayLike | None = None) -> NDArray[Any]:
        """Labels (b,) of these nodes, by default of all."""
        numbers = self.predict_proba(nodes).argmax(axis=1)
        return np.asarray(self.classes_[numbers])

    def confident(self, nodes: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether these predictions, by default all, are to be relied on: (b,)."""
        confidence = self.predict_proba(nodes).max(axis=1)
        return self.calibration_.confident(confidence)

    def _chosen(self, chosen: dict[str, Any]) -> tuple[Matrix, Preprocess, GFPush, Settings]:
        """The parameters in their sections, with what was chosen in place of those that are None."""
        given = {key: value for key, value in (self.get_params() | chosen).items() if value is not None}
        if self.matrix not in MATRICES:
            expected = f"one of {', '.join(MATRICES)}"
            raise GrandPlusError(f"matrix is {self.matrix!r}", where=_NAME, expected=expected)
        family = MATRICES[self.matrix]

        def section(model: type[AnySection], keys: Iterable[str], prefix: str) -> AnySection:
            return validated(model, {key: given[key] for key in keys if key in given}, _NAME, prefix)

        checked_as(Annotated[int, Field(ge=1, le=100_000)], self.trials, where=f"{_NAME}: trials")
        checked_as(Annotated[int, Field(ge=0, lt=2**63)], self.seed, where=f"{_NAME}: seed")
        return (
            section(family, parameters(family), "gfpush."),
            section(Preprocess, Preprocess.model_fields, "preprocess."),
            section(GFPush, GFPush.model_fields, "gfpush."),
            section(Settings, Settings.model_fields, "train."),
        )

    def _trained(
        self, graph: Graph, splits: Splits, settings: Settings, held_out: HeldOut
    ) -> Iterator[tuple[NDArray[np.float32], float]]:
        """Each trial's probabilities of all nodes, and its temperature."""
        device = environment.device()
        self.models_, shared = [], None
        for trial in range(self.trials):
            split = splits.of(trial)
            model = fit(Task(graph, split, self.rows_, [self.seed, trial], device), settings).model
            self.models_.append(model)
            shared = model.shared_inputs(graph) if shared is None else shared
            probabilities = model.predict_proba(graph, shared)
            yield probabilities, held_out.add(split.val, probabilities[split.val])


def _numbered(y: ArrayLike, nodes: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels that occur, sorted, and each node's number among them; -1 for -1, None and NaN."""
    # Of a list, numpy would make one kind: a NaN among names would be called nan.
    values = np.asarray(y) if hasattr(y, "dtype") else np.array(y, object)
    if values.shape != (nodes,):
        raise GrandPlusError(f"y has shape {values.shape}", expected=f"({nodes},), a label a node")
    if values.dtype.kind == "O":
        unknown = np.array([value is None or value != value or value == -1 for value in values.tolist()], bool)
    else:
        unknown = np.isnan(values) | (values == -1) if values.dtype.kind in "iuf" else np.zeros(nodes, bool)
    known = values[~unknown]
    kinds = {type(value) for value in known.tolist()}
    if not any(all(issubclass(kind, alike) for kind in kinds) for alike in (str, (Real, np.bool_))):
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise GrandPlusError(f"y holds labels of kinds {named}", expected="names, or numbers")
    names, numbers = np.unique(known, return_inverse=True)
    classes = np.array(names.tolist())
    if classes.dtype.kind == "f" and (classes == np.round(classes)).all():
        classes = classes.astype(np.int64)  # they were whole before a NaN came among them
    if len(classes) < 2:
        raise GrandPlusError(f"y holds the labels {classes.tolist()}", expected="two classes or more")
    labels = np.full(nodes, -1, np.int64)
    labels[~unknown] = numbers
    return classes, labels


def _split(given: dict[str, ArrayLike | None], labels: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """The parts of a split that the user gives; none if there is none."""
    if given["train"] is None and given["val"] is None and given["test"] is None:
        return {}
    found, taken = {}, np.zeros(len(labels), bool)
    for part, numbers in given.items():
        if numbers is None and part == "test":
            found[part] = np.flatnonzero(~taken)
            continue
        if numbers is None:
            raise GrandPlusError(f"{part} is not given", expected="train and val, or neither")
        nodes = _rows(numbers, len(labels), part)
        if not len(nodes):
            raise GrandPlusError(f"{part} names no node", expected="one or more")
        if part != "test" and (labels[nodes] < 0).any():
            raise GrandPlusError(
                f"{part} names node {nodes[labels[nodes] < 0][0]}", expected="nodes with a known label"
            )
        if taken[nodes].any() or len(np.unique(nodes)) < len(nodes):
            raise GrandPlusError(f"{part} names a node that is named already", expected="each once")
        taken[nodes] = True
        found[part] = nodes if part == "train" else np.sort(nodes)
    return found


def _rows(nodes: ArrayLike, count: int, what: str) -> NDArray[np.int64]:
    """Row numbers of nodes, given as such or as a mask."""
    given = np.asarray(nodes)
    if given.dtype.kind == "b" and given.shape == (count,):
        return np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        expected = f"numbers of rows, or a mask of {count}"
        raise GrandPlusError(f"{what} has shape {given.shape} and type {given.dtype}", expected=expected)
    wrong = given[(given < 0) | (given >= count)]
    if len(wrong):
        raise GrandPlusError(f"{what} names node {wrong[0]}", expected=f"0 to {count - 1}")
    return given.astype(np.int64)


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread of PyTorch gives the same bytes anywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
