"""MatrixMarket is read as scipy reads it, and damage is named, never a crash."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmread, mmwrite

from grandplus.datasets.attributed.mtx import read_header, read_matrix
from grandplus.runtime.errors import GrandPlusError

REAL = "%%MatrixMarket matrix coordinate real general\n"
KINDS = [
    (form, field, symmetry)
    for form in ("coordinate", "array")
    for field in ("real", "integer", "pattern")
    for symmetry in ("general", "symmetric", "skew-symmetric")
    if field != "pattern" or (form == "coordinate" and symmetry != "skew-symmetric")
]


def matrix_of(field: str, symmetry: str) -> sparse.csr_array:
    rng = np.random.default_rng(0)
    values = rng.integers(-3, 4, (9, 9)) * (rng.random((9, 9)) < 0.4)
    if symmetry != "general":
        values = values + (1 if symmetry == "symmetric" else -1) * values.T
    return sparse.csr_array((values != 0 if field == "pattern" else values).astype(float))


@pytest.mark.parametrize(("form", "field", "symmetry"), KINDS)
def test_it_is_what_scipy_reads(tmp_path, form, field, symmetry):
    file, matrix = tmp_path / "a.mtx", matrix_of(field, symmetry)
    mmwrite(file, matrix if form == "coordinate" else matrix.toarray(), field=field, symmetry=symmetry)
    expected = mmread(file)
    found = read_matrix(file)
    np.testing.assert_array_equal(found.toarray(), expected if form == "array" else expected.toarray())
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())
    header = read_header(file)
    assert (header.rows, header.columns, header.field, header.symmetry) == (9, 9, field, symmetry)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda content: content])
@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_compression_is_told_by_the_content(tmp_path, pack, name):
    mmwrite(tmp_path / "plain.mtx", matrix_of("real", "general"))
    (tmp_path / name).write_bytes(pack((tmp_path / "plain.mtx").read_bytes()))
    np.testing.assert_array_equal(read_matrix(tmp_path / name).toarray(), matrix_of("real", "general").toarray())


def test_wherever_it_is_cut_it_is_refused(tmp_path):
    """The reader of scipy ends Python on some of these."""
    file = tmp_path / "a.mtx"
    mmwrite(file, matrix_of("real", "general") / 7)
    whole = file.read_bytes()
    for end in range(len(whole.rstrip()) - 1):  # without the last digit, a number is another one
        file.write_bytes(whole[:end])
        last = whole[:end].rpartition(b"\n")[2]
        if len(whole) - end > len(whole.splitlines()[-1]) or len(last.split()) < 3:
            with pytest.raises(GrandPlusError):
                read_matrix(file)


@settings(max_examples=200)
@given(content=st.text("0123456789 .-+eE%\n\0_nainf", max_size=60))
def test_any_text_below_a_header_is_a_matrix_or_an_error(tmp_path_factory, content):
    file: Path = tmp_path_factory.mktemp("mtx") / "a.mtx"
    file.write_text(f"%%MatrixMarket matrix coordinate real general\n{content}")
    try:
        matrix = read_matrix(file)
    except GrandPlusError:
        return
    assert matrix.nnz == read_header(file).entries


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("3 3 1\n1 2 0.5", "is no MatrixMarket file; expected %%MatrixMarket matrix coordinate … in its first line"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0", "holds complex numbers"),
        ("%%MatrixMarket matrix coordinate real odd\n1 1 0", "is declared as coordinate real odd; expected one of"),
        (REAL + "3 -3 1", "line 2 is '3 -3 1'; expected the numbers of rows"),
        (REAL, "line 0 is ''; expected the numbers of rows"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1", "declared as symmetric, and as 2 x 3"),
        (
            REAL + "%\n3 3 2\n1 2 1\n\n4 1 1",
            "line 6 is '4 1 1'; expected at most 3",
        ),
        (
            REAL + "3 3 2\n1 2 1\n0 1 1",
            "line 4 is '0 1 1'; expected two numbers",
        ),
        (REAL + "3 3 1\n1 2 1\n3 1 1", "has 2 entries; expected 1"),
        ("%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 .5", "line 3 is '1 2 .5'; expected two numbers"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "is truncated: it has 3 entries; expected 4"),
        (REAL + f"{10**12} {10**12} 0\n", "the memory at hand"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, content, message):
    (tmp_path / "a.mtx").write_text(content)
    with pytest.raises(GrandPlusError) as error:
        read_matrix(tmp_path / "a.mtx")
    assert message in str(error.value)
