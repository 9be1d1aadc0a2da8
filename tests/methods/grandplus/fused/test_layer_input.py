"""The fused input of a layer against PyTorch's own functions, gradients included; and its dropout."""

import functools

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from grandplus.methods.grandplus.fused.layer_input import layer_input
from grandplus.methods.grandplus.mlp import Noise
from grandplus.methods.grandplus.mlp import layer_input as plain_layer_input

PLAIN = {"relu": False, "row_norm": False, "dropout": 0.0, "augmentations": 1}


def both_ways(x, with_norm, upstream, **switches):
    """Values, gradients and running statistics: by one pass of numba, and by PyTorch."""
    results = []
    fused = functools.partial(layer_input, rng=np.random.default_rng(0))
    for way in (fused, functools.partial(plain_layer_input, noise=Noise())):
        inputs = x.clone().requires_grad_()
        norm = nn.BatchNorm1d(x.shape[1]) if with_norm else None
        if norm:
            torch.manual_seed(1)
            nn.init.uniform_(norm.weight, 0.5, 2)
            nn.init.uniform_(norm.bias, -1, 1)
        out = way(inputs, norm, **(PLAIN | switches))
        out.backward(upstream)
        result = [out.detach(), inputs.grad]
        if norm:
            result += [norm.weight.grad, norm.bias.grad, norm.running_mean, norm.running_var]
        results.append(result)
    return results


@example(
    seed=3, size=3, width=1, augmentations=1, relu=False, row_norm=True, with_norm=True
)  # a column without variance
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(2, 9),
    width=st.integers(1, 20),
    augmentations=st.integers(1, 3),
    relu=st.booleans(),
    row_norm=st.booleans(),
    with_norm=st.booleans(),
)
def test_values_and_gradients_are_pytorchs(seed, size, width, augmentations, relu, row_norm, with_norm):
    generator = torch.Generator().manual_seed(seed)
    x, upstream = (torch.randn(augmentations * size, width, generator=generator) for _ in range(2))
    fused, plain = both_ways(x, with_norm, upstream, relu=relu, row_norm=row_norm, augmentations=augmentations)
    # Where a column hardly varies, BatchNorm magnifies rounding by up to 1 / √eps = 316.
    for actual, expected in zip(fused, plain, strict=True):
        assert (actual - expected).abs().max() <= 1e-3 * max(1, expected.abs().max())


def test_a_row_of_zeros_stays_one():
    x = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    (values, gradient), (expected, expected_gradient) = both_ways(x, False, torch.ones(2, 2), row_norm=True)
    torch.testing.assert_close(values, torch.tensor([[0.0, 0.0], [0.6, 0.8]]))
    torch.testing.assert_close(values, expected)
    torch.testing.assert_close(gradient[1], expected_gradient[1])


def test_inputs_are_left_alone():
    x = torch.randn(4, 3)
    before = x.clone()
    layer_input(x, nn.BatchNorm1d(3), rng=np.random.default_rng(0), **(PLAIN | {"relu": True, "row_norm": True}))
    assert torch.equal(x, before)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_dropout_drops_its_share_in_every_row_and_column_and_scales_the_rest(share):
    rng = np.random.default_rng(0)
    out = layer_input(torch.ones(400, 500), None, rng=rng, **(PLAIN | {"dropout": share})).numpy()
    np.testing.assert_allclose(np.unique(out), [0, np.float32(1 / (1 - share))], rtol=1e-6)
    dropped = out == 0
    deviation = np.sqrt(share * (1 - share))
    assert abs(dropped.mean() - share) < 5 * deviation / np.sqrt(dropped.size)
    assert np.abs(dropped.mean(axis=0) - share).max() < 5 * deviation / np.sqrt(400)
    assert np.abs(dropped.mean(axis=1) - share).max() < 5 * deviation / np.sqrt(500)


def test_what_is_dropped_is_independent_between_rows_columns_and_draws():
    """Neighbouring entries agree as often as independent ones do: half the time at a share of one half."""
    rng = np.random.default_rng(0)
    draws = [
        layer_input(torch.ones(300, 300), None, rng=rng, **(PLAIN | {"dropout": 0.5})).numpy() == 0 for _ in range(2)
    ]
    pairs = [(draws[0], draws[1]), (draws[0][1:], draws[0][:-1])]
    pairs += [(draws[0][:, lag:], draws[0][:, :-lag]) for lag in (1, 2, 4, 8, 16, 32, 64, 128)]
    for a, b in pairs:
        assert abs((a == b).mean() - 0.5) < 5 * 0.5 / np.sqrt(a.size)


def test_dropped_values_have_no_gradient_and_kept_ones_its_scale():
    x = torch.ones(50, 40, requires_grad=True)
    out = layer_input(x, None, rng=np.random.default_rng(0), **(PLAIN | {"dropout": 0.3}))
    out.backward(torch.full_like(out, 2.0))
    torch.testing.assert_close(x.grad, 2 * out.detach())


def test_without_training_nothing_is_dropped_and_running_statistics_serve():
    norm = nn.BatchNorm1d(2)
    norm.running_mean[:] = torch.tensor([1.0, 2.0])
    norm.running_var[:] = torch.tensor([4.0, 9.0])
    x = torch.tensor([[3.0, 8.0]])
    out = plain_layer_input(x, norm, relu=True, row_norm=False, dropout=0.9)
    torch.testing.assert_close(out, torch.tensor([[1.0, 2.0]]), rtol=1e-5, atol=1e-5)
