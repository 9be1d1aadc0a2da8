"""Predictions as text and as JSON: what a reader of each form gets back is what was predicted."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from grandplus.cli import predict
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.prediction.export import FORMATS, Predicted, read_predictions, write_as
from grandplus.prediction.predictions import write_predictions, write_trial
from grandplus.runtime.errors import ArgumentError, ArtifactError

CLASSES = ["salt, pepper", 'the "big" one', "tab\there", "größe 漢字"]
IDS = ["ann, bob", 'x "y"', "plain", "Ärger 漢"]
SHARES = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.25, 0.2, 0.3, 0.25], [0, 0, 0, 1]], np.float32)


def predictions() -> list[Predicted]:
    lines = zip(IDS, SHARES, np.float32([0, 1e-6, 0.25, 0.5]), strict=True)
    return [Predicted(name, CLASSES[p.argmax()], p.max(), bool(p.max() > 0.5), error, p) for name, p, error in lines]


def written(file_format: str) -> str:
    out = io.StringIO()
    write_as(file_format, out, CLASSES, predictions())
    return out.getvalue()


@pytest.mark.parametrize(("file_format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_reader_of_tables_gets_all_names_back(file_format, separator):
    lines = list(csv.DictReader(io.StringIO(written(file_format)), delimiter=separator))
    assert list(lines[0]) == ["node", "predicted", "confidence", "confident", "l1_error", *(f"P({c})" for c in CLASSES)]
    assert [line["node"] for line in lines] == IDS
    assert [line["predicted"] for line in lines] == CLASSES[:4]
    assert [line["confident"] for line in lines] == ["yes", "yes", "no", "yes"]
    assert lines[2]["confidence"] == "0.3000"
    assert lines[1]["l1_error"] == "0.000001"
    shares = [[float(line[f"P({name})"]) for name in CLASSES] for line in lines]
    np.testing.assert_allclose(shares, SHARES, atol=5e-5)


def test_json_has_the_exact_numbers():
    content = json.loads(written("json"))
    assert len(written("json").splitlines()) == len(IDS) + 2  # a line a node
    assert [line["node"] for line in content] == IDS
    assert [line["confident"] for line in content] == [True, True, False, True]
    assert [list(line["probabilities"]) for line in content] == [CLASSES] * 4
    np.testing.assert_array_equal(np.float32([list(line["probabilities"].values()) for line in content]), SHARES)
    assert np.float32(content[1]["l1_error"]) == np.float32(1e-6)


def test_json_keeps_numbers_of_nodes_as_numbers():
    out = io.StringIO()
    write_as("json", out, ["a"], [Predicted(7, "a", np.float32(1), True, np.float32(0), [np.float32(1)])])
    assert json.loads(out.getvalue())[0]["node"] == 7


def test_the_verb_offers_every_format():
    assert predict.FORMATS == FORMATS
    with pytest.raises(ArgumentError, match="the format is 'xml'; expected one of tsv, csv, json"):
        write_as("xml", io.StringIO(), [], [])


@pytest.fixture
def folder(tmp_path):
    """The predictions of a run of two trials on 40 nodes."""
    labels = np.arange(40) % 4
    ids = np.array([f"{IDS[i % 4]} {i}" for i in range(40)], object)
    graph = Graph(as_adjacency(sp.eye_array(40)), np.eye(40, dtype=np.float32), labels, CLASSES, ids)
    settings = Preprocess(features="as-is", split="per-class", train_per_class=2, val_per_class=3)
    splits = make_splits(labels, settings, [], seed=0, trials=2)
    rng = np.random.default_rng(0)
    for trial in range(2):
        write_trial(
            tmp_path / f"trial-{trial:05d}.parquet", graph, splits.of(trial), rng.dirichlet([1] * 4, 40).astype("f4")
        )
    write_predictions(tmp_path, graph, splits)
    return tmp_path


def test_all_predictions_are_those_of_the_table(folder):
    classes, lines = read_predictions(folder)
    table = pq.read_table(folder / "predictions.parquet").to_pydict()
    read = list(lines)
    assert classes == CLASSES
    assert [line.node for line in read] == table["node"]
    assert [line.predicted for line in read] == table["predicted"]
    assert [line.confident for line in read] == table["confident"]
    assert [list(line.probabilities) for line in read] == table["probabilities"]
    assert {float(line.l1_error) for line in read} == {0.0}


def test_without_predictions_it_says_what_is_missing(folder):
    (folder / "predictions.parquet").write_bytes(b"no Parquet")
    with pytest.raises(ArtifactError, match=r"predictions\.parquet: can't be read"):
        read_predictions(folder)
    (folder / "predictions.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"predictions\.parquet: no such file"):
        read_predictions(folder)
