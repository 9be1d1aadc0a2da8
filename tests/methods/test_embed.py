"""The hidden layer of every node: what the last layer makes predictions of."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from small_graph import normalized, small_graph, small_split, softmax

from grandplus.graph.graph import Graph
from grandplus.methods.files import load_model
from grandplus.methods.fitting import fit
from grandplus.methods.gat.method import Projections
from grandplus.methods.protocol import Task
from grandplus.methods.registry import NAMES, settings_of
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import PPR
from grandplus.runtime.errors import ArgumentError
from grandplus.runtime.validation import validated

WEIGHTS = PPR(alpha=0.2, order=3).weights()
PROPAGATE_LOGITS = ("appnp", "pprgo")


def trained(name, graph=None, **changes):
    graph = graph or small_graph()
    rows = gfpush(graph, np.arange(30), weights=WEIGHTS, rmax=0.0, top_k=30)
    short = {"max_epochs": 3} if name == "grandplus" else {"epochs": 3}
    return fit(Task(graph, small_split(), rows), validated(settings_of(name).Settings, short | changes, "")).model


def dense_product(graph):
    """ΠX in float64, with Π = Σ wₙPⁿ and P = D̃⁻¹(A + I)."""
    with_loops = normalized(graph) > 0
    walk, power = with_loops / with_loops.sum(axis=1, keepdims=True), np.eye(30)
    total = np.zeros((30, 30))
    for weight in WEIGHTS:
        total += weight * power
        power = walk @ power
    return total @ graph.features.toarray()


@torch.inference_mode()
def from_hidden(model, hidden, *rest):
    """Probabilities that the last layer gives of a hidden layer; GAT's has attention behind its projections."""
    if isinstance(model.last_layer, Projections):
        return model.network.second(model.last_layer(torch.from_numpy(hidden)), *rest).softmax(dim=-1).numpy()
    return model.last_layer(torch.from_numpy(hidden), *rest).softmax(dim=-1).numpy()


@pytest.mark.parametrize("name", ["sgc", "grand", "gbp", "gcnii", "gcn", "gat", "graphsaint"])
def test_the_last_layer_predicts_from_it(name, tmp_path):
    graph, model = small_graph(), trained(name)
    hidden = model.embed(graph)
    assert hidden.dtype == np.float32
    assert len(hidden) == 30
    structure = [model.adjacency_of(graph, torch.device("cpu"))] if name in ("gcn", "gat") else []
    if name == "graphsaint":
        np.testing.assert_allclose(np.linalg.norm(hidden, axis=1), 1, atol=1e-5)  # is divided by its length before
    probabilities = model.predict_proba(graph)
    np.testing.assert_allclose(from_hidden(model, hidden, *structure), probabilities, atol=1e-6)
    assert model.predict_proba(graph).tobytes() == probabilities.tobytes()  # nothing is left of the look inside
    model.save(tmp_path / "model.safetensors")
    assert load_model(tmp_path / "model.safetensors").embed(graph).tobytes() == hidden.tobytes()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"layers": 3},
        {"hidden": 70},
        {"embed": True},
        {"batchnorm": True, "row_norm": True},
        {"layers": 3, "batchnorm": True, "renormalize": False},
    ],
)
def test_grandplus_predicts_from_it(changes):
    graph, model = small_graph(), trained("grandplus", **changes)
    hidden, last = model.embed(graph), model.mlp.linears[-1]
    assert hidden.shape == (30, model.settings.hidden)
    assert model.last_layer is None  # its layers are called in other ways, too
    with torch.inference_mode():
        again = last(torch.from_numpy(hidden)).softmax(dim=-1).numpy()
    np.testing.assert_allclose(again, model.predict_proba(graph), atol=1e-6)


@pytest.mark.parametrize(("changes", "factor"), [({}, 1), ({"renormalize": False}, 0.5), ({"batchnorm": True}, 1)])
def test_of_one_layer_it_is_the_propagated_features(changes, factor):
    graph, model = small_graph(), trained("grandplus", layers=1, **changes)
    np.testing.assert_allclose(model.embed(graph), factor * dense_product(graph), atol=1e-6)


def test_of_one_layer_with_an_embedding_it_is_propagated():
    graph, model = small_graph(), trained("grandplus", layers=1, embed=True, hidden=5)
    expected = dense_product(graph) @ model.first_weight.astype(np.float64)
    np.testing.assert_allclose(model.embed(graph), expected, atol=1e-6)


def test_of_sgc_it_is_what_is_classified():
    graph, model = small_graph(), trained("sgc", order=2)
    smooth = normalized(graph) @ normalized(graph) @ graph.features.toarray()
    np.testing.assert_allclose(model.embed(graph), smooth, atol=1e-6)


def test_of_fastgcn_it_is_the_first_convolution():
    graph, model = small_graph(), trained("fastgcn")
    first, second = (weight.astype(np.float64) for weight in model.network.weights)
    hidden = np.maximum(normalized(graph) @ graph.features.toarray() @ first, 0)
    np.testing.assert_allclose(model.embed(graph), hidden, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(graph), softmax(normalized(graph) @ hidden @ second), atol=1e-5)


@pytest.mark.parametrize("name", PROPAGATE_LOGITS)
def test_where_it_sees_no_neighbour_it_is_refused(name):
    with pytest.raises(ArgumentError) as refused:
        trained(name).embed(small_graph())
    assert str(refused.value) == (
        f"the hidden layer of {name} sees a node's own features alone, as logits are propagated; "
        "expected a model of another method, such as grandplus or gcn"
    )


def test_each_method_embeds_or_says_why_not():
    tested = {"sgc", "grand", "gbp", "gcnii", "gcn", "gat", "graphsaint", "grandplus", "fastgcn"}
    assert tested | {*PROPAGATE_LOGITS} == set(NAMES)


def test_dense_features_give_what_sparse_ones_give():
    graph = small_graph()
    dense = Graph(graph.adjacency, graph.features.toarray(), graph.labels, graph.classes, graph.node_ids)
    assert sp.issparse(graph.features)
    model = trained("grandplus")
    np.testing.assert_allclose(model.embed(dense), model.embed(graph), atol=1e-6)
