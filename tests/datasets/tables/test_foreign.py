"""Files of kinds that are not read are told by what they begin with."""

from __future__ import annotations

import bz2
import gzip
import io
import pickle
import sqlite3
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pytest

from grandplus.datasets.tables.foreign import check_is_read, check_is_table
from grandplus.runtime.errors import GrandPlusError

FRAME = pd.DataFrame({"a": [1, 2]})


def tar(mode: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        info = tarfile.TarInfo("edges.csv")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"a,b"))
    return out.getvalue()


def feather() -> bytes:
    out = io.BytesIO()
    FRAME.to_feather(out)
    return out.getvalue()


def sqlite(folder) -> bytes:
    with sqlite3.connect(folder / "made") as database:
        database.execute("create table edges (a, b)")
    return (folder / "made").read_bytes()


def workbook() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return out.getvalue()


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, np.eye(2))
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    FRAME.to_parquet(out)
    return out.getvalue()


NEVER = {
    "feather": (feather(), "is an Arrow file (Feather); write each table as Parquet"),
    "tar": (tar("w"), "is a tar archive; unpack it"),
    "tar.gz": (tar("w:gz"), "is a tar archive; unpack it"),
    "tar.xz": (tar("w:xz"), "is a tar archive; unpack it"),
    "csv": (workbook(), "is a workbook; save each sheet"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9), "is a workbook"),
    "rds": (gzip.compress(b"X\n\0\0\0\3\0\4"), "holds data of R; write each table in R"),
    "RData": (bz2.compress(b"RDX3\nX\n\0\0\0"), "holds data of R"),
    "h5": (b"\x89HDF\r\n\x1a\n\0", "is an HDF5 file"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0", "is a 7z archive"),
    "g6": (b">>graph6<<A_\n", "in graph6 or sparse6, without labels; write it as GraphML"),
    "npy.gz": (gzip.compress(npy()), "is an array of numpy, compressed by gzip; unpack it"),
    "parquet.bz2": (bz2.compress(parquet()), "is Parquet, compressed by bzip2; unpack it"),
    "csv.gz": (gzip.compress(b""), "unpacks to nothing; expected a dataset's file"),
    "net": (b" \n\t\n", "holds nothing but white space; expected a dataset's file"),
}


@pytest.mark.parametrize("suffix", NEVER)
def test_what_no_format_reads(tmp_path, suffix):
    content, message = NEVER[suffix]
    refused(tmp_path / f"g.{suffix}", content, message, check_is_read)


def test_a_database(tmp_path):
    refused(tmp_path / "g.db", sqlite(tmp_path), "is a database of SQLite; write each table as CSV", check_is_read)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.pkl", pickle.dumps([1]), "is a pickle, which may hold code and is not loaded"),
        ("nodes.csv", pickle.dumps([1]), "is a pickle"),
        ("g.gpickle", pickle.dumps([1], protocol=0), "is a pickle"),
        ("g.dot", b"graph { a -- b; }\n", "is a graph in a form that is not read; write it as GraphML"),
        ("e.jsonl", b'{"a": 1, "b": 2}\n{"a": 2, "b": 3}\n', "is JSON Lines, an object a line; expected a table"),
        ("x.json.gz", gzip.compress(b'{"a": [1]}', mtime=0), "is JSON that is compressed, and no graph; unpack it"),
        ("e.csv", "a,b\n1,2\n".encode("utf-16-le"), "may be text in UTF-16 or UTF-32 without its mark"),
        ("e.csv", "a,b\n1,2\n".encode("utf-32-be"), "may be text in UTF-16 or UTF-32 without its mark"),
    ],
)
def test_what_is_no_table(tmp_path, name, content, message):
    refused(tmp_path / name, content, message, check_is_table)


@pytest.mark.parametrize("start", ["RDX3", "ORCID", "Rar!", "FEA1", "PAR1", "MATLAB", "ARROW1", "Obj", "X\n", "{a}"])
def test_text_that_begins_like_another_kind_is_a_table(tmp_path, start):
    (tmp_path / "edges.csv").write_text(f"{start},b\n")
    check_is_read(tmp_path / "edges.csv")
    check_is_table(tmp_path / "edges.csv")


def refused(file, content, message, check) -> None:
    file.write_bytes(content)
    with pytest.raises(GrandPlusError) as error:
        check(file)
    assert message in str(error.value)
