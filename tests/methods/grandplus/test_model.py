"""The MLP's layers against plain formulas; models that are saved, loaded and damaged."""

import functools
import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sparse_matrices import csr_of

from grandplus.methods.files import load_model
from grandplus.methods.grandplus.fused.csr import Factors
from grandplus.methods.grandplus.mlp import MLP, Noise, SparseLinear, layer_input
from grandplus.methods.grandplus.model import Model
from grandplus.methods.protocol import digest_of_model
from grandplus.runtime.errors import ArgumentError, ArtifactError


def some_inputs(rows=6, width=5):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, width)) * (rng.random((rows, width)) < 0.6)).astype(np.float32)


def test_a_layer_is_norm_then_batchnorm_then_linear_with_relu_between(train_settings):
    torch.manual_seed(0)
    mlp = MLP(5, 3, train_settings(batchnorm=True, row_norm=True, dropout_input=0.9, dropout_hidden=0.9))
    for norm in mlp.norms:  # as if trained
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    x = torch.from_numpy(some_inputs())
    for number, (norm, linear) in enumerate(zip(mlp.norms, mlp.linears, strict=True)):
        x = x if number == 0 else x.clamp(min=0)
        x = x / x.norm(dim=1, keepdim=True).clamp(min=1e-12)
        x = (x - norm.running_mean) / (norm.running_var + 1e-5).sqrt() * norm.weight + norm.bias
        x = x @ linear.weight.T + linear.bias
    torch.testing.assert_close(mlp(torch.from_numpy(some_inputs())), x)


@pytest.mark.parametrize("batchnorm", [True, False])
@pytest.mark.parametrize(("layers", "ends"), [(1, [(5, 3)]), (2, [(5, 8), (8, 3)]), (3, [(5, 8), (8, 8), (8, 3)])])
def test_layers_counts_linear_layers(train_settings, layers, ends, batchnorm):
    mlp = MLP(5, 3, train_settings(layers=layers, batchnorm=batchnorm))
    assert [
        (linear(torch.ones(1, inputs)).shape[1]) for linear, (inputs, _) in zip(mlp.linears, ends, strict=True)
    ] == [outputs for _, outputs in ends]


def test_dropout_stands_before_each_linear_layer(train_settings):
    torch.manual_seed(0)
    mlp = MLP(5, 3, train_settings(dropout_input=0.999999))
    training = functools.partial(layer_input, noise=Noise())
    torch.testing.assert_close(  # nothing gets past the first dropout
        mlp(torch.from_numpy(some_inputs()), training), mlp(torch.zeros(6, 5)), rtol=0, atol=0
    )


@pytest.mark.parametrize("outputs", [1, 4, 64, 150])
@pytest.mark.parametrize("rows", [1, 6])
def test_sparse_inputs_give_what_dense_ones_do(rows, outputs):
    """Also in two factors, and with more outputs than one block of columns holds."""
    left, right = some_inputs(rows, 7), some_inputs(7, 5)
    layer = SparseLinear(5, outputs)
    expected = layer(torch.from_numpy(left @ right)).detach()
    for parts in ((csr_of(left), csr_of(right)), (csr_of(left @ right),)):
        with torch.inference_mode():
            torch.testing.assert_close(layer(Factors(parts)), expected, atol=1e-5, rtol=1e-5)


def test_a_sparse_layer_starts_as_a_dense_one():
    """Uniform in ±1/√in: the largest of many values comes close to that bound, and none is beyond."""
    layer = SparseLinear(100, 130)
    values = torch.cat([parameter.detach().ravel() for parameter in layer.parameters()])
    assert len(values) == 101 * 130
    assert 0.0995 < values.abs().max() <= 0.1
    assert abs(values.mean()) < 5 * 0.1 / np.sqrt(3 * len(values))


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
    return Model(
        classes=["a", "b", "c"], settings=settings, info={"trial": 4}, mlp=MLP(5, 3, settings), weights=(0.25, 0.75)
    )


def test_a_model_comes_back_as_it_was_saved(model, tmp_path):
    model.save(tmp_path / "m.safetensors")
    loaded = load_model(tmp_path / "m.safetensors")
    assert (loaded.weights, loaded.classes, loaded.settings, loaded.info) == (
        model.weights, model.classes, model.settings, model.info,
    )  # fmt: skip
    np.testing.assert_array_equal(loaded.probabilities_of(some_inputs()), model.probabilities_of(some_inputs()))


def test_probabilities_are_the_softmax_of_the_logits(model):
    actual = model.probabilities_of(some_inputs(rows=20_000))  # more than one block
    expected = torch.softmax(model.mlp(torch.from_numpy(some_inputs(rows=20_000))), -1).detach()
    np.testing.assert_allclose(actual, expected, atol=1e-6)
    assert actual.shape == (20_000, 3)


def test_saving_twice_gives_the_same_bytes_and_one_header_key(model, tmp_path):
    for name in ("one", "two"):
        model.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with safe_open(str(tmp_path / "one"), framework="pt") as content:
        assert list(content.metadata()) == ["grandplus"]
        assert json.loads(content.metadata()["grandplus"])["settings"]["hidden"] == 8


@pytest.mark.parametrize("damage", [b"", b"<html>", None], ids=["empty", "html", "truncated"])
def test_a_damaged_model_is_named(model, tmp_path, damage):
    file = tmp_path / "m.safetensors"
    model.save(file)
    file.write_bytes(file.read_bytes()[:-10] if damage is None else damage)
    with pytest.raises(ArtifactError, match=r"m\.safetensors: is no readable model"):
        load_model(file)


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(ArtifactError, match="absent"):
        load_model(tmp_path / "absent")


def change_header(file, change):
    """Write a file that is whole, but for what its header says."""
    with safe_open(str(file), framework="pt") as content:
        header = json.loads(content.metadata()["grandplus"])
        tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    changed = change({key: header[key] for key in header if key != "digest"})
    if isinstance(changed, dict):
        changed["digest"] = digest_of_model(changed, tensors)
    save_file(tensors, file, metadata={"grandplus": json.dumps(changed, sort_keys=True)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: None, "is no readable model"),
        (lambda header: [], "is no readable model"),
        (lambda header: {"classes": ["a"]}, "is no readable model: 'format_version'"),
        (lambda header: header | {"format_version": 2}, "format version is 2; expected 4"),
        (lambda header: header | {"model": "gnn"}, "model is 'gnn'; expected one of "),
        (lambda header: header | {"model": "sgc"}, "settings.augmentations is 2; expected extra inputs"),
        (lambda header: header | {"settings": {"lr": -1}}, "settings.lr is -1; expected greater than 0"),
        (lambda header: header | {"features": 4}, "is damaged: its header and its tensors are not those of one model"),
        (lambda header: header | {"classes": ["a"]}, "is damaged"),
        (lambda header: header | {"weights": None}, "is damaged"),
        (lambda header: {key: header[key] for key in header if key != "info"}, "is damaged"),
    ],
)
def test_a_model_whose_header_does_not_fit_is_named(model, tmp_path, change, message):
    file = tmp_path / "m.safetensors"
    model.save(file)
    change_header(file, change)
    with pytest.raises(ArtifactError) as error:
        load_model(file)
    assert str(error.value).startswith(f"{file}: {message}")


@pytest.mark.parametrize("device", ["tpu", None, 0])
def test_a_device_that_is_none_is_refused(model, tmp_path, device):
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(ArgumentError, match=r"device is .*; expected cpu or cuda"):
        load_model(tmp_path / "m.safetensors", device)
