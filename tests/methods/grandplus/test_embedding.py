"""The learnable representation against a dense first layer; what a step may touch."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from test_csr import csr_of

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.files import load_model
from grandplus.methods.grandplus.adam import Adam, AdamOnGPU
from grandplus.methods.grandplus.embedding import Embedding, _product
from grandplus.methods.grandplus.method import fit
from grandplus.methods.grandplus.model import MLP, Snapshot
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


@pytest.mark.parametrize("training", [True, False])
def test_product_and_gradient_are_those_of_dense_matrices(training):
    rng = np.random.default_rng(0)
    mixing, features = some_factors(rng)
    embedding = Embedding(FEATURES, 7).train(training)
    dense = embedding.weight.clone().requires_grad_()
    expected = torch.from_numpy(mixing @ features) @ dense
    found = embedding((csr_of(mixing), csr_of(features)))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    if training:
        upstream = torch.randn(4, 7)
        expected.backward(upstream)
        found.backward(upstream)
        assert sorted(embedding.touched) == sorted(np.flatnonzero(features.any(axis=0)))
        gradient = torch.zeros_like(dense)
        gradient[embedding.touched] = embedding.rows.grad
        torch.testing.assert_close(gradient, dense.grad, atol=1e-6, rtol=1e-5)


def test_the_way_of_gpus_gives_the_same():
    mixing, features = some_factors(np.random.default_rng(1))
    dense = torch.randn(FEATURES, 7, requires_grad=True)
    found = _product(csr_of(mixing), _product(csr_of(features), dense))
    expected = torch.from_numpy(mixing @ features) @ dense
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    upstream = torch.randn(4, 7)
    gradients = [torch.autograd.grad(product, dense, upstream)[0] for product in (found, expected)]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("clip", [0.0, 0.01])
@pytest.mark.parametrize("optimizer", [Adam, AdamOnGPU])
def test_untouched_rows_and_their_moments_stay_bit_for_bit(train_settings, optimizer, clip):
    rng = np.random.default_rng(2)
    mlp = MLP(FEATURES, 3, train_settings(embed=True))
    adam = optimizer(mlp.parameters(), 0.1, 0.01, clip, mlp.embedding)
    for columns in (FEATURES, 50, 20):
        moments = np.asarray(adam._of_rows)  # (d, 2 h), or (2, d, h) on a GPU
        parts = mlp.embedding.weight.numpy(), *(moments if moments.ndim == 3 else [moments])
        before = [part.copy() for part in parts]
        mixing, features = some_factors(rng, columns)
        mlp((csr_of(mixing), csr_of(features)), rng).square().sum().backward()
        adam.step()
        used = features.any(axis=0)
        for part, earlier in zip(parts, before, strict=True):
            np.testing.assert_array_equal(part[~used], earlier[~used])
            reached = (mixing @ features).any(axis=0)
            assert (part[reached] != earlier[reached]).any(axis=1).all()


def test_rows_follow_pytorchs_sparse_adam():
    """Three steps, each touching other rows; both of our ways."""
    start = torch.randn(FEATURES, 5)
    reference = torch.nn.Parameter(start.clone())
    sparse = torch.optim.SparseAdam([reference], lr=0.05)
    ours = []
    for optimizer in (Adam, AdamOnGPU):
        embedding = Embedding(FEATURES, 5)
        embedding.weight.copy_(start)
        ours.append((embedding, optimizer([torch.zeros(1, requires_grad=True)], 0.05, 0.0, 0.0, embedding)))
    rng = np.random.default_rng(3)
    for _ in range(3):
        mixing, features = some_factors(rng)
        upstream = torch.from_numpy(rng.standard_normal((4, 5)).astype(np.float32))
        for embedding, adam in ours:
            embedding((csr_of(mixing), csr_of(features))).backward(upstream)
            for parameter in adam.parameters:
                parameter.grad = torch.zeros_like(parameter)
            adam.step()
        dense = torch.from_numpy((mixing @ features).T) @ upstream
        used = torch.from_numpy(np.flatnonzero(features.any(axis=0)))
        reference.grad = torch.sparse_coo_tensor(used[None], dense[used], start.shape, check_invariants=True)
        sparse.step()
    for embedding, _ in ours:
        torch.testing.assert_close(embedding.weight, reference.detach(), atol=1e-5, rtol=1e-4)


def test_a_snapshot_is_a_copy_of_that_moment(train_settings):
    rng = np.random.default_rng(4)
    mlp = MLP(FEATURES, 3, train_settings(embed=True))
    adam = Adam(mlp.parameters(), 0.1, 0.0, 0.0, mlp.embedding)
    snapshots = Snapshot(), Snapshot()  # the second is taken at every other step
    for step in range(6):
        mlp(tuple(map(csr_of, some_factors(rng, 40))), rng).square().sum().backward()
        adam.step()
        for snapshot in snapshots[: 1 + step % 2]:
            snapshot.take(mlp)
            for name, tensor in mlp.state_dict().items():
                assert torch.equal(snapshot.state[name], tensor)
                assert snapshot.state[name].data_ptr() != tensor.data_ptr()


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
