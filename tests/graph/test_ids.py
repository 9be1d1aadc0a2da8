"""Users' ids, as they write them, to rows; and what an unknown one gets."""

import io
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandplus.graph.ids import read_ids, rows_of, without_header
from grandplus.runtime.errors import GrandPlusError

NUMBERS = np.array([10, -3, 7, 400], np.int64)
NAMES = np.array(["paper1", "paper12", "Ärger", "x y", "zebra"], object)


def test_an_id_a_line(tmp_path):
    file = tmp_path / "ids.txt"
    file.write_bytes("\ufeffpaper1\r\n\n  Ärger \nx y".encode())
    assert read_ids(str(file)) == ["paper1", "Ärger", "x y"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"7\n10\n")))
    assert read_ids("-") == ["7", "10"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b" \n\n", "names no node; expected one id"),
        (b"\xff\xfe7", "is no text in UTF-8"),
        (None, "can't be read: No such file or directory; expected a file with one id of a node a line"),
    ],
)
def test_what_lists_no_ids_is_refused_by_name(tmp_path, content, words):
    file = tmp_path / "ids.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(GrandPlusError, match=words) as refused:
        read_ids(str(file))
    assert str(refused.value).startswith(str(file))


@given(st.binary(max_size=60))
def test_any_file_is_ids_or_an_error(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.txt"
    file.write_bytes(content)
    try:
        ids = read_ids(str(file))
    except GrandPlusError:
        return
    assert ids
    assert all(id_ == id_.strip() != "" for id_ in ids)


@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1))
def test_rows_are_in_the_order_asked_for(rows):
    assert rows_of(NUMBERS, [str(NUMBERS[row]) for row in rows]).tolist() == rows
    assert rows_of(NAMES, [NAMES[row] for row in rows]).tolist() == rows


def test_integers_may_be_written_otherwise():
    assert rows_of(NUMBERS, ["+7", "007"]).tolist() == [2, 2]
    assert rows_of(NUMBERS.astype(np.int32), ["400"]).tolist() == [3]


@pytest.mark.parametrize(
    ("ids", "wanted", "words"),
    [
        (NUMBERS, "8", "there is no node 8; .* the nearest are 7, 10, -3"),
        (NUMBERS, "9" * 25, f"there is no node {'9' * 25}; .* the nearest are 400, 10, 7"),
        (NUMBERS, "40x", "there is no node 40x; .* the nearest is 400"),
        (NUMBERS, "ann", "there is no node ann; .* ids are like 10, -3, 7"),
        (NAMES, "paper2", "there is no node paper2; .* the nearest are paper1"),
        (NAMES, "zebro", "there is no node zebro; .* the nearest is zebra"),
        (NAMES, "#", "there is no node #; .* ids are like paper1, paper12, Ärger"),
    ],
)
def test_an_unknown_id_is_named_with_the_nearest(ids, wanted, words):
    with pytest.raises(GrandPlusError, match=words):
        rows_of(ids, [str(ids[0]), wanted])


@pytest.mark.parametrize(
    ("lines", "known", "kept"),
    [
        (["node_id", "7"], [7, 8], ["7"]),
        (["Kunde", "7"], [7, 8], ["7"]),  # no whole number begins like this
        (["7a", "7"], [7, 8], ["7a", "7"]),  # a mistake, which is told later
        (["x7", "7"], [7, 8], ["x7", "7"]),
        (["7", "8"], [7, 8], ["7", "8"]),
        (["node"], [7, 8], ["node"]),  # alone it heads nothing
        (["id", "ann"], ["ann", "bob"], ["ann"]),
        (["Node-ID", "ann"], ["ann", "bob"], ["ann"]),
        (["anne", "ann"], ["ann", "bob"], ["anne", "ann"]),
        (["id", "ann"], ["ann", "id"], ["id", "ann"]),  # a node may be called so
    ],
)
def test_a_header_is_told_from_an_id(lines, known, kept):
    ids = np.array(known, np.int64 if isinstance(known[0], int) else object)
    assert list(without_header(lines, ids)) == kept
