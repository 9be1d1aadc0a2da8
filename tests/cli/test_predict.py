"""``grandplus predict``: a file of ids with or without a header, all nodes, new ones, and each format."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import re
import shutil
import signal
import time
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from grandplus.cli.main import main
from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.methods.files import load_model
from grandplus.methods.grandplus.model import MLP, Model
from grandplus.methods.registry import settings_of
from grandplus.prediction.calibration import CALIBRATION, Calibration
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.propagation.gfpush import gfpush
from grandplus.runtime.sums import sha256, write_sums

NODES, WEIGHTS, CLASSES = 30, (0.5, 0.5), ["salt, pepper", "漢字"]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with what the stages leave of a run of one trial on a ring of 30 nodes, 100 to 129."""
    ring = np.arange(NODES)
    adjacency, _ = build_adjacency(np.array([ring, np.roll(ring, 1)]), NODES)
    labels = ring % 2
    graph = Graph(adjacency, np.eye(NODES, dtype=np.float32), labels, CLASSES, 100 + ring)
    settings = Preprocess(features="as-is", split="per-class", train_per_class=3, val_per_class=3)
    splits = make_splits(labels, settings, [], seed=0, trials=1)
    train = settings_of("grandplus").Settings(hidden=8)
    torch.manual_seed(0)
    common = {"classes": CLASSES, "settings": train, "preprocessing": graph.fitted.to_json()}
    model = Model(mlp=MLP(NODES, 2, train), weights=WEIGHTS, info={"dataset": "ring"}, **common)
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    for folder in ("graph", "rows", "model", "predictions"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    graph.save(tmp_path / "data/graph")
    splits.save(tmp_path / "data/graph")
    gfpush(graph, ring, weights=list(WEIGHTS), rmax=1e-7, top_k=3).save(tmp_path / "data/rows")
    model.save(tmp_path / "data/model/trial-00000.safetensors")
    predicted = tmp_path / "data/predictions"
    write_trial(predicted / "trial-00000.parquet", graph, splits.of(0), model.predict_proba(graph))
    write_predictions(predicted, graph, splits)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys, *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(["predict", *arguments]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.parametrize(
    ("options", "content", "noted"),
    [
        ([], "103\n100\n103\n", False),
        ([], "id\n103\n100\n103\n", True),
        (["--header"], "7 of May\n103\n100\n103\n", True),
    ],
)
def test_nodes_of_a_file_with_and_without_a_header(checkout, capsys, options, content, noted):
    (checkout / "ids.txt").write_text(content)
    out, errors = printed(capsys, "--nodes", "ids.txt", *options)
    lines = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert [line["node"] for line in lines] == ["103", "100", "103"]
    head = content.partition("\n")[0]
    assert errors == (f"the first line, '{head}', is taken for a header\n" if noted else "")


def test_all_nodes_are_predicted_like_single_ones(checkout, capsys):
    (checkout / "ids.txt").write_text("".join(f"{node}\n" for node in range(100, 130)))
    one_by_one = json.loads(printed(capsys, "--nodes", "ids.txt", "--format", "json")[0])
    everything = json.loads(printed(capsys, "--all", "--format", "json")[0])
    assert [line["node"] for line in everything] == list(range(100, 130))
    assert [line["predicted"] for line in everything] == [line["predicted"] for line in one_by_one]
    shares = [[list(line["probabilities"].values()) for line in lines] for lines in (everything, one_by_one)]
    np.testing.assert_allclose(*shares, atol=2e-5)
    assert all(line["l1_error"] == 0 for line in everything)


def test_names_in_a_table_of_all_nodes_are_quoted(checkout, capsys):
    out, _ = printed(capsys, "--all", "--format", "csv", "--dataset", "ring")
    assert out.startswith('node,predicted,confidence,confident,l1_error,"P(salt, pepper)",P(漢字)\n100,')
    assert {line["predicted"] for line in csv.DictReader(io.StringIO(out))} <= set(CLASSES)


@pytest.mark.parametrize(
    ("arguments", "content", "line"),
    [
        (["--all", "--dataset", "cora"], "", "dataset is cora; expected ring, which the models in data/model are of; "
         "leave --dataset out, or run dvc exp run -S dataset=cora first"),
        (["--all", "--header"], "", "--header is given without --nodes; expected the file whose first line it skips"),
        (["--all", "--features", "x.npy"], "", "--all is given with --features; "
         "expected --all for the nodes of the run, or the others for new ones"),
        (["--all", "--format", "json", "--out", "x.csv"], "", "--format is json, and --out is x.csv; expected a name "
         "that ends with .json; or leave --format out, as the name tells the format"),
        (["--nodes", "ids.txt", "--header"], "100\n", "--header skips the only line; expected ids of nodes below it"),
        (["--nodes", "ids.txt"], "1o1\n", "there is no node 1o1; expected an id that the data came with; "
         "the nearest are 121, 119, 118"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_a_line(checkout, capsys, arguments, content, line):
    (checkout / "ids.txt").write_text(content)
    assert printed(capsys, *arguments, code=2)[1].splitlines()[-1] == f"error: {line}"


@pytest.mark.parametrize("arguments", [["predict", "--all"], ["predict", "--nodes", "ids.txt"], ["explain", "101"]])
def test_predictions_of_other_models_are_refused(checkout, capsys, arguments):
    """As a run leaves them that was killed before its inference, or dvc repro train."""
    (checkout / "ids.txt").write_text("101\n")
    file, folder = checkout / "data/predictions/calibration.json", checkout / "data/model"
    write_sums(folder, {"trial-00000.safetensors": "0" * 64})
    dataclasses.replace(Calibration.load(file), models=sha256(folder / "SHA256SUMS")).save(file)
    assert main(arguments) == 0
    write_sums(folder, {"trial-00000.safetensors": "1" * 64})
    capsys.readouterr()
    assert main(arguments) == 2
    line = "error: data: the models and the predictions are of different runs; run dvc repro"
    assert capsys.readouterr() == ("", f"{line}\n")


def test_all_predictions_are_printed_where_no_models_are(checkout, capsys):
    file = checkout / "data/predictions/calibration.json"
    dataclasses.replace(Calibration.load(file), models="0" * 64).save(file)
    shutil.rmtree(checkout / "data/model")
    assert printed(capsys, "--all")[0].count("\n") == NODES + 1


# --- Nodes and edges that came later ---------------------------------------------------------------

NEW_NODES = "id," + ",".join(f"x{i}" for i in range(NODES)) + "\n"
NEW_NODES += "".join(
    f"{200 + node}," + ",".join(map(str, row)) + "\n" for node, row in enumerate(np.eye(2, NODES, dtype=int))
)
NEW_EDGES = "source,target\n200,100\n201,200\n103,109\n100,101\n"


@pytest.fixture
def later(checkout):
    (checkout / "nodes.csv").write_text(NEW_NODES)
    (checkout / "edges.csv").write_text(NEW_EDGES)
    return checkout


ADDED = ["--add-nodes", "nodes.csv", "--add-edges", "edges.csv"]


def merged_predictions(checkout, nodes):
    """What full inference gives on the graph of all nodes and edges."""
    old = np.stack([np.arange(NODES), np.roll(np.arange(NODES), 1)])
    new = np.array([[NODES, NODES + 1, 3], [0, NODES, 9]])
    adjacency, _ = build_adjacency(np.concatenate([old, new], axis=1), NODES + 2)
    features = np.concatenate([np.eye(NODES), np.eye(NODES)[:2]]).astype(np.float32)
    merged = Graph(adjacency, features, np.full(NODES + 2, -1), CLASSES, np.arange(NODES + 2))
    model, calibration = load_model(checkout / "data/model/trial-00000.safetensors"), checkout / "data/predictions"
    combined = Calibration.load(calibration / CALIBRATION).combine([model.predict_proba(merged)])
    return combined[nodes]


def test_new_nodes_are_predicted_as_on_the_merged_graph(later, capsys):
    out, errors = printed(capsys, *ADDED, "--format", "json")
    assert errors == "added 2 nodes and 3 edges; 1 repeated\n"
    lines = json.loads(out)
    assert [line["node"] for line in lines] == [200, 201]
    shares = [list(line["probabilities"].values()) for line in lines]
    np.testing.assert_allclose(shares, merged_predictions(later, [NODES, NODES + 1]), atol=2e-5)
    assert all(line["l1_error"] < 1e-6 for line in lines)


def test_old_nodes_may_be_named_too(later, capsys):
    (later / "ids.txt").write_text("201\n103\n")
    out, _ = printed(capsys, *ADDED, "--nodes", "ids.txt", "--format", "json")
    shares = [list(line["probabilities"].values()) for line in json.loads(out)]
    np.testing.assert_allclose(shares, merged_predictions(later, [NODES + 1, 3]), atol=2e-5)


def test_a_file_is_written_and_nothing_else_changes(later, capsys):
    before = {file: file.read_bytes() for file in later.rglob("*") if file.is_file()}
    shown = json.loads(printed(capsys, *ADDED, "--format", "json")[0])
    for name in ("p.parquet", "p.json", "p.csv"):
        out, _ = printed(capsys, *ADDED, "--out", name)
        assert re.fullmatch(rf"{re.escape(name)}: 2 nodes, \d of them confident\n", out)
    after = {file: file.read_bytes() for file in later.rglob("*") if file.is_file()}
    assert {file.name for file in after.keys() - before.keys()} == {"p.parquet", "p.json", "p.csv"}
    assert all(after[file] == content for file, content in before.items())
    table = pq.read_table(later / "p.parquet")
    assert table.column_names == ["node", "predicted", "confidence", "confident", "l1_error", "probabilities"]
    assert table["node"].to_pylist() == [200, 201]
    shares = np.array([list(line["probabilities"].values()) for line in shown], np.float32)
    assert np.array_equal(np.array(table["probabilities"].to_pylist(), np.float32), shares)
    assert json.loads(table.schema.metadata[b"classes"]) == CLASSES
    assert json.loads((later / "p.json").read_text()) == shown
    assert "p.CSV: 2 nodes" in printed(capsys, *ADDED, "--out", "p.CSV", "--format", "csv")[0]
    printed(capsys, "--all", "--out", "all.parquet")
    assert pq.read_table(later / "all.parquet")["node"].to_pylist() == list(range(100, 130))


def test_a_kill_leaves_no_file_half_written(later, capsys):
    printed(capsys, *ADDED, "--out", "whole.parquet")  # kernels are compiled
    whole, seconds = (later / "whole.parquet").read_bytes(), time.perf_counter()
    printed(capsys, *ADDED, "--out", "p.parquet")
    seconds = time.perf_counter() - seconds
    for moment in range(10):
        (later / "p.parquet").unlink(missing_ok=True)
        child = os.fork()
        if not child:
            main(["predict", *ADDED, "--out", "p.parquet"])
            os._exit(0)
        time.sleep(seconds * (moment + 1) / 9)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert not (later / "p.parquet").exists() or (later / "p.parquet").read_bytes() == whole
    printed(capsys, *ADDED, "--out", "p.parquet")
    assert (later / "p.parquet").read_bytes() == whole
    assert not list(later.glob("*.partial"))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--add-edges", "edges.csv"], "no nodes are named; expected --nodes, --all or --add-nodes"),
        (["--all", *ADDED], "--all is given with --add-nodes and --add-edges; expected --all for the nodes of the run, "
         "or the others for new ones"),
        (["--nodes", "ids.txt", "--features", "x.npy"], "--features is given without --add-nodes; "
         "expected the table of the new nodes, too"),
        ([*ADDED, "--header"], "--header is given without --nodes; expected the file whose first line it skips"),
        ([*ADDED, "--out", "p.xlsx"], "the file is called p.xlsx; "
         "expected a name that ends with one of .parquet, .tsv, .csv, .json"),
    ],
)  # fmt: skip
def test_mistakes_with_new_nodes_are_told_in_a_line(later, capsys, arguments, line):
    (later / "ids.txt").write_text("100\n")
    assert printed(capsys, *arguments, code=2)[1].splitlines()[-1] == f"error: {line}"


def test_columns_that_are_no_features_are_counted(checkout, capsys):
    (checkout / "nodes.csv").write_text(NEW_NODES.replace("\n", ",7\n").replace("x29,7", "x29,zip"))
    feature_names = [f"x{i}" for i in range(NODES)]
    content = json.loads((checkout / "data/graph/features.json").read_text())
    (checkout / "data/graph/features.json").write_text(json.dumps(content | {"names": feature_names}))
    file = checkout / "data/model/trial-00000.safetensors"
    dataclasses.replace(load_model(file), preprocessing=content | {"names": feature_names}).save(file)
    _, errors = printed(capsys, "--add-nodes", "nodes.csv")
    assert errors == "added 2 nodes and 0 edges\nignored 1: zip; the graph has no such features\n"


TO_GROW = "for nodes that came later, run grandplus import NAME --grow NODES EDGES, and then the dataset NAME again"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("predict --nodes ids.txt", "take the predictions of all nodes from data/predictions/predictions.parquet"),
        ("predict --add-nodes new.csv", TO_GROW),
        ("explain 101", "a prediction is explained by the node's row of Π: run such a method to explain it"),
        ("explain 130 --add-nodes new.csv", TO_GROW),
    ],
)
def test_a_method_without_rows_says_what_to_do_instead(checkout, monkeypatch, capsys, arguments, line):
    (checkout / "ids.txt").write_text("101\n")
    without_rows = SimpleNamespace(method="gat", info={"dataset": "ring"})
    monkeypatch.setattr("grandplus.prediction.predictor.load_model", lambda file: without_rows)
    assert main(arguments.split()) == 2
    found = "error: data/model: the models are of gat, which needs no rows of Π"
    expected = "expected models of a method that is trained on rows, like GRAND+"
    assert capsys.readouterr().err == f"{found}; {expected}; {line}\n"
