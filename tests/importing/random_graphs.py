"""Small random graphs for property tests of readers, and the check that a file gave back the same graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from grandplus.datasets.raw import RawGraph

MAX_NODES = 9  # with more than 10, labels that all differ are taken for names of the nodes
_HEADS = ["source", "target", "id", "label", "weight", "node", "x", "from", "to", "class"]
# What ids may be, by the kind: each kind is a list of at least MAX_NODES different ones.
IDS: dict[str, list[str]] = {
    "positions": [str(i) for i in range(MAX_NODES)],
    "numbers": ["7", "10", "9", "502", "-3", "100000", "1", "2", "33"],
    "large numbers": [str(2**53 + 2 * i + 1) for i in range(MAX_NODES)],
    "zero-padded": [f"{i:03d}" for i in (7, 1, 12, 0, 5, 99, 3, 4, 6)],
    "text": ["ann", "bob", "Bob", "w0", "w1", "p-12", "a.b", "x_1", "z"],
    "text with marks": ["a b", "a,b", "c;d", "e'f", 'g"h', "#tag", "%of", "i|j", "é ö"],
    "comments": ["#0", "#1", "%2", "#a", "%d", "word", "//x", "#b", "%c"],
    "unicode": ["東京", "é", "ß", "Жук", "ñu", "ç", "λ", "ア", "z"],
    "words of headers": _HEADS[:MAX_NODES],
    "numbers and text": ["1", "2", "03", "4.0", "1e3", "x", "-1", "NA", "nan"],
}
PLAIN_IDS = ("positions", "numbers", "zero-padded", "text", "unicode", "words of headers", "numbers and text")


@dataclass(frozen=True)
class RandomGraph:
    """A graph as a test writes it to a file.

    Attributes
    ----------
    ids : list of str
    edges : list of pairs of int
        Of positions in ``ids``; may repeat, go both ways, and be self-loops.
    labels : list of str or None
        None where unknown.
    features : float64 (n, d) or None
        Exact in float32.
    """

    ids: list[str]
    edges: list[tuple[int, int]]
    labels: list[str | None]
    features: np.ndarray[Any, Any] | None

    @property
    def named(self) -> list[tuple[str, str]]:
        """The edges by ids."""
        return [(self.ids[u], self.ids[v]) for u, v in self.edges]


@st.composite
def random_graphs(
    draw: st.DrawFn,
    kinds: Sequence[str] = tuple(IDS),
    *,
    features: bool = True,
    unknown: bool = True,
    loops: bool = True,
    repeated: bool = True,
    isolated: bool = True,
) -> RandomGraph:
    """Graphs of 4 to 9 nodes, with an edge at least.

    Parameters
    ----------
    kinds : sequence of str
        Of ids, keys of IDS.
    features, unknown, loops, repeated, isolated : bool
        Whether there may be features, unknown labels, self-loops, repeated edges and nodes without an edge.
    """
    nodes = draw(st.integers(4, MAX_NODES))
    ids = draw(st.permutations(IDS[draw(st.sampled_from(list(kinds)))]))[:nodes]
    end = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(end, end), min_size=1, max_size=14))
    if not isolated:
        edges += [(node, (node + 1) % nodes) for node in range(nodes)]
    if not loops:
        edges = [(u, v) for u, v in edges if u != v]
    edges = edges if any(u != v for u, v in edges) else [*edges, (0, 1)]
    if not repeated:
        edges = list({frozenset(edge): edge for edge in edges}.values())
    classes = draw(st.sampled_from([["a", "b"], ["0", "1", "2"], ["3", "30"], ["no good", "good"], ["é", "東"]]))
    classes = [*classes, None] if unknown and draw(st.booleans()) else classes
    others = draw(st.lists(st.sampled_from(classes), min_size=nodes - 2, max_size=nodes - 2))
    return RandomGraph(ids, edges, [*classes[:2], *others], draw(_features(nodes)) if features else None)


def _features(nodes: int) -> st.SearchStrategy[np.ndarray[Any, Any] | None]:
    """None, or columns of whole numbers, of fractions, and of numbers that could be ids."""
    quarters = st.lists(st.integers(-40, 40).map(lambda number: number / 4), min_size=nodes, max_size=nodes)
    whole = st.lists(st.integers(0, 3).map(float), min_size=nodes, max_size=nodes)
    like_ids = st.permutations([float(i) for i in range(nodes)])
    columns = st.lists(st.one_of(quarters, whole, like_ids), min_size=1, max_size=3)
    return st.one_of(st.none(), columns.map(lambda given: np.array(given).T))


def same_graph(given: RandomGraph, raw: RawGraph, *, ids: bool = True) -> None:
    """Assert that what was read back is that graph: nodes, edges as undirected pairs, labels and features.

    Parameters
    ----------
    given : RandomGraph
    raw : RawGraph
    ids : bool
        Whether the format keeps ids; if not, nodes are in the order of ``given``.
    """
    names = [str(name) for name in raw.node_ids] if ids else given.ids
    assert raw.nodes == len(names) == len(given.ids)
    assert sorted(names) == sorted(given.ids)
    assert {frozenset((names[u], names[v])) for u, v in raw.edges.T.tolist()} == {frozenset(e) for e in given.named}
    label_of = dict(zip(given.ids, given.labels, strict=True))
    assert [raw.classes[label] if label >= 0 else None for label in raw.labels] == [label_of[name] for name in names]
    if given.features is None:
        assert raw.features is None
        return
    row_of = {name: row for row, name in enumerate(given.ids)}
    assert raw.features is not None
    features = raw.features.toarray() if sparse.issparse(raw.features) else raw.features
    np.testing.assert_array_equal(features, given.features[[row_of[name] for name in names]].astype(np.float32))
