"""The losses against hand-worked values and a float64 reference of the paper's formulas."""

import math

import numpy as np
import pytest
import torch

from grandplus.methods.grandplus.method import warmup_weight
from grandplus.methods.losses import consistency_loss, sharpen, supervised_loss

MEAN = pytest.mark.parametrize("consistency_mean", ["batch", "confident"])


def logits_of(probabilities):
    return torch.tensor(probabilities, dtype=torch.float64).log()


def consistency(logits, *, confidence, consistency_mean, **settings):
    return consistency_loss(logits, threshold=confidence, mean=consistency_mean, **settings)


def reference(probabilities, temperature, confidence, distance, consistency_mean):
    """Eq. 12 and 13 as printed, loop by loop; or averaged over what is confident."""
    p = np.asarray(probabilities)
    m_count, b, _ = p.shape
    total, counted = 0.0, 0
    for s in range(b):
        mean = p[:, s].mean(axis=0)
        guess = mean ** (1 / temperature) / (mean ** (1 / temperature)).sum()
        if mean.max() >= confidence:
            counted += 1
            for m in range(m_count):
                l2, kl = ((guess - p[m, s]) ** 2).sum(), -(guess * np.log(p[m, s])).sum()
                total += l2 if distance == "l2" else kl
    return total / (m_count * (b if consistency_mean == "batch" else max(counted, 1)))


def test_supervised_loss_by_hand():
    # -(ln .5 + ln .25 + ln .8 + ln .1) / (2 nodes · 2 augmentations)
    logits = logits_of([[[0.5, 0.5], [0.75, 0.25]], [[0.8, 0.2], [0.9, 0.1]]])
    expected = -(math.log(0.5) + math.log(0.25) + math.log(0.8) + math.log(0.1)) / 4
    assert supervised_loss(logits, torch.tensor([0, 1])).item() == pytest.approx(expected, rel=1e-12)


def test_consistency_loss_by_hand():
    # Node 0: mean (.75, .25); τ = .5 sharpens to (.9, .1). Squared distances to (.6, .4) and (.9, .1):
    # .09 + .09 and 0. Node 1: mean (.5, .5) is below γ = .7 and counts only in the divisor 2 · 2.
    logits = logits_of([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.6, 0.4]]])
    settings = {"temperature": 0.5, "confidence": 0.7, "distance": "l2"}
    loss = consistency(logits, consistency_mean="batch", **settings)
    assert loss.item() == pytest.approx(0.18 / 4, rel=1e-12)
    # Over confident nodes alone the divisor is 1 · 2.
    loss = consistency(logits, consistency_mean="confident", **settings)
    assert loss.item() == pytest.approx(0.18 / 2, rel=1e-12)


@pytest.mark.parametrize("distance", ["l2", "kl"])
@pytest.mark.parametrize("confidence", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0])
@MEAN
def test_consistency_loss_is_the_papers_formula(distance, confidence, temperature, consistency_mean):
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(4), size=(3, 20))
    settings = {"temperature": temperature, "confidence": confidence, "distance": distance}
    settings["consistency_mean"] = consistency_mean
    actual = consistency(logits_of(probabilities), **settings)
    assert actual.item() == pytest.approx(reference(probabilities, **settings), rel=1e-9)


@pytest.mark.parametrize("distance", ["l2", "kl"])
@MEAN
def test_no_confident_node_gives_zero_and_no_gradient(distance, consistency_mean):
    logits = torch.zeros(2, 5, 3, requires_grad=True)
    loss = consistency(logits, temperature=0.1, confidence=0.9, distance=distance, consistency_mean=consistency_mean)
    loss.backward()
    assert loss.item() == 0
    assert torch.equal(logits.grad, torch.zeros_like(logits))


@MEAN
def test_no_unlabelled_node_gives_zero(consistency_mean):
    logits = torch.zeros(2, 0, 3, requires_grad=True)
    loss = consistency(logits, temperature=0.1, confidence=0.0, distance="l2", consistency_mean=consistency_mean)
    loss.backward()
    assert loss.item() == 0


@pytest.mark.parametrize("distance", ["l2", "kl"])
def test_the_pseudo_label_is_a_constant(distance):
    """The gradient equals that with the sharpened mean put in as a number."""
    logits = torch.randn(2, 6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    consistency(logits, temperature=0.5, confidence=0.4, distance=distance, consistency_mean="batch").backward()
    actual, logits.grad = logits.grad.clone(), None
    probabilities = logits.softmax(-1)
    mean = probabilities.detach().mean(0)
    guess, confident = sharpen(mean, 0.5), mean.max(-1).values >= 0.4
    distances = (guess - probabilities) ** 2 if distance == "l2" else -guess * logits.log_softmax(-1)
    (distances.sum(-1) * confident).mean().backward()
    torch.testing.assert_close(actual, logits.grad)


def test_certain_predictions_stay_finite():
    logits = torch.tensor([[[200.0, 0.0, -200.0]]], requires_grad=True)
    for distance in ("l2", "kl"):
        loss = consistency(logits, temperature=0.1, confidence=0.5, distance=distance, consistency_mean="confident")
        loss.backward()
        assert loss.isfinite()
        assert logits.grad.isfinite().all()


def test_sharpening_tends_to_one_hot():
    torch.testing.assert_close(sharpen(torch.tensor([0.4, 0.3, 0.3]), 0.01), torch.tensor([1.0, 0.0, 0.0]))
    torch.testing.assert_close(sharpen(torch.tensor([0.4, 0.3, 0.3]), 1.0), torch.tensor([0.4, 0.3, 0.3]))


def test_no_warmup_is_full_weight_at_once():
    assert warmup_weight(0, lambda_max=1.5, warmup=0) == 1.5
