"""Adam by blocks: the bits of PyTorch's, for any layout of a large parameter."""

import pytest
import torch
from torch import nn

from grandplus.methods.blockwise import LARGE, BlockwiseAdam


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_bits_are_those_of_pytorch(turned, decay):
    """A large matrix, which blocks do not divide, and a small one."""
    torch.manual_seed(0)
    first, small = torch.randn(7, LARGE // 5 + 3), torch.randn(3, 5)
    weights = [[nn.Parameter(first.clone()), nn.Parameter(small.clone())] for _ in range(2)]
    if turned:
        weights[1][0].data = first.T.contiguous().T
    ours = BlockwiseAdam([{"params": weights[1], "weight_decay": decay}], lr=0.01)
    theirs = torch.optim.Adam([{"params": weights[0], "weight_decay": decay}], lr=0.01)
    for _ in range(5):
        gradients = torch.randn_like(first), torch.randn_like(small)
        for parameters in weights:
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient.clone()
        theirs.step()
        ours.step()
    assert all(torch.equal(*pair) for pair in zip(*weights, strict=True))
    assert weights[1][0].is_contiguous() is not turned
    ours.zero_grad()
    assert [parameter.grad for parameter in weights[1]] == [None, None]
