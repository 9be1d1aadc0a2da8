"""What an .npz declares is compared with what it is."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from grandplus.datasets.arrays.npz import check_npz, read_npz
from grandplus.runtime.errors import GrandPlusError


def header(shape: tuple[int, ...]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue()


def write(file: Path, content: bytes, method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.npy", content)
    return file


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3), np.float32(7), np.zeros((0, 4)), np.zeros(10**6)])
def test_what_numpy_writes_passes(tmp_path: Path, save, array) -> None:
    save(tmp_path / "x.npz", a=array)
    check_npz(tmp_path / "x.npz", ["a"])
    found = read_npz(tmp_path / "x.npz", "a")
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_an_array_that_declares_more_than_is_there(tmp_path: Path) -> None:
    file = write(tmp_path / "x.npz", header((10**12,)) + b"\0" * 80)
    message = r"x\.npz, a: has 208 bytes; expected 8,000,000,000,128, as its header says"
    with pytest.raises(GrandPlusError, match=message):
        check_npz(file, [])


def test_a_member_that_declares_more_than_deflate_could_hold(tmp_path: Path) -> None:
    file = write(tmp_path / "x.npz", header((4 * 10**8,)) + b"\0" * 80, zipfile.ZIP_DEFLATED)
    real, lie = (size.to_bytes(4, "little") for size in (128 + 80, 128 + 32 * 10**8))
    file.write_bytes(file.read_bytes().replace(real, lie))
    with pytest.raises(GrandPlusError, match=r"x\.npz, a: declares 3,200,000,128 bytes in \d+ of the file"):
        check_npz(file, [])


def test_a_name_that_stands_twice(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("a.npy", header((0,)))
        archive.writestr("a", b"")
    with pytest.raises(GrandPlusError, match="holds a name twice"):
        check_npz(tmp_path / "x.npz", [])


@pytest.mark.parametrize("content", [b"", b"text", header((1,))[:20]])
def test_a_member_that_is_no_array_of_numbers(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(GrandPlusError, match=r"x\.npz: is no readable \.npz"):
        check_npz(write(tmp_path / "x.npz", content), [])


def test_damaged_data(tmp_path: Path) -> None:
    file = write(tmp_path / "x.npz", header((10**5,)) + b"\0" * 8 * 10**5)
    content = bytearray(file.read_bytes())
    content[700_000] = 1
    file.write_bytes(content)
    check_npz(file, ["a"])
    with pytest.raises(GrandPlusError, match=r"x\.npz: a can't be read: Bad CRC-32"):
        read_npz(file, "a")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(GrandPlusError, match="No such file"):
        check_npz(tmp_path / "none.npz", [])


def test_a_member_of_python_objects(tmp_path: Path) -> None:
    with pytest.raises(GrandPlusError, match=r"x\.npz: a is an array of Python objects; .* with \.astype\(str\)"):
        check_npz(write(tmp_path / "x.npz", header((1,)).replace(b"<f8", b"|O8")), [])
