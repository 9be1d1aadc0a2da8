"""How many trials are trained side by side, what is done where memory is short, and methods without rows."""

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.methods.files import load_model
from grandplus.methods.settings import GraphSize
from grandplus.methods.sgc.method import Model
from grandplus.pipeline import trials
from grandplus.pipeline.folders import history_file, model_file
from grandplus.pipeline.inference import infer_trials
from grandplus.pipeline.settings import load_settings
from grandplus.pipeline.trials import train_trials
from grandplus.prediction.predictor import Predictor
from grandplus.runtime.errors import ArgumentError, ArtifactError, GrandPlusError


@pytest.mark.parametrize(
    ("kind", "fix"), [(sp.csr_array, "set train.embed to true, or lower"), (np.asarray, "; lower")]
)
def test_too_little_memory_is_refused_before_the_work(tmp_path, monkeypatch, kind, fix):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "100MiB")
    features = kind(np.eye(4, dtype=np.float32))
    graph = Graph(as_adjacency(sp.eye_array(4)), features, np.zeros(4, np.int64), ["a", "b"], np.arange(4))
    graph.save(tmp_path)
    settings = load_settings(dataset="cora", matrix="ppr", trials=1)
    public = [{"train": np.array([0]), "val": np.array([1])}]
    make_splits(np.zeros(4, np.int64), settings.preprocess, public, seed=0, trials=1).save(tmp_path)
    with pytest.raises(
        GrandPlusError, match=r"training would need \d{3}\.\d\d MiB of memory, and may use 100\.00 MiB"
    ) as refused:
        train_trials(
            tmp_path,
            tmp_path,
            tmp_path,
            settings,
            live=tmp_path / "live.json",
        )
    assert fix in str(refused.value)


@pytest.mark.parametrize(("budget", "at_once"), [(1, 1), (2.5, 2), (7, 7)])
def test_as_many_trials_at_once_as_there_is_room_for(tmp_path, monkeypatch, budget, at_once):
    graph = Graph(as_adjacency(sp.eye_array(4)), np.eye(4, dtype=np.float32), np.zeros(4), ["a", "b"], np.arange(4))
    graph.save(tmp_path)
    settings = load_settings(dataset="cora", matrix="ppr", trials=9)
    public = [{"train": np.array([0]), "val": np.array([1])}]
    make_splits(np.zeros(4, np.int64), settings.preprocess, public, seed=0, trials=9).save(tmp_path)
    size = GraphSize(4, 0, 4, 2, 16, watched=2, top_k=settings.gfpush.top_k, unlabelled=3)
    each = settings.train.training_memory(size)
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(int(budget * each)))
    asked = []
    monkeypatch.setattr(
        trials.tasks, "map_tasks", lambda task, missing, threads, at_most: asked.append((len(missing), at_most)) or []
    )
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    train_trials(tmp_path, tmp_path, tmp_path, settings, live=tmp_path / "live.json")
    assert asked == [(9, at_once)]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A trained run of a method that needs no rows: three trials on a ring."""
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    nodes, labels = np.arange(30), np.arange(30) % 2
    ring = sp.csr_array((np.ones(30), (nodes, (nodes + 2) % 30)), shape=(30, 30))
    graph = Graph(as_adjacency(ring), np.eye(30, dtype=np.float32), labels, ["a", "b"], nodes)
    split = {"split": "per-class", "train_per_class": 3, "val_per_class": 4}
    settings = load_settings(dataset="cora", model="sgc", matrix="ppr", trials=3, preprocess=split, train={"epochs": 4})
    for folder in ("graph", "model", "predictions"):
        (tmp_path / folder).mkdir()
    graph.save(tmp_path / "graph")
    make_splits(labels, settings.preprocess, [], seed=0, trials=3).save(tmp_path / "graph")
    train_trials(tmp_path / "graph", tmp_path / "rows", tmp_path / "model", settings, live=tmp_path / "live.json")
    return tmp_path


def test_a_method_without_rows_trains_with_none(run):
    assert not (run / "rows").exists()
    for trial in range(3):
        model = load_model(model_file(run / "model", trial))
        assert (model.method, model.info["trial"], model.info["seed"]) == ("sgc", trial, 0)
        history = pq.read_table(history_file(run / "model", trial))
        assert history["trial"].to_pylist() == [trial] * 4
        assert history["step"].to_pylist() == [0, 1, 2, 3]


def test_what_trials_share_in_inference_is_computed_once(run, monkeypatch):
    computed = []

    def shared_inputs(model, graph):
        computed.append(model.info["trial"])
        return shared(model, graph)

    shared = Model.shared_inputs
    monkeypatch.setattr(Model, "shared_inputs", shared_inputs)
    infer_trials(run / "graph", run / "model", run / "predictions")
    assert computed == [0]
    whole = {file.name: file.read_bytes() for file in (run / "predictions").iterdir()}
    assert {f"trial-{trial:05d}.parquet" for trial in range(3)} | {"predictions.parquet"} <= whole.keys()
    (run / "predictions" / "trial-00001.parquet").unlink()  # a run that was killed goes on
    infer_trials(run / "graph", run / "model", run / "predictions")
    assert computed == [0, 1]
    assert {file.name: file.read_bytes() for file in (run / "predictions").iterdir()} == whole


def test_without_a_model_there_is_nothing_to_predict_with(run, tmp_path):
    with pytest.raises(ArtifactError, match="predictions: holds no model"):
        infer_trials(run / "graph", run / "predictions", run / "predictions")


def test_models_of_other_settings_are_not_combined(run):
    file = model_file(run / "model", 2)
    model = load_model(file)
    dataclasses.replace(model, settings=model.settings.model_copy(update={"order": 1})).save(file)
    words = "trial-00002.safetensors: is of another method or other settings than the first model"
    with pytest.raises(ArtifactError, match=words):
        infer_trials(run / "graph", run / "model", run / "predictions")


def test_single_nodes_are_predicted_from_rows_alone(run):
    words = "the models are of sgc, which needs no rows of Π; .*; take the predictions of all nodes from .*parquet"
    with pytest.raises(ArgumentError, match=words):
        Predictor.load(run)
