"""The bytes of a text file: unpacked, if it is compressed, and in UTF-8.

Compression (gzip, bzip2, xz, zstd), UTF-32 and UTF-16, which Excel writes as "Unicode text", are told by the first
bytes of a file and not by its name. A compressed file is read piece by piece and never written unpacked.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa

from grandplus.runtime.errors import GrandPlusError

PIECE = 2**20  # bytes read at a time
MAX_RATIO = 200  # text is packed to a 200th at most; what is packed further is made to fill memory or time
ALLOWED = 2**28  # bytes that any file may unpack to
_SHOWN = 20  # characters before a wrong byte
_WIDE = {  # what begins text that is not UTF-8; the mark of UTF-32 begins as that of UTF-16 does
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException)


class _Compression(NamedTuple):
    suffix: str
    start: bytes  # of such a file
    open: Callable[[Path], Any]


COMPRESSIONS = {
    "gzip": _Compression(".gz", b"\x1f\x8b", gzip.open),
    "bzip2": _Compression(".bz2", b"BZh", bz2.open),
    "xz": _Compression(".xz", b"\xfd7zXZ\0", lzma.open),
    "zstd": _Compression(".zst", b"\x28\xb5\x2f\xfd", lambda file: pa.CompressedInputStream(str(file), "zstd")),
}


def compression_of(file: Path) -> str | None:
    """How a file is compressed.

    Parameters
    ----------
    file : Path

    Returns
    -------
    str or None
        A key of COMPRESSIONS; None if it isn't compressed.
    """
    with file.open("rb") as stream:
        start = stream.read(8)
    return next((name for name, kind in COMPRESSIONS.items() if start.startswith(kind.start)), None)


def is_called(name: str, *suffixes: str) -> bool:
    """Whether the name of a file ends so, perhaps before the suffix of a compression.

    Parameters
    ----------
    name : str
    *suffixes : str
        In small letters.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_called(name, ".gml") for name in ("g.gml", "G.GML.bz2", "gml.csv")]
    [True, True, False]
    """
    name = name.lower()
    plain = next((name.removesuffix(kind.suffix) for kind in COMPRESSIONS.values() if name.endswith(kind.suffix)), name)
    return plain.endswith(suffixes)


@contextmanager
def open_unpacked(file: Path) -> Iterator[Any]:
    """Open a file, which may be compressed, as a stream of its bytes.

    Parameters
    ----------
    file : Path

    Yields
    ------
    binary stream
        It is buffered.

    Raises
    ------
    GrandPlusError
        The file can't be read, is damaged, or unpacks to more than 200 times its size.
    """
    try:
        kind = compression_of(file)
        opened = COMPRESSIONS[kind].open(file) if kind else file.open("rb")
    except OSError as error:
        raise GrandPlusError(f"can't be read: {error.strerror or error}", where=file) from None
    with opened:
        yield io.BufferedReader(_Unpacked(opened, file, kind), PIECE) if kind else opened


@contextmanager
def open_text(file: Path) -> Iterator[Any]:
    """Open a text file as a stream of bytes in UTF-8.

    Parameters
    ----------
    file : Path

    Yields
    ------
    binary stream

    Raises
    ------
    GrandPlusError
        As of ``open_unpacked``, or the text is damaged.
    """
    with open_unpacked(file) as stream:
        start = stream.peek(4)[:4]
        encoding = next((name for mark, name in _WIDE.items() if start.startswith(mark)), None)
        yield io.BufferedReader(_Utf8(stream, file, encoding), PIECE) if encoding else stream


def raise_no_utf8(line: bytes, number: int, file: Path) -> NoReturn:
    """Refuse a line that is not UTF-8.

    Raises
    ------
    GrandPlusError
        With the byte, and what it is in the encoding that Windows and old programs write.
    """
    try:
        line.decode()
    except UnicodeDecodeError as error:
        wrong = line[error.start : error.start + 1]
        before = line[: error.start].decode()[-_SHOWN:].lstrip()
        found = f"line {number} has the byte 0x{wrong.hex().upper()} after {before!r}, which is not UTF-8"
        meant = wrong.decode("cp1252", errors="replace")
        named = f"iconv -f WINDOWS-1252 -t UTF-8 {file.name} > utf8-{file.name}"
        fix = f"convert it; if the byte is {meant!r}, as Windows and Latin-1 write it: {named}"
        raise GrandPlusError(found, where=file, expected="text in UTF-8", fix=fix) from None
    raise GrandPlusError(f"line {number} is not UTF-8", where=file, expected="text in UTF-8")


class Stream(io.RawIOBase):
    """A stream whose pieces are made of another's."""

    _waiting = b""

    def readable(self) -> bool:
        return True

    def next_piece(self) -> bytes:
        """The next bytes; none at the end."""
        raise NotImplementedError

    def readinto(self, buffer: Any) -> int:
        if not self._waiting:
            self._waiting = self.next_piece()
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size


class _Unpacked(Stream):
    """What a compressed file unpacks to, which is refused if it is much more than text can be."""

    def __init__(self, stream: Any, file: Path, kind: str) -> None:
        self._stream, self._file, self._kind, self._read = stream, file, kind, 0
        self._limit = max(ALLOWED, MAX_RATIO * file.stat().st_size)

    def next_piece(self) -> bytes:
        try:
            piece = self._stream.read(PIECE)
        except _DAMAGED as error:
            found = f"can't be unpacked from {self._kind}: {error}"
            raise GrandPlusError(found, where=self._file, fix="fetch it again") from None
        self._read += len(piece)
        if self._read > self._limit:
            expected = f"at most {self._limit:,}"
            raise GrandPlusError(f"unpacks to more than {self._limit:,} bytes", where=self._file, expected=expected)
        return bytes(piece)


class _Utf8(Stream):
    """Text in UTF-16 or UTF-32, as UTF-8."""

    def __init__(self, stream: Any, file: Path, encoding: str) -> None:
        self._stream, self._file, self._encoding = stream, file, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def next_piece(self) -> bytes:
        while True:
            piece = self._stream.read(PIECE)
            try:
                text = self._decoder.decode(piece, final=not piece)
            except UnicodeDecodeError:
                found = f"is no readable text in {self._encoding.upper()}"
                raise GrandPlusError(found, where=self._file, fix="write it again") from None
            if text or not piece:
                return text.encode("utf-8", "surrogatepass")
