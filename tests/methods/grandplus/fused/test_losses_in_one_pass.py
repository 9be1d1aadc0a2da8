"""The losses and their gradient in one pass against the formulas in PyTorch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grandplus.methods.grandplus.fused.losses import losses
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.losses import consistency_loss, supervised_loss


@given(
    seed=st.integers(0, 2**32 - 1),
    augmentations=st.integers(1, 3),
    labelled=st.integers(1, 4),
    unlabelled=st.integers(0, 4),
    classes=st.integers(2, 6),
    temperature=st.sampled_from([0.1, 0.5, 1.0]),
    confidence=st.sampled_from([0.0, 0.5, 0.9]),
    distance=st.sampled_from(["l2", "kl"]),
    weight=st.sampled_from([0.0, 0.3, 2.0]),
    consistency_mean=st.sampled_from(["batch", "confident"]),
    rare=st.sampled_from([1.0, 0.02, 25.0]),
)
def test_all_in_one_pass_equals_the_formulas_with_their_gradients(
    seed,
    augmentations,
    labelled,
    unlabelled,
    classes,
    temperature,
    confidence,
    distance,
    weight,
    consistency_mean,
    rare,
):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(augmentations, labelled + unlabelled, classes, generator=generator)
    labels = torch.randint(classes, (labelled,), generator=generator)
    settings = Settings(
        temperature=temperature, confidence=confidence, distance=distance, consistency_mean=consistency_mean
    )
    exact = logits.double().requires_grad_()
    class_weights = torch.ones(classes, dtype=torch.float64)
    class_weights[0] = rare
    constants = {"temperature": temperature, "threshold": confidence, "distance": distance, "mean": consistency_mean}
    supervised = supervised_loss(exact[:, :labelled], labels, class_weights)
    expected = supervised, consistency_loss(exact[:, labelled:], **constants)
    (expected[0] + weight * expected[1]).backward()
    gradient = torch.empty_like(logits)
    total, consistency = losses(
        logits.numpy(), labels.numpy(), settings, weight, gradient.numpy(), class_weights.numpy()
    )
    assert consistency == pytest.approx(expected[1].item(), rel=1e-6, abs=1e-9)
    assert total == pytest.approx(expected[0].item() + weight * expected[1].item(), rel=1e-6)
    torch.testing.assert_close(gradient.double(), exact.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("distance", ["l2", "kl"])
def test_certain_predictions_stay_finite_in_one_pass(distance):
    logits = np.array([[[200.0, 0.0, -200.0], [900.0, 0.0, -900.0]]] * 2, np.float32)
    settings = Settings(temperature=0.1, confidence=0.5, distance=distance, consistency_mean="confident")
    gradient = np.empty_like(logits)
    assert np.isfinite(losses(logits, np.array([0]), settings, 1.0, gradient, np.ones(3))).all()
    assert np.isfinite(gradient).all()
