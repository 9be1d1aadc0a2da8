"""Predictions as text: a line a node, with tabs or commas between the columns, or a list in JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from grandplus.evaluation.probabilities import CLASSES, probabilities_of
from grandplus.prediction.predictions import PREDICTIONS
from grandplus.prediction.predictor import Predictor
from grandplus.runtime.errors import ArgumentError
from grandplus.runtime.system_errors import artifact_errors

FORMATS = ("tsv", "csv", "json")


class Predicted(NamedTuple):
    """The prediction of one node."""

    node: int | str  # its id
    predicted: str  # the name of a class
    confidence: np.float32
    confident: bool
    l1_error: np.float32  # of its row of Π; 0 where inference is exact
    probabilities: Sequence[np.float32]  # a class each


def predict_nodes(predictor: Predictor, ids: Sequence[str]) -> Iterator[Predicted]:
    """Predict nodes from their own rows of Π.

    Parameters
    ----------
    predictor : Predictor
    ids : sequence of str
        As the data came with; they may repeat.

    Yields
    ------
    Predicted
        In the order of ``ids``.

    Raises
    ------
    ArgumentError
        There is no such node.
    """
    graph = predictor.graph
    nodes, positions = np.unique(graph.rows_of(ids), return_inverse=True)
    predictions = predictor.predict(nodes)
    known = graph.ids_of(nodes)
    for position in positions.tolist():
        yield Predicted(
            known[position],
            graph.classes[predictions.predicted[position]],
            predictions.confidence[position],
            bool(predictions.confident[position]),
            predictions.l1_error[position],
            predictions.probabilities[position],
        )


def read_predictions(folder: Path) -> tuple[list[str], Iterator[Predicted]]:
    """All predictions of a finished run, which are by exact inference.

    Parameters
    ----------
    folder : Path
        With ``predictions.parquet``.

    Returns
    -------
    classes : list of str
        Names, in the order of the probabilities.
    predictions : iterator of Predicted
        In the order of the graph.

    Raises
    ------
    ArtifactError
        The table is missing or damaged.
    """
    file = folder / PREDICTIONS
    with artifact_errors(file, "can't be read", pa.ArrowException, KeyError, TypeError, ValueError):
        table = pq.ParquetFile(file)
        classes: list[str] = json.loads(table.schema_arrow.metadata[CLASSES])
    return classes, _lines(table)


def write_as(file_format: str, out: TextIO, classes: Sequence[str], predictions: Iterable[Predicted]) -> None:
    """Write predictions as they come.

    Text has probabilities with four decimals and a head, with a column ``P(name)`` for each class; a value that
    contains the separator or a quote is quoted. JSON is a list with one object a node, each on a line of its own, and
    has the exact numbers.

    Parameters
    ----------
    file_format : {"tsv", "csv", "json"}
    out : file
        Open for text.
    classes : sequence of str
        Names, in the order of the probabilities.
    predictions : iterable of Predicted

    Raises
    ------
    ArgumentError
        There is no such format.

    Examples
    --------
    >>> import sys
    >>> half = np.float32(0.5)
    >>> write_as("csv", sys.stdout, ["a, b", "c"], [Predicted(7, "a, b", half, False, np.float32(0), [half, half])])
    node,predicted,confidence,confident,l1_error,"P(a, b)",P(c)
    7,"a, b",0.5000,no,0.000000,0.5000,0.5000
    """
    if file_format not in FORMATS:
        raise ArgumentError(f"the format is {file_format!r}", expected=f"one of {', '.join(FORMATS)}")
    if file_format == "json":
        _write_json(out, classes, predictions)
        return
    writer = csv.writer(out, delimiter={"tsv": "\t", "csv": ","}[file_format], lineterminator="\n")
    head = ["node", "predicted", "confidence", "confident", "l1_error"]
    writer.writerow([*head, *(f"P({name})" for name in classes)])
    for node, predicted, confidence, confident, l1_error, probabilities in predictions:
        shares = (f"{probability:.4f}" for probability in probabilities)
        confident_word = "yes" if confident else "no"
        writer.writerow([node, predicted, f"{confidence:.4f}", confident_word, f"{l1_error:.6f}", *shares])


def _write_json(out: TextIO, classes: Sequence[str], predictions: Iterable[Predicted]) -> None:
    separator = "["
    for prediction in predictions:
        shares = dict(zip(classes, map(_shortest, prediction.probabilities), strict=True))
        content: dict[str, Any] = prediction._asdict() | {
            "confidence": _shortest(prediction.confidence),
            "l1_error": _shortest(prediction.l1_error),
            "probabilities": shares,
        }
        out.write(f"{separator}\n{json.dumps(content, ensure_ascii=False)}")
        separator = ","
    out.write("\n]\n")


def _shortest(number: np.float32) -> float:
    """The number with the fewest digits that is the same float32."""
    return float(str(number))


def _lines(table: pq.ParquetFile) -> Iterator[Predicted]:
    exact = np.float32(0)
    with table:
        for number in range(table.num_row_groups):
            group = table.read_row_group(number)
            names = group["node"].to_pylist(), group["predicted"].to_pylist()
            confidence, confident = group["confidence"].to_numpy(), group["confident"].to_pylist()
            probabilities = probabilities_of(group)
            for node, predicted, sure, marked, shares in zip(*names, confidence, confident, probabilities, strict=True):
                yield Predicted(node, predicted, sure, marked, exact, shares)
