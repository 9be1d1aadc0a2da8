"""What the settings say about the size of a model."""

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.grandplus.method import fit
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.protocol import Task
from grandplus.methods.settings import BASE, ROWS_AT_ONCE, GraphSize
from grandplus.propagation.gfpush import gfpush


def test_the_memory_of_training_by_hand(train_settings):
    """2 · (4 + 6) copies of batch nodes; 5 copies of parameters; in float32."""
    settings = train_settings(hidden=8)
    parameters = 101 * 8 + 9 * 3
    assert settings.training_memory(GraphSize(9, 0, 100, 3, 900)) == BASE + 4 * (
        5 * parameters + 4 * 20 * (100 + 8 + 3)
    )
    assert settings.training_memory(GraphSize(9, 0, 100, 3, 90)) == BASE + 4 * (5 * parameters + 4 * 20 * (8 + 3))
    embedded = 100 * 8 + 9 * 8 + 9 * 3
    settings = train_settings(hidden=8, embed=True)
    assert settings.training_memory(GraphSize(9, 0, 100, 3, 90)) == BASE + 4 * (5 * embedded + 4 * 20 * (8 + 8 + 3))


def test_the_memory_of_validation_by_hand(train_settings):
    """30,000 nodes are watched: their inputs, a block of them in all layers, and the rows with those of U'.

    Sparse inputs have 24 bytes an entry of a row, and 8 a value of the features that each of four blocks needs.
    """
    size = GraphSize(40_000, 0, 100, 3, 4_000_000, watched=30_000, top_k=32, unlabelled=10_000)
    settings = train_settings(hidden=8)
    parameters = 101 * 8 + 9 * 3
    block = 4 * ROWS_AT_ONCE * (100 + 8 + 3)
    needed = BASE + 4 * (5 * parameters + block) + 4 * 30_000 * 100 + 8 * 40_000 * 32
    assert settings.training_memory(size) == needed
    inputs = 20 * 40_000 + 24 * 30_000 * 32 + 8 * 4 * 40_000 * 5
    needed = BASE + 4 * (5 * parameters + 4 * ROWS_AT_ONCE * (8 + 3)) + inputs + 8 * 40_000 * 32
    assert settings.training_memory(size._replace(stored=5 * 40_000)) == needed


def watching(nodes: int, width: int, density: float) -> Task:
    """A ring in which nearly all nodes train or validate, with dense or sparse features."""
    rng = np.random.default_rng(0)
    edges = sp.csr_array((np.ones(nodes), (np.arange(nodes), np.roll(np.arange(nodes), 1))), shape=(nodes, nodes))
    features = rng.random((nodes, width), np.float32)
    features[rng.random(features.shape) >= density] = 0
    labels = rng.integers(0, 4, nodes)
    made = sp.csr_array(features) if density < 1 else features
    graph = Graph(as_adjacency(edges), made, labels, ["a", "b", "c", "d"], np.arange(nodes))
    train, val, rest = np.split(np.arange(nodes), [40, nodes - 100])
    rows = gfpush(graph, np.arange(nodes), weights=[0.2] * 5, rmax=1e-7, top_k=9)
    return Task(graph, Split(train, val, rest, rest), rows)


@pytest.mark.parametrize(
    ("density", "changes"),
    [
        *itertools.product([1.0, 0.05], [{}, {"batchnorm": True}, {"row_norm": True}, {"layers": 3}]),
        (0.05, {"embed": True}),
    ],
    ids=str,
)
def test_the_memory_of_training_is_what_its_arrays_take(train_settings, density, changes):
    """What numpy asks for, with PyTorch's few copies of the parameters not among it, is at most what is told."""
    task = watching(20_000, 80, density)
    settings = train_settings(hidden=32, max_epochs=2, **changes)
    fit(task, settings)  # kernels are compiled, or loaded
    tracemalloc.start()
    try:
        fit(task, settings)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = settings.training_memory(GraphSize.of(task.graph, task.split)._replace(top_k=9)) - BASE
    rows = task.rows.neighbors.nbytes + task.rows.values.nbytes  # are there before
    assert taken < told - rows
    assert told < 4 * taken


@pytest.mark.parametrize("changes", [{}, {"layers": 1}, {"layers": 3, "hidden": 70}, {"embed": True}])
def test_parameters_are_those_of_the_mlp(train_settings, changes):
    settings = train_settings(**changes)
    mlp = MLP(20, 3, settings)
    assert settings.parameters(20, 3) == sum(tensor.numel() for tensor in mlp.state_dict().values())
