"""What a refusal advises, where a user most probably meant something else than the first reading of the files."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from own import LABELS, NODES, edges_csv, imported

ROWS = range(NODES)
HEIGHTS = [node * 5 % 12 / 2 for node in ROWS]
DATES = [f"2021-{node % 2 + 1:02d}-03" for node in ROWS]
BLANKS = [None if node // 2 % 3 == 2 else node % 2 for node in ROWS]  # pandas writes 0.0, 1.0 and nothing
CLASS = "if it is the class, say --label segment; else correct it"


def nodes_of(**columns: list[object]) -> bytes:
    return pd.DataFrame({"id": ROWS, **columns}).to_csv(index=False).encode()


@pytest.fixture
def import_(tmp_path, monkeypatch, capsys, checkout):
    """Import edges and nodes; the exit code and what is printed."""

    def run(edges, nodes, *arguments):
        return imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, *arguments)

    return run


@pytest.mark.parametrize("kind", [float, "Int64", str], ids=["floats", "whole", "NA"])
def test_numbers_beside_empty_cells_may_be_the_class(import_, kind):
    segment = pd.Series(BLANKS, dtype=float).astype(kind if kind is not str else "Int64")
    frame = pd.DataFrame({"id": ROWS, "segment": segment, "city": LABELS, "height": HEIGHTS})
    nodes = frame.to_csv(index=False, na_rep="NA" if kind is str else "").encode()
    code, out = import_(edges_csv(), nodes)
    assert code == 2
    assert CLASS in out
    code, out = import_(edges_csv(), nodes, "--label", "segment")
    assert code == 0, out
    assert "classes   2: 0 (4), 1 (4)" in out


def test_numbers_beside_null_in_parquet_may_be_the_class(import_):
    out = io.BytesIO()
    pd.DataFrame({"id": ROWS, "segment": BLANKS, "city": LABELS, "height": HEIGHTS}).to_parquet(out)
    assert CLASS in import_(edges_csv(), out.getvalue())[1]


@pytest.mark.parametrize(
    "columns",
    [
        {"segment": BLANKS, "label": LABELS},  # the class has its name
        {"segment": [None, *ROWS[1:]], "city": LABELS},  # each value once
        {"segment": [None, *(node % 2 + 0.5 for node in ROWS[1:])], "city": LABELS},  # a quantity
        {"segment": ["x?", *(node % 2 + 0.5 for node in ROWS[1:])], "city": LABELS},
    ],
    ids=["named", "unique", "fractions", "text"],
)
def test_other_cells_that_are_no_numbers_are_no_class(import_, columns):
    code, out = import_(edges_csv(), nodes_of(**columns))
    assert code == 2
    assert "column segment: line 2, node 0, is" in out or "column segment: line 6, node 4, is" in out
    assert "if it is the class" not in out


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ"])
def test_dates_are_no_class(import_, written):
    joined = [pd.Timestamp(date).strftime(written) for date in DATES[1:]]
    code, out = import_(edges_csv(), nodes_of(city=LABELS, height=HEIGHTS, joined=[None, *joined]))
    assert code == 0, out
    assert "label: city, ignore: [joined]" in out
    assert "unused    nodes.csv: joined (dates)" in out


def test_timestamps_of_parquet_are_dates(import_):
    out = io.BytesIO()
    frame = pd.DataFrame({"id": ROWS, "city": LABELS, "height": HEIGHTS, "joined": pd.to_datetime(DATES)})
    frame.to_parquet(out)
    code, text = import_(edges_csv(), out.getvalue())
    assert code == 0, text
    assert "label: city" in text
    assert "joined (dates)" in text


def test_dates_alone_are_refused_and_texts_are_named(import_):
    _, out = import_(edges_csv(), nodes_of(joined=DATES, height=HEIGHTS))
    assert "has columns joined, height, none is called label, and none of them are of text" in out
    _, out = import_(edges_csv(), nodes_of(joined=DATES, city=LABELS, street=LABELS, height=HEIGHTS))
    assert "and 2 of them are of text: city, street; name the column with --label" in out


def test_strict_takes_dates_that_are_ignored(import_):
    nodes = nodes_of(city=LABELS, height=HEIGHTS, joined=DATES)
    assert import_(edges_csv(), nodes, "--strict")[0] == 2
    assert import_(edges_csv(), nodes, "--strict", "--ignore", "joined")[0] == 0
