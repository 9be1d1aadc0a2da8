"""Any method of the project as a classifier of scikit-learn's kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grandplus.estimator.base import GraphClassifier
from grandplus.estimator.parameters import plain
from grandplus.methods.registry import NAMES, SettingsModule, settings_of
from grandplus.propagation.matrices import MATRICES, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import ArgumentError
from grandplus.runtime.validation import check_known


class NodeClassifier(GraphClassifier):
    """Classifies all nodes of a graph from the labels of some, by a method of your choice.

    It trains as the pipeline does with the same ``model`` and ``train``. `GrandPlusClassifier` has GRAND+'s settings as
    parameters, and finds values that suit the graph for those that are not given.

    Parameters
    ----------
    model : str, default="gcn"
        The method: ``grandplus`` or one that GRAND+ is compared with, such as gcn, gat, appnp, sgc, graphsaint or
        pprgo.
    settings : mapping, optional
        Values of the method's settings by name, such as ``{"hidden": 32}``; what is not given has the method's default.
        ``grandplus settings -S model=gcn`` lists them under ``train``. For a method that trains on rows of Π, those of
        ``gfpush`` can be among them: order, alpha, rmax, top_k, ...
    matrix : {"avg", "ppr", "single", "heat", "custom"}, optional
        The family of the propagation matrix Π, for a method that trains on its rows and has none of its own; by
        default avg.
    trials : int, default=1
        How many models are trained; the prediction is the mean of their calibrated probabilities.
    random_state : int, RandomState or None, default=0
        The same number gives the same bytes on CPU. None takes a new number from numpy's global state for each fit.
    edge_weights : {None, "ignore", "use"}, default=None
        Whether a graph with edge weights is refused, every edge counts once, or a walk follows edges by their share of
        weight.
    direction : {"both", "out", "in"}, default="both"
        Which edges of a node count, and so where a walk goes from it: all, in both directions; those that start at it;
        or those that end at it.
    verbose : bool, default=False
        Whether progress is shown: a bar on a terminal, elsewhere a line every half minute.
    features : str, optional
        How X is scaled: row-normalize, standardize or as-is. Or what is made from the graph in place of X: degree,
        onehot-degree, adjacency (rows sum to 1) or standardized-adjacency (columns). By default what suits X:
        standardize if at least a quarter of it is not 0, else row-normalize, or as-is if a value is negative.
    split : {"per-class", "uniform"}, default="per-class"
        How each trial draws its nodes, where ``fit`` is given none: so many of each class, or as many in all.
    train_per_class : int, default=20
        Labelled nodes of each class to train on, where ``fit`` is given no nodes.
    val_per_class : int, default=30
        Labelled nodes of each class to validate on, likewise.
    shortage : {"fail", "shrink"}, default="fail"
        Whether a class with fewer nodes than these is an error, or fewer are taken.
    class_weight : "balanced" or dict, optional
        How often a labelled node counts in training, by its label, as in `GrandPlusClassifier`.
    decision : {"most-probable", "threshold"}, default="most-probable"
        What `predict` predicts, as in `GrandPlusClassifier`.

    Attributes
    ----------
    classes_ : ndarray, shape (C,)
        The labels that occur, sorted.
    models_ : list of grandplus.methods.protocol.Model
        One for each trial.
    rows_ : Rows or None
        Rows of Π that were trained on; None if the method needs none.
    calibration_ : grandplus.prediction.calibration.Calibration
        The trials' temperatures, and the least confidence of a confident prediction.
    graph_facts_ : dict of str to int
        What was counted, merged and dropped, as in `GrandPlusClassifier`.
    baselines_ : list of grandplus.evaluation.baselines.table.BaselineScore
        What cheap classifiers come to on the same splits, as in `GrandPlusClassifier`.
    diagnosis_ : list of grandplus.evaluation.diagnosis.finding.Finding
        What speaks against the result, each with what was found and what to try; empty if nothing does. ``fit`` warns
        of each in the category ``gp.DiagnosisWarning``.
    seed_ : int
        The number that ``random_state`` gave.
    n_features_in_ : int
        Columns of X, if there is X.
    feature_names_in_ : ndarray of str, shape (d,)
        Their names, if X is a DataFrame whose columns are all named by text.

    See Also
    --------
    grandplus.estimator.GrandPlusClassifier
        The notes there on scikit-learn's conventions hold here, too.

    Examples
    --------
    >>> import numpy as np
    >>> ring = np.array([range(80), [*range(1, 80), 0]])
    >>> X, y = np.repeat(np.eye(2), 40, axis=0), np.repeat(["left", "right"], 40)
    >>> classifier = NodeClassifier(model="sgc", settings={"order": 3}, train_per_class=10, val_per_class=20)
    >>> classifier.fit(ring, X, y).predict([0, 60]).tolist()
    ['left', 'right']
    >>> classifier.models_[0].settings.order
    3
    """

    def __init__(
        self,
        model: str = "gcn",
        settings: Mapping[str, Any] | None = None,
        *,
        matrix: str | None = None,
        trials: int = 1,
        random_state: Any = 0,
        edge_weights: str | None = None,
        direction: str = "both",
        verbose: bool = False,
        features: str | None = None,
        split: str = "per-class",
        train_per_class: int = 20,
        val_per_class: int = 30,
        shortage: str = "fail",
        class_weight: Any = None,
        decision: str = "most-probable",
    ) -> None:
        # Kept as given, and checked by fit, as scikit-learn wants it.
        self.model = model
        self.settings = settings
        self.matrix = matrix
        self.trials = trials
        self.random_state = random_state
        self.edge_weights = edge_weights
        self.direction = direction
        self.verbose = verbose
        self.features = features
        self.split = split
        self.train_per_class = train_per_class
        self.val_per_class = val_per_class
        self.shortage = shortage
        self.class_weight = class_weight
        self.decision = decision

    @property
    def _method(self) -> str:  # type: ignore[override]
        return self.model

    def _given(self) -> dict[str, Any]:
        """The parameters, with the settings among them by their own names."""
        given = super()._given()
        method, settings = settings_of(given.pop("model", None)), given.pop("settings", {})
        if not isinstance(settings, Mapping):
            raise ArgumentError(
                f"settings is a {type(settings).__name__}", expected="a mapping, such as {'hidden': 32}, or None"
            )
        own_rows = method.Settings.own_rows
        if "matrix" in given and (own_rows or not method.NEEDS_ROWS):
            why = "has a matrix of its own" if own_rows else "needs no rows of a matrix"
            raise ArgumentError(f"matrix is {given['matrix']!r}", expected=f"None, as {self.model} {why}")
        for name, value in settings.items():
            users = [other for other in NAMES if name in _known(settings_of(other))]
            if users and self.model not in users:
                found = f"settings.{name} = {value!r} has no effect, as model is {self.model}"
                raise ArgumentError(found, fix=f"leave it out, or set model to {' or '.join(users)}")
        check_known(dict(settings), _known(method), "", "settings.")
        if twice := given.keys() & {name for name, value in settings.items() if value is not None}:
            found = f"{', '.join(sorted(twice))} is given, and among the settings too"
            raise ArgumentError(found, expected="it in one place")
        rows = (own_rows or {"matrix": "avg"}) if method.NEEDS_ROWS else {}
        return rows | given | {name: plain(value) for name, value in settings.items() if value is not None}


def _known(method: SettingsModule) -> set[str]:
    """The names of a method's settings, and of those of its rows that are free."""
    known, own_rows = set(method.Settings.model_fields), method.Settings.own_rows
    if own_rows:
        known |= own_rows.keys() - {"matrix"}
    elif method.NEEDS_ROWS:
        known |= {*GFPush.model_fields, *(name for family in MATRICES.values() for name in parameters(family))}
    return known
