"""Import ends with what became of the files, and ``--strict`` refuses to leave anything out."""

from __future__ import annotations

import numpy as np
import pytest
from own import FEW, NODES, edges_csv, nodes_csv, run_import

from grandplus.datasets.account import Account
from grandplus.datasets.preprocess import preprocess
from grandplus.datasets.raw import RawGraph
from grandplus.graph.settings import Preprocess
from grandplus.importing.reconciliation import Entries
from grandplus.pipeline.card import CATALOG


def entries(edges: list[tuple[int, int]], *, kept_one: bool = False) -> Entries:
    labels = np.arange(6) % 2
    account = Account(both_directions=kept_one)
    raw = RawGraph(np.array(edges).T, 6, None, labels, ["a", "b"], np.arange(6), [], account=account)
    chosen = Preprocess(features="degree", split="per-class", train_per_class=1, val_per_class=1)
    return Entries.of(raw, preprocess(raw, chosen, seed=0, trials=1, name="x")[0])


def test_entries_add_up():
    found = entries([(0, 1), (1, 0), (0, 1), (2, 3), (4, 4), (5, 4), (5, 4)])
    assert found == Entries(listed=7, one_way=2, both_ways=1, repeated=2, loops=1)
    assert found.listed == found.one_way + 2 * found.both_ways + found.repeated + found.loops


def test_entries_are_those_of_the_file_if_its_reader_kept_one_of_two():
    """As Planetoid's files list each edge at both ends, and a self-loop twice."""
    assert entries([(0, 1), (0, 1), (2, 3), (4, 4)], kept_one=True) == Entries(8, 0, 2, 2, 2)


def run(tmp_path, monkeypatch, capsys, checkout, edges: bytes, nodes: bytes, *arguments: str) -> tuple[int, str, str]:
    (tmp_path / "edges.csv").write_bytes(edges)
    (tmp_path / "nodes.csv").write_bytes(nodes)
    files = (tmp_path / "edges.csv", tmp_path / "nodes.csv")
    code = run_import(monkeypatch, checkout, "mine", *files, *FEW, *arguments)
    return code, *capsys.readouterr()


def test_import_ends_with_it(tmp_path, monkeypatch, capsys, checkout):
    nodes = nodes_csv().replace(b"height", b"name").replace(b".5,", b".5 m,").replace(b".0,", b".0 m,")
    code, out, _ = run(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes)
    assert code == 0
    assert "read      edges.csv: 12 edges, beside header 'source,target' (1 line); nodes.csv: 12 nodes, beside" in out
    assert "ids       12 in both edges and nodes, 0 in edges only, 0 in nodes only" in out
    assert "unused    nodes.csv: name (text)" in out


@pytest.mark.parametrize(
    ("extra", "words"),
    [("", ""), ("5,5\n", "1 self-loop"), ("0,1\n", "1 entry that repeats an edge"), ("1,0\n", "")],
)
def test_strict_refuses_what_is_left_out(tmp_path, monkeypatch, capsys, checkout, extra, words):
    code, _, err = run(tmp_path, monkeypatch, capsys, checkout, edges_csv(extra), nodes_csv(), "--strict")
    assert code == (2 if words else 0)
    assert words in err
    assert [file.name for file in (checkout / CATALOG).iterdir()] == ([] if words else ["mine.yaml"])


def test_strict_heeds_what_an_option_names(tmp_path, monkeypatch, capsys, checkout):
    lines = ["id,label,name,x", *(f"{i},{'ab'[i % 2]},n{i},0.5" for i in range(NODES - 1)), f"{NODES - 1},b,n,2", ""]
    nodes = "\n".join(lines).encode()
    code, _, err = run(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes, "--strict")
    assert (code, "column nodes.csv: name (text)" in err) == (2, True)
    assert run(tmp_path, monkeypatch, capsys, checkout, edges_csv(), nodes, "--strict", "--ignore", "name")[0] == 0
