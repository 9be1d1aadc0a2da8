"""Lists of ids: whatever wrote them, they name these nodes, or are refused by the user's own ids and files."""

from __future__ import annotations

import numpy as np
import pytest

from grandplus.datasets.account import FileAccount
from grandplus.datasets.split_lists import listed_split
from grandplus.runtime.errors import GrandPlusError

NUMBERS = np.array([7, 500, 501, 502], np.int64)
TEXTS = np.array(['a"b', "id", "paper 1", "é"], object)


def split(folder, node_ids, **lists):
    files = {part: folder / f"{part}.txt" for part in lists}
    for part, content in lists.items():
        files[part].write_bytes(content)
    return listed_split(files, node_ids)


@pytest.mark.parametrize(
    ("node_ids", "content", "nodes", "heads"),
    [
        (NUMBERS, b"501\n7\n", [0, 2], 0),
        (NUMBERS, b"\xef\xbb\xbfid\r\n501\r\n\r\n7\r\n", [0, 2], 1),  # as Excel on Windows writes it
        (NUMBERS, b'"x"\n"501"\n"7"\n', [0, 2], 1),  # as R writes it
        (NUMBERS, b"501\r7\r", [0, 2], 0),
        (TEXTS, '"a""b"\né\n'.encode(), [0, 3], 0),
        (TEXTS, b'a"b\nid\n', [0, 1], 0),
        (TEXTS[2:], b"node_id\npaper 1\n", [0], 1),
    ],
)
def test_lists_as_programs_write_them(tmp_path, node_ids, content, nodes, heads):
    found, account = split(tmp_path, node_ids, train=content)
    assert found["train"].tolist() == nodes
    assert account == (FileAccount("train.txt", len(nodes), "ids", {"header": 1} if heads else {}),)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"train": b"500\n502\n", "val": b"7\n502\n"}, "train.txt: names node 502, and so does val.txt; expected each"),
        ({"train": b"500\n", "val": b"7\n", "test": b"7\n"}, "val.txt: names node 7, and so does test.txt"),
        ({"train": b"500\n7\n", "val": b"7\n500\n"}, "train.txt: names node 7 and 1 more, and so does val.txt"),
        ({"train": b"500\n7\n500\n"}, "train.txt: names node 500 twice; expected each once"),
        ({"train": b"500\n503\n"}, "train.txt: names node '503'; expected an id of a node of the graph"),
        ({"train": b"500.0\n7.0\n"}, "train.txt: names node '500.0'"),
        ({"train": b"500,train\n7,train\n"}, "train.txt: names node '500,train'"),
        ({"train": b"0500\n"}, "train.txt: names node '0500'"),
    ],
)
def test_what_is_refused(tmp_path, lists, message):
    with pytest.raises(GrandPlusError) as refused:
        split(tmp_path, NUMBERS, **lists)
    assert message in str(refused.value)
