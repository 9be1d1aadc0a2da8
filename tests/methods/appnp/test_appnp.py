"""APPNP: its logits against the dense formula, dropout of Â's entries, and the weights that are kept."""

import numpy as np
import pytest
import torch
from small_graph import NODES, normalized, small_graph, small_split, softmax

from grandplus.methods.appnp.method import Model, Propagation, fit
from grandplus.methods.appnp.settings import Settings
from grandplus.methods.protocol import Task


@pytest.mark.parametrize(("order", "alpha"), [(10, 0.1), (1, 0.3), (3, 1.0)])
def test_probabilities_are_those_of_the_dense_formula(order, alpha):
    graph = small_graph()
    model = fit(Task(graph, small_split(), None), Settings(epochs=20, order=order, alpha=alpha)).model
    values = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    assert set(values) == {"first.weight", "second.weight"}  # there are no biases
    x = start = np.maximum(graph.features.toarray() @ values["first.weight"].T, 0) @ values["second.weight"].T
    for _ in range(order):
        x = (1 - alpha) * normalized(graph) @ x + alpha * start
    np.testing.assert_allclose(model.predict_proba(graph), softmax(x), atol=2e-6)


def test_entries_are_dropped_anew_at_every_step():
    """So the mean over draws is as without dropout; it would not be, had the second step what the first has left."""
    adjacency = Model.adjacency_of(small_graph(), torch.device("cpu"))
    x = torch.rand(NODES, 4)
    exact = Propagation(2, 0.1, 0.5).eval()(x, adjacency)
    dropping = Propagation(2, 0.1, 0.5).train()
    torch.manual_seed(0)
    draws = torch.stack([dropping(x, adjacency) for _ in range(800)])
    error = draws.std(dim=0) / np.sqrt(len(draws))
    assert ((draws.mean(dim=0) - exact).abs() < 5 * error + 1e-6).all()
    assert len(draws[:, 0, 0].unique()) > 2  # an entry of two steps has more values than one that is kept or not


def test_gradients_are_those_by_differences():
    graph = small_graph()
    adjacency = Model.adjacency_of(graph, torch.device("cpu"))
    x = torch.rand(NODES, 2, requires_grad=True)
    dropping, gradients = Propagation(3, 0.2, 0.4).train(), []
    direction = torch.rand(NODES, 2)
    for given in (x, x + direction, x - direction):
        torch.manual_seed(0)
        out = dropping(given, adjacency)
        gradients.append((out * direction).sum().item())
        if given is x:
            (gradient,) = torch.autograd.grad((out * direction).sum(), x)
    assert (gradient * direction).sum().item() == pytest.approx((gradients[1] - gradients[2]) / 2, rel=1e-4)


def test_the_highest_accuracy_is_kept_and_of_equals_the_lowest_loss():
    trained = fit(Task(small_graph(), small_split(), None), Settings(epochs=200, patience=10))
    accuracies, losses = trained.history["val_accuracy"], trained.history["val_loss"]
    best, steps = trained.model.info["best_step"], trained.model.info["steps"]
    assert accuracies[best] == max(accuracies)
    assert losses[best] == min(loss for loss, value in zip(losses, accuracies, strict=True) if value == max(accuracies))
    assert steps < 200
