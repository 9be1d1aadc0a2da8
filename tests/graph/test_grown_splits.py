"""Splits of a graph that has grown: what becomes of old and of new nodes, for each kind of split."""

import numpy as np
import pytest

from grandplus.graph.drawing import make_splits
from grandplus.graph.grown_splits import grown_splits
from grandplus.graph.settings import Preprocess

OLD, TRIALS = 40, 3
LABELS = np.append(np.arange(OLD - 4) % 2, [-1] * 4)
MORE = np.append(LABELS, [0, 1, -1])  # nodes 40, 41 and 42 are new
LISTED = {"train": np.array([5, 2]), "val": np.array([7, 8]), "test": np.array([10, 11, 38])}
NEXT = {"train": np.array([3, 4]), "val": np.array([9]), "test": np.array([12, 39])}
PUBLIC = {
    "one that lists test": [LISTED],
    "two that list test": [LISTED, NEXT],
    "one of which lists test": [LISTED, {"train": np.array([3, 4]), "val": np.array([9])}],
    "without test": [{"train": LISTED["train"], "val": LISTED["val"]}],
}


def both(kind, unlabelled, public=()):
    settings = Preprocess(features="as-is", split=kind, train_per_class=3, val_per_class=4, unlabelled=unlabelled)
    before = make_splits(LABELS, settings, list(public), seed=7, trials=TRIALS)
    return before, grown_splits(before, MORE, settings, seed=7)


CASES = [("per-class", ()), ("uniform", ()), *(("public", public) for public in PUBLIC.values())]


@pytest.mark.parametrize("unlabelled", ["all", "test", 0, 5, 100])
@pytest.mark.parametrize(("kind", "public"), CASES, ids=["per-class", "uniform", *PUBLIC])
def test_old_nodes_stay_and_new_ones_are_for_test(kind, public, unlabelled):
    before, after = both(kind, unlabelled, public)
    assert (after.nodes, after.trials) == (43, TRIALS)
    for trial in range(TRIALS):
        old, new = before.of(trial), after.of(trial)
        assert new.train.tolist() == old.train.tolist()
        assert new.val.tolist() == old.val.tolist()
        assert new.test.tolist() == [*old.test.tolist(), 40, 41]
        if isinstance(unlabelled, str):
            assert new.unlabelled.tolist() == [*old.unlabelled.tolist(), 40, 41, 42]
        else:
            assert len(new.unlabelled) == min(unlabelled, 43 - len(new.train))
            assert not np.isin(new.unlabelled, new.train).any()


def test_nodes_for_training_without_labels_are_drawn_from_old_and_new_ones():
    drawn = [both("per-class", 20)[1].of(trial).unlabelled for trial in range(TRIALS)]
    assert any((nodes >= OLD).any() for nodes in drawn)


def test_a_graph_may_grow_again(tmp_path):
    settings = Preprocess(features="as-is", split="per-class", train_per_class=3, val_per_class=4, unlabelled="test")
    splits = make_splits(LABELS, settings, [], seed=7, trials=TRIALS)
    twice = grown_splits(grown_splits(splits, MORE[:41], settings, seed=7), MORE, settings, seed=7)
    at_once = grown_splits(splits, MORE, settings, seed=7)
    assert twice.table.equals(at_once.table)
    assert twice.rest == at_once.rest
    twice.save(tmp_path)
    assert type(twice).load(tmp_path).of(1).test.tolist() == at_once.of(1).test.tolist()
