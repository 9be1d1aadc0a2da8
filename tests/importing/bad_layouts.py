"""Rows of the table of bad inputs: a ring of 12 nodes in the layouts of collections, spoiled in some way."""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import h5py
import layouts
import numpy as np
import torch
from own import EDGES, FEW, LABELS, NODES, edges_csv, npz, ring
from random_graphs import RandomGraph
from scipy import sparse

FIRST = np.arange(NODES)
NUMBERS = FIRST % 2
LIST = np.array(EDGES)
DEGREE = ["--features", "degree", *FEW]
META = "edge_data: [{file_name: e.csv}]\nnode_data: [{file_name: n.csv}]\n"


class Runs:
    """Pickled, this would make a folder."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, ("was-run",)


def ogb(**changed: list[Any]) -> dict[str, bytes]:
    lines: dict[str, list[Any]] = {"edge": EDGES, "node-label": NUMBERS.tolist(), **changed}
    text = {name: [",".join(map(str, np.atleast_1d(row))) for row in rows] for name, rows in lines.items()}
    return {f"{name}.csv": "".join(f"{row}\n" for row in rows).encode() for name, rows in text.items()}


def scipy_npz(weight: float = 1) -> bytes:
    out = io.BytesIO()
    sparse.save_npz(out, ring() * weight)
    return out.getvalue()


def saint(labels: object = None, roles: object = None, weight: float = 1) -> dict[str, bytes]:
    labels = {str(node): int(node) % 2 for node in FIRST} if labels is None else labels
    files = {"adj_full.npz": scipy_npz(weight), "class_map.json": json.dumps(labels).encode()}
    return files | ({} if roles is None else {"role.json": json.dumps(roles).encode()})


def dgl_nodes() -> bytes:
    return b"node_id,label,feat\n" + b"".join(b'%d,%s,"%d,0"\n' % (i, LABELS[i].encode(), i + 1) for i in FIRST)


def dgl(meta: str = META, edges: bytes = b"", nodes: bytes = b"") -> dict[str, bytes]:
    edges = edges or edges_csv().replace(b"source,target", b"src_id,dst_id")
    return {"meta.yaml": meta.encode(), "e.csv": edges, "n.csv": nodes or dgl_nodes()}


def geom(feature: str, lists: list[str]) -> dict[str, bytes]:
    edges = "".join(f"{u}\t{v}\n" for u, v in EDGES)
    nodes = "".join(f"{node}\t{text}\t{label}\n" for node, text, label in zip(FIRST, lists, LABELS, strict=True))
    return {
        "e.txt": f"node_id\tnode_id\n{edges}".encode(),
        "n.txt": f"node_id\t{feature}\tlabel\n{nodes}".encode(),
    }


def torch_file(held: object, *, zipped: bool = True) -> dict[str, bytes]:
    out = io.BytesIO()
    torch.save(held, out, _use_new_zipfile_serialization=zipped)
    return {"d.pt": out.getvalue()}


def tensors(**changed: object) -> dict[str, bytes]:
    return torch_file({"edge_index": torch.tensor(LIST).T, "y": torch.tensor(NUMBERS), **changed})


def h5ad(without: str = "", *, put: dict[str, Any] | None = None, weight: float = 1) -> dict[str, bytes]:
    graph = RandomGraph([f"cell-{i}" for i in FIRST], EDGES, list(LABELS), np.ones((NODES, 2)))
    with tempfile.TemporaryDirectory() as folder:
        layouts.h5ad(graph, Path(folder), weight=weight)
        file = Path(folder) / "cells.h5ad"
        with h5py.File(file, "a") as out:
            if without:
                del out[without]
            for name, value in (put or {}).items():
                out[name] = value
        return {"c.h5ad": file.read_bytes()}


def h5ad_bomb(values: int) -> dict[str, bytes]:
    """X declares so many numbers, of which none is stored."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "c.h5ad"
        file.write_bytes(h5ad("X")["c.h5ad"])
        with h5py.File(file, "a") as out:
            out.create_dataset("X", (NODES, values // NODES), "f8", chunks=(1, 1024))
        return {"c.h5ad": file.read_bytes()}


# case: (files, arguments beside them, exit code, what the output holds)
CASES: dict[str, tuple[dict[str, bytes], list[str], int, list[str]]] = {
    # --- Layouts of collections: spoiled files of a ring
    "ogb: an unknown node": (
        ogb(edge=[*EDGES, (3, 12)]), DEGREE, 2,
        ["edge.csv, line 13: names node 12; expected 0 to"],
    ),
    "ogb: another count": (
        ogb(**{"num-node-list": [11]}), DEGREE, 2,
        ["num-node-list.csv: says 11; expected 12, the lines of node-label.csv"],
    ),
    "ogb: features of too few nodes": (
        ogb(**{"node-feat": [1, 2]}), FEW, 2,
        ["node-feat.csv: has 2 lines; expected 12"],
    ),
    "ogb: NaN": (
        ogb(**{"node-feat": [*range(11), "nan"]}), FEW, 2,
        ["node-feat.csv: row 11, column 0 is nan; expecte"],
    ),
    "ogb: a header": (
        ogb(**{"node-label": ["label", *NUMBERS], "num-edge-list": [12]}), DEGREE, 2,
        ["node-label.csv: line 1 is 'label'; expected the number of a class, as OGB has them"],
    ),
    "ogb: ids beside labels": (
        ogb(**{"node-label": list(enumerate(NUMBERS))}), DEGREE, 0,
        ["format    tables", "classes   2: 0 (6), 1 (6)"],
    ),
    "ogb: several labels": (
        ogb(**{"node-label": [(0, 1)] * NODES, "num-edge-list": [12]}), DEGREE, 2,
        ["node-label.csv: has 2 columns; expected one label a node at most", "multi-label"],
    ),
    "ogb: several types": (
        ogb(**{"num-node-dict": [12]}), DEGREE, 2,
        ["num-node-dict.csv: is of a graph with several t"],
    ),
    "ogb: features of edges": (
        ogb(**{"edge-feat": [1] * 12}), DEGREE, 2,
        ["edge-feat.csv: has features of edges", "--wei"],
    ),
    "ogb: half a split": (
        ogb(train=[0]), DEGREE, 2,
        ["the split has train only; expected train.csv, valid.csv, test."],
    ),
    "ogb: an unknown node in the split": (
        ogb(train=[0, 1], valid=[2, 99]), DEGREE, 2, ["valid.csv: line 2 names node 99; expected 0 to 11"],
    ),
    "ogb: arrays of other shapes": (
        {"data.npz": npz(edge_index=LIST), "node-label.npz": npz(node_label=NUMBERS)}, DEGREE, 2,
        ["data.npz, edge_index: is int64 12 x 2; expected node numbers in two rows"],
    ),
    "graphsaint: multi-label": (
        saint(labels={f"{i}": [1, 1] for i in FIRST}), DEGREE, 2,
        ["node 0 has 2 labels", "mul"],
    ),
    "graphsaint: an unknown node": (
        saint(labels={"12": 0}), DEGREE, 2,
        ["class_map.json: names node '12'; expected 0 t"],
    ),
    "graphsaint: a node twice": (saint(labels={"1": 0, "01": 1}), DEGREE, 2, ["class_map.json: names a node twice"]),
    "graphsaint: other roles": (
        saint(roles={"train": [0]}), DEGREE, 2,
        ["role.json: holds train; expected lists of nod"],
    ),
    "graphsaint: weights": (
        saint(weight=0.5), DEGREE, 2,
        ["adj_full.npz: has an edge of weight 0.5", "--weights ignore"],
    ),
    "dgl: several types of edges": (
        dgl(meta="edge_data: [{file_name: e.csv, etype: [a, b, c]}, {file_name: f.csv}]\nnode_data: []"), DEGREE, 2,
        ["meta.yaml: has 2 types of edges: ['a', 'b', 'c'], one without a name; expected one type of edges"],
    ),
    "dgl: YAML that makes objects": (
        dgl(meta="edge_data: !!python/object/apply:os.mkdir [was-run]"), DEGREE, 2, ["meta.yaml: is no readable YAML"],
    ),
    "dgl: a file outside": (
        dgl(meta="edge_data: [{file_name: ../e.csv}]\nnode_data: [{file_name: n.csv}]"), DEGREE, 2,
        ["meta.yaml: names '../e.csv' under edge_data; expected a file in the same folder"],
    ),
    "dgl: weights": (
        dgl(edges=edges_csv(edges=[(0, 1)]).replace(b"source,target", b"src_id,dst_id,w").replace(b"0,1", b"0,1,2")),
        DEGREE, 2, ["e.csv: has further columns: w", "--weights ignore"],
    ),
    "dgl: features of several lengths": (
        dgl(nodes=dgl_nodes().replace(b'"6,0"', b'"6"')), FEW, 2,
        ["n.csv, column feat: line 7 has 1 features; expected 2, as line 2"],
    ),
    "dgl: a mask of something else": (
        dgl(nodes=dgl_nodes().replace(b"feat", b"train_mask")), DEGREE, 2,
        ["n.csv, column train_mask: line 2 is '1,0'; expected 1 or 0, or True or False"],
    ),
    "dgl: Reddit's roles": (
        {"d.npz": npz(feature=np.ones((NODES, 1)), label=NUMBERS, node_types=FIRST), "g.npz": scipy_npz()}, DEGREE, 2,
        ["d.npz, node_types: row 4 is 4; expected 1 to train, 2 to validate, 3 to test, or 0"],
    ),
    "geom-gcn: lists that may be either": (
        geom("feature", [f"{i},{i + 20}" for i in FIRST]), FEW, 2,
        ["n.txt, column feature: may hold values or numbers of features", "feature(feature_amount:N)"],
    ),
    "geom-gcn: more than its header says": (
        geom("feature(feature_amount:20)", [f"{i},{i + 20}" for i in FIRST]), FEW, 2,
        ["n.txt, column feature: line 3 has 21; expected numbers of features up to 20, as by the header"],
    ),
    "geom-gcn: a vector that is cut": (
        geom("feature", ["0,0,1"] * 11 + ["0,0"]), FEW, 2,
        ["n.txt, column feature: line 13 has 2 features; expected 3"],
    ),
    "geom-gcn: edges without a header": (
        geom("feature", ["0,0,1"] * 12) | {"e.txt": b"".join(b"%d\t%d\n" % edge for edge in EDGES)}, FEW, 2,
        ["e.txt: begins with 0 1, of which the first is a node; expected a header above the edges: node_id, node_id"],
    ),
    "PyTorch: a pickled class": (torch_file(Runs()), DEGREE, 2, ["d.pt: asks for posix.mkdir", "save_dataset"]),
    "PyTorch: no edges": (torch_file({"x": 1}), DEGREE, 2, ["d.pt: lacks edge_index, and holds x", "save_dat"]),
    "PyTorch: an unknown node": (
        tensors(edge_index=torch.tensor([[0], [12]])), DEGREE, 2,
        ["d.pt, edge_index: column 0 is [0, 12]; expected nodes from 0 to 11"],
    ),
    "PyTorch: a tensor that repeats what is stored once": (
        tensors(x=torch.ones(1).expand(10**6, 10**6)), FEW, 2,
        ["d.pt, x: is torch.float32 1000000 x 1000000; expected at most 400,000,000 bytes"],
    ),
    "PyTorch: weights": (
        tensors(edge_attr=torch.ones(NODES)),
        DEGREE, 2, ["d.pt: has edge_attr; expected edges without weights"],
    ),
    "PyTorch: before 1.6": (torch_file({}, zipped=False), DEGREE, 2, ["d.pt: is no file of PyTorch 1.6 or la"]),
    "h5ad: no HDF5": ({"c.h5ad": b"x"}, FEW, 2, ["c.h5ad: is no readable HDF5", "fetch it again"]),
    "h5ad: weights": (
        h5ad(weight=0.25), FEW, 2,
        ["obsp/connectivities: has an edge of weight 0.25", "--weights use, or"],
    ),
    "h5ad: no graph": (
        h5ad("obsp"), FEW, 2,
        ["c.h5ad: has no graph in obsp; expected obsp/connectivities; make one, a"],
    ),
    "h5ad: several graphs": (
        h5ad("obsp/connectivities", put={"obsp/other": 1}), FEW, 2,
        ["c.h5ad: has several graphs in obsp: distances, other; expected one; name it with --edges"],
    ),
    "h5ad: no such graph": (
        h5ad(), [*FEW, "--edges", "x"], 2,
        ["c.h5ad: has no obsp/x; expected one of connectivities, d"],
    ),
    "h5ad: no labels": (
        h5ad("obs/cell_type"), FEW, 2,
        ["c.h5ad, obs: none of its columns may be the classes", "--label"],
    ),
    "h5ad: no such column": (
        h5ad(), [*FEW, "--label", "x"], 2,
        ["c.h5ad, obs: has no column x; expected one of cell_type"],
    ),
    "h5ad: a table of long ago": (h5ad("obs"), FEW, 2, ["c.h5ad: lacks obs, and holds X, obsp, var"]),
    "h5ad: a link to another file": (
        h5ad("X", put={"X": h5py.ExternalLink("other.h5ad", "X")}), FEW, 2,
        ["c.h5ad: X leads to another place; expected data"],
    ),
    "h5ad: a bomb": (h5ad_bomb(10**9), FEW, 2, ["c.h5ad, X: declares 7,999,999,968 bytes in 0 of"]),
}  # fmt: skip
