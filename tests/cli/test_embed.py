"""``grandplus embed``: the file that it writes of a finished run, and what it refuses."""

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from grandplus.cli.main import main
from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.graph import Graph
from grandplus.methods.appnp.method import Model as APPNP
from grandplus.methods.grandplus.model import MLP, Model
from grandplus.methods.registry import settings_of

NODES = 12


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with the graph and the two models of a run on a ring, and the second model."""
    ring = np.arange(NODES)
    adjacency, _ = build_adjacency(np.array([ring, np.roll(ring, 1)]), NODES)
    graph = Graph(adjacency, np.eye(NODES, dtype=np.float32), ring % 2, ["a", "b"], 100 + ring)
    train = settings_of("grandplus").Settings(hidden=3)
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    for folder in ("graph", "model"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    graph.save(tmp_path / "data/graph")
    common = {"classes": graph.classes, "preprocessing": graph.fitted.to_json()}
    for trial in range(2):
        torch.manual_seed(trial)
        model = Model(mlp=MLP(NODES, 2, train), weights=(0.5, 0.5), settings=train, **common)
        model.save(tmp_path / f"data/model/trial-0000{trial}.safetensors")
    monkeypatch.chdir(tmp_path)
    return graph, model, common


def test_the_chosen_trial_embeds(checkout, capsys):
    graph, model, _ = checkout
    assert main(["embed", "--out", "out.parquet", "--trial", "1"]) == 0
    assert capsys.readouterr().out == "out.parquet: 3 numbers for each of 12 nodes, by the model of trial 1\n"
    table = pq.read_table("out.parquet")
    assert table["node"].to_pylist() == graph.node_ids.tolist()
    assert table["embedding"].to_pylist() == model.embed(graph).tolist()
    assert main(["embed", "--out", "out.parquet"]) == 0
    assert pq.read_table("out.parquet")["embedding"].to_pylist() != table["embedding"].to_pylist()


def refusal(capsys, *arguments):
    assert main(["embed", "--out", "out.parquet", *arguments]) == 2
    return capsys.readouterr().err.strip()


def test_mistakes_are_told_in_a_line(checkout, capsys, tmp_path):
    graph, _, common = checkout
    assert refusal(capsys, "--trial", "2") == "error: data/model: trial is 2; expected 0 to 1"
    train = settings_of("appnp").Settings()
    logits = APPNP(network=APPNP.make(train, NODES, 2), width=NODES, settings=train, **common)
    logits.save(tmp_path / "data/model/trial-00000.safetensors")
    assert refusal(capsys).startswith("error: the hidden layer of appnp sees a node's own features alone")
    Graph(graph.adjacency, graph.features, graph.labels, ["b", "a"], graph.node_ids).save(tmp_path / "data/graph")
    assert refusal(capsys).startswith("error: data: the graph and the models are of different runs")
    for file in (tmp_path / "data/model").iterdir():
        file.unlink()
    assert "data/model: holds no model" in refusal(capsys)
    assert not (tmp_path / "out.parquet").exists()


def test_a_file_that_can_not_be_written_is_named(checkout, capsys):
    assert main(["embed", "--out", "nowhere/out.parquet"]) == 2
    assert "nowhere/out.parquet" in capsys.readouterr().err
