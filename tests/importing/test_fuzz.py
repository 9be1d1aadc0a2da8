"""Any bytes, as any kind of file, end in a graph or in a GrandPlusError."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import layouts
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from own import EDGES, NODES, edges_csv, nodes_csv, npz, ring, thing
from random_graphs import RandomGraph
from scipy import sparse
from scipy.io import mmwrite, savemat

from grandplus.datasets.arrays import hdf5
from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.importing.recognise import check_files, recognise
from grandplus.runtime.errors import GrandPlusError

MATRIX = ring()
PARTS = {part: np.array(getattr(MATRIX, part)) for part in ("data", "indices", "indptr", "shape")}
CSR = {f"adj_{part}": value for part, value in PARTS.items()} | {f"attr_{part}": value for part, value in PARTS.items()}
LABELS = np.arange(NODES) % 2


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"id": range(NODES), "x": [[i] for i in range(NODES)]}), out)
    return out.getvalue()


def with_index() -> bytes:
    """As pandas writes a DataFrame whose ids are its index."""
    out = io.BytesIO()
    pd.DataFrame({"label": LABELS, "x": LABELS / 2}, pd.RangeIndex(NODES, name="person")).to_parquet(out)
    return out.getvalue()


def zstd(content: bytes) -> bytes:
    return pa.compress(content, "zstd", asbytes=True)


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def matrix() -> bytes:
    out = io.BytesIO()
    sparse.save_npz(out, MATRIX)
    return out.getvalue()


def matrix_market() -> bytes:
    out = io.BytesIO()
    mmwrite(out, MATRIX, symmetry="general")
    return out.getvalue()


def matlab(*, compressed: bool) -> bytes:
    out = io.BytesIO()
    arrays = {"A": MATRIX.tocsc(), "X": np.ones((NODES, 2)), "y": LABELS}
    savemat(out, arrays, do_compression=compressed)
    return out.getvalue()


GEOM = b"node_id\tfeature\tlabel\n" + b"".join(b"%d\t0,1\t%d\n" % (i, i % 2) for i in range(NODES))
GML = b'graph [ node [ id 0 value "a" ] node [ id 1 value "b" ] edge [ source 0 target 1 ] ]'
GRAPHML = b"""<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="class" attr.type="string"/><key id="d1" for="node" attr.name="age" attr.type="int"/>
<graph edgedefault="directed"><node id="a"><data key="d0">x</data><data key="d1">3</data></node>
<node id="b"><data key="d0">y</data><data key="d1">4</data></node>
<node id="c"><data key="d0">y</data><data key="d1">4</data></node>
<edge source="a" target="b"/></graph></graphml>"""
GEXF = b"""<gexf version="1.2"><graph><attributes class="node"><attribute id="0" title="class" type="string"/>
<attribute id="1" title="age" type="double"><default>2</default></attribute></attributes><nodes>
<node id="a" label="A"><attvalues><attvalue for="0" value="x"/></attvalues></node>
<node id="b"><attvalues><attvalue for="0" value="y"/><attvalue for="1" value="3.5"/></attvalues></node>
<node id="c"><attvalues><attvalue for="0" value="y"/></attvalues></node></nodes>
<edges><edge source="a" target="b" weight="1.0"/></edges></graph></gexf>"""
PAJEK = b"""*Vertices 3
1 "a a" 0.0 0.5 ellipse class x age 3
2 "b" class y age 4
3 "c" class y age 4
*Edges
1 2 1
*Arcslist
3 1 2
"""
NODE_LINK = b"""{"directed": false, "graph": {}, "nodes": [{"id": "a", "class": "x", "v": [1, 2.5]},
{"id": "b", "class": "y", "v": [0, 1]}, {"id": "c", "class": "y", "v": [0, 1]}],
"links": [{"source": "a", "target": "b", "weight": 1}]}"""
DICTIONARIES = b"# of networkx\n" + b"".join(b"%d %d {'weight': 1.0, 'kind': 'x y'}\n" % edge for edge in EDGES)
ADJACENCY_LIST = b"#nodes.py\n# GMT Sun Nov 29\n#\n" + b"".join(b"%d %d\n" % edge for edge in EDGES)
JSON = b"{%s}" % b", ".join(b'"%d": [%d, 3]' % (i, i) for i in range(NODES))
RING = RandomGraph([str(i) for i in range(NODES)], EDGES, [str(i % 2) for i in range(NODES)], np.ones((NODES, 2)))


def layout(write: Callable[[RandomGraph, Path], None], *first: str) -> dict[str, bytes]:
    """The files of a layout, of which those with these names come first."""
    with tempfile.TemporaryDirectory() as folder:
        write(RING, Path(folder))
        files = {str(file.relative_to(folder)): file for file in sorted(Path(folder).rglob("*")) if file.is_file()}
        return {name: files[name].read_bytes() for name in (*first, *(name for name in files if name not in first))}


# Files that are right, of which the first is spoiled.
WIKICS = json.dumps(
    {
        "features": [[0.5], [1], [2]],
        "labels": [0, 1, 1],
        "links": [[1], [0, 2], []],
        "train_masks": [[True, False, False]],
        "stopping_masks": [[False, True, False]],
        "val_masks": [[False, True, False]],
        "test_mask": [False, False, True],
    }
).encode()
RIGHT = {
    "edges": {"edges.csv": edges_csv(), "nodes.csv": nodes_csv()},
    "spaces": {"edges.txt": edges_csv().replace(b",", b"  "), "nodes.csv": nodes_csv()},
    "gzip": {"edges.csv.gz": gzip.compress(edges_csv()), "nodes.csv": nodes_csv()},
    "xz": {"edges.csv.xz": lzma.compress(edges_csv()), "nodes.csv": nodes_csv()},
    "bzip2": {"edges.csv": bz2.compress(edges_csv()), "nodes.csv": nodes_csv()},
    "UTF-16": {"edges.csv": edges_csv().decode().encode("utf-16"), "nodes.csv": nodes_csv()},
    "labels": {"labels.csv": b"id,label\n0,a\n1,b\n", "edges.csv": edges_csv()},
    "nodes": {"nodes.tsv": nodes_csv().replace(b",", b"\t"), "edges.csv": edges_csv()},
    "parquet": {"features.parquet": parquet(), "edges.csv": edges_csv(), "nodes.csv": nodes_csv()},
    "json": {"features.json": JSON, "edges.csv": edges_csv(), "nodes.csv": nodes_csv()},
    "npy": {"features.npy": npy(np.ones((NODES, 2))), "edges.csv": edges_csv(), "nodes.csv": nodes_csv()},
    "npz": {"features.npz": matrix(), "edges.csv": edges_csv(), "nodes.csv": nodes_csv()},
    "gml": {"graph.gml": GML},
    "graphml": {"graph.graphml": GRAPHML},
    "gexf": {"graph.gexf": GEXF},
    "pajek": {"graph.net": PAJEK},
    "partition": {"graph.clu": b"*Vertices 3\n1\n1\n2\n", "graph.net": PAJEK.replace(b"class", b"kind")},
    "node-link": {"graph.json": NODE_LINK},
    "node-link, zstd": {"graph.json.zst": zstd(NODE_LINK)},
    "graphml, gzip": {"graph.graphml.gz": gzip.compress(GRAPHML)},
    "edge list of networkx": {"edges.txt": DICTIONARIES, "nodes.csv": nodes_csv()},
    "matrix market, bzip2": {"a.mtx.bz2": bz2.compress(matrix_market()), "nodes.csv": nodes_csv({0: "12,a,1,1"})},
    "pandas": {"nodes.pq": with_index(), "edges.csv": edges_csv()},
    "matrix market": {"a.mtx": matrix_market(), "nodes.csv": nodes_csv({0: "12,a,1,1"})},
    "matlab": {"label.mat": matlab(compressed=False)},
    "matlab, compressed": {"label.mat": matlab(compressed=True)},
    "adjacency list": {"graph.adjlist": ADJACENCY_LIST, "nodes.csv": nodes_csv()},
    "geom-gcn": {"n.txt": GEOM, "e.txt": b"node_id\tnode_id\n0\t1\n2\t3\n"},
    "content": {"x.content": b"p1\t0\t1\tA\np2\t1\t0\tB\n", "x.cites": b"p1\tp2\n"},
    "wikics": {"data.json": WIKICS},
    "ogb, edges": layout(partial(layouts.ogb, packed=False), "raw/edge.csv"),
    "ogb, labels": layout(partial(layouts.ogb, packed=False, counts=False), "raw/node-label.csv"),
    "ogb, features": layout(partial(layouts.ogb, packed=False), "raw/node-feat.csv"),
    "ogb, split": layout(layouts.ogb, "split/time/valid.csv.gz"),
    "ogb, arrays": layout(layouts.ogb_arrays, "raw/data.npz"),
    "graphsaint, labels": layout(layouts.graphsaint, "class_map.json"),
    "graphsaint, roles": layout(layouts.graphsaint, "role.json"),
    "graphsaint, edges": layout(layouts.graphsaint, "adj_full.npz"),
    "dgl, meta": layout(layouts.dgl_csv, "meta.yaml"),
    "dgl, nodes": layout(layouts.dgl_csv, "nodes_0.csv"),
    "dgl, reddit": layout(layouts.dgl_reddit, "reddit_data.npz"),
    "geom-gcn, words": layout(partial(layouts.geom_gcn, words=True), "out1_node_feature_label.txt"),
    "pytorch": layout(layouts.pytorch),
    "csr-npz": {"x.npz": npz(**CSR, labels=LABELS)},
    "edges-npz": {"x.npz": npz(edges=np.array([[0, 1]]), node_labels=LABELS, train_masks=LABELS == 1)},
    "object-npz": {"x.npz": npz(adj_matrix=thing(MATRIX), node_attr=thing(MATRIX), node_label=LABELS)},
}
TEXT = st.text("0123456789abc,;\t\n\r\"'.-#%[]{}: _é\0", max_size=80).map(str.encode)


@st.composite
def spoiled(draw, right: bytes) -> bytes:
    """Other bytes altogether, or some of them cut out, put in or changed."""
    anything = draw(st.one_of(st.just(None), st.binary(max_size=200), TEXT))
    if anything is not None:
        return anything
    content = bytearray(right)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(start + 30, len(content))))
        content[start:end] = draw(st.one_of(st.binary(max_size=8), TEXT))
    return bytes(content)


@pytest.mark.parametrize("kind", RIGHT)
def test_the_files_are_right(kind, tmp_path):
    graph = read(tmp_path, RIGHT[kind])
    assert graph.edges.shape[1] > 0
    assert len(graph.classes) == 2


@pytest.mark.parametrize("kind", RIGHT)
@settings(max_examples=40)
@given(data=st.data())
def test_any_bytes_end_in_a_graph_or_an_error(kind, data):
    check(RIGHT[kind], data)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_in_hdf5(monkeypatch, data):
    """Fewer: each is read by a process of its own first, as the HDF5 library never ends on some of them."""
    monkeypatch.setattr(hdf5, "SECONDS", 5)
    check(layout(layouts.h5ad), data)


def check(right_files: dict[str, bytes], data: st.DataObject) -> None:
    (name, right), *others = right_files.items()
    files = {name: data.draw(spoiled(right)), **dict(others)}
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(GrandPlusError):
        graph = read(Path(folder), files)
        assert graph.labels.shape == (graph.nodes,) == graph.node_ids.shape
        assert graph.edges.min(initial=0) >= 0
        assert graph.edges.max(initial=-1) < graph.nodes
        assert graph.labels.max(initial=-1) < len(graph.classes)
        if graph.features is not None:
            values = graph.features.data if sparse.issparse(graph.features) else graph.features
            assert graph.features.shape[0] == graph.nodes
            assert np.isfinite(values).all()


def read(folder: Path, files: dict[str, bytes]) -> RawGraph:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    paths = [folder / name for name in files]
    check_files(paths)
    form, how = recognise(paths, Reading(label="label") if "nodes" in "".join(files) else Reading())
    return read_files(folder, form, sorted(files), Source(format=form, read=how))
