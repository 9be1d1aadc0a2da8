"""Each method is trained for some epochs on imported graphs of kinds that users have, by the pipeline's own steps."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import grandplus as gp
from grandplus.datasets.raw import read_files
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.methods.files import info_of, load_model
from grandplus.methods.fitting import fit
from grandplus.methods.protocol import Task
from grandplus.methods.registry import NAMES
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.rows import make_rows
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.propagation.rows import Rows

ROOT = Path(__file__).resolve().parents[2]
NODES, ISOLATED = 30, 29
EPOCHS = 3
CLASSES = np.array(["a", "b", "c"])[np.arange(NODES) % 3]


def edges():
    """Nodes 0 to 28 are a ring with chords; 29 has no edge."""
    nodes = np.arange(ISOLATED)
    return np.array([[*nodes, *nodes], [*(nodes + 1) % ISOLATED, *(nodes + 3) % ISOLATED]])


def features(kind):
    rng = np.random.default_rng(0)
    informative = np.eye(3, 12)[np.arange(NODES) % 3]
    if kind == "sparse":
        return sp.csr_array(informative + (rng.random((NODES, 12)) < 0.1))
    return {
        "dense": informative + rng.normal(size=(NODES, 12)),  # with negative values
        "one": np.arange(NODES)[:, None] % 3 + rng.random((NODES, 1)),
        "with a node without features": (informative + rng.random((NODES, 12))) * (np.arange(NODES) != 5)[:, None],
    }[kind]


GRAPHS = {
    "sparse": ("sparse", CLASSES, {}),
    "dense": ("dense", CLASSES, {}),
    "as they are": ("dense", CLASSES, {"features": "as-is"}),
    "one feature": ("one", CLASSES, {"features": "as-is"}),
    "a node without features": ("with a node without features", CLASSES, {"features": "row-normalize"}),
    "a class of two nodes": ("sparse", np.where(np.arange(NODES) < 2, "rare", CLASSES), {}),
    "unlabelled nodes": ("sparse", np.where(np.arange(NODES) % 4 == 3, "", CLASSES), {}),
}


@pytest.fixture(scope="module", params=GRAPHS)
def dataset(request, tmp_path_factory) -> tuple[Path, Graph, Splits]:
    """The checkout that has its card, and what preprocessing makes of it."""
    kind, labels, preprocess = GRAPHS[request.param]
    checkout = tmp_path_factory.mktemp("checkout")
    (checkout / CATALOG).mkdir(parents=True)
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, checkout)
    few = {"train_per_class": 3, "val_per_class": 3, "shortage": "shrink"}
    gp.save_dataset("mine", edges(), features(kind), list(labels), root=checkout, **few, **preprocess)
    settings = settings_of(checkout, "grandplus")
    raw = read_files(checkout / "data" / "own", "edges-npz", ["mine.npz"], settings.source)
    return checkout, *make_graph(raw, settings)


def settings_of(checkout: Path, method: str) -> Settings:
    layers = {"layers": 4} if method == "gcnii" else {}
    return load_settings(checkout, dataset="mine", model=method, train=epochs(method, EPOCHS) | layers, trials=1)


def epochs(method: str, number: int) -> dict[str, int]:
    return {"max_epochs" if method == "grandplus" else "epochs": number}


def rows_for(settings: Settings, graph: Graph, splits: Splits, folder: Path) -> Rows | None:
    if not settings.needs_rows:
        return None
    list(make_rows(settings, graph.adjacency, splits.needing_rows(), folder))
    return Rows.load(folder, graph.adjacency.fingerprint)


@pytest.mark.parametrize("name", NAMES)
def test_a_method_is_trained_kept_and_used(name, dataset, tmp_path):
    checkout, graph, splits = dataset
    settings, split = settings_of(checkout, name), splits.of(0)
    rows = rows_for(settings, graph, splits, tmp_path)
    threads, seen = torch.get_num_threads(), list[int]()
    trained = fit(Task(graph, split, rows), settings.train, watch=lambda _: seen.append(torch.get_num_threads()))
    assert torch.get_num_threads() == threads
    assert name == "grandplus" or set(seen) == {1}  # whose sums do not depend on it
    probabilities = trained.model.predict_proba(graph)
    assert probabilities.shape == (NODES, len(graph.classes))
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert all(np.isfinite(scores).all() for scores in trained.history.values())
    right = probabilities[split.val].argmax(axis=1) == graph.labels[split.val]
    if rows is None:  # else inference is by Π itself
        assert trained.model.info["val_accuracy"] == pytest.approx(right.mean(), abs=1e-6)
    trained.model.save(tmp_path / "model.safetensors")
    kept = trained.history["step"].index(trained.model.info["best_step"])
    assert trained.history["val_accuracy"][kept] == trained.model.info["val_accuracy"]
    assert info_of(tmp_path / "model.safetensors") == trained.model.info
    again = load_model(tmp_path / "model.safetensors")
    assert again.predict_proba(graph).tobytes() == probabilities.tobytes()
    assert again.settings == settings.train


@pytest.mark.parametrize("name", NAMES)
def test_cora_is_learnt_in_some_epochs_and_the_same_for_any_number_of_workers(name, raw_graph, tmp_path, monkeypatch):
    """Thirty epochs take each method beyond 31.9 %, the share of the largest class among the test nodes."""
    sooner = {"gcnii": {"layers": 16}, "grand": {"lr": 0.05}}.get(name, {})
    settings = load_settings(dataset="cora", model=name, trials=1, train=epochs(name, 30) | sooner)
    graph, splits = make_graph(raw_graph("cora"), settings)
    split, models = splits.of(0), list[bytes]()
    for workers in ("1", "3"):
        monkeypatch.setenv("GRANDPLUS_WORKERS", workers)
        folder = tmp_path / workers
        folder.mkdir()
        model = fit(Task(graph, split, rows_for(settings, graph, splits, folder), seed=[0, 0]), settings.train).model
        model.save(folder / "model.safetensors")
        probabilities = model.predict_proba(graph)
        models.append((folder / "model.safetensors").read_bytes() + probabilities.tobytes())
    right = probabilities[split.test].argmax(axis=1) == graph.labels[split.test]
    assert right.mean() >= 0.5
    assert models[0] == models[1]
