"""A checkout to import into, the command run in this process, and a small graph to be spoiled."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from grandplus.cli.main import main

NODES = 12
LABELS = ["a", "b"] * 6
EDGES = [(i, (i + 1) % NODES) for i in range(NODES)]
FEW = ["--train-per-class", "2", "--val-per-class", "2"]  # of six nodes a class


def edges_csv(extra: str = "", edges: list[tuple[Any, Any]] = EDGES) -> bytes:
    return ("source,target\n" + "".join(f"{u},{v}\n" for u, v in edges) + extra).encode()


def nodes_csv(changes: dict[int, str] | None = None) -> bytes:
    """A line a node: id, label, and two features; ``changes`` are other lines, by node."""
    lines = [f"{i},{LABELS[i]},{i / 2},{i % 3}" for i in range(NODES)]
    for node, line in (changes or {}).items():
        lines[node] = line
    return "\n".join(["id,label,height,width", *lines, ""]).encode()


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def ring() -> Any:
    """The same graph's adjacency, each edge in one direction."""
    start, end = np.array(EDGES).T
    return sparse.csr_matrix((np.ones(NODES), (start, end)), shape=(NODES, NODES))


def thing(value: object) -> Any:
    """What numpy pickles into an ``.npz``."""
    wrapped = np.empty((), object)
    wrapped[()] = value
    return wrapped


def run_import(monkeypatch: pytest.MonkeyPatch, checkout: Path, *arguments: object) -> int:
    monkeypatch.chdir(checkout)
    return main(["import", *map(str, arguments)])


def imported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    checkout: Path,
    edges: str | bytes,
    nodes: str | bytes,
    *arguments: str,
) -> tuple[int, str]:
    """The exit code of an import of edges.txt and nodes.csv, and what it prints."""
    files = {tmp_path / "edges.txt": edges, tmp_path / "nodes.csv": nodes}
    for file, content in files.items():
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    code = run_import(monkeypatch, checkout, "mine", *files, *FEW, *arguments)
    out, err = capsys.readouterr()
    return code, out + err
