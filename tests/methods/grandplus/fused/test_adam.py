"""Adam against PyTorch's."""

import gc
import weakref

import numpy as np
import pytest
import torch

from grandplus.methods.grandplus.fused.adam import Adam


@pytest.mark.parametrize("clip", [0.0, 0.05])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_it_follows_pytorchs(clip, weight_decay):
    rng = np.random.default_rng(0)
    start = [rng.standard_normal(shape).astype(np.float32) for shape in ((7, 5), (5,), (3, 2, 2))]
    ours, theirs = ([torch.tensor(values, requires_grad=True) for values in start] for _ in range(2))
    adam = Adam(ours, lr=0.01, weight_decay=weight_decay, clip=clip)
    reference = torch.optim.Adam(theirs, lr=0.01, weight_decay=weight_decay)
    for _ in range(200):
        slopes = [torch.from_numpy(rng.standard_normal(values.shape).astype(np.float32)) for values in start]
        for parameters in (ours, theirs):
            sum((slope * (p + p * p)).sum() for slope, p in zip(slopes, parameters, strict=True)).backward()
        adam.step()
        assert all(parameter.grad is None for parameter in ours)
        if clip:
            torch.nn.utils.clip_grad_norm_(theirs, clip)
        reference.step()
        reference.zero_grad()
    for actual, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-4)


def test_gradients_below_the_limit_are_not_scaled():
    """One step of Adam has the size of the rate whatever the gradient is; the second shows the scale."""
    results = []
    for clip in (0.0, 100.0):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        adam = Adam([x], lr=0.1, weight_decay=0.0, clip=clip)
        for slope in (1.0, -3.0):
            (slope * x).sum().backward()
            adam.step()
        results.append(x.detach())
    torch.testing.assert_close(results[0], results[1], rtol=1e-6, atol=0)


def test_nothing_of_a_finished_training_stays_in_memory():
    parameter = torch.zeros(3, requires_grad=True)
    adam = Adam([parameter], 0.1, 0, 0)
    parameter.sum().backward()
    adam.step()
    assert parameter.tolist() == pytest.approx([-0.1] * 3)  # the first step is the learning rate
    left = [weakref.ref(adam), weakref.ref(parameter)]
    del adam, parameter
    gc.collect()
    assert [reference() for reference in left] == [None, None]
