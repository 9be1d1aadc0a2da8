"""Embeddings of a classifier: those of a trial's model on the graph that it is given."""

import warnings

import numpy as np
import pytest
from communities import problem, small
from sklearn.exceptions import NotFittedError

import grandplus as gp
from grandplus.runtime.errors import ArgumentError


@pytest.fixture(scope="module")
def fitted():
    adjacency, X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gp.DiagnosisWarning)
        return small(max_epochs=10, trials=2, hidden=5).fit(adjacency, X, y)


def test_the_last_layer_predicts_from_it(fitted):
    adjacency, X, _ = problem()
    logits = []
    for trial, model in enumerate(fitted.models_):
        hidden, last = fitted.embeddings(adjacency, X, trial=trial), model.mlp.linears[-1]
        assert hidden.shape == (len(X), 5)
        logits.append(hidden @ last.weight.detach().numpy().T + last.bias.detach().numpy())
    powers = [np.exp(values - values.max(axis=1, keepdims=True)) for values in logits]
    trials = [(part / part.sum(axis=1, keepdims=True)).astype(np.float32) for part in powers]
    np.testing.assert_allclose(fitted.calibration_.combine(trials), fitted.predict_proba(), atol=1e-5)
    assert not np.allclose(*(fitted.embeddings(adjacency, X, trial=trial) for trial in range(2)))


def test_mistakes_are_refused(fitted):
    adjacency, X, _ = problem()
    for trial in (2, -1, "a", 0.0):
        with pytest.raises(ArgumentError, match=f"trial is {trial!r}; expected a whole number from 0 to 1"):
            fitted.embeddings(adjacency, X, trial=trial)
    with pytest.raises(NotFittedError):
        small().embeddings(adjacency, X)
