"""``grandplus suggest``: a table, and a list that the import takes, before any run and after one."""

from __future__ import annotations

import os
import re
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

from grandplus.cli.main import main
from grandplus.datasets.split_lists import listed_split
from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.prediction.predictions import read_probabilities, write_predictions, write_trial
from grandplus.suggestion.suggest import suggest

NODES, CLASSES = 40, ["ant", "漢字"]
LABELLED = 12  # nodes; the others have no label


def graph_of(labels) -> Graph:
    ring = np.arange(NODES)
    adjacency, _ = build_adjacency(np.array([ring, np.roll(ring, 1)]), NODES)
    features = np.random.default_rng(0).normal(size=(NODES, 5)).astype(np.float32)
    return Graph(adjacency, features, labels, CLASSES, np.array([f"n{node}" for node in ring], object))


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with a ring of 40 nodes, n0 to n39, of which the first 12 have a label; no run yet."""
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    for folder in ("graph", "predictions"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    graph_of(np.where(np.arange(NODES) < LABELLED, np.arange(NODES) % 2, -1)).save(tmp_path / "data/graph")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_leaves(checkout) -> tuple[Graph, np.ndarray]:
    """What the last stage of a run leaves."""
    graph = Graph.load(checkout / "data/graph")
    settings = Preprocess(features="as-is", split="per-class", train_per_class=3, val_per_class=3)
    splits = make_splits(np.asarray(graph.labels), settings, [], seed=0, trials=1)
    probabilities = np.random.default_rng(1).dirichlet([1, 1], NODES).astype(np.float32)
    write_trial(checkout / "data/predictions/trial-00000.parquet", graph, splits.of(0), probabilities)
    write_predictions(checkout / "data/predictions", graph, splits)
    return graph, read_probabilities(checkout / "data/predictions", graph)


def printed(capsys, *arguments: str, code: int = 0) -> tuple[list[str], str]:
    assert main(["suggest", *arguments]) == code
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err


def test_before_any_run(checkout, capsys):
    lines, _ = printed(capsys, "5", "--out", "next.txt")
    assert lines[0] == "5 of 28 nodes without a label, the most helpful first, by edges and features"
    assert re.split("  +", lines[1]) == ["node", "score", "stands for"]
    assert lines[-1] == "the ids are in next.txt, for grandplus import --train"
    graph = Graph.load("data/graph")
    found = suggest(graph, graph.features, 5, labelled=np.arange(LABELLED))
    assert [line.split()[0] for line in lines[2:7]] == [f"n{node}" for node in found.node]
    assert [float(line.split()[1]) for line in lines[2:7]] == pytest.approx(found.score, abs=6e-5)
    assert (checkout / "next.txt").read_text() == "".join(f"n{node}\n" for node in found.node)
    split, _ = listed_split({"train": checkout / "next.txt"}, graph.node_ids)
    assert split["train"].tolist() == sorted(found.node.tolist())


def test_after_a_run_also_by_its_predictions(checkout, capsys):
    graph, probabilities = run_leaves(checkout)
    lines, _ = printed(capsys, "6")
    assert lines[0].endswith(", by edges, features and the last run's predictions")
    assert lines[1].split()[-2:] == ["predicted", "confidence"]
    found = suggest(graph, graph.features, 6, labelled=np.arange(LABELLED), probabilities=probabilities)
    assert [line.split()[0] for line in lines[2:]] == [f"n{node}" for node in found.node]
    assert lines[2].split()[3] == CLASSES[probabilities[found.node[0]].argmax()]
    assert float(lines[2].split()[4]) == pytest.approx(probabilities[found.node[0]].max(), abs=6e-5)


def test_predictions_of_another_graph_are_not_used(checkout, capsys):
    run_leaves(checkout)
    other = graph_of(np.full(NODES, -1))
    Graph(other.adjacency, other.features, other.labels, CLASSES, np.arange(NODES)).save(checkout / "data/graph")
    lines, _ = printed(capsys, "3")
    assert lines[0] == "3 of 40 nodes without a label, the most helpful first, by edges and features"


def test_a_graph_without_any_label(checkout, capsys):
    graph_of(np.full(NODES, -1)).save(checkout / "data/graph")
    lines, _ = printed(capsys, "50")
    assert lines[0] == "all 40 nodes without a label, fewer than 50, the most helpful first, by edges and features"
    assert sorted(line.split()[0] for line in lines[2:]) == sorted(f"n{node}" for node in range(NODES))


def test_nodes_that_are_all_alike(checkout, capsys):
    graph = Graph.load(checkout / "data/graph")
    replace(graph, features=np.ones((NODES, 5), np.float32)).save(checkout / "data/graph")
    lines, _ = printed(capsys, "3")
    assert [line.split()[:2] for line in lines[2:5]] == [[f"n{LABELLED + place}", "0.0000"] for place in range(3)]
    assert lines[5].startswith("every score is 0: these nodes are like labelled ones")


def test_listed_nodes_count_as_labelled(checkout, capsys):
    printed(capsys, "5", "--out", "first.txt")
    (checkout / "head.txt").write_text("Node ID\nn39\n")
    lines, _ = printed(capsys, "40", "--labelled", "first.txt", "--labelled", "head.txt")
    first = (checkout / "first.txt").read_text().split()
    assert lines[0].startswith("all 22 nodes without a label" if "n39" not in first else "all 23 nodes")
    assert not {line.split()[0] for line in lines[2:]} & {*first, "n39"}
    whole, _ = printed(capsys, "8")
    more, _ = printed(capsys, "3", "--labelled", "first.txt")
    assert [line.split()[0] for line in more[2:]] == [line.split()[0] for line in whole[7:]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0"], r"budget is 0; expected a whole number from 1 to 10,000"),
        (["5", "--labelled", "no.txt"], r"no.txt: can't be read: No such file or directory; expected a file with .*"),
        (["5", "--labelled", "ids.txt"], r"ids.txt: there is no node n77; expected an id .*"),
        (["5", "--out", "ids.txt"], r"ids.txt: is there already; choose another name, or remove it first"),
        (["5", "--features", "adjacency"], r"--features is given without a file; expected it beside files .*"),
        (["5", "none.csv"], r"none.csv: no such file; expected a file or a folder"),
        (["5", "--out", "no/next.txt"], r"no: no such folder; make it, or choose another one"),
    ],
)
def test_mistakes(checkout, capsys, arguments, message):
    (checkout / "ids.txt").write_text("n77\n")
    out, errors = printed(capsys, *arguments, code=2)
    assert re.fullmatch(f"error: {message}\n", errors)
    assert not out
    assert (checkout / "ids.txt").read_text() == "n77\n"


@pytest.mark.parametrize("labels", ["", "ant"])
def test_files_that_are_not_imported(checkout, capsys, labels):
    """With an empty column for labels, or some; what lies in data/ has no part in it."""
    run_leaves(checkout)
    graph = Graph.load("data/graph")
    edges = "".join(f"n{node},n{(node + 1) % NODES}\n" for node in range(NODES))
    (checkout / "edges.csv").write_text(f"source,target\n{edges}")
    rows = [",".join(map(str, row)) for row in graph.features.tolist()]
    lines = [f"n{node},{labels * (node < 2)},{row}\n" for node, row in enumerate(rows)]
    (checkout / "nodes.csv").write_text(f"id,label,a,b,c,d,e\n{''.join(lines)}")
    lines, errors = printed(capsys, "5", "edges.csv", "nodes.csv", "--label", "label")
    assert not errors
    assert lines[0].startswith(f"5 of {38 if labels else 40} nodes without a label")
    x = np.asarray(graph.features, np.float64)
    scaled = ((x - x.mean(axis=0)) / x.std(axis=0)).astype(np.float32)
    found = suggest(graph, scaled, 5, labelled=[0, 1] if labels else [])
    assert [line.split()[0] for line in lines[2:]] == [f"n{node}" for node in found.node]
    assert {file.name for file in checkout.iterdir()} == {"data", "dvc.yaml", "edges.csv", "nodes.csv"}


def test_a_graph_of_links_alone(checkout, capsys):
    (checkout / "links.txt").write_text("0 1\n0 2\n0 3\n4 5\n")
    lines, _ = printed(capsys, "2", "links.txt", "--features", "adjacency")
    [first, second] = [line.split() for line in lines[2:]]
    assert [first[2], second[2]] == ["4", "2"]  # one for each part
    assert first[0] in "0123"
    assert second[0] in "45"
    _, errors = printed(capsys, "2", "links.txt", code=2)
    assert errors.startswith("error: the graph: the data has no features, and --features is as-is; choose --features: ")


def test_features_of_a_file_of_their_own(checkout, capsys):
    """By id in JSON, also of a node without an edge; by position there is no telling whose they are."""
    (checkout / "links.csv").write_text("from,to\n0,1\n0,2\n4,5\n")
    (checkout / "words.json").write_text('{"0": [0], "1": [0], "2": [0], "4": [1], "5": [1], "7": [2]}')
    lines, errors = printed(capsys, "9", "links.csv", "words.json")
    assert lines[0].startswith("all 6 nodes without a label, fewer than 9, ")
    assert [line.split()[0] for line in lines[2:5]] == ["0", "4", "7"]
    assert not errors
    np.save("words.npy", np.eye(5, dtype=np.float32))
    _, errors = printed(capsys, "2", "links.csv", "words.npy", code=2)
    found, expected = "has features by position, and no table names the nodes", "a table with a line for each row"
    assert errors == f"error: words.npy: {found}; expected {expected}\n"


def test_all_nodes_have_a_label(checkout, capsys):
    graph_of(np.arange(NODES) % 2).save(checkout / "data/graph")
    _, errors = printed(capsys, "5", code=2)
    assert errors == "error: data/graph: all 40 nodes have a label; expected nodes without one, to choose among\n"


def test_no_graph(checkout, capsys):
    (checkout / "data/graph/graph.json").unlink()
    _, errors = printed(capsys, "5", code=2)
    assert errors.startswith("error: data/graph/graph.json: no such file; run dvc repro")


def test_damaged_predictions(checkout, capsys):
    run_leaves(checkout)
    (checkout / "data/predictions/predictions.parquet").write_bytes(b"PAR1")
    _, errors = printed(capsys, "5", code=2)
    assert errors.startswith("error: data/predictions/predictions.parquet: can't be read")


@pytest.mark.parametrize("moment", range(10))
def test_a_kill_leaves_no_part_of_a_list(checkout, capsys, moment):
    arguments = ["28", "--out", "next.txt"]
    lines, _ = printed(capsys, *arguments)
    whole = (checkout / "next.txt").read_text()
    (checkout / "next.txt").unlink()
    start = time.perf_counter()
    printed(capsys, *arguments)
    seconds = time.perf_counter() - start
    (checkout / "next.txt").unlink()
    child = os.fork()
    if not child:
        try:
            main(["suggest", *arguments])
        finally:
            os._exit(0)
    time.sleep(seconds * moment / 9)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert not (checkout / "next.txt").exists() or (checkout / "next.txt").read_text() == whole
    (checkout / "next.txt").unlink(missing_ok=True)
    assert printed(capsys, *arguments)[0] == lines
    assert {file.name for file in checkout.iterdir()} == {"data", "dvc.yaml", "next.txt"}
