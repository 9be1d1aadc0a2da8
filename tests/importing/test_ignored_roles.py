"""What an option or a file says is heeded, or refused: never left out without a word."""

from __future__ import annotations

import pytest
from own import EDGES, FEW, NODES, edges_csv, nodes_csv, run_import


def run(tmp_path, monkeypatch, capsys, checkout, files: dict[str, bytes], *arguments: str) -> tuple[int, str, str]:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    given = [tmp_path / name for name in files]
    return run_import(monkeypatch, checkout, "mine", *given, *FEW, *arguments), *capsys.readouterr()


@pytest.mark.parametrize(("column", "role"), [("label", "the class"), ("id", "the ids")])
def test_ids_and_classes_are_not_ignored(tmp_path, monkeypatch, capsys, checkout, column, role):
    files = {"edges.csv": edges_csv(), "nodes.csv": nodes_csv()}
    code, _, err = run(tmp_path, monkeypatch, capsys, checkout, files, "--ignore", column)
    assert (code, f"--ignore names column {column}, which holds {role}" in err) == (2, True), err


def test_relations_of_pajek_are_counted(tmp_path, monkeypatch, capsys, checkout):
    lines = [f"*Vertices {NODES}", *(f'{i + 1} "N{i}"' for i in range(NODES))]
    for number, part in enumerate((EDGES[:6], EDGES[6:]), start=1):
        lines += [f'*Arcs :{number} "relation"', *(f"{u + 1} {v + 1} 1" for u, v in part)]
    classes = "\n".join([f"*Vertices {NODES}", *(str(i % 2) for i in range(NODES)), ""])
    given = (tmp_path, monkeypatch, capsys, checkout, {"g.net": "\n".join(lines).encode(), "g.clu": classes.encode()})
    code, out, err = run(*given, "--features", "degree")
    assert (code, "dropped   2 relations that are merged into one\n" in out) == (0, True), err
    code, _, err = run(*given, "--features", "degree", "--strict", "--replace")
    assert (code, "left out or merged: 2 relations that are merged into one" in err) == (2, True)


@pytest.mark.parametrize(
    ("asked", "classes", "missing"),
    [
        ([], 2, "3 nodes without a label (3 are called unknown)"),
        (["--na", "c"], 3, "3 nodes without an edge; 1 nodes whose features are all 0\n"),
    ],
)
def test_labels_called_unknown(tmp_path, monkeypatch, capsys, checkout, asked, classes, missing):
    labels = ["unknown"] * 3 + ["a", "b", "a", "b"] * 3
    lines = [f"{i},{label},{i / 2}" for i, label in enumerate(labels)]
    files = {"edges.csv": edges_csv(), "nodes.csv": "\n".join(["id,label,h", *lines, ""]).encode()}
    code, out, err = run(tmp_path, monkeypatch, capsys, checkout, files, *asked, "--shortage", "shrink")
    assert (code, f"classes   {classes}: " in out, missing in out) == (0, True, True), out + err
    assert ("unused    --na c (no label is called so)" in out) == bool(asked)
