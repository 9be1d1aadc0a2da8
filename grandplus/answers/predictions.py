"""Tables of predictions: one of each trial, and the one to take, which is the mean of the calibrated trials.

A trial's temperature is fitted on its own validation nodes. The mean leans on no choice among trials, and
holds where each trial has a split of its own. All tables have the same row groups, so they are read side
by side, and memory holds a group of each at most.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grandplus.errors import GrandPlusError
from grandplus.evaluation.calibration import CERTAINTY, PRECISION, fit_temperature, least_confidence, tempered
from grandplus.graph import Graph
from grandplus.scratch import finished_whole
from grandplus.splits import Nodes, Split, Splits

PREDICTIONS, CALIBRATION = "predictions.parquet", "calibration.json"
PARTS = ("train", "val", "test", "other")
ROWS = 2**16  # a row group
CLASSES = b"classes"  # metadata: their names, in the order of the probabilities


@dataclass(frozen=True)
class Calibration:
    """How the trials' probabilities become one answer.

    temperatures : one a trial
    threshold : least confidence of a confident answer; None if validation bears out none
    """

    temperatures: tuple[float, ...]
    threshold: float | None

    def combine(self, trials: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
        """The mean of the calibrated probabilities: (b, C) from (b, C) of each trial, taken one by one."""
        return mean_of(zip(trials, self.temperatures, strict=True))

    def confident(self, confidence: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Whether answers are to be relied on, by their confidence."""
        return np.asarray(confidence >= (math.inf if self.threshold is None else np.float32(self.threshold)))

    def save(self, file: Path) -> None:
        content = asdict(self) | {"precision": PRECISION, "certainty": CERTAINTY}
        with finished_whole(file) as partial:
            partial.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> Calibration:
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            return cls(tuple(content["temperatures"]), content["threshold"])
        except FileNotFoundError:
            raise GrandPlusError("no such file", where=file, fix="run dvc repro first") from None
        except (ValueError, KeyError, TypeError) as error:
            raise GrandPlusError(f"is no calibration: {error}", where=file, fix="run dvc repro infer") from None


def mean_of(trials: Iterable[tuple[NDArray[np.float32], float]]) -> NDArray[np.float32]:
    """The same of each trial's probabilities and temperature."""
    total: Any = 0.0
    count = 0
    for probabilities, temperature in trials:
        total = total + tempered(probabilities, temperature)
        count += 1
    return np.asarray(total / count, np.float32)


class HeldOut:
    """What the trials say of their validation nodes, which is all that calibration is fitted to.

    nodes : int64 (v,), those of any trial
    """

    def __init__(self, graph: Graph, splits: Splits) -> None:
        self.nodes = np.unique(np.concatenate([splits.of(trial).val for trial in range(splits.trials)]))
        self._labels = np.asarray(graph.labels[self.nodes])
        self._temperatures: list[float] = []
        self._total = np.zeros((len(self.nodes), len(graph.classes)))  # of the calibrated probabilities
        self._trials = np.zeros(len(self.nodes), np.int64)

    def add(self, val: Nodes, probabilities: NDArray[np.float32]) -> float:
        """Take note of the next trial's validation nodes (b,) and their probabilities (b, C); its temperature."""
        at = np.searchsorted(self.nodes, val)
        temperature = fit_temperature(probabilities, self._labels[at])
        self._total[at] += tempered(probabilities, temperature)
        self._trials[at] += 1
        self._temperatures.append(temperature)
        return temperature

    def calibration(self) -> Calibration:
        """After all trials. A node's held-out answer is the mean of those trials that validate on it."""
        mean = np.asarray(self._total / self._trials[:, None], np.float32)
        known = self._labels >= 0
        confidence, correct = mean.max(axis=1), mean.argmax(axis=1) == self._labels
        return Calibration(tuple(self._temperatures), least_confidence(confidence[known], correct[known]))


def write_trial(file: Path, graph: Graph, split: Split, probabilities: NDArray[np.float32]) -> None:
    """A line a node, in the order of the graph.

    Columns: node (original id), part (train, val, test or other), label (-1: unknown), predicted,
    confidence (of the predicted class), calibrated (the same after the temperature) and probabilities.
    """
    temperature = fit_temperature(probabilities[split.val], graph.labels[split.val])
    part = np.full(graph.adjacency.nodes, PARTS.index("other"), np.int8)
    for number, nodes in enumerate((split.train, split.val, split.test)):
        part[nodes] = number

    def group(start: int) -> pa.Table:
        rows = slice(start, start + ROWS)
        found = probabilities[rows]
        columns = {
            "node": pa.array(graph.node_ids[rows]),
            "part": _named(part[rows], PARTS),
            "label": pa.array(graph.labels[rows]),
            "predicted": pa.array(found.argmax(axis=1)),
            "confidence": pa.array(found.max(axis=1)),
            "calibrated": pa.array(tempered(found, temperature).max(axis=1).astype(np.float32)),
            "probabilities": _lists(found),
        }
        return pa.table(columns)

    _write(file, map(group, range(0, len(part), ROWS)))


def write_predictions(folder: Path, graph: Graph, splits: Splits) -> None:
    """Write ``predictions.parquet`` and ``calibration.json`` into a folder with the tables of all trials.

    Columns: node (original id), part (the first of train, val, test, other that it has in any trial), label and
    predicted (names of classes; null: unknown), confidence, confident (see ``least_confidence``), probabilities.
    """
    files = sorted(folder.glob("trial-*.parquet"))
    held_out = HeldOut(graph, splits)
    for trial, file in enumerate(files):
        groups = _groups(file, ["part", "probabilities"])
        chosen = [_matrix(group.filter(pc.equal(group["part"], "val"))) for group in groups]
        held_out.add(splits.of(trial).val, np.concatenate(chosen))
    calibration = held_out.calibration()
    calibration.save(folder / CALIBRATION)

    def combined(group: pa.Table, *trials: pa.Table) -> pa.Table:
        part = np.min([pc.index_in(trial["part"], pa.array(PARTS)).to_numpy() for trial in trials], axis=0)
        found = calibration.combine(map(_matrix, trials))
        confidence = found.max(axis=1)
        columns = {
            "node": group["node"],
            "part": _named(part, PARTS),
            "label": _named(group["label"].to_numpy(), graph.classes),
            "predicted": _named(found.argmax(axis=1), graph.classes),
            "confidence": pa.array(confidence),
            "confident": pa.array(calibration.confident(confidence)),
            "probabilities": _lists(found),
        }
        return pa.table(columns, metadata={CLASSES: json.dumps(graph.classes)})

    trials = (_groups(file, ["part", "probabilities"]) for file in files)
    _write(folder / PREDICTIONS, map(combined, _groups(files[0], ["node", "label"]), *trials))


def _write(file: Path, groups: Iterator[pa.Table]) -> None:
    first = next(groups)
    few = ["part", "label", "predicted"]  # different values, so their table pays; that of floats costs time
    with finished_whole(file) as partial, pq.ParquetWriter(partial, first.schema, use_dictionary=few) as writer:
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


def _matrix(table: pa.Table) -> NDArray[np.float32]:
    column = table["probabilities"]
    flat: NDArray[np.float32] = column.combine_chunks().flatten().to_numpy()
    return flat.reshape(len(column), column.type.list_size)
