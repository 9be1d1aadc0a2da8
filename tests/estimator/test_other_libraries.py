"""Graphs and tables of other libraries, with names, features and classes of their own, are the same problem."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from communities import NODES, problem, small

ADJACENCY, X, Y = problem()
NAMES = [f"p{row}" for row in range(NODES)]
CLASSES = [f"club {label}" for label in Y]
START, END = ADJACENCY.nonzero()


def of_networkx() -> tuple[Any, ...]:
    graph = nx.DiGraph()
    for row, name in enumerate(NAMES):
        graph.add_node(name, vector=X[row], club=CLASSES[row])
    graph.add_edges_from((NAMES[u], NAMES[v]) for u, v in zip(START, END, strict=True))
    return graph, ["vector"], "club"


def of_igraph() -> tuple[Any, ...]:
    graph = pytest.importorskip("igraph").Graph(n=NODES, edges=list(zip(START.tolist(), END.tolist(), strict=True)))
    graph.vs["name"], graph.vs["class"] = NAMES, CLASSES
    for column in range(X.shape[1]):
        graph.vs[f"x{column}"] = X[:, column].tolist()
    return (graph,)


def frames(library: str) -> tuple[Any, ...]:
    """Rows of nodes in the order of the problem; the ids are in a column."""
    frame = pytest.importorskip(library).DataFrame
    edges = frame({"source": np.array(NAMES)[START], "target": np.array(NAMES)[END]})
    columns = {f"x{column}": X[:, column] for column in range(X.shape[1])}
    return edges, frame({"id": NAMES, "label": CLASSES, **columns})


GIVEN = {
    "networkx": of_networkx,
    "igraph": of_igraph,
    "pandas": lambda: frames("pandas"),
    "polars": lambda: frames("polars"),
    "scipy, dia": lambda: (sp.dia_array(ADJACENCY), X, CLASSES),
    "scipy, bsr": lambda: (sp.bsr_array(ADJACENCY.astype(float)), X, CLASSES),
}


@pytest.fixture(scope="module")
def expected() -> Any:
    return small(max_epochs=3, trials=1).fit(ADJACENCY, X, CLASSES)


@pytest.mark.parametrize("library", GIVEN)
def test_they_give_the_same_bytes(library, expected):
    found = small(max_epochs=3, trials=1).fit(*GIVEN[library]())
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert found.predict_proba().tobytes() == expected.predict_proba().tobytes()
