"""Training that starts from the weights of another model; and models that don't fit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from small_graph import NODES, small_graph, small_split

from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.merged import merged_graph
from grandplus.methods.protocol import Task
from grandplus.methods.registry import NAMES, method_of, settings_of
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.runtime.errors import ArgumentError

STILL = 1e-30  # a learning rate that changes no float32 but 0


def settings(method, **changes):
    """Short training without what else a step changes: BatchNorm's running statistics."""
    fields = settings_of(method).Settings.model_fields
    short = {"max_epochs": 30, "epochs": 30, "batchnorm": False, "hidden": 8} | changes
    return settings_of(method).Settings(**{key: value for key, value in short.items() if key in fields})


def task(graph=None, **more):
    graph = graph or small_graph()
    rows = gfpush(graph, np.arange(NODES), weights=propagation_weights("avg", order=2), rmax=1e-4, top_k=16)
    return Task(graph, small_split(), rows, **more)


def fit(method, given, **changes):
    return method_of(method).fit(given, settings(method, **changes)).model


@pytest.mark.parametrize("method", NAMES)
def test_training_starts_from_the_weights_of_the_model(tmp_path, method):
    graph, file = small_graph(), tmp_path / "model.safetensors"
    old = fit(method, task(seed=3))
    old.save(file)
    started = fit(method, task(seed=4, start=file), lr=STILL)
    assert started.tensors().keys() == old.tensors().keys()
    for name, tensor in old.tensors().items():
        torch.testing.assert_close(started.tensors()[name], tensor, rtol=0, atol=1e-20)  # a bias of 0 has moved by lr
    assert started.predict_proba(graph).tobytes() == old.predict_proba(graph).tobytes()
    fresh = fit(method, task(seed=4), lr=STILL)
    assert fresh.predict_proba(graph).tobytes() != old.predict_proba(graph).tobytes()
    moved = fit(method, task(seed=4, start=file))
    assert moved.predict_proba(graph).tobytes() != old.predict_proba(graph).tobytes()


@pytest.mark.parametrize("method", ["grandplus", "gbp", "grand"])
def test_batchnorm_starts_from_its_running_statistics(tmp_path, method):
    old = fit(method, task(seed=3), batchnorm=True)
    old.save(tmp_path / "model.safetensors")
    once = {"epochs": 1, "max_epochs": 1}
    started = fit(method, task(seed=4, start=tmp_path / "model.safetensors"), batchnorm=True, lr=STILL, **once)
    fresh = fit(method, task(seed=4), batchnorm=True, lr=STILL, **once)
    name = next(name for name in old.tensors() if name.endswith("num_batches_tracked"))
    assert started.tensors()[name] - old.tensors()[name] == fresh.tensors()[name]


def other_graph(**changes):
    return dataclasses.replace(small_graph(), **changes)


MISFITS = {
    "another method": ("gbp", {}, {}, "train.from: the model to start from is of gbp; expected one of "
                       "grandplus; name a run of grandplus, set model to gbp, or set train.from to null"),
    "other classes": ("grandplus", {"classes": ["a", "c", "b"]}, {},
                      "knows the classes a, c, b; expected a, b, c, in this order, as the graph has them"),
    "another scaling": ("grandplus", {"fitted": FittedFeatures("row-normalize")}, {},
                        "takes features that are scaled by row-normalize; expected as-is; "
                        "set preprocess.features to row-normalize"),
    "features with names": ("grandplus", {"fitted": FittedFeatures("as-is", ["x"] * 11 + ["y"])}, {},
                            "takes 12 features with names, x to y; expected features without names, as the graph has"),
    "another width": ("grandplus", {}, {"hidden": 4}, "has linears.0.bias of 4; expected linears.0.bias of 8; "
                      "set train.hidden to 4, as it has"),
    "more layers": ("grandplus", {}, {"layers": 3}, "set train.layers to 3, as it has"),
    "BatchNorm": ("grandplus", {}, {"batchnorm": True, "lr": 0.5}, "set train.batchnorm to true, as it has"),
    "other kinds of layers": ("grandplus", {}, {"row_norm": True}, "set train.row_norm to true, as it has"),
}  # fmt: skip


@pytest.mark.parametrize(("method", "graph", "changes", "message"), MISFITS.values(), ids=MISFITS)
def test_a_model_that_does_not_fit_is_refused(tmp_path, method, graph, changes, message):
    fit(method, task(other_graph(**graph)), **changes).save(tmp_path / "model.safetensors")
    with pytest.raises(ArgumentError) as refused:
        fit("grandplus", task(start=tmp_path / "model.safetensors"))
    assert message in str(refused.value)


def test_features_that_were_fitted_to_another_graph_are_refused(tmp_path):
    graph = small_graph()
    raw = graph.features.toarray()
    moved, same = (FittedFeatures.fit("standardize", values) for values in (raw + 1, raw))
    old = dataclasses.replace(graph, features=same.transform(raw), fitted=moved)
    fit("grandplus", task(old)).save(tmp_path / "model.safetensors")
    with pytest.raises(
        ArgumentError, match="features that were fitted to another graph by standardize; expected the same"
    ):
        fit("grandplus", task(dataclasses.replace(old, fitted=same), start=tmp_path / "model.safetensors"))


def test_a_model_of_a_graph_that_has_grown_since_may_be_started_from(tmp_path):
    graph = small_graph()
    graph = dataclasses.replace(graph, facts=build_adjacency(np.zeros((2, 0), int), NODES)[1])
    old = fit("grandplus", task(graph))
    old.save(tmp_path / "model.safetensors")
    merged = merged_graph(graph.grown([NODES], [[NODES], [3]], np.ones((1, 12), np.float32)))
    rows = gfpush(merged, np.arange(NODES), weights=propagation_weights("avg", order=2), rmax=1e-4, top_k=16)
    started = fit("grandplus", Task(merged, small_split(), rows, start=tmp_path / "model.safetensors"), lr=STILL)
    assert started.predict_proba(merged).tobytes() == old.predict_proba(merged).tobytes()
