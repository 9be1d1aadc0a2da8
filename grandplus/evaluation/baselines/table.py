"""The accuracies of the baselines as a table, and what they come to beside those of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from grandplus.evaluation.statistics import over_trials
from grandplus.runtime.errors import ArtifactError
from grandplus.runtime.storage import finished_whole
from grandplus.runtime.system_errors import artifact_errors

LABELS = {  # by name, as people read them
    "majority": "majority class",
    "label_propagation": "label propagation",
    "logistic_regression": "logistic regression on X",
    "propagated_logistic_regression": "logistic regression on ΠX",
}
SCORES = "baselines.parquet"
_SCHEMA = pa.schema(
    {"trial": pa.int32(), "baseline": pa.string(), "val_accuracy": pa.float64(), "test_accuracy": pa.float64()}
)


class BaselineScore(NamedTuple):
    """What one baseline comes to in one trial.

    Attributes
    ----------
    trial : int
    baseline : str
        A key of ``LABELS``.
    val_accuracy, test_accuracy : float or None
        Share of the nodes with a known label that it predicts right; None where there is no such node.
    """

    trial: int
    baseline: str
    val_accuracy: float | None
    test_accuracy: float | None

    def accuracy(self, part: str) -> float | None:
        """Of ``val`` or ``test``."""
        return self.val_accuracy if part == "val" else self.test_accuracy


def save_scores(scores: Sequence[BaselineScore], folder: Path | str) -> None:
    """Write ``baselines.parquet``, with a line for each trial and baseline.

    Parameters
    ----------
    scores : sequence of BaselineScore
    folder : path
        It exists.
    """
    table = pa.Table.from_pylist([score._asdict() for score in scores], _SCHEMA)
    with finished_whole(Path(folder) / SCORES) as partial:
        pq.write_table(table, partial)


def load_scores(folder: Path | str) -> list[BaselineScore]:
    """Read what ``save_scores`` has written.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of BaselineScore

    Raises
    ------
    ArtifactError
        The file is missing or no such table.
    """
    file = Path(folder) / SCORES
    with artifact_errors(file, "can't be read", pa.ArrowException):
        table = pq.read_table(file)
    if not table.schema.equals(_SCHEMA):
        raise ArtifactError(
            f"has columns {', '.join(table.column_names)}", where=file, expected=", ".join(_SCHEMA.names)
        )
    return [BaselineScore(**line) for line in table.to_pylist()]


def summarize_baselines(scores: Sequence[BaselineScore], *, overlap: float = 0.0) -> dict[str, Any]:
    """The means over trials.

    Parameters
    ----------
    scores : sequence of BaselineScore
        At least one.
    overlap : float
        Of splits that are drawn anew for each trial, as of `over_trials`.

    Returns
    -------
    dict
        By name ``val`` and ``test``, each with ``accuracy`` as of `over_trials`, as far as there are such nodes; and
        ``best``, the name of the baseline with the highest validation accuracy, the first of equal ones.

    Examples
    --------
    >>> scores = [BaselineScore(0, "majority", 0.25, None), BaselineScore(0, "label_propagation", 0.5, None)]
    >>> summarize_baselines(scores)["best"], summarize_baselines(scores)["majority"]
    ('label_propagation', {'val': {'accuracy': {'mean': 0.25}}})
    """
    names = list(dict.fromkeys(score.baseline for score in scores))
    content: dict[str, Any] = {}
    for name in names:
        content[name] = {}
        for part in ("test", "val"):
            values = accuracies_of(scores, name, part)
            if values:
                content[name][part] = {"accuracy": over_trials(values, overlap=overlap)}
    validated = [name for name in names if "val" in content[name]]
    if validated:
        content["best"] = max(validated, key=lambda name: np.mean(accuracies_of(scores, name, "val")))
    return content


def accuracies_of(scores: Sequence[BaselineScore], name: str, part: str) -> list[float]:
    """The accuracies of one baseline, trial by trial; without those where there is no node.

    Parameters
    ----------
    scores : sequence of BaselineScore
    name : str
        Of the baseline.
    part : {"val", "test"}
    """
    mine = sorted((score for score in scores if score.baseline == name), key=lambda score: score.trial)
    return [value for score in mine if (value := score.accuracy(part)) is not None]
