"""GAT: its logits and gradients against dense formulas, dropout of all three kinds, and its stopping rules."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from small_graph import CLASSES, NODES, WIDTH, normalized, small_graph, small_split, softmax
from torch import nn

from grandplus.graph.adjacency import as_adjacency
from grandplus.methods.gat.method import GAT, Projections, fit
from grandplus.methods.gat.settings import PUBLISHED, Settings
from grandplus.methods.gat.weighted import structure_of, weighted_sums
from grandplus.methods.inputs import sparse_input
from grandplus.methods.protocol import Task


def dense_layer(x, edges, values, layer, heads, projection):
    """Σⱼ αᵢⱼWxⱼ by head, dense in float64: (n, heads, width)."""
    projected = (x @ values[projection].T).reshape(len(x), heads, -1)
    logits = sum(
        (projected * values[f"{layer}.att_{end}"]).sum(axis=-1)[place]
        for end, place in (("dst", np.s_[:, None]), ("src", np.s_[None, :]))
    )
    logits = np.where(logits > 0, logits, 0.2 * logits)
    powers = np.where(edges[:, :, None], np.exp(logits), 0)
    return np.einsum("ijh,jhw->ihw", powers / powers.sum(axis=1, keepdims=True), projected)


@pytest.mark.parametrize(("heads", "output_heads"), [(8, 1), (2, 3)])
def test_probabilities_are_those_of_the_dense_formula(heads, output_heads):
    graph, edges = small_graph(), normalized(small_graph()) > 0
    model = fit(Task(graph, small_split(), None), Settings(epochs=20, heads=heads, output_heads=output_heads)).model
    values = {name: tensor.double().numpy() for name, tensor in model.tensors().items()}
    hidden = dense_layer(graph.features.toarray(), edges, values, "first", heads, "input.weight")
    hidden = hidden.reshape(NODES, -1) + values["first.bias"]
    hidden = np.where(hidden > 0, hidden, np.expm1(hidden))
    logits = dense_layer(hidden, edges, values, "second", output_heads, "hidden.weight").mean(axis=1)
    np.testing.assert_allclose(model.predict_proba(graph), softmax(logits + values["second.bias"]), atol=2e-6)


def test_gradients_of_weighted_sums_are_those_by_differences():
    structure = structure_of(small_graph().adjacency)
    entries = len(structure.values())
    weights = torch.rand(entries, 2, dtype=torch.float64, requires_grad=True)
    x = torch.rand(NODES, 2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *given: weighted_sums(structure, *given), (weights, x))


def test_each_entry_knows_its_transposed_one():
    structure = structure_of(small_graph().adjacency)
    dense = torch.zeros(NODES, NODES, dtype=torch.int64)
    rows = torch.arange(NODES).repeat_interleave(structure.crow_indices().diff())
    dense[rows, structure.col_indices()] = torch.arange(len(rows))
    assert torch.equal(structure.values(), dense[structure.col_indices(), rows])


def test_each_head_drops_inputs_of_its_own():
    """Of one input that is 1 everywhere, a head keeps the half of nodes, and two heads keep a quarter together."""
    torch.manual_seed(0)
    layer = Projections(1, 1, 2, 0.5)
    nn.init.ones_(layer.weight)
    for x in (torch.ones(10_000, 1), sparse_input(sp.csr_array(np.ones((10_000, 1), np.float32)), torch.device("cpu"))):
        one, other = (layer.train()(x) > 0).float().T
        assert (one.mean().item(), other.mean().item()) == pytest.approx((0.5, 0.5), abs=0.02)
        assert (one * other).mean().item() == pytest.approx(0.25, abs=0.02)
        assert layer.eval()(x).unique().tolist() == [1.0]


def test_first_weights_are_glorots_of_each_head():
    network = GAT(Settings(), 100, CLASSES)
    for layer, bound in ((network.input, 6 / (100 + 8)), (network.hidden, 6 / (64 + CLASSES))):
        assert layer.weight.abs().max().item() == pytest.approx(bound**0.5, rel=0.05)
    assert network.first.att_src.abs().max().item() == pytest.approx((6 / 9) ** 0.5, rel=0.1)


def first_layer(share):
    """That of one head of one value, with projections of 1, no bias, and equal attention."""
    network = GAT(Settings(heads=1, hidden=1, dropout=share), WIDTH, CLASSES)
    torch.manual_seed(0)
    return network.first.train()


def test_attention_and_projections_are_both_dropped():
    count = 10_000
    loops = structure_of(as_adjacency(sp.csr_array((count, count))))
    sums = first_layer(0.5)(torch.ones(count, 1), loops)
    assert set(sums.unique().tolist()) == {0.0, 4.0}  # 1 / 0.5² where neither is dropped
    assert float((sums > 0).float().mean()) == pytest.approx(0.25, abs=0.02)


def test_projections_are_dropped_for_all_neighbours_at_once():
    """So the sums of a complete graph go up and down together: by 1 / √n, where they else would by √3 / n."""
    count = 100
    complete, layer = structure_of(as_adjacency(sp.csr_array(np.ones((count, count))))), first_layer(0.5)
    means = torch.stack([layer(torch.ones(count, 1), complete).mean() for _ in range(100)])
    assert means.std().item() == pytest.approx(1 / np.sqrt(count), rel=0.3)
    assert means.mean().item() == pytest.approx(1, abs=0.05)


def test_published_settings_are_those_of_the_authors():
    assert Settings(**PUBLISHED["pubmed"]).output_heads == 8
    assert Settings(**PUBLISHED["citeseer"]).watched == "accuracy"


def test_weights_are_kept_by_what_is_watched():
    outcomes = {}
    for watched in ("either", "accuracy", "loss"):
        trained = fit(Task(small_graph(), small_split(), None), Settings(epochs=40, patience=5, watched=watched))
        best, history = trained.model.info["best_step"], trained.history
        outcomes[watched] = best, history["val_accuracy"], history["val_loss"]
    best, accuracies, losses = outcomes["accuracy"]
    assert accuracies[best] == max(accuracies)
    assert max(accuracies) not in accuracies[best + 1 :]
    best, _, losses = outcomes["loss"]
    assert losses[best] == min(losses)
    best, accuracies, losses = outcomes["either"]
    assert (accuracies[best], losses[best]) == (max(accuracies[: best + 1]), min(losses[: best + 1]))
