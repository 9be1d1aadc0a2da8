"""Which test nodes the trials have right, in two Parquet files beside the trials' lines: the nodes, and bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.trials import Row
from grandplus.evaluation.node_scores import NodeScores
from grandplus.runtime.storage import finished_whole

KEY = ("matrix", "change", "trial")
BITS = pa.schema(
    [("matrix", "string"), ("change", "string"), ("trial", "int32"), ("inputs", "string"), ("right", "binary")]
)
TESTED = pa.schema([("trial", "int32"), ("node", "int32"), ("label", "int16")])


class Right:
    """What all trials on one graph have right.

    Parameters
    ----------
    file : Path
        Of the bits; the nodes are in ``<file>-nodes.parquet``. They may not be there yet.
    """

    def __init__(self, file: Path) -> None:
        self._bits_file, self._nodes_file = file, file.with_name(f"{file.stem}-nodes.parquet")
        self._bits: dict[tuple[Any, ...], Row] = {}
        self._nodes: dict[int, pa.Table] = {}
        if self._bits_file.exists() and self._nodes_file.exists():
            self._bits = {_key(row): row for row in pq.read_table(self._bits_file, schema=BITS).to_pylist()}
            tested = pq.read_table(self._nodes_file, schema=TESTED)
            starts = np.flatnonzero(np.diff(tested["trial"], prepend=-1))
            lengths = np.diff(starts, append=len(tested))
            tables = [tested.slice(*part) for part in zip(starts, lengths, strict=True)]
            self._nodes = {table["trial"][0].as_py(): table for table in tables}

    def add(self, row: Row) -> None:
        """Keep what a row takes along: ``nodes`` tested, their ``labels``, and ``right``, arrays of the same length."""
        trial, nodes, labels = row["trial"], row["nodes"], row["labels"]
        table = pa.table([np.full(len(nodes), trial), nodes, labels], TESTED.names).cast(TESTED)
        if not table.equals(self._nodes.get(trial)):
            self._nodes[trial] = table
            every = pa.concat_tables([self._nodes[known] for known in sorted(self._nodes)])
            _write(
                self._nodes_file,
                every,
                use_dictionary=["trial", "label"],
                column_encoding={"node": "DELTA_BINARY_PACKED"},
            )
        self._bits[_key(row)] = row | {"right": np.packbits(row["right"]).tobytes()}
        rows = [{name: self._bits[key][name] for name in BITS.names} for key in sorted(self._bits)]
        _write(self._bits_file, pa.Table.from_pylist(rows, BITS))

    def has(self, row: Row) -> bool:
        """Whether it is kept what this row has right."""
        return self._bits.get(_key(row), {}).get("inputs") == row["inputs"] and row["trial"] in self._nodes

    def of(self, rows: Sequence[Row]) -> NodeScores:
        """What rows have right, for intervals over nodes."""
        tables = [self._nodes[row["trial"]] for row in rows]
        nodes, classes = ([np.asarray(table[name], np.int64) for table in tables] for name in ("node", "label"))
        labels = np.full(1 + max(of_trial.max() for of_trial in nodes), -1)
        for of_trial, theirs in zip(nodes, classes, strict=True):
            labels[of_trial] = theirs
        packed = [np.frombuffer(self._bits[_key(row)]["right"], np.uint8) for row in rows]
        right = [np.unpackbits(bits, count=len(part)) == 1 for bits, part in zip(packed, nodes, strict=True)]
        return NodeScores.of(nodes, right, labels)


def _write(file: Path, table: pa.Table, **options: Any) -> None:
    with finished_whole(file, alone=True) as partial:
        pq.write_table(table, partial, compression="zstd", compression_level=19, **options)


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)
