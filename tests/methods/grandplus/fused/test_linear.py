"""Linear layers of a step against PyTorch's, gradients included."""

import numpy as np
import pytest
import torch
from sparse_matrices import csr_of
from torch import nn

from grandplus.methods.grandplus.fused.adam import Adam
from grandplus.methods.grandplus.fused.csr import Factors
from grandplus.methods.grandplus.fused.linear import Linear, SparseLinear
from grandplus.methods.grandplus.fused.team import Team
from grandplus.methods.grandplus.mlp import SparseLinear as Blocks

KEEP_ALL = 1e9  # a limit of norms that keeps all gradients to the end of the step


def some_inputs(rows, width, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, width)) * (rng.random((rows, width)) < 0.5)).astype(np.float32)


def check(layer, plain, inputs, dense, upstream, wanted):
    """Values, and gradients of inputs and parameters; twice, as memory is used again."""
    for rows in (len(dense), len(dense) - 1):
        x = torch.from_numpy(dense[:rows]).requires_grad_()
        expected = plain(x)
        plain.zero_grad()
        expected.backward(torch.from_numpy(upstream[:rows]))
        actual = layer.forward(inputs(rows), None)
        np.testing.assert_allclose(actual, expected.detach(), atol=1e-5, rtol=1e-5)
        of_x = layer.backward(upstream[:rows])
        assert len(of_x) == (rows if wanted else 0)
        if wanted:
            np.testing.assert_allclose(of_x, x.grad, atol=1e-5, rtol=1e-5)
        for parameter in plain.parameters():
            np.testing.assert_allclose(layer.adam.gradients[parameter], parameter.grad, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("wanted", [True, False])
def test_dense_layer(wanted):
    plain, dense = nn.Linear(5, 3), some_inputs(6, 5)
    layer = Linear(plain, Adam(plain.parameters(), 0.1, 0.0, KEEP_ALL), wanted=wanted)
    check(layer, plain, lambda rows: dense[:rows], dense, some_inputs(6, 3, seed=1), wanted)


@pytest.mark.parametrize("outputs", [1, 64, 150])
@pytest.mark.parametrize("kind", ["dense", "one factor", "two factors"])
def test_layer_that_takes_sparse_inputs(outputs, kind):
    plain, left, right = Blocks(5, outputs), some_inputs(8, 7), some_inputs(7, 5)
    dense = left @ right
    inputs = {
        "dense": lambda rows: dense[:rows],
        "one factor": lambda rows: Factors((csr_of(dense[:rows]),)),
        "two factors": lambda rows: Factors((csr_of(left[:rows]), csr_of(right))),
    }
    layer = SparseLinear(plain, Adam(plain.parameters(), 0.1, 0.0, KEEP_ALL), Team(2))
    check(layer, plain, inputs[kind], dense, some_inputs(8, outputs, seed=1), wanted=False)
