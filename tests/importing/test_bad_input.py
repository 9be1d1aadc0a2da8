"""What bad input gets: a row a case, with its files, the exit code, and what the one line of the answer holds."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bad_layouts import CASES as LAYOUT_CASES
from own import EDGES, FEW, LABELS, NODES, edges_csv, nodes_csv, npz, ring, run_import, thing
from scipy import sparse
from scipy.io import mmwrite, savemat

from grandplus.pipeline.card import CATALOG

ROOT = Path(__file__).resolve().parents[2]
FIRST = np.arange(NODES)
NUMBERS = FIRST % 2
PARTS = {part: getattr(ring(), part) for part in ("data", "indices", "indptr")} | {"shape": np.array([NODES, NODES])}
CSR = {f"adj_{part}": value for part, value in PARTS.items()}
LIST = np.array(EDGES)
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n"
DEGREE = ["--features", "degree", *FEW]


class Runs:
    """Pickled, this would make a file."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, ("was-run",)


def bomb(declared: int) -> bytes:
    """An .npz whose one array is all zeros, packed a thousandfold."""
    out = io.BytesIO()
    np.savez_compressed(out, edges=np.zeros(declared // 8), node_labels=NUMBERS)
    return out.getvalue()


def zipped(name: str = "edges.csv") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, b"" if name.endswith("/") else edges_csv())
    return out.getvalue()


def parquet(**columns: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def feather() -> bytes:
    out = io.BytesIO()
    pd.DataFrame(EDGES, columns=["source", "target"]).to_feather(out)
    return out.getvalue()


def gml(nodes: str = "", edges: str = "") -> bytes:
    listed = "".join(f'node [ id {i} value "{label}" ]\n' for i, label in enumerate(LABELS))
    return f"graph [\n{listed}{nodes}edge [ source 0 target 1 ]\n{edges}]\n".encode()


def graphml(more: bytes = b"") -> bytes:
    row = '<node id="{0}"><data key="c">{1}</data><data key="h">{0}.5</data></node>'
    nodes = "".join(row.format(i, label) for i, label in enumerate(LABELS))
    edges = "".join(f'<edge source="{u}" target="{v}"/>' for u, v in EDGES)
    keys = '<key id="c" for="node" attr.name="class"/><key id="h" for="node" attr.name="height" attr.type="double"/>'
    keys += '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'
    return f"<graphml>{keys}<graph>{nodes}{edges}".encode() + more + b"</graph></graphml>"


def mtx() -> bytes:
    out = io.BytesIO()
    mmwrite(out, ring(), symmetry="general")
    return out.getvalue()


def mat(**arrays: object) -> bytes:
    out = io.BytesIO()
    savemat(out, arrays, do_compression=True)
    return out.getvalue()


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


COUNTED = b"id,label,x\n" + b"".join(b"%d,%s,%d\n" % (i + 1, label.encode(), i) for i, label in enumerate(LABELS))


def tables(nodes: bytes | None = None, edges: bytes | None = None, **more: bytes) -> dict[str, bytes]:
    files = {"edges.csv": edges_csv() if edges is None else edges, "nodes.csv": nodes_csv() if nodes is None else nodes}
    return files | {name.replace("_", "."): content for name, content in more.items()}


def swapped(old: bytes, new: bytes) -> bytes:
    return nodes_csv().replace(old, new)


# case: (files, arguments beside them, exit code, what the output holds)
CASES: dict[str, tuple[dict[str, bytes], list[str], int, list[str]]] = {
    "all is right": (tables(), FEW, 0, ["nodes     12, from 0 to 11", "edges     12", "classes   2: a (6), b (6)"]),
    # --- No data at all
    "Git LFS pointer": (tables(edges=LFS), FEW, 2, ["edges.csv: is a Git LFS pointer"]),
    "HTML": (tables(b"<!DOCTYPE html><title>404</title>"), FEW, 2, ["nodes.csv: is an HTML page; expected a dataset"]),
    "0 bytes": (tables(edges=b""), FEW, 2, ["edges.csv: is empty"]),
    "gzip": (tables(edges=gzip.compress(edges_csv())), FEW, 0, ["edges     12, of 12 entries"]),
    "gzip, truncated": (tables(edges=gzip.compress(edges_csv())[:-9]), FEW, 2, ["edges.csv: can't be unpacked from g"]),
    "zip": ({"graph.zip": zipped()}, DEGREE, 2, ["mine: no node has a label"]),
    "zip in disguise": ({"graph.csv": zipped()}, FEW, 2, ["graph.csv: is a zip archive", "unpack it"]),
    "zip that leads outside": (
        {"graph.zip": zipped("../edges.csv")}, FEW, 2, ["graph.zip: holds a file outside itself: ../edges.csv"],
    ),
    "zip of nothing": ({"graph.zip": zipped("x/")}, FEW, 2, ["graph.zip: holds no file; expected the files of a gr"]),
    "tar": ({"graph.tgz": gzip.compress(b"edges.csv".ljust(257, b"\0") + b"ustar")}, FEW, 2, ["graph.tgz: is a tar"]),
    "nothing in gzip": (tables(edges=gzip.compress(b"")), FEW, 2, ["edges.csv: unpacks to nothing; expected a"]),
    "white space": ({"g.net": b"\n \n"}, FEW, 2, ["g.net: holds nothing but white space; expected a dataset's file"]),
    "Feather": (tables(edges=feather()), FEW, 2, ["edges.csv: is an Arrow file (Feather); write each table as Par"]),
    "graph bomb": ({"g.gml.gz": gzip.compress(b" " * 2**25)}, FEW, 2, ["g.gml.gz: takes", "expected at most 381.47"]),
    "zip, truncated": ({"graph.zip": zipped()[:-9]}, FEW, 2, ["graph.zip: can't be unpacked: File is not a zip file"]),
    "zip, encrypted": (
        {"graph.zip": zipped().replace(b"\x14\0\0\0", b"\x14\0\x01\0")}, FEW, 2, ["graph.zip: can't be unpacked: File"],
    ),
    "binary": (tables(edges=b"0,1\n\0\1\n"), FEW, 2, ["edges.csv: is no text; expected a table in UTF-8"]),
    "Latin-1": (tables(swapped(b"5,b,", b"5,\xe9,")), FEW, 2, ["nodes.csv: line 7 has the byte 0xE9", "iconv -f"]),
    "unknown format": ({"a.json": b"{}"}, FEW, 2, ["a.json: are of no format that is known; expected files of one of"]),
    "arrays under other names": (
        {"g.npz": npz(edge_index=LIST.T, y=NUMBERS)}, FEW, 2,
        ["g.npz: are of no format that is known (g.npz has edge_index, y); expected files of one of", "save_dataset"],
    ),
    "two formats": (
        {"g.npz": npz(edges=LIST, node_labels=NUMBERS, **CSR, labels=NUMBERS)}, DEGREE, 2,
        ["g.npz: may be of format csr-npz or edges-npz; say --format"],
    ),
    "its own file's name": (tables(files_json=b"{}"), FEW, 2, ["files.json: is called like", "give it another name"]),
    # --- npz
    "truncated npz": ({"g.npz": npz(**CSR, labels=NUMBERS)[:-200]}, DEGREE, 2, ["g.npz: is no readable .npz", "again"]),
    "npz bomb": ({"g.npz": bomb(2**29)}, DEGREE, 2, ["g.npz: declares 536,", "expected at most 400,000,000, the memo"]),
    "pickle that runs code": (
        {"g.npz": npz(adj_matrix=thing(Runs()), node_label=NUMBERS)}, DEGREE, 2,
        ["g.npz, adj_matrix: asks for posix.mkdir, which a dataset has no need of"],
    ),
    "pickle in a pickled matrix": (
        {"g.npz": npz(adj_matrix=thing(ring()), node_attr=thing([Runs()]), node_label=NUMBERS)}, FEW, 2,
        ["g.npz, node_attr: asks for posix.mkdir"],
    ),
    "pickle beside, not read": ({"g.npz": npz(**CSR, labels=NUMBERS, names=thing(Runs()))}, DEGREE, 0, ["csr-npz"]),
    "pickle file": ({"edges.pkl": pickle.dumps([Runs()])}, DEGREE, 2, ["edges.pkl: is a pickle, which may hold code"]),
    "pickle beside tables": (tables(x_pkl=pickle.dumps([Runs()])), FEW, 2, ["x.pkl: is a pickle", "save_dataset"]),
    "weights in an npz": (
        {"g.npz": npz(**CSR | {"adj_data": np.full(NODES, 0.5)}, labels=NUMBERS)}, DEGREE, 2,
        ["g.npz, adj: has an edge of weight 0.5; expected edges without weights", "--weights ignore"],
    ),
    "edge to an unknown node, npz": (
        {"g.npz": npz(edges=np.array([[0, 1], [3, 12]]), node_labels=NUMBERS)}, DEGREE, 2,
        ["g.npz, edges: row 1 is [3, 12]; expected nodes from 0 to 11"],
    ),
    "multi-label, npz": (
        {"g.npz": npz(edges=LIST, node_labels=np.ones((NODES, 2), int))}, DEGREE, 2,
        ["g.npz, node_labels: node 0 has 2 labels; expected one label a node", "multi-label"],
    ),
    "masks that overlap": (
        {"g.npz": npz(edges=LIST, node_labels=NUMBERS, train_masks=FIRST < 6, val_masks=FIRST > 4)}, DEGREE, 2,
        ["the data's split has node 5 in train and val; expected each node once"],
    ),
    "masks that overlap, with ids": (
        {"g.npz": npz(edges=LIST, node_labels=NUMBERS, node_ids=FIRST + 500, train_masks=FIRST < 6,
                      val_masks=FIRST > 4)}, DEGREE, 2, ["the data's split has node 505 in train and val; expected"],
    ),
    "NaN in an npz with ids": (
        {"g.npz": npz(edges=LIST, node_labels=NUMBERS, node_ids=FIRST + 500,
                      node_features=np.where(FIRST == 3, np.nan, 1.0)[:, None])}, FEW, 2,
        ["g.npz, node_features: node 503, column 0 is nan; expected a number"],
    ),
    "a label that is none, npz": (
        {"g.npz": npz(edges=LIST, node_labels=NUMBERS - 0.5, node_ids=FIRST + 500)}, DEGREE, 2,
        ["g.npz, node_labels: node 500 is -0.5; expected a class"],
    ),
    "NaN in npy": (
        tables(f_npy=npy(np.where(FIRST == 3, np.nan, 1.0)[:, None])), FEW, 2,
        ["f.npy: row 3, of node 3, column 0 is nan; expected a number"],
    ),
    "masks of another length": (
        {"g.npz": npz(edges=LIST, node_labels=NUMBERS, train_masks=np.ones((2, 5), bool))}, DEGREE, 2,
        ["g.npz, train: is bool 2 x 5; expected masks of 0 and 1 over 12 nodes"],
    ),
    # --- Features
    "NaN": (tables(swapped(b"3,b,1.5", b"3,b,nan")), FEW, 2, ["nodes.csv, column height: line 5, node 3, is 'nan'"]),
    "inf": (tables(swapped(b"3,b,1.5", b"3,b,-inf")), FEW, 2, ["nodes.csv, column height: line 5, node 3, is '-inf'"]),
    "absurd": (tables(swapped(b"3,b,1.5", b"3,b,1e30")), FEW, 2, ["line 5, node 3, is '1e30'; expected", "to 1e+15"]),
    "empty feature": (tables(swapped(b"3,b,1.5", b"3,b,")), FEW, 2, ["height: line 5, node 3, is ''; expected a n"]),
    "text among numbers": (tables(swapped(b"3,b,1.5", b"3,b,tall")), FEW, 2, ["height: line 5, node 3, is 'tall'"]),
    "thousands or a fraction": (
        tables(swapped(b"3,b,1.5", b'3,b,"1,500"').replace(b".0,", b",").replace(b".5,", b",")), FEW, 2,
        ["column height: holds '1,500', which may be 1.5 or 1500; expected a cell that shows which", "--decimal . or"],
    ),
    "thousands, as said": (
        tables(swapped(b"3,b,1.5", b'3,b,"1,500"').replace(b".0,", b",").replace(b".5,", b",")),
        [*FEW, "--decimal", "."], 0, ["decimal: .", "features  2, dense"],
    ),
    "a mark that is none": (tables(), ["--decimal", "x"], 2, ["error: --decimal is 'x'; expected '.' or ','"]),
    "two cells of text": (
        tables(swapped(b"3,b,1.5", b"3,b,tall").replace(b"7,b,3.5", b"7,b,NA")), FEW, 2,
        ["column height: line 5, node 3, is 'tall'; line 9, node 7, is 'NA'; expected a num", "leave the column"],
    ),
    "no npy": (tables(f_npy=b"numpy"), FEW, 2, ["f.npy: is no readable array"]),
    "NaN in JSON": (
        tables(f_json=str({f"{i}": [1.5, float("nan")] for i in range(NODES)}).replace("'", '"').replace("nan", "NaN")
               .encode()), FEW, 2, ["f.json: node 0, column 1 is nan; expected a number"],
    ),
    "JSON without a node": (tables(f_json=b'{"0": [1]}'), FEW, 2, ["f.json: lacks node 1; expected features of every"]),
    "JSON names a node twice": (tables(f_json=b'{"0": [1], "0": [2]}'), FEW, 2, ["f.json: is no readable JSON: '0' s"]),
    "JSON that nests": (tables(f_json=b"[" * 100_000), FEW, 2, ["f.json: is no readable JSON"]),
    "features of too few nodes": (
        tables(f_npz=npz(format=np.array(b"csr"), **PARTS | {"shape": np.array([5, NODES]), "indptr": np.arange(6),
               "data": np.ones(5), "indices": np.arange(5)})), FEW, 2, ["f.npz: is float64 5 x 12; expected", "12 row"],
    ),
    "no features": (
        tables(b"id,label\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(NODES))), FEW, 2,
        ["the data has no features, and --features is as-is; choose --features: degree, onehot-degree, adjacency, s"],
    ),
    "features that no memory holds": (
        tables(f_json=str({f"{i}": [i, 2**31 - 2] for i in range(NODES)}).replace("'", '"').encode()), FEW, 2,
        ["the training of one grandplus on mine would take", "TiB; expected at most 381.47 MiB, the memory at hand"],
    ),
    # --- Edges
    "edge to an unknown node": (
        tables(edges=edges_csv("3,99\n")), FEW, 2,
        ["edges.csv: line 14 names node 99; expected an id of nodes.csv", "add the node or drop the edge"],
    ),
    "a line of three fields": (tables(edges=edges_csv("1,2,3\n")), FEW, 2, ["edges.csv: line 14 has 3 fields", "'1,2"]),
    "an end that lacks": (tables(edges=edges_csv("1,\n")), FEW, 0, ["1 line of edges.csv that is no edge"]),
    "one column": (tables(edges=b"1\n2\n"), FEW, 2, ["edges.csv: has one column", "for the ends of an edge"]),
    "weight column": (
        tables(edges=b"source,target,weight\n0,1,0.5\n"), FEW, 2,
        ["edges.csv: has further columns: weight", "import it with --weights use, or with --weights ignore"],
    ),
    "weight column, ignored": (tables(edges=b"source,target,weight\n0,1,0.5\n"), [*FEW, "--weights", "ignore"], 0,
                               ["edges     1, of 1 entries", "weights: ignore"]),
    "directed": (tables(edges=edges_csv("1,0\n")), FEW, 0, ["12, of 13 entries: 11 found in one direction only, and"]),
    "duplicates and self-loops": (
        tables(edges=edges_csv("0,1\n0,1\n5,5\n")), FEW, 0, ["12, of 15 ent", "2 entries merged", "1 self-loop dropp"],
    ),
    "a self-loop's node stays": (
        tables(edges=edges_csv(edges=[(0, 1), (7, 7)])), FEW, 0,
        ["nodes     12", "1 self-loop dropped", "10 nodes without an edge"],
    ),
    "empty graph": (tables(edges=b"source,target\n"), FEW, 2, ["mine: no edge joins two of 12 nodes; expected a grap"]),
    "nothing but self-loops": (tables(edges=edges_csv(edges=[(3, 3)])), FEW, 2, ["mine: no edge joins two of 12 node"]),
    "two tables of edges": (
        {"a_edges.csv": edges_csv(), "b_edges.csv": edges_csv()}, FEW, 2,
        ["a_edges.csv and b_edges.csv look like tables of edges alike; name one with --edges"],
    ),
    # --- Labels
    "label missing": (
        tables(nodes_csv({3: "3,,1.5,0", 5: "5,NA,2.5,2"})), FEW, 0,
        ["classes   2: a (6), b (4)", "missing   2 nodes without a label (1 are called NA), which are predicted",
         "4 nodes train, 4 validate, 2 test"],
    ),
    "labels that are -1": (
        tables(b"id,label,x\n" + b"".join(b"%d,%d,1\n" % (i, -1 if i > 9 else i % 2) for i in range(NODES))), FEW, 0,
        ["classes   2: 0 (5), 1 (5)", "2 nodes without a label"],
    ),
    "labels that mean unknown": (
        tables(nodes_csv({3: "3,missing,1.5,0", 5: "5,NA,2.5,2", 7: "7,NA,2.5,2"})),
        [*FEW, "--shortage", "shrink", "--na", "missing"], 0,
        ["classes   3: NA (2), a (6), b (3)", "na: [missing]", "1 nodes without a label"],
    ),
    "class ids with gaps": (
        tables(nodes_csv().replace(b",a,", b",7,").replace(b",b,", b",30,")), FEW, 0, ["classes   2: 7 (6), 30 (6)"],
    ),
    "multi-label": (
        tables(swapped(b"3,b,", b"3,a;b,")), FEW, 2, ["nodes.csv, column label: holds 'a;b'; expected one label", "mu"],
    ),
    "multi-label, a line each": (
        tables(nodes_csv() + b"3,a,1.5,0\n"), FEW, 2, ["nodes.csv: line 14 has the id 3 of line 5", "multi-label"],
    ),
    "multi-label, lists": (
        {"e.csv": edges_csv(), "n.parquet": parquet(id=FIRST, label=[["a", "b"]] * NODES, x=FIRST)},
        [*FEW, "--nodes", "n.parquet"], 2, ["n.parquet, column label: holds lists of labels", "multi-label"],
    ),
    "a quantity": (tables(swapped(b",a,", b",0.5,").replace(b",b,", b",1.5,")), FEW, 2, ["column label: holds fracti"]),
    "a name of each node": (
        tables(b"id,label,x\n" + b"".join(b"%d,n%d,1\n" % (i, i) for i in range(NODES))), FEW, 2,
        ["column label: has another label for each of 12 nodes, like 'n0'; expected classes", "--label"],
    ),
    "no column of labels": (
        tables(nodes_csv().replace(b"label", b"kind").replace(b",a,", b",1,").replace(b",b,", b",2,")), FEW, 2,
        ["nodes.csv: has columns kind, height, width, none is called label, and none of them are of text", "--label"],
    ),
    "several columns of text": (
        tables(b"id,name,kind\n" + b"".join(b"%d,n%d,a\n" % (i, i) for i in range(NODES))), FEW, 2,
        ["nodes.csv: has columns name, kind, none is called label, and 2 of them are of text", "--label"],
    ),
    "a column that isn't there": (tables(), [*FEW, "--label", "size"], 2, ["nodes.csv: has no column size; expected"]),
    "no labels": ({"edges.csv": edges_csv()}, DEGREE, 2, ["mine: no node has a label; expected labels to learn from"]),
    "a single class": (tables(nodes_csv().replace(b",b,", b",a,")), FEW, 2, ["every labelled node is of class a; exp"]),
    "a small class": (
        tables(), [], 2,
        ["class a has 6 nodes; expected at least 20 to train and 30 to validate", "lower --train-per-class or"],
    ),
    "a small class, shrunk": (tables(), ["--shortage", "shrink"], 0, ["2 nodes train, 6 validate, 4 test"]),
    # --- Splits
    "an unknown id in a list": (
        tables(train_txt=b"0\n99\n", val_txt=b"1\n"), ["--train", "train.txt", "--val", "val.txt"], 2,
        ["train.txt: names node '99'; expected an id of a node of the graph"],
    ),
    "lists that overlap": (
        tables(train_txt=b"0\n1\n", val_txt=b"1\n"), ["--train", "train.txt", "--val", "val.txt"], 2,
        ["train.txt: names node 1, and so does", "val.txt; expected each node in one of the lists"],
    ),
    "a list that repeats": (
        tables(train_txt=b"0\n1\n0\n", val_txt=b"3\n"), ["--train", "train.txt", "--val", "val.txt"], 2,
        ["train.txt: names node 0 twice; expected each once"],
    ),
    "lists": (
        tables(train_txt=b"1\n0\n", val_txt=b"3\n2\n"), ["--train", "train.txt", "--val", "val.txt"], 0,
        ["split     the data's own: 2 nodes train, 2 validate, 8 test"],
    ),
    "no split of its own": (tables(), ["--split", "public"], 2, ["--split is public, but the data has no split"]),
    # --- Tables of other kinds
    "no Parquet": (tables(f_parquet=b"PAR1"), FEW, 2, ["f.parquet: is no readable Parquet file"]),
    "no GML": ({"g.gml": gml(edges="edge [")}, DEGREE, 2, ["g.gml: is no readable GML"]),
    "weights in GML": (
        {"g.gml": gml(edges="edge [ source 1 target 2 value 3 ]")}, DEGREE, 2,
        ["g.gml: has value 3 on the edge of '1' and '2'; expected edges without weights", "--weights ignore"],
    ),
    "weights in GML, ignored": (
        {"g.gml": gml(edges="edge [ source 1 target 2 value 3 ]")}, [*DEGREE, "--weights", "ignore"], 0, ["gml"],
    ),
    "XML with a document type": (
        {"g.graphml": b'<!DOCTYPE graphml [<!ENTITY a "b">]><graphml><graph/></graphml>'}, DEGREE, 2,
        ["g.graphml: declares a document type; expected XML without entities", "delete <!DOCTYPE"],
    ),
    "XML with a document type, GEXF": (
        {"g.gexf": b'<!DOCTYPE gexf SYSTEM "/etc/passwd"><gexf><graph/></gexf>'}, DEGREE, 2,
        ["g.gexf: declares a document type"],
    ),
    "no XML": ({"g.graphml": graphml()[:-20]}, DEGREE, 2, ["g.graphml: is no readable XML: unclosed token"]),
    "two graphs in GraphML": (
        {"g.graphml": graphml().replace(b"</graph>", b"</graph><graph/>")}, DEGREE, 2, ["holds 2 graphs; expected one"],
    ),
    "edge to an unknown node, GraphML": (
        {"g.graphml": graphml(b'<edge source="1" target="x"/>')}, DEGREE, 2,
        ["g.graphml: edge 13, of '1' and 'x', names node 'x'; expected a node that the file lists"],
    ),
    "a node twice, GraphML": ({"g.graphml": graphml(b'<node id="3"/>')}, DEGREE, 2, ["two nodes with the id '3'"]),
    "weights in GraphML": (
        {"g.graphml": graphml(b'<edge source="1" target="2"><data key="w">0.5</data></edge>')}, DEGREE, 2,
        ["g.graphml: has weight 0.5 on the edge of '1' and '2'", "--weights ignore"],
    ),
    "two values of one key": (
        {"g.graphml": graphml(b'<node id="x"><data key="c">a</data><data key="c">b</data></node>')}, FEW, 2,
        ["g.graphml: node x has two values of class; expected one"],
    ),
    "a key that is not declared": (
        {"g.graphml": graphml(b'<node id="x"><data key="d">a</data></node>')}, FEW, 2,
        ["g.graphml: node x has a value for d; expected a key that it declares"],
    ),
    "a number with _": (
        {"g.graphml": graphml(b'<node id="x"><data key="h">1_5</data></node>')}, FEW, 2,
        ["g.graphml, height of node x: is '1_5'; expected a value of type double"],
    ),
    "a list among numbers, GML": (
        {"g.gml": gml().replace(b"value", b"h 1 value").replace(b'id 3 h 1', b'id 3 h 1 h 2')}, FEW, 2,
        ["g.gml: of node 3, h is [1, 2]; expected a number"],
    ),
    "half of a character, GML": (
        {"g.gml": gml().replace(b"value", b'name "&#55296;" value')}, DEGREE, 2,
        ["g.gml: node 0 has half of a character in name: '\\ud800'; expected whole text"],
    ),
    "a feature that a node lacks": (
        {"g.graphml": graphml(b'<node id="x"><data key="c">a</data></node>')}, FEW, 2,
        ["g.graphml: of node x, height is missing; expected a number", "leave the column out"],
    ),
    "a feature of the wrong type": (
        {"g.graphml": graphml(b'<node id="x"><data key="h">tall</data></node>')}, FEW, 2,
        ["g.graphml, height of node x: is 'tall'; expected a value of type double"],
    ),
    "an attribute that isn't there": (
        {"g.graphml": graphml()}, [*FEW, "--label", "size"], 2,
        ["g.graphml: has no attribute size of nodes; expected class, height"],
    ),
    "several classes in GML": (
        {"g.gml": gml().replace(b"value", b'community "x" value')}, DEGREE, 2,
        ["g.gml: has the attributes community, value, 2 of which may be the class; name the attribute with --label"],
    ),
    "values that change, GEXF": (
        {"g.gexf": b'<gexf><graph><attributes class="node"><attribute id="0" title="class"/></attributes><nodes>'
                   b'<node id="a"><attvalues><attvalue for="0" value="x"/><attvalue for="0" value="y"/></attvalues>'
                   b"</node></nodes></graph></gexf>"},
        DEGREE, 2, ["g.gexf: has several values of class for <node> a; expected one"],
    ),
    "no JSON of a graph": (
        {"g.json": b'{"nodes": [{"id": "a"}], "links": [{"source": "a"}]}'}, DEGREE, 2,
        ["g.json: edge 1 has no target"],
    ),
    "a key twice, JSON": (
        {"g.json": b'{"nodes": [], "nodes": [{"id": 1}], "links": []}'}, DEGREE, 2,
        ["g.json: is no readable JSON: 'nodes' stands there twice"],
    ),
    "half of a character, JSON": (
        {"g.json": b'{"nodes": [{"id": "\\ud800"}], "links": []}'}, DEGREE, 2,
        ["g.json: has half of a character, '\\ud800'; expected whole text"],
    ),
    "a whole number that no float holds": (
        {"g.json": b'{"nodes": [{"id": 1, "class": 1, "h": 1%s}], "links": []}' % (b"0" * 400)},
        DEGREE, 2, ["g.json: of node 1, h is 10000"],
    ),
    "vis.js": (
        {"g.json": b'{"nodes": [{"id": 1}], "edges": [{"from": 1, "to": 1}]}'}, DEGREE, 2,
        ["g.json: edge 1 has no source, but from, to; expected source and target"],
    ),
    "Cytoscape": (
        {"g.json": b'{"data": [], "elements": {"nodes": [{"data": {"id": 1}}], "edges": []}}'}, DEGREE, 2,
        ["g.json: holds elements, as Cytoscape writes them; expected an object with nodes, and with links", "GraphML"],
    ),
    "JSON that is a list": (
        {"e.json": b"[[0, 1], [1, 2]]", "nodes.csv": nodes_csv()}, FEW, 2, ["e.json: holds a list; expected an object"],
    ),
    "edge to an unknown node, JSON": (
        {"g.json": b'{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}'}, DEGREE, 2,
        ["g.json: edge 1, of 'a' and 'b', names node 'b'"],
    ),
    "edge to an unknown vertex, Pajek": (
        {"g.net": b"*Vertices 2\n1 a\n2 b\n*Edges\n1 3\n"}, DEGREE, 2,
        ["g.net: line 5 names vertex '3'; expected a vertex from 1 to 2"],
    ),
    "another section, Pajek": (
        {"g.net": b"*Vertices 2\n*Edges\n1 2\n*Partition x\n1\n"}, DEGREE, 2,
        ["g.net: line 4 begins *partition; expected one of"],
    ),
    "a partition of another graph": (
        {"g.net": b"*Vertices 2\n*Edges\n1 2\n", "g.clu": b"*Vertices 3\n1\n2\n1\n"}, DEGREE, 2,
        ["g.clu: has 3 lines of classes; expected 2, as there are 2 vertices"],
    ),
    "edge list with a dictionary that is none": (
        {"edges.txt": b"0 1 {}\n1 2 {'weight': f(1)}\n", "nodes.csv": nodes_csv()}, FEW, 2,
        ["edges.txt: line 2 ends with", "expected a dictionary of texts and numbers"],
    ),
    "weights in a dictionary": (
        {"edges.txt": b"0 1 {}\n1 2 {'weight': 0.5}\n", "nodes.csv": nodes_csv()}, FEW, 2,
        ["edges.txt: has weight 0.5 on the edge of '1' and '2'", "--weights ignore"],
    ),
    "adjacency list with data": (
        {"g.adjlist": b"0 2\n1 {}\n2 {}\n", "nodes.csv": nodes_csv()}, FEW, 2,
        ["g.adjlist: line 2 has braces; expected a node and"],
    ),
    # --- Matrices
    "MatrixMarket that is cut": (
        {"g.mtx": mtx()[:-30], "nodes.csv": COUNTED}, FEW, 2, ["g.mtx: is truncated: it has 8 entries; expected 12"],
    ),
    "MatrixMarket that declares too much": (
        {"g.mtx": mtx().replace(b"12 12 12", b"12 12 1200000000"), "nodes.csv": COUNTED}, FEW, 2,
        ["g.mtx: declares 1,200,000,000 entries in"],
    ),
    "weights in MatrixMarket": (
        {"g.mtx": mtx().replace(b"2 3 1", b"2 3 0.5"), "nodes.csv": COUNTED}, FEW, 2,
        ["g.mtx: has weight 0.5 on the edge of '2' and '3'", "--weights ignore"],
    ),
    "MatrixMarket, a table that counts from 0": (
        {"g.mtx": mtx(), "nodes.csv": nodes_csv()}, FEW, 2,
        ["g.mtx: row 11 names node 12; expected an id of nodes.csv"],
    ),
    "MatrixMarket, labels that count from 0": (
        {"g.mtx": mtx(), "nodes.csv": nodes_csv()}, [*DEGREE, "--ignore", "height", "--ignore", "width"], 2,
        ["nodes.csv: names node '0'; expected a node of g.mtx, such as 1, 2"],
    ),
    "MatrixMarket, weights in a pattern": (
        {"g.mtx": mtx().replace(b"real", b"pattern"), "nodes.csv": COUNTED}, FEW, 2,
        ["g.mtx: line 4 is '1 2 1'; expected two numbers of nodes"],
    ),
    "MatrixMarket, fractions among whole numbers": (
        {"g.mtx": b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 0.5\n", "nodes.csv": COUNTED}, FEW, 2,
        ["g.mtx: line 3 is '1 2 0.5'; expected two numbers of nodes and a whole number"],
    ),
    "MatrixMarket, too few labels": (
        {"g.mtx": mtx(), "labels.txt": b"a\nb\n" * 5}, [*DEGREE, "--id", "none"], 2,
        ["labels.txt: has 10 lines of data; expected 12, as g.mtx has rows"],
    ),
    "MatrixMarket, labels in another order than features": (
        {"g.mtx": mtx(), "nodes.csv": nodes_csv({0: "12,a,1,1"}), "x.npy": npy(np.ones((NODES, 2)))}, FEW, 2,
        ["nodes.csv: has the nodes in another order; expected 1 to 12"],
    ),
    "two square matrices": (
        {"a.mtx": mtx(), "b.mtx": mtx()}, DEGREE, 2, ["a.mtx is 12 x 12, b.mtx is 12 x 12", "--edges"],
    ),
    "no MATLAB file": ({"g.mat": b"1 2 3\n"}, DEGREE, 2, ["g.mat: is no MATLAB file; expected one of version 5 to 7"]),
    "MATLAB 7.3": (
        {"g.mat": b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM" + b"\x89HDF"}, DEGREE, 2,
        ["g.mat: is of MATLAB's version 7.3 (HDF5); expected version 7; save it in MATLAB with save(..., '-v7')"],
    ),
    "MATLAB that declares too much": (
        {"g.mat": mat(A=ring().tocsc(), y=NUMBERS, z=np.zeros(2**26))}, DEGREE, 2,
        ["g.mat: takes", "to read; expected at most 381.47 MiB, the memory at hand"],
    ),
    "MATLAB, no adjacency": (
        {"g.mat": mat(P=ring().tocsc(), Q=ring().tocsc(), y=NUMBERS)}, DEGREE, 2,
        ["g.mat: has the variables P (12 x 12), Q (12 x 12), y (1 x 12), of which 2 may be the adjacency", "--edges"],
    ),
    "MATLAB, no labels": (
        {"g.mat": mat(P=ring().tocsc(), t=NUMBERS)}, DEGREE, 2,
        ["g.mat: has the variables P (12 x 12), t (1 x 12), none of which is called as labels are", "--label"],
    ),
    "Facebook100 without a class": (
        {"g.mat": mat(A=ring().tocsc(), local_info=np.ones((NODES, 7)))}, DEGREE, 2,
        ["g.mat: has local_info with columns status, gender, major, minor, dorm, year, school; ", "--label gender"],
    ),
    "multi-label, MATLAB": (
        {"g.mat": mat(network=ring().tocsc(), group=sparse.csc_matrix(np.ones((NODES, 2))))}, DEGREE, 2,
        ["g.mat, group: row 0 has 2 labels; expected one label a node"],
    ),
    "linqs: an unknown paper": (
        {"c.content": b"p1\t0\tA\np2\t1\tB\n", "c.cites": b"p1\tp3\n"}, FEW, 2, ["c.cites: line 1 cites unknown paper"],
    ),
    # --- What is asked for
    "an option that is none": (tables(), ["--features", "l2"], 2, ["error: --features is 'l2'; expected 'row-norma"]),
    "a number that is none": (tables(), ["--train-per-class", "x"], 2, ["error: --train-per-class is 'x'; expected"]),
    "weights that are none": (tables(), ["--weights", "x"], 2, ["error: --weights is 'x'; expected 'ignore'"]),
    "a column that is none": (tables(), ["--ends", "0", "b"], 2, ["error: --ends is 0; expected"]),
    "a format that is none": (tables(), ["--format", "xls"], 2, ["--format is 'xls'; expected one of adjlist, conten"]),
    "a file that isn't there": (tables(), ["none.csv"], 2, ["none.csv: no such file"]),
    "an empty folder": (tables(), ["empty"], 2, ["empty: holds no file; expected the files of a graph"]),
}  # fmt: skip


CASES |= LAYOUT_CASES


@pytest.mark.parametrize("case", CASES)
def test_what_it_gets(tmp_path, monkeypatch, capsys, checkout, case):
    files, arguments, code, substrings = CASES[case]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "empty").mkdir()
    named = {arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word in ("--train", "--val", "--test")}
    arguments = [str(tmp_path / word) if word in named or word in ("none.csv", "empty") else word for word in arguments]
    monkeypatch.setenv("GRANDPLUS_MEMORY", "400MB")
    found = run_import(
        monkeypatch, checkout, "mine", *(tmp_path / name for name in files if name not in named), *arguments
    )
    out, err = capsys.readouterr()
    output = err if code else out
    assert found == code, err
    for substring in substrings:
        assert substring in output
    assert output.startswith("error: ") == bool(code)
    assert err.count("\n") == bool(code)
    # Nothing half-written, and nothing run.
    assert [file.name for file in (checkout / CATALOG).iterdir()] == ([] if code else ["mine.yaml"])
    assert sorted(file.name for file in checkout.iterdir()) == ["data", "dvc.yaml", "params.yaml"]


@pytest.mark.parametrize("name", ["../mine", "a/b", ".hidden", "", "/tmp/mine", "mine\n"])
def test_a_name_with_path_parts(tmp_path, monkeypatch, capsys, checkout, name):
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    assert run_import(monkeypatch, checkout, name, tmp_path / "edges.csv") == 2
    assert f"the dataset's name: is {name!r}; expected letters from a to z, digits" in capsys.readouterr().err


def test_a_card_that_is_there_stays(tmp_path, monkeypatch, capsys, checkout):
    files = [tmp_path / "edges.csv", tmp_path / "nodes.csv"]
    files[0].write_bytes(edges_csv())
    files[1].write_bytes(nodes_csv())
    card = checkout / CATALOG / "mine.yaml"
    card.write_text("mine")
    assert run_import(monkeypatch, checkout, "mine", *files, *FEW) == 2
    assert "mine.yaml: is there already; choose another name, or say --replace" in capsys.readouterr().err
    assert card.read_text() == "mine"
    assert run_import(monkeypatch, checkout, "mine", *files, *FEW, "--replace") == 0
    assert card.read_text().startswith("title: mine, imported\n")


# --- Through the stages ----------------------------------------------------------------------


def stage(checkout: Path, name: str) -> tuple[int, str]:
    command = [sys.executable, "-m", f"stages.{name}"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DVC_")}
    done = subprocess.run(
        command, cwd=checkout, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    return done.returncode, done.stderr


@pytest.fixture
def imported(tmp_path, monkeypatch, capsys, checkout) -> Path:
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    (tmp_path / "nodes.csv").write_bytes(nodes_csv())
    assert run_import(monkeypatch, checkout, "mine", tmp_path / "edges.csv", tmp_path / "nodes.csv", *FEW) == 0
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))  # where no earlier test's files are
    for code in ("grandplus", "stages"):
        (checkout / code).symlink_to(ROOT / code)
    params = checkout / "params.yaml"
    params.write_text(params.read_text().replace("dataset: pubmed", "dataset: mine"))
    return checkout


def test_a_file_that_changed_since(tmp_path, imported):
    (tmp_path / "nodes.csv").write_bytes(nodes_csv({3: "3,a,1.5,0"}))
    code, error = stage(imported, "download")
    assert (code, error.count("\n")) == (2, 1)
    assert "error: nodes.csv from where it was imported from" in error
    assert "has sha256" in error
    assert "if the change is meant, import it again" in error
    assert not (imported / "data" / "raw").exists()


def test_a_file_that_is_gone(tmp_path, imported):
    (tmp_path / "nodes.csv").unlink()
    code, error = stage(imported, "download")
    assert (code, error.count("\n")) == (2, 1)
    assert f"has no file {tmp_path / 'nodes.csv'} any more" in error


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("data/catalog/mine.yaml", "- no\n- mapping\n", "mine.yaml: holds a list; expected a mapping"),
        ("params.yaml", "text", "params.yaml: holds a str; expected a mapping"),
        (
            "params.yaml",
            "dataset: ../mine\nmodel: grandplus\nmatrix: avg\nseed: 0\ntrials: 1\n",
            "dataset is '../mine'; expected one of mine",
        ),
    ],
)
def test_settings_that_are_none(imported, file, content, message):
    (imported / file).write_text(content)
    code, error = stage(imported, "preprocess")
    assert (code, error.count("\n")) == (2, 1)
    assert message in error


def test_a_run_that_cannot_finish_is_refused_before_it_starts(imported):
    card = imported / CATALOG / "mine.yaml"
    card.write_text(card.read_text().replace("  nodes: 12\n", "  nodes: 1000000000000\n"))
    code, error = stage(imported, "download")
    assert (code, error.count("\n")) == (2, 1)
    assert "the standardized features on mine would take" in error
    assert not (imported / "data" / "raw").exists()
