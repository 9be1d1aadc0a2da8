"""Training on a small graph with known classes; batches; early stopping; seeds."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.grandplus.method import LEAST_FALL, LONGEST_TIE, LOSS_STEP, EarlyStopping, batches, fit
from grandplus.methods.grandplus.mlp import MLP, Snapshot
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import Task
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import ArgumentError, GrandPlusError

NODES, CLASSES = 60, ["a", "b", "c"]


@pytest.fixture(scope="module")
def problem():
    """Three dense communities whose features tell them apart: a task of them."""
    rng = np.random.default_rng(0)
    labels = np.arange(NODES) % 3
    same = labels[:, None] == labels
    edges = sp.csr_array(np.triu(rng.random((NODES, NODES)) < np.where(same, 0.3, 0.02), 1))
    features = (np.eye(3)[labels] + 0.3 * rng.random((NODES, 3))).astype(np.float32)
    rows = gfpush(edges, np.arange(NODES), weights=propagation_weights("avg", order=2), rmax=1e-6, top_k=16)
    split = Split(np.arange(9), np.arange(9, 30), np.arange(30, NODES), np.arange(9, NODES))
    graph = Graph(as_adjacency(edges), features, labels, CLASSES, np.arange(NODES))
    return Task(graph, split, rows)


def with_graph(task, **changes):
    """The task with another graph."""
    return dataclasses.replace(task, graph=dataclasses.replace(task.graph, **changes))


def test_it_learns_what_can_be_learnt(problem, train_settings):
    trained = fit(problem, train_settings(lr=0.05))
    assert trained.history["val_accuracy"][0] < 1
    assert max(trained.history["val_accuracy"]) == 1
    assert trained.model.info["val_accuracy"] == 1
    assert trained.history["train_loss"][-1] < trained.history["train_loss"][0] / 2


def test_validations_are_every_ten_steps_from_step_0(problem, train_settings):
    trained = fit(problem, train_settings(max_epochs=10))  # 3 steps an epoch
    assert trained.history["step"] == [0, 10, 20]
    assert trained.model.info["steps"] == 30


def state_of(trained):
    return {name: tensor.numpy().tobytes() for name, tensor in trained.model.mlp.state_dict().items()}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_seed_decides_every_byte(problem, train_settings, make):
    task = with_graph(problem, features=make(problem.graph.features))
    settings = train_settings(max_epochs=20, dropout_input=0.3, dropout_hidden=0.3)
    runs = [fit(dataclasses.replace(task, seed=[7, trial]), settings) for trial in (0, 0, 1)]
    assert state_of(runs[0]) == state_of(runs[1])
    assert runs[0].history == runs[1].history
    assert state_of(runs[0]) != state_of(runs[2])


def test_the_callers_random_numbers_are_left_alone(problem, train_settings):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fit(problem, train_settings(max_epochs=2))
    assert torch.equal(torch.rand(3), expected)


def test_labels_of_test_nodes_are_never_looked_at(problem, train_settings):
    hidden = problem.graph.labels.copy()
    hidden[problem.split.test] = -1
    tasks = problem, with_graph(problem, labels=hidden)
    runs = [fit(task, train_settings(max_epochs=20)) for task in tasks]
    assert state_of(runs[0]) == state_of(runs[1])


def test_a_first_loss_that_is_not_finite_is_no_matter_of_the_learning_rate(problem, train_settings):
    signs = np.random.default_rng(0).choice([-1, 1], problem.graph.features.shape)
    task = with_graph(problem, features=(3e38 * signs).astype(np.float32))
    with pytest.raises(GrandPlusError, match=r"the loss became \w+ at step 0; set preprocess\.features=standardize$"):
        fit(task, train_settings(lr=1e-9, batchnorm=True))


def test_a_loss_that_explodes_ends_with_its_step(problem, train_settings):
    with pytest.raises(GrandPlusError, match=r"the loss became (nan|inf) at step \d+; lower train.lr"):
        fit(problem, train_settings(lr=1e30))


def test_weight_decay_reaches_every_parameter(problem, train_settings):
    """A decay that dwarfs the loss takes all of them to 0, biases and BatchNorm included."""

    class KeepLast(EarlyStopping):
        def update(self, step, accuracy, loss, model):
            self.best.state, self.best_step = model.state_dict(), step
            return False

    settings = train_settings(weight_decay=1e4, lr=0.01, batchnorm=True, max_epochs=60)
    trained = fit(problem, settings, stopping=KeepLast(1))
    parameters = dict(trained.model.mlp.named_parameters())
    assert len(parameters) == 8  # weight and bias of two linear and two BatchNorm layers
    assert all(parameter.abs().max() < 0.05 for parameter in parameters.values())


def test_without_unlabelled_nodes_it_is_supervised(problem, train_settings):
    split = dataclasses.replace(problem.split, unlabelled=np.empty(0, np.int64))
    trained = fit(dataclasses.replace(problem, split=split), train_settings(lr=0.05, max_epochs=30))
    assert set(trained.history["consistency_loss"]) == {0.0}


def split_of(labelled, unlabelled):
    return Split(np.arange(labelled), np.empty(0, int), np.empty(0, int), np.arange(100, 100 + unlabelled))


def test_an_epoch_visits_each_labelled_node_once(train_settings):
    settings = train_settings(batch_labelled=4, batch_unlabelled=6, max_epochs=3)
    drawn = list(batches(split_of(10, 50), settings, np.random.default_rng(0)))
    assert [len(labelled) for labelled, _ in drawn] == [4, 4, 2] * 3
    epochs = [np.concatenate([labelled for labelled, _ in drawn[i : i + 3]]) for i in (0, 3, 6)]
    for epoch in epochs:
        assert sorted(epoch) == list(range(10))
    assert len({tuple(epoch) for epoch in epochs}) == 3  # shuffled anew
    for _, unlabelled in drawn:
        assert len(set(unlabelled)) == 6
        assert set(unlabelled) <= set(range(100, 150))


def test_unlabelled_batches_shrink_to_what_there_is(train_settings):
    drawn = list(batches(split_of(4, 3), train_settings(max_epochs=1), np.random.default_rng(0)))
    assert [sorted(unlabelled) for _, unlabelled in drawn] == [[100, 101, 102]]


def test_batchnorm_never_meets_a_batch_of_one(train_settings):
    settings = train_settings(batch_labelled=4, batchnorm=True, max_epochs=1)
    sizes = [len(labelled) for labelled, _ in batches(split_of(9, 0), settings, np.random.default_rng(0))]
    assert sizes == [4, 5]
    with pytest.raises(GrandPlusError, match="BatchNorm needs two"):
        next(batches(split_of(1, 0), settings, np.random.default_rng(0)))


@pytest.mark.parametrize(("unlabelled", "batch_unlabelled"), [(0, 5), (50, 0)])
def test_batchnorm_needs_two_nodes_in_each_batch(train_settings, unlabelled, batch_unlabelled):
    settings = train_settings(batch_labelled=1, batch_unlabelled=batch_unlabelled, batchnorm=True, max_epochs=1)
    with pytest.raises(GrandPlusError, match=r"each batch is of one .*; set train\.batch_labelled to 2 or more"):
        next(batches(split_of(9, unlabelled), settings, np.random.default_rng(0)))


@given(st.integers(1, 40), st.integers(0, 3), st.integers(1, 9), st.integers(0, 3), st.booleans())
def test_an_epoch_has_each_labelled_node_and_with_batchnorm_no_batch_of_one(labelled, unlabelled, size, drawn, norm):
    settings = Settings(batch_labelled=size, batch_unlabelled=drawn, batchnorm=norm, max_epochs=2)
    try:
        steps = list(batches(split_of(labelled, unlabelled), settings, np.random.default_rng(0)))
    except GrandPlusError:
        assert norm
        assert min(labelled, size) + min(unlabelled, drawn) == 1
        return
    assert sorted(node for nodes, _ in steps for node in nodes) == sorted([*range(labelled)] * 2)
    assert not norm or min(len(nodes) + len(others) for nodes, others in steps) > 1


def stop_at(patience, scores, settings):
    """(step it stops at, step it keeps) for (accuracy, loss) validations at steps 0, 1, ..."""
    stopping, model = EarlyStopping(patience), MLP(1, 1, settings)
    for step, (accuracy, loss) in enumerate(scores):
        torch.nn.init.constant_(model.linears[0].bias, step)
        if stopping.update(step, accuracy, loss, model):
            break
    assert stopping.best.state["linears.0.bias"].item() == stopping.best_step  # a copy from that very step
    return step, stopping.best_step


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([(0.5, 1.0), (0.4, 1.1), (0.4, 1.1), (0.9, 0.1)], (2, 0)),  # two without gain: stop
        ([(0.5, 1.0), (0.4, 1.1), (0.5, 1.1), (0.4, 1.1), (0.4, 1.1)], (4, 2)),  # equal accuracy resets, latest kept
        ([(0.5, 1.0), (0.4, 0.9), (0.4, 0.9), (0.4, 0.9)], (3, 0)),  # lowest loss resets, accuracy decides what is kept
        ([(0.5, 1.0), (0.4, 1.1), (0.6, 2.0), (0.5, 1.5), (0.5, 1.0)], (4, 2)),  # loss equal to the lowest resets too
    ],
)
def test_early_stopping(scores, expected, train_settings):
    assert stop_at(2, scores, train_settings(layers=1)) == expected


def test_a_constant_accuracy_ends_a_run(train_settings):
    """Whatever the loss does, 2 · 2 validations after the last change."""
    losses = [1.0, 0.5, *(0.495 - 1e-4 * step for step in range(100))]
    assert stop_at(2, [(0.8, loss) for loss in losses], train_settings(layers=1)) == (4, 4)
    changed = [(0.7, 1.0), *((0.8, loss) for loss in losses)]
    assert stop_at(2, changed, train_settings(layers=1)) == (5, 5)


def test_ties_end_a_run(train_settings):
    """The best accuracy comes back again and again: 8 · 2 validations from the last record, a loss of 0.5."""
    scores = [(0.8, 1.0), (0.7, 0.995), (0.8, 0.985), (0.7, 0.98), (0.8, 0.975), (0.7, 0.5), (0.8, 0.495)]
    scores += [(0.7, 0.6), (0.8, 0.6)] * 20
    assert stop_at(2, scores, train_settings(layers=1)) == (5 + 16, 20)


class NoSnapshot(Snapshot):
    def take(self, mlp):
        pass


@given(
    patience=st.integers(1, 5),
    nodes=st.integers(1, 8),
    first=st.floats(0, 0.2),
    validations=st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1.5)), min_size=1, max_size=12),
)
def test_every_run_ends_within_its_bound(patience, nodes, first, validations):
    """Whatever the accuracies and losses are: these come again and again, each loss a multiple of the one before."""
    stopping, loss = EarlyStopping(patience, best=NoSnapshot()), first
    longest = (nodes + first / LOSS_STEP + 2) * LONGEST_TIE * patience
    for step in itertools.count():
        right, factor = validations[step % len(validations)]
        if stopping.update(step, min(right, nodes) / nodes, loss, None):
            break
        loss = min(loss * factor, 100.0)
    assert step + 1 <= longest


@pytest.mark.parametrize("loss", [np.inf, np.nan, 1e16, 3e38])
def test_a_loss_that_no_step_can_be_told_from_is_no_record(loss):
    """Accuracy alternates, so that only the loss could prolong the run."""
    stopping = EarlyStopping(2, best=NoSnapshot())
    accuracies = itertools.cycle([0.5, 0.4])
    assert next(step for step in itertools.count() if stopping.update(step, next(accuracies), loss, None)) <= 17


@given(first=st.floats(10, 1e30), fall=st.floats(1e-4, 0.5), patience=st.integers(1, 3))
@example(first=1e4, fall=0.0011, patience=1)
def test_a_run_from_a_large_loss_ends_within_its_bound(first, fall, patience):
    """The loss falls by a share of itself each time that the run would have ended, but for one validation."""
    stopping, loss = EarlyStopping(patience, best=NoSnapshot()), first
    least = LOSS_STEP / LEAST_FALL
    records = least / LOSS_STEP + math.log(first / least) / math.log1p(LEAST_FALL)
    longest = (2 + records + 3) * LONGEST_TIE * patience
    for step in itertools.count():
        if stopping.update(step, 0.5 if step % 2 else 0.4, loss, None):
            break
        if step % (LONGEST_TIE * patience) == LONGEST_TIE * patience - 1:
            loss *= 1 - fall
    assert step + 1 <= longest


def test_the_bound_is_nearly_reached():
    """A loss that falls by a step just before each end: 10 records, with 2 · LONGEST_TIE - 1 ties before each."""
    stopping, ties = EarlyStopping(2, best=NoSnapshot()), 2 * LONGEST_TIE - 1
    losses = np.repeat(0.12 - 1.001 * LOSS_STEP * np.arange(11), ties + 1)
    losses[-ties - 1 :] = losses[-ties - 2]  # no eleventh
    accuracies = itertools.cycle([0.5, 0.4])
    scores = zip(accuracies, losses, strict=False)
    steps = next(step for step, of_step in enumerate(scores) if stopping.update(step, *of_step, None))
    assert steps == 10 * (ties + 1)


def test_a_task_without_rows_is_refused(problem, train_settings):
    with pytest.raises(ArgumentError, match="there are no rows of Π"):
        fit(dataclasses.replace(problem, rows=None), train_settings())


def test_a_model_that_predicts_one_class_for_ever_is_stopped(problem, train_settings):
    """Constant features, and 12 of 15 validation nodes of one class: 1 + 2 · 5 validations, or a few more."""
    labels = np.where(np.arange(NODES) % 5 == 0, 1, 0)
    features = np.ones((NODES, 3), np.float32)
    task = with_graph(problem, labels=labels, features=features, classes=["a", "b"])
    trained = fit(task, train_settings(patience=5, max_epochs=10_000))
    assert trained.model.info["val_accuracy"] == pytest.approx(np.mean(labels[task.split.val] == 0))
    assert trained.model.info["steps"] <= 200
