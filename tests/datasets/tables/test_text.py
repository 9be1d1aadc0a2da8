"""Compressed files and other encodings are read as the text that they hold, and what could do harm is refused."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pyarrow as pa
import pytest

from grandplus.datasets.tables import text
from grandplus.datasets.tables.look import look
from grandplus.runtime.errors import GrandPlusError

CONTENT = "from,to\n" + "".join(f"{i},é{i}\n" for i in range(1000))


def zstd(content: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return bytes(out.getvalue().to_pybytes())


COMPRESSIONS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_it_is_read_as_what_it_holds(tmp_path, monkeypatch, kind, encoding, end):
    """Also in pieces that end within a line or a character."""
    monkeypatch.setattr(text, "PIECE", 777)
    file = tmp_path / "edges.csv"  # the name tells nothing
    file.write_bytes(COMPRESSIONS[kind](CONTENT.replace("\n", end).encode(encoding)))
    assert text.compression_of(file) == kind
    table = look(file)
    assert table.names == ["from", "to"]
    assert [name for (piece,) in table.pieces([1]) for name in piece.to_pylist()] == [f"é{i}" for i in range(1000)]
    assert table.line(3) == "line 5"


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_truncated_file_is_refused(tmp_path, kind):
    (tmp_path / "edges.csv").write_bytes(COMPRESSIONS[kind](CONTENT.encode())[:-20])
    with pytest.raises(GrandPlusError, match=f"edges.csv: can't be unpacked from {kind}"):
        list(look(tmp_path / "edges.csv").pieces([0]))


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_bomb_is_refused(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(text, "ALLOWED", 1000)
    monkeypatch.setattr(text, "PIECE", 2**16)
    (tmp_path / "edges.csv").write_bytes(COMPRESSIONS[kind](b"0,1\n" * 2**19))
    with pytest.raises(GrandPlusError, match="unpacks to more than"):
        list(look(tmp_path / "edges.csv").pieces([0]))


def test_several_members_are_one_text(tmp_path):
    """As gzip makes them where it appends."""
    (tmp_path / "edges.csv.gz").write_bytes(gzip.compress(b"0,1\n") + gzip.compress(b"1,2\n"))
    assert [ids.to_pylist() for (ids,) in look(tmp_path / "edges.csv.gz").pieces([0])] == [["0", "1"]]
