"""Predictions as text, a line a node with tabs or commas between the columns or a list in JSON; or as Parquet."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from grandplus.evaluation.probabilities import CLASSES, probabilities_of
from grandplus.prediction.predictions import GROUP_ROWS, PREDICTIONS
from grandplus.prediction.predictor import Predictor
from grandplus.runtime.errors import ArgumentError
from grandplus.runtime.storage import finished_whole
from grandplus.runtime.system_errors import artifact_errors

FORMATS = ("tsv", "csv", "json")
PARQUET = "parquet"
_TYPES = {"confidence": pa.float32(), "confident": pa.bool_(), "l1_error": pa.float32(), "predicted": pa.string()}


class Predicted(NamedTuple):
    """The prediction of one node."""

    node: int | str  # its id
    predicted: str  # the name of a class
    confidence: np.float32
    confident: bool
    l1_error: np.float32  # of its row of Π; 0 where inference is exact
    probabilities: Sequence[np.float32]  # a class each


def predict_nodes(predictor: Predictor, ids: Sequence[str]) -> list[Predicted]:
    """Predict nodes from their own rows of Π.

    Parameters
    ----------
    predictor : Predictor
    ids : sequence of str
        As the data came with; they may repeat.

    Returns
    -------
    list of Predicted
        In the order of ``ids``. It is no iterator: a mistake in an id is told before anything is written.

    Raises
    ------
    ArgumentError
        There is no such node.
    """
    graph = predictor.graph
    nodes, positions = np.unique(graph.rows_of(ids), return_inverse=True)
    predictions = predictor.predict(nodes)
    known = graph.ids_of(nodes)
    lines = [
        Predicted(
            known[place],
            graph.classes[predictions.predicted[place]],
            predictions.confidence[place],
            bool(predictions.confident[place]),
            predictions.l1_error[place],
            predictions.probabilities[place],
        )
        for place in range(len(nodes))
    ]
    return [lines[position] for position in positions.tolist()]


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


def write_file(file: Path, classes: Sequence[str], predictions: Iterable[Predicted]) -> tuple[int, int]:
    """Write predictions to a file, whole or not at all.

    Parameters
    ----------
    file : Path
        The end of its name tells the format. ``.parquet`` has the columns node, predicted, confidence, confident,
        l1_error and probabilities, whose order is that of ``classes`` in the metadata; others are as in `write_as`.
    classes : sequence of str
        Names, in the order of the probabilities.
    predictions : iterable of Predicted

    Returns
    -------
    nodes, confident : int
        How many were written, and how many of them are confident.

    Raises
    ------
    ArgumentError
        The name has another end.
    """
    file_format = file.suffix.removeprefix(".").lower()
    if file_format not in (PARQUET, *FORMATS):
        ends = ", ".join(f".{known}" for known in (PARQUET, *FORMATS))
        raise ArgumentError(f"the file is called {file.name}", expected=f"a name that ends with one of {ends}")
    counts = [0, 0]

    def counted() -> Iterator[Predicted]:
        for prediction in predictions:
            counts[0], counts[1] = counts[0] + 1, counts[1] + prediction.confident
            yield prediction

    with finished_whole(file, alone=True) as partial:
        if file_format == PARQUET:
            _write_parquet(partial, classes, counted())
        else:
            with partial.open("w", encoding="utf-8", newline="") as out:
                write_as(file_format, out, classes, counted())
    return counts[0], counts[1]


def _write_parquet(file: Path, classes: Sequence[str], predictions: Iterator[Predicted]) -> None:
    table = _table(classes, list(itertools.islice(predictions, GROUP_ROWS)))
    with pq.ParquetWriter(file, table.schema) as writer:
        while len(table):
            writer.write_table(table)
            table = _table(classes, list(itertools.islice(predictions, GROUP_ROWS)))


def _table(classes: Sequence[str], predictions: list[Predicted]) -> pa.Table:
    columns = {field: [getattr(line, field) for line in predictions] for field in Predicted._fields}
    flat = np.array(columns.pop("probabilities"), np.float32).ravel()
    arrays = {name: pa.array(values, _TYPES.get(name)) for name, values in columns.items()}
    arrays["probabilities"] = pa.FixedSizeListArray.from_arrays(pa.array(flat), len(classes))
    return pa.table(arrays, metadata={CLASSES: json.dumps(list(classes))})


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
