"""SGC: its predictions against dense float64 formulas, its file, and what its authors report on Cora."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.files import load_model
from grandplus.methods.protocol import Task
from grandplus.methods.sgc.method import fit
from grandplus.methods.sgc.settings import Settings
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

NODES, WIDTH, CLASSES = 30, 12, 3


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    edges = sp.random_array((NODES, NODES), density=0.08, rng=rng)
    labels = np.arange(NODES) % CLASSES
    features = rng.random((NODES, WIDTH)) * (rng.random((NODES, WIDTH)) < 0.4) + np.eye(CLASSES, WIDTH)[labels]
    sparse = sp.csr_array(features.astype(np.float32))
    return Graph(as_adjacency(edges), sparse, labels, ["a", "b", "c"], np.arange(NODES))


@pytest.fixture
def split():
    nodes = np.arange(NODES)
    return Split(nodes[:9], nodes[9:18], nodes[18:], nodes[18:])


def smoothed(graph, order):
    """ÂᴷX with Â = D̃^-½(A + I)D̃^-½, dense in float64."""
    adjacency = graph.adjacency
    with_loops = np.eye(adjacency.nodes)
    for node in range(adjacency.nodes):
        with_loops[node, adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]] = 1
    root = np.sqrt(with_loops.sum(axis=1))
    normalized = with_loops / root[:, None] / root
    return np.linalg.matrix_power(normalized, order) @ graph.features.toarray().astype(np.float64)


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_probabilities_are_those_of_the_dense_formula(graph, split, order):
    model = fit(Task(graph, split, None), Settings(order=order, epochs=20)).model
    weight, bias = (model.tensors()[name].double().numpy() for name in ("weight", "bias"))
    exact = softmax(smoothed(graph, order) @ weight.T + bias)
    np.testing.assert_allclose(model.predict_proba(graph), exact, atol=2e-6)
    np.testing.assert_array_equal(model.predict_proba(graph, model.shared_inputs(graph)), model.predict_proba(graph))


def test_dense_features_give_what_the_same_sparse_ones_do(graph, split):
    model = fit(Task(graph, split, None), Settings(epochs=3)).model
    dense = dataclasses.replace(graph, features=graph.features.toarray())
    np.testing.assert_array_equal(model.predict_proba(dense), model.predict_proba(graph))


def test_training_is_adam_on_the_dense_formula(graph, split):
    """Ten steps of Adam with coupled decay, written out in float64 from the same initial values."""
    settings = Settings(lr=0.05, weight_decay=0.01, epochs=1)
    inputs, targets = smoothed(graph, 2)[split.train], np.eye(CLASSES)[graph.labels[split.train]]
    trained = fit(Task(graph, split, None, seed=3), settings.model_copy(update={"epochs": 10}))
    still = fit(Task(graph, split, None, seed=3), settings.model_copy(update={"lr": 1e-30})).model.tensors()
    parameters = [still["weight"].double().numpy().T.copy(), still["bias"].double().numpy().copy()]
    first, second = ([np.zeros_like(values) for values in parameters] for _ in range(2))
    for step in range(1, 11):
        error = (softmax(inputs @ parameters[0] + parameters[1]) - targets) / len(targets)
        for i, gradient in enumerate((inputs.T @ error, error.sum(axis=0))):
            whole = gradient + 0.01 * parameters[i]
            first[i], second[i] = 0.9 * first[i] + 0.1 * whole, 0.999 * second[i] + 0.001 * whole**2
            unbiased = first[i] / (1 - 0.9**step), second[i] / (1 - 0.999**step)
            parameters[i] -= 0.05 * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    np.testing.assert_allclose(trained.model.tensors()["weight"].numpy(), parameters[0].T, atol=1e-4)
    np.testing.assert_allclose(trained.model.tensors()["bias"].numpy(), parameters[1], atol=1e-4)


def test_the_history_ends_with_the_model_that_is_kept(graph, split):
    seen = []
    trained = fit(Task(graph, split, None), Settings(epochs=7), info={"trial": 4}, watch=seen.append)
    assert trained.history == {name: [scores[name] for scores in seen] for name in seen[0]}
    assert trained.history["step"] == list(range(7))
    predicted = trained.model.predict_proba(graph)
    for part, nodes in (("train", split.train), ("val", split.val)):
        right = predicted[nodes].argmax(axis=1) == graph.labels[nodes]
        loss = -np.log(predicted[nodes, graph.labels[nodes]]).mean()
        assert trained.history[f"{part}_accuracy"][-1] == pytest.approx(right.mean())
        assert trained.history[f"{part}_loss"][-1] == pytest.approx(loss, rel=1e-5)
    accuracy = trained.history["val_accuracy"][-1]
    assert trained.model.info == {"trial": 4, "steps": 7, "best_step": 6, "val_accuracy": accuracy}


def test_only_labels_of_training_and_validation_are_looked_at(graph, split):
    hidden = dataclasses.replace(graph, labels=np.where(np.isin(np.arange(NODES), split.test), -1, graph.labels))
    models = [fit(Task(given, split, None), Settings(epochs=5)).model for given in (graph, hidden)]
    assert models[0].predict_proba(graph).tobytes() == models[1].predict_proba(graph).tobytes()


def test_a_model_that_is_saved_and_loaded_gives_the_same_bytes(graph, split, tmp_path):
    model = fit(Task(graph, split, None), Settings(order=3, epochs=5), info={"dataset": "toy"}).model
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert (again.method, again.classes, again.settings) == ("sgc", ["a", "b", "c"], model.settings)
    assert again.info == model.info
    assert again.preprocessing == graph.fitted.to_json()
    assert again.predict_proba(graph).tobytes() == model.predict_proba(graph).tobytes()


def test_the_same_seed_gives_the_same_bytes(graph, split, tmp_path):
    files = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for seed, file in zip(([0, 1], [0, 1], [0, 2]), files, strict=True):
        fit(Task(graph, split, None, seed=seed), Settings(epochs=5)).model.save(file)
    first, same, other = (file.read_bytes() for file in files)
    assert first == same
    assert first != other


def test_a_loss_that_is_not_finite_is_an_error(graph, split):
    graph.features.data[:] = 1e37
    with pytest.raises(GrandPlusError, match=r"the loss became (inf|nan) at step \d; lower train\.lr"):
        fit(Task(graph, split, None), Settings(lr=100))


def test_too_little_memory_is_an_error(graph, split, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1MiB")
    with pytest.raises(GrandPlusError, match=r"of memory, and may use 1\.00 MiB"):
        fit(Task(graph, split, None), Settings())


def test_parameters_are_those_of_the_linear_layer(graph, split):
    tensors = fit(Task(graph, split, None), Settings(epochs=1)).model.tensors().values()
    assert Settings().parameters(WIDTH, CLASSES) == sum(tensor.numel() for tensor in tensors)


def test_published_values_are_those_of_a_dataset():
    values = {
        name: load_settings(dataset=name, model="sgc", matrix="ppr").train for name in ("cora", "citeseer", "pubmed")
    }
    assert {name: (train.weight_decay, train.epochs) for name, train in values.items()} == {
        "cora": (1.3e-5, 100),
        "citeseer": (2.35e-5, 150),
        "pubmed": (7.4e-5, 100),
    }
    assert {(train.lr, train.order) for train in values.values()} == {(0.2, 2)}


def test_cora_is_as_its_authors_report(raw_graph):
    """81.0 % of the public split's test nodes."""
    settings = load_settings(dataset="cora", model="sgc", matrix="ppr", trials=10)
    graph, splits = make_graph(raw_graph("cora"), settings)
    accuracies = []
    for trial in range(10):
        split = splits.of(trial)
        model = fit(Task(graph, split, None, seed=[0, trial]), settings.train).model
        predicted = model.predict_proba(graph).argmax(axis=1)
        accuracies.append((predicted == graph.labels)[split.test].mean())
    assert np.mean(accuracies) >= 0.807
