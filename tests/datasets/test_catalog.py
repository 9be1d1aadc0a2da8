"""Cards of graphs that people compare on: small files of the same layout go from a server of our own to a graph."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from web import Answer, Server

from grandplus.datasets.fetch import fetch as fetching
from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import read
from grandplus.importing.files import import_files
from grandplus.pipeline.card import CATALOG, Card, read_card
from grandplus.pipeline.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
GRAPHDATA = Path(__file__).resolve().parents[3] / "shared" / "datasets" / "graphdata"
NODES = 24
LABELS = np.arange(NODES) % 2
FEATURES = np.random.default_rng(0).normal(size=(NODES, 3)).round(2)
SPLIT = {"train": range(4), "valid": range(4, 10), "test": range(10, NODES)}
OF_GRAPHDATA = (
    "amazon-photo",
    "amazon-computers",
    "coauthor-cs",
    "coauthor-physics",
    "cora-ml",
    "citeseer-full",
    "dblp",
)


def card_of(name: str) -> Card:
    return read_card(ROOT / CATALOG / f"{name}.yaml")


def lines(rows: Any) -> bytes:
    return gzip.compress("".join(",".join(map(str, np.atleast_1d(row))) + "\n" for row in rows).encode())


def ogb_zip(top: str, split: str) -> bytes:
    """A ring, as OGB packs a graph; with the files of other purpose that its archives have."""
    ring = [(node, (node + 1) % NODES) for node in range(NODES)]
    held = {
        "raw/edge.csv.gz": lines(ring),
        "raw/node-feat.csv.gz": lines(FEATURES),
        "raw/node-label.csv.gz": lines(LABELS),
        "raw/num-node-list.csv.gz": lines([NODES]),
        "raw/num-edge-list.csv.gz": lines([NODES]),
        "raw/node_year.csv.gz": lines([2010] * NODES),
        "mapping/README.md": b"ids",
        "RELEASE_v1.txt": b"v1",
        **{f"split/{split}/{part}.csv.gz": lines(nodes) for part, nodes in SPLIT.items()},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(f"{top}/", b"")
        for name, content in held.items():
            archive.writestr(f"{top}/{name}", content)
    return out.getvalue()


def fetched(card: Card, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[str]]:
    """The graph as it is read from the server in place of the public one, and what is said of the download."""
    monkeypatch.setenv("GRANDPLUS_CACHE", str(folder / "cache"))
    monkeypatch.setenv("GRANDPLUS_MIRROR", "")
    said: list[str] = []
    places = [place.model_copy(update={"url": server.url}) if place.url else place for place in card.source.places]
    files = dict.fromkeys(card.source.files)  # the right checksums are of the right files
    source = card.source.model_copy(update={"places": places, "files": files})
    (folder / "raw").mkdir()
    fetch(source, folder / "raw", catalog=folder, report=said.append)
    return read(folder / "raw", source, folder), said


@pytest.mark.parametrize(("name", "top", "split"), [("ogbn-arxiv", "arxiv", "time"),
                                                    ("ogbn-products", "products", "sales_ranking")])  # fmt: skip
def test_ogb(server, tmp_path, monkeypatch, name, top, split):
    monkeypatch.setattr(fetching, "MIN_SIZE_TO_ANNOUNCE", 1)
    card, archive = card_of(name), ogb_zip(top, split)
    server.answers = {f"{top}.zip": Answer(archive)}
    assert [place.url for place in card.source.places if place.url] == [
        "http://snap.stanford.edu/ogb/data/nodeproppred/"
    ]
    graph, said = fetched(card, server, tmp_path, monkeypatch)
    assert f"{len(archive) / 1024:.2f} KiB to download" in said[1]  # before the download; the first has no mirror
    assert graph.edges.tolist() == [list(range(NODES)), [*range(1, NODES), 0]]
    np.testing.assert_allclose(graph.features, FEATURES, rtol=1e-6)
    assert [graph.classes[label] for label in graph.labels] == [str(label) for label in LABELS]
    [own] = graph.splits
    assert {part: nodes.tolist() for part, nodes in own.items()} == {
        "train": list(range(4)), "val": list(range(4, 10)), "test": list(range(10, NODES))
    }  # fmt: skip
    prepared, splits = preprocess(graph, card.preprocess, seed=0, trials=1)
    assert splits.of(0).test.tolist() == list(range(10, NODES))
    np.testing.assert_allclose(prepared.features.mean(axis=0), 0, atol=1e-6)


def test_ogb_in_a_mirror(tmp_path, monkeypatch):
    """The archive, unpacked there."""
    (tmp_path / "mirror").mkdir()
    zipfile.ZipFile(io.BytesIO(ogb_zip("arxiv", "time"))).extractall(tmp_path / "mirror")
    monkeypatch.setenv("GRANDPLUS_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    source = card_of("ogbn-arxiv").source
    (tmp_path / "raw").mkdir()
    fetch(source, tmp_path / "raw", catalog=tmp_path, report=lambda _: None)
    assert read(tmp_path / "raw", source, tmp_path).nodes == NODES


def test_wikics(server, tmp_path, monkeypatch):
    """Its own splits, one a trial."""
    masks = [[[node % 12 == shift + part for node in range(NODES)] for shift in range(20)] for part in range(3)]
    content = {"features": FEATURES.tolist(), "labels": LABELS.tolist(), "links": [[(node + 1) % NODES] for node in
               range(NODES)], "test_mask": [node % 12 == 11 for node in range(NODES)]}  # fmt: skip
    content |= dict(zip(("train_masks", "stopping_masks", "val_masks"), masks, strict=True))
    server.answers = {"data.json": Answer(json.dumps(content).encode())}
    card = card_of("wikics")
    graph, _ = fetched(card, server, tmp_path, monkeypatch)
    assert len(graph.splits) == 20
    assert graph.splits[3]["train"].tolist() == [3, 15]
    assert graph.splits[3]["val"].tolist() == [4, 5, 16, 17]
    assert graph.splits[3]["test"].tolist() == [11, 23]


@pytest.mark.parametrize("name", OF_GRAPHDATA)
def test_graphdata(server, tmp_path, monkeypatch, name):
    card = card_of(name)
    [file] = card.source.files
    ring = sp.csr_matrix((np.ones(NODES), (np.arange(NODES), (np.arange(NODES) + 1) % NODES)), shape=(NODES, NODES))
    held = {key: np.empty((), object) for key in ("adj_matrix", "node_attr")}
    held["adj_matrix"][()], held["node_attr"][()] = ring, sp.csr_matrix(np.abs(FEATURES))
    out = io.BytesIO()
    np.savez(out, node_label=LABELS, **held)
    server.answers = {file: Answer(out.getvalue())}
    [public] = [place.url for place in card.source.places if place.url]
    assert public == "https://github.com/EdisonLeeeee/GraphData/raw/master/datasets/"
    graph, _ = fetched(card, server, tmp_path, monkeypatch)
    assert (graph.nodes, graph.splits) == (NODES, [])
    assert (card.preprocess.train_per_class, card.preprocess.val_per_class) == (20, 30)
    assert card.preprocess.split == "per-class"


@pytest.mark.parametrize("name", ["amazon-photo"])
def test_a_card_has_what_an_import_of_the_graph_would_write(tmp_path, monkeypatch, name):
    card = ROOT / CATALOG / f"{name}.yaml"
    [(file, sha256)] = read_card(card).source.files.items()
    if not (GRAPHDATA / file).is_file():
        pytest.skip(f"{GRAPHDATA / file} is not there")
    (tmp_path / CATALOG).mkdir(parents=True)
    for needed in ("params.yaml", "dvc.yaml"):
        (tmp_path / needed).write_bytes((ROOT / needed).read_bytes())
    monkeypatch.chdir(tmp_path)
    import_files("own", [GRAPHDATA / file])
    ours, own = read_yaml(card), read_yaml(tmp_path / CATALOG / "own.yaml")
    assert own["source"]["files"] == {file: sha256}
    for section in ("expect", "preprocess", "gfpush", "train"):
        assert ours[section] == own[section]
