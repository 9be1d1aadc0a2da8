"""The fused kernels against plain PyTorch: with the same inputs, initial values and masks both train the same.

So what a GPU runs is run here too.
"""

import copy
import functools
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from made_problems import CLASSES, FEATURES, NODES, communities

from grandplus.datasets.preprocess import preprocess
from grandplus.methods.grandplus.fused import backend as fused_backend
from grandplus.methods.grandplus.fused.backend import Fused
from grandplus.methods.grandplus.fused.layer_input import LayerInput
from grandplus.methods.grandplus.fused.random_propagation import RandomPropagation
from grandplus.methods.grandplus.method import EarlyStopping, Plain, _train, batches, warmup_weight
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.model import Model
from grandplus.methods.protocol import Task
from grandplus.pipeline.settings import load_settings
from grandplus.propagation.gfpush import gfpush

STEPS = 50


@pytest.fixture(scope="module")
def task():
    return communities()


def densely(_task):
    return communities(np.asarray)


class FusedMasks:
    """What the kernels drop of ``nodes``, read off from what they make of ones; seeds are drawn in their order."""

    def __init__(self, task, settings, mlp, rng):
        self.rng, self.rows, self.augmentations = rng, task.rows, settings.augmentations
        draw = functools.partial(RandomPropagation, rows=task.rows, dropnode=settings.dropnode, renormalize=False)
        self.one_hot, self.inputs, self.nodes, self.stored = draw(np.eye(NODES)), None, None, None
        if sp.issparse(task.graph.features) and mlp.takes_sparse and not settings.embed and settings.dropout_input > 0:
            self.inputs = draw(task.graph.features, sparse=True, dropout=settings.dropout_input)

    def noted(self, batches):
        """The batches, whose nodes are noted when they are drawn."""
        for labelled, unlabelled in batches:
            self.nodes = np.concatenate([labelled, unlabelled])
            yield labelled, unlabelled

    def dropnode(self, values, share):
        assert share == self.one_hot.dropnode
        if self.inputs:  # whose dropout is drawn from the same seed
            stored = self.inputs.draw(
                self.nodes, copy.deepcopy(self.rng).integers(2**63), augmentations=self.augmentations
            )
            self.stored = torch.from_numpy(stored.to_dense()) != 0
        drawn = torch.from_numpy(
            self.one_hot.draw(self.nodes, self.rng.integers(2**63), augmentations=self.augmentations)
        )
        neighbors = np.tile(self.rows.neighbors[self.rows.positions(self.nodes)], (self.augmentations, 1))
        return values * (torch.gather(drawn, 1, torch.tensor(neighbors.clip(0), dtype=torch.int64)) > 0)

    def dropout(self, values, share):
        if self.stored is not None:
            kept, self.stored = self.stored, None
            return values * kept / (1 - share)
        nothing_else = {"relu": False, "row_norm": False, "augmentations": 1}
        layer = LayerInput(None, dropout=share, adam=None, wanted=True, **nothing_else)
        seed = np.int64(self.rng.integers(2**63) if share > 0 else 0)
        return values * torch.from_numpy(layer.forward(np.ones(values.shape, np.float32), seed))


def trained(task, settings, backend):
    """Losses (steps, 2), gradients of each step by name, and the values at the end."""
    rng = np.random.default_rng(7)
    torch.manual_seed(0)
    mlp = MLP(FEATURES, len(CLASSES), settings)
    compute = backend(task, settings, mlp, rng)
    masks = FusedMasks(task, settings, mlp, rng)
    if backend is Plain:
        compute.noise = masks
    losses, gradients = [], []
    if settings.clip:
        step = compute.adam.step
        compute.adam.step = lambda: (gradients.append(noted(mlp, compute.adam)), step())
    drawn = itertools.islice(masks.noted(batches(task.split, settings, rng)), STEPS)
    for number, (labelled, inputs) in enumerate(compute.inputs(drawn)):
        weight = warmup_weight(number, lambda_max=settings.lambda_max, warmup=settings.warmup)
        losses.append(compute.step(inputs, task.graph.labels[labelled], weight))
    return np.array(losses), gradients, mlp.state_dict()


def noted(mlp, adam):
    """A copy of each gradient by name, just before it is used."""
    parameters = dict(mlp.named_parameters())
    if mlp.embedding is not None:
        parameters["embedding"] = mlp.embedding.rows
    by_kernels = getattr(adam, "gradients", None)
    gradients = {name: torch.as_tensor(by_kernels[p]) if by_kernels else p.grad for name, p in parameters.items()}
    if mlp.embedding is not None:  # each way uses rows of its own
        table = torch.zeros_like(mlp.embedding.weight)
        table[mlp.embedding.columns] = gradients["embedding"]
        gradients["embedding"] = table
    return {name: gradient.clone() for name, gradient in gradients.items()}


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (None, {}),
        (None, {"dropout_input": 0.4, "dropout_hidden": 0.3}),
        (None, {"layers": 1}),
        (None, {"layers": 3, "hidden": 70, "dropout_hidden": 0.5}),
        (densely, {"batchnorm": True, "row_norm": True, "dropout_input": 0.2, "dropout_hidden": 0.2}),
        (None, {"batchnorm": True, "dropout_input": 0.2}),
        (densely, {"dropout_input": 0.5}),
        (None, {"distance": "kl", "augmentations": 3}),
        (None, {"consistency_mean": "confident"}),
        (None, {"clip": 0.1}),
        (None, {"class_weight": {CLASSES[0]: 5.0}}),
        (None, {"embed": True, "dropout_input": 0.2, "clip": 0.5}),
        (None, {"embed": True}),
        (None, {"renormalize": False}),
        (densely, {"renormalize": False, "dropnode": 0.0}),
    ],
)
def test_both_backends_train_the_same(task, train_settings, make, changes):
    task = make(task) if make else task
    # A limit that no norm reaches makes the kernels keep all gradients to the end of the step, to be seen.
    own = {"max_epochs": 50, "warmup": 20, "dropnode": 0.3, "confidence": 0.4, "clip": 1e9}
    settings = train_settings(**own | changes)
    fused, plain = (trained(task, settings, backend) for backend in (Fused, Plain))
    np.testing.assert_allclose(fused[0], plain[0], atol=1e-4)
    assert fused[0][:, 1].max() > 0  # the consistency loss has a say
    for actual, expected in zip(fused[1], plain[1], strict=True):
        assert actual.keys() == expected.keys()
        for name in actual:
            torch.testing.assert_close(actual[name], expected[name], atol=1e-4, rtol=0)
    assert fused[2].keys() == plain[2].keys()
    for name, values in fused[2].items():
        torch.testing.assert_close(values, plain[2][name], atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (None, {"hidden": 70}),
        (densely, {"batchnorm": True, "row_norm": True}),
        (densely, {"layers": 1, "row_norm": True}),
        (None, {"batchnorm": True, "row_norm": True, "embed": True}),
    ],
)
def test_validation_by_kernels_is_that_of_the_model(task, train_settings, make, changes, monkeypatch):
    """After a step and before another one, which is as large; so the kept memory does no harm."""
    task, settings, rng = make(task) if make else task, train_settings(**changes), np.random.default_rng(0)
    mlp, nodes = MLP(FEATURES, len(CLASSES), settings), np.arange(NODES)
    compute = Fused(task, settings, mlp, rng)
    watched = compute.undropped(nodes[5:])
    for _, inputs in compute.inputs([(nodes[:12], nodes[12:])] * 2):
        compute.step(inputs, task.graph.labels[:12], 1.0)
        expected = mlp.evaluate(compute.propagation.expected(nodes[5:]))
        torch.testing.assert_close(compute.evaluate(watched), expected, atol=1e-6, rtol=1e-5)
        # Nodes are taken by blocks, of any size.
        with monkeypatch.context() as patch:
            patch.setattr(fused_backend, "ROWS_AT_ONCE", 7)
            blocks = compute.undropped(nodes[5:])
        assert len(blocks) == -(-(NODES - 5) // 7)
        assert torch.equal(compute.evaluate(blocks), compute.evaluate(watched))


@pytest.mark.parametrize(
    ("make", "changes"), [(None, {}), (None, {"hidden": 70}), (densely, {}), (None, {"embed": True, "hidden": 20})]
)
def test_gradients_that_are_used_at_once_give_the_same_bytes(task, train_settings, make, changes):
    task = make(task) if make else task
    at_once, kept = (trained(task, train_settings(clip=clip, **changes), Fused) for clip in (0.0, 1e9))
    np.testing.assert_array_equal(at_once[0], kept[0])
    for name, values in kept[2].items():
        assert torch.equal(at_once[2][name], values)


def test_plain_training_on_cora_is_as_good_as_the_fused_one(raw_graph):
    """120 fast steps with other random numbers: the accuracies of 1,000 nodes differ by less than 4 points."""
    settings = load_settings(dataset="cora", matrix="ppr", trials=1)
    graph, splits = preprocess(raw_graph("cora"), settings.preprocess, seed=0, trials=1, name="cora")
    push, nodes = settings.gfpush, splits.needing_rows()
    rows = gfpush(graph, nodes, weights=settings.matrix.weights(), rmax=push.rmax, top_k=push.top_k)
    fast = {"lr": 0.05, "weight_decay": 1e-4, "dropout_hidden": 0.2, "warmup": 50, "max_epochs": 40}
    train = settings.train.model_copy(update=fast)
    task, accuracy = Task(graph, splits.of(0), rows), {}
    for backend in (Fused, Plain):
        stopping = EarlyStopping(train.patience)
        mlp, history, steps = _train(task, train, backend, stopping)
        assert steps == 120
        assert stopping.best_accuracy == max(history["val_accuracy"])
        model = Model(mlp=mlp, weights=rows.info.weights, classes=graph.classes, settings=train)
        right = model.predict_proba(graph).argmax(axis=1) == graph.labels
        accuracy[backend] = right[task.split.test].mean()
    assert accuracy[Plain] == pytest.approx(accuracy[Fused], abs=0.04)
    assert min(accuracy.values()) > 0.78
