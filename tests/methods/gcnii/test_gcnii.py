"""GCNII: its logits against the dense formula, its convolutions, and its published settings."""

import math

import numpy as np
from small_graph import normalized, small_graph, small_split, softmax

from grandplus.methods.gcnii.method import GCNII, fit
from grandplus.methods.gcnii.settings import PUBLISHED, Settings
from grandplus.methods.protocol import Task

SMALL = {"layers": 5, "hidden": 8}


def test_probabilities_are_those_of_the_dense_formula():
    graph = small_graph()
    chosen = Settings(epochs=20, alpha=0.2, lambda_identity=0.7, **SMALL)
    model = fit(Task(graph, small_split(), None), chosen).model
    values = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    x = start = np.maximum(graph.features.toarray() @ values["first.weight"].T + values["first.bias"], 0)
    for layer in range(1, 6):
        beta, support = math.log(0.7 / layer + 1), 0.8 * normalized(graph) @ x + 0.2 * start
        x = np.maximum((1 - beta) * support + beta * support @ values[f"convolutions.{layer - 1}.weight1"], 0)
    exact = softmax(x @ values["last.weight"].T + values["last.bias"])
    np.testing.assert_allclose(model.predict_proba(graph), exact, atol=2e-6)


def test_convolutions_have_one_matrix_each_and_no_bias():
    tensors = fit(Task(small_graph(), small_split(), None), Settings(epochs=1, **SMALL)).model.tensors()
    own = {name for name in tensors if name.startswith("convolutions")}
    assert own == {f"convolutions.{layer}.weight1" for layer in range(5)}


def test_first_weights_are_those_of_the_authors():
    network = GCNII(Settings(layers=4, hidden=64), width=10, classes=3)
    for convolution in network.convolutions:
        assert 0.98 / 8 < convolution.weight1.abs().max() <= 1 / 8


def test_the_lowest_validation_loss_is_kept():
    trained = fit(Task(small_graph(), small_split(), None), Settings(epochs=200, patience=10, **SMALL))
    losses, info = trained.history["val_loss"], trained.model.info
    assert losses[info["best_step"]] == min(losses)
    assert info["steps"] == info["best_step"] + 11 < 200


def test_published_settings_are_those_of_the_authors():
    cora, citeseer, pubmed = Settings(), Settings(**PUBLISHED["citeseer"]), Settings(**PUBLISHED["pubmed"])
    assert [(each.layers, each.hidden) for each in (cora, citeseer, pubmed)] == [(64, 64), (32, 256), (16, 256)]
    assert [each.lambda_identity for each in (cora, citeseer, pubmed)] == [0.5, 0.6, 0.4]
    assert [each.dropout for each in (cora, citeseer, pubmed)] == [0.6, 0.7, 0.5]
    assert [each.weight_decay_convolutions for each in (cora, citeseer, pubmed)] == [0.01, 0.01, 5e-4]
    assert {(each.weight_decay, each.alpha) for each in (cora, citeseer, pubmed)} == {(5e-4, 0.1)}
