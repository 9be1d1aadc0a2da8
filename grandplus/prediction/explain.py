"""Why a node is predicted so: the neighbours that its row of Π takes features from, and what is predicted of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.graph.ids import rows_of
from grandplus.graph.splits import Splits
from grandplus.prediction.predictions import PREDICTIONS
from grandplus.prediction.predictor import Predictor
from grandplus.runtime.system_errors import artifact_errors


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
        The class that full inference predicts.
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
        A file of the run is missing or damaged.
    """
    graph = predictor.graph
    row = rows_of(graph.node_ids, [node])
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
        node=graph.node_ids[row[0]],
        label=_label(graph, int(row[0])),
        trained_on=int(row[0]) in trained_on,
        predicted=ranked[0],
        confidence=float(prediction.confidence[0]),
        confident=bool(prediction.confident[0]),
        l1_error=float(prediction.l1_error[0]),
        neighbours=neighbours,
        classes=[ClassShare(name, by_class[name], shares[name]) for name in ranked],
    )


def _neighbours(predictor: Predictor, row: NDArray[np.int64], trained_on: set[int], data: Path) -> Iterator[Neighbour]:
    graph, pushed = predictor.graph, predictor.push(row)
    held = pushed.neighbors[0] >= 0
    nodes, values = pushed.neighbors[0][held], pushed.values[0][held].astype(np.float64)
    total = values.sum()
    for number, value, line in zip(nodes.tolist(), values.tolist(), _predictions(nodes, data), strict=True):
        yield Neighbour(
            node=graph.node_ids[number],
            label=_label(graph, number),
            trained_on=number in trained_on,
            predicted=line["predicted"],
            confidence=line["confidence"],
            value=value,
            share=value / total,
        )


def _label(graph: Graph, number: int) -> str | None:
    label = graph.labels[number]
    return graph.classes[label] if label >= 0 else None


def _trained_on(data: Path) -> set[int]:
    table = Splits.load(data / "graph").table
    return set(table.filter(pc.equal(table["part"], "train"))["node"].to_pylist())


def _predictions(nodes: NDArray[Any], data: Path) -> list[dict[str, Any]]:
    """``predicted`` and ``confidence`` of each node, by full inference."""
    file = data / "predictions" / PREDICTIONS
    with artifact_errors(file, "can't be read as predictions", pa.ArrowException):
        table = pq.read_table(file, columns=["predicted", "confidence"], read_dictionary=["predicted"])
    return list(table.take(pa.array(nodes)).to_pylist())
