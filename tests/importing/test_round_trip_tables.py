"""A graph that is written as tables in any dialect comes back as the same graph, or is refused; never another one."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import assume, event, given, note, settings
from hypothesis import strategies as st
from random_graphs import PLAIN_IDS, RandomGraph, random_graphs, same_graph

from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.importing.recognise import check_files, recognise
from grandplus.runtime.errors import GrandPlusError

KNOWN_ENDS = [
    ("source", "target"),
    ("src_id", "dst_id"),
    ("from", "to"),
    ("citing", "cited"),
    ("u", "v"),
    ("id_1", "id_2"),
]
ENDS = [*KNOWN_ENDS, ("from_person", "to_person"), ("a", "b"), ("start", "end"), ("x", "y")]
EXTRA = {
    "weight": "1 2 3",
    "value": "0.5 2",
    "timestamp": "1290000000 1290000001 7",
    "time": "0 1 2",
    "kind": "a b",
    "c": "1 2",
}
FEATURES = ["height", "size", "f3"]
UNKNOWN = ["", "NA", "?", "None"]


def zstd(content: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return out.getvalue().to_pybytes()


COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}


@dataclass
class Written:
    """The rows of one table, as a program writes them."""

    names: list[str]
    rows: list[list[str]]
    header: bool
    delimiter: str = ","
    quoting: int = csv.QUOTE_MINIMAL
    comments: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)  # comments after the first row
    encoding: str = "utf-8"
    ends: str = "\n"
    compression: str = ""

    def shuffled(self, order: list[int]) -> None:
        self.names = [self.names[column] for column in order]
        self.rows = [[row[column] for column in order] for row in self.rows]

    def content(self) -> bytes:
        out = io.StringIO()
        rows = [self.names, *self.rows] if self.header else self.rows
        if self.delimiter == " ":
            lines = [" ".join(row) for row in rows]
        else:
            csv.writer(out, delimiter=self.delimiter, quoting=self.quoting, lineterminator="\n").writerows(rows)
            lines = out.getvalue().splitlines()
        lines = [*self.comments, *lines[:2], *self.below, *lines[2:]]
        text = self.ends.join([*lines, ""])
        return COMPRESSIONS[self.compression](text.encode(self.encoding))


@st.composite
def dialects(draw: st.DrawFn, table: Written) -> None:
    """Choose all that makes no difference."""
    table.delimiter = draw(st.sampled_from(",\t;| "))
    fields = [text for row in [table.names, *table.rows] for text in row]
    if table.delimiter == " ":
        assume(all(text and not set(text) & set(' "') for text in fields))
    table.quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    comments = ["# a graph of mine", "% made by hand", "#from to", "# a,b", "#", "#0\t1", "## x,y,z"]
    table.comments = draw(st.lists(st.sampled_from(comments), max_size=2))
    table.below = draw(st.lists(st.sampled_from(["# a comment of five words", "%"]), max_size=1))
    table.encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    table.ends = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    table.compression = draw(st.sampled_from(list(COMPRESSIONS)))


@st.composite
def edge_tables(draw: st.DrawFn, graph: RandomGraph, *, known: bool) -> tuple[Written, bool]:
    """Edges, and whether there are further columns than ends and an index."""
    header = known or draw(st.booleans())
    table = Written(
        list(draw(st.sampled_from(KNOWN_ENDS if known else ENDS))), [list(edge) for edge in graph.named], header
    )
    extra = draw(st.lists(st.sampled_from(list(EXTRA)), max_size=2, unique=True))
    for name in extra:
        values = EXTRA[name].split()
        table.names.append(name)
        table.rows = [[*row, values[number % len(values)]] for number, row in enumerate(table.rows)]
    table.shuffled(draw(st.permutations(range(len(table.names)))))
    if draw(st.booleans()):
        table.names.insert(0, draw(st.sampled_from(["", "Unnamed: 0", "__index_level_0__"])))
        table.rows = [[str(number), *row] for number, row in enumerate(table.rows)]
    return table, bool(extra)


@st.composite
def node_tables(draw: st.DrawFn, graph: RandomGraph, *, known: bool) -> Written:
    header = known or draw(st.booleans())
    label = draw(st.sampled_from(["label", "class"] if known else ["label", "topic", "y", "kind"]))
    ident = draw(st.sampled_from(["id", "node", "paper_id"] if known else ["id", "paper", "key", "x"]))
    unknown = draw(st.sampled_from(UNKNOWN))
    rows = [[name, unknown if of is None else of] for name, of in zip(graph.ids, graph.labels, strict=True)]
    table = Written([ident, label], rows, header)
    if graph.features is None:
        named = {name for edge in graph.named for name in edge}
        outside = [row for row in rows if row[1] == unknown and row[0] in named]
        inside = [row for row in rows if row not in outside]
        if outside and any(row[0] in named for row in inside) and draw(st.booleans()):
            table.rows = inside  # the others are nodes that only edges name
    else:
        whole = draw(st.booleans()) and not (graph.features % 1).any()
        for column in range(graph.features.shape[1]):
            table.names.append(FEATURES[column])
            values = graph.features[:, column]
            text = [str(int(value)) if whole else str(value) for value in values]
            table.rows = [[*row, value] for row, value in zip(table.rows, text, strict=True)]
    table.shuffled(draw(st.permutations(range(len(table.names)))))
    if draw(st.booleans()):
        table.names.insert(0, draw(st.sampled_from(["", "Unnamed: 0"])))
        table.rows = [[str(number), *row] for number, row in enumerate(table.rows)]
    return table


def with_columns_as_in(graph: RandomGraph, nodes: Written) -> RandomGraph:
    """The graph with its features in the order of the table's columns."""
    order = [FEATURES.index(name) for name in nodes.names if name in FEATURES]
    return graph if graph.features is None else replace(graph, features=graph.features[:, order])


def read(files: dict[str, bytes], **asked: Any) -> RawGraph:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        paths = [Path(folder) / name for name in files]
        check_files(paths)
        form, how = recognise(paths, Reading(**asked))
        return read_files(Path(folder), form, sorted(files), Source(format=form, read=how))


def files_of(edges: Written, nodes: Written) -> dict[str, bytes]:
    return {f"edges.csv{edges.compression}": edges.content(), f"nodes.csv{nodes.compression}": nodes.content()}


def first_line_is_a_header(graph: RandomGraph, nodes: Written) -> bool:
    """By the rule: no edge names it, and it has a class that no other node has."""
    first = next(name for name in nodes.rows[0] if name in graph.ids)
    label = graph.labels[graph.ids.index(first)]
    return first not in {name for edge in graph.named for name in edge} and graph.labels.count(label) == 1


@settings(max_examples=100)
@given(data=st.data())
def test_the_same_graph_or_a_refusal(data):
    graph = data.draw(random_graphs())
    edges, further = data.draw(edge_tables(graph, known=False))
    nodes = data.draw(node_tables(graph, known=False))
    for table in (edges, nodes):
        data.draw(dialects(table))
        note(f"{table}")
    asked: dict[str, Any] = {"weights": "ignore"} if further else {}
    label = next(column for column, name in enumerate(nodes.names) if name in ("label", "topic", "y", "kind"))
    if data.draw(st.booleans()):
        asked["label"] = nodes.names[label] if nodes.header else label + 1
    assume(nodes.header or not first_line_is_a_header(graph, nodes))
    # A first line of ids is data, by the rule, also where they are names of columns.
    assume(not (nodes.header and set(nodes.names) & set(graph.ids)))
    assume(not (edges.header and set(edges.names) <= set(graph.ids)))
    try:
        raw = read(files_of(edges, nodes), **asked)
    except GrandPlusError:
        event("refused")
        return
    event("read")
    assume(not raw.account.dropped)
    same_graph(with_columns_as_in(graph, nodes), raw)


DOUBTS = ("in two spellings", "may be a missing value", "expected a whole number")  # of ids that only edges name


@settings(max_examples=40)
@given(data=st.data())
def test_usual_names_are_understood(data):
    """Whatever else the dialect is, and whatever the ids are, except words that are names of columns."""
    graph = data.draw(random_graphs([kind for kind in PLAIN_IDS if kind != "words of headers"]))
    edges, further = data.draw(edge_tables(graph, known=True))
    nodes = data.draw(node_tables(graph, known=True))
    for table in (edges, nodes):
        data.draw(dialects(table))
        note(f"{table}")
    try:
        raw = read(files_of(edges, nodes), **({"weights": "ignore"} if further else {}))
    except GrandPlusError as error:
        assume(not any(words in str(error) for words in DOUBTS))  # as Bob, without a label, and bob
        raise
    assume(not raw.account.dropped)  # NA, without a label, beside numbers
    same_graph(with_columns_as_in(graph, nodes), raw)
