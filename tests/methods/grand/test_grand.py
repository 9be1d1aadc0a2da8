"""GRAND: its network and its steps against dense float64 formulas, its stopping rule, its file."""

import dataclasses

import numpy as np
import pytest
import torch
from small_graph import CLASSES, ISOLATED, NODES, WIDTH, normalized, small_graph, small_split, softmax

from grandplus.methods.files import load_model
from grandplus.methods.grand import method
from grandplus.methods.grand.augmentation import drawn_masks
from grandplus.methods.grand.method import GRAND, fit
from grandplus.methods.grand.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.methods.settings import GraphSize
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

# By products, by the dense matrix, and by powers with BatchNorm.
KINDS = {"products": {}, "matrix": {"dropout_input": 0.5}, "powers": {"dropout_input": 0.5, "batchnorm": True}}
each_kind = pytest.mark.parametrize("changes", KINDS.values(), ids=KINDS)


@pytest.fixture
def task():
    return Task(small_graph(), small_split(), None, seed=[0, 1])


def mean_of_powers(graph, order):
    return sum(np.linalg.matrix_power(normalized(graph), power) for power in range(order + 1)) / (order + 1)


def batchnorm(x, tensors, name):
    scale, shift, mean, variance = (
        tensors[f"{name}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
    )
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


@each_kind
def test_probabilities_are_those_of_the_dense_formula(task, changes):
    """(1 - δ) times the propagated features, BatchNorm if it is on, and two layers with ReLU between."""
    settings, graph = Settings(epochs=5, dropnode=0.4, order=3, **changes), task.graph
    model = fit(task, settings).model
    t = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    x = 0.6 * mean_of_powers(graph, 3) @ graph.features.toarray().astype(np.float64)
    x = batchnorm(x, t, "norms.0") if settings.batchnorm else x
    x = np.maximum(x @ t["first.weight"].T + t["first.bias"], 0)
    x = batchnorm(x, t, "norms.1") if settings.batchnorm else x
    exact = softmax(x @ t["second.weight"].T + t["second.bias"])
    np.testing.assert_allclose(model.predict_proba(graph), exact, atol=1e-5)
    assert settings.parameters(WIDTH, CLASSES) == sum(value.numel() for value in model.network.parameters())
    assert model.shared_inputs(graph)[ISOLATED] == pytest.approx(graph.features.toarray()[ISOLATED], rel=1e-6)


def test_the_kinds_are_chosen_where_they_are_exact(task):
    size = GraphSize.of(task.graph)
    products, matrix, powers = (Settings(order=8, **changes) for changes in KINDS.values())
    assert products.multiplies_first
    assert not matrix.multiplies_first
    assert matrix.by_matrix(size)
    assert not powers.multiplies_first
    assert not powers.by_matrix(size)
    assert not matrix.by_matrix(GraphSize(nodes=19717, edges=44324, features=500, classes=3, stored=988031))
    assert not matrix.by_matrix(size._replace(stored=0))  # as a card says, which doesn't know it


def first_layer(task, settings, make):
    torch.manual_seed(0)
    network = GRAND(settings, WIDTH, CLASSES)
    return network, make(network, task.graph, np.random.default_rng(7), torch.device("cpu"))


@pytest.mark.parametrize(
    ("make", "changes"), [(method._narrow, {}), (method._wide, {}), (method._wide, {"batchnorm": True})]
)
def test_the_first_layer_and_its_gradient_are_those_of_dense_products(task, make, changes):
    """Also with BatchNorm, whose statistics are of each augmentation; its running ones are updated by each in turn."""
    settings = Settings(order=2, augmentations=3, hidden=5, **changes)
    network, hidden = first_layer(task, settings, make)
    reference = GRAND(settings, WIDTH, CLASSES).double()
    reference.load_state_dict(network.state_dict())
    masks = drawn_masks(np.random.default_rng(7), 3, NODES, settings.dropnode)
    features = task.graph.features.toarray().astype(np.float64)
    parts = [torch.from_numpy(mean_of_powers(task.graph, 2) @ (mask[:, None] * features)) for mask in masks]
    if reference.norms:
        parts = [reference.norms[0](part) for part in parts]
    expected = torch.cat([reference.first(part) for part in parts])
    actual = hidden()
    torch.testing.assert_close(actual.double(), expected, rtol=1e-4, atol=1e-5)
    upstream = torch.randn(actual.shape, generator=torch.Generator().manual_seed(1))
    actual.backward(upstream)
    expected.backward(upstream.double())
    for (name, value), other in zip(network.named_parameters(), reference.parameters(), strict=True):
        if value.grad is not None:
            torch.testing.assert_close(value.grad.double(), other.grad, rtol=1e-3, atol=1e-4, msg=name)
    if network.norms:
        for name in ("running_mean", "running_var"):
            ours, theirs = getattr(network.norms[0], name), getattr(reference.norms[0], name)
            torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-6)


def test_first_weights_and_biases_have_the_mean_of_the_authors_program():
    torch.manual_seed(0)
    network = GRAND(Settings(hidden=400), 300, 100)
    for layer, outs in ((network.first, 400), (network.second, 100)):
        for values in (layer.weight, layer.bias):
            assert values.mean().item() == pytest.approx(-1 / np.sqrt(outs), rel=0.2)
            assert values.std().item() == pytest.approx(1 / np.sqrt(outs), rel=0.2)


@each_kind
def test_the_predictions_of_all_nodes_are_to_agree(task, changes, monkeypatch):
    shapes, losses = [], []

    def noted(logits, **options):
        shapes.append(tuple(logits.shape))
        losses.append(options)
        return (0 * logits).sum()

    monkeypatch.setattr(method, "consistency_loss", noted)
    fit(task, Settings(epochs=2, augmentations=3, temperature=0.4, **changes))
    assert shapes == [(3, NODES, CLASSES)] * 2
    assert losses == [{"temperature": 0.4}] * 2


@each_kind
def test_the_weights_of_the_lowest_loss_are_kept_and_patience_is_of_loss_or_accuracy(task, changes):
    trained = fit(task, Settings(epochs=400, patience=8, lr=0.05, **changes))
    losses, accuracies = trained.history["val_loss"], trained.history["val_accuracy"]
    lowest, highest = np.minimum.accumulate(losses), np.maximum.accumulate(accuracies)
    gains = np.flatnonzero((losses == lowest) | (accuracies == highest))
    info = trained.model.info
    assert info["steps"] == len(losses) == gains[-1] + 8 + 1
    assert losses[info["best_step"]] == min(losses)
    predicted = trained.model.predict_proba(task.graph)
    nodes = task.split.val
    loss = -np.log(predicted[nodes, task.graph.labels[nodes]]).mean()
    assert loss == pytest.approx(min(losses), rel=1e-4)


@each_kind
def test_only_labels_of_training_and_validation_are_looked_at(task, changes):
    labels = np.where(np.isin(np.arange(NODES), task.split.test), -1, task.graph.labels)
    hidden = dataclasses.replace(task, graph=dataclasses.replace(task.graph, labels=labels))
    models = [fit(given, Settings(epochs=3, **changes)).model for given in (task, hidden)]
    assert models[0].predict_proba(task.graph).tobytes() == models[1].predict_proba(task.graph).tobytes()


@each_kind
def test_a_model_that_is_saved_and_loaded_gives_the_same_bytes(task, changes, tmp_path):
    model = fit(task, Settings(epochs=3, **changes)).model
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert (again.method, again.settings, again.info) == ("grand", model.settings, model.info)
    assert again.predict_proba(task.graph).tobytes() == model.predict_proba(task.graph).tobytes()


@each_kind
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(task, changes, monkeypatch):
    given = []
    for seed, workers in (([0, 1], 1), ([0, 1], 2), ([0, 2], 1)):
        monkeypatch.setenv("GRANDPLUS_WORKERS", str(workers))
        model = fit(dataclasses.replace(task, seed=seed), Settings(epochs=3, **changes)).model
        given.append(model.predict_proba(task.graph).tobytes())
    assert given[0] == given[1]
    assert given[0] != given[2]


def test_too_little_memory_is_an_error(task, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1MiB")
    with pytest.raises(GrandPlusError, match=r"of memory, and may use 1\.00 MiB"):
        fit(task, Settings(epochs=2))


def test_published_values_are_those_of_a_dataset():
    names = ("order", "augmentations", "temperature", "lambda_max", "dropout_input", "dropout_hidden", "batchnorm")
    names += ("lr", "patience", "weight_decay", "dropnode", "hidden", "epochs")
    values = {
        name: load_settings(dataset=name, model="grand", matrix="ppr").train for name in ("cora", "citeseer", "pubmed")
    }
    same = (5e-4, 0.5, 32, 5000)
    assert {name: tuple(getattr(train, key) for key in names) for name, train in values.items()} == {
        "cora": (8, 4, 0.5, 1.0, 0.5, 0.5, False, 0.01, 200, *same),
        "citeseer": (2, 2, 0.3, 0.7, 0.0, 0.2, False, 0.01, 200, *same),
        "pubmed": (5, 4, 0.2, 1.0, 0.6, 0.8, True, 0.2, 100, *same),
    }


def test_memory_counts_the_augmented_features_unless_products_come_first():
    size = GraphSize(nodes=10**5, edges=10**6, features=1000, classes=5, stored=10**8)
    one = 4 * 10**5 * 1000
    narrow, wide = Settings(), Settings(dropout_input=0.5, augmentations=20)
    assert wide.training_memory(size) > 20 * one
    assert narrow.training_memory(size) < 10 * one
    assert "set train.dropout_input to 0" in wide.to_save_memory(sparse=False)[0]
    assert narrow.to_save_memory(sparse=False) == ["lower train.augmentations"]
