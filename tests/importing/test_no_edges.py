"""Lines of an edge table that are no edges are left out and counted, or refused if they may be some."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from own import NODES, edges_csv, imported

HEAD = "id,label,height\n"
NUMBERS = HEAD + "".join(f"{i},{'ab'[i % 2]},{i * 3 % 7}\n" for i in range(NODES))
TEXTS = HEAD + "".join(f"p{i},{'ab'[i % 2]},{i * 3 % 7}\n" for i in range(NODES))
RING = [(i, (i + 1) % NODES) for i in range(NODES)]
RING_OF_TEXTS = "source,target\n" + "".join(f"p{u},p{v}\n" for u, v in RING)


@pytest.mark.parametrize("end", ["NA", "nan", "NaN", "", "-1", "NULL", "None", "\\N", ".", "-1.0", "<NA>"])
def test_a_missing_end_is_no_edge(tmp_path, monkeypatch, capsys, checkout, end):
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv(f"3,{end}\n").decode(), NUMBERS
    code, out = imported(*given)
    assert code == 0
    assert "nodes     12, from 0 to 11" in out
    assert "edges     12, of 12 entries" in out
    assert "dropped   1 line of edges.txt that is no edge (line 14 has " in out
    code, out = imported(*given, "--replace", "--strict")
    assert code == 2
    assert "left out or merged: 1 line of edges.txt that is no edge" in out


def test_whole_numbers_beside_a_missing_end_may_be_floats(tmp_path, monkeypatch, capsys, checkout):
    edges = "source,target\n" + "".join(f"{u}.0,{v}.0\n" for u, v in RING) + "3.0,\n,4.0\n"
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, NUMBERS)
    assert code == 0
    assert "nodes     12, from 0 to 11" in out
    assert "2 lines of edges.txt that are no edges" in out


def test_errors_below_such_a_line_name_the_right_one(tmp_path, monkeypatch, capsys, checkout):
    edges = edges_csv("NA,1\n3,99\n").decode()
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, NUMBERS)
    assert code == 2
    assert "line 15 names node 99; expected an id of nodes.csv; add the node" in out
    assert "the nearest are 11, 10, 9" in out
    assert "--header" not in out


def test_other_negative_ids_make_minus_one_an_id(tmp_path, monkeypatch, capsys, checkout):
    nodes = NUMBERS.replace("height\n", "name\n").replace(",0\n", ",x\n")
    for old in "123456":
        nodes = nodes.replace(f",{old}\n", ",x\n")
    edges = edges_csv("-1,3\n-2,4\n").decode()
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--features", "degree")
    assert code == 0
    assert "nodes     14, from -2 to 11" in out
    assert "dropped" not in out


def test_a_word_that_the_node_table_has_is_an_id(tmp_path, monkeypatch, capsys, checkout):
    given = tmp_path, monkeypatch, capsys, checkout, RING_OF_TEXTS + "p3,NA\n"
    code, out = imported(*given, TEXTS + "NA,a,5\n")
    assert code == 0
    assert "nodes     13, from NA to p9" in out
    assert "edges     13, of 13 entries" in out
    code, out = imported(*given, TEXTS, "--replace")
    assert code == 2
    assert "line 14 names node 'NA', which may be a missing value" in out
    assert "add the node" in out


def test_an_empty_end_is_never_an_id(tmp_path, monkeypatch, capsys, checkout):
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, RING_OF_TEXTS + "p3,\n", TEXTS)
    assert code == 0
    assert "nodes     12, from p0 to p9" in out
    assert "line 14 has no id at an end" in out


@pytest.mark.parametrize(("edges", "nodes"), [(edges_csv().decode(), NUMBERS), (RING_OF_TEXTS, TEXTS)])
def test_a_total_is_refused_by_its_name(tmp_path, monkeypatch, capsys, checkout, edges, nodes):
    nodes = "".join(line.rpartition(",")[0] + "\n" for line in nodes.splitlines())  # so that edges may name others
    given = tmp_path, monkeypatch, capsys, checkout, edges + "Total,12\n", nodes, "--features", "degree"
    code, out = imported(*given)
    assert code == 2
    assert "line 14 names node 'Total'" in out
    assert "take the line out" in out


def test_a_header_that_comes_again_is_no_edge(tmp_path, monkeypatch, capsys, checkout):
    edges = RING_OF_TEXTS + "source,target\np1,p5\n"
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, TEXTS, "--header", "yes")
    assert code == 0
    assert "edges     13, of 13 entries" in out
    assert "line 14 has 'source' at an end" in out


def test_an_edge_between_nodes_that_are_called_as_columns(tmp_path, monkeypatch, capsys, checkout):
    edges = "0,1\n" + "".join(f"{u},{v}\n" for u, v in RING)
    nodes = "0,1,2\n" + NUMBERS.removeprefix(HEAD)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--header", "yes")
    assert code == 0
    assert "edges     12, of 12 entries" in out


ROWS = [f"{u},{v}" for u, v in RING]
PRINTED = {  # by the program
    "psql": [" src | dst", "-----+-----", *(f" {u:3} | {v:3}" for u, v in RING), "(12 rows)", ""],
    "mysql": ["+---+---+", "|src|dst|", "+---+---+", *(f"|{u}|{v}|" for u, v in RING), "+---+---+", "12 rows in set"],
    "sqlcmd": ["src    dst", "------ ------", *(f"{u:6} {v:6}" for u, v in RING), "", "(12 rows affected)"],
    "sqlplus": ["", "   SRC    DST", "------ ------", *(f"{u:6} {v:6}" for u, v in RING), "12 rows selected."],
    "markdown": ["| src | dst |", "|-----|----:|", *(f"| {u} | {v} |" for u, v in RING)],
    "ruler": ["src,dst", "----,----", *ROWS],
    "equals": ["src\tdst", "====\t====", *(f"{u}\t{v}" for u, v in RING)],
    "comment": ["src,dst", *ROWS, "-- 12 rows"],
    "footer": ["src,dst", *ROWS, "", "(12 rows)", ""],
}  # fmt: skip


@pytest.mark.parametrize("program", PRINTED)
def test_what_is_printed_around_a_table_is_counted(tmp_path, monkeypatch, capsys, checkout, program):
    edges = "\n".join([*PRINTED[program], ""])
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, NUMBERS)
    assert code == 0
    assert "nodes     12, from 0 to 11" in out
    assert "edges     12, of 12 entries" in out
    assert "rulers and footers like " in out
    assert "12 in both edges and nodes, 0 in edges only" in out


def test_printed_node_tables_and_lists_of_labels(tmp_path, monkeypatch, capsys, checkout):
    nodes = " id | label\n----+-------\n" + "".join(f" {i:2} | {'ab'[i % 2]}\n" for i in range(NODES)) + "(12 rows)\n"
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv().decode()
    code, out = imported(*given, nodes, "--features", "degree")
    assert code == 0
    assert "nodes     12, from 0 to 11" in out
    assert "classes   2: a (6), b (6)" in out
    labels = " label\n-------\n" + "".join(f" {'ab'[i % 2]}\n" for i in range(NODES)) + "(12 rows)\n"
    code, out = imported(*given, labels, "--features", "degree", "--id", "none", "--replace")
    assert code == 0
    assert "nodes     12, from 0 to 11" in out
    assert "classes   2: a (6), b (6)" in out


def test_dashes_are_an_unknown_label_of_the_last_node(tmp_path, monkeypatch, capsys, checkout):
    labels = "label\n" + "a\nb\n" * 5 + "a\n--\n"
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv().decode(), labels
    code, out = imported(*given, "--features", "degree", "--id", "none")
    assert code == 0
    assert "nodes     12, from 0 to 11" in out
    assert "1 are called --" in out


TITLES = {
    "empty line": "Export of friendships\n\n",
    "Excel": "Export of friendships,\nof today,\n,\n",
    "one word": "Friendships\n\n",
}


@pytest.mark.parametrize("title", TITLES)
def test_a_title_above_the_table_is_counted(tmp_path, monkeypatch, capsys, checkout, title):
    edges = TITLES[title] + edges_csv().decode()
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, NUMBERS)
    assert code == 0
    assert "edges     12, of 12 entries" in out
    assert "beside comments like " in out


def test_a_node_without_a_label_above_an_empty_line_is_no_title(tmp_path, monkeypatch, capsys, checkout):
    nodes = "0,\n\n1,\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(2, NODES))
    given = tmp_path, monkeypatch, capsys, checkout, edges_csv().decode(), nodes
    code, out = imported(*given, "--features", "degree")
    assert code == 0
    assert "nodes.csv: 12 nodes" in out
    assert "classes   2: a (5), b (5)" in out


def test_a_title_that_nothing_parts_from_the_table_is_refused(tmp_path, monkeypatch, capsys, checkout):
    edges = "Export of friendships\n" + edges_csv().decode()
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, NUMBERS)
    assert code == 2
    assert "begins with 'Export of friendships'" in out
    assert "take it out if it is a title" in out


@pytest.mark.parametrize("line", ["Total,,30", "NA,a,5"])
def test_an_id_of_text_beside_edges_of_numbers_is_refused(tmp_path, monkeypatch, capsys, checkout, line):
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges_csv().decode(), f"{NUMBERS}{line}\n")
    assert code == 2
    assert f"line 14 names node '{line.partition(',')[0]}'; expected an id of edges.txt" in out


def test_numbers_of_nodes_and_lines_are_no_edge(tmp_path, monkeypatch, capsys, checkout):
    """As METIS begins a file."""
    edges = "12 12\n" + "".join(f"{u + 1} {v + 1}\n" for u, v in RING)
    nodes = "id,label\n" + "".join(f"{node + 1},{'ab'[node % 2]}\n" for node in range(NODES))
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--features", "degree")
    assert code == 2
    assert "begins with '12 12'" in out
    assert "say --header yes or --header no" in out


def test_a_matrix_by_another_name_is_refused(tmp_path, monkeypatch, capsys, checkout):
    edges = "%%MatrixMarket matrix coordinate pattern symmetric\n12 12 12\n" + edges_csv().decode().partition("\n")[2]
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, NUMBERS)
    assert code == 2
    assert "is a matrix of MatrixMarket; give it a name that ends with .mtx" in out


NAMES = ["Ann", "Bea", "Cy", "Dan", "Eve", "Flo", "Gus", "Hal", "Ida", "Joe", "Kim", "Lea"]


def named_ring(spell: Callable[[int], str]) -> tuple[str, str]:
    """A ring's edges without a header, and a table of labels."""
    edges = "".join(f"{spell(u)}\t{spell(v)}\n" for u, v in RING)
    return edges, "id,label\n" + "".join(f"{spell(node)},{'ab'[node % 2]}\n" for node in range(NODES))


@pytest.mark.parametrize(
    ("first", "spell"),
    [("Zoe\tMax", NAMES.__getitem__), ("p98\tp99", "p{}".format), ("Zoe Ray\tMax Ray", lambda i: f"{NAMES[i]} Ray")],
)
def test_an_edge_of_unknown_nodes_above_known_ones_is_no_header(tmp_path, monkeypatch, capsys, checkout, first, spell):
    edges, nodes = named_ring(spell)
    given = tmp_path, monkeypatch, capsys, checkout, f"{first}\n{edges}", nodes, "--features", "degree"
    code, out = imported(*given)
    assert code == 2
    assert "names no node of nodes.csv, and may be a header or data; say --header yes or --header no" in out
    code, out = imported(*given, "--header", "yes")
    assert code == 0
    assert "edges     12, of 12 entries" in out
    code, out = imported(*given, "--header", "no", "--id", "id", "--replace")
    assert code == 0
    assert "nodes     14, from " in out
    assert "edges     13, of 13 entries" in out


@pytest.mark.parametrize(
    ("first", "spell"),
    [("source\ttarget", NAMES.__getitem__), ("one\tother", "p{}".format), ("Person\tName", NAMES.__getitem__)],
)
def test_usual_words_and_words_above_ids_with_digits_are_a_header(
    tmp_path, monkeypatch, capsys, checkout, first, spell
):
    edges, nodes = named_ring(spell)
    given = tmp_path, monkeypatch, capsys, checkout, f"{first}\n{edges}", nodes, "--features", "degree"
    code, out = imported(*given)
    assert code == 0
    assert "nodes     12, from " in out
    assert "edges     12, of 12 entries" in out
