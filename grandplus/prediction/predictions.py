"""Tables of predictions: one for each trial, and the one to use, which is the mean of the calibrated trials.

The mean depends on no choice among trials, and is valid where each trial has a split of its own. All tables have the
same row groups, so they are read side by side, and memory holds one group of each at most.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.evaluation.probabilities import CLASSES, probabilities_of
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split, Splits
from grandplus.prediction.calibration import CALIBRATION, HeldOut
from grandplus.prediction.settings import Decision
from grandplus.prediction.temperature import fit_temperature, tempered
from grandplus.runtime.storage import finished_whole
from grandplus.runtime.system_errors import artifact_errors

PREDICTIONS = "predictions.parquet"
PARTS = ("train", "val", "test", "other")
GROUP_ROWS = 2**16  # of a row group of Parquet


def write_trial(file: Path, graph: Graph, split: Split, probabilities: NDArray[np.float32]) -> None:
    """Write a trial's table: a line for each node, in the order of the graph.

    Its columns are node (original id), part (train, val, test or other), label (-1: unknown), predicted,
    confidence (of the predicted class), calibrated (the same after the temperature) and probabilities.

    Parameters
    ----------
    file : path
    graph : Graph
    split : Split
        The trial's.
    probabilities : ndarray of float32, shape (n, C)
        Of all nodes.
    """
    temperature = fit_temperature(probabilities[split.val], graph.labels[split.val])
    part = np.full(graph.adjacency.nodes, PARTS.index("other"), np.int8)
    for number, nodes in enumerate((split.train, split.val, split.test)):
        part[nodes] = number

    def group(start: int) -> pa.Table:
        rows = slice(start, start + GROUP_ROWS)
        chosen = probabilities[rows]
        columns = {
            "node": pa.array(graph.node_ids[rows]),
            "part": _named(part[rows], PARTS),
            "label": pa.array(graph.labels[rows]),
            "predicted": pa.array(chosen.argmax(axis=1)),
            "confidence": pa.array(chosen.max(axis=1)),
            "calibrated": pa.array(tempered(chosen, temperature).max(axis=1).astype(np.float32)),
            "probabilities": _lists(chosen),
        }
        return pa.table(columns)

    _write(file, map(group, range(0, len(part), GROUP_ROWS)))


def write_predictions(
    folder: Path, graph: Graph, splits: Splits, decision: Decision = "most-probable", models: str | None = None
) -> None:
    """Write ``predictions.parquet`` and ``calibration.json`` into a folder with the tables of all trials.

    The columns are node (original id), part (the first of train, val, test, other that it has in any trial), label
    and predicted (names of classes; null: unknown), confidence, confident (see `least_confidence`), probabilities.

    Parameters
    ----------
    folder : path
        With ``trial-00000.parquet``, … of `write_trial`.
    graph : Graph
    splits : Splits
    decision : {"most-probable", "threshold"}
        Whether a threshold decides between two classes, see `grandplus.prediction.decision`.
    models : str, optional
        Which models the tables are of, see `grandplus.prediction.calibration.Calibration`.

    Raises
    ------
    GrandPlusError
        It can't, as there are other than two classes or validation nodes are all of one.
    """
    files = sorted(folder.glob("trial-*.parquet"))
    held_out = HeldOut(graph, splits, decision)
    for trial, file in enumerate(files):
        groups = _groups(file, ["part", "probabilities"])
        chosen = [probabilities_of(group.filter(pc.equal(group["part"], "val"))) for group in groups]
        held_out.add(splits.of(trial).val, np.concatenate(chosen))
    calibration = replace(held_out.calibration(), models=models)
    calibration.save(folder / CALIBRATION)

    def combined(group: pa.Table, *trials: pa.Table) -> pa.Table:
        part = np.min([pc.index_in(trial["part"], pa.array(PARTS)).to_numpy() for trial in trials], axis=0)
        mean = calibration.combine(map(probabilities_of, trials))
        predicted, confidence = calibration.decide(mean)
        columns = {
            "node": group["node"],
            "part": _named(part, PARTS),
            "label": _named(group["label"].to_numpy(), graph.classes),
            "predicted": _named(predicted, graph.classes),
            "confidence": pa.array(confidence),
            "confident": pa.array(calibration.confident(confidence)),
            "probabilities": _lists(mean),
        }
        return pa.table(columns, metadata={CLASSES: json.dumps(graph.classes)})

    trials = (_groups(file, ["part", "probabilities"]) for file in files)
    _write(folder / PREDICTIONS, map(combined, _groups(files[0], ["node", "label"]), *trials))


def read_probabilities(folder: Path, graph: Graph) -> NDArray[np.float32] | None:
    """The probabilities of ``predictions.parquet``, if there is this table and it is of a graph.

    Parameters
    ----------
    folder : Path
    graph : Graph

    Returns
    -------
    float32 (n, C), or None
        None where there is no table, or one of other nodes or classes.

    Raises
    ------
    ArtifactError
        The table is damaged.
    """
    file = folder / PREDICTIONS
    if not file.exists():
        return None
    with artifact_errors(file, "can't be read", pa.ArrowException, KeyError, TypeError, ValueError):
        table = pq.read_table(file, columns=["node", "probabilities"])
        classes = json.loads(table.schema.metadata[CLASSES])
        same = classes == graph.classes and np.array_equal(table["node"].to_numpy(), graph.node_ids)
        return probabilities_of(table) if same else None


def _write(file: Path, groups: Iterator[pa.Table]) -> None:
    first = next(groups)
    repeating = ["part", "label", "predicted"]  # a dictionary pays for these; for floats it only costs time
    with finished_whole(file) as partial, pq.ParquetWriter(partial, first.schema, use_dictionary=repeating) as writer:
        for group in itertools.chain([first], groups):
            writer.write_table(group)


def _groups(file: Path, columns: list[str]) -> Iterator[pa.Table]:
    with pq.ParquetFile(file) as content:
        for number in range(content.num_row_groups):
            yield content.read_row_group(number, columns)


def _named(numbers: NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Strings (b,) by number; null for -1."""
    codes = pa.array(numbers.astype(np.int32), mask=numbers < 0)
    return pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string())).cast(pa.string())


def _lists(probabilities: NDArray[np.float32]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(probabilities.ravel()), probabilities.shape[1])
