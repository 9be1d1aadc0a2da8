"""WikiCS's JSON: what its lists mean, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grandplus.datasets.formats.wikics import read, recognise
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

GRAPH: dict[str, Any] = {
    "features": [[0.5, -1], [0, 1], [2, 0], [1, 1], [0, 0]],
    "labels": [0, 1, 1, 0, 1],
    "links": [[1, 2], [0], [], [3], [0]],
    "train_masks": [[True, False, False, False, False], [False, True, False, False, False]],
    "stopping_masks": [[False, True, False, False, False], [True, False, False, False, False]],
    "val_masks": [[False, False, True, False, False], [False, False, True, False, False]],
    "test_mask": [False, False, False, True, True],
}


def read_file(folder: Path, content: object):
    (folder / "data.json").write_text(json.dumps(content))
    return read(folder, ["data.json"], Source(format="wikics"))


def test_the_graph_and_its_splits(tmp_path):
    graph = read_file(tmp_path, GRAPH)
    assert graph.edges.T.tolist() == [[0, 1], [0, 2], [1, 0], [3, 3], [4, 0]]
    assert graph.features.tolist() == GRAPH["features"]
    assert graph.labels.tolist() == GRAPH["labels"]
    splits = [{part: nodes.tolist() for part, nodes in split.items()} for split in graph.splits]
    assert splits == [{"train": [0], "val": [1, 2], "test": [3, 4]}, {"train": [1], "val": [0, 2], "test": [3, 4]}]
    assert recognise([tmp_path / "data.json"], Reading()) == Reading()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"links": [[1, 5], [], [], [], []]}, r"links: node 0 has \[1, 5\]; expected a list of numbers from 0 to 4"),
        ({"links": [[1.5], [], [], [], []]}, r"node 0 has \[1.5\]"),
        ({"links": [[True], [], [], [], []]}, r"node 0 has \[True\]"),
        ({"links": [[]]}, "has 1 lists; expected 5, one for each label"),
        ({"features": [[1], [1, 2], [1], [1], [1]]}, "features: is no array; expected rows of one length"),
        ({"features": [[1], [1]]}, "features: is int64 2 x 1; expected numbers in 5 rows"),
        ({"test_mask": None}, "has no list test_mask"),
        ({"stopping_masks": [[False] * 5]}, "has 2 splits, and 1 of stopping_masks"),
        ({"test_mask": [2] * 5}, "test: is int64 5; expected masks of 0 and 1 over 5 nodes"),
        ({"test_mask": [[True] * 5] * 2}, "expected as many of each, and one test_mask"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, message):
    with pytest.raises(GrandPlusError, match=message):
        read_file(tmp_path, GRAPH | change)


@pytest.mark.parametrize("content", [[1], {"nodes": [], "links": []}, {}])
def test_other_json_is_of_another_format(tmp_path, content):
    (tmp_path / "data.json").write_text(json.dumps(content))
    assert recognise([tmp_path / "data.json"], Reading()) is None
