"""Files beside the data are named and not read; data files that are not read are refused by ``--strict``."""

from __future__ import annotations

import gzip
import zipfile

import pytest
from own import EDGES, FEW, NODES, edges_csv, nodes_csv, run_import
from ruamel.yaml import YAML

from grandplus.pipeline.card import CATALOG

SIDE = {
    "README.md": b"# Graph\n", "README": b"0 1\n1 2\n", "LICENSE.txt": b"MIT\n", "paper.pdf": b"%PDF-1.4\0",
    "figure.png": b"\x89PNG\r\n", "load.py": b"import csv\n", "Makefile": b"all:\n", "SHA256SUMS": b"ab  edges.csv\n",
    "citing.txt": b"Please cite us\n", "Thumbs.db": b"\xd0\xcf\x11\xe0", "index.html": b"<html></html>\n",
    "table.xlsx": b"PK\x03\x04", "info.yaml": b"a: 1\n", "info.xml": b"<about/>",
    "metadata.json": b'{"name": "x", "nodes": 12, "edges": 12}', "about.json": b'{"authors": ["A"]}',
    "list.json": b"[1]", "__init__.py": b"", "RELEASE_v1.txt": b"",
}  # fmt: skip


def run(monkeypatch, capsys, checkout, *arguments: object) -> tuple[int, str, str]:
    return run_import(monkeypatch, checkout, "mine", *arguments, *FEW), *capsys.readouterr()


@pytest.mark.parametrize("zipped", [False, True])
def test_files_beside_tables(tmp_path, monkeypatch, capsys, checkout, zipped):
    files = {**SIDE, "edges.csv": edges_csv(), "nodes.csv": nodes_csv()}
    given = tmp_path / ("graph.zip" if zipped else "graph")
    if zipped:
        with zipfile.ZipFile(given, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        given.mkdir()
        for name, content in files.items():
            (given / name).write_bytes(content)
    code, out, err = run(monkeypatch, capsys, checkout, given, "--strict")
    assert code == 0, err
    assert f"nodes     {NODES}, from 0 to 11" in out
    unused = next(line for line in out.splitlines() if line.startswith("unused"))
    assert [name.removesuffix(" (a file beside the data)") for name in unused[10:].split(", ")] == sorted(SIDE)
    card = YAML(typ="safe").load(checkout / CATALOG / "mine.yaml")
    assert sorted(card["source"]["files"]) == ["edges.csv", "nodes.csv"]


def test_files_beside_ogb(tmp_path, monkeypatch, capsys, checkout):
    raw = tmp_path / "graph" / "raw"
    raw.mkdir(parents=True)
    (raw.parent / "RELEASE_v1.txt").write_bytes(b"")
    (raw / "edge.csv.gz").write_bytes(gzip.compress("".join(f"{u},{v}\n" for u, v in EDGES).encode()))
    (raw / "node-label.csv.gz").write_bytes(gzip.compress(b"0\n1\n" * (NODES // 2)))
    code, out, err = run(monkeypatch, capsys, checkout, raw.parent, "--features", "degree")
    assert (code, "unused    RELEASE_v1.txt (a file beside the data)" in out) == (0, True), err


def test_files_beside_content_and_cites(tmp_path, monkeypatch, capsys, checkout):
    folder = tmp_path / "cora"
    folder.mkdir()
    lines = [f"n{i}\t{i % 3 % 2}\t{i % 4 // 2}\t{'AB'[i % 2]}\n" for i in range(NODES)]
    (folder / "cora.content").write_text("".join(lines))
    (folder / "cora.cites").write_text("".join(f"n{u}\tn{v}\n" for u, v in EDGES))
    (folder / "README").write_text("This directory contains a selection of papers.\n")
    code, out, err = run(monkeypatch, capsys, checkout, folder)
    assert (code, "format    content-cites" in out, "README (a file beside the data)" in out) == (0, True, True), err


@pytest.mark.parametrize("name", ["table.xlsx", "empty.csv", "paper.pdf"])
def test_a_file_that_is_given_by_itself_is_data(tmp_path, monkeypatch, capsys, checkout, name):
    files = {"edges.csv": edges_csv(), "nodes.csv": nodes_csv(), name: SIDE.get(name, b"")}
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    code, _, err = run(monkeypatch, capsys, checkout, *(tmp_path / file for file in files))
    assert (code, name in err) == (2, True)


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        (b"id,h\n" + b"".join(b"%d,1\n" % i for i in range(NODES)), ["--nodes", "nodes.csv"]),
        (b"\xff\xfe\0 no table", ["--nodes", "nodes.csv", "--edges", "edges.csv"]),
    ],
)
def test_strict_refuses_tables_that_are_not_read(tmp_path, monkeypatch, capsys, checkout, extra, arguments):
    files = {"edges.csv": edges_csv(), "nodes.csv": nodes_csv(), "extra.csv": extra}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    given = [tmp_path / name for name in files]
    code, _, err = run(monkeypatch, capsys, checkout, *given, *arguments, "--strict")
    assert (code, "left out or merged: extra.csv (a file that is not read)" in err) == (2, True), err
    code, out, _ = run(monkeypatch, capsys, checkout, *given, *arguments)
    assert (code, "unused    extra.csv (a file that is not read)\n" in out) == (0, True)
