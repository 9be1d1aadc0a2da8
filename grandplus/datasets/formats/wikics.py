"""WikiCS: one ``.json`` with lists over the nodes, as its authors publish it.

Keys: ``features`` (n, d), ``labels`` (n,), ``links``, a list of neighbours for each node, and masks of 0 and 1:
``train_masks``, ``stopping_masks`` and ``val_masks`` (splits, n), and one ``test_mask`` (n,) for all splits. Its
authors stop training by one part and choose settings by another. Here validation nodes do both, so they are those of
both.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.files import pick
from grandplus.datasets.arrays.json_files import read_json_object
from grandplus.datasets.arrays.labels import labels_of
from grandplus.datasets.arrays.masks import splits_of
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.runtime.errors import GrandPlusError

FEATURES, LABELS, LINKS = "features", "labels", "links"
TRAIN, STOPPING, VAL, TEST = "train_masks", "stopping_masks", "val_masks", "test_mask"
KEYS = (FEATURES, LABELS, LINKS, TRAIN, STOPPING, VAL, TEST)
_HEAD = 2**20  # bytes of a file that are looked at first


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are numbered as in it.

    See `grandplus.datasets.formats.Format`.
    """
    file = pick(folder, files, ".json")
    content = read_json_object(file)
    missing = [key for key in KEYS if not isinstance(content.get(key), list)]
    if missing:
        raise GrandPlusError(f"has no list {missing[0]}", where=file, expected=f"lists {', '.join(KEYS)}")
    nodes = len(content[LABELS])
    labels, classes = labels_of(_array(content, LABELS, file), nodes, source, f"{file}, {LABELS}")
    edges = _edges(content[LINKS], nodes, f"{file}, {LINKS}")
    return RawGraph(
        edges=edges,
        nodes=nodes,
        features=features_of(_array(content, FEATURES, file), nodes, f"{file}, {FEATURES}"),
        labels=labels,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=_splits(content, nodes, file),
        account=Account(
            (FileAccount(file.name, edges.shape[1], "edges"), FileAccount(file.name, nodes, "nodes")),
            unused=tuple(key for key in content if key not in KEYS),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One ``.json`` with these keys.

    See `grandplus.datasets.formats.Format`.
    """
    if len(files) != 1 or files[0].suffix.lower() != ".json":
        return None
    with files[0].open("rb") as stream:
        if not stream.read(_HEAD).lstrip().startswith(b"{"):
            return None
    try:
        content = read_json_object(files[0])
    except GrandPlusError:
        return None
    return asked if {FEATURES, LABELS, LINKS, TRAIN} <= set(content) else None


def _array(content: dict[str, Any], key: str, file: Path) -> NDArray[Any]:
    try:
        return np.array(content[key])
    except (ValueError, OverflowError):  # of rows of different lengths, or a number that is too large
        expected = "rows of one length, of numbers"
        raise GrandPlusError("is no array", where=f"{file}, {key}", expected=expected) from None


def _edges(links: list[Any], nodes: int, where: str) -> NDArray[np.int32]:
    """(2, E), each link from its node to a neighbour."""
    if len(links) != nodes:
        raise GrandPlusError(f"has {len(links)} lists", where=where, expected=f"{nodes}, one for each label")
    for node, neighbors in enumerate(links):
        right = isinstance(neighbors, list) and all(type(end) is int and 0 <= end < nodes for end in neighbors)
        if not right:
            expected = f"a list of numbers from 0 to {nodes - 1}"
            raise GrandPlusError(f"node {node} has {neighbors!r:.60}", where=where, expected=expected)
    starts = np.repeat(np.arange(nodes, dtype=np.int32), [len(neighbors) for neighbors in links])
    return np.stack([starts, np.fromiter(itertools.chain.from_iterable(links), np.int32, len(starts))])


def _splits(content: dict[str, Any], nodes: int, file: Path) -> list[dict[str, NDArray[np.int64]]]:
    train, stopping, val, test = (_array(content, key, file) for key in (TRAIN, STOPPING, VAL, TEST))
    train_and_val = splits_of({"train": train, "val": val}, nodes, file)
    stops, tests = splits_of({"val": stopping}, nodes, file), splits_of({"test": test}, nodes, file)
    if len(stops) != len(train_and_val) or len(tests) != 1:
        found = f"has {len(train_and_val)} splits, and {len(stops)} of {STOPPING}"
        raise GrandPlusError(found, where=file, expected=f"as many of each, and one {TEST}")
    return [
        {**split, "val": np.union1d(split["val"], more["val"]), "test": tests[0]["test"]}
        for split, more in zip(train_and_val, stops, strict=True)
    ]
