"""Edge lists of networkx with dictionaries."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from grandplus.datasets.formats.edgelist import read, recognise
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

EDGES = [("a b", "c"), ("c", "d"), ("d", "a b")]
NODES = "id,label,x\na b,p,1\nc,q,2\nd,p,3\n"


def graph(**attributes: object) -> nx.Graph:
    made = nx.Graph(EDGES)
    for edge in EDGES:
        made.edges[edge].update(attributes)
    return made


def read_files(folder, edges: str | None = None, **asked: object) -> RawGraph:
    if edges is not None:
        (folder / "edges.txt").write_text(edges)
    (folder / "nodes.csv").write_text(NODES)
    how = recognise([folder / "edges.txt", folder / "nodes.csv"], Reading(**asked))
    assert how is not None
    return read(folder, ["edges.txt", "nodes.csv"], Source(format="edgelist", read=how))


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|"])
@pytest.mark.parametrize("attributes", [{}, {"weight": 1.0}, {"kind": "friend of {x}", "since": [1, 2], "weight": 1}])
def test_what_networkx_writes(tmp_path, delimiter, attributes):
    nx.write_edgelist(graph(**attributes), tmp_path / "edges.txt", delimiter=delimiter)
    found = read_files(tmp_path)
    ends = [{str(found.node_ids[end]) for end in edge} for edge in found.edges.T]
    assert sorted(map(sorted, ends)) == sorted(map(sorted, EDGES))
    np.testing.assert_array_equal(found.features, [[1], [2], [3]])
    assert [found.classes[label] for label in found.labels] == ["p", "q", "p"]
    unused = [name for name in ("kind", "since", "weight") if name in attributes]
    assert found.account.unused == tuple(f"edges.txt: {name} (of edges)" for name in unused)


def test_weights_are_refused_unless_ignored(tmp_path):
    nx.write_edgelist(graph(weight=0.5), tmp_path / "edges.txt", delimiter="\t")
    with pytest.raises(GrandPlusError, match=r"has weight 0\.5 on the edge of 'a b' and 'c'.*--weights ignore"):
        read_files(tmp_path)
    assert read_files(tmp_path, weights="ignore").edges.shape == (2, 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("c,d,{'weight': open('x')}", "line 2 ends with \"{'weight': open('x')}\"; expected a dictionary of texts and"),
        ("c,d,{1: 2}", "line 2 ends with '{1: 2}'"),
        ("c,d,{1, 2}", "line 2 ends with '{1, 2}'"),
        ("c,d," + "{" * 500 + "}" * 500, "line 2 ends with"),
        ("c,d," + "{" + "[" * 5000 + "}", "line 2 ends with"),
        ("c,d", "line 2 is 'c,d'; expected two ids and a dictionary"),
        ("c,d,e,{}", "line 2 is 'c,d,e,{}'"),
    ],
)
def test_what_is_no_edge_is_named(tmp_path, line, message):
    with pytest.raises(GrandPlusError) as error:
        read_files(tmp_path, f"a b,c,{{}}\n{line}\n")
    assert message in str(error.value)


def test_other_files_are_none(tmp_path):
    for name, content in {
        "a.csv": "a,b\n1,2\n",
        "b.json": '{"a": 1}\n',
        "c.txt": "a b c {}\n",
        "d.bin": "\0\1",
    }.items():
        (tmp_path / name).write_text(content)
        assert recognise([tmp_path / name], Reading()) is None
