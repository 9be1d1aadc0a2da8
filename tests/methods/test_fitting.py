"""``fit`` of a task that was made by hand: mistakes are told in one line, by every method."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from small_graph import NODES, SHORT, small_graph, small_split

import grandplus as gp
from grandplus.graph.splits import Split
from grandplus.methods.registry import NAMES, settings_of
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import ArgumentError

NOBODY = np.empty(0, np.int64)


def settings(name):
    return settings_of(name).Settings(**SHORT.get(name, {"epochs": 2}))


def task(**changes):
    graph = changes.pop("graph", small_graph())
    rows = gfpush(
        small_graph(), np.arange(NODES), weights=propagation_weights("ppr", order=4, alpha=0.2), rmax=1e-4, top_k=16
    )
    split = dataclasses.replace(small_split(), **changes.pop("split", {}))
    return gp.Task(graph, split, rows, **changes)


def unlabelled(node):
    labels = small_graph().labels.copy()
    labels[node] = -1
    return dataclasses.replace(small_graph(), labels=labels)


MISTAKES = [
    ({"split": {"train": NOBODY}}, "train names no node; expected at least one"),
    ({"split": {"val": NOBODY}}, "val names no node; expected at least one"),
    ({"split": {"train": np.array([-1, 1])}}, "train names node -1; expected 0 to 29"),
    ({"split": {"val": np.array([99])}}, "val names node 99; expected 0 to 29"),
    ({"split": {"unlabelled": np.array([99])}}, "unlabelled names node 99; expected 0 to 29"),
    ({"split": {"train": np.array([0.0, 1.0])}},
     "train has shape (2,) and type float64; expected row numbers, or a mask of 30"),
    ({"split": {"val": np.ones(7, bool)}}, "val has shape (7,) and type bool; expected row numbers, or a mask of 30"),
    ({"graph": unlabelled(3)}, "train names node 3, which has no label; expected nodes with a label"),
    ({"graph": unlabelled(12)}, "val names node 12, which has no label; expected nodes with a label"),
    ({"graph": dataclasses.replace(small_graph(), features=sp.csr_array((NODES, 0), dtype=np.float32))},
     "the graph has no features; expected at least one column"),
    ({"seed": [-1]}, "seed is [-1]; expected a whole number of at least 0, or a list of them"),
    ({"seed": "a"}, "seed is 'a'; expected a whole number of at least 0, or a list of them"),
    ({"device": "x"}, "device is 'x'; expected cpu or cuda"),
    ({"threads": 0}, "threads is 0; expected a whole number of at least 1"),
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("changes", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_mistakes_of_a_task_are_told_in_one_line(name, changes, message):
    with pytest.raises(ArgumentError) as refused:
        gp.fit(task(**changes), settings(name))
    assert str(refused.value) == message


@pytest.mark.parametrize("name", ["grandplus", "sgc"])
def test_masks_are_the_row_numbers_that_they_say(name):
    split = small_split()
    masks = {part: np.isin(np.arange(NODES), getattr(split, part)) for part in ("train", "val", "test", "unlabelled")}
    ours, theirs = (gp.fit(task(split=parts), settings(name)).model for parts in ({}, masks))
    assert ours.predict_proba(small_graph()).tobytes() == theirs.predict_proba(small_graph()).tobytes()
    lists = Split(**{part: getattr(split, part).tolist() for part in masks})
    assert (
        gp.fit(dataclasses.replace(task(), split=lists), settings(name)).history
        == gp.fit(task(), settings(name)).history
    )
