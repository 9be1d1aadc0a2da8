"""Ids with an exponent, as R writes 100000, are whole numbers; those that a program rounded are refused."""

from __future__ import annotations

import pytest
from own import imported

RING = [(i, (i + 1) % 24) for i in range(24)]
ROUND = ["1e+05", "2e+05", "1.2e+10", "3E+005"]
SPELLED_OUT = {"1e+05": 100_000, "2e+05": 200_000, "1.2e+10": 12_000_000_000, "3E+005": 300_000}


def tables(of_edges: list[str], of_nodes: list[str]) -> tuple[str, str]:
    edges = "source,target\n" + "".join(f"{of_edges[u]},{of_edges[v]}\n" for u, v in RING)
    return edges, "id,label\n" + "".join(f"{name},{'ab'[i % 2]}\n" for i, name in enumerate(of_nodes))


@pytest.mark.parametrize("short", ROUND)
@pytest.mark.parametrize("where", ["edges", "nodes", "both"])
def test_an_exponent_among_whole_numbers_is_written_out(tmp_path, monkeypatch, capsys, checkout, short, where):
    plain = [*map(str, range(99_977, 100_000)), str(SPELLED_OUT[short])]
    mixed = [*plain[:-1], short]
    edges, nodes = tables(plain if where == "nodes" else mixed, plain if where == "edges" else mixed)
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--features", "degree", "--strict")
    assert code == 0
    assert f"nodes     24, from 99977 to {plain[-1]}\n" in out
    assert "24 in both edges and nodes, 0 in edges only" in out


def test_two_spellings_of_a_node_in_one_table_are_one_id(tmp_path, monkeypatch, capsys, checkout):
    names = [*map(str, range(99_977, 100_000)), "100000"]
    edges, nodes = tables(names, names)
    given = tmp_path, monkeypatch, capsys, checkout, edges, nodes + "1e+05,a\n", "--features", "degree"
    code, out = imported(*given)
    assert code == 2
    assert "line 26 has the id 100000 of line 25; expected one line a node" in out


def test_among_text_an_exponent_is_text(tmp_path, monkeypatch, capsys, checkout):
    names = [*(f"p{i}" for i in range(23)), "1e+05"]
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, *tables(names, names), "--features", "degree")
    assert code == 0
    assert "nodes     24, from 1e+05 to p9\n" in out


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("{:g}", "1.23457e+06, which is rounded: it has 6 digits of 7"),
        ("{:.3g}", "1.23e+06, which is rounded: it has 3 digits of 7"),
        ("{:.4e}", "1.2346e+06, which is rounded: it has 5 digits of 7"),
    ],
)
@pytest.mark.parametrize("where", ["edges", "both"])
def test_rounded_ids_are_refused(tmp_path, monkeypatch, capsys, checkout, form, shown, where):
    ids = [1_234_567 + 3 * i for i in range(24)]
    rounded = [form.format(number) for number in ids]
    edges, nodes = tables(rounded, rounded if where == "both" else list(map(str, ids)))
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--features", "degree")
    assert code == 2
    assert where == "both" or shown in out


def test_all_digits_below_an_exponent_are_whole_numbers(tmp_path, monkeypatch, capsys, checkout):
    """As numpy.savetxt writes them."""
    ids = [1_234_567 + 3 * i for i in range(24)]
    edges, nodes = tables([f"{number:.18e}" for number in ids], list(map(str, ids)))
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--features", "degree", "--strict")
    assert code == 0
    assert f"nodes     24, from {ids[0]} to {ids[-1]}\n" in out
