"""Labelled, unlabelled, validation and test nodes of every trial."""

import tempfile
from pathlib import Path

import graphs  # noqa: F401 - for its hypothesis profile
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandplus.graph.drawing import make_splits
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import EVERY_TRIAL, PARTS, Splits
from grandplus.runtime.errors import ArtifactError, GrandPlusError

# Class 0: 30 nodes, class 1: 20, class 2: 10, and 15 without a label, all mixed.
LABELS = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, -1], [30, 20, 10, 15]))
PUBLIC = {"train": np.array([8, 3, 60]), "val": np.array([4, 5]), "test": np.array([70, 71, 74])}
DRAWN = pytest.mark.parametrize("split", ["per-class", "uniform"])
U_SIZE = pytest.mark.parametrize("unlabelled", ["all", "test", 0, 5, 63])


def wanted(split="per-class", train=4, val=3, unlabelled="all") -> Preprocess:
    return Preprocess(features="as-is", split=split, train_per_class=train, val_per_class=val, unlabelled=unlabelled)


def made(preprocess: Preprocess, trials=3, seed=0, labels=LABELS, public=PUBLIC) -> Splits:
    return make_splits(labels, preprocess, [public], seed=seed, trials=trials)


def listed(splits: Splits, trial: int) -> list[list]:
    split = splits.of(trial)
    return [getattr(split, part).tolist() for part in PARTS]


# --- Trial i depends on (seed, i) alone ------------------------------------------------------


@DRAWN
@U_SIZE
def test_more_trials_do_not_change_the_first_ones(split, unlabelled):
    few, many = (made(wanted(split, unlabelled=unlabelled), trials=count) for count in (2, 7))
    assert [listed(few, trial) for trial in range(2)] == [listed(many, trial) for trial in range(2)]


def without_test(number: int) -> dict[str, np.ndarray]:
    return {part: PUBLIC[part] + number for part in ("train", "val")}


# The data's own splits: one; several; some of which list test nodes; with training sets of several sizes.
OWN = {
    "one": [PUBLIC],
    "one without test": [without_test(0)],
    "several": [PUBLIC, {part: nodes - 1 for part, nodes in PUBLIC.items()}],
    "some without test": [without_test(0), PUBLIC, without_test(2)],
    "of several sizes": [without_test(0) | {"train": np.arange(20, 20 + size)} for size in (2, 9, 13)],
}


@U_SIZE
@pytest.mark.parametrize("kind", OWN)
def test_more_trials_of_public_splits_do_not_change_the_first_ones(kind, unlabelled):
    labels = LABELS.copy()
    labels[[2, 3, 4, 5, 6, 7, 8, 59, 60, 62]] = 0
    counts = {
        count: make_splits(labels, wanted("public", unlabelled=unlabelled), OWN[kind], seed=0, trials=count)
        for count in (1, 2, 3, 7)
    }
    for count, splits in counts.items():
        assert [listed(splits, trial) for trial in range(count)] == [listed(counts[7], trial) for trial in range(count)]
    assert all(counts[7].of(trial).unlabelled.size for trial in range(7)) == (unlabelled != 0)


def test_of_public_splits_some_of_which_list_test_nodes_the_others_test_on_all_labelled_ones():
    splits = make_splits(LABELS, wanted("public", unlabelled="test"), [without_test(0), PUBLIC], seed=0, trials=2)
    split = splits.of(0)
    assert split.test.tolist() == [
        node for node in np.flatnonzero(LABELS >= 0) if node not in [*split.train, *split.val]
    ]
    assert split.unlabelled.tolist() == sorted([*split.test, *np.flatnonzero(LABELS < 0)])
    assert set(splits.of(1).test) <= {70, 71, 74}


def test_a_pool_larger_than_what_some_splits_leave_is_all_of_it():
    public = [{"train": np.arange(size), "val": np.array([70, 71])} for size in (2, 12)]
    splits = make_splits(np.zeros(75, np.int64), wanted("public", unlabelled=70), public, seed=0, trials=2)
    assert len(splits.of(0).unlabelled) == 70
    assert splits.of(1).unlabelled.tolist() == list(range(12, 75))


@DRAWN
def test_trials_and_seeds_differ_and_repeat(split):
    first, again, other = (made(wanted(split), seed=seed) for seed in (5, 5, 6))
    assert [listed(first, trial) for trial in range(3)] == [listed(again, trial) for trial in range(3)]
    drawn = [tuple(splits.of(trial).train) for splits in (first, other) for trial in range(3)]
    assert len(set(drawn)) == 6


def test_seed_and_trial_do_not_stand_for_each_other():
    # Trial 1 of seed 0 is not trial 0 of seed 1.
    assert listed(made(wanted(), seed=0), 1) != listed(made(wanted(), seed=1), 0)


def test_the_unlabelled_pool_of_a_public_split_differs_by_trial():
    splits = made(wanted("public", unlabelled=20))
    pools = [tuple(splits.of(trial).unlabelled) for trial in range(3)]
    assert len(set(pools)) == 3
    assert listed(made(wanted("public", unlabelled=20), trials=9), 1) == listed(splits, 1)


# --- What is in the parts --------------------------------------------------------------------


def check(splits: Splits, labels, trial: int, unlabelled) -> None:
    """What holds for every drawn split."""
    split = splits.of(trial)
    nodes = np.arange(len(labels))
    for part in PARTS:
        members = getattr(split, part)
        assert members.dtype == np.int64
        assert len(np.unique(members)) == len(members)
        assert np.all(np.isin(members, nodes))
        assert part == "train" or np.all(np.diff(members) > 0)
    assert np.all(labels[split.train] >= 0)
    assert np.all(labels[split.val] >= 0)
    # Train, val and test are a partition of the labelled nodes; U' is anywhere but in train.
    assert sorted([*split.train, *split.val, *split.test]) == nodes[labels >= 0].tolist()
    assert not np.intersect1d(split.unlabelled, split.train).size
    rest = len(labels) - len(split.train)
    others = rest - len(split.val)  # the test nodes, and those that lack a label
    sizes = {"all": rest, "test": others}
    assert len(split.unlabelled) == (sizes[unlabelled] if unlabelled in sizes else min(unlabelled, rest))
    if unlabelled == "test":
        np.testing.assert_array_equal(split.unlabelled, np.setdiff1d(nodes, [*split.train, *split.val]))


@U_SIZE
@pytest.mark.parametrize("trial", range(3))
def test_per_class_takes_the_same_from_each_class(trial, unlabelled):
    splits = made(wanted("per-class", unlabelled=unlabelled))
    check(splits, LABELS, trial, unlabelled)
    split = splits.of(trial)
    assert np.bincount(LABELS[split.train]).tolist() == [4, 4, 4]
    assert np.bincount(LABELS[split.val]).tolist() == [3, 3, 3]


@U_SIZE
@pytest.mark.parametrize("trial", range(3))
def test_uniform_takes_as_many_from_all_alike(trial, unlabelled):
    splits = made(wanted("uniform", unlabelled=unlabelled))
    check(splits, LABELS, trial, unlabelled)
    assert (len(splits.of(trial).train), len(splits.of(trial).val)) == (12, 9)


def test_uniform_follows_the_class_sizes():
    splits = made(wanted("uniform"), trials=400)
    counts = sum(np.bincount(LABELS[splits.of(trial).train], minlength=3) for trial in range(400))
    # 4,800 draws, half of class 0, a third of 1, a sixth of 2; 4 standard deviations.
    assert counts / 4800 == pytest.approx(np.array([1 / 2, 1 / 3, 1 / 6]), abs=0.03)


def test_every_node_outside_of_train_can_be_in_the_pool():
    splits = made(wanted("public", unlabelled=8), trials=200)
    counts = sum(np.bincount(splits.of(trial).unlabelled, minlength=75) for trial in range(200))
    assert np.flatnonzero(counts == 0).tolist() == [3, 8, 60]  # L itself
    others = np.delete(counts, [3, 8, 60])
    assert (others.min(), others.max()) == pytest.approx((200 / 9, 200 / 9), abs=20)


@given(
    sizes=st.lists(st.integers(3, 8), min_size=1, max_size=4),
    unknown=st.integers(0, 5),
    split=st.sampled_from(["per-class", "uniform"]),
    train=st.integers(1, 2),
    unlabelled=st.one_of(st.sampled_from(["all", "test"]), st.integers(0, 50)),
    seed=st.integers(0, 2**63 - 1),
)
def test_any_labels(sizes, unknown, split, train, unlabelled, seed):
    labels = np.repeat([*range(len(sizes)), -1], [*sizes, unknown])
    splits = made(wanted(split, train, 1, unlabelled), trials=2, seed=seed, labels=labels)
    for trial in range(2):
        check(splits, labels, trial, unlabelled)
        assert len(splits.of(trial).train) == train * len(sizes)
    with tempfile.TemporaryDirectory() as folder:
        splits.save(Path(folder))
        loaded = Splits.load(folder)
        assert [listed(loaded, trial) for trial in range(2)] == [listed(splits, trial) for trial in range(2)]


# --- Public splits ---------------------------------------------------------------------------


def test_a_public_split_is_the_given_one_in_every_trial():
    splits = made(wanted("public"))
    for trial in range(3):
        split = splits.of(trial)
        assert split.train.tolist() == [8, 3, 60]  # in the order that it came in
        assert split.val.tolist() == [4, 5]
        assert split.test.tolist() == [70, 71, 74]  # not all the rest
        assert split.unlabelled.tolist() == [node for node in range(75) if node not in (3, 8, 60)]


def test_the_pool_holds_validation_and_test_nodes_and_those_without_a_label():
    pool = made(wanted("public")).of(0).unlabelled
    assert np.all(np.isin([4, 5, 70, 71, 74], pool))
    assert np.all(np.isin(np.flatnonzero(LABELS < 0), [*pool, 3, 8, 60]))


@pytest.mark.parametrize("part", ["train", "val"])
def test_a_public_split_without_a_part_is_refused(part):
    incomplete = {name: nodes for name, nodes in PUBLIC.items() if name != part}
    with pytest.raises(GrandPlusError, match=f"the data's split has no labelled {part} node; take per-class"):
        made(wanted("public"), public=incomplete)


def test_without_a_public_split_it_is_refused():
    with pytest.raises(GrandPlusError, match="split is public, but the data has no split; take per-class"):
        make_splits(LABELS, wanted("public"), [], seed=0, trials=1)


def test_a_public_split_without_test_nodes_tests_on_the_other_labelled_ones():
    split = made(wanted("public"), public={"train": PUBLIC["train"], "val": PUBLIC["val"]}).of(1)
    assert split.test.tolist() == [node for node in np.flatnonzero(LABELS >= 0) if node not in (3, 8, 60, 4, 5)]


def test_nodes_without_a_label_are_left_out_of_a_public_split():
    unlabelled = {"train": np.array([8, 1, 3, 60]), "val": np.array([4, 5, 2]), "test": np.array([7, 70, 71, 74])}
    assert listed(made(wanted("public"), public=unlabelled), 0) == listed(made(wanted("public")), 0)
    pool = made(wanted("public", unlabelled="test"), public=unlabelled).of(0).unlabelled
    assert pool.tolist() == [7, 70, 71, 74]


def test_trials_are_all_tested_or_none():
    untested = PUBLIC | {"test": np.array([7])}  # which has no label
    made(wanted("public")).check_tested()
    made(wanted("public"), public=untested).check_tested()
    mixed = make_splits(LABELS, wanted("public"), [PUBLIC, untested], seed=0, trials=2)
    with pytest.raises(GrandPlusError, match="trial 1 has no test node with a label, and trial 0 has; expected some"):
        mixed.check_tested()


def test_parts_of_a_public_split_that_overlap():
    with pytest.raises(GrandPlusError, match="the data's split has node 5 in val and test; expected each node once"):
        made(wanted("public"), public=PUBLIC | {"test": np.array([70, 5])})


def test_of_several_public_splits_each_trial_takes_the_next():
    several = [{part: nodes + number for part, nodes in PUBLIC.items()} for number in (0, 1, 2)]
    splits = make_splits(np.zeros(80, np.int64), wanted("public"), several, seed=0, trials=5)
    assert [splits.of(trial).train.tolist() for trial in range(5)] == [
        [8, 3, 60], [9, 4, 61], [10, 5, 62], [8, 3, 60], [9, 4, 61],
    ]  # fmt: skip
    assert splits.of(4).test.tolist() == [71, 72, 75]


# --- The table -------------------------------------------------------------------------------


def test_what_is_the_same_everywhere_stands_once_and_the_rest_is_implied():
    public = made(wanted("public"), trials=100)
    assert public.table.schema.equals(pa.schema({"trial": pa.int32(), "node": pa.int64(), "part": pa.string()}))
    assert len(public.table) == 8
    assert set(public.table["trial"].to_pylist()) == {EVERY_TRIAL}
    assert public.rest == {"unlabelled"}
    drawn = made(wanted("per-class"), trials=2)
    assert len(drawn.table) == 2 * (12 + 9) + 15  # those without a label, once
    assert drawn.rest == {"test", "unlabelled"}
    sampled = made(wanted("uniform", unlabelled=5), trials=2)
    assert len(sampled.table) == 2 * (12 + 9 + 5) + 15
    assert sampled.rest == {"test"}
    # More than there are: all of them.
    assert made(wanted(unlabelled=63)).rest == {"test", "unlabelled"}
    assert made(wanted(unlabelled=62)).rest == {"test"}


@pytest.mark.parametrize("split", ["public", "per-class", "uniform"])
@U_SIZE
def test_splits_survive(tmp_path, split, unlabelled):
    splits = made(wanted(split, unlabelled=unlabelled))
    splits.save(tmp_path)
    loaded = Splits.load(str(tmp_path))
    assert (loaded.nodes, loaded.trials, loaded.rest) == (75, 3, splits.rest)
    assert [listed(loaded, trial) for trial in range(3)] == [listed(splits, trial) for trial in range(3)]
    whole = (tmp_path / "splits.parquet").read_bytes()
    splits.save(tmp_path)
    assert (tmp_path / "splits.parquet").read_bytes() == whole


@pytest.mark.parametrize("trial", [-1, 3])
def test_a_trial_that_was_not_drawn(trial):
    with pytest.raises(GrandPlusError, match=f"trial {trial} is not in the splits; expected 0 to 2"):
        made(wanted()).of(trial)


def test_rows_are_needed_for_train_pool_and_validation_over_all_trials():
    # Without a pool: the three of train and two of val, in every trial.
    assert made(wanted("public", unlabelled=0)).needing_rows().tolist() == [3, 4, 5, 8, 60]
    # With all unlabelled nodes, all.
    assert made(wanted("public")).needing_rows().tolist() == list(range(75))
    # Nor for the pool, where the method doesn't train on it.
    assert made(wanted("public")).needing_rows(unlabelled=False).tolist() == [3, 4, 5, 8, 60]
    splits = made(wanted("uniform", unlabelled=2))
    drawn = [splits.of(trial) for trial in range(3)]
    union = {node for split in drawn for part in (split.train, split.val, split.unlabelled) for node in part.tolist()}
    assert splits.needing_rows().tolist() == sorted(union)
    assert len(union) < 75


@pytest.mark.parametrize("content", [None, b"", b"PAR1", b"no parquet at all"])
def test_a_missing_or_damaged_file_is_named(tmp_path, content):
    file = tmp_path / "splits.parquet"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ArtifactError) as refused:
        Splits.load(tmp_path)
    assert str(refused.value).startswith(f"{file}: {'no such file' if content is None else 'is no readable table'}")


# --- Too few nodes ---------------------------------------------------------------------------


def test_a_class_with_too_few_nodes_is_named():
    with pytest.raises(GrandPlusError, match="class 2 has 10 nodes; expected at least 8 to train and 3 to validate"):
        made(wanted(train=8))
    assert len(made(wanted(train=7)).of(0).train) == 21  # just enough


def test_too_few_labelled_nodes_for_a_uniform_split():
    with pytest.raises(GrandPlusError, match="60 labelled nodes are too few; expected at least 54 to train"):
        made(wanted("uniform", train=18))
    assert made(wanted("uniform", train=17)).of(0).train.shape == (51,)  # just enough


def test_shrink_takes_two_thirds_of_a_class_that_is_too_small_in_the_wanted_proportion():
    labels = np.repeat([0, 1, 2, 3], [30, 9, 2, 1])
    split = made(wanted(train=6, val=12).model_copy(update={"shortage": "shrink"}), labels=labels).of(0)
    assert np.bincount(labels[split.train], minlength=4).tolist() == [6, 2, 1, 1]
    assert np.bincount(labels[split.val], minlength=4).tolist() == [12, 4, 1, 0]
    assert np.bincount(labels[split.test], minlength=4).tolist() == [12, 3, 0, 0]


def test_shrink_of_a_uniform_split():
    split = made(wanted("uniform", train=18, val=9).model_copy(update={"shortage": "shrink"})).of(0)
    assert (len(split.train), len(split.val), len(split.test)) == (26, 14, 20)  # 60, a third of them for test


def test_shrink_needs_a_node_to_validate():
    with pytest.raises(GrandPlusError, match="no labelled node is left to validate"):
        made(wanted().model_copy(update={"shortage": "shrink"}), labels=np.array([0, 1]))


def test_a_class_is_named_in_the_error():
    with pytest.raises(GrandPlusError, match=r"class small has 2 nodes; .* or preprocess\.shortage to shrink"):
        make_splits(np.repeat([0, 1], [20, 2]), wanted(), [], seed=0, trials=1, classes=["large", "small"])
