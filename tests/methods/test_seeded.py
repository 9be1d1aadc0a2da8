"""How PyTorch and the processor are set while a model is trained, and that they are as before afterwards."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import torch
from small_graph import small_graph, small_split

from grandplus.methods.grandplus.fused.team import Team
from grandplus.methods.protocol import Task
from grandplus.methods.training import seeded

TINY = np.float32(1e-39)


def state():
    """Whether PyTorch's and numpy's products may be denormal, and PyTorch's threads."""
    denormal = bool(torch.tensor([1e-39]) * 1 > 0), bool((np.full(8, TINY) * np.float32(1) > 0).all())
    return *denormal, torch.get_num_threads()


@pytest.fixture
def task():
    return Task(small_graph(), small_split(), None, seed=3)


@pytest.mark.parametrize("flushed", [False, True])
def test_training_has_no_denormals_and_one_thread_and_leaves_what_was_set(task, flushed):
    torch.set_flush_denormal(flushed)
    before = state()
    assert before[:2] == (not flushed, not flushed)
    with contextlib.suppress(KeyError), seeded(task):
        assert state() == (False, False, 1)
        raise KeyError
    assert state() == before
    torch.set_flush_denormal(False)


def test_threads_of_a_training_round_as_the_one_that_calls():
    assert Team(2).start(state)() == (False, False, 1)


def test_the_same_seed_draws_the_same_and_leaves_the_callers_numbers(task):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    drawn = []
    for _ in range(2):
        with seeded(task) as rng:
            drawn.append((torch.rand(2).tolist(), rng.random()))
    assert drawn[0] == drawn[1]
    assert torch.equal(torch.rand(3), expected)
