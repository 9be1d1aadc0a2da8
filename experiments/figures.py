"""What the experiments' pictures share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from scipy import stats

from grandplus.scratch import finished_whole

plt.switch_backend("agg")


def half_width(deviation: float, trials: int) -> float:
    """Of the 95 % t interval of a mean over trials, from their standard deviation (divisor n - 1)."""
    return float(stats.t.ppf(0.975, trials - 1) * deviation / np.sqrt(trials))


def save(figure: Any, file: Path) -> None:
    """Write a PNG whole, without matplotlib's version in it, and free the figure."""
    with finished_whole(file, alone=True) as partial:
        figure.savefig(partial, format="png", dpi=150, metadata={"Software": None})
    plt.close(figure)
