"""GCN: its logits against the dense formula, its first weights, when it stops, and Cora."""

import numpy as np
import pytest
import torch
from small_graph import CLASSES, WIDTH, normalized, small_graph, small_split, softmax

from grandplus.methods.gcn.method import GCN, fit
from grandplus.methods.gcn.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings


def test_probabilities_are_those_of_the_dense_formula():
    graph = small_graph()
    model = fit(Task(graph, small_split(), None), Settings(epochs=20)).model
    values = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    smooth, x = normalized(graph), graph.features.toarray().astype(np.float64)
    hidden = np.maximum(smooth @ x @ values["first.lin.weight"].T, 0)
    exact = softmax(smooth @ hidden @ values["second.lin.weight"].T)
    np.testing.assert_allclose(model.predict_proba(graph), exact, atol=2e-6)
    assert values.keys() == {"first.lin.weight", "second.lin.weight"}  # no biases


def test_the_first_weights_are_uniform_by_both_widths():
    torch.manual_seed(0)
    network = GCN(Settings(), WIDTH, CLASSES)
    for weight in (network.first.lin.weight, network.second.lin.weight):
        limit = np.sqrt(6 / sum(weight.shape))
        assert 0.8 * limit < weight.abs().max().item() <= limit


def test_the_weights_of_the_last_epoch_are_kept_when_the_loss_rises():
    chosen = Settings(epochs=200, lr=0.5, window=2, weight_decay=0)
    trained = fit(Task(small_graph(), small_split(), None), chosen)
    losses, steps = trained.history["val_loss"], trained.model.info["steps"]
    assert steps < 200
    assert losses[-1] > np.mean(losses[-3:-1])
    assert trained.model.info["best_step"] == steps - 1


def test_the_rule_sees_the_loss_with_the_part_of_weight_decay():
    graph, norms = small_graph(), []

    class Watching(GCN):
        def eval(self):
            norms.append(self.first.lin.weight.detach().double().square().sum().item())
            return super().eval()

    chosen = Settings(epochs=40, window=3, weight_decay=0.3, lr=0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grandplus.methods.gcn.method.GCN", Watching)
        trained = fit(Task(graph, small_split(), None), chosen)
    steps = trained.model.info["steps"]
    seen = np.array(trained.history["val_loss"]) + 0.5 * 0.3 * np.array(norms[:steps])
    rises = [step for step in range(4, steps) if seen[step] > seen[step - 3 : step].mean()]
    assert rises == [steps - 1]
    assert steps < 40


def test_cora_is_as_its_authors_report(raw_graph):
    """81.5 % of the public split's test nodes; the standard deviation of one trial is 0.8."""
    settings = load_settings(dataset="cora", model="gcn", matrix="ppr", trials=3)
    graph, splits = make_graph(raw_graph("cora"), settings)
    accuracies = []
    for trial in range(3):
        model = fit(Task(graph, splits.of(trial), None, seed=[0, trial]), settings.train).model
        predicted = model.predict_proba(graph).argmax(axis=1)
        accuracies.append((predicted == graph.labels)[splits.of(trial).test].mean())
    assert np.mean(accuracies) >= 0.8
