import numpy as np
import pyarrow as pa

from grandplus.evaluation.curves import learning_curve

HISTORY = pa.table(
    {
        "trial": pa.array([1, 0, 0, 1, 0], pa.int64()),
        "step": pa.array([10, 0, 20, 0, 10], pa.int64()),
        "val_loss": [0.4, 0.8, 0.6, 0.6, 0.7],
    }
)


def test_means_go_as_far_as_all_trials():
    """Step 20 was reached by one trial only, so no mean is given for it."""
    found = learning_curve(HISTORY, "val_loss")
    np.testing.assert_array_equal(found.steps, [0, 10, 20])
    np.testing.assert_array_equal(found.trials, [[0.8, 0.7, 0.6], [0.6, 0.4, np.nan]])
    assert found.common == 2
    np.testing.assert_allclose(found.mean, [0.7, 0.55])


def test_a_gap_in_a_trial_ends_the_mean():
    found = learning_curve(HISTORY.take([0, 1, 2, 3]), "val_loss")
    assert found.common == 1
