"""How pictures of experiments, benchmarks and the search are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from grandplus.runtime.storage import finished_whole

plt.switch_backend("agg")


def save(figure: Any, file: Path) -> None:
    """Write a figure as PNG, whole or not at all, and free it.

    The file doesn't hold the version of matplotlib.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    file : path
    """
    with finished_whole(file, alone=True) as partial:
        figure.savefig(partial, format="png", dpi=150, metadata={"Software": None})
    plt.close(figure)
