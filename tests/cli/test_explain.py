"""The table of neighbours, against a dense row of Π."""

import re
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import torch
from graphs import Edges

from grandplus.cli.explain import run
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.methods.grandplus.model import MLP, Model
from grandplus.pipeline.settings import load_settings
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.prediction.predictor import Predictor
from grandplus.propagation.gfpush import gfpush
from grandplus.runtime.errors import ArtifactError, GrandPlusError

STAR = Edges(16, tuple((0, i) for i in range(1, 14)))  # two nodes are isolated
WEIGHTS = (0.25, 0.5, 0.25)
IDS = np.array(["hub", *(f"leaf {i}" for i in range(1, 16))], object)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A finished run of one model on a star, in the current folder."""
    labels = np.array([0] * 5 + [1] * 5 + [-1] * 6)
    graph = Graph(as_adjacency(STAR.matrix), np.eye(16, dtype=np.float32), labels, ["one", "two"], IDS)
    settings = {"features": "as-is", "split": "public", "train_per_class": 1, "val_per_class": 1, "unlabelled": "all"}
    split = {"train": np.array([3, 7]), "val": np.array([0, 5]), "test": np.array([1, 2])}
    train = load_settings(dataset="cora", matrix="ppr").train
    torch.manual_seed(0)
    common = {"classes": graph.classes, "settings": train, "info": {"dataset": "star"}}
    model = Model(mlp=MLP(16, 2, train), weights=WEIGHTS, **common)
    for folder in ("graph", "rows", "model", "predictions"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    data = tmp_path / "data"
    graph.save(data / "graph")
    splits = make_splits(labels, Preprocess(**settings), [split], seed=0, trials=1)
    splits.save(data / "graph")
    gfpush(graph, [3], weights=WEIGHTS, rmax=0, top_k=2).save(data / "rows")
    model.save(data / "model" / "trial-00000.safetensors")
    write_trial(data / "predictions" / "trial-00000.parquet", graph, splits.of(0), model.predict_proba(graph))
    write_predictions(data / "predictions", graph, splits)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grandplus.prediction.predictor.ROW_ENTRIES", 12)
    return Predictor.load()


def explained(node, capsys):
    """The three tables, as lists of cells."""
    run(Namespace(node=node))
    tables = capsys.readouterr().out.strip().split("\n\n")
    return [[re.split(r"  +", line) for line in table.splitlines()] for table in tables]


def test_a_leaf_of_a_star(checkout, capsys):
    own, neighbors, classes = explained("leaf 3", capsys)
    pi = STAR.pi(np.array(WEIGHTS))[3]
    kept = np.argsort(-pi, kind="stable")[:12]
    answers = checkout.predict(np.array([3]))
    name = ["one", "two"][answers.predicted[0]]
    error = f"{1 - pi[kept].sum():.6f}"
    assert own[1] == ["leaf 3", "one", "yes", name, f"{answers.confidence[0]:.4f}", "no", error]
    shown = neighbors[1:11]
    assert [line[0].removesuffix(" (itself)") for line in shown] == IDS[kept[:10]].tolist()
    assert [line[0] for line in shown if "itself" in line[0]] == ["leaf 3 (itself)"]
    np.testing.assert_allclose([float(line[1]) for line in shown], pi[kept[:10]], atol=1e-4)
    shares = [float(line[2].rstrip("%")) for line in neighbors[1:]]
    np.testing.assert_allclose(shares[:10], 100 * pi[kept[:10]] / pi[kept].sum(), atol=0.06)
    assert sum(shares) == pytest.approx(100, abs=0.6)
    assert neighbors[11][0] == "2 others"
    assert {line[0]: line[3:5] for line in shown} == {
        "hub": ["one", "no"], "leaf 1": ["one", "no"], "leaf 2": ["one", "no"], "leaf 3 (itself)": ["one", "yes"],
        "leaf 4": ["one", "no"], "leaf 5": ["two", "no"], "leaf 6": ["two", "no"], "leaf 7": ["two", "yes"],
        "leaf 8": ["two", "no"], "leaf 9": ["two", "no"],
    }  # fmt: skip
    assert sum(float(line[1]) for line in classes[1:]) == pytest.approx(1, abs=1e-3)
    full = checkout.models[0].predict_proba(checkout.graph).argmax(axis=1)
    by_class = {
        name: pi[kept][full[kept] == number].sum() / pi[kept].sum() for number, name in enumerate(["one", "two"])
    }
    assert [line[5] for line in shown] == [["one", "two"][full[node]] for node in kept[:10]]
    assert {line[0]: float(line[2].rstrip("%")) for line in classes[1:]} == {
        name: pytest.approx(100 * share, abs=0.06) for name, share in by_class.items()
    }


def test_an_isolated_node_stands_for_itself(checkout, capsys):
    own, neighbors, _ = explained("leaf 15", capsys)
    assert own[1][1:3] == ["-", "no"]
    assert own[1][-1] == "0.000000"
    assert [line[:3] for line in neighbors[1:]] == [["leaf 15 (itself)", "1.0000", "100.0%"]]


def test_predictions_that_are_not_there_are_named(checkout):
    Path("data/predictions/predictions.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"predictions\.parquet: can't be read"):
        run(Namespace(node="hub"))


def test_another_id_is_named(checkout):
    with pytest.raises(GrandPlusError, match=r"there is no node leaf 16; .* the nearest are leaf 1"):
        run(Namespace(node="leaf 16"))
