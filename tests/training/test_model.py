"""The MLP's layers against plain formulas; models that are saved, loaded and damaged."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open

from grandplus.errors import GrandPlusError
from grandplus.training.model import MLP, Model
from grandplus.training.random_propagation import SparseBatch
from grandplus.training.sparse_linear import sparse_linear


def sparse_batch(dense):
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))]).astype(np.int64)
    return SparseBatch(indptr, columns.astype(np.int32), dense[rows, columns], dense.shape[1])


def some_inputs(rows=6, width=5):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, width)) * (rng.random((rows, width)) < 0.6)).astype(np.float32)


def test_a_layer_is_norm_then_batchnorm_then_linear_with_relu_between(train_settings):
    torch.manual_seed(0)
    mlp = MLP(5, 3, train_settings(batchnorm=True, row_norm=True, dropout_input=0.9, dropout_hidden=0.9)).eval()
    for norm in mlp.norms:  # as if trained
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    x = torch.from_numpy(some_inputs())
    for number, (norm, linear) in enumerate(zip(mlp.norms, mlp.linears, strict=True)):
        x = x if number == 0 else x.clamp(min=0)
        x = x / x.norm(dim=1, keepdim=True).clamp(min=1e-12)
        x = (x - norm.running_mean) / (norm.running_var + 1e-5).sqrt() * norm.weight + norm.bias
        x = x @ linear.weight + linear.bias
    torch.testing.assert_close(mlp(torch.from_numpy(some_inputs())), x)


@pytest.mark.parametrize(("layers", "shapes"), [(1, [(5, 3)]), (2, [(5, 8), (8, 3)]), (3, [(5, 8), (8, 8), (8, 3)])])
def test_layers_counts_linear_layers(train_settings, layers, shapes):
    mlp = MLP(5, 3, train_settings(layers=layers))
    assert [tuple(linear.weight.shape) for linear in mlp.linears] == shapes


def test_dropout_stands_before_each_linear_layer(train_settings):
    torch.manual_seed(0)
    mlp = MLP(5, 3, train_settings(dropout_input=0.999999)).train()
    torch.testing.assert_close(  # nothing gets past the first dropout
        mlp(torch.from_numpy(some_inputs())), mlp(torch.zeros(6, 5)), rtol=0, atol=0
    )


@pytest.mark.parametrize("rows", [1, 6])
def test_sparse_inputs_give_what_dense_ones_do_with_gradients(rows):
    dense = some_inputs(rows)
    weight, bias = torch.randn(5, 4, requires_grad=True), torch.randn(4, requires_grad=True)
    upstream = torch.randn(rows, 4)
    results = []
    for product in (
        lambda: sparse_linear(sparse_batch(dense), weight, bias),
        lambda: torch.from_numpy(dense) @ weight + bias,
    ):
        out = product()
        out.backward(upstream)
        results.append((out.detach(), weight.grad, bias.grad))
        weight.grad = bias.grad = None
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected)


def test_sparse_product_leaves_its_parameters_alone():
    weight, bias = torch.randn(5, 4), torch.randn(4)
    before = weight.clone(), bias.clone()
    sparse_linear(sparse_batch(some_inputs(1)), weight, bias)
    assert torch.equal(weight, before[0])
    assert torch.equal(bias, before[1])


@pytest.mark.parametrize(
    ("changes", "sparse"),
    [({}, True), ({"batchnorm": True}, False), ({"row_norm": True}, False), ({"dropout_input": 0.5}, True)],
)
def test_sparse_inputs_only_where_zeros_stay_zero(train_settings, changes, sparse):
    assert MLP(5, 3, train_settings(**changes)).takes_sparse is sparse


@pytest.fixture
def model(train_settings):
    torch.manual_seed(1)
    settings = train_settings(batchnorm=True)
    return Model(MLP(5, 3, settings), (0.25, 0.75), ["a", "b", "c"], settings, {"trial": 4})


def test_a_model_comes_back_as_it_was_saved(model, tmp_path):
    model.save(tmp_path / "m.safetensors")
    loaded = Model.load(tmp_path / "m.safetensors")
    assert (loaded.weights, loaded.classes, loaded.train, loaded.info) == (
        model.weights, model.classes, model.train, model.info,
    )  # fmt: skip
    np.testing.assert_array_equal(loaded.predict_proba(some_inputs()), model.predict_proba(some_inputs()))


def test_probabilities_are_the_softmax_of_the_logits(model):
    found = model.predict_proba(some_inputs(rows=20_000))  # more than one block
    model.mlp.eval()
    expected = torch.softmax(model.mlp(torch.from_numpy(some_inputs(rows=20_000))), -1).detach()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.shape == (20_000, 3)


def test_saving_twice_gives_the_same_bytes_and_one_header_key(model, tmp_path):
    for name in ("one", "two"):
        model.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with safe_open(str(tmp_path / "one"), framework="pt") as content:
        assert list(content.metadata()) == ["grandplus"]
        assert json.loads(content.metadata()["grandplus"])["train"]["hidden"] == 8


@pytest.mark.parametrize("damage", [b"", b"<html>", None], ids=["empty", "html", "truncated"])
def test_a_damaged_model_is_named(model, tmp_path, damage):
    file = tmp_path / "m.safetensors"
    model.save(file)
    file.write_bytes(file.read_bytes()[:-10] if damage is None else damage)
    with pytest.raises(GrandPlusError, match=r"m\.safetensors: is no readable model.*dvc repro train"):
        Model.load(file)


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(GrandPlusError, match="absent"):
        Model.load(tmp_path / "absent")
