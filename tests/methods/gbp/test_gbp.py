"""GBP: its network against dense float64 formulas, its file, its stopping rule, and its published settings."""

import dataclasses

import numpy as np
import pytest
import torch
from small_graph import CLASSES, NODES, WIDTH, small_graph, small_split, softmax

from grandplus.graph.splits import Split
from grandplus.methods.files import load_model
from grandplus.methods.gbp.method import GBP, fit
from grandplus.methods.gbp.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.methods.settings import GraphSize
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

QUICK = {"epochs": 4, "batch_labelled": 4}


@pytest.fixture
def task():
    return Task(small_graph(), small_split(), None, seed=[0, 1])


def dense_logits(tensors, x, layers):
    """Products without bias, running statistics of BatchNorm, residuals where widths match, ReLU between layers."""
    t = {name: tensor.double().numpy() for name, tensor in tensors.items()}
    for number in range(layers):
        inputs = np.maximum(x, 0) if number else x
        x = inputs @ t[f"layers.{number}.weight"].T
        if f"norms.{number}.weight" in t:
            mean, variance = (t[f"norms.{number}.running_{name}"] for name in ("mean", "var"))
            scale, shift = t[f"norms.{number}.weight"], t[f"norms.{number}.bias"]
            x = (x - mean) / np.sqrt(variance + 1e-5) * scale + shift
        x = x + inputs if x.shape == inputs.shape else x
    return x


@pytest.mark.parametrize(
    "changes",
    [{}, {"batchnorm": True}, {"layers": 3}, {"layers": 4, "batchnorm": True}, {"layers": 1}, {"hidden": WIDTH}],
)
def test_probabilities_are_those_of_the_dense_formula(task, changes):
    settings = Settings(**QUICK | {"hidden": 8, "rmax": 1e-12, "alpha": 0.3, "exponent": 0.4} | changes)
    graph, model = task.graph, fit(task, settings).model
    degrees = np.diff(graph.adjacency.indptr).astype(np.float64)
    walk = np.zeros((NODES, NODES))
    for node in range(NODES):
        neighbors = graph.adjacency.indices[graph.adjacency.indptr[node] : graph.adjacency.indptr[node + 1]]
        walk[node, neighbors] = degrees[node] ** (0.4 - 1) * degrees[neighbors] ** -0.4 if len(neighbors) else 0
    powers = [np.linalg.matrix_power(0.7 * walk, step) for step in range(200)]
    propagated = 0.3 * sum(powers) @ graph.features.toarray().astype(np.float64)
    np.testing.assert_allclose(model.shared_inputs(graph), propagated, atol=1e-6)
    exact = softmax(dense_logits(model.tensors(), propagated, settings.layers))
    np.testing.assert_allclose(model.predict_proba(graph), exact, atol=1e-5)
    assert sum(tensor.numel() for name, tensor in model.network.named_parameters()) == settings.parameters(
        WIDTH, CLASSES
    )


def test_first_weights_are_uniform_by_the_width_that_a_layer_puts_out():
    torch.manual_seed(0)
    network = GBP(Settings(hidden=400), 300, 4)
    for layer, outs in zip(network.layers, (400, 4), strict=True):
        assert layer.bias is None
        assert layer.weight.abs().max().item() == pytest.approx(1 / np.sqrt(outs), rel=0.01)
        assert layer.weight.std().item() == pytest.approx(1 / np.sqrt(3 * outs), rel=0.05)


def test_the_first_epoch_of_the_highest_accuracy_is_kept_and_equal_ones_use_up_patience(task):
    trained = fit(task, Settings(epochs=60, patience=5, batch_labelled=4))
    accuracies = trained.history["val_accuracy"]
    best = int(np.argmax(accuracies))
    assert trained.model.info["best_step"] == best
    assert trained.model.info["steps"] == len(accuracies) == best + 5 + 1
    predicted = trained.model.predict_proba(task.graph).argmax(axis=1)
    assert (predicted == task.graph.labels)[task.split.val].mean() == pytest.approx(accuracies[best])


def test_only_labels_of_training_and_validation_are_looked_at(task):
    labels = np.where(np.isin(np.arange(NODES), task.split.test), -1, task.graph.labels)
    hidden = dataclasses.replace(task, graph=dataclasses.replace(task.graph, labels=labels))
    models = [fit(given, Settings(**QUICK)).model for given in (task, hidden)]
    assert models[0].predict_proba(task.graph).tobytes() == models[1].predict_proba(task.graph).tobytes()


def test_a_model_that_is_saved_and_loaded_gives_the_same_bytes(task, tmp_path):
    model = fit(task, Settings(**QUICK, batchnorm=True, layers=3)).model
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert (again.method, again.settings, again.info) == ("gbp", model.settings, model.info)
    assert again.predict_proba(task.graph).tobytes() == model.predict_proba(task.graph).tobytes()


def test_the_same_seed_gives_the_same_bytes(task):
    tasks = [task, task, dataclasses.replace(task, seed=[0, 2])]
    first, same, other = (fit(given, Settings(**QUICK)).model.predict_proba(task.graph).tobytes() for given in tasks)
    assert first == same
    assert first != other


def test_batchnorm_leaves_out_a_batch_of_one(task):
    """Nine training nodes in batches of four: the last batch has no variance."""
    assert np.isfinite(fit(task, Settings(**QUICK, batchnorm=True)).history["train_loss"]).all()
    for changes, split in (({"batch_labelled": 1}, task.split), ({}, Split(*[np.arange(1)] * 4))):
        with pytest.raises(GrandPlusError, match=r"one training node, and BatchNorm needs two; .*batchnorm to false"):
            fit(dataclasses.replace(task, split=split), Settings(**QUICK | changes, batchnorm=True))


def test_too_little_memory_is_an_error(task, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1MiB")
    with pytest.raises(GrandPlusError, match=r"of memory, and may use 1\.00 MiB"):
        fit(task, Settings(**QUICK))


def test_published_values_are_those_of_a_dataset():
    names = ("alpha", "rmax", "exponent", "hidden", "weight_decay", "batchnorm", "batch_labelled", "patience")
    values = {
        name: load_settings(dataset=name, model="gbp", matrix="ppr").train
        for name in ("cora", "citeseer", "pubmed", "twin-amazon2m")
    }
    assert {name: tuple(getattr(train, key) for key in names) for name, train in values.items()} == {
        "cora": (0.1, 1e-4, 0.5, 64, 5e-4, False, 16, 40),
        "citeseer": (0.15, 1e-5, 0.4, 64, 0.2, True, 64, 20),
        "pubmed": (0.05, 1e-5, 0.5, 128, 5e-4, False, 16, 40),
        "twin-amazon2m": (0.2, 1e-7, 0.2, 1024, 0.0, True, 100_000, 100),
    }


def test_memory_counts_propagated_features_and_what_threads_push_with(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "2")
    size = GraphSize(nodes=10**6, edges=10**7, features=100, classes=5, stored=10**8)
    dense, threads = 4 * 10**6 * 100, 2 * 10**6 * (8 * 16 + 40)
    assert dense + threads < Settings().training_memory(size) < dense + threads + 2**29
