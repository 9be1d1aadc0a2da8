"""Rules of stopping against sequences that were followed by hand."""

import pytest

from grandplus.methods.stopping import LastWeights, Patience, RisingLoss


def course(rule, accuracies, losses):
    """The epoch whose weights are kept, and that after which training ends (or None)."""
    kept = None
    for epoch, (accuracy, loss) in enumerate(zip(accuracies, losses, strict=True)):
        decision = rule.update(accuracy, loss)
        kept = epoch if decision.keep else kept
        if decision.stop:
            return kept, epoch
    return kept, None


def test_the_last_weights_are_kept_and_training_never_stops():
    assert course(LastWeights(), [0.9, 0.1, 0.1], [1, 2, 3]) == (2, None)


def test_a_loss_above_the_mean_of_those_before_stops():
    losses = [5, 4, 3, 3, 3, 3.5]  # 3.5 is above the mean of 3, 3, 3; no loss before is above that of its three
    assert course(RisingLoss(window=3), [0.5] * 6, losses) == (5, 5)
    assert course(RisingLoss(window=3), [0.5] * 6, [*losses[:5], 3.0]) == (5, None)


def test_a_rising_loss_does_not_stop_before_the_window_is_past():
    """As in the authors' program, which asks for an epoch beyond the window: epoch > window, counted from 0."""
    assert course(RisingLoss(window=3), [0.5] * 5, [1, 2, 3, 4, 5]) == (4, 4)
    assert course(RisingLoss(window=10), [0.5] * 11, range(11)) == (10, None)


def test_the_mean_of_the_last_losses_is_compared():
    losses = [8, 6, 4, 1, 7]  # (1 + 7) / 2 = 4 is above (6 + 4 + 1) / 3 = 3.67
    assert course(RisingLoss(window=3, recent=2), [0.5] * 5, losses) == (4, 4)
    assert course(RisingLoss(window=3, recent=2), [0.5] * 5, [8, 6, 4, 1, 6]) == (4, None)  # 3.5


ACCURACIES = [0.5, 0.6, 0.6, 0.4, 0.6, 0.5, 0.5]
LOSSES = [1.0, 0.9, 0.95, 0.8, 0.85, 0.9, 0.9]


@pytest.mark.parametrize(
    ("watched", "kept", "outcome"),
    [
        ("loss", "loss", (3, 5)),  # epochs 4 and 5 are above 0.8
        ("accuracy", "accuracy", (4, 6)),  # of equal accuracies that of the lowest loss; 5 and 6 are below 0.6
        ("either", "accuracy", (4, 6)),  # epoch 3 reaches the least loss, epoch 4 the best accuracy
        ("either", "both", (1, 6)),  # no epoch after 1 reaches the best of both at once
    ],
)
def test_patience(watched, kept, outcome):
    assert course(Patience(2, watched=watched, kept=kept), ACCURACIES, LOSSES) == outcome


def test_equal_values_renew_patience():
    assert course(Patience(1, watched="either", kept="both"), [0.5] * 4, [1.0] * 4) == (3, None)


def test_the_later_of_equal_epochs_is_kept():
    assert course(Patience(2, watched="accuracy", kept="accuracy"), [0.5, 0.5, 0.5], [1.0, 0.9, 0.9]) == (2, None)


@pytest.mark.parametrize(
    ("ties", "outcome"),
    [
        ("loss", (3, 4)),  # epoch 2 has a higher loss than epoch 1, epoch 3 a lower one
        ("latest", (3, 4)),
        ("first", (1, 2)),  # epoch 2 does not reach what it equals
    ],
)
def test_equal_accuracies(ties, outcome):
    rule = Patience(1, watched="accuracy", kept="accuracy", ties=ties)
    assert course(rule, [0.5, 0.6, 0.6, 0.6, 0.5], [1.0, 0.9, 0.95, 0.8, 0.7]) == outcome


def test_the_latest_of_equal_accuracies_may_have_the_higher_loss():
    accuracies, losses = [0.5, 0.6, 0.6], [1.0, 0.9, 0.95]
    assert course(Patience(1, watched="accuracy", kept="accuracy", ties="latest"), accuracies, losses) == (2, None)
    assert course(Patience(1, watched="accuracy", kept="accuracy", ties="loss"), accuracies, losses) == (1, None)


def test_no_patience_goes_on_to_the_last_epoch():
    assert course(Patience(0, watched="loss", kept="loss"), [0.5] * 5, [1, 2, 3, 4, 5]) == (0, None)
