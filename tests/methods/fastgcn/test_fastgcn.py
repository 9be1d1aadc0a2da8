"""FastGCN: its logits and gradients against dense float64 formulas, its file, its end, and its authors' values."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from small_graph import CLASSES, NODES, WIDTH, normalized, small_graph, small_split, softmax, weights_of

from grandplus.methods.fastgcn import method
from grandplus.methods.fastgcn.method import Model, fit, propagate_some
from grandplus.methods.fastgcn.sampler import Neighbourhoods
from grandplus.methods.fastgcn.settings import Settings
from grandplus.methods.files import load_model
from grandplus.methods.protocol import Task
from grandplus.methods.stopping import RisingLoss
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError


@pytest.fixture
def task():
    return Task(small_graph(), small_split(), None, seed=[0, 1])


def exact_logits(model, graph):
    first, second = weights_of(model)
    matrix = normalized(graph)
    return matrix @ (matrix @ graph.features.toarray().astype(np.float64) @ first).clip(0) @ second


def test_probabilities_are_those_of_the_dense_formula_with_nothing_sampled(task):
    model = fit(task, Settings(epochs=20, samples=6)).model
    exact = softmax(exact_logits(model, task.graph))
    np.testing.assert_allclose(model.predict_proba(task.graph), exact, atol=2e-6)
    dense = dataclasses.replace(task.graph, features=task.graph.features.toarray())
    np.testing.assert_allclose(model.predict_proba(dense), exact, atol=2e-6)


def test_dense_features_are_trained_on_as_sparse_ones(task):
    dense = dataclasses.replace(task, graph=dataclasses.replace(task.graph, features=task.graph.features.toarray()))
    models = [fit(given, Settings(epochs=5, samples=6)).model for given in (task, dense)]
    for first, second in zip(*map(weights_of, models), strict=True):
        np.testing.assert_allclose(first, second, atol=1e-5)


def test_propagated_features_stay_sparse_only_if_that_is_smaller(task, monkeypatch):
    neighbourhoods, nodes = Neighbourhoods(task.graph.adjacency), np.array([0, 7, 29])
    wide = dataclasses.replace(
        task.graph, features=sp.csr_array(np.pad(task.graph.features.toarray(), ((0, 0), (0, 60))))
    )
    exact = (normalized(task.graph) @ task.graph.features.toarray())[nodes]
    kept, made_dense = (propagate_some(graph, neighbourhoods, nodes) for graph in (wide, task.graph))
    assert sp.issparse(kept)
    assert not sp.issparse(made_dense)
    np.testing.assert_allclose(kept.toarray()[:, :WIDTH], exact, rtol=1e-5)
    np.testing.assert_allclose(made_dense, exact, rtol=1e-5)
    dense = dataclasses.replace(task.graph, features=task.graph.features.toarray())
    wholes = [propagate_some(graph, neighbourhoods, nodes) for graph in (wide, task.graph, dense)]
    monkeypatch.setattr(method, "ROWS_AT_ONCE", 2)
    for graph, whole in zip((wide, task.graph, dense), wholes, strict=True):
        by_blocks = propagate_some(graph, neighbourhoods, nodes)
        assert type(by_blocks) is type(whole)
        assert (by_blocks != whole).sum() == 0


def test_training_is_adam_on_the_gradient_by_hand(task):
    """Three steps in float64 from the same initial values; with all neighbours, which weigh 1 / (t · p)."""
    settings = Settings(lr=0.05, weight_decay=0.01, epochs=3)
    trained = fit(task, settings).model
    parameters = weights_of(fit(task, settings.model_copy(update={"lr": 1e-30})).model)
    matrix, nodes = normalized(task.graph), task.split.train
    inputs, norms = matrix @ task.graph.features.toarray(), np.linalg.norm(matrix, axis=0)
    rows, targets = (matrix / (400 * norms / norms.sum()))[nodes], np.eye(CLASSES)[task.graph.labels[nodes]]
    first, second = ([np.zeros_like(values) for values in parameters] for _ in range(2))
    for step in range(1, 4):
        hidden = (inputs @ parameters[0]).clip(0)
        error = rows.T @ (softmax(rows @ hidden @ parameters[1]) - targets) / len(nodes)
        gradients = inputs.T @ (error @ parameters[1].T * (hidden > 0)) + 0.01 * parameters[0], hidden.T @ error
        for i, gradient in enumerate(gradients):
            first[i], second[i] = 0.9 * first[i] + 0.1 * gradient, 0.999 * second[i] + 0.001 * gradient**2
            unbiased = first[i] / (1 - 0.9**step), second[i] / (1 - 0.999**step)
            parameters[i] = parameters[i] - 0.05 * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    for weight, exact in zip(weights_of(trained), parameters, strict=True):
        np.testing.assert_allclose(weight, exact, atol=1e-4)


def test_it_ends_once_the_mean_of_two_losses_is_above_that_of_the_ten_before_the_last(task):
    history = fit(task, Settings(lr=0.5, weight_decay=0, epochs=300)).history["val_loss"]
    assert len(history) < 300
    rule = RisingLoss(10, recent=2)
    assert [rule.update(0.0, loss).stop for loss in history].index(True) == len(history) - 1
    assert np.mean(history[-2:]) > np.mean(history[-11:-1])


def test_the_rule_sees_the_loss_with_the_part_of_weight_decay(task, monkeypatch):
    seen = []

    class Recording(RisingLoss):
        def update(self, accuracy, loss):
            seen.append(loss)
            return super().update(accuracy, loss)

    monkeypatch.setattr(method, "RisingLoss", Recording)
    trained = fit(task, Settings(epochs=5, weight_decay=0.1))
    first, _ = weights_of(trained.model)
    assert seen[-1] - trained.history["val_loss"][-1] == pytest.approx(0.05 * (first**2).sum(), rel=1e-4)


def test_the_history_ends_with_the_model_that_is_kept(task):
    seen = []
    trained = fit(task, Settings(epochs=7, batch_labelled=4, samples=3), info={"trial": 4}, watch=seen.append)
    assert trained.history == {name: [scores[name] for scores in seen] for name in seen[0]}
    predicted = trained.model.predict_proba(task.graph)
    for part, nodes in (("train", task.split.train), ("val", task.split.val)):
        right = predicted[nodes].argmax(axis=1) == task.graph.labels[nodes]
        loss = -np.log(predicted[nodes, task.graph.labels[nodes]]).mean()
        assert trained.history[f"{part}_accuracy"][-1] == pytest.approx(right.mean())
        assert trained.history[f"{part}_loss"][-1] == pytest.approx(loss, rel=1e-5)
    accuracy = trained.history["val_accuracy"][-1]
    assert trained.model.info == {"trial": 4, "steps": 7, "best_step": 6, "val_accuracy": accuracy}


def test_only_labels_of_training_and_validation_are_looked_at(task):
    hidden = np.where(np.isin(np.arange(NODES), task.split.test), -1, task.graph.labels)
    blind = dataclasses.replace(task, graph=dataclasses.replace(task.graph, labels=hidden))
    first, second = (fit(given, Settings(epochs=5)).model.predict_proba(task.graph) for given in (task, blind))
    assert first.tobytes() == second.tobytes()


def test_a_model_that_is_saved_and_loaded_gives_the_same_bytes(task, tmp_path):
    files = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for seed, file in zip(([0, 1], [0, 1], [0, 2]), files, strict=True):
        model = fit(dataclasses.replace(task, seed=seed), Settings(epochs=5, batch_labelled=4, samples=3)).model
        model.save(file)
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    again = load_model(files[2])
    assert isinstance(again, Model)
    assert (again.settings, again.info) == (model.settings, model.info)
    assert again.predict_proba(task.graph).tobytes() == model.predict_proba(task.graph).tobytes()


def test_parameters_are_those_of_both_layers(task):
    tensors = fit(task, Settings(epochs=1)).model.tensors().values()
    assert Settings().parameters(WIDTH, CLASSES) == sum(tensor.numel() for tensor in tensors)


def test_a_loss_that_is_not_finite_is_an_error(task):
    task.graph.features.data[:] = 1e37
    with pytest.raises(GrandPlusError, match=r"the loss became (inf|nan) at step \d; lower train\.lr"):
        fit(task, Settings(lr=100))


def test_published_values_are_those_of_a_dataset():
    values = {name: load_settings(dataset=name, model="fastgcn").train for name in ("cora", "citeseer", "pubmed")}
    assert {name: (train.lr, train.epochs) for name, train in values.items()} == {
        "cora": (1e-3, 200),
        "citeseer": (1e-2, 100),
        "pubmed": (1e-2, 100),
    }
    assert {(train.hidden, train.batch_labelled, train.samples) for train in values.values()} == {(16, 20, 400)}
