"""DGL's CSVDataset: ``meta.yaml``, which names a table of nodes and a table of edges.

Nodes have ``node_id`` and, if you like, ``label``, ``feat`` (numbers between commas, in quotes), ``train_mask``,
``val_mask`` and ``test_mask``. Edges have ``src_id`` and ``dst_id``. Further columns of nodes are not used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.masks import splits_of
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.edge_weights import read_weights, used_weight_column
from grandplus.datasets.tables.feature_files import vectors_of
from grandplus.datasets.tables.ids import as_numpy, check_unique, ids_of, order_of, same_type
from grandplus.datasets.tables.known_ids import known_rows, named_ids
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.table import Table
from grandplus.runtime.errors import GrandPlusError

META = "meta.yaml"
ENDS, NODE, LABEL, FEATURES = ("src_id", "dst_id"), "node_id", "label", "feat"
MASKS = {"train": "train_mask", "val": "val_mask", "test": "test_mask"}
MAX_META = 2**20  # bytes


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the tables; nodes are in the order of their ids.

    See `grandplus.datasets.formats.Format`.
    """
    edges, nodes = _tables(folder, files)
    weight = used_weight_column(edges, [edges.column(end) for end in ENDS], source.read)
    others = [name for column, name in enumerate(edges.names or []) if name not in ENDS and column != weight]
    label = source.read.label or LABEL
    starts, stops, ids = same_type(
        *ids_of(edges, [edges.column(end) for end in ENDS]), *ids_of(nodes, [nodes.column(NODE)])
    )
    check_unique(ids, nodes)
    by_id = order_of(ids)
    ids = ids.take(pa.array(by_id))
    labels, classes = _labels(nodes, label, len(ids), source)
    features = _features(nodes)
    masks = {part: _mask(nodes, name)[by_id] for part, name in MASKS.items() if name in (nodes.names or [])}
    weights = read_weights(edges, weight, source.read)
    used = {NODE, label, FEATURES, *MASKS.values()}
    rows = [known_rows(end, ids, edges, nodes.file.name) for end in (starts, stops)]
    return RawGraph(
        edges=np.stack(rows),
        nodes=len(ids),
        features=None if features is None else features[by_id],
        labels=labels[by_id],
        classes=classes,
        node_ids=as_numpy(ids),
        splits=splits_of(masks, len(ids), nodes.file),
        weights=weights,
        account=Account(
            (
                FileAccount(edges.file.name, len(starts), "edges", edges.skipped_lines()),
                FileAccount(nodes.file.name, len(ids), "nodes", nodes.skipped_lines()),
            ),
            ids=named_ids(rows, len(ids)),
            unused=(
                *(f"{nodes.file.name}, {name}" for name in nodes.names or [] if name not in used),
                *(f"{edges.file.name}, {name}" for name in others),
                *(name for name in files if folder / name not in (edges.file, nodes.file, _meta_file(folder, files))),
            ),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """A file meta.yaml that names tables of edges and of nodes.

    See `grandplus.datasets.formats.Format`.
    """
    meta = [file for file in files if file.name == META]
    if len(meta) != 1:
        return None
    return asked if {"edge_data", "node_data"} & set(_content(meta[0])) else None


def _meta_file(folder: Path, files: list[str]) -> Path:
    named = [name for name in files if Path(name).name == META]
    if len(named) != 1:
        raise GrandPlusError(f"holds {', '.join(files)}", where=folder, expected=f"one file {META}")
    return folder / named[0]


def _content(meta: Path) -> dict[str, Any]:
    """What meta.yaml holds; nothing is made of it but numbers, text, lists and mappings."""
    if meta.stat().st_size > MAX_META:
        raise GrandPlusError(f"has {meta.stat().st_size:,} bytes", where=meta, expected=f"at most {MAX_META:,}")
    try:
        content = YAML(typ="safe", pure=True).load(meta.read_text(encoding="utf-8-sig"))
    except (YAMLError, ValueError, RecursionError, OSError) as error:
        raise GrandPlusError(f"is no readable YAML: {error}", where=meta) from None
    if not isinstance(content, dict):
        raise GrandPlusError(f"holds a {type(content).__name__}", where=meta, expected="a mapping")
    return content


def _tables(folder: Path, files: list[str]) -> tuple[Table, Table]:
    """The table of edges and that of nodes."""
    meta = _meta_file(folder, files)
    content = _content(meta)
    if content.get("graph_data") is not None:
        raise GrandPlusError("has graph_data, so there are several graphs", where=meta, expected="one graph")
    edges, nodes = (_table(content.get(f"{kind}_data"), kind, meta, folder, files) for kind in ("edge", "node"))
    separator = content.get("separator", ",")
    for table in (edges, nodes):
        if table.width > 1 and table.delimiter != separator:
            found = f"has {table.delimiter!r} between its fields"
            raise GrandPlusError(found, where=table.file, expected=f"{separator!r}, as {META} says")
        if "graph_id" in (table.names or []):
            raise GrandPlusError("has a column graph_id", where=table.file, expected="one graph")
    return edges, nodes


def _table(listed: Any, kind: str, meta: Path, folder: Path, files: list[str]) -> Table:
    if not isinstance(listed, list) or not listed or not all(isinstance(entry, dict) for entry in listed):
        _raise_list(f"{kind}_data is {listed!r:.60}", kind, meta)
    if len(listed) > 1:
        types = [str(entry.get("etype" if kind == "edge" else "ntype", "one without a name")) for entry in listed]
        found = f"has {len(listed)} types of {kind}s: {', '.join(types[:10])}"
        raise GrandPlusError(found, where=meta, expected=f"one type of {kind}s, as the method knows no types")
    name = listed[0].get("file_name")
    if not isinstance(name, str):
        _raise_list(f"{kind}_data names no file", kind, meta)
    file = meta.parent / name
    if file.parent != meta.parent or file.relative_to(folder).as_posix() not in files:
        expected = "a file in the same folder that is imported, too"
        raise GrandPlusError(f"names {name!r:.60} under {kind}_data", where=meta, expected=expected)
    return look(file, header=True)


def _raise_list(found: str, kind: str, meta: Path) -> NoReturn:
    raise GrandPlusError(found, where=meta, expected=f"[{{file_name: {kind}s_0.csv}}]")


def _labels(nodes: Table, label: Any, count: int, source: Source) -> tuple[NDArray[np.int64], list[str]]:
    if source.read.label is None and label not in (nodes.names or []):
        return np.full(count, -1), []
    pieces = [piece for (piece,) in nodes.pieces([nodes.column(label)])]
    return class_numbers(pieces, source, f"{nodes.file}, column {label}", nodes.line)


def _features(nodes: Table) -> Any:
    """In the order of the table; None if there are none."""
    if FEATURES not in (nodes.names or []):
        return None
    pieces = [piece for (piece,) in nodes.pieces([nodes.column(FEATURES)])]
    lists = pc.split_pattern(pa.chunked_array(pieces, pa.string()).combine_chunks(), ",")
    lengths = np.asarray(pc.list_value_length(lists), np.int64)
    where = f"{nodes.file}, column {FEATURES}"
    try:
        values = pc.utf8_trim_whitespace(lists.flatten()).cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise GrandPlusError(f"can't be read: {error}", where=where, expected="numbers between commas") from None
    return vectors_of(lengths, np.asarray(values), nodes.line, where)


def _mask(nodes: Table, name: str) -> NDArray[np.int8]:
    pieces = [piece for (piece,) in nodes.pieces([nodes.column(name)])]
    texts = pc.utf8_lower(pa.chunked_array(pieces, pa.string()).combine_chunks())
    true, false = (np.asarray(pc.is_in(texts, value_set=pa.array(values))) for values in (_TRUE, _FALSE))
    wrong = np.flatnonzero(~(true | false))
    if len(wrong):
        found = f"{nodes.line(int(wrong[0]))} is {texts[int(wrong[0])].as_py()!r:.40}"
        raise GrandPlusError(found, where=f"{nodes.file}, column {name}", expected="1 or 0, or True or False")
    return true.astype(np.int8)


_TRUE, _FALSE = ("1", "1.0", "true"), ("0", "0.0", "false")
