"""Runs that start from the models of another one: where these are found, what counts in keys, and what is refused."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from processes import CHECKOUT

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.drawing import make_splits
from grandplus.graph.graph import Graph
from grandplus.methods.files import load_model
from grandplus.pipeline.finished import Finished, finished_trainings
from grandplus.pipeline.folders import model_file
from grandplus.pipeline.settings import load_settings, resolve
from grandplus.pipeline.start import find_start
from grandplus.pipeline.trials import train_trials
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.store import Store
from grandplus.runtime.sums import write_sums

NODES, TRIALS = 30, 3


def settings(**train):
    split = {"split": "per-class", "train_per_class": 3, "val_per_class": 4}
    chosen = {"epochs": 4, "hidden": 5} | train
    values = {"dataset": "cora", "model": "appnp", "matrix": "ppr", "preprocess": split, "train": chosen}
    return load_settings(CHECKOUT, trials=TRIALS, **values)


@pytest.fixture
def base(tmp_path, monkeypatch) -> Path:
    """A graph, and the models of a run of three trials on it."""
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    nodes, labels = np.arange(NODES), np.arange(NODES) % 2
    ring = sp.csr_array((np.ones(NODES), (nodes, (nodes + 2) % NODES)), shape=(NODES, NODES))
    graph = Graph(as_adjacency(ring), np.eye(NODES, dtype=np.float32), labels, ["a", "b"], nodes)
    (tmp_path / "graph").mkdir()
    graph.save(tmp_path / "graph")
    make_splits(labels, settings().preprocess, [], seed=0, trials=TRIALS).save(tmp_path / "graph")
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (tmp_path / "graph").iterdir()}
    write_sums(tmp_path / "graph", digests)
    train(tmp_path, "before")
    return tmp_path


def train(base: Path, name: str, start: str | None = None, finished: Finished | None = None, **changes) -> Path:
    (base / name).mkdir()
    found = None if start is None else find_start(start, TRIALS)
    of_run = {"live": base / "live.json", "start": found, "finished": finished}
    train_trials(base / "graph", base / "rows", base / name, settings(**changes), **of_run)
    return base / name


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_each_trial_starts_from_its_own_model(base):
    graph = Graph.load(base / "graph")
    after = train(base, "after", str(base / "before"), lr=1e-30)
    for trial in range(TRIALS):
        old, new = (load_model(model_file(folder, trial)) for folder in (base / "before", after))
        assert new.predict_proba(graph).tobytes() == old.predict_proba(graph).tobytes()
        assert new.info["from"] == digest(model_file(base / "before", trial))
        assert "from" not in old.info
    assert sorted(path.name for path in base.iterdir()) == ["after", "before", "graph"]  # no copy is left


def test_a_relative_folder_starts_from_the_main_checkout(base, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_ROOT", str(base))
    assert find_start("before", 2).sums == [digest(model_file(base / "before", trial)) for trial in range(2)]


def test_finished_trials_are_told_apart_by_the_model_that_they_start_from(base):
    start = find_start(str(base / "before"), TRIALS)
    common = base / "graph", base / "rows", settings(), "cpu"
    fresh, started = finished_trainings(*common), finished_trainings(*common, start.sums)
    assert not set(fresh.keys) & set(started.keys)
    shutil.copy(model_file(base / "before", 0), model_file(base / "before", 1))
    changed = finished_trainings(*common, find_start(str(base / "before"), TRIALS).sums)
    assert [key == other for key, other in zip(started.keys, changed.keys, strict=True)] == [True, False, True]


def test_trials_that_are_found_need_no_model_to_start_from(base):
    finished = Finished(Store(base / "store", 2**30), [f"key-{trial}" for trial in range(TRIALS)])
    (base / "store").mkdir()
    once = train(base, "once", str(base / "before"), finished)
    again = train(base, "again", str(base / "before"), finished)
    assert [digest(file) for file in sorted(once.iterdir())] == [digest(file) for file in sorted(again.iterdir())]


def test_a_model_that_changes_between_search_and_use_is_refused(base):
    start = find_start(str(base / "before"), TRIALS)
    model_file(base / "before", 2).write_bytes(b"other")
    (base / "after").mkdir()
    with pytest.raises(GrandPlusError, match=r"train\.from: trial-00002\.safetensors of .* has changed; run again"):
        train_trials(base / "graph", base / "rows", base / "after", settings(), live=base / "live.json", start=start)


def test_a_model_that_does_not_fit_names_the_trial(base):
    found = "trial 0: train.from: the model to start from has first.weight of 5 x 30; expected first.weight of 7 x 30"
    with pytest.raises(GrandPlusError, match=re.escape(f"{found}; set train.hidden to 5, as it has")):
        train(base, "after", str(base / "before"), hidden=7)


def test_a_damaged_model_is_named_as_its_run_has_it(base):
    model_file(base / "before", 1).write_bytes(b"other")
    found = "trial 1: train.from: trial-00001.safetensors is no readable model: "
    with pytest.raises(GrandPlusError, match=re.escape(found) + ".*; name a run or a folder whose models are whole"):
        train(base, "after", str(base / "before"))


@pytest.mark.parametrize(
    ("name", "trials", "message"),
    [
        ("before", 5, "train.from: before has models of 3 trials; expected those of 5, one for each trial; "
                      "set trials to 3"),
        ("graph", 3, "train.from: graph has no models; expected those of 3, one for each trial; "
                     "dvc exp show has the names of runs"),
        ("data/model", 3, "train.from: is data/model, which the run itself writes; name the run "
                          "whose models they are, or run dvc checkout data/model, and copy the folder"),
        ("~nosuchuser/x", 3, "train.from: ~nosuchuser/x begins with a home folder that the system doesn't know; "
                             "write the whole path"),
    ],
)  # fmt: skip
def test_folders_that_are_refused(base, monkeypatch, name, trials, message):
    monkeypatch.setenv("GRANDPLUS_ROOT", str(base))
    (base / "data/model").mkdir(parents=True)
    with pytest.raises(GrandPlusError) as refused:
        find_start(name, trials)
    assert str(refused.value) == message


@pytest.fixture
def repository(base, monkeypatch) -> Path:
    """A repository whose commit v1 has these models as an output of DVC, and whose commit v0 has none."""
    top = base / "checkout"
    top.mkdir()
    monkeypatch.chdir(top)
    git = "git", "-c", "user.name=test", "-c", "user.email=test@localhost"
    dvc = str(Path(sys.executable).with_name("dvc"))
    run(*git, "init", "--quiet")
    run(dvc, "init", "--quiet")
    run(*git, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", "empty")
    run(*git, "tag", "v0")
    shutil.copytree(base / "before", top / "data/model")
    run(dvc, "add", "--quiet", "data/model")
    run(*git, "add", "--all")
    run(*git, "commit", "--quiet", "--no-verify", "-m", "models")
    run(*git, "tag", "v1")
    shutil.rmtree(top / "data/model")  # as DVC does before the stage runs
    return top


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def test_models_of_a_run_come_from_the_cache_of_dvc(base, repository):
    start = find_start("v1", TRIALS)
    assert start.sums == find_start(str(base / "before"), TRIALS).sums
    by_run, by_folder = train(base, "by-run", "v1"), train(base, "by-folder", str(base / "before"))
    for trial in range(TRIALS):
        assert digest(model_file(by_run, trial)) == digest(model_file(by_folder, trial))


def test_names_that_are_no_run_are_refused(repository):
    for name, message in {
        "v2": "train.from: v2 is no folder, and no run: unknown Git revision 'v2'; dvc exp show has the names of runs",
        "v0": "train.from: the models of v0 are not in DVC's cache here; name a run that finished; "
              "if it ran elsewhere, dvc pull",
    }.items():  # fmt: skip
        with pytest.raises(GrandPlusError) as refused:
            find_start(name, TRIALS)
        assert str(refused.value) == message
    shutil.rmtree(repository / ".dvc/cache")
    with pytest.raises(GrandPlusError, match="the models of v1 are not in DVC's cache here"):
        find_start("v1", TRIALS)


def test_the_setting_is_told_like_others():
    resolved = resolve(overrides={"dataset": "cora", "matrix": "ppr", "train": {"from": "before"}})
    assert resolved.settings.start == "before"
    assert resolved.settings.flat()["train"]["from"] == "before"
    assert resolved.origins["train.from"] == "params.yaml"
    assert resolved.changed == {"train.from": [None, "before"]}
    assert "from" not in resolved.settings.train.model_dump()
    fresh = resolve(overrides={"dataset": "cora", "matrix": "ppr", "train": {}})
    assert (fresh.settings.start, fresh.origins["train.from"], fresh.changed) == (None, "default", {})


def test_a_start_that_is_no_name_is_refused():
    with pytest.raises(GrandPlusError) as refused:
        load_settings(dataset="cora", model="gcn", train={"from": 3})
    expected = "params.yaml: train.from is 3; expected the name of a run, or a folder of models, as text"
    assert str(refused.value) == expected
