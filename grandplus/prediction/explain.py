"""Why a node is predicted so: the neighbours that its row of Π takes features from, and what is predicted of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.evaluation.probabilities import CLASSES
from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.graph.splits import Splits
from grandplus.prediction.calibration import CALIBRATION, Calibration
from grandplus.prediction.predictions import PREDICTIONS
from grandplus.prediction.predictor import Predictor
from grandplus.runtime.errors import ArtifactError
from grandplus.runtime.system_errors import artifact_errors

OTHER_RUN = "the predictions are of another run than the predictor"


@dataclass(frozen=True)
class Neighbour:
    """A node that another one's row of Π takes features from.

    Attributes
    ----------
    node : object
        Its id.
    label : str or None
        Its class, where that is known.
    trained_on : bool
        Whether any trial was trained on its label.
    predicted : str
        The class that the run's full inference predicts, or its row if it came later.
    confidence : float
        The probability of that class.
    value : float
        Its entry in the row.
    share : float
        The same as a share of the row's sum.
    """

    node: Any
    label: str | None
    trained_on: bool
    predicted: str
    confidence: float
    value: float
    share: float


@dataclass(frozen=True)
class ClassShare:
    """A class that a node may have.

    Attributes
    ----------
    name : str
    probability : float
        Of the node to have it.
    share : float
        Share of the node's row that falls to neighbours which are predicted to have it.
    """

    name: str
    probability: float
    share: float


@dataclass(frozen=True)
class Explanation:
    """A prediction of a node and where it comes from.

    Attributes
    ----------
    node : object
        Its id.
    label : str or None
        Its class, where that is known.
    trained_on : bool
        Whether any trial was trained on its label.
    predicted : str
    confidence : float
    confident : bool
    l1_error : float
        What its row lacks of the exact row of Π.
    neighbours : list of Neighbour
        Itself among them; the largest entry of the row first.
    classes : list of ClassShare
        All classes; the most probable one first.
    """

    node: Any
    label: str | None
    trained_on: bool
    predicted: str
    confidence: float
    confident: bool
    l1_error: float
    neighbours: list[Neighbour]
    classes: list[ClassShare]


def explain(predictor: Predictor, node: str, data: Path | str = "data") -> Explanation:
    """Explain the prediction of one node.

    Parameters
    ----------
    predictor : Predictor
    node : str
        Its id.
    data : path
        The run's folder, for splits and the predictions of the neighbours.

    Returns
    -------
    Explanation

    Raises
    ------
    GrandPlusError
        There is no such node.
    ArtifactError
        A file of the run is missing or damaged, or the predictions there are of other models than the predictor's.
    """
    graph = predictor.graph
    _check_run(predictor, Path(data))
    row = graph.rows_of([node])
    prediction = predictor.predict(row)
    probabilities = prediction.probabilities[0]
    trained_on = _trained_on(Path(data))
    neighbours = list(_neighbours(predictor, row, trained_on, Path(data)))
    shares = dict.fromkeys(graph.classes, 0.0)
    for neighbour in neighbours:
        shares[neighbour.predicted] += neighbour.share
    ranked = [graph.classes[number] for number in np.argsort(-probabilities, kind="stable")]
    by_class = dict(zip(graph.classes, probabilities.tolist(), strict=True))
    return Explanation(
        node=graph.ids_of(row)[0],
        label=_labels(graph, row)[0],
        trained_on=int(row[0]) in trained_on,
        predicted=graph.classes[prediction.predicted[0]],
        confidence=float(prediction.confidence[0]),
        confident=bool(prediction.confident[0]),
        l1_error=float(prediction.l1_error[0]),
        neighbours=neighbours,
        classes=[ClassShare(name, by_class[name], shares[name]) for name in ranked],
    )


def _check_run(predictor: Predictor, data: Path) -> None:
    """Refuse predictions of another run, as one that has ended since the predictor was loaded leaves them."""
    noted = predictor.calibration.models, Calibration.load(data / "predictions" / CALIBRATION).models
    if None not in noted and noted[0] != noted[1]:
        raise ArtifactError(OTHER_RUN, where=data / "predictions")


def _neighbours(predictor: Predictor, row: NDArray[np.int64], trained_on: set[int], data: Path) -> Iterator[Neighbour]:
    graph, pushed = predictor.graph, predictor.push(row)
    held = pushed.neighbors[0] >= 0
    nodes, values = pushed.neighbors[0][held], pushed.values[0][held].astype(np.float64)
    total = values.sum()
    predicted = _predictions(predictor, nodes, data)
    known = nodes.tolist(), graph.ids_of(nodes), _labels(graph, nodes), values.tolist()
    for number, name, label, value in zip(*known, strict=True):
        yield Neighbour(name, label, number in trained_on, *predicted[number], value, share=value / total)


def _labels(graph: Graph | GrownGraph, nodes: NDArray[Any]) -> list[str | None]:
    return [graph.classes[label] if label >= 0 else None for label in graph.labels_of(nodes).tolist()]


def _trained_on(data: Path) -> set[int]:
    table = Splits.load(data / "graph").table
    return set(table.filter(pc.equal(table["part"], "train"))["node"].to_pylist())


def _predictions(predictor: Predictor, nodes: NDArray[Any], data: Path) -> dict[int, tuple[str, float]]:
    """Class and probability by node: by the run's full inference, or of nodes that came later by their rows."""
    file, graph = data / "predictions" / PREDICTIONS, predictor.graph
    with artifact_errors(file, "can't be read as predictions", pa.ArrowException, KeyError, TypeError, ValueError):
        table = pq.read_table(file, columns=["predicted", "confidence"], read_dictionary=["predicted"])
        classes = json.loads(table.schema.metadata[CLASSES])
    if classes != graph.classes:
        raise ArtifactError(OTHER_RUN, where=file.parent)
    old = nodes < len(table)
    lines = table.take(pa.array(nodes[old])).to_pylist()
    made = {
        node: (line["predicted"], line["confidence"]) for node, line in zip(nodes[old].tolist(), lines, strict=True)
    }
    if not old.all():
        later = predictor.predict(nodes[~old])
        names = [graph.classes[number] for number in later.predicted.tolist()]
        made |= dict(zip(later.node.tolist(), zip(names, later.confidence.tolist(), strict=True), strict=True))
    return made
