"""Trials of earlier runs are found again, and the run's files are those of a run from nothing."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.methods.grandplus.model import Model
from grandplus.pipeline import finished, trials
from grandplus.pipeline.finished import finished_predictions, finished_trainings
from grandplus.pipeline.folders import model_file
from grandplus.pipeline.inference import infer_trials
from grandplus.pipeline.rows import make_rows
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.pipeline.trials import train_trials
from grandplus.prediction.calibration import Calibration
from grandplus.runtime.sums import SUMS, files_below, sha256, write_sums

NODES = 60
DRAWN = {"split": "per-class", "train_per_class": 3, "val_per_class": 4}
SPLIT = DRAWN | {"unlabelled": 20}
SGC = {"model": "sgc", "train": {"epochs": 4}, "gfpush": {}, "preprocess": DRAWN}
# The longest row of 2 trials has 22 entries, and that of 5 trials has 26: this must not matter.
CHANGES = {"gfpush": {"top_k": 50, "rmax": 0.02}, "train": {"max_epochs": 30, "hidden": 4}}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")


def settings_of(trials: int = 3, **changes: Any) -> Settings:
    given = {"dataset": "cora", "matrix": "ppr", "preprocess": SPLIT} | CHANGES
    return load_settings(**{**given, **changes}, trials=trials)


def graph_of(features: float = 1.0, seed: int = 0) -> Graph:
    random = np.random.default_rng(seed)
    edges = sp.coo_array((np.ones(200), random.integers(0, NODES, (2, 200))), shape=(NODES, NODES))
    labels = np.arange(NODES) % 2
    identity = sp.csr_array(features * np.eye(NODES, dtype=np.float32))
    return Graph(as_adjacency(edges), identity, labels, ["a", "b"], np.arange(NODES))


def prepared(base: Path, settings: Settings, graph: Graph | None = None) -> Path:
    """Folders of the graph and of rows, with an empty one for models; everything but the store is anew."""
    graph = graph or graph_of()
    for name in ("graph", "rows", "model"):
        (base / name).mkdir(parents=True)
    graph.save(base / "graph")
    splits = make_splits(graph.labels, settings.preprocess, [], seed=settings.seed, trials=settings.trials)
    splits.save(base / "graph")
    write_sums(base / "graph", {file.name: sha256(file) for file in (base / "graph").iterdir()})
    if settings.needs_rows:
        nodes = Splits.load(base / "graph").needing_rows()
        assert len(list(make_rows(settings, graph.adjacency, nodes, base / "rows"))) == 1
    return base


def train(base: Path, settings: Settings, monkeypatch, *, anew: bool = False) -> tuple[list[int], dict[str, bytes]]:
    """Which trials were trained, and the bytes of all files."""
    trained, train_trial = [], trials._train_trial

    def noted(run, trial, threads):
        trained.append(trial)
        return train_trial(run, trial, threads)

    folders = base / "graph", base / "rows"
    finished = None if anew else finished_trainings(*folders, settings, "cpu")
    with monkeypatch.context() as patch:
        patch.setattr(trials, "_train_trial", noted)
        train_trials(*folders, base / "model", settings, live=base / "live.json", finished=finished)
    return trained, contents(base / "model")


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("changes", [{}, {"preprocess": DRAWN | {"unlabelled": "all"}}, SGC])
def test_only_trials_that_are_new_are_trained(tmp_path, monkeypatch, changes):
    for number, (count, new) in enumerate([(2, [0, 1]), (5, [2, 3, 4]), (3, []), (5, [])]):
        settings = settings_of(count, **changes)
        trained, files = train(prepared(tmp_path / str(number), settings), settings, monkeypatch)
        assert trained == new
        assert len(files) == 2 * count
        assert files == train(prepared(tmp_path / f"{number} anew", settings), settings, monkeypatch, anew=True)[1]


def test_an_interrupted_run_of_ten_has_the_six_that_are_asked_for_then(tmp_path, monkeypatch):
    ten, six = settings_of(10), settings_of(6)
    train_trial = trials._train_trial

    def killed(run, trial, threads):
        if trial == 4:
            raise KeyboardInterrupt
        return train_trial(run, trial, threads)

    with monkeypatch.context() as patch:
        patch.setattr(trials, "_train_trial", killed)
        with pytest.raises(KeyboardInterrupt):
            train(prepared(tmp_path / "ten", ten), ten, patch)
    assert train(prepared(tmp_path / "six", six), six, monkeypatch)[0] == [4, 5]


def test_a_model_that_was_damaged_is_trained_again(tmp_path, monkeypatch):
    settings = settings_of()
    base = prepared(tmp_path / "first", settings)
    _, whole = train(base, settings, monkeypatch)
    file = model_file(base / "model", 1)  # the store's own, by a hard link
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    trained, files = train(prepared(tmp_path / "second", settings), settings, monkeypatch)
    assert trained == [1]
    assert files == whole


def test_a_store_without_room_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_STORE", "0")
    settings = settings_of()
    for name in ("first", "second"):
        assert train(prepared(tmp_path / name, settings), settings, monkeypatch)[0] == [0, 1, 2]
    assert [file.name for file in (tmp_path / "scratch/trials").iterdir()] == ["lock"]


def infer(base: Path, settings: Settings, monkeypatch, *, anew: bool = False) -> tuple[list[int], dict[str, bytes]]:
    """Which trials were predicted, and the bytes of all files."""
    (base / "predictions").mkdir()
    listing = {name: sha256(base / "model" / name) for name in sorted(files_below(base / "model") - {SUMS})}
    write_sums(base / "model", listing)
    predicted, predict_proba = [], Model.predict_proba

    def noted(model, *arguments):
        predicted.append(model.info["trial"])
        return predict_proba(model, *arguments)

    folders = base / "graph", base / "model"
    finished = None if anew else finished_predictions(*folders, settings, "cpu")
    with monkeypatch.context() as patch:
        patch.setattr(Model, "predict_proba", noted)
        infer_trials(*folders, base / "predictions", finished=finished)
    noted = Calibration.load(base / "predictions/calibration.json").models
    assert noted == sha256(base / "model" / SUMS)
    return predicted, contents(base / "predictions")


def test_only_models_that_are_new_predict(tmp_path, monkeypatch):
    for number, (count, new) in enumerate([(2, [0, 1]), (4, [2, 3]), (3, [])]):
        settings = settings_of(count)
        base = prepared(tmp_path / str(number), settings)
        train(base, settings, monkeypatch)
        predicted, files = infer(base, settings, monkeypatch)
        assert predicted == new
        shutil.rmtree(base / "predictions")
        assert files == infer(base, settings, monkeypatch, anew=True)[1]


def test_predictions_are_those_of_a_model_a_graph_and_its_parts(tmp_path, monkeypatch):
    """Of another graph the features alone may differ, of other parts the temperature."""
    bases = {"first": {}, "graph": {"graph": graph_of(features=2.0)}, "parts": {}}
    for name, changes in bases.items():
        base = prepared(tmp_path / name, settings_of(1, seed=int(name == "parts")), **changes)
        if name == "first":
            train(base, settings_of(1), monkeypatch)
        else:
            shutil.copytree(tmp_path / "first/model", base / "model", dirs_exist_ok=True)
            (base / "model/SHA256SUMS").unlink()
        assert infer(base, settings_of(1), monkeypatch)[0] == [0]


def keys(base: Path, settings: Settings, graph: Graph | None = None, device: str = "cpu") -> list[str]:
    prepared(base, settings, graph)
    return finished_trainings(base / "graph", base / "rows", settings, device).keys


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"dataset": "citeseer"},
        {"matrix": "avg"},
        {"train": CHANGES["train"] | {"lr": 0.5}},
        {"gfpush": CHANGES["gfpush"] | {"rmax": 1e-3}},
        {"gfpush": CHANGES["gfpush"] | {"top_k": 8}},
        {"preprocess": SPLIT | {"train_per_class": 4}},
        {"preprocess": SPLIT | {"val_per_class": 5}},
        {"preprocess": SPLIT | {"unlabelled": 21}},
        SGC,
    ],
)
def test_other_settings_are_other_trials(tmp_path, change):
    settings, other = settings_of(), settings_of(**change)
    assert not set(keys(tmp_path / "a", settings)) & set(keys(tmp_path / "b", other))


@pytest.mark.parametrize("graph", [graph_of(seed=1), graph_of(features=2.0), "labels"])
def test_other_graphs_are_other_trials(tmp_path, graph):
    if graph == "labels":
        graph = dataclasses.replace(graph_of(), labels=np.arange(NODES)[::-1] % 2)
    assert not set(keys(tmp_path / "a", settings_of())) & set(keys(tmp_path / "b", settings_of(), graph))


def test_devices_libraries_and_code_make_other_trials(tmp_path, monkeypatch):
    before = keys(tmp_path / "a", settings_of())
    assert len(set(before)) == 3
    assert not set(before) & set(keys(tmp_path / "b", settings_of(), device="cuda"))
    with monkeypatch.context() as patch:
        patch.setattr(finished.metadata, "version", lambda _: "0.1")
        assert not set(before) & set(keys(tmp_path / "c", settings_of()))
    for stage in ("train", "gfpush"):
        with monkeypatch.context() as patch:
            real = finished.code_of
            patch.setattr(
                finished, "code_of", lambda name, s, stage=stage, real=real: "x" if name == stage else real(name, s)
            )
            assert not set(before) & set(keys(tmp_path / stage, settings_of()))
    assert keys(tmp_path / "d", settings_of(5))[:3] == before
