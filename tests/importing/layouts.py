"""Writers of the layouts of graph collections: the files of OGB, DGL, GraphSAINT, geom-gcn, PyTorch and AnnData."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from random_graphs import RandomGraph
from scipy import sparse

PARTS = ("train", "val", "test")


def part_of(graph: RandomGraph) -> np.ndarray[Any, Any]:
    """0, 1 or 2 for each node: the part of the split that it is in."""
    return np.arange(len(graph.ids)) % 3


def numbered(graph: RandomGraph) -> RandomGraph:
    """With whole numbers as classes."""
    known = sorted({label for label in graph.labels if label is not None})
    names = {name: name if all(map(str.isdecimal, known)) else str(number) for number, name in enumerate(known)}
    return replace(graph, labels=[None if label is None else names[label] for label in graph.labels])


def numbers(graph: RandomGraph, unknown: float) -> np.ndarray[Any, Any]:
    return np.array([unknown if label is None else int(label) for label in graph.labels])


def adjacency(graph: RandomGraph) -> Any:
    """An edge that repeats is one entry."""
    start, end = np.array(graph.edges).T
    matrix = sparse.coo_array((np.ones(len(start)), (start, end)), shape=(len(graph.ids),) * 2)
    matrix = matrix.tocsr()
    matrix.data[:] = 1
    return matrix.astype(np.float32)


def write_lines(file: Path, rows: Any) -> None:
    """As pandas' ``to_csv`` with neither header nor index; packed if the name says so."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(",".join(map(str, np.atleast_1d(row))) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)


def ogb(graph: RandomGraph, folder: Path, *, packed: bool = True, counts: bool = True, split: bool = True) -> None:
    end = ".csv.gz" if packed else ".csv"
    write_lines(folder / f"raw/edge{end}", graph.edges)
    write_lines(folder / f"raw/node-label{end}", ['""' if label is None else label for label in graph.labels])
    if graph.features is not None:
        write_lines(folder / f"raw/node-feat{end}", graph.features)
    if counts:
        write_lines(folder / f"raw/num-node-list{end}", [len(graph.ids)])
        write_lines(folder / f"raw/num-edge-list{end}", [len(graph.edges)])
    ogb_split(graph, folder, end) if split else None


def ogb_split(graph: RandomGraph, folder: Path, end: str = ".csv.gz") -> None:
    for number, name in enumerate(("train", "valid", "test")):
        write_lines(folder / f"split/time/{name}{end}", np.flatnonzero(part_of(graph) == number))


def ogb_arrays(graph: RandomGraph, folder: Path, *, dtype: str = "float16") -> None:
    """As papers100M-bin is."""
    (folder / "raw").mkdir(parents=True)
    arrays = {} if graph.features is None else {"node_feat": graph.features.astype(dtype)}
    np.savez(folder / "raw/data.npz", edge_index=np.array(graph.edges).T, num_nodes_list=[len(graph.ids)], **arrays)
    np.savez_compressed(folder / "raw/node-label.npz", node_label=numbers(graph, np.nan).astype(np.float32)[:, None])
    ogb_split(graph, folder)


def graphsaint(graph: RandomGraph, folder: Path, *, one_hot: bool = False) -> None:
    matrix = adjacency(graph)
    sparse.save_npz(folder / "adj_full.npz", matrix)
    sparse.save_npz(folder / "adj_train.npz", matrix)
    if graph.features is not None:
        np.save(folder / "feats.npy", graph.features)
    labels: dict[str, Any] = {str(row): label for row, label in enumerate(graph.labels)}
    if one_hot:
        width = 1 + max(int(label) for label in graph.labels if label is not None)
        rows = np.eye(width, dtype=int)
        labels = {row: [0] * width if label is None else rows[int(label)].tolist() for row, label in labels.items()}
    (folder / "class_map.json").write_text(json.dumps(labels))
    part = part_of(graph)
    roles = {key: np.flatnonzero(part == number).tolist() for number, key in enumerate(("tr", "va", "te"))}
    (folder / "role.json").write_text(json.dumps(roles))


def dgl_csv(graph: RandomGraph, folder: Path) -> None:
    (folder / "meta.yaml").write_text(
        "dataset_name: mini\nedge_data:\n- file_name: edges_0.csv\nnode_data:\n- file_name: nodes_0.csv\n"
    )
    with (folder / "edges_0.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("src_id", "dst_id"), *graph.named])
    features = None if graph.features is None else [", ".join(map(str, row)) for row in graph.features]
    masks = [part_of(graph) == number for number in range(3)]
    with (folder / "nodes_0.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["node_id", "label", *(f"{part}_mask" for part in PARTS), *(["feat"] if features else [])])
        for row, (name, label) in enumerate(zip(graph.ids, graph.labels, strict=True)):
            writer.writerow([name, label or "", *(mask[row] for mask in masks), *([features[row]] if features else [])])


def dgl_reddit(graph: RandomGraph, folder: Path) -> None:
    features = np.zeros((len(graph.ids), 1)) if graph.features is None else graph.features
    roles = part_of(graph) + 1
    np.savez(folder / "reddit_data.npz", feature=features, label=numbers(graph, -1), node_types=roles, node_ids=roles)
    sparse.save_npz(folder / "reddit_graph.npz", adjacency(graph).tocoo())


def geom_gcn(graph: RandomGraph, folder: Path, *, words: bool = False) -> None:
    """Splits are over nodes in the order of their ids."""
    edges = ["node_id\tnode_id", *(f"{u}\t{v}" for u, v in graph.named)]
    (folder / "out1_graph_edges.txt").write_text("\n".join([*edges, ""]), encoding="utf-8")
    features = np.zeros((len(graph.ids), 1)) if graph.features is None else graph.features
    lists = [",".join(map(str, np.flatnonzero(row) if words else row)) for row in features]
    header = f"feature(feature_amount:{features.shape[1]})" if words else "feature"
    rows = [f"{name}\t{text}\t{label or ''}" for name, text, label in zip(graph.ids, lists, graph.labels, strict=True)]
    (folder / "out1_node_feature_label.txt").write_text(
        "\n".join([f"node_id\t{header}\tlabel", *rows, ""]), encoding="utf-8"
    )
    for number in range(3):
        masks = {f"{part}_mask": np.roll(part_of(graph), number) == place for place, part in enumerate(PARTS)}
        np.savez(folder / f"x_split_0.6_0.2_{number}.npz", **masks)


def pytorch(graph: RandomGraph, folder: Path) -> None:
    held: dict[str, Any] = {"edge_index": torch.tensor(graph.edges).T, "y": torch.from_numpy(numbers(graph, -1))}
    held |= {f"{part}_mask": torch.from_numpy(part_of(graph) == number) for number, part in enumerate(PARTS)}
    if graph.features is not None:
        held["x"] = torch.from_numpy(graph.features)
    torch.save(held, folder / "data.pt")


def h5ad(graph: RandomGraph, folder: Path, *, kind: str = "array", weight: float = 1) -> None:
    """As AnnData documents its format; ``kind`` is that of X."""
    with h5py.File(folder / "cells.h5ad", "w") as out:
        matrix = adjacency(graph) * weight
        _put_sparse(out, "obsp/connectivities", matrix, "csr_matrix")
        _put_sparse(out, "obsp/distances", matrix * 7, "csr_matrix")
        if graph.features is not None:
            if kind == "array":
                out["X"] = graph.features.astype(np.float32)
            else:
                _put_sparse(out, "X", getattr(sparse, kind.replace("matrix", "array"))(graph.features), kind)
            genes = [f"gene-{number}" for number in range(graph.features.shape[1])]
            _put_frame(out, "var", genes)
        _put_frame(out, "obs", graph.ids)
        known = sorted({label for label in graph.labels if label is not None})
        column = out["obs"].create_group("cell_type")
        column.attrs["encoding-type"] = "categorical"
        column["codes"] = np.array([-1 if label is None else known.index(label) for label in graph.labels], np.int8)
        column["categories"] = np.array(known, h5py.string_dtype())
        out["obs/n_genes"] = np.arange(len(graph.ids))


def _put_frame(out: Any, name: str, index: list[str]) -> None:
    frame = out.create_group(name)
    frame.attrs["_index"], frame.attrs["encoding-type"] = "_index", "dataframe"
    frame["_index"] = np.array(index, h5py.string_dtype())


def _put_sparse(out: Any, name: str, matrix: Any, kind: str) -> None:
    group = out.create_group(name)
    group.attrs["encoding-type"], group.attrs["shape"] = kind, matrix.shape
    for part in ("data", "indices", "indptr"):
        group[part] = getattr(matrix, part)


# Of those that name nodes by their position, and those that keep ids; which of them take whole numbers as classes only.
BY_POSITION: dict[str, Callable[[RandomGraph, Path], None]] = {
    "ogb": ogb,
    "ogb, not packed": partial(ogb, packed=False),
    "ogb, without counts and split": partial(ogb, counts=False, split=False),
    "ogb, arrays": ogb_arrays,
    "ogb, arrays of float32": partial(ogb_arrays, dtype="float32"),
    "graphsaint": graphsaint,
    "graphsaint, one-hot": partial(graphsaint, one_hot=True),
    "dgl reddit": dgl_reddit,
    "pytorch": pytorch,
}
BY_ID: dict[str, Callable[[RandomGraph, Path], None]] = {
    "dgl csv": dgl_csv,
    "geom-gcn": geom_gcn,
    "geom-gcn, words": partial(geom_gcn, words=True),
    "h5ad": h5ad,
    "h5ad, csr": partial(h5ad, kind="csr_matrix"),
    "h5ad, csc": partial(h5ad, kind="csc_matrix"),
}
WITH_NUMBERS = {name for name in BY_POSITION if name != "graphsaint"}
