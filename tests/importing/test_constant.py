"""Columns of features that have one value are named at import."""

from __future__ import annotations

from own import FEW, LABELS, NODES, edges_csv, run_import


def test_constant_columns_are_named(tmp_path, monkeypatch, capsys, checkout):
    lines = [f"{i},{LABELS[i]},7,{i / 2},{1600000000 + i % 2}" for i in range(NODES)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,same,x,joined", *lines, ""]))
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    files = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    assert run_import(monkeypatch, checkout, "mine", *files, *FEW, "--features", "standardize") == 0
    assert "unused    same (the same in every node)\n" in capsys.readouterr().out
    # As they are, in float32: the timestamps become the same, too.
    assert run_import(monkeypatch, checkout, "mine", *files, *FEW, "--features", "as-is", "--replace") == 0
    assert "unused    same (the same in every node), joined (the same in every node)\n" in capsys.readouterr().out
