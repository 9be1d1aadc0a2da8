"""The fused input of a layer against PyTorch's own functions, gradients included; and its dropout."""

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from grandplus.methods.grandplus.fused.layer_input import LayerInput
from grandplus.methods.grandplus.mlp import Noise
from grandplus.methods.grandplus.mlp import layer_input as plain_layer_input

PLAIN = {"relu": False, "row_norm": False, "dropout": 0.0, "augmentations": 1}


class Gradients(dict):
    """Notes the gradients of parameters, in place of Adam."""

    def take(self, tensor, gradient):
        self[tensor] = torch.from_numpy(gradient)


def layer_input(x, norm=None, *, seed=0, **switches):
    """What the kernels make of x."""
    layer = LayerInput(norm, **(PLAIN | switches), adam=Gradients(), wanted=True)
    return torch.from_numpy(layer.forward(x.numpy(), np.int64(seed)))


def both_ways(x, with_norm, upstream, wanted=True, **switches):
    """Values, gradients and running statistics: by one pass of numba, and by PyTorch."""
    norms = [None, None]
    if with_norm:
        torch.manual_seed(1)
        norms = [nn.BatchNorm1d(x.shape[1]), nn.BatchNorm1d(x.shape[1])]
        nn.init.uniform_(norms[0].weight, 0.5, 2)
        nn.init.uniform_(norms[0].bias, -1, 1)
        norms[1].load_state_dict(norms[0].state_dict())
    gradients, inputs = Gradients(), x.clone().requires_grad_()
    fused = LayerInput(norms[0], **(PLAIN | switches), adam=gradients, wanted=wanted)
    out = torch.from_numpy(fused.forward(x.clone().numpy(), np.int64(0)))
    results = [[out, torch.from_numpy(fused.backward(upstream.numpy()))]]
    out = plain_layer_input(inputs, norms[1], noise=Noise(), **(PLAIN | switches))
    out.backward(upstream)
    results.append([out.detach(), inputs.grad])
    if with_norm:
        results[0] += [gradients[norms[0].weight], gradients[norms[0].bias]]
        results[1] += [norms[1].weight.grad, norms[1].bias.grad]
        for result, norm in zip(results, norms, strict=True):
            result += [norm.running_mean, norm.running_var]
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


def test_inputs_are_left_alone_where_their_gradient_is_wanted():
    x = torch.randn(4, 3)
    before = x.clone()
    layer_input(x, nn.BatchNorm1d(3), relu=True, row_norm=True)
    assert torch.equal(x, before)


@pytest.mark.parametrize("row_norm", [True, False])
def test_without_the_gradient_of_inputs_all_else_is_the_same(row_norm):
    x, upstream = torch.randn(6, 5), torch.randn(6, 5)
    whole, _ = both_ways(x, True, upstream, row_norm=row_norm, augmentations=2)
    without, _ = both_ways(x, True, upstream, wanted=False, row_norm=row_norm, augmentations=2)
    assert without.pop(1).shape == (0, 5)
    del whole[1]
    for actual, expected in zip(without, whole, strict=True):
        assert torch.equal(actual, expected)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_dropout_drops_its_share_in_every_row_and_column_and_scales_the_rest(share):
    out = layer_input(torch.ones(400, 500), dropout=share).numpy()
    np.testing.assert_allclose(np.unique(out), [0, np.float32(1 / (1 - share))], rtol=1e-6)
    dropped = out == 0
    deviation = np.sqrt(share * (1 - share))
    assert abs(dropped.mean() - share) < 5 * deviation / np.sqrt(dropped.size)
    assert np.abs(dropped.mean(axis=0) - share).max() < 5 * deviation / np.sqrt(400)
    assert np.abs(dropped.mean(axis=1) - share).max() < 5 * deviation / np.sqrt(500)


def test_what_is_dropped_is_independent_between_rows_columns_and_draws():
    """Neighbouring entries agree as often as independent ones do: half the time at a share of one half."""
    draws = [layer_input(torch.ones(300, 300), seed=seed, dropout=0.5).numpy() == 0 for seed in (1, 2)]
    pairs = [(draws[0], draws[1]), (draws[0][1:], draws[0][:-1])]
    pairs += [(draws[0][:, lag:], draws[0][:, :-lag]) for lag in (1, 2, 4, 8, 16, 32, 64, 128)]
    for a, b in pairs:
        assert abs((a == b).mean() - 0.5) < 5 * 0.5 / np.sqrt(a.size)


def test_dropped_values_have_no_gradient_and_kept_ones_its_scale():
    layer = LayerInput(None, **(PLAIN | {"dropout": 0.3}), adam=Gradients(), wanted=True)
    out = layer.forward(np.ones((50, 40), np.float32), np.int64(0))
    np.testing.assert_array_equal(layer.backward(np.full_like(out, 2.0)), 2 * out)


def test_without_training_nothing_is_dropped_and_running_statistics_serve():
    norm = nn.BatchNorm1d(2)
    norm.running_mean[:] = torch.tensor([1.0, 2.0])
    norm.running_var[:] = torch.tensor([4.0, 9.0])
    x = torch.tensor([[3.0, 8.0]])
    out = plain_layer_input(x, norm, relu=True, row_norm=False, dropout=0.9)
    torch.testing.assert_close(out, torch.tensor([[1.0, 2.0]]), rtol=1e-5, atol=1e-5)
