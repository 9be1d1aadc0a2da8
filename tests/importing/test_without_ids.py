"""Labels and features without ids: line i is of node i, unless the first line is a header or edges count from 1."""

from __future__ import annotations

import pytest
from own import imported

NODES = 24
NUMBERS = [i * 7 % 3 for i in range(NODES)]
FROM_1 = [label + 1 for label in NUMBERS]
WORDS = [("fish", "bird")[i % 2] for i in range(NODES)]
FRAME = [f"{WORDS[i]},{i / 4},{i * i}" for i in range(NODES)]
EITHER = "may be a header or data; say --header yes or --header no"


def ring(last: int = NODES - 1, first: int = 0) -> str:
    """Edges that name the ids from the first to the last one."""
    return "source,target\n" + "".join(f"{i},{i + 1 if i < last else first}\n" for i in range(first, last + 1))


def lines(*rows: object) -> str:
    return "".join(f"{row}\n" for row in rows)


# kind: (edges, lines, further options, nodes, classes; or 0 and the words of the refusal)
KINDS = {
    "numbers below pandas' 0": (ring(), lines("0", *FROM_1), [], NODES, "3: 1 (8), 2 (8), 3 (8)"),
    "words below pandas' 0": (ring(), lines("0", *WORDS), [], NODES, "2: bird (12), fish (12)"),
    "a frame below 0,1,2": (ring(), lines("0,1,2", *FRAME), [], NODES, "2: bird (12), fish (12)"),
    "0 may be a class": (ring(), lines("0", *NUMBERS), [], 0, EITHER),
    "0 is a class": (ring(), lines(*NUMBERS), [], NODES, "3: 0 (8), 1 (8), 2 (8)"),
    "0, as said": (ring(), lines("0", *NUMBERS), ["--header", "yes"], NODES, "3: 0 (8), 1 (8), 2 (8)"),
    "0 and two isolated nodes": (ring(21), lines(*NUMBERS), [], 0, EITHER),
    "0 is a class, as said": (ring(21), lines(*NUMBERS), ["--header", "no"], NODES, "3: 0 (8), 1 (8), 2 (8)"),
    "a class of one node": (ring(), lines("Zoology", *WORDS[1:]), [], NODES, "Zoology (1)"),
    "a class of one node, or a header": (ring(22), lines("Zoology", *WORDS[1:]), [], 0, EITHER),
    "another name of the column": (ring(), lines("Zoology", *WORDS), [], 0, EITHER),
    "a usual name of the column": (ring(20), lines("y", *WORDS), [], NODES, "2: bird (12), fish (12)"),
    "a class that comes again": (ring(20), lines(*WORDS), [], NODES, "2: bird (12), fish (12)"),
    "empty lines are nodes": (ring(), lines("0", "", *WORDS[2:], ""), [], NODES, "3: 0 (1), bird (11), fish (11)"),
    "from 1": (ring(NODES, 1), lines(*WORDS), [], 0, "names node 1 and not node 0, so nodes may be counted from 1"),
    "from 1, more lines": (ring(NODES - 2, 1), lines(*WORDS), [], 0, "write its id in front of each label"),
    "from 2": (ring(first=2), lines(*WORDS), [], NODES, "2: bird (12), fish (12)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_line_i_is_of_node_i(tmp_path, monkeypatch, capsys, checkout, kind):
    edges, nodes, options, count, words = KINDS[kind]
    few = ["--shortage", "shrink"] if kind.startswith("a frame") else ["--shortage", "shrink", "--features", "degree"]
    code, out = imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, "--id", "none", *few, *options)
    assert words in out
    assert code == (0 if count else 2)
    assert not count or f"nodes     {count}, from 0 to {count - 1}\n" in out
