"""A graph of thirty nodes with an isolated one, and dense float64 references of what methods compute on it."""

import numpy as np
import scipy.sparse as sp

import grandplus as gp
from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split

NODES, WIDTH, CLASSES, ISOLATED = 30, 12, 3, 29
SHORT = {"grandplus": {"max_epochs": 2}, "gcnii": {"epochs": 2, "layers": 4}, "graphsaint": {"epochs": 2, "roots": 9}}


def small_graph():
    """Its features are sparse; the classes are told by three of them."""
    rng = np.random.default_rng(0)
    edges = rng.random((NODES, NODES)) < 0.08
    edges[ISOLATED] = edges[:, ISOLATED] = False
    labels = np.arange(NODES) % CLASSES
    features = rng.random((NODES, WIDTH)) * (rng.random((NODES, WIDTH)) < 0.4) + np.eye(CLASSES, WIDTH)[labels]
    sparse = sp.csr_array(features.astype(np.float32))
    return Graph(as_adjacency(sp.csr_array(edges)), sparse, labels, ["a", "b", "c"], np.arange(NODES))


def small_split():
    """Nine nodes to train on, nine to validate, and twelve others, the isolated one among them."""
    nodes = np.arange(NODES)
    return Split(nodes[:9], nodes[9:18], nodes[18:], nodes[18:])


def trained_shortly(name):
    """A classifier of this method that has seen the graph for two epochs."""
    graph, few = small_graph(), {"train_per_class": 3, "val_per_class": 3}
    classifier = gp.NodeClassifier(name, SHORT.get(name, {"epochs": 2}), random_state=0, **few)
    return classifier.fit(graph.adjacency.matrix(), graph.features, graph.labels)


def normalized(graph):
    """Â = D̃^-½(A + I)D̃^-½, dense in float64."""
    adjacency = graph.adjacency
    with_loops = np.eye(adjacency.nodes)
    for node in range(adjacency.nodes):
        with_loops[node, adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]] = 1
    root = np.sqrt(with_loops.sum(axis=1))
    return with_loops / root[:, None] / root


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def weights_of(model):
    """The weights of a model's two layers, (d, h) and (h, C), in float64."""
    return [weight.double().numpy().T for weight in model.tensors().values()]
