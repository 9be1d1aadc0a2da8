"""Which columns of a node table hold ids and classes, where several may, and how that is said."""

from __future__ import annotations

import numpy as np
import pytest
from own import EDGES, LABELS, NODES, edges_csv, imported

from grandplus.datasets.tables.table import Table


def nodes_of(header: str, *columns: list[object], extra: str = "") -> bytes:
    rows = [",".join(map(str, row)) for row in zip(range(NODES), *columns, strict=True)]
    return ("\n".join([*([header] if header else []), *rows, ""]) + extra).encode()


HEIGHTS = [node * 5 % 12 for node in range(NODES)]  # all different, and among the ids
WIDTHS = [node * 3 % 7 for node in range(NODES)]


@pytest.mark.parametrize(("header", "first"), [("", 4), ("id,label,height,width", 5)])
@pytest.mark.parametrize("extra", ["3,b,3,2\n", "3,a,12,5\n"], ids=["again", "other"])
def test_a_repeated_id_is_named(tmp_path, monkeypatch, capsys, checkout, header, first, extra):
    nodes = nodes_of(header, LABELS, HEIGHTS, WIDTHS, extra=extra)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes)
    assert code == 2
    assert f"line {first + 9} has the id 3 of line {first}; expected one line a node" in out


@pytest.mark.parametrize("extra", [[], [WIDTHS]], ids=["two columns", "a feature, too"])
def test_two_columns_of_classes_are_refused(tmp_path, monkeypatch, capsys, checkout, extra):
    nodes = nodes_of("id,label,class" + ",width" * len(extra), LABELS, ["x", "y", "z"] * 4, *extra)
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes, "--features", "degree"
    code, out = imported(*given)
    assert code == 2
    assert "may have the classes in column label or class" in out
    assert "--label" in out
    for chosen in (["--label", "class"], ["--ignore", "label"]):
        code, out = imported(*given, *chosen, "--replace")
        assert code == 0
        assert "classes   3: x (4), y (4), z (4)" in out


@pytest.mark.parametrize("other", [LABELS, ["A", "B"] * 6, [0, 1] * 6], ids=["equal", "text", "numbers"])
def test_a_column_that_renames_the_classes_is_left_out(tmp_path, monkeypatch, capsys, checkout, other):
    nodes = nodes_of("id,label,class,width", LABELS, other, WIDTHS)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes)
    assert code == 0
    assert "label: label, ignore: [class]" in out
    assert "unused    nodes.csv: class" in out
    assert "features  1, dense" in out


@pytest.mark.parametrize("other", [["Paper"] * NODES, [f"Name {node}" for node in range(NODES)]], ids=["one", "names"])
def test_one_value_and_names_are_no_classes(tmp_path, monkeypatch, capsys, checkout, other):
    """As in tables of Neo4j and Gephi."""
    nodes = nodes_of("id,label,class,width", other, LABELS, WIDTHS)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes)
    assert code == 0
    assert "label: class, ignore: [label]" in out


def test_strict_refuses_ids_that_only_edges_name(tmp_path, monkeypatch, capsys, checkout):
    nodes = nodes_of("id,label", LABELS)
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv("3,99\n4,98\n"), nodes, "--features", "degree"
    code, out = imported(*given)
    assert code == 0
    assert "2 in edges only" in out
    code, out = imported(*given, "--replace", "--strict")
    assert code == 2
    assert "left out or merged: 2 ids that only edges name (99, 98)" in out


def test_an_unknown_id_is_told_with_the_nearest(tmp_path, monkeypatch, capsys, checkout):
    edges = edges_csv(edges=[(f"p{u}", f"p{v}") for u, v in EDGES], extra="p3,p111\n")
    nodes = nodes_of("id,label,width", LABELS, WIDTHS).replace(b"\n", b"\np").removesuffix(b"p")
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes)
    assert code == 2
    assert "line 14 names node 'p111'; expected an id of nodes.csv; add the node or drop the edge (the nearest" in out
    assert "p11" in out.partition("(the nearest")[2]
    assert "--header" not in out


@pytest.mark.parametrize("late", [False, True])
def test_a_byte_that_is_no_utf_8(tmp_path, monkeypatch, capsys, checkout, late):
    lines = [b"id,label"] + [b"%d,%s" % (node, b"ab"[node % 2 :][:1]) for node in range(400)]
    lines[390 if late else 2] += "é".encode("latin1")
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges_csv(), b"\n".join(lines))
    assert code == 2
    assert f"line {391 if late else 3} has the byte 0xE9 after " in out
    assert "if the byte is 'é'" in out
    assert "iconv -f WINDOWS-1252 -t UTF-8 nodes.csv > utf8-nodes.csv" in out


@pytest.mark.parametrize("spell", ["p{}".format, "1{:02}".format], ids=["text", "numbers"])
@pytest.mark.parametrize("header", ["id,label", "0,1"])
@pytest.mark.parametrize("labels", [LABELS, [0, 1] * 6], ids=["words", "classes"])
def test_positions_are_a_header(tmp_path, monkeypatch, capsys, checkout, spell, header, labels):
    """As pandas writes a frame whose columns have no names."""
    edges = "0,1\n" + "".join(f"{spell(u)},{spell(v)}\n" for u, v in EDGES)
    nodes = header + "\n" + "".join(f"{spell(node)},{labels[node]}\n" for node in range(NODES))
    given = tmp_path, monkeypatch, capsys, checkout, edges.encode(), nodes.encode(), "--features", "degree"
    code, out = imported(*given)
    assert code == 0
    assert "nodes     12, from " in out
    assert "edges     12, of 12 entries" in out
    assert "12 in both edges and nodes, 0 in edges only" in out


def test_an_edge_of_nodes_0_and_1_is_data(tmp_path, monkeypatch, capsys, checkout):
    edges = "".join(f"{u},{v}\n" for u, v in [(0, 1), *((node, node + 1) for node in range(2, NODES - 1))])
    given = tmp_path, monkeypatch, capsys, checkout, edges.encode()
    code, out = imported(*given, nodes_of("id,label", LABELS), "--features", "degree")
    assert code == 0
    assert "edges     10, of 10 entries" in out
    rest = nodes_of("id,label", LABELS).replace(b"\n0,a\n1,b\n", b"\n")  # of 2, 3, …: 0 and 1 may be nodes, too
    code, out = imported(*given, rest, "--features", "degree", "--replace")
    assert code == 2
    assert "say --header yes or --header no" in out


@pytest.mark.parametrize(("labels", "noted"), [([0] * 8 + [1, 2] * 2, True), ([0, 1, 2] * 4, False)])
def test_a_class_0_of_most_nodes_may_be_unknown(tmp_path, monkeypatch, capsys, checkout, labels, noted):
    few = ["--features", "degree", "--train-per-class", "1", "--val-per-class", "1"]
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes_of("id,label", labels), *few
    code, out = imported(*given)
    assert code == 0
    assert ("note      class 0 has 67% of the labelled nodes" in out) == noted
    code, out = imported(*given, "--na", "0", "--replace")
    assert code == 0
    assert "note " not in out


@pytest.mark.parametrize("width", [10, 400])
def test_a_table_of_marks_is_read_a_few_times_however_wide(tmp_path, monkeypatch, capsys, checkout, width):
    """Columns of 0 and 1 could be ids of the edges, each of them; none is read by itself."""
    passes, pieces = [], Table.pieces

    def counted(table, columns):
        passes.append(table.file.name)
        return pieces(table, columns)

    monkeypatch.setattr(Table, "pieces", counted)
    marks = np.random.default_rng(0).integers(0, 2, (width, NODES)).tolist()
    header = ",".join(["id", "label", *(f"f{column}" for column in range(width))])
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes_of(header, LABELS, *marks))
    assert code == 0
    assert f"features  {width}, dense" in out
    assert len(passes) < 20


@pytest.mark.parametrize("name", ["row_nr", "X", "...1", "Obs", "OBJECTID", "nr", "No.", "pk", "grösse"])
@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("write", [str, "{}.0".format], ids=["whole", "floats"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 2, 3, 0]], ids=["first", "last"])
def test_a_counter_of_lines_is_no_feature(tmp_path, monkeypatch, capsys, checkout, name, start, write, order):
    rows = [["p" + str(node * 5 % NODES), LABELS[node], WIDTHS[node]] for node in range(NODES)]
    rows = [[write(node + start), *row] for node, row in enumerate(rows)]
    table = [[name, "id", "label", "width"], *rows]
    nodes = "\n".join(",".join(str(row[place]) for place in order) for row in table)
    edges = edges_csv(edges=[(f"p{u}", f"p{v}") for u, v in EDGES])
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes)
    assert code == 0, out
    assert "features  1, dense" in out
    assert f"nodes.csv: {name} (an index)" in out


@pytest.mark.parametrize("change", [{11: 10}, {0: 2}, {3: 4, 4: 3}], ids=["repeats", "begins later", "another order"])
def test_what_does_not_count_the_lines_is_a_feature(tmp_path, monkeypatch, capsys, checkout, change):
    numbers = [change.get(node, node) for node in range(NODES)]
    edges = edges_csv(edges=[(f"p{u}", f"p{v}") for u, v in EDGES])
    nodes = nodes_of("id,label,x,width", LABELS, numbers, WIDTHS).replace(b"\n", b"\np").removesuffix(b"p")
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes)
    assert (code, "features  2, dense" in out) == (0, True), out


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("é", "e\u0301"), ("a", "a\u200b"), ("New York", "New  York"), ("New York", "New\u00a0York"), ("a", "A"),
        ("1", "01"), ("1e3", "1000"), ("1.0e3", "1000.0"), ("Null ", "NULL"), ("nA", "NA"),
    ],
)  # fmt: skip
def test_one_class_in_two_spellings_is_refused(tmp_path, monkeypatch, capsys, checkout, first, second):
    names = [first, second, "5", "5"] * 3
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv()
    code, out = imported(*given, nodes_of("id,label", names), "--features", "degree")
    assert code == 2, out
    shown = " ".join(f"{first.strip()!a} and {second!a}".split())  # an error is one line without runs of spaces
    assert f"column label: holds {shown}: one class, in two spellings (by case, spaces, zeros or form); write" in out


@pytest.mark.parametrize(
    ("first", "second", "classes"),
    [("1", "1.0", "1 (6), 5 (6)"), ("True", "TRUE", "5 (6), True (6)"), ("1e3", "1.000e+03", "5 (6), 1000 (6)")],
)
def test_usual_forms_of_one_class_are_one(tmp_path, monkeypatch, capsys, checkout, first, second, classes):
    names = [first, second, "5", "5"] * 3
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv()
    code, out = imported(*given, nodes_of("id,label", names), "--features", "degree")
    assert (code, f"classes   2: {classes}" in out) == (0, True), out


CODES = {
    "addresses": "192.168.100.{}".format,
    "phones": "555 123 {}".format,
    "lists": lambda number: " ".join(["100", "200", str(number)][: 1 + number % 3]),
    "commas": '"100,200,{}"'.format,
}


@pytest.mark.parametrize("kind", CODES)
def test_codes_in_groups_of_digits_are_no_numbers(tmp_path, monkeypatch, capsys, checkout, kind):
    codes = [CODES[kind](101 + node * 5) for node in range(NODES)]
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes_of("id,label,code,width", LABELS, codes, WIDTHS)
    code, out = imported(*given)
    assert code == 2, out
    assert "column code: holds" in out
    assert "which may be a code, a list or a number" in out
    code, out = imported(*given, "--ignore", "code")
    assert (code, "features  1, dense" in out) == (0, True), out
    code, out = imported(*given, "--decimal", "," if kind == "addresses" else ".", "--replace")
    assert (code, "features  2, dense" in out) == (0, True), out


@pytest.mark.parametrize("mark", [",", ".", " "])
def test_thousands_whose_groups_differ_are_numbers(tmp_path, monkeypatch, capsys, checkout, mark):
    numbers = [f'"{7 ** (node + 1) * 3:,}"'.replace(",", mark) for node in range(NODES)]
    nodes = nodes_of("id,label,people,width", LABELS, numbers, WIDTHS)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes)
    assert (code, "features  2, dense" in out) == (0, True), out


def test_minus_one_may_be_a_class(tmp_path, monkeypatch, capsys, checkout):
    nodes = nodes_of("id,label", [-1, 1] * 6)
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes, "--features", "degree"
    code, out = imported(*given)
    assert code == 2
    assert "every labelled node is of class 1, and 6 nodes called -1 were taken for unknown" in out
    assert 'if that is a class, say --na ""' in out
    code, out = imported(*given, "--na", "")
    assert code == 0
    assert "classes   2: -1 (6), 1 (6)" in out


@pytest.mark.parametrize(
    ("word", "nodes", "noted"), [("none", 4, True), ("NA", 4, True), ("-1", 4, True), ("none", 2, False)]
)
def test_many_unknown_labels_may_be_a_class(tmp_path, monkeypatch, capsys, checkout, word, nodes, noted):
    table = nodes_of("id,label", [word] * nodes + ["mild", "severe"] * ((NODES - nodes) // 2))
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv(), table, "--features", "degree"
    code, out = imported(*given)
    assert code == 0
    assert (f"note      {nodes} nodes called {word} were taken for unknown" in out) == noted
    code, out = imported(*given, "--na", "", "--replace", "--shortage", "shrink")
    assert code == 0
    assert "note " not in out
    assert "classes   3: " in out
