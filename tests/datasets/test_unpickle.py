"""Pickles: the right values, and no way to run code or exhaust memory."""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import tracemalloc
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from grandplus.datasets.arrays.unpickle import load_pickle
from grandplus.runtime.errors import GrandPlusError

PYTHON_2_ARRAY = (  # numpy.array([[1, 2], [3, 4]], ">i2") as Python 2 wrote it
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    b"(K\x01K\x02K\x02\x86cnumpy\ndtype\nU\x02i2K\x00K\x01\x87R(K\x03U\x01>NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    b"\x89U\x08\x00\x01\x00\x02\x00\x03\x00\x04tb."
)


class Runs:
    """Pickled, this is a call of ``function``."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call


def load(folder: Path, content: bytes) -> Any:
    file = folder / "file.pickle"
    file.write_bytes(content)
    return load_pickle(file)


def test_array_of_python_2(tmp_path: Path) -> None:
    found = load(tmp_path, PYTHON_2_ARRAY)
    assert type(found) is np.ndarray
    assert found.dtype == np.int16
    assert found.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize(
    "array", [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)[:2]), np.zeros((0, 4), "f4")]
)
def test_array_of_today(tmp_path: Path, array: np.ndarray, protocol: int) -> None:
    found = load(tmp_path, pickle.dumps(array, protocol))
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
    assert found.flags.writeable


def test_array_of_protocol_5_by_numpy_1(tmp_path: Path) -> None:
    array = np.arange(6.0).reshape(2, 3)
    content = pickle.dumps(array, 5)
    assert content[2:3] == b"\x95"  # a frame; its length, and the name's, become one less
    length = struct.pack("<Q", struct.unpack("<Q", content[3:11])[0] - 1)
    name = b"\x8c\x13numpy._core.numeric", b"\x8c\x12numpy.core.numeric"
    content = content[:3] + length + content[11:].replace(*name)
    assert b"numpy._core" not in content
    np.testing.assert_array_equal(load(tmp_path, content), array)


def test_a_large_array_is_in_memory_twice_at_most(tmp_path: Path) -> None:
    array = np.ones(2**23)
    for protocol in (4, 5):
        (tmp_path / "file.pickle").write_bytes(pickle.dumps(array, protocol))
        tracemalloc.start()
        np.testing.assert_array_equal(load_pickle(tmp_path / "file.pickle")[:5], 1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2.1 * array.nbytes


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix])
def test_sparse_matrix(tmp_path: Path, kind: type, protocol: int) -> None:
    matrix = kind(np.array([[0, 1, 0], [2, 0, 3]], dtype=np.float32))
    found = load(tmp_path, pickle.dumps(matrix, protocol))
    assert type(found) is kind
    assert (found != matrix).nnz == 0


def test_sparse_matrix_with_a_column_out_of_range(tmp_path: Path) -> None:
    matrix = sparse.csr_matrix(np.eye(3))
    matrix.indices[1] = 7
    with pytest.raises(GrandPlusError, match=r"file\.pickle"):
        load(tmp_path, pickle.dumps(matrix, 4))


def test_containers(tmp_path: Path) -> None:
    graph = defaultdict(list, {0: [1, 2], 1: [0]})
    assert load(tmp_path, pickle.dumps(graph)) == graph


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_foreign_call_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    witness = tmp_path / "witness"
    content = pickle.dumps(Runs(os.system, f"touch {witness}"), protocol)
    with pytest.raises(GrandPlusError, match=rf"file\.pickle: asks for {os.system.__module__}\.system"):
        load(tmp_path, content)
    assert not witness.exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("__builtin__", "eval"),
        ("numpy", "load"),
        ("numpy", "zeros"),
        ("numpy.core.multiarray", "scalar"),
        ("scipy.sparse.csr", "csr_matrix.__init__"),
        ("collections", "defaultdict.__class__"),
    ],
)
def test_names_off_the_list_are_refused(tmp_path: Path, module: str, name: str) -> None:
    with pytest.raises(GrandPlusError, match=f"asks for {module}.{name}"):
        load(tmp_path, f"c{module}\n{name}\n.".encode())


def _memo(index: int) -> bytes:
    return b"\x80\x02Nr" + struct.pack("<I", index) + b"."


HUGE = pickle.dumps(1 << 40)[2:-1]
BOMBS = {
    "memo": _memo(2**32 - 1),
    "bytearray": b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".",
    "bytes": b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b".",
    "reconstructed array": PYTHON_2_ARRAY.replace(b"K\x00\x85U\x01b", HUGE + b"\x85U\x01b"),
    "array's shape": PYTHON_2_ARRAY.replace(b"K\x02K\x02\x86", HUGE + b"K\x02\x86"),
    "array of objects": PYTHON_2_ARRAY.replace(b"i2", b"O8").replace(b"K\x02K\x02\x86", HUGE + b"K\x02\x86"),
    "array from its class": b"\x80\x02cnumpy\nndarray\n" + HUGE + b"\x85R.",
    "matrix from its class": b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n" + HUGE + HUGE + b"\x86\x85R.",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_never_takes_much_memory(tmp_path: Path, name: str) -> None:
    try:
        found = load(tmp_path, BOMBS[name])
    except GrandPlusError:
        return
    assert isinstance(found, np.ndarray)
    assert found.size <= 4


@pytest.mark.parametrize("content", [b"", b".", b"\x80\x02", b"]", PYTHON_2_ARRAY[:-20], b"<html>", b"\x80\x02K\x01K"])
def test_damaged_pickles(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(GrandPlusError, match=r"file\.pickle: can't be read as a pickle"):
        load(tmp_path, content)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(GrandPlusError, match="can't be read"):
        load_pickle(tmp_path / "none")


# Whole operations, so that some of what comes is nearly a pickle.
_OPERATION = st.sampled_from(
    [
        b"\x80\x02",
        b"\x80\x04",
        b"(",
        b")",
        b"]",
        b"}",
        b"N",
        b"K\x01",
        b"a",
        b"e",
        b"s",
        b"u",
        b"b",
        b"R",
        b"\x81",
        b"\x85",
    ]
    + [
        b"\x86",
        b"\x87",
        b"0",
        b"2",
        b"h\x00",
        b"q\x00",
        b"\x94",
        b"t",
        b".",
        b"U\x02i4",
        b"X\x01\x00\x00\x00a",
        b"\x93",
    ]
    + [f"c{module}\n{name}\n".encode() for module, name in [("numpy", "dtype"), ("numpy", "ndarray")]]
    + [b"ccollections\ndefaultdict\n", b"c__builtin__\nlist\n", b"cscipy.sparse.csr\ncsr_matrix\n", b"cos\nsystem\n"]
)


def read_or_refuse(folder: Path, content: bytes) -> None:
    """Any other exception than GrandPlusError fails the test."""
    with contextlib.suppress(GrandPlusError):
        load(folder, content)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.lists(_OPERATION, max_size=40).map(b"".join))
@example(_memo(2**31))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    read_or_refuse(tmp_path, content)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(PYTHON_2_ARRAY) - 1), st.integers(0, 255))
def test_a_changed_byte_is_read_or_refused(tmp_path: Path, position: int, value: int) -> None:
    content = bytearray(PYTHON_2_ARRAY)
    content[position] = value
    read_or_refuse(tmp_path, bytes(content))
