"""The learnable representation against a dense first layer; what a step may touch."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from sparse_matrices import csr_of

from grandplus.evaluation.baselines.inputs import propagated_rows_of
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.files import load_model
from grandplus.methods.grandplus.adam import Adam
from grandplus.methods.grandplus.fused.adam import Adam as FusedAdam
from grandplus.methods.grandplus.fused.csr import Factors
from grandplus.methods.grandplus.fused.embedding import Columns, Embedded
from grandplus.methods.grandplus.method import fit
from grandplus.methods.grandplus.mlp import MLP, Embedding, Snapshot
from grandplus.methods.protocol import Task
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import ArgumentError

FEATURES, CLASSES = 200, ["a", "b", "c"]


def some_factors(rng, columns=FEATURES):
    """Π̃ (4, 6) and X (6, d) that uses the first ``columns`` columns alone."""
    mixing = rng.random((4, 6)) * (rng.random((4, 6)) < 0.5)
    features = np.zeros((6, FEATURES))
    features[:, :columns] = rng.random((6, columns)) * (rng.random((6, columns)) < 0.05)
    return mixing.astype(np.float32), features.astype(np.float32)


class Fused:
    """A training batch by kernels: products, gradients of these, and the optimizer."""

    def __init__(self, embedding, parameters=(), lr=0.0, weight_decay=0.0, clip=0.0):
        self.embedding, self.parameters = embedding, list(parameters)
        self.adam = FusedAdam(self.parameters, lr, weight_decay, clip, embedding)
        self.layer, self.columns = Embedded(embedding, self.adam), Columns(FEATURES)

    def products(self, mixing, features):
        inputs = self.columns.used(Factors((csr_of(mixing), csr_of(features))))
        return torch.from_numpy(self.layer.forward(inputs, np.int64(0))).clone()

    def backward(self, products, upstream):
        """Of the embedding's rows, and those that PyTorch has found for the other parameters."""
        self.layer.backward(upstream.numpy())
        return self.adam.gradients[self.embedding.rows]

    def step(self):
        for parameter in self.parameters:
            self.adam.take(parameter, parameter.grad.numpy())
        self.adam.step()


class Plain:
    """The same by PyTorch."""

    def __init__(self, embedding, parameters=(), lr=0.0, weight_decay=0.0, clip=0.0):
        self.embedding, self.parameters = embedding, list(parameters)
        self.adam = Adam(self.parameters or [torch.zeros(1, requires_grad=True)], lr, weight_decay, clip, embedding)

    def products(self, mixing, features):
        return self.embedding(torch.from_numpy(mixing @ features).to_sparse())

    def backward(self, products, upstream):
        products.backward(upstream)
        return self.embedding.rows.grad.numpy()

    def step(self):
        self.adam.step()


WAYS = pytest.mark.parametrize("way", [Fused, Plain])


def used_by(mixing, features, way):
    """The columns of W⁰: the fused way takes those of all nodes, the plain one those of surviving neighbours."""
    return (features if way is Fused else mixing @ features).any(axis=0)


def train(batch, mlp, mixing, features):
    """A step, in which the layers after the embedding are PyTorch's."""
    products = batch.products(mixing, features)
    inputs = products.detach().clone().requires_grad_()
    mlp.zero_grad()
    mlp(inputs).square().sum().backward()
    batch.backward(products, inputs.grad)
    batch.step()


@WAYS
def test_product_and_gradient_are_those_of_dense_matrices(way):
    mixing, features = some_factors(np.random.default_rng(0))
    embedding = Embedding(FEATURES, 7)
    dense = embedding.weight.clone().requires_grad_()
    expected = torch.from_numpy(mixing @ features) @ dense
    batch = way(embedding)
    actual = batch.products(mixing, features)
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-5)
    upstream = torch.randn(4, 7)
    expected.backward(upstream)
    of_rows = batch.backward(actual, upstream)
    assert embedding.columns.tolist() == np.flatnonzero(used_by(mixing, features, way)).tolist()
    gradient = torch.zeros_like(dense)
    gradient[embedding.columns] = torch.from_numpy(of_rows)
    torch.testing.assert_close(gradient, dense.grad, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("make", [torch.Tensor.to_sparse, lambda dense: Factors((csr_of(dense.numpy()),))])
def test_without_training_all_rows_serve(train_settings, make):
    mixing, features = some_factors(np.random.default_rng(0))
    mlp = MLP(FEATURES, 3, train_settings(embed=True))
    inputs = torch.from_numpy(mixing @ features)
    torch.testing.assert_close(mlp.evaluate(make(inputs)), mlp.evaluate(inputs @ mlp.embedding.weight))


@pytest.mark.parametrize("clip", [0.0, 0.01])
@WAYS
def test_untouched_rows_and_their_moments_stay_bit_for_bit(train_settings, way, clip):
    rng = np.random.default_rng(2)
    mlp = MLP(FEATURES, 3, train_settings(embed=True))
    batch = way(mlp.embedding, mlp.parameters(), 0.1, 0.01, clip)
    adam = batch.adam
    for columns in (FEATURES, 50, 20):
        parts = [np.asarray(part) for part in (mlp.embedding.weight, adam._first)]
        before = [part.copy() for part in parts]
        mixing, features = some_factors(rng, columns)
        train(batch, mlp, mixing, features)
        used, reached = used_by(mixing, features, way), (mixing @ features).any(axis=0)
        after = [np.asarray(part) for part in (mlp.embedding.weight, adam._first)]
        for part, earlier in zip(after, before, strict=True):
            np.testing.assert_array_equal(part[~used], earlier[~used])
            assert (part[reached] != earlier[reached]).any(axis=1).all()


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@WAYS
def test_rows_move_along_their_gradients(way, weight_decay):
    """Five steps, each touching other rows, as in float64: Adam with one second moment for each column."""
    torch.manual_seed(0)
    embedding = Embedding(FEATURES, 5)
    embedding.weight.normal_()
    table, first, second = embedding.weight.numpy().astype(np.float64), np.zeros((FEATURES, 5)), np.zeros(5)
    lr, rng = 0.05, np.random.default_rng(3)
    batch = way(embedding, lr=lr, weight_decay=weight_decay)
    for step in range(1, 6):
        mixing, features = some_factors(rng)
        upstream = rng.standard_normal((4, 5)).astype(np.float32)
        batch.backward(batch.products(mixing, features), torch.from_numpy(upstream))
        batch.step()
        used = used_by(mixing, features, way)
        slope = ((mixing.astype(np.float64) @ features).T @ upstream + weight_decay * table)[used]
        first[used] = 0.9 * first[used] + 0.1 * slope
        second = 0.999 * second + 0.001 * (slope**2).mean(axis=0)
        table[used] -= lr * first[used] / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(embedding.weight.numpy(), table, atol=1e-5, rtol=1e-4)


@WAYS
def test_a_batch_without_features_changes_nothing(way):
    embedding = Embedding(FEATURES, 5)
    before = embedding.weight.clone()
    batch = way(embedding, lr=0.05, weight_decay=0.1)
    mixing, features = some_factors(np.random.default_rng(0))
    batch.backward(batch.products(mixing, 0 * features), torch.ones(4, 5))
    batch.step()
    torch.testing.assert_close(embedding.weight, before, rtol=0, atol=0)


def test_a_snapshot_is_a_copy_of_that_moment(train_settings):
    rng = np.random.default_rng(4)
    mlp = MLP(FEATURES, 3, train_settings(embed=True))
    batch = Fused(mlp.embedding, mlp.parameters(), 0.1)
    snapshots = Snapshot(), Snapshot()  # the second is taken at every other step
    for step in range(6):
        train(batch, mlp, *some_factors(rng, 40))
        for snapshot in snapshots[: 1 + step % 2]:
            table = snapshot.state.get("embedding.weight")
            snapshot.take(mlp)
            for name, tensor in mlp.state_dict().items():
                assert torch.equal(snapshot.state[name], tensor)
                assert snapshot.state[name].data_ptr() != tensor.data_ptr()
            # Only what has changed is copied into the table that is there.
            assert table is None or snapshot.state["embedding.weight"] is table


@pytest.fixture(scope="module")
def rare_words():
    """Stars whose leaves name mostly rare words, by Zipf's law; few labelled centres, and no leaf in common."""
    classes, labelled, centres, leaves, stored, width = 6, 15, 720, 16, 30, 200_000
    rng = np.random.default_rng(0)
    of_centres = np.arange(centres) % classes
    leaf_labels = np.where(
        rng.random((centres, leaves)) < 0.9, of_centres[:, None], rng.integers(classes, size=(centres, leaves))
    )
    labels = np.concatenate([of_centres, leaf_labels.ravel()])

    def zipf(count, shape):
        return np.exp(rng.random(shape) * np.log(count)).astype(np.int64)

    shape = len(labels), stored
    own = rng.random(shape) < 0.1
    words = np.where(own, zipf(300, shape) * classes + labels[:, None], zipf(width, shape) - 1)
    indptr = stored * np.arange(len(labels) + 1)
    features = sp.csr_array((np.full(words.size, 1 / stored, np.float32), words.ravel(), indptr), (len(labels), width))
    features.sum_duplicates()
    sources = np.repeat(np.arange(centres), leaves), np.arange(centres, len(labels))
    edges = sp.csr_array((np.ones(len(sources[0])), sources), (len(labels), len(labels)))
    names = [f"class {number}" for number in range(classes)]
    graph = Graph(as_adjacency(edges), features, labels, names, np.arange(len(labels)))
    nodes = np.arange(centres)
    rows = gfpush(graph, nodes, weights=propagation_weights("single", order=1), rmax=1e-7, top_k=32)
    val = np.arange(labelled * classes, 2 * labelled * classes)
    rest = np.arange(2 * labelled * classes, centres)
    return graph, rows, Split(np.arange(labelled * classes), val, rest, rest)


def test_it_finds_what_a_linear_model_finds_among_rare_words(rare_words, train_settings):
    """With a second moment for each word it memorises the labelled centres, and its predictions collapse."""
    graph, rows, split = rare_words
    nodes = {part: getattr(split, part) for part in ("train", "val", "test")}
    inputs = {part: propagated_rows_of(rows, graph.features, nodes[part]) for part in nodes}
    known = np.unique(inputs["train"].indices)  # a linear model learns nothing of other words
    inputs = {part: inputs[part][:, known] for part in inputs}
    of_part = {part: graph.labels[nodes[part]] for part in nodes}
    linear = [LogisticRegression(C=C, max_iter=100).fit(inputs["train"], of_part["train"]) for C in (1e2, 1e4, 1e6)]
    best = max(linear, key=lambda model: model.score(inputs["val"], of_part["val"]))
    settings = train_settings(
        embed=True, lr=0.01, weight_decay=0, hidden=32, dropout_input=0, dropout_hidden=0.2, batch_labelled=20,
        batch_unlabelled=20, warmup=1000, consistency_mean="confident", max_epochs=40,
    )  # fmt: skip
    trained = fit(Task(graph, split, rows), settings)
    predicted = trained.model.predict_proba_of_rows(trained.model.inputs_of_rows(graph, rows)).argmax(axis=1)
    assert (predicted[split.test] == of_part["test"]).mean() >= best.score(inputs["test"], of_part["test"]) - 0.01


@pytest.fixture(scope="module")
def problem():
    """Communities whose nodes name words of their class, among others."""
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    same = labels[:, None] == labels
    edges = sp.csr_array(np.triu(rng.random((90, 90)) < np.where(same, 0.2, 0.02), 1))
    own, any_class = labels[:, None] * 20 + rng.integers(20, size=(90, 6)), rng.integers(FEATURES, size=(90, 6))
    words = np.where(rng.random((90, 6)) < 0.3, own, any_class)
    features = np.zeros((90, FEATURES), np.float32)
    np.put_along_axis(features, words, 1.0, axis=1)
    graph = Graph(as_adjacency(edges), sp.csr_array(features), labels, CLASSES, np.arange(90))
    rows = gfpush(graph, np.arange(90), weights=propagation_weights("avg", order=2), rmax=1e-7, top_k=90)
    return graph, rows, Split(np.arange(12), np.arange(12, 40), np.arange(40, 90), np.arange(12, 90))


def test_it_learns_and_infers(problem, train_settings, tmp_path):
    """Beyond chance by far; and a model that was saved predicts the same."""
    graph, rows, split = problem
    settings = train_settings(embed=True, lr=0.05, max_epochs=100, dropout_input=0.2)
    trained = fit(Task(graph, split, rows), settings)
    probabilities = trained.model.predict_proba(graph)
    assert (probabilities.argmax(axis=1) == graph.labels)[split.test].mean() > 0.7
    trained.model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load_model(tmp_path / "model.safetensors").predict_proba(graph), probabilities)


def test_validation_sees_what_inference_does(problem, train_settings):
    """With whole rows: the accuracy noted at the best step is that of the predictions."""
    graph, rows, split = problem
    trained = fit(Task(graph, split, rows), train_settings(embed=True, max_epochs=30))
    right = trained.model.predict_proba(graph).argmax(axis=1) == graph.labels
    assert right[split.val].mean() == pytest.approx(trained.model.info["val_accuracy"])


def test_dense_features_are_refused(problem, train_settings):
    graph, rows, split = problem
    dense = dataclasses.replace(graph, features=graph.features.toarray())
    with pytest.raises(ArgumentError, match=r"train.embed is true, but the features are dense; set train.embed"):
        fit(Task(dense, split, rows), train_settings(embed=True))
