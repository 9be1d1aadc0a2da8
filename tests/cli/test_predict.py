"""``grandplus predict``: a file of ids with or without a header, all nodes, and each format."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
import torch

from grandplus.cli.main import main
from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.methods.grandplus.model import MLP, Model
from grandplus.methods.registry import settings_of
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.propagation.gfpush import gfpush

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
    info = {"dataset": "ring"}
    model = Model(mlp=MLP(NODES, 2, train), weights=WEIGHTS, classes=CLASSES, settings=train, info=info)
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    for folder in ("graph", "rows", "model", "predictions"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    graph.save(tmp_path / "data/graph")
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
        (["--all", "--header"], "", "--header is given with --all; expected it beside --nodes only"),
        (["--nodes", "ids.txt", "--header"], "100\n", "--header skips the only line; expected ids of nodes below it"),
        (["--nodes", "ids.txt"], "1o1\n", "there is no node 1o1; expected an id that the data came with; "
         "the nearest are 121, 119, 118"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_a_line(checkout, capsys, arguments, content, line):
    (checkout / "ids.txt").write_text(content)
    assert printed(capsys, *arguments, code=2)[1].splitlines()[-1] == f"error: {line}"
