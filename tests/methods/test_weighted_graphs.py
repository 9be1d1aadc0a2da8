"""What methods do on graphs with weights or a direction: dense float64 references, and who takes them."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from small_graph import NODES, small_graph, small_split, softmax, weights_of

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.graph import Graph
from grandplus.methods.fitting import fit
from grandplus.methods.full_batch import normalized_matrix
from grandplus.methods.propagated import smooth
from grandplus.methods.protocol import Task
from grandplus.methods.registry import NAMES, check_edges, settings_of
from grandplus.propagation.columns import propagate_symmetric
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.plan import plan
from grandplus.runtime.errors import GrandPlusError

W = propagation_weights("ppr", order=6, alpha=0.25)
TAKE_WEIGHTS = {"grandplus", "pprgo", "sgc", "gcn", "appnp", "gcnii"}


def dense_weights():
    """Symmetric, with a self-loop of weight 5."""
    entries = np.random.default_rng(3).uniform(0.25, 4, (NODES, NODES)).astype(np.float32).astype(float)
    plain = small_graph().adjacency
    rows = np.repeat(np.arange(NODES), np.diff(plain.indptr))
    w = np.zeros((NODES, NODES))
    w[rows, plain.indices] = entries[np.minimum(rows, plain.indices), np.maximum(rows, plain.indices)]
    np.fill_diagonal(w, 0)
    w[4, 4] = 5
    return w


def weighted_graph():
    graph = small_graph()
    adjacency = Adjacency.of(sp.csr_array(dense_weights()), weights="use")
    return Graph(adjacency, graph.features, graph.labels, graph.classes, graph.node_ids)


def with_loops():
    w = dense_weights()
    return w + np.diag(np.where(np.diag(w) == 0, 1.0, 0.0))


def symmetric_walk():
    """Â = D̃^-½W̃D̃^-½."""
    w = with_loops()
    root = np.sqrt(w.sum(axis=1))
    return w / root[:, None] / root


def test_the_normalized_matrix_has_weights():
    assert normalized_matrix(weighted_graph().adjacency).toarray() == pytest.approx(symmetric_walk(), abs=1e-6)


def test_symmetric_propagation_has_weights():
    graph, walk = weighted_graph(), symmetric_walk()
    x = np.random.default_rng(0).normal(size=(NODES, 3)).astype(np.float32)
    expected = sum(w * np.linalg.matrix_power(walk, n) for n, w in enumerate(W)) @ x
    assert propagate_symmetric(graph, x.copy(), weights=tuple(W), columns=2) == pytest.approx(expected, abs=1e-5)
    features = graph.features.toarray()
    smoothed = smooth(graph, W, plan(graph, features.shape[1], 0), on_cluster=False)
    assert smoothed == pytest.approx(
        sum(w * np.linalg.matrix_power(walk, n) for n, w in enumerate(W)) @ features, abs=1e-5
    )


def test_pprgo_scales_rows_by_sums_of_weights():
    graph, root = weighted_graph(), np.sqrt(with_loops().sum(axis=1))
    rows = gfpush(graph, np.arange(NODES), weights=W, rmax=0, top_k=NODES)
    model = fit(Task(graph, small_split(), rows), settings_of("pprgo").Settings(epochs=6)).model
    walk = with_loops() / root[:, None] ** 2
    pi = sum(w * np.linalg.matrix_power(walk, n) for n, w in enumerate(W))
    first, second = weights_of(model)
    logits = (graph.features.toarray().astype(np.float64) @ first).clip(0) @ second
    found = model.predict_proba_of_rows(model.inputs_of_rows(graph, rows))
    assert found == pytest.approx(softmax((pi * root[:, None] / root) @ logits), abs=1e-5)


@pytest.mark.parametrize("name", sorted(TAKE_WEIGHTS))
def test_methods_that_take_weights_use_them(name):
    predicted = []
    for graph in (small_graph(), weighted_graph()):
        own = settings_of(name)
        short = {key: 6 for key in ("epochs", "max_epochs") if key in own.Settings.model_fields}
        rows = gfpush(graph, np.arange(NODES), weights=W, rmax=0, top_k=NODES) if own.NEEDS_ROWS else None
        model = fit(Task(graph, small_split(), rows), own.Settings(**short)).model
        predicted.append(model.predict_proba(graph))
    assert np.isfinite(predicted[1]).all()
    assert predicted[1].sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert not np.allclose(*predicted, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_methods_say_which_edges_they_take(name):
    check = functools.partial(check_edges, name, to_ignore="leave them out", both_ways="follow them both ways")
    check(weighted=False, directed=False)
    if name in TAKE_WEIGHTS:
        check(weighted=True, directed=False)
    else:
        with pytest.raises(GrandPlusError, match=f"{name} takes no weights of edges; leave them out, or choose the"):
            check(weighted=True, directed=False)
    if name == "grandplus":
        check(weighted=True, directed=True)
    else:
        words = f"{name} takes no edges that count in one direction only; follow them both ways, or choose the method"
        with pytest.raises(GrandPlusError, match=words):
            check(weighted=False, directed=True)


def test_training_from_python_refuses_edges_that_the_method_does_not_take():
    plain, weights = small_graph(), sp.csr_array(dense_weights())
    for options, words in (
        ({"weights": "use"}, 'gat takes no weights of edges; make the adjacency with weights="ignore", or choose'),
        (
            {"direction": "out"},
            'gat takes no edges that .* one direction only; make it with direction="both", or choose',
        ),
    ):
        adjacency = Adjacency.of(sp.triu(weights, format="csr"), **options)
        graph = Graph(adjacency, plain.features, plain.labels, plain.classes, plain.node_ids)
        with pytest.raises(GrandPlusError, match=words):
            fit(Task(graph, small_split(), None, seed=[0, 1]), settings_of("gat").Settings())
