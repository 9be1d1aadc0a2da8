"""Adam against PyTorch's."""

import gc
import weakref

import numpy as np
import pytest
import torch
from sparse_matrices import csr_of

from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.memory import Memory


def parameters_of(*values):
    return [torch.tensor(value, dtype=torch.float32) for value in values]


@pytest.mark.parametrize("clip", [0.0, 0.05])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_it_follows_pytorchs(clip, weight_decay):
    rng = np.random.default_rng(0)
    start = [rng.standard_normal(shape).astype(np.float32) for shape in ((7, 5), (5,), (3, 2, 2))]
    ours, theirs = parameters_of(*start), [tensor.requires_grad_() for tensor in parameters_of(*start)]
    adam = Adam(ours, lr=0.01, weight_decay=weight_decay, clip=clip)
    reference = torch.optim.Adam(theirs, lr=0.01, weight_decay=weight_decay)
    for _ in range(200):
        for p, q in zip(ours, theirs, strict=True):
            slope = torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype(np.float32))
            adam.take(p, (slope * (1 + 2 * p)).numpy())
            q.grad = slope * (1 + 2 * q.detach())
        adam.step()
        if clip:
            torch.nn.utils.clip_grad_norm_(theirs, clip)
        reference.step()
    for actual, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(actual, expected.detach(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("width", [1, 16, 70])
@pytest.mark.parametrize("clip", [0.0, 1e-3, 1e9])
def test_a_gradient_that_is_a_product_is_used_like_any_other(clip, width):
    """Bit for bit: of more rows than a tile, and of some columns of a matrix."""
    rng = np.random.default_rng(0)
    start = rng.standard_normal((200, width)).astype(np.float32)
    ours, theirs = parameters_of(start, start)
    adams = [Adam([tensor], lr=0.01, weight_decay=0.1, clip=clip) for tensor in (ours, theirs)]
    for _ in range(3):
        dense = (rng.standard_normal((9, 200)) * (rng.random((9, 200)) < 0.3)).astype(np.float32)
        transposed = csr_of(dense).transposed(Memory(), "transposed")
        upstream = rng.standard_normal((9, width + 5)).astype(np.float32)[:, 3 : 3 + width]
        adams[0].take_product(ours, transposed, upstream)
        adams[1].take(theirs, transposed.multiply(upstream, np.empty((200, width), np.float32)))
        for adam in adams:
            adam.step()
    assert torch.equal(ours, theirs)


def test_gradients_below_the_limit_are_not_scaled():
    """One step of Adam has the size of the rate whatever the gradient is; the second shows the scale."""
    results = []
    for clip in (0.0, 100.0):
        [x] = parameters_of([1.0, 2.0])
        adam = Adam([x], lr=0.1, weight_decay=0.0, clip=clip)
        for slope in (1.0, -3.0):
            adam.take(x, np.full(2, slope, np.float32))
            adam.step()
        results.append(x)
    torch.testing.assert_close(results[0], results[1], rtol=1e-6, atol=0)


def test_nothing_of_a_finished_training_stays_in_memory():
    [parameter] = parameters_of([0.0, 0.0, 0.0])
    adam = Adam([parameter], 0.1, 0, 0)
    adam.take(parameter, np.ones(3, np.float32))
    adam.step()
    assert parameter.tolist() == pytest.approx([-0.1] * 3)  # the first step is the learning rate
    left = [weakref.ref(adam), weakref.ref(parameter)]
    del adam, parameter
    gc.collect()
    assert [reference() for reference in left] == [None, None]
