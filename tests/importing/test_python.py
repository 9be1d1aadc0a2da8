"""From a notebook: what looks like PyTorch Geometric's Data, or arrays, becomes a dataset of the pipeline."""

from __future__ import annotations

import errno
import signal
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from own import EDGES, NODES, ring
from processes import python

import grandplus as gp
from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Source
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

X = np.arange(24, dtype=np.float64).reshape(NODES, 2)
Y = np.array([0, 1] * 6)
FEW = {"train_per_class": 2, "val_per_class": 2}
MASK = np.arange(NODES) % 3


def data(**changes: object) -> SimpleNamespace:
    """As PyTorch Geometric has it."""
    found = {"edge_index": torch.tensor(EDGES).T, "x": torch.tensor(X), "y": torch.tensor(Y), "edge_attr": None}
    return SimpleNamespace(**found | changes)


def saved(checkout: Path, name: str = "mine") -> RawGraph:
    source = load_settings(checkout, dataset=name).source
    assert source.places[0].local == {f"{name}.npz": f"data/own/{name}.npz"}
    return read_files(checkout / "data" / "own", "edges-npz", [f"{name}.npz"], source)


def check(graph: RawGraph) -> None:
    assert sorted(map(sorted, graph.edges.T.tolist())) == sorted(map(sorted, EDGES))
    np.testing.assert_array_equal(graph.features.toarray() if sp.issparse(graph.features) else graph.features, X)
    assert [graph.classes[label] for label in graph.labels] == [str(label) for label in Y]


def test_data(checkout):
    text = gp.save_dataset("mine", data(), root=checkout, **FEW)
    assert "format    edges-npz\n" in text
    assert "12 validate" not in text
    check(saved(checkout))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.coo_array])
def test_arrays(checkout, kind):
    gp.save_dataset("mine", ring(), kind(X), list(Y), root=checkout, **FEW)
    check(saved(checkout))


@pytest.mark.parametrize("kind", ["dense", "edge_index", "networkx", "sparse tensor"])
def test_other_kinds_of_graphs(checkout, kind):
    graphs = {"dense": ring().toarray(), "edge_index": np.array(EDGES).T, "networkx": nx.Graph(EDGES)}
    graphs["sparse tensor"] = torch.tensor(ring().toarray()).to_sparse()
    gp.save_dataset("mine", graphs[kind], torch.tensor(X).to_sparse(), Y, root=checkout, **FEW)
    check(saved(checkout))


def test_ids_and_names_of_columns_are_kept(checkout):
    pandas = pytest.importorskip("pandas")
    ids = [f"node-{number}" for number in reversed(range(NODES))]
    edges = pandas.DataFrame([(ids[first], ids[second]) for first, second in EDGES])
    frame = pandas.DataFrame(X, index=ids, columns=["height", "width"])
    gp.save_dataset("mine", edges, frame, pandas.Series(Y, index=ids), root=checkout, **FEW)
    graph = saved(checkout)
    check(graph)
    assert graph.node_ids.tolist() == ids
    assert graph.feature_names == ["height", "width"]


@pytest.mark.parametrize("library", ["networkx", "igraph", "polars"])
def test_what_nodes_have_in_other_libraries(checkout, library):
    """Names of nodes, features and the class are those of the graph or of the table."""
    names, module = [f"p{row}" for row in range(NODES)], pytest.importorskip(library)
    columns = {"height": X[:, 0].tolist(), "width": X[:, 1].tolist(), "club": Y.tolist()}
    edges = [(names[u], names[v]) for u, v in EDGES]
    given: tuple[object, ...]
    if library == "networkx":
        graph = nx.Graph()
        graph.add_nodes_from(
            (name, {key: values[row] for key, values in columns.items()}) for row, name in enumerate(names)
        )
        graph.add_edges_from(edges)
        given = graph, None
    elif library == "igraph":
        graph = module.Graph(n=NODES, edges=EDGES)
        for key, values in {"name": names, **columns}.items():
            graph.vs[key] = values
        given = graph, None
    else:
        given = module.DataFrame(edges, schema=["from", "to"], orient="row"), module.DataFrame({"id": names, **columns})
    gp.save_dataset("mine", *given, "club", root=checkout, **FEW)
    graph = saved(checkout)
    check(graph)
    assert graph.node_ids.tolist() == names
    assert graph.feature_names == ["height", "width"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("node_ids", np.arange(NODES - 1), "mine.npz, node_ids: is int64 11; expected 12 different whole numbers or"),
        ("node_ids", np.zeros(NODES, int), "node_ids: is int64 12; expected 12 different"),
        ("node_ids", np.arange(NODES) / 2, "node_ids: is float64 12"),
        ("feature_names", np.array(["height"]), "mine.npz, feature_names: is <U6 1; expected 2 texts"),
        ("feature_names", np.arange(2), "feature_names: is int64 2; expected 2 texts"),
    ],
)
def test_wrong_ids_and_names_in_the_file_are_refused(tmp_path, key, value, message):
    arrays = {"edges": np.array(EDGES), "node_labels": Y, "node_features": X} | {key: value}
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(GrandPlusError, match=message):
        read_files(tmp_path, "edges-npz", ["mine.npz"], Source(format="edges-npz"))


def test_both_ways_give_the_same_bytes(checkout):
    gp.save_dataset("one", data(), root=checkout, **FEW)
    gp.save_dataset("two", sp.coo_array(ring()), X, Y, root=checkout, **FEW)
    content = [(checkout / "data" / "own" / f"{name}.npz").read_bytes() for name in ("one", "two")]
    assert content[0] == content[1]


def test_labels_as_text_and_without(checkout):
    labels = np.array(["cat", "dog"] * 5 + ["", "dog"])
    text = gp.save_dataset("mine", ring(), X, labels, root=checkout, **FEW)
    assert "classes   2: cat (5), dog (6)" in text
    assert "1 nodes without a label" in text
    gp.save_dataset("other", ring(), X, [7.0, 3.0] * 5 + [np.nan] * 2, root=checkout, **FEW)
    assert saved(checkout, "other").labels.tolist() == [1, 0] * 5 + [-1] * 2


def test_masks(checkout):
    """One split, and several, as columns."""
    one = {f"{part}_mask": torch.tensor(number == MASK) for number, part in enumerate(("train", "val", "test"))}
    text = gp.save_dataset("one", data(**one), root=checkout)
    assert "the data's own: 4 nodes train, 4 validate, 4 test" in text
    two = {part: torch.stack([mask, mask.flip(0)], dim=1) for part, mask in one.items()}
    text = gp.save_dataset("two", data(**two), root=checkout)
    assert "4 test of the first of 2, one a trial" in text
    assert [split["train"].tolist() for split in saved(checkout, "two").splits] == [[0, 3, 6, 9], [2, 5, 8, 11]]


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (
            data(edge_attr=np.ones(NODES)),
            {},
            "edge_attr; expected edges without weights; say edge_weights=",
        ),
        (2 * ring(), {"y": Y}, "adjacency: has an edge of weight 2"),
        (data(x=None), {}, "the data has no features"),
        (data(y=None), {}, "there are no labels; expected y"),
        (data(y=torch.ones(NODES, 2)), {}, "node 0 has 2 labels; expected one label a node"),
        (data(edge_index=torch.zeros(3, 5)), {}, r"edge_index is float32 3 x 5; expected \(2, E\)"),
        (
            data(edge_index=torch.tensor([[0], [12]])),
            {},
            "edge_index: edge 0 joins 0 and 12; expected nodes from 0 to 11",
        ),
        (data(x=torch.tensor(X * np.nan)), {}, "X: row 0, column 0 is nan"),
        (
            "ring.csv",
            {"y": [0, 1, 1]},
            "graph is a str; expected a scipy sparse matrix or an array",
        ),
        (data(), {"masks": {"train": MASK}}, "masks has 'train'; expected train_mask, val_mask, test_mask"),
        (
            data(),
            {"split_by": 1},
            "save_dataset knows no split_by; expected one of features, direction, split, train_per_class",
        ),
        (data(), {"features": "l2"}, "features is 'l2'; expected 'row-normalize'"),
    ],
)
def test_what_is_refused(checkout, graph, options, message):
    with pytest.raises(GrandPlusError, match=message):
        gp.save_dataset("mine", graph, root=checkout, **FEW, **options)
    assert not list((checkout / CATALOG).iterdir())


@pytest.mark.parametrize("argument", [{"X": np.full_like(X, np.nan)}, {"y": Y[:-1]}, {"y": np.zeros(NODES)}])
def test_a_replacement_that_is_refused_changes_nothing(checkout, argument):
    gp.save_dataset("mine", ring(), X, Y, root=checkout, **FEW)
    files = [checkout / "data/own/mine.npz", checkout / CATALOG / "mine.yaml"]
    before = [file.read_bytes() for file in files]
    with pytest.raises(GrandPlusError):
        gp.save_dataset("mine", ring(), **({"X": X, "y": Y} | argument), replace=True, root=checkout, **FEW)
    assert [file.read_bytes() for file in files] == before
    assert [file.name for file in (checkout / "data/own").iterdir()] == ["mine.npz"]
    check(saved(checkout))


def test_the_old_dataset_is_there_if_the_new_card_can_not_be_written(checkout, monkeypatch):
    gp.save_dataset("mine", ring(), X, Y, root=checkout, **FEW)
    before = (checkout / "data/own/mine.npz").read_bytes()

    def full(*_):
        assert (checkout / "data/own/mine.npz").read_bytes() != before
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("grandplus.importing.files.write_card", full)
    with pytest.raises(OSError, match="No space"):
        gp.save_dataset("mine", ring(), X + 1, Y, replace=True, root=checkout, **FEW)
    assert (checkout / "data/own/mine.npz").read_bytes() == before
    check(saved(checkout))


KILLED = """
import os, signal, sys
import numpy as np
import grandplus as gp
from grandplus.importing import files

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(files, sys.argv[2], killed)
ring = np.roll(np.eye(12), 1, axis=1)
gp.save_dataset("mine", ring, np.ones((12, 2)), [0, 1] * 6, replace=True, root=sys.argv[1], train_per_class=2,
                val_per_class=2)
"""


@pytest.mark.parametrize("at", ["preprocess", "write_card"])  # while all is checked, and between the two renames
def test_the_old_dataset_is_there_after_a_kill(checkout, tmp_path, at):
    gp.save_dataset("mine", ring(), X, Y, root=checkout, **FEW)
    card, file = checkout / CATALOG / "mine.yaml", checkout / "data/own/mine.npz"
    before = card.read_bytes(), file.read_bytes()
    (tmp_path / "killed.py").write_text(KILLED)
    with python(tmp_path / "killed.py", checkout, at) as process:
        assert process.wait() == -signal.SIGKILL
    old = file if at == "preprocess" else file.with_name("mine.npz.old")
    assert (card.read_bytes(), old.read_bytes()) == before
    gp.save_dataset("mine", ring(), X, Y, replace=True, root=checkout, **FEW)
    check(saved(checkout))
    assert [path.name for path in file.parent.iterdir()] == ["mine.npz"]


def test_an_error_names_the_file_that_would_have_been_written(checkout):
    with pytest.raises(GrandPlusError) as refused:
        gp.save_dataset("mine", ring(), X, Y, features="standardize", train_per_class=99, root=checkout)
    assert ".partial" not in str(refused.value)
    assert not list((checkout / "data/own").iterdir())


def test_a_name_is_taken_once(checkout):
    gp.save_dataset("mine", data(), root=checkout, **FEW)
    with pytest.raises(GrandPlusError, match=r"mine\.yaml: is there already; say replace=True"):
        gp.save_dataset("mine", data(x=None), root=checkout, **FEW)
    check(saved(checkout))
    gp.save_dataset("mine", data(edge_attr=1), edge_weights="ignore", replace=True, root=checkout, **FEW)
    with pytest.raises(GrandPlusError, match=r"the dataset's name: is '\.\./x'"):
        gp.save_dataset("../x", data(), root=checkout)
    with pytest.raises(GrandPlusError, match=r"the dataset's name: is '2024'; .*; choose another, like graph-2024"):
        gp.save_dataset("2024", data(), root=checkout)
