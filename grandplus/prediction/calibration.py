"""How the trials' probabilities become one prediction, and from which confidence on it can be relied on.

The prediction is the mean of the trials, each at its own temperature.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Nodes, Splits
from grandplus.prediction.decision import decision_threshold
from grandplus.prediction.settings import Decision, check_decision
from grandplus.prediction.temperature import fit_temperature, tempered
from grandplus.runtime.errors import ArtifactError
from grandplus.runtime.paths import as_path
from grandplus.runtime.storage import finished_whole

CALIBRATION = "calibration.json"
PRECISION, CERTAINTY = 0.9, 0.95  # confident predictions are right with this precision, by a limit of this certainty


@dataclass(frozen=True)
class Calibration:
    """How the trials' probabilities become one prediction.

    Attributes
    ----------
    temperatures : tuple of float
        One a trial.
    threshold : float or None
        Least confidence of a confident prediction; None if validation supports none.
    decision_threshold : float or None
        Of two classes, the least probability of the second one that `decision_threshold` would predict it from; None
        for more classes, and where validation nodes are all of one class.
    decision : {"most-probable", "threshold"}
        Whether that threshold decides.
    models : str or None
        Which models the probabilities are of: the SHA-256 of the ``SHA256SUMS`` beside them; None if it isn't known.
        It doesn't count when calibrations are compared.
    """

    temperatures: tuple[float, ...]
    threshold: float | None
    decision_threshold: float | None = None
    decision: Decision = "most-probable"
    models: str | None = field(default=None, compare=False)

    def combine(self, trials: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
        """The mean of the calibrated probabilities.

        Parameters
        ----------
        trials : iterable of ndarray of float32, shape (b, C)
            The probabilities of each trial; they are taken one by one.

        Returns
        -------
        ndarray of float32, shape (b, C)
        """
        return mean_of(zip(trials, self.temperatures, strict=True))

    def decide(self, probabilities: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """What is predicted, and its probability.

        Parameters
        ----------
        probabilities : ndarray of float32, shape (b, C)
            Calibrated.

        Returns
        -------
        predicted : ndarray of int64, shape (b,)
            Class numbers.
        confidence : ndarray of float32, shape (b,)

        Examples
        --------
        >>> probabilities = np.array([[0.75, 0.25]], np.float32)
        >>> [part.tolist() for part in Calibration((1.0,), None, 0.2).decide(probabilities)]
        [[0], [0.75]]
        >>> [part.tolist() for part in Calibration((1.0,), None, 0.2, "threshold").decide(probabilities)]
        [[1], [0.25]]
        """
        if self.decision == "most-probable":
            return probabilities.argmax(axis=1), probabilities.max(axis=1)
        assert self.decision_threshold is not None
        predicted = (probabilities[:, 1] >= self.decision_threshold).astype(np.int64)
        return predicted, probabilities[np.arange(len(predicted)), predicted]

    def confident(self, confidence: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Whether predictions can be relied on.

        Parameters
        ----------
        confidence : ndarray of float32, shape (b,)

        Returns
        -------
        ndarray of bool, shape (b,)
        """
        return np.asarray(confidence >= (math.inf if self.threshold is None else np.float32(self.threshold)))

    def save(self, file: Path | str) -> None:
        """Write it as JSON, whole or not at all."""
        content = asdict(self) | {"precision": PRECISION, "certainty": CERTAINTY}
        if self.decision_threshold is None:  # nothing is to be decided
            content = {name: value for name, value in content.items() if not name.startswith("decision")}
        if self.models is None:
            del content["models"]
        with finished_whole(as_path(file, "file")) as partial:
            partial.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path | str) -> Self:
        """Read it back.

        Raises
        ------
        ArtifactError
            The file is missing or damaged.
        """
        file = as_path(file, "file")
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            own = {name: content[name] for name in ("decision_threshold", "decision", "models") if name in content}
            return cls(tuple(content["temperatures"]), content["threshold"], **own)
        except FileNotFoundError:
            raise ArtifactError("no such file", where=file) from None
        except (ValueError, KeyError, TypeError) as error:
            raise ArtifactError(f"is no calibration: {error}", where=file) from None


class HeldOut:
    """Collects the trials' probabilities of their validation nodes; calibration is fitted to nothing else.

    Parameters
    ----------
    graph : Graph
    splits : Splits
    decision : {"most-probable", "threshold"}
        Whether a threshold is to decide between two classes.

    Attributes
    ----------
    nodes : ndarray of int64, shape (v,)
        The validation nodes of any trial.

    Raises
    ------
    GrandPlusError
        A threshold is to decide, and there are more than two classes, or all these nodes are of one class.
    """

    def __init__(self, graph: Graph, splits: Splits, decision: Decision = "most-probable") -> None:
        self.nodes = np.unique(np.concatenate([splits.of(trial).val for trial in range(splits.trials)]))
        self._labels = np.asarray(graph.labels[self.nodes])
        self._decision: Decision = decision
        if decision == "threshold":
            check_decision(len(graph.classes), self._labels)
        self._temperatures: list[float] = []
        self._total = np.zeros((len(self.nodes), len(graph.classes)))  # of the calibrated probabilities
        self._trials = np.zeros(len(self.nodes), np.int64)

    def add(self, val: Nodes, probabilities: NDArray[np.float32]) -> float:
        """Add the next trial.

        Parameters
        ----------
        val : ndarray of int64, shape (b,)
            Its validation nodes.
        probabilities : ndarray of float32, shape (b, C)

        Returns
        -------
        float
            Its temperature.
        """
        position = np.searchsorted(self.nodes, val)
        temperature = fit_temperature(probabilities, self._labels[position])
        self._total[position] += tempered(probabilities, temperature)
        self._trials[position] += 1
        self._temperatures.append(temperature)
        return temperature

    def calibration(self) -> Calibration:
        """Fit the thresholds, after all trials; a node counts with the mean of those trials that validate on it."""
        mean = np.asarray(self._total / self._trials[:, None], np.float32)
        cut = decision_threshold(mean[:, 1], self._labels) if mean.shape[1] == 2 else None
        calibration = Calibration(tuple(self._temperatures), None, cut, self._decision)
        known = self._labels >= 0
        predicted, confidence = calibration.decide(mean[known])
        return replace(calibration, threshold=least_confidence(confidence, predicted == self._labels[known]))


def mean_of(trials: Iterable[tuple[NDArray[np.float32], float]]) -> NDArray[np.float32]:
    """The mean of the trials' probabilities, each at its temperature.

    Parameters
    ----------
    trials : iterable of (ndarray of float32, float)
        Probabilities, shape (b, C), and temperature of each.

    Returns
    -------
    ndarray of float32, shape (b, C)
    """
    total: Any = 0.0
    count = 0
    for probabilities, temperature in trials:
        total = total + tempered(probabilities, temperature)
        count += 1
    return np.asarray(total / count, np.float32)


def least_confidence(confidence: NDArray[Any], correct: NDArray[Any]) -> float | None:
    """Find the confidence from which on a prediction is called confident: 90 %, or more where validation demands it.

    It is the lowest threshold of at least 90 % that the given predictions support: of those with at least this
    confidence, 90 % are right or more, by the one-sided 95 % limit of Clopper and Pearson.

    Parameters
    ----------
    confidence : ndarray of float32, shape (b,)
        Calibrated, of nodes that were not trained on.
    correct : ndarray of bool, shape (b,)
        Whether their predictions are right.

    Returns
    -------
    float or None
        None if no threshold is supported. Fewer than 29 predictions support none, even if all are right.

    Examples
    --------
    >>> confidence = np.full(29, 0.97)
    >>> least_confidence(confidence, confidence > 0), least_confidence(confidence[1:], confidence[1:] > 0)
    (0.9, None)
    """
    order = np.argsort(confidence, kind="stable")
    ascending, right = np.asarray(confidence, np.float32)[order], np.asarray(correct)[order]
    least = np.float32(PRECISION)
    thresholds = np.unique(np.append(ascending[ascending > least], least))
    first = np.searchsorted(ascending, thresholds)
    count = len(ascending) - first
    hits = np.append(np.cumsum(right[::-1])[::-1], 0)[first]
    limit = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), count - hits + 1, 1 - CERTAINTY), 0)
    supported = np.flatnonzero(limit >= PRECISION)
    if not len(supported):
        return None
    return float(thresholds[supported[0]]) if supported[0] else PRECISION
