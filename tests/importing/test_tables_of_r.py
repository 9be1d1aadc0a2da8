"""Tables as R writes them: names of rows, of which the header has none, and quotation marks."""

from __future__ import annotations

import pytest
from own import NODES, imported

DEGREE = ["--features", "degree"]
RING = [(i, (i + 1) % NODES) for i in range(NODES)]
LABELS = ["a", "b"] * (NODES // 2)


def table(header: list[str], rows: list[list[object]], mark: str, *, names: list[str] | None = None) -> str:
    """As write.table: text is in quotation marks, and rows have names."""
    names = names or [str(number) for number in range(1, len(rows) + 1)]
    lines = [mark.join(f'"{name}"' for name in header)]
    for name, row in zip(names, rows, strict=True):
        lines.append(mark.join([f'"{name}"', *(f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row)]))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("mark", [" ", "\t"])
@pytest.mark.parametrize("spell", [int, "p{}".format, "p {}".format], ids=["number", "text", "blank"])
@pytest.mark.parametrize("header", [["src", "dst", "id", "label"], ["V1", "V2", "V1", "V2"]], ids=["named", "unnamed"])
def test_names_of_rows(tmp_path, monkeypatch, capsys, checkout, mark, spell, header):
    edges = table(header[:2], [[spell(u), spell(v)] for u, v in RING], mark)
    nodes = table(header[2:], [[spell(node), LABELS[node]] for node in range(NODES)], mark)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, *DEGREE)
    assert code == 0
    assert "nodes     12, " in out
    assert "edges     12, of 12 entries" in out
    assert "classes   2: a (6), b (6)" in out
    assert "edges.txt: column 1 (an index), nodes.csv: column 1 (an index)" in out


def test_names_of_rows_may_be_the_ids(tmp_path, monkeypatch, capsys, checkout):
    names = [f"p{node}" for node in range(NODES)]
    edges = table(["src", "dst"], [[names[u], names[v]] for u, v in RING], " ")
    nodes = table(["label"], [[label] for label in LABELS], " ", names=names)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, *DEGREE)
    assert code == 0
    assert "nodes     12, from p0 to p9" in out
    assert "id: column 1, label: label" in out


@pytest.mark.parametrize(
    "labels", [table(["x"], [[label] for label in LABELS], " "), '"x"\n"a"\n"b"\n' + '"a"\n"b"\n' * 5]
)
def test_a_list_of_labels(tmp_path, monkeypatch, capsys, checkout, labels):
    edges = "src,dst\n" + "".join(f"{u},{v}\n" for u, v in RING)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, labels, "--id", "none", *DEGREE)
    assert code == 0
    assert "nodes     12, from 0 to 11" in out
    assert "classes   2: a (6), b (6)" in out


@pytest.mark.parametrize("mark", [" ", ","])
def test_lists_of_ids(tmp_path, monkeypatch, capsys, checkout, mark):
    edges = "src,dst\n" + "".join(f"{u},{v}\n" for u, v in RING)
    nodes = "id,label\n" + "".join(f"{node},{LABELS[node]}\n" for node in range(NODES))
    blank = '"",' if mark == "," else ""
    for name, ids in (("train", range(4)), ("val", range(4, 8))):
        (tmp_path / name).write_text(blank + table(["x"], [[node] for node in ids], mark))
    lists = ["--train", str(tmp_path / "train"), "--val", str(tmp_path / "val")]
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, *lists, *DEGREE)
    assert code == 0
    assert "4 nodes train, 4 validate, 4 test" in out


@pytest.mark.parametrize(
    "edges",
    [
        "src,dst\n" + "".join(f"{u},{v},0.5\n" for u, v in RING),  # the last name may be the one that lacks
        "src dst\n" + "".join(f"{u + 1} {u} {v}\n" for u, v in RING),
        '"src" "dst"\n' + "".join(f'"p{u}" "p{v}" 5\n' for u, v in RING),
    ],
)
def test_a_name_that_lacks_without_such_evidence_is_refused(tmp_path, monkeypatch, capsys, checkout, edges):
    nodes = "id,label\n" + "".join(f"{node},{LABELS[node]}\n" for node in range(NODES))
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--weights", "ignore", *DEGREE)
    assert code == 2
    assert "which is one field shorter than the lines below it" in out
    assert "row.names = FALSE" in out


def test_a_mark_at_the_end_of_all_lines_but_the_header(tmp_path, monkeypatch, capsys, checkout):
    edges = "src\tdst\n" + "".join(f"{u}\t{v}\t\n" for u, v in RING)
    nodes = "id\tlabel\n" + "".join(f"{node}\t{LABELS[node]}\n" for node in range(NODES))
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, *DEGREE)
    assert code == 0
    assert "edges     12, of 12 entries" in out
    assert "edges.txt: column 3 (empty)" in out
