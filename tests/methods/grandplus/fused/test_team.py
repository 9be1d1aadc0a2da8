"""Threads of a training: they do all the work once, and change no byte of it."""

import dataclasses
import threading

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from made_problems import communities

from grandplus.methods.grandplus.fused.team import Team
from grandplus.methods.grandplus.method import fit


@pytest.fixture(autouse=True)
def one_thread_of_torch():
    """As in the processes that train."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_item_is_done_once_with_memory_of_its_thread(threads):
    team = Team(threads)
    for count in (0, 1, 3, 100):
        done, used = [], set()

        def work(item, memory, done=done, used=used):
            done.append(item)
            used.add((threading.get_ident(), id(memory)))

        team.each(work, range(count))
        assert sorted(done) == list(range(count))
        assert len({memory for _, memory in used}) == len(used) <= threads


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_any_thread_reaches_the_caller(threads):
    def fail(item, _memory):
        raise ValueError(item)

    with pytest.raises(ValueError, match="7"):
        Team(threads).each(fail, [7, 7, 7])
    with pytest.raises(ZeroDivisionError):
        Team(threads).start(lambda: 1 / 0)()


def test_a_helper_that_is_busy_is_not_waited_for():
    team, go_on = Team(2), threading.Event()
    waiting = team.start(go_on.wait)
    done = []
    team.each(lambda item, _memory: done.append(item), range(3))
    assert done == [0, 1, 2]
    go_on.set()
    assert waiting()


def test_helpers_have_one_thread_of_torch_too():
    assert Team(2).start(torch.get_num_threads)() == 1


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (sp.csr_array, {"dropout_input": 0.3, "dropout_hidden": 0.3}),
        (sp.csr_array, {"hidden": 200}),
        (sp.csr_array, {"hidden": 200, "clip": 0.1, "dropout_input": 0.3}),
        (sp.csr_array, {"embed": True, "dropout_input": 0.3}),
        (np.asarray, {"hidden": 150}),
        (np.asarray, {"batchnorm": True, "row_norm": True, "dropout_input": 0.3}),
    ],
)
def test_any_number_of_threads_gives_the_same_bytes(train_settings, make, changes):
    task = communities(make)
    settings = train_settings(max_epochs=20, **changes)
    runs = [fit(dataclasses.replace(task, threads=threads), settings) for threads in (1, 2, 3)]
    for run in runs[1:]:
        assert run.history == runs[0].history
        for name, values in run.model.tensors().items():
            assert torch.equal(values, runs[0].model.tensors()[name])
