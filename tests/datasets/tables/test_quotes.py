"""Quotation marks enclose cells or are part of them; no line is lost to one that nothing closes."""

from __future__ import annotations

import csv
import io

import pytest

from grandplus.datasets.tables import quotes
from grandplus.datasets.tables.look import look
from grandplus.runtime.errors import GrandPlusError


def rows(folder, content: str | bytes, *, name: str = "t.csv", header: bool = False, by_line: bool = False):
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    table = look(file, header=header, by_line=by_line)
    columns = [[], *([] for _ in range(table.width - 1))]
    for pieces in table.pieces(range(table.width)):
        for column, piece in zip(columns, pieces, strict=True):
            column += piece.to_pylist()
    return [list(row) for row in zip(*columns, strict=True)], table


@pytest.mark.parametrize("block", [7, 64, 2**24])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["\t", " "])
@pytest.mark.parametrize("marked", [{3, 9}, {3}, {19}, {0}, {4, 5}, set(range(20))])
def test_a_text_that_begins_with_a_quotation_mark(tmp_path, monkeypatch, mark, marked, end, block):
    """Titles in a file with tabs are usually not quoted."""
    monkeypatch.setattr(quotes, "BLOCK", block)
    lines = [[str(i), str(i + 1), '"x' if i in marked else "y"] for i in range(20)]
    assert rows(tmp_path, "".join(mark.join(line) + end for line in lines))[0] == lines


@pytest.mark.parametrize("mark", [",", ";", "|"])
@pytest.mark.parametrize("marked", [{3, 9}, {3}, {4, 5}])
@pytest.mark.parametrize("block", [7, 2**24])
def test_a_mark_that_its_line_does_not_close_is_refused(tmp_path, monkeypatch, mark, marked, block):
    monkeypatch.setattr(quotes, "BLOCK", block)
    lines = [[str(i), str(i + 1), '"x' if i in marked else "y"] for i in range(20)]
    with pytest.raises(GrandPlusError, match=f"line {min(marked) + 1} begins a cell with a quotation mark"):
        rows(tmp_path, "".join(mark.join(line) + "\n" for line in lines))


def test_a_mark_that_is_closed_after_a_ragged_line_is_refused(tmp_path):
    with pytest.raises(GrandPlusError, match=r"line 2 begins a cell with .* closed on another line, within a cell"):
        rows(tmp_path, '0,1,y\n1,"x\n2,3,y\n4,"5,z\n6,7,y\n')


def test_complete_lines_in_a_cell_that_ends_properly_are_refused(tmp_path):
    with pytest.raises(GrandPlusError, match=r"line 2 begins a cell with .* with complete lines between"):
        rows(tmp_path, '0,1,y\n1,2,"x\n2,3,y\n3,4,y"\n5,6,z\n')


@pytest.mark.parametrize("block", [5, 2**24])
@pytest.mark.parametrize("mark", [",", "\t", ";"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_cells_with_line_breaks_and_marks_are_read(tmp_path, monkeypatch, mark, quoting, block):
    monkeypatch.setattr(quotes, "BLOCK", block)
    monkeypatch.setattr("grandplus.datasets.tables.table.BLOCK", 2**24)
    lines = [
        ["0", "a", "y"],
        ["1", "b\nc", "z"],
        ["2", f'say "no"{mark} or', "x"],
        ["3", "q", 'a\n\n"b"'],
        ["4", '"', "y"],
    ]
    out = io.StringIO()
    csv.writer(out, delimiter=mark, quoting=quoting, lineterminator="\n").writerows(lines)
    assert rows(tmp_path, out.getvalue())[0] == lines


def test_quotation_marks_after_a_comma_and_a_space(tmp_path):
    assert rows(tmp_path, '"p0", "p1"\n"p1", "a, ""b"""\n"p2", ""\n"p3", "x"\n')[0] == [
        ["p0", "p1"],
        ["p1", 'a, "b"'],
        ["p2", ""],
        ["p3", "x"],
    ]


def test_quoted_cells_between_spaces(tmp_path):
    """As write.table of R has them."""
    assert rows(tmp_path, '"p0" "a b"  1\n "p1" "" 2\n')[0] == [["p0", "a b", "1"], ["p1", "", "2"]]


def test_one_quoted_column(tmp_path):
    """pandas writes "" for what is missing."""
    lines, table = rows(tmp_path, '"label"\n"a b"\n""\nc\n', header=True)
    assert (table.names, lines) == (["label"], [["a b"], [""], ["c"]])


@pytest.mark.parametrize("block", [5, 2**24])
@pytest.mark.parametrize(
    ("end", "empty"), [("\x1a", 0), ("\x1a\r\n", 0), (",\r\n,\r\n", 2), (",\r\n\r\n,\x1a", 2), ("\n\n", 0)]
)
def test_ends_of_files_by_spreadsheets_and_dos(tmp_path, monkeypatch, block, end, empty):
    monkeypatch.setattr(quotes, "BLOCK", block)
    lines, table = rows(tmp_path, f"from,to\r\n0,1\r\n,\r\n1,2\r\n{end}", header=True)
    assert lines == [["0", "1"], ["", ""], ["1", "2"]]
    assert table.skipped_lines().get("lines of empty cells at the end", 0) == empty


def test_lines_by_position(tmp_path):
    """An empty line is a node without a label, but not at the end."""
    lines, table = rows(tmp_path, "\na\nb\n\na\n\n\n", by_line=True)
    assert lines == [[""], ["a"], ["b"], [""], ["a"]]
    assert table.line(4) == "line 5"
    lines, _ = rows(tmp_path, "# of papers\nlabel\na\n\nb\n", by_line=True, header=True)
    assert lines == [["a"], [""], ["b"]]


def test_no_line_by_position_is_skipped(tmp_path):
    with pytest.raises(GrandPlusError, match="line 4 has 1 fields: '# unknown'"):
        rows(tmp_path, "label,height\na,1\nb,2\n# unknown\na,3\n", by_line=True, header=True)
    lines, _ = rows(tmp_path, "label,height\na,1\n\nb,2\n", by_line=True, header=True)
    assert lines == [["a", "1"], ["", ""], ["b", "2"]]
