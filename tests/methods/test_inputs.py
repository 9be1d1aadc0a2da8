"""Sparse features: products, gradients and dropout against dense float64 computations."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from small_graph import normalized, small_graph

from grandplus.methods.full_batch import normalized_matrix
from grandplus.methods.inputs import InputLinear, SparseInput, csr_tensor, dropout, sparse_input
from grandplus.methods.symmetric import symmetric_product

CPU = torch.device("cpu")


def double(matrix):
    """The same with values of float64, for gradients by differences."""
    return matrix.astype(np.float64)


def test_gradients_of_a_product_with_sparse_features_are_those_by_differences():
    x = sparse_input(double(small_graph().features), CPU)
    weights = torch.rand(x.matrix.shape[1], 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda given: x @ given, weights)
    dropped = x.dropped(0.5)  # its values are no longer those of the transpose
    assert torch.autograd.gradcheck(lambda given: dropped @ given, weights)


def test_gradients_of_a_product_with_a_symmetric_matrix_are_those_by_differences():
    matrix = double(normalized_matrix(small_graph().adjacency))
    x = torch.rand(matrix.shape[0], 2, dtype=torch.float64, requires_grad=True)
    tensor = csr_tensor(matrix, torch.from_numpy(matrix.data))
    assert torch.autograd.gradcheck(lambda given: symmetric_product(tensor, given), x)
    np.testing.assert_allclose((tensor @ x).detach(), normalized(small_graph()) @ x.detach().numpy(), atol=1e-7)


@pytest.mark.parametrize("width", [1, 7, 16, 40, 64, 150])
def test_a_product_of_single_precision_and_its_gradient_are_those_of_a_dense_float64_computation(width):
    """Which a kernel computes; isolated nodes have a self-loop alone."""
    matrix = normalized_matrix(small_graph().adjacency)
    dense, tensor = normalized(small_graph()), csr_tensor(matrix, torch.from_numpy(matrix.data))
    torch.manual_seed(width)
    x, gradient = torch.randn(width, len(dense)).T.requires_grad_(), torch.randn(len(dense), width)
    product = symmetric_product(tensor, x)  # of an x that is not contiguous
    product.backward(gradient)
    np.testing.assert_allclose(product.detach(), dense @ x.detach().numpy().astype(float), atol=1e-6)
    np.testing.assert_allclose(x.grad, dense @ gradient.numpy().astype(float), atol=1e-6)


def test_a_layer_gives_the_same_for_dense_and_sparse_features():
    features = small_graph().features
    for bias in (True, False):
        layer = InputLinear(features.shape[1], 5, bias=bias)
        dense = layer(torch.from_numpy(features.toarray()))
        torch.testing.assert_close(layer(sparse_input(features, CPU)), dense, rtol=0, atol=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.6, 0.9, 0.999999])
@pytest.mark.parametrize("count", [1, 7, 100_000])
def test_dropout_drops_its_share_and_keeps_the_mean(share, count):
    torch.manual_seed(0)
    left = dropout(torch.ones(count), share, training=True)
    kept = left[left != 0]
    assert left.shape == (count,)
    if share < 0.99:
        torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - share)), rtol=1e-4, atol=0)
    if count > 1000:
        deviation = np.sqrt(max(share, 1e-4) * (1 - share) / count)
        assert abs(float((left == 0).double().mean()) - share) < 5 * deviation + 2**-16


def test_neighbouring_values_are_dropped_independently():
    """Four of them share a random number."""
    torch.manual_seed(0)
    dropped = (dropout(torch.ones(200_000, 4), 0.5, training=True) == 0).double()
    correlation = torch.corrcoef(dropped.T) - torch.eye(4)
    assert correlation.abs().max() < 0.015  # a standard deviation is 0.0022


def test_the_gradient_of_dropout_is_of_what_is_left():
    x = torch.rand(6, 5, dtype=torch.float64, requires_grad=True)
    left = dropout(x, 0.4, training=True)
    left.sum().backward()
    torch.testing.assert_close(x.grad * x.detach(), left.detach())


@pytest.mark.parametrize("share", [0.1, 0.6, 0.999999])
@pytest.mark.parametrize("shape", [(1,), (7, 9), (300, 40)])
def test_dropout_of_single_precision_has_the_bits_of_a_multiplication_by_its_mask(shape, share):
    """In the values and in the gradient, of an x that is not contiguous."""
    x = torch.randn(*reversed(shape)).permute(*reversed(range(len(shape)))).requires_grad_()
    gradient = torch.randn(shape)
    torch.manual_seed(1)
    mask = dropout(torch.ones(shape, dtype=torch.float64), share, training=True).float()  # PyTorch's operations
    torch.manual_seed(1)
    left = dropout(x, share, training=True)
    left.backward(gradient)
    assert torch.equal(left, x * mask)
    assert torch.equal(x.grad, gradient * mask)


def test_nothing_is_dropped_in_evaluation():
    x = torch.rand(5)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x


def test_sparse_dropout_is_of_stored_values():
    features = sp.csr_array(np.eye(400, 3, dtype=np.float32) + np.eye(400, 3, k=-3, dtype=np.float32))
    x = sparse_input(features, CPU)
    assert isinstance(dropout(x, 0.5, training=True), SparseInput)
    left = dropout(x, 0.5, training=True).matrix.to_dense().numpy()
    assert set(np.unique(left[features.toarray() == 0])) == {0}
    assert set(np.unique(left)) == {0, 2}


def test_a_layer_that_is_stored_by_features_gives_the_same_bits():
    features, layer = small_graph().features, InputLinear(small_graph().features.shape[1], 5, bias=False)
    x, outputs, gradients = sparse_input(features, CPU), [], []
    for store in (layer.store_by_outputs, layer.store_by_features):
        store()
        layer.weight.grad = None
        output = layer(x)
        (output**2).sum().backward()
        outputs.append(output)
        gradients.append(layer.weight.grad)
        assert layer.weight.grad.stride() == layer.weight.stride()  # so it was not turned
    assert torch.equal(*outputs)
    assert torch.equal(*gradients)
