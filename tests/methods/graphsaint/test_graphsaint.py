"""GraphSAINT: its predictions against a dense float64 computation, its file, and what it reaches on Cora."""

import dataclasses

import numpy as np
import pytest
import torch
from small_graph import CLASSES, ISOLATED, NODES, WIDTH, small_graph, small_split, softmax

from grandplus.methods.files import load_model
from grandplus.methods.graphsaint import inference, method
from grandplus.methods.graphsaint.inference import logits_of, receptive_field
from grandplus.methods.graphsaint.method import fit
from grandplus.methods.graphsaint.network import GraphSAINT
from grandplus.methods.graphsaint.sampler import Sampler
from grandplus.methods.graphsaint.settings import Settings
from grandplus.methods.inputs import input_of
from grandplus.methods.protocol import Task
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

SMALL = Settings(hidden=8, epochs=4)


@pytest.fixture
def graph():
    return small_graph()


@pytest.fixture
def split():
    return small_split()


def dense_probabilities(model, graph):
    """The formula of the program's layers, in float64."""
    value = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    adjacency = np.zeros((NODES, NODES))
    for node in range(NODES):
        adjacency[node, graph.adjacency.indices[graph.adjacency.indptr[node] : graph.adjacency.indptr[node + 1]]] = 1
    mean = adjacency / np.maximum(adjacency.sum(axis=1, keepdims=True), 1)

    def layer(name, x):
        out = np.maximum(x @ value[f"{name}.weight"] + value[f"{name}.bias"], 0)
        out = (out - out.mean(axis=1, keepdims=True)) / np.sqrt(out.var(axis=1, keepdims=True) + 1e-9)
        return out * value[f"{name}.norm.weight"] + value[f"{name}.norm.bias"]

    x = graph.features.toarray().astype(np.float64)
    for hop in range(2):
        both = np.hstack([layer(f"hops.{hop}.own", x), layer(f"hops.{hop}.neighbors", mean @ x)])
        x = layer(f"hops.{hop}.joined", both)
    x = x / np.sqrt((x**2).sum(axis=1, keepdims=True))
    return softmax(x @ value["classifier.weight"].T + value["classifier.bias"])


def test_probabilities_are_those_of_the_dense_formula(graph, split, monkeypatch):
    model = fit(Task(graph, split, None), SMALL).model
    whole = model.predict_proba(graph)
    np.testing.assert_allclose(whole, dense_probabilities(model, graph), atol=1e-4)
    dense = dataclasses.replace(graph, features=graph.features.toarray())
    np.testing.assert_allclose(model.predict_proba(dense), whole, atol=1e-5)
    monkeypatch.setattr(inference, "BLOCK", 7)
    monkeypatch.setattr(inference, "ROWS", 3)
    np.testing.assert_allclose(model.predict_proba(graph), whole, atol=1e-6)


def test_a_subgraph_of_all_nodes_without_weights_gives_what_inference_does(graph, split):
    """Training and inference have the same formula."""
    device = torch.device("cpu")
    sampler = Sampler(graph.adjacency, np.arange(NODES), walks=500, depth=2, seed=0)
    sampler.count(1)
    sampler.of_nodes[:] = sampler.of_edges[:] = 1
    subgraph = sampler.subgraph(0)
    assert len(subgraph.nodes) == NODES
    network = GraphSAINT(SMALL, WIDTH, CLASSES).eval()
    trained = network(input_of(graph.features, device), subgraph.adjacency(device))
    np.testing.assert_allclose(trained.detach(), logits_of(network, graph, [np.arange(NODES)] * 3), atol=1e-5)


def test_some_nodes_get_the_logits_that_they_have_among_all(graph, split):
    network, nodes = GraphSAINT(SMALL, WIDTH, CLASSES).eval(), np.array([5, 2, ISOLATED])
    some = logits_of(network, graph, receptive_field(graph.adjacency, nodes))
    np.testing.assert_allclose(some, logits_of(network, graph, [np.arange(NODES)] * 3)[nodes], atol=1e-6)


def test_the_weights_of_the_highest_validation_accuracy_are_kept(graph, split):
    seen = []
    trained = fit(Task(graph, split, None), Settings(hidden=8, lr=0.1, epochs=12), info={"trial": 4}, watch=seen.append)
    assert trained.history == {name: [scores[name] for scores in seen] for name in seen[0]}
    assert trained.history["step"] == list(range(12))
    predicted, best = trained.model.predict_proba(graph), trained.model.info["best_step"]
    accuracy = (predicted[split.val].argmax(axis=1) == graph.labels[split.val]).mean()
    assert accuracy == pytest.approx(max(trained.history["val_accuracy"]))
    loss = -np.log(predicted[split.train, graph.labels[split.train]]).mean()
    assert trained.history["train_loss"][best] == pytest.approx(loss, rel=1e-4)
    expected = {"trial": 4, "steps": 12, "best_step": best, "val_accuracy": trained.history["val_accuracy"][best]}
    assert trained.model.info == expected


def test_an_epoch_has_a_step_for_as_many_training_nodes_as_walks_have_steps(graph, split, monkeypatch):
    counted, step = [], method.step
    monkeypatch.setattr(method, "step", lambda *given: counted.append(1) or step(*given))
    fit(Task(graph, split, None), Settings(hidden=4, roots=2, depth=2, epochs=2))  # of 9 training nodes
    assert len(counted) == 2 * 3


def test_no_more_walks_than_nodes(graph, split):
    few, many = (fit(Task(graph, split, None), SMALL.model_copy(update={"roots": roots})) for roots in (NODES, 2000))
    assert few.history == many.history


def test_gradients_are_clipped(graph, split):
    histories = [
        fit(Task(graph, split, None), SMALL.model_copy(update={"clip": clip})).history for clip in (0, 1e6, 1e-9)
    ]
    assert histories[0] == histories[1] != histories[2]


def test_only_labels_of_training_and_validation_are_looked_at(graph, split):
    hidden = dataclasses.replace(graph, labels=np.where(np.isin(np.arange(NODES), split.test), -1, graph.labels))
    models = [fit(Task(given, split, None), SMALL).model for given in (graph, hidden)]
    assert models[0].predict_proba(graph).tobytes() == models[1].predict_proba(graph).tobytes()


def test_a_model_that_is_saved_and_loaded_gives_the_same_bytes(graph, split, tmp_path):
    model = fit(Task(graph, split, None), SMALL, info={"dataset": "toy"}).model
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert (again.method, again.classes, again.settings) == ("graphsaint", ["a", "b", "c"], model.settings)
    assert again.info == model.info
    assert again.predict_proba(graph).tobytes() == model.predict_proba(graph).tobytes()


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(graph, split, tmp_path, monkeypatch):
    files = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for seed, workers, file in zip(([0, 1], [0, 1], [0, 2]), "131", files, strict=True):
        monkeypatch.setenv("GRANDPLUS_WORKERS", workers)
        fit(Task(graph, split, None, seed=seed), SMALL).model.save(file)
    first, same, other = (file.read_bytes() for file in files)
    assert first == same
    assert first != other


def test_a_loss_that_is_not_finite_is_an_error(graph, split):
    graph.features.data[:] = np.inf
    with pytest.raises(
        GrandPlusError, match=r"the loss became (inf|nan) at step 0; set preprocess\.features=standardize"
    ):
        fit(Task(graph, split, None), SMALL)


def test_parameters_are_those_of_the_network(graph, split):
    tensors = fit(Task(graph, split, None), SMALL).model.tensors().values()
    assert SMALL.parameters(WIDTH, CLASSES) == sum(tensor.numel() for tensor in tensors)


def test_values_for_a_dataset_are_those_that_were_searched():
    values = [load_settings(dataset=name, model="graphsaint", matrix="ppr").train for name in ("cora", "citeseer")]
    assert values[0] == Settings(lr=3e-3, weight_decay=5e-4, dropout=0.5, epochs=60)
    assert values[1] == Settings(lr=9e-4, weight_decay=1e-2, hidden=256, dropout=0.5, epochs=60, depth=2)
    assert load_settings(dataset="reddit", model="graphsaint", matrix="ppr").train == Settings()


def test_cora_is_learned(raw_graph):
    settings = load_settings(dataset="cora", model="graphsaint", matrix="ppr", trials=1)
    graph, splits = make_graph(raw_graph("cora"), settings)
    split = splits.of(0)
    predicted = fit(Task(graph, split, None), Settings(epochs=20)).model.predict_proba(graph).argmax(axis=1)
    assert (predicted == graph.labels)[split.test].mean() >= 0.77
