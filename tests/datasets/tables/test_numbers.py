"""A column of numbers as any program writes it is read as these numbers, or refused; never as other numbers."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grandplus.datasets.tables.features import read_columns, text_columns
from grandplus.datasets.tables.look import look
from grandplus.datasets.tables.numbers import Evidence, evidence_of, fraction_mark, parsed
from grandplus.runtime.errors import GrandPlusError

NARROW, NO_BREAK = "\u202f", "\u00a0"
# The mark before the fraction, and what may separate thousands beside it.
DIALECTS = [(".", mark) for mark in ("", ",", " ", NO_BREAK, NARROW, "'")] + [
    (",", mark) for mark in ("", ".", " ", NO_BREAK, NARROW, "’")
]


def written(number: Decimal, mark: str, thousands: str, *, percent: str = "") -> str:
    """As spreadsheets write it."""
    number = number * 100 if percent else number
    sign, whole, rest = ("-" if number < 0 else ""), *f"{abs(number):f}".partition(".")[::2]
    groups = [whole[max(end - 3, 0) : end] for end in range(len(whole), 0, -3)][::-1]
    return sign + (thousands.join(groups) if thousands else whole) + (mark + rest if rest else "") + percent


def table(folder: Path, columns: list[list[str]], delimiter: str) -> Any:
    """A node table with a header, read; and its columns of features."""
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(["id", *(f"x{number}" for number in range(len(columns)))])
        writer.writerows(zip((f"n{i}" for i in range(len(columns[0]))), *columns, strict=True))
    return look(folder / "nodes.csv", header=True), list(range(1, len(columns) + 1))


def read(folder: Path, columns: list[list[str]], delimiter: str = ";", mark: str | None = None) -> np.ndarray:
    nodes, numbers = table(folder, columns, delimiter)
    return read_columns(nodes, numbers, pa.array([f"n{i}" for i in range(len(columns[0]))]), mark)


decimals = st.builds(
    lambda number, places: Decimal(number).scaleb(-places), st.integers(-(10**7), 10**7), st.integers(0, 4)
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_file_in_one_dialect(tmp_path, data):
    mark, thousands = data.draw(st.sampled_from(DIALECTS))
    # A comma file with 1.234 alone would be read as any program reads it.
    delimiter = data.draw(st.sampled_from(";" if thousands == "." else ";,\t"))
    rows = data.draw(st.integers(1, 5))
    column = st.tuples(st.lists(decimals, min_size=rows, max_size=rows), st.sampled_from(["", "", "%", " %"]))
    columns = data.draw(st.lists(column, min_size=1, max_size=3))
    texts = [[written(number, mark, thousands, percent=percent) for number in cells] for cells, percent in columns]
    asked = data.draw(st.sampled_from([None, mark]))
    found, refusal = None, ""
    try:
        found = read(tmp_path, texts, delimiter, asked)
    except GrandPlusError as refused:
        refusal = str(refused)
    if found is None:
        assert asked is None
        assert "which may be" in refusal
        return
    expected = np.array([[float(number) for number in cells] for cells, _ in columns]).T
    np.testing.assert_array_equal(found, expected.astype(found.dtype))


@given(st.lists(decimals, min_size=1), st.sampled_from(DIALECTS), st.sampled_from(["", "%", f"{NARROW}%"]))
def test_the_nearest_float64(numbers, dialect, percent):
    texts = pa.array([written(number, *dialect, percent=percent) for number in numbers])
    assert parsed(texts, dialect[0]).to_pylist() == [float(number) for number in numbers]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.sampled_from(".,"))
def test_any_float_as_python_writes_it(numbers, mark):
    texts = pa.array([repr(number).replace(".", mark) for number in numbers])
    assert parsed(texts, mark).to_pylist() == numbers


@given(st.lists(st.text("0123456789.,-+eE% '", max_size=9), min_size=1, max_size=4))
def test_any_text_is_a_number_under_one_mark_or_refused(texts):
    """Whatever is read under the mark that the cells show is what Python reads after a plain replacement."""
    cells = pa.array([text.strip() for text in texts])
    try:
        mark = fraction_mark(evidence_of(cells), Evidence(), "t.csv", semicolons=False)
    except GrandPlusError:
        return
    for text, number in zip(cells.to_pylist(), parsed(cells, mark).to_pylist(), strict=True):
        if number is not None:
            plain = text.replace("." if mark == "," else ",", "").replace(",", ".").replace("'", "").replace(" ", "")
            expected = float(plain.removesuffix("%") + ("e-2" if plain.endswith("%") else ""))
            assert number == expected


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["0,5", "1,5"], [0.5, 1.5]),
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1,234", "0.5"], [1234, 0.5]),
        (["1,234", "1,234,567"], [1234, 1234567]),
        (["1.234", "1.234.567"], [1234, 1234567]),
        (["1.234,5", "7"], [1234.5, 7]),
        (["1 234", f"1{NO_BREAK}234,5"], [1234, 1234.5]),
        (["1 234", "1,234"], [1234, 1.234]),  # spaces separate thousands, so that a comma doesn't
        (["1,00,000", "5"], [100000, 5]),  # India
        (["12%", "7.5 %", "-1%"], [0.12, 0.075, -0.01]),
        (["+1", "\u22122", "3e2", "-.5"], [1, -2, 300, -0.5]),
        (["true", "False", "1", "0"], [1, 0, 1, 0]),
        (["1.234", "5"], [1.234, 5]),
    ],
)
def test_what_cells_show(tmp_path, texts, numbers):
    np.testing.assert_array_equal(read(tmp_path, [texts], "\t")[:, 0], np.float32(numbers))


def test_the_other_columns_show_it(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, [["1,234"], ["0,5"]]), np.float32([[1.234, 0.5]]))
    np.testing.assert_array_equal(read(tmp_path, [["1,234"], ["0.5"]]), np.float32([[1234, 0.5]]))
    np.testing.assert_array_equal(read(tmp_path, [["1.234"], ["0,5"]]), np.float32([[1234, 0.5]]))
    np.testing.assert_array_equal(read(tmp_path, [["1.234"], ["0.5"]]), np.float32([[1.234, 0.5]]))
    np.testing.assert_array_equal(read(tmp_path, [["1.234"]], mark=","), np.float32([[1234]]))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["1,234", "5"], "column x0: holds '1,234', which may be 1.234 or 1234; expected a cell that shows which"),
        (["1.234", "5"], "column x0: holds '1.234', which may be 1.234 or 1234"),  # beside semicolons
        (["0,5", "0.5"], "column x0: holds '0.5' and '0,5'; expected one mark before the fraction"),
        (["12%", "5"], "column x0: holds '12%' and '5'; expected per cent in all cells, or in none"),
        (["true", "37"], "column x0: holds 'true' and '37'; expected true and false, or numbers"),
        (["1", "", "2"], "column x0: line 3, node n1, is ''; expected a number from -1e+15 to 1e+15"),
        (["1", "$2", "3"], "column x0: line 3, node n1, is '$2'"),
        (["1,5", "2'5", "x"], "column x0: line 3, node n1, is \"2'5\"; line 4, node n2, is 'x'"),
        (["a", "b", "1", "c", "d", "e", "f"], "node n1, is 'b'; line 5, node n3, is 'c', and 3 more are no numbers"),
    ],
)
def test_what_is_refused(tmp_path, texts, message):
    with pytest.raises(GrandPlusError) as refused:
        read(tmp_path, [texts])
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["a", "b"], "text"),
        (["2020-01-31", "31.01.2020", "12:30", "2020-01", "1/31/2020 12:00"], "text"),
        (["", "NA", "#N/A"], "empty"),
        (["a"] * 19 + ["7"], "text"),  # a name may be a number
        (["a"] * 18 + ["7"], None),
        (["1,5", "2,5"], None),
        (["$5", "$6"], None),
        (["1.5D+03", "2.5D+03"], None),  # Fortran
        (["(5)", "1/2", "10-20", "٣"], None),
        (["1", "", "x"], None),
        (["a", *"1" * 400], None),  # beyond the first lines
    ],
)
def test_columns_of_text_are_no_features(tmp_path, texts, kind):
    nodes, columns = table(tmp_path, [texts], ";")
    assert text_columns(nodes, columns) == ({} if kind is None else {1: kind})


def test_columns_of_parquet(tmp_path):
    held = {
        "id": ["n0", "n1"],
        "text": pa.array(["1,5 ", " 2,5"]).dictionary_encode(),
        "whole": pa.array([1, 2], pa.int8()),
        "word": [True, False],
        "name": pa.array(["a", None], pa.large_string()),
        "day": pa.array([0, 1], pa.date32()),
        "none": pa.array([None, None], pa.float64()),
        "gap": pa.array([1.5, None]),
    }
    pq.write_table(pa.table(held), tmp_path / "nodes.parquet")
    nodes, ids = look(tmp_path / "nodes.parquet"), pa.array(held["id"])
    assert text_columns(nodes, range(1, 8)) == {4: "text", 5: "date32[day]", 6: "empty"}
    assert read_columns(nodes, [1, 2, 3], ids).tolist() == [[1.5, 1, 1], [2.5, 2, 0]]
    with pytest.raises(GrandPlusError, match="column gap: row 1, node n1, is empty; expected a number"):
        read_columns(nodes, [2, 7], ids)


def test_a_column_keeps_its_variance(tmp_path):
    times = [str(1_600_000_000 + i) for i in range(4)]
    found = read(tmp_path, [times, ["0.1"] * 4, ["1,234", "0,5", "1", "2"]])
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found[:, 0], 1.6e9 + np.arange(4))
    assert read(tmp_path, [["0.1", "0.3"], ["2019", "2020"]]).dtype == np.float32
