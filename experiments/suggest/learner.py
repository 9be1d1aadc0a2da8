"""The learner of this experiment: logistic regression on ΠX, which is fitted in moments."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from grandplus.graph.graph import Graph
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.power import propagate

INVERSE_PENALTY = 100.0  # scikit-learn's C, for rows whose mean squared length is 1
MOST_STEPS = 200  # of L-BFGS
JITTER = 1e-8  # added to the squared length of rows, so that equal rows do no harm


class Learner:
    """Logistic regression on ΠX, whose columns have mean 0.

    W is a combination of the labelled rows, so with their products K = LLᵀ the inputs are the products of all rows
    with them, times L⁻ᵀ: as many columns as there are labels.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        features = graph.features.toarray() if sp.issparse(graph.features) else np.array(graph.features)
        self._rows = propagate(graph, features, weights=propagation_weights("ppr", order=10, alpha=0.2))
        self._rows -= self._rows.mean(axis=0)
        self._rows /= np.sqrt(np.square(self._rows).sum(axis=1).mean())
        self._labels, self._classes = graph.labels, len(graph.classes)
        self._products: dict[int, NDArray[np.float32]] = {}

    def probabilities(self, labelled: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of the classes, for all nodes: float64 (n, C). A class without a label has 0.

        Parameters
        ----------
        labelled : int64 (m,)
        """
        targets = self._labels[labelled]
        known = np.unique(targets)
        out = np.zeros((len(self._labels), self._classes))
        out[:, known] = 1.0 if len(known) == 1 else self._fit(labelled, targets)
        return out

    def _fit(self, labelled: NDArray[np.int64], targets: NDArray[np.int64]) -> Any:
        new = [node for node in labelled.tolist() if node not in self._products]
        self._products.update(zip(new, self._rows[new] @ self._rows.T, strict=True))
        products = np.stack([self._products[node] for node in labelled.tolist()], axis=1).astype(np.float64)
        lower = np.linalg.cholesky(products[labelled] + JITTER * np.eye(len(labelled)))
        inputs = np.linalg.solve(lower, products.T).T
        regression = LogisticRegression(C=INVERSE_PENALTY, max_iter=MOST_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)  # many classes for so few labels
            regression.fit(inputs[labelled], targets)
        return regression.predict_proba(inputs)

    def forget(self) -> None:
        """Free what is kept of earlier labels."""
        self._products.clear()
