"""Methods of PyTorch Geometric's layers: files, seeds, features of both kinds, labels, and what they say of memory."""

import dataclasses
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from small_graph import CLASSES, ISOLATED, NODES, WIDTH, normalized, small_graph, small_split

from grandplus.methods import full_batch
from grandplus.methods.files import load_model
from grandplus.methods.fitting import fit
from grandplus.methods.protocol import Task
from grandplus.methods.registry import method_of, settings_of
from grandplus.runtime.errors import GrandPlusError

NAMES = ("gcn", "gat", "appnp", "gcnii")
FEW = {"epochs": 6}  # and fewer, narrower layers than GCNII's own
CHANGED = {"gcn": FEW, "gat": FEW, "appnp": FEW, "gcnii": FEW | {"layers": 4, "hidden": 8}}

LAYERS = range(CHANGED["gcnii"]["layers"])
DECAYED = {
    ("gcn", "weight_decay"): {"first.lin.weight"},
    ("gat", "weight_decay"): {"input.weight", "hidden.weight"}
    | {f"{layer}.att_{end}" for layer in ("first", "second") for end in ("src", "dst")},
    ("appnp", "weight_decay"): {"first.weight"},
    ("gcnii", "weight_decay"): {f"{layer}.{part}" for layer in ("first", "last") for part in ("weight", "bias")},
    ("gcnii", "weight_decay_convolutions"): {f"convolutions.{layer}.weight1" for layer in LAYERS},
}

pytestmark = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def graph():
    return small_graph()


def trained(name, graph, *, seed=0, **changed):
    settings = settings_of(name).Settings(**(CHANGED[name] | changed))
    return fit(Task(graph, small_split(), None, seed=seed), settings)


def test_a_model_that_is_saved_and_loaded_gives_the_same_bytes(name, graph, tmp_path):
    model = trained(name, graph).model
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert (again.method, again.classes, again.settings, again.info) == (
        name,
        model.classes,
        model.settings,
        model.info,
    )
    assert again.predict_proba(graph).tobytes() == model.predict_proba(graph).tobytes()
    assert model.predict_proba(graph, again.shared_inputs(graph)).tobytes() == model.predict_proba(graph).tobytes()


def test_the_same_seed_gives_the_same_bytes(name, graph, tmp_path):
    files = [tmp_path / f"{number}.safetensors" for number in range(3)]
    state = torch.random.get_rng_state()
    for seed, file in zip(([0, 1], [0, 1], [0, 2]), files, strict=True):
        trained(name, graph, seed=seed).model.save(file)
    first, same, other = (file.read_bytes() for file in files)
    assert first == same
    assert first != other
    assert torch.equal(torch.random.get_rng_state(), state)


def test_dense_features_give_what_the_same_sparse_ones_do(name, graph):
    dense = dataclasses.replace(graph, features=graph.features.toarray())
    model = trained(name, graph, dropout=0).model
    np.testing.assert_allclose(model.predict_proba(dense), model.predict_proba(graph), atol=1e-6)
    np.testing.assert_allclose(
        trained(name, dense, dropout=0).model.predict_proba(graph), model.predict_proba(graph), atol=1e-3
    )


def test_only_labels_of_training_and_validation_are_looked_at(name, graph):
    hidden = np.where(np.isin(np.arange(NODES), small_split().test), -1, graph.labels)
    models = [trained(name, given).model for given in (graph, dataclasses.replace(graph, labels=hidden))]
    assert models[0].predict_proba(graph).tobytes() == models[1].predict_proba(graph).tobytes()


def test_an_isolated_node_is_classified_by_its_own_features(name, graph):
    model = trained(name, graph).model
    probabilities = model.predict_proba(graph)
    assert np.isfinite(probabilities).all()
    others = sp.csr_array(graph.features.toarray() * (np.arange(NODES) == ISOLATED)[:, None])
    alone = model.predict_proba(dataclasses.replace(graph, features=others))
    np.testing.assert_allclose(alone[ISOLATED], probabilities[ISOLATED], atol=1e-6)


def test_more_steps_fit_the_training_nodes(name, graph):
    history = trained(name, graph, epochs=60, dropout=0, lr=0.02).history
    assert min(history["train_loss"]) < 0.7 * history["train_loss"][0]


def test_parameters_are_those_of_the_network(name, graph):
    model = trained(name, graph).model
    assert model.settings.parameters(WIDTH, CLASSES) == sum(tensor.numel() for tensor in model.tensors().values())


def test_a_loss_that_is_not_finite_is_an_error(name, graph):
    graph.features.data[:] = 1e36
    with pytest.raises(GrandPlusError, match=r"the loss became (inf|nan) at step \d; lower train\.lr"):
        trained(name, graph, lr=1000)


def test_a_first_loss_that_is_not_finite_is_no_matter_of_the_learning_rate(name, graph):
    graph.features.data[:] = np.where(np.arange(len(graph.features.data)) % 2, 3e38, -3e38)
    with pytest.raises(GrandPlusError, match=r"the loss became \w+ at step 0; set preprocess\.features=standardize"):
        trained(name, graph, lr=1e-9)


def test_nothing_warns(name, graph):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in (graph.features.data, graph.labels):
            array.flags.writeable = False  # as those of a file that is mapped
        trained(name, graph).model.predict_proba(graph)


def test_the_normalized_matrix_is_the_dense_one(name, graph):
    inputs = method_of(name).Model.inputs_of(graph, torch.device("cpu"))
    np.testing.assert_allclose(full_batch.normalized_matrix(graph.adjacency).toarray(), normalized(graph), atol=1e-7)
    assert tuple(inputs.features.matrix.shape) == (NODES, WIDTH)


def test_weight_decay_is_of_the_layers_that_the_authors_name(name, graph):
    """Adam's first step goes by the gradients' signs: with a huge decay, towards 0 in all that decays but is not 0."""
    for key in (key for method, key in DECAYED if method == name):
        first, without, with_decay = (
            trained(name, graph, epochs=1, **changed).model.tensors()
            for changed in ({"lr": 1e-30}, {key: 0.0}, {key: 1e6})
        )
        assert {part for part in first if not torch.equal(without[part], with_decay[part])} <= DECAYED[name, key]
        lr = settings_of(name).Settings().lr
        for part in DECAYED[name, key]:
            torch.testing.assert_close(with_decay[part], first[part] - lr * first[part].sign(), rtol=0, atol=1e-4)
