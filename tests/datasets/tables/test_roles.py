"""Which columns hold ends, ids and labels, and which first lines are headers: kinds of files that people have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from grandplus.datasets.account import Ids
from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.roles import roles_of
from grandplus.runtime.errors import GrandPlusError

RING = [(i, (i + 1) % 12) for i in range(12)]
NODES = "id,label,x\n" + "".join(f"{i},{'ab'[i % 2]},{i}.5\n" for i in range(12))
LABELS = "id,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(12))
TEXT = "".join(f"p{i},{'ab'[i % 2]}\n" for i in range(12))
TAGS = "".join(f"#t{i},{'ab'[i % 2]}\n" for i in range(12))


def ring(form: str, names: str = "") -> str:
    """The ring's edges; {k} is the number of the line."""
    return (f"{names}\n" if names else "") + "".join(form.format(u, v, k=k) + "\n" for k, (u, v) in enumerate(RING))


def understood(folder: Path, edges: str, nodes: str, **asked: Any) -> tuple[Reading, RawGraph]:
    (folder / "edges.csv").write_text(edges)
    (folder / "nodes.csv").write_text(nodes)
    reading = roles_of([folder / "edges.csv", folder / "nodes.csv"], Reading(weights="ignore", **asked))
    assert reading is not None
    source = Source(format="tables", read=reading)
    return reading, read_files(folder, "tables", ["edges.csv", "nodes.csv"], source)


# kind: (edges, nodes, what is asked for, the right ends, the right id)
RIGHT: dict[str, tuple[str, str, dict[str, Any], tuple[Any, Any], Any]] = {
    "usual": (ring("{},{}", "source,target"), NODES, {}, ("source", "target"), "id"),
    "a weight first": (ring("3,{},{}", "weight,src_id,dst_id"), NODES, {}, ("src_id", "dst_id"), "id"),
    "a time first": (ring("{k},{},{}", "time,from,to"), NODES, {}, ("from", "to"), "id"),
    "start and end are times": (ring("{},{},1,{k}", "u,v,start,end"), NODES, {}, ("u", "v"), "id"),
    "an index first": (ring("{k},{},{}", ",citing_id,cited_id"), NODES, {}, ("citing_id", "cited_id"), "id"),
    "an index, other names": (ring("{k},{},{}", "Unnamed: 0,one,other"), NODES, {}, ("one", "other"), "id"),
    "parallel names": (ring("{},{},{k}", "from_person,to_person,c"), NODES, {}, ("from_person", "to_person"), "id"),
    "names that say nothing": (ring("{k}.5,{},{}", "p,q,r"), NODES, {}, ("q", "r"), "id"),
    "fractions, no header": (ring("0.5,{},{}"), NODES, {}, (2, 3), "id"),
    "times that are no ids, no header": (ring("{},12900{k},{}"), NODES, {}, (1, 3), "id"),
    "two kinds of things, as asked": (
        ring("{},{}", "paper_id,ref_id"), LABELS, {"ends": ("paper_id", "ref_id")}, ("paper_id", "ref_id"), "id",
    ),
    "asked for by number": (ring("{},{},{k}"), NODES, {"ends": (1, 2)}, (1, 2), "id"),
    "asked for by name": (ring("{},{},{k}", "a,b,c"), NODES, {"ends": ("a", "b")}, ("a", "b"), "id"),
    "the id is not first": (ring("{},{}"), NODES.replace("id,", "x0,", 1), {}, (1, 2), "x0"),
    "text below a header": (ring("p{},p{}", "from,to"), "paper,topic\n" + TEXT, {}, ("from", "to"), "paper"),
    "text without headers": (ring("p{},p{}"), TEXT, {}, (1, 2), 1),
    "a name as header": (ring("p{},p{}", "one,other"), TEXT, {}, ("one", "other"), 1),
    "hashtags": (ring("#t{},#t{}"), TAGS, {}, (1, 2), 1),
    "hashtags below a comment": ("# my tags\n" + ring("#t{},#t{}"), "% mine\n" + TAGS, {}, (1, 2), 1),
    "comments of SNAP": ("# FromNodeId\tToNodeId\n" + ring("{}\t{}"), NODES, {}, (1, 2), "id"),
    "bars": (ring("{}|{}"), NODES.replace(",", "|"), {}, (1, 2), "id"),
    "Excel's first line": ("sep=;\n" + ring("{};{}", "from;to"), NODES, {}, ("from", "to"), "id"),
}  # fmt: skip


@pytest.mark.parametrize("kind", RIGHT)
def test_it_is_understood(tmp_path, kind):
    edges, nodes, asked, ends, ident = RIGHT[kind]
    reading, graph = understood(tmp_path, edges, nodes, **asked)
    assert (reading.ends, reading.id) == (ends, ident)
    assert graph.nodes == 12
    numbers = [int(str(name).removeprefix("#").strip("tp")) for name in graph.node_ids]
    assert sorted((numbers[u], numbers[v]) for u, v in graph.edges.T) == sorted(RING)
    assert [graph.classes[label] for label in graph.labels] == ["ab"[number % 2] for number in numbers]


# kind: (edges, nodes, what is asked for, words of the refusal)
REFUSED: dict[str, tuple[str, str, dict[str, Any], list[str]]] = {
    "three columns of numbers": (ring("{},{},3"), NODES, {}, ["1 and 2 or 1 and 3 or 2 and 3", "--ends: 1, 2, 3"]),
    "three names that say nothing": (ring("{},{},3", "a,b,c"), NODES, {}, ["a and b or a and c or b and c", "--ends"]),
    "two columns of ids": (
        ring("{},{}"), "key,label,rank\n" + "".join(f"{i},a,{11 - i}\n" for i in range(12)), {},
        ["several columns: 1, 3", "--id"],
    ),
    "a header that is an edge": (
        "source,target\n" + "source,p1\np1,target\n", "id,label\nsource,a\ntarget,b\np1,a\n", {},
        ["edges.csv: begins with 'source target'", "--header yes or --header no"],
    ),
    "counts in the first line": ("12 99\n" + ring("{} {}"), NODES, {}, ["begins with '12 99'", "--header"]),
    "ids of another kind": (ring("q{},q{}"), LABELS, {}, ["edges.csv: names node 'q", "no node of nodes.csv"]),
    "a comment among ids": (
        ring("p{},p{}", "source,target") + "# mine,yours\n", "paper,topic\n" + TEXT, {},
        ["line 14 names node '# mine', which begins as a comment does"],
    ),
    "lists of neighbours": (
        ring('{},"{},5"', "source,targets"), LABELS, {},
        ["no id of nodes.csv in column targets, such as '1,5'", "a list of neighbours isn't read: write a line"],
    ),
    "lists of neighbours, no header": (ring("{}\t{};5"), LABELS, {}, ["in column 2, such as '2;5'", "a list of"]),
    "one end of another kind": (ring("{},m{}", "person,place"), LABELS, {},
                                ["no id of nodes.csv in column place", "--ends"]),
    "two kinds of things": (ring("{},{}", "user_id,movie_id"), LABELS, {},
                            ["ids of two kinds of things", "user_id and movie_id", "say --ends user_id movie_id"]),
    "y beside x": (
        ring("{},{}"), "id,kind,x,y\n" + "".join(f"{i},{'ab'[i % 2]},{i},{i * i}\n" for i in range(12)), {},
        ["has x and y, so y may be a coordinate; classes may be in y, kind", "--label"],
    ),
    "two ids": (
        ring("{},{}"), "id,new_id,label\n" + "".join(f"{11 - i},{i},{'ab'[i % 2]}\n" for i in range(12)), {},
        ["several columns: 1, 2", "--id"],
    ),
    "a counter and some of another column": (
        ring("{},{}"), "index,age,label\n" + "".join(f"{i},{20 - i},{'ab'[i % 2]}\n" for i in range(12)), {},
        ["several columns: 1, 2", "--id"],
    ),
    "a counter and another column of ids": (
        ring("{},{}"), "index,rank,label\n" + "".join(f"{i},{11 - i},{'ab'[i % 2]}\n" for i in range(12)), {},
        ["several columns: 1, 2", "--id"],
    ),
    "one column for both ends": (
        ring("{},{}", "source,target"), NODES, {"ends": ("source", "source")},
        ["--ends is source source, one column; expected two"],
    ),
    "a number beyond": (ring("{},{}", "0,1"), NODES, {"ends": (1, 3), "header": "yes"}, ["has no column 3"]),
    "one column": (ring("{},{}"), "a\nb\n" * 6, {}, ["nodes.csv: has one column", "--id none"]),
    "no ids, but an edge beyond": (ring("{},{}") + "3,12\n", "a\nb\n" * 6, {"id": "none"}, ["line 13 names node 12"]),
    "an unknown node, with features": (ring("{},{}") + "3,99\n", NODES, {}, ["line 13 names node 99", "add the node"]),
    "an index without a header": (ring("{},{}"), "".join(f"{k},{v},a\n" for k, v in enumerate(range(11, -1, -1))), {},
                                  ["several columns: 1, 2", "--id"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused(tmp_path, kind):
    edges, nodes, asked, words = REFUSED[kind]
    with pytest.raises(GrandPlusError) as error:
        understood(tmp_path, edges, nodes, **asked)
    for word in words:
        assert word in str(error.value)


def test_header_decides_where_the_first_line_may_be_either(tmp_path):
    edges, nodes = "source,target\nsource,p1\np1,target\n", "id,label\nsource,a\ntarget,b\np1,a\n"
    assert understood(tmp_path, edges, nodes, header="no")[1].edges.shape == (2, 3)
    reading, graph = understood(tmp_path, edges, nodes, header="yes")
    assert graph.edges.shape == (2, 2)
    assert (reading.ends, reading.header) == (("source", "target"), None)


def test_of_a_table_with_numbered_columns_header_is_heeded_whatever_its_words(tmp_path):
    """An id may be a usual word of a header, or the only text among numbers."""
    for first in ("target", "x"):
        nodes = f"{first},a\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(12))
        graph = understood(tmp_path, ring("{},{}"), nodes, header="no", id=1, label=2, ends=(1, 2))[1]
        assert sorted(graph.node_ids) == sorted([first, *map(str, range(12))])


def test_a_header_that_is_not_heeded_is_refused(tmp_path):
    with pytest.raises(GrandPlusError, match="--header is no, but 'source target' is a header"):
        understood(tmp_path, ring("{},{}", "source,target"), NODES, header="no")


def test_nodes_that_only_edges_name_have_no_label(tmp_path):
    _, graph = understood(
        tmp_path, ring("{},{}", "source,target"), "id,label\n" + "".join(f"{i},a\n" for i in range(8))
    )
    assert graph.labels.tolist() == [0] * 8 + [-1] * 4
    assert graph.account.ids is not None
    assert graph.account.ids == Ids(only_edges=4, only_nodes=0, both=8, examples=("8", "9", "10"))


def test_labels_without_ids_are_read_by_position(tmp_path):
    _, graph = understood(tmp_path, ring("{},{}"), "a\nb\n" * 6, id="none")
    assert graph.node_ids.tolist() == list(range(12))
    assert graph.labels.tolist() == [0, 1] * 6


def test_the_account_has_lines_and_columns(tmp_path):
    edges = "# mine\n" + ring("{k},{},{},2", ",u,v,weight")
    nodes = ",id,label,name,x\n" + "".join(f"{i},{i},{'ab'[i % 2]},n{i},0.5\n" for i in range(12)) + "# the end\n"
    reading, graph = understood(tmp_path, edges, nodes)
    assert reading.ignore == ["column 1", "name"]
    first, second = graph.account.files
    assert (first.read, first.kind, first.skipped) == (
        12,
        "edges",
        {"comments like '# mine'": 1, "header ',u,v,weight'": 1},
    )
    assert (second.read, second.kind) == (12, "nodes")
    assert sum(second.skipped.values()) == 2
    assert [text.partition(": ")[2] for text in graph.account.unused[:4]] == [
        "column 1 (an index)",
        "weight",
        "column 1 (an index)",
        "name (text)",
    ]


@pytest.mark.parametrize("index", ["id", None])
def test_the_index_of_a_data_frame(tmp_path, index):
    """It is the id if the edges name it, and else left out."""
    ids = [10 * i for i in range(12)]
    frame = pd.DataFrame({"label": ["a", "b"] * 6, "x": 0.5}, index=pd.Index(ids, name=index))
    if index is None:
        frame = frame.reset_index(names="key").set_index(pd.Index([*range(100, 111), 200]))
    frame.to_parquet(tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("".join(f"{ids[u]},{ids[v]}\n" for u, v in RING))
    reading = roles_of([tmp_path / "edges.csv", tmp_path / "nodes.parquet"], Reading())
    assert reading is not None
    assert reading.id == (index or "key")
    assert reading.ignore == ([] if index else ["__index_level_0__"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ages.csv", "id,age\n" + "".join(f"{i},{i * 5 % 7}\n" for i in range(12))),
        ("feat.csv", "id,f0\n" + "".join(f"{i},{i * 5 % 7}\n" for i in range(8))),
        ("years.csv", "id,when\n" + "".join(f"{i % 6},{i * 5 % 7}\n" for i in range(12))),
        ("folds.txt", "".join(f"{i},{i % 5}\n" for i in range(12))),
        ("ranks.txt", "".join(f"{i},{11 - i}\n" for i in range(12))),
    ],
)
def test_two_tables_of_nodes_are_no_graph(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (tmp_path / "labels.csv").write_text(LABELS)
    files = [tmp_path / "labels.csv", tmp_path / name]
    with pytest.raises(
        GrandPlusError, match=f"no table of edges: {name} has .* as labels.csv has; import the edges, too"
    ):
        roles_of(files, Reading())
    asked = roles_of(files, Reading(edges=name))
    assert asked is not None
    assert (asked.edges, asked.nodes) == (name, "labels.csv")


def test_a_table_with_names_of_ends_has_the_edges_whatever_its_file_is_called(tmp_path):
    (tmp_path / "nodes.csv").write_text(ring("{},{}", "source,target"))
    (tmp_path / "edges.csv").write_text(LABELS)
    with pytest.raises(GrandPlusError, match=r"edges.csv and nodes.csv look like tables of edges alike; name one"):
        roles_of([tmp_path / "edges.csv", tmp_path / "nodes.csv"], Reading())


PANDAS = "".join(f",{c}" for c in range(2)) + "\n" + ring("{k},{},{}")


@pytest.mark.parametrize(
    ("edges", "asked"),
    [
        (PANDAS, {}),
        (PANDAS, {"ends": (2, 3)}),
        (ring("{},{}", "0,1"), {"header": "yes"}),
        (ring("{},{}", "0,1"), {"header": "yes", "ends": (1, 2)}),
    ],
)
def test_the_header_that_pandas_writes_of_numbered_columns_is_no_edge(tmp_path, edges, asked):
    edges = edges.replace("0,0,1\n", "") if edges is PANDAS else edges.replace("0,1\n0,1\n", "0,1\n")
    graph = understood(tmp_path, edges, NODES, **asked)[1]
    assert sorted(map(tuple, graph.edges.T.tolist())) == sorted(set(RING) - {(0, 1)})


def test_a_node_table_of_numbered_columns_with_pandas_index(tmp_path):
    nodes = ",0,1,2\n" + "".join(f"{i},{i},{'ab'[i % 2]},{i}.5\n" for i in range(12))
    reading, graph = understood(tmp_path, ring("{},{}", "source,target"), nodes)
    assert (reading.id, reading.label, graph.nodes) == ("0", "1", 12)
    assert graph.features is not None
    assert graph.features[:, 0].tolist() == [i + 0.5 for i in range(12)]


def labelled(form: str) -> str:
    return "id,label\n" + "".join(f"{form.format(i)},{'ab'[i % 2]}\n" for i in range(12))


@pytest.mark.parametrize(
    ("ends", "ids", "words"),
    [
        ("{},{}", "{:02}", "names node '0', and nodes.csv has '00': one node, in two spellings (10 such ids)"),
        ("{:03},{:03}", "{}", "names node '000', and nodes.csv has '0'"),
        ("P{},p{}", "p{}", "names node 'P0', and nodes.csv has 'p0'"),
        ("\u00e9{},e\u0301{}", "e\u0301{}", r"names node '\xe90', and nodes.csv has 'e\u03010'"),
        ("\u200bp{},p{}", "p{}", r"names node '\u200bp0', and nodes.csv has 'p0'"),
        ("{},{}\n3.0,5", "{}", "names node '3.0', and nodes.csv has '3'"),
    ],
)
def test_a_node_in_two_spellings_is_refused(tmp_path, ends, ids, words):
    with pytest.raises(GrandPlusError) as error:
        understood(tmp_path, ring(ends, "source,target"), labelled(ids))
    assert words in str(error.value)


def test_without_a_node_table_both_ends_are_compared(tmp_path):
    (tmp_path / "edges.csv").write_text(ring("p{},P{}", "source,target"))
    source = Source(format="tables", read=Reading(edges="edges.csv", ends=("source", "target")))
    with pytest.raises(GrandPlusError, match="names node 'p0', and the other end of edges has 'P0'"):
        read_files(tmp_path, "tables", ["edges.csv"], source)


def test_nodes_that_differ_by_case_are_two_if_each_has_a_line(tmp_path):
    nodes = "id,label\n" + "".join(f"{p}{i},{'ab'[i % 2]}\n" for i in range(12) for p in "pP")
    assert understood(tmp_path, ring("P{},p{}", "source,target"), nodes)[1].nodes == 24


@pytest.mark.parametrize("form", ["{}.0,{}.0", "{}.000e+00,{}.", "{},{}.0"])
@pytest.mark.parametrize("ids", ["{}", "{}.0"])
def test_whole_numbers_that_are_written_as_floats_are_whole(tmp_path, form, ids):
    ten = [(u, v) for u, v in RING if max(u, v) < 10]
    edges = "source,target\n" + "".join(form.format(u, v) + "\n" for u, v in ten)
    graph = understood(tmp_path, edges, labelled(ids))[1]
    assert graph.node_ids.tolist() == list(range(12))
    assert sorted(map(tuple, graph.edges.T.tolist())) == ten


def test_savetxt_and_floats_of_parquet(tmp_path):
    edges = pd.DataFrame(RING, columns=["source", "target"]).astype(float)
    nodes = pd.DataFrame({"id": range(12), "label": list("ab") * 6, "x": [i / 2 for i in range(12)]})
    assert understood(tmp_path, ring("{:.18e},{:.18e}"), NODES)[0].ends == (1, 2)
    edges.to_parquet(tmp_path / "edges.parquet")
    nodes.astype({"id": float}).to_parquet(tmp_path / "nodes.parquet")
    files = [tmp_path / "edges.parquet", tmp_path / "nodes.parquet"]
    reading = roles_of(files, Reading())
    assert reading is not None
    names = [file.name for file in files]
    graph = read_files(tmp_path, "tables", names, Source(format="tables", read=reading))
    assert graph.node_ids.tolist() == list(range(12))
    assert sorted(map(tuple, graph.edges.T.tolist())) == sorted(RING)


def test_weights_that_are_whole_floats_are_no_ids(tmp_path):
    assert understood(tmp_path, ring("{},{},1.0"), NODES)[0].ends == (1, 2)


@pytest.mark.parametrize("name", ["index", "row", "idx", "row_number", "rownum", ""])
@pytest.mark.parametrize("first", [0, 1])
def test_a_counter_is_an_index_and_no_feature(tmp_path, name, first):
    shuffled = [(i * 5 + 3) % 12 for i in range(12)]
    lines = [f"{i},{'ab'[i % 2]},{k},{i}.5\n" for k, i in enumerate(shuffled, start=first)]
    reading, graph = understood(tmp_path, ring("{},{}"), f"id,label,{name},x\n" + "".join(lines))
    assert reading.ignore == [name or "column 3"]
    assert list(graph.account.unused) == [f"nodes.csv: {name or 'column 3'} (an index)"]
    assert graph.features is not None
    assert graph.features[:, 0].tolist() == [i + 0.5 for i in range(12)]


def test_a_counter_that_the_edges_name_is_the_id(tmp_path):
    nodes = "index,label,age\n" + "".join(f"{i},{'ab'[i % 2]},{20 - i // 2}\n" for i in range(12))
    reading, graph = understood(tmp_path, ring("{},{}"), nodes)
    assert (reading.id, graph.nodes) == ("index", 12)
    assert graph.features is not None
    assert graph.features[:, 0].tolist() == [20 - i // 2 for i in range(12)]


def test_a_column_without_a_name_that_does_not_count_is_a_feature(tmp_path):
    nodes = "id,label,,x\n" + "".join(f"{i},{'ab'[i % 2]},{i * i},{i}.5\n" for i in range(12))
    reading, graph = understood(tmp_path, ring("{},{}"), nodes)
    assert (reading.ignore, graph.feature_names) == ([], ["column 3", "x"])
    assert graph.features is not None
    assert graph.features[:, 0].tolist() == [i * i for i in range(12)]


def test_an_empty_last_column_is_called_empty(tmp_path):
    nodes = "id,label,x,\n" + "".join(f"{i},{'ab'[i % 2]},{i}.5,\n" for i in range(12))
    assert list(understood(tmp_path, ring("{},{}"), nodes)[1].account.unused) == ["nodes.csv: column 4 (empty)"]


def test_a_comment_with_the_name_that_an_option_says_is_the_header(tmp_path):
    nodes = "# made in May\n#id,kind,x\n" + "".join(f"{i},{'ab'[i % 2]},{i}.5\n" for i in range(12))
    edges = "# of mine\n#from,to\n" + ring("{},{}")
    reading, graph = understood(tmp_path, edges, nodes, label="kind", ends=("#from", "to"))
    assert (reading.id, reading.label, reading.ends) == ("#id", "kind", ("#from", "to"))
    assert (graph.nodes, graph.edges.shape, graph.feature_names) == (12, (2, 12), ["x"])
    assert [graph.classes[label] for label in graph.labels] == list("ab") * 6


def test_an_index_that_the_edges_name_by_chance_is_not_the_id(tmp_path):
    nodes = ",id,label\n" + "".join(f"{i},{i if i < 5 else 6},{'ab'[i % 2]}\n" for i in range(6))
    reading, graph = understood(tmp_path, "source,target\n0,5\n", nodes)
    assert (reading.id, graph.node_ids.tolist()) == ("id", [0, 1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"edges": "a.csv", "nodes": "a.csv"}, "--edges and --nodes are both a.csv; expected two tables"),
        ({"edges": "b.csv", "nodes": "a.csv"}, "b.csv: has the columns id, label, and a.csv has source, target"),
    ],
)
def test_options_that_name_the_wrong_tables_are_refused(tmp_path, asked, words):
    (tmp_path / "a.csv").write_text(ring("{},{}", "source,target"))
    (tmp_path / "b.csv").write_text(LABELS)
    with pytest.raises(GrandPlusError) as error:
        roles_of([tmp_path / "a.csv", tmp_path / "b.csv"], Reading(**asked))
    assert words in str(error.value)
