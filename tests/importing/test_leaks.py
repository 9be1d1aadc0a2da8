"""A feature that is the class under another name is refused."""

from __future__ import annotations

import pytest
from own import FEW, LABELS, NODES, edges_csv, run_import

from grandplus.pipeline.card import CATALOG


def run(tmp_path, monkeypatch, capsys, checkout, name, code_of, *arguments, nodes=NODES) -> tuple[int, str, str]:
    lines = [f"{i},{'ab'[i % 2]},{code_of(i)},{i / 2}" for i in range(nodes)]
    (tmp_path / "nodes.csv").write_text("\n".join([f"id,label,{name},h", *lines, ""]))
    (tmp_path / "edges.csv").write_bytes(edges_csv(edges=[(i, (i + 1) % nodes) for i in range(nodes)]))
    files = (tmp_path / "edges.csv", tmp_path / "nodes.csv")
    return run_import(monkeypatch, checkout, "mine", *files, *FEW, *arguments), *capsys.readouterr()


@pytest.mark.parametrize(("name", "nodes"), [("label_id", NODES), ("classCode", NODES), ("x", 24)])
def test_it_is_refused(tmp_path, monkeypatch, capsys, checkout, name, nodes):
    given = (tmp_path, monkeypatch, capsys, checkout, name, lambda i: 7 - i % 2)
    code, _, err = run(*given, nodes=nodes)
    found = f"error: {name} has one value in each class, another in every class: it may be the class itself"
    assert (code, err.startswith(found)) == (2, True), err
    assert f"import with --ignore {name}\n" in err
    assert list((checkout / CATALOG).iterdir()) == []
    code, out, _ = run(*given, "--ignore", name, nodes=nodes)
    assert (code, f"unused    nodes.csv: {name}" in out, "features  1, dense" in out) == (0, True, True)


@pytest.mark.parametrize(
    ("name", "code_of", "nodes"),
    [
        ("x", lambda i: i % 2, NODES),  # by chance, among few nodes
        ("label_id", lambda i: i % 3, NODES),
        ("x", lambda i: i % 2 if i != 23 else 0, 24),  # not in all nodes
        ("x", lambda i: i % 4, 24),  # tells the class, and more
    ],
)
def test_what_differs_from_the_class_is_a_feature(tmp_path, monkeypatch, capsys, checkout, name, code_of, nodes):
    code, out, err = run(tmp_path, monkeypatch, capsys, checkout, name, code_of, nodes=nodes)
    assert (code, "features  2, dense" in out) == (0, True), err


def test_nodes_without_a_label_may_have_any_value(tmp_path, monkeypatch, capsys, checkout):
    lines = [f"{i},{LABELS[i % 12]},{i % 2},{i}" for i in range(24)] + [f"{i},,{i},{i}" for i in range(24, 30)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,x,h", *lines, ""]))
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    code = run_import(monkeypatch, checkout, "mine", tmp_path / "edges.csv", tmp_path / "nodes.csv", *FEW)
    assert (code, "error: x has one value" in capsys.readouterr().err) == (2, True)
