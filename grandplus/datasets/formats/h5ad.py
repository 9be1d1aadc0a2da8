"""AnnData's ``.h5ad``: cells with features X, a neighbour graph in obsp, and labels in a column of obs.

X is dense or sparse. The graph is ``obsp/connectivities``, or the only matrix in obsp; ``source.read.edges`` names
another one. Its weights say how sure it is that two cells are neighbours; whether they are used or
left out has to be said. The class of a cell is in the column of obs that ``source.read.label`` names. It is read by
h5py, which is the extra ``h5ad``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount, zero_weights
from grandplus.datasets.arrays.edges import edges_of
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.files import pick
from grandplus.datasets.arrays.hdf5 import member, opened, read_array, read_sparse, read_strings, text_of
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.classes import class_numbers
from grandplus.datasets.tables.ids import as_numpy, first_repeated
from grandplus.datasets.tables.names import LABELS
from grandplus.runtime.errors import GrandPlusError

SUFFIX = ".h5ad"
READ = ("X", "obs", "obsp", "var")  # of the file
CONNECTIVITIES = "connectivities"
CELL_TYPES = ("cell_type", "celltype", "cell type", "cell_types", "celltypes", "cell_ontology_class", "annotation")
MAX_CLASSES = 0.5  # of the cells; a column with more different texts has names, not classes


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; cells are in its order.

    See `grandplus.datasets.formats.Format`.
    """
    file = pick(folder, files, SUFFIX)
    with opened(file, READ) as content:
        obs = _frame(content, "obs", file)
        ids = _index(obs, f"{file}, obs")
        nodes, label = len(ids), source.read.label
        twice = first_repeated(ids)
        if twice:
            found = f"rows {twice[0]} and {twice[1]} have the name {ids[twice[0]].as_py()}"
            fix = "call obs_names_make_unique() of the AnnData object, and write it again"
            raise GrandPlusError(found, where=f"{file}, obs", expected="a name for each cell", fix=fix)
        name = source.read.edges or _graph_name(_matrices(content, file), file)
        edges, weights, entries = _edges(content, name, nodes, source, file)
        labels, classes = np.full(nodes, -1), list[str]()
        if label is not None:
            where = f"{file}, obs/{label}"
            column = _column(obs, str(label), f"{file}, obs")
            if len(column) != nodes:
                raise GrandPlusError(f"has {len(column)} values", where=where, expected=f"{nodes}, a value a cell")
            labels, classes = class_numbers([column], source, where, lambda row: f"cell {ids[row]}")
        features, feature_names = _features(content, nodes, file)
        used = {"obs", "X", "var", "obsp"}
        unused = [f"obs/{column}" for column in _columns(obs) if column != label]
        unused += [f"obsp/{other}" for other in _matrices(content, file) if other != name]
        unused += [other for other in content if other not in used and not _is_empty(content, other, file)]
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features,
        labels=labels,
        classes=classes,
        node_ids=as_numpy(ids),
        splits=[],
        feature_names=feature_names,
        weights=weights,
        account=Account(
            (FileAccount(f"{file.name}, obs", nodes, "cells"), FileAccount(f"{file.name}, {name}", entries, "edges")),
            unused=tuple(unused),
            dropped=zero_weights(entries, edges.shape[1]),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .h5ad.

    See `grandplus.datasets.formats.Format`.
    """
    if [file.suffix for file in files] != [SUFFIX]:
        return None
    with opened(files[0], READ) as content:
        edges = asked.edges or _graph_name(_matrices(content, files[0]), files[0])
        label = asked.label
        if label is None:
            label = _label(_frame(content, "obs", files[0]), f"{files[0]}, obs")
        return asked.model_copy(update={"edges": edges, "label": str(label)})


def _is_empty(content: Any, name: str, file: Path) -> bool:
    """Whether it is a group that holds nothing, as anndata writes some."""
    group = member(content, name, file)
    return hasattr(group, "keys") and not len(group)


def _frame(content: Any, name: str, file: Path) -> Any:
    """The group of a table."""
    group = member(content, name, file)
    if not hasattr(group, "keys") or "_index" not in group.attrs:
        fix = "read it with anndata, and write it again"
        found = f"{name} is a table as anndata wrote it before version 0.7, or none"
        raise GrandPlusError(found, where=file, expected="a group of columns", fix=fix)
    return group


def _index(frame: Any, where: str) -> pa.Array:
    ids = _values(member(frame, text_of(frame.attrs["_index"]), where), f"{where}, its index")
    if ids.null_count or pa.types.is_floating(ids.type) or pa.types.is_boolean(ids.type):
        raise GrandPlusError(f"is {ids.type}", where=f"{where}, its index", expected="a name in each row")
    return ids.cast(pa.large_string())


def _columns(frame: Any) -> list[str]:
    """The names of the columns, without the index."""
    return [name for name in frame if name not in (text_of(frame.attrs["_index"]), "__categories")]


def _column(frame: Any, name: str, where: str) -> pa.Array:
    """A column as text or numbers, null where a value is missing."""
    if name not in _columns(frame):
        raise GrandPlusError(
            f"has no column {name}", where=where, expected=f"one of {', '.join(_columns(frame))}"[:300]
        )
    stored, where = member(frame, name, where), f"{where}/{name}"
    if "categories" in stored.attrs and not hasattr(stored, "keys"):  # as anndata 0.7 wrote them
        categories = member(member(frame, "__categories", where), name, where)
        return _coded(read_array(stored, where), read_strings(categories, where), where)
    return _values(stored, where)


def _values(stored: Any, where: str) -> pa.Array:
    """An array, or a group of arrays that stand for one."""
    if not hasattr(stored, "keys"):
        return pa.array(read_array(stored, where)) if stored.dtype.kind in "biuf" else read_strings(stored, where)
    kind = text_of(stored.attrs.get("encoding-type"))
    if kind == "categorical":
        categories = _values(member(stored, "categories", where), f"{where}/categories").cast(pa.large_string())
        return _coded(read_array(member(stored, "codes", where), where), categories, where)
    if kind.startswith("nullable-"):
        values = _values(member(stored, "values", where), where)
        missing = read_array(member(stored, "mask", where), where)
        if missing.shape != (len(values),):
            raise GrandPlusError("has a mask of another length", where=where, expected=f"{len(values)} values")
        return pc.if_else(pa.array(missing.astype(bool)), None, values)
    raise GrandPlusError(f"has encoding-type {kind or 'none'}", where=where, expected="a column of anndata")


def _coded(codes: NDArray[Any], categories: pa.Array, where: str) -> pa.Array:
    if (
        codes.ndim != 1
        or codes.dtype.kind != "i"
        or codes.min(initial=-1) < -1
        or codes.max(initial=-1) >= len(categories)
    ):
        expected = f"codes from -1 to {len(categories) - 1}, as there are {len(categories)} categories"
        raise GrandPlusError("has codes of no category", where=where, expected=expected)
    return categories.take(pa.array(np.where(codes < 0, 0, codes), mask=codes < 0))


def _label(obs: Any, where: str) -> str:
    """The column that has a usual name for classes, else the only one of text with several nodes a class."""
    columns = _columns(obs)
    named = [name for name in columns if name.lower() in (*LABELS, *CELL_TYPES)]
    if len(named) == 1:
        return named[0]
    classes = named or [name for name in columns if _are_classes(obs, name, where)]
    if len(classes) == 1:
        return classes[0]
    found = f"{len(classes) or 'none'} of its columns may be the classes: {', '.join(classes or columns)}"[:300]
    raise GrandPlusError(found, where=where, expected="one", fix="name it with --label")


def _are_classes(obs: Any, name: str, where: str) -> bool:
    stored = member(obs, name, where)
    text = hasattr(stored, "keys") or "categories" in stored.attrs or stored.dtype.kind in "OS"
    if not text:
        return False
    values = _column(obs, name, where)
    if not pa.types.is_large_string(values.type):
        return False
    return 2 <= int(pc.count_distinct(values).as_py()) <= MAX_CLASSES * len(values)


def _matrices(content: Any, file: Path) -> list[str]:
    """The names of the graphs."""
    return list(member(content, "obsp", file)) if "obsp" in content else []


def _graph_name(names: list[str], file: Path) -> str:
    if CONNECTIVITIES in names:
        return CONNECTIVITIES
    if len(names) == 1:
        return names[0]
    if not names:
        fix = "make one, as with scanpy.pp.neighbors, and write the file again"
        raise GrandPlusError("has no graph in obsp", where=file, expected=f"obsp/{CONNECTIVITIES}", fix=fix)
    found = f"has several graphs in obsp: {', '.join(names)}"[:300]
    raise GrandPlusError(found, where=file, expected="one", fix="name it with --edges")


def _edges(content: Any, name: str, nodes: int, source: Source, file: Path) -> tuple[NDArray[Any], Any, int]:
    """The edges of a graph in obsp, their weights, and how many entries it has."""
    where = f"{file}, obsp/{name}"
    if name not in _matrices(content, file):
        expected = f"one of {', '.join(_matrices(content, file)) or 'nothing'}, which obsp holds"[:300]
        raise GrandPlusError(f"has no obsp/{name}", where=file, expected=expected)
    matrix = read_sparse(member(content["obsp"], name, where), where)
    if matrix.shape != (nodes, nodes):
        raise GrandPlusError(f"has shape {matrix.shape[0]} x {matrix.shape[1]}", where=where, expected=f"{nodes} cells")
    return *edges_of(matrix, source, where), matrix.nnz


def _features(content: Any, nodes: int, file: Path) -> tuple[Any, list[str] | None]:
    """X and the names of its columns; None if there is none."""
    if "X" not in content:
        return None, None
    stored, where = member(content, "X", file), f"{file}, X"
    matrix = read_sparse(stored, where) if hasattr(stored, "keys") else read_array(stored, where)
    features = features_of(matrix, nodes, where)
    names = _index(_frame(content, "var", file), f"{file}, var") if "var" in content else None
    if names is not None and len(names) != features.shape[1]:
        raise GrandPlusError(f"has {features.shape[1]} columns", where=where, expected=f"{len(names)}, the rows of var")
    return features, None if names is None else names.to_pylist()
