"""Layouts of collections, as other programs write them: what is understood, and from import to a result."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from own import run_import
from scipy import sparse

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.formats import ogb
from grandplus.datasets.raw import RawGraph, read, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables import number_files
from grandplus.graph.graph import Graph
from grandplus.importing.gather import gathered
from grandplus.importing.recognise import recognise
from grandplus.methods.protocol import Task
from grandplus.methods.registry import method_of
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

FILES = Path(__file__).parent / "files"
NODES = 60
NUMBERS = np.arange(NODES)
CLASSES = NUMBERS % 3
WORDS = np.where(NUMBERS % 20 == 0, (CLASSES + 1) % 3, CLASSES)  # which don't tell the class of each node
EDGES = np.array([NUMBERS, (NUMBERS + 3) % NODES])
FEATURES = np.eye(3, 6)[CLASSES] + np.random.default_rng(0).normal(size=(NODES, 6)) / 4
PART = (NUMBERS // 3) % 3  # of the split: 0, 1 or 2


def ring() -> Any:
    return sparse.coo_array((np.ones(NODES), tuple(EDGES)), shape=(NODES, NODES)).tocsr()


def to_csv(folder: Path, name: str, values: Any) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(values).to_csv(folder / name, header=False, index=False)  # packed, as the name says so


def ogb_split(folder: Path) -> None:
    for number, name in enumerate(("train", "valid", "test")):
        to_csv(folder, f"split/time/{name}.csv.gz", np.flatnonzero(number == PART))


def ogb_text(folder: Path) -> None:
    tables = {"edge": EDGES.T, "node-feat": FEATURES, "node-label": CLASSES, "node_year": NUMBERS}
    for name, values in {**tables, "num-node-list": [NODES], "num-edge-list": [NODES]}.items():
        to_csv(folder, f"raw/{name}.csv.gz", values)
    to_csv(folder, "mapping/nodeidx2paperid.csv.gz", NUMBERS)
    (folder / "RELEASE_v1.txt").write_text("1\n")
    ogb_split(folder)


def ogb_arrays(folder: Path) -> None:
    (folder / "raw").mkdir()
    arrays = {"edge_index": EDGES, "node_feat": FEATURES.astype(np.float16), "node_year": NUMBERS}
    np.savez_compressed(folder / "raw/data.npz", num_nodes_list=[NODES], num_edges_list=[NODES], **arrays)
    np.savez_compressed(folder / "raw/node-label.npz", node_label=CLASSES.astype(np.float32)[:, None])
    ogb_split(folder)


def graphsaint(folder: Path) -> None:
    sparse.save_npz(folder / "adj_full.npz", ring())
    sparse.save_npz(folder / "adj_train.npz", ring())
    np.save(folder / "feats.npy", FEATURES)
    (folder / "class_map.json").write_text(json.dumps({str(node): int(label) for node, label in enumerate(CLASSES)}))
    roles = {key: np.flatnonzero(number == PART).tolist() for number, key in enumerate(("tr", "va", "te"))}
    (folder / "role.json").write_text(json.dumps(roles))


def dgl_csv(folder: Path) -> None:
    (folder / "meta.yaml").write_text(
        "dataset_name: mini\nedge_data:\n- file_name: edges_0.csv\nnode_data:\n- file_name: nodes_0.csv\n"
    )
    pd.DataFrame(EDGES.T, columns=["src_id", "dst_id"]).to_csv(folder / "edges_0.csv", index=False)
    masks = {f"{part}_mask": number == PART for number, part in enumerate(("train", "val", "test"))}
    features = [", ".join(map(str, row)) for row in FEATURES]
    nodes = pd.DataFrame({"node_id": NUMBERS, "label": CLASSES, **masks, "feat": features, "year": NUMBERS})
    nodes.sample(frac=1, random_state=0).to_csv(folder / "nodes_0.csv", index=False)


def dgl_reddit(folder: Path) -> None:
    np.savez(folder / "reddit_data.npz", feature=FEATURES, label=CLASSES, node_types=PART + 1, node_ids=NUMBERS + 7)
    sparse.save_npz(folder / "reddit_graph.npz", ring().tocoo())


def geom_gcn(folder: Path) -> None:
    edges = "".join(f"{u}\t{v}\n" for u, v in EDGES.T)
    (folder / "out1_graph_edges.txt").write_text(f"node_id\tnode_id\n{edges}")
    words = "".join(f"{node}\t{WORDS[node]},{3 + node % 2}\t{label}\n" for node, label in enumerate(CLASSES))
    (folder / "out1_node_feature_label.txt").write_text(f"node_id\tfeature(feature_amount:5)\tlabel\n{words}")
    for number in range(10):
        masks = {f"{part}_mask": np.roll(PART, 3 * number) == i for i, part in enumerate(("train", "val", "test"))}
        np.savez(folder / f"film_split_0.6_0.2_{number}.npz", **masks)


def pytorch(folder: Path) -> None:
    masks = {f"{part}_mask": torch.tensor(number == PART) for number, part in enumerate(("train", "val", "test"))}
    held = {"x": torch.tensor(FEATURES), "edge_index": torch.tensor(EDGES), "y": torch.tensor(CLASSES), **masks}
    torch.save(held, folder / "data.pt")


def anndata(kind: str) -> Callable[[Path], None]:
    """What files/README.md says how it was made."""
    name = f"cells-{kind}.h5ad"
    return lambda folder: (folder / name).write_bytes((FILES / name).read_bytes()) and None


WRITERS: dict[str, Callable[[Path], None]] = {
    "ogb": ogb_text,
    "ogb, arrays": ogb_arrays,
    "graphsaint": graphsaint,
    "dgl-csv": dgl_csv,
    "dgl-reddit": dgl_reddit,
    "geom-gcn": geom_gcn,
    "pytorch": pytorch,
    "h5ad, dense": anndata("dense"),
    "h5ad, csr": anndata("csr"),
}
# What an import names as not used.
UNUSED = {
    "ogb": "mapping/nodeidx2paperid.csv.gz, raw/node_year.csv.gz, RELEASE_v1.txt (a file beside the data)",
    "ogb, arrays": "data.npz, node_year",
    "graphsaint": "adj_train.npz",
    "dgl-csv": "nodes_0.csv, year",
    "dgl-reddit": "reddit_data.npz, node_ids",
    "h5ad, dense": "obs/batch, obs/n_genes, obsp/distances, obsm",
    "h5ad, csr": "obs/batch, obs/n_genes, obsp/distances, obsm",
}


def accuracy(checkout: Path, folder: Path) -> tuple[Graph, float]:
    """The graph of a run, and how many test nodes are right after training by the imported card."""
    settings = load_settings(checkout, dataset="mine", model="sgc", matrix="ppr", trials=1, train={})
    folder.mkdir()
    fetch(settings.source, folder, catalog=checkout / CATALOG, report=lambda _: None)
    graph, splits = make_graph(read(folder, settings.source, checkout / CATALOG), settings)
    trained = method_of("sgc").fit(Task(graph, splits.of(0), None, seed=[0, 0]), settings.train)
    right = trained.model.predict_proba(graph).argmax(axis=1) == graph.labels
    return graph, float(right[splits.of(0).test].mean())


@pytest.mark.parametrize(("layout", "packed"), [*((layout, False) for layout in WRITERS), ("ogb", True)])
def test_from_import_to_a_result(tmp_path, monkeypatch, capsys, checkout, layout, packed):
    """As a folder, and as a zip archive of it."""
    given = tmp_path / "mini"
    given.mkdir()
    WRITERS[layout](given)
    if packed:
        with zipfile.ZipFile(tmp_path / "mini.zip", "w") as archive:
            for file in sorted(given.rglob("*")):
                archive.write(file, file.relative_to(tmp_path))
        given = tmp_path / "mini.zip"
    cells = layout.startswith("h5ad")
    options = ["--train-per-class", "4", "--val-per-class", "4", "--weights", "ignore"] if cells else []
    assert run_import(monkeypatch, checkout, "mine", given, *options) == 0, capsys.readouterr()
    said = capsys.readouterr().out
    assert f"format    {layout.partition(',')[0]}" in said
    assert UNUSED.get(layout, "") in said
    assert cells or "the data's own: 21 nodes train, 21 validate, 18 test" in said
    graph, right = accuracy(checkout, tmp_path / "raw")
    assert graph.facts["nodes"] == graph.facts["edges"] == NODES
    start, end = np.repeat(NUMBERS, np.diff(graph.adjacency.indptr)), graph.adjacency.indices
    assert {(u, v) for u, v in zip(start, end, strict=True) if u != v} == {
        *map(tuple, EDGES.T),
        *map(tuple, EDGES[::-1].T),
    }
    known = CLASSES if not cells else np.where(NUMBERS == 5, -1, CLASSES)
    assert graph.labels.tolist() == known.tolist()
    assert graph.classes == (["B", "NK", "T"] if cells else ["0", "1", "2"])
    assert graph.node_ids.tolist() == ([f"cell-{i}" for i in NUMBERS] if cells else NUMBERS.tolist())
    assert right > 0.9


def raw_of(folder: Path, **asked: object) -> RawGraph:
    with gathered([folder]) as found:
        form, how = recognise([found.folder / name for name in found.origins], Reading(**asked))
        return read_files(found.folder, form, list(found.origins), Source(format=form, read=how))


def test_the_ten_splits_of_geom_gcn(tmp_path):
    geom_gcn(tmp_path)
    raw = raw_of(tmp_path)
    assert len(raw.splits) == 10
    for number, split in enumerate(raw.splits):
        assert split["train"].tolist() == np.flatnonzero(np.roll(PART, 3 * number) == 0).tolist()
    words = np.zeros((NODES, 5))
    words[NUMBERS, WORDS] = words[NUMBERS, 3 + NUMBERS % 2] = 1
    np.testing.assert_array_equal(raw.features.toarray(), words)


def test_x_of_anndata_and_the_names_of_its_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = (np.eye(3, 6)[CLASSES] * 3 + rng.poisson(1, (NODES, 6))).astype(np.float32)  # as files/README.md has it
    for kind in ("dense", "csr", "nullable"):
        (tmp_path / kind).mkdir()
        anndata(kind)(tmp_path / kind)
        raw = raw_of(tmp_path / kind, weights="ignore")
        features = raw.features.toarray() if sparse.issparse(raw.features) else raw.features
        np.testing.assert_array_equal(features, X)
        assert raw.feature_names == [f"gene-{gene}" for gene in range(6)]
        assert raw.node_ids.tolist() == [f"cell-{i}" for i in NUMBERS]
        assert raw_of(tmp_path / kind, weights="ignore", label="batch").classes == ["a", "b"]
    ages = raw_of(tmp_path / "nullable", weights="ignore", label="age")
    assert [ages.classes[label] if label >= 0 else None for label in ages.labels] == [None, *["1", "2"] * 29, "1"]


def test_other_columns_of_anndata_are_asked_for_where_several_may_be_classes(tmp_path):
    import h5py

    anndata("dense")(tmp_path)
    with h5py.File(tmp_path / "cells-dense.h5ad", "a") as out:
        out.move("obs/cell_type", "obs/what")
    with pytest.raises(GrandPlusError, match=r"2 of its columns may be the classes: batch, what; .* --label"):
        raw_of(tmp_path, weights="ignore")


def test_without_h5py_it_is_said_what_to_install(tmp_path, monkeypatch):
    anndata("dense")(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(
        GrandPlusError, match=r"is read by h5py, which is not installed; pip install 'grandplus\[h5ad\]'"
    ):
        raw_of(tmp_path)


def test_text_of_ogb_is_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(number_files, "BLOCK", 512)
    ogb_text(tmp_path)
    raw = raw_of(tmp_path)
    np.testing.assert_array_equal(raw.edges, EDGES)
    assert raw.edges.dtype == np.int32
    np.testing.assert_array_equal(raw.features, FEATURES.astype(np.float32))


def test_ogb_is_known_by_its_form_where_its_folders_are_missing(tmp_path):
    to_csv(tmp_path, "edge.csv", EDGES.T)
    to_csv(tmp_path, "node-label.csv", CLASSES)
    files = [tmp_path / "edge.csv", tmp_path / "node-label.csv"]
    assert ogb.recognise(files, Reading()) is not None
    for other in (["source,target", "0,1"], ["a,b", "b,c"], ["0,1,2"], ["0 1"]):
        files[0].write_text("\n".join(other))
        assert ogb.recognise(files, Reading()) is None
    to_csv(tmp_path, "edge.csv", EDGES.T)
    for other in (["label", "0"], ["0,1"], ["a", "b"]):
        files[1].write_text("\n".join(other))
        assert ogb.recognise(files, Reading()) is None


def test_text_of_ogb_that_no_memory_holds(tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1000")
    ogb_text(tmp_path)
    with pytest.raises(
        GrandPlusError, match=r"edge\.csv\.gz: takes more than .* to read; expected at most 1,000 bytes"
    ):
        raw_of(tmp_path)


def test_two_splits_of_ogb_are_refused(tmp_path):
    ogb_text(tmp_path)
    to_csv(tmp_path, "split/random/train.csv.gz", NUMBERS[:5])
    with pytest.raises(
        GrandPlusError, match=r"train\.csv: is there twice: split/.*/train\.csv\.gz and split/.*; expected"
    ):
        raw_of(tmp_path)
