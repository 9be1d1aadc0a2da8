"""PPRGo: its logits against dense float64 formulas, its file, its rows, and what its authors' configuration gives."""

import dataclasses

import numpy as np
import pytest
from small_graph import CLASSES, ISOLATED, NODES, WIDTH, normalized, small_graph, small_split, softmax, weights_of

from grandplus.methods.files import load_model
from grandplus.methods.pprgo.method import Model, fit
from grandplus.methods.pprgo.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.methods.settings import GraphSize
from grandplus.pipeline.settings import load_settings
from grandplus.prediction.calibration import Calibration
from grandplus.prediction.predictor import Predictor
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import ArgumentError, GrandPlusError

ALPHA = 0.25
WEIGHTS = propagation_weights("ppr", order=20, alpha=ALPHA)


def rows_of(graph, top_k=4, rmax=1e-4):
    return gfpush(graph, np.arange(graph.adjacency.nodes), weights=WEIGHTS, rmax=rmax, top_k=top_k, matrix="ppr")


@pytest.fixture
def task():
    graph = small_graph()
    return Task(graph, small_split(), rows_of(graph), seed=[0, 1])


def local_logits(model, graph):
    first, second = weights_of(model)
    return (graph.features.toarray().astype(np.float64) @ first).clip(0) @ second


def by_rows(rows, graph, logits):
    """Σ_v Π̃(s,v) √d_s / √d_v f(x_v), with degrees that count the self-loop."""
    root = np.sqrt(graph.adjacency.degrees)
    return (rows.to_csr().toarray().astype(np.float64) * root[rows.node][:, None] / root) @ logits


@pytest.mark.parametrize("dense", [False, True])
def test_probabilities_of_rows_are_sums_of_logits_by_the_rescaled_rows(task, dense):
    graph = task.graph
    model = fit(task, Settings(epochs=20)).model
    if dense:
        graph = dataclasses.replace(graph, features=graph.features.toarray())
    exact = softmax(by_rows(task.rows, task.graph, local_logits(model, task.graph)))
    np.testing.assert_allclose(model.predict_proba_of_rows(model.inputs_of_rows(graph, task.rows)), exact, atol=2e-6)


def test_rescaled_rows_without_errors_are_symmetric_pagerank(task):
    """α(I - (1 - α)Â)⁻¹, but for steps after the 20th."""
    graph = task.graph
    exact = ALPHA * np.linalg.inv(np.eye(NODES) - (1 - ALPHA) * normalized(graph))
    root = np.sqrt(graph.adjacency.degrees)
    rows = rows_of(graph, top_k=NODES, rmax=0).to_csr().toarray()
    np.testing.assert_allclose(rows * root[:, None] / root, exact, atol=(1 - ALPHA) ** 21)


def test_inference_is_two_power_iterations_of_the_logits(task):
    model = fit(task, Settings(epochs=20)).model
    local = local_logits(model, task.graph)
    logits = local
    for _ in range(2):
        logits = (1 - ALPHA) * normalized(task.graph) @ logits + ALPHA * local
    # Truncation makes the first weights a little larger.
    np.testing.assert_allclose(model.predict_proba(task.graph), softmax(logits), atol=0.01)
    w = model.inference_weights
    assert w == pytest.approx([ALPHA, ALPHA * (1 - ALPHA), (1 - ALPHA) ** 2], abs=0.003)
    powers = [np.linalg.matrix_power(normalized(task.graph), n) for n in range(3)]
    exact = softmax(sum(weight * power for weight, power in zip(w, powers, strict=True)) @ local)
    np.testing.assert_allclose(model.predict_proba(task.graph), exact, atol=2e-6)


def test_single_nodes_are_predicted_as_full_inference_predicts_them(task):
    model = fit(task, Settings(epochs=20)).model
    predictor = Predictor(task.graph, [model], dataclasses.replace(task.rows.info, rmax=0.0), Calibration((1.0,), 0.9))
    predicted = predictor.predict(np.arange(NODES))
    np.testing.assert_allclose(predicted.probabilities, model.predict_proba(task.graph), atol=2e-6)
    assert predicted.l1_error.max() < 1e-6


def test_an_isolated_node_is_predicted_by_its_own_features(task):
    model = fit(task, Settings(epochs=5)).model
    exact = softmax(local_logits(model, task.graph))[ISOLATED]
    np.testing.assert_allclose(model.predict_proba(task.graph)[ISOLATED], exact, atol=2e-6)


def test_training_is_adam_on_the_gradient_by_hand(task):
    """Three steps in float64, from the same initial values."""
    settings = Settings(lr=0.05, weight_decay=0.01, dropout=0, epochs=3)
    trained = fit(task, settings).model
    parameters = weights_of(fit(task, settings.model_copy(update={"lr": 1e-30})).model)
    features, nodes = task.graph.features.toarray().astype(np.float64), task.split.train
    rows, targets = by_rows(task.rows, task.graph, np.eye(NODES))[nodes], np.eye(CLASSES)[task.graph.labels[nodes]]
    first, second = ([np.zeros_like(values) for values in parameters] for _ in range(2))
    for step in range(1, 4):
        hidden = (features @ parameters[0]).clip(0)
        error = rows.T @ (softmax(rows @ hidden @ parameters[1]) - targets) / len(nodes)
        gradients = features.T @ (error @ parameters[1].T * (hidden > 0)), hidden.T @ error
        for i, gradient in enumerate(gradients):
            whole = gradient + 0.01 * parameters[i]
            first[i], second[i] = 0.9 * first[i] + 0.1 * whole, 0.999 * second[i] + 0.001 * whole**2
            unbiased = first[i] / (1 - 0.9**step), second[i] / (1 - 0.999**step)
            parameters[i] = parameters[i] - 0.05 * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    for weight, exact in zip(weights_of(trained), parameters, strict=True):
        np.testing.assert_allclose(weight, exact, atol=1e-4)


def test_small_batches_see_every_training_node_once_an_epoch(task, monkeypatch):
    seen = []

    def noted(graph, rows, nodes, device):
        seen.append(nodes)
        return original(graph, rows, nodes, device)

    from grandplus.methods.pprgo import method

    original = method.inputs_of
    monkeypatch.setattr(method, "inputs_of", noted)
    fit(task, Settings(epochs=2, batch_labelled=4))
    watched, *batches = seen
    assert watched.tolist() == list(range(18))
    assert [len(batch) for batch in batches] == [4, 4, 1, 4, 4, 1]
    for epoch in (batches[:3], batches[3:]):
        assert sorted(np.concatenate(epoch).tolist()) == task.split.train.tolist()


def test_the_history_ends_with_the_model_that_is_kept(task):
    seen = []
    trained = fit(task, Settings(epochs=7), info={"trial": 4}, watch=seen.append)
    assert trained.history == {name: [scores[name] for scores in seen] for name in seen[0]}
    model, split = trained.model, task.split
    predicted = model.predict_proba_of_rows(model.inputs_of_rows(task.graph, task.rows.of(split.val)))
    right = predicted.argmax(axis=1) == task.graph.labels[split.val]
    loss = -np.log(predicted[np.arange(len(right)), task.graph.labels[split.val]]).mean()
    assert trained.history["val_accuracy"][-1] == pytest.approx(right.mean())
    assert trained.history["val_loss"][-1] == pytest.approx(loss, rel=1e-5)
    assert model.info == {"trial": 4, "steps": 7, "best_step": 6, "val_accuracy": pytest.approx(right.mean())}


def test_only_labels_of_training_and_validation_are_looked_at(task):
    hidden = np.where(np.isin(np.arange(NODES), task.split.test), -1, task.graph.labels)
    blind = dataclasses.replace(task, graph=dataclasses.replace(task.graph, labels=hidden))
    first, second = (fit(given, Settings(epochs=5)).model.predict_proba(task.graph) for given in (task, blind))
    assert first.tobytes() == second.tobytes()


def test_a_model_that_is_saved_and_loaded_gives_the_same_bytes(task, tmp_path):
    files = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for seed, file in zip(([0, 1], [0, 1], [0, 2]), files, strict=True):
        model = fit(dataclasses.replace(task, seed=seed), Settings(epochs=5, batch_labelled=4)).model
        model.save(file)
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    again = load_model(files[2])
    assert isinstance(again, Model)
    assert (again.settings, again.weights, again.info) == (model.settings, tuple(WEIGHTS.tolist()), model.info)
    assert again.predict_proba(task.graph).tobytes() == model.predict_proba(task.graph).tobytes()


def test_parameters_are_those_of_both_layers(task):
    tensors = fit(task, Settings(epochs=1)).model.tensors().values()
    assert Settings().parameters(WIDTH, CLASSES) == sum(tensor.numel() for tensor in tensors)


def test_memory_grows_with_the_entries_of_a_row():
    """Of 50 watched nodes, 16 features in float32 and 4 values for each unit and class, up to all 10,000 nodes."""
    size = GraphSize(nodes=10_000, edges=10**5, features=16, classes=4, stored=160_000, watched=50)
    needed = [Settings(hidden=8).training_memory(size._replace(top_k=top_k)) for top_k in (32, 64, 200, 300)]
    assert needed[1] - needed[0] == 50 * 32 * (2 * 16 * 4 + 4 * 4 * (8 + 4))
    assert needed[3] == needed[2]


def test_without_rows_it_says_so(task):
    with pytest.raises(ArgumentError, match="no rows of Π to train on"):
        fit(dataclasses.replace(task, rows=None), Settings())


def test_a_loss_that_is_not_finite_is_an_error(task):
    task.graph.features.data[:] = 1e37
    with pytest.raises(GrandPlusError, match=r"the loss became (inf|nan) at step \d; lower train\.lr"):
        fit(task, Settings(lr=100))


def test_its_own_rows_take_the_place_of_the_cards():
    settings = load_settings(dataset="amazon-photo", model="pprgo", matrix="avg")
    assert settings.matrix.model_dump() == {"name": "ppr", "order": 20, "alpha": 0.25}
    assert settings.gfpush.model_dump() == {"rmax": 1e-4, "top_k": 32}
