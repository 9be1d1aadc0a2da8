"""What the experiments' pictures share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from grandplus.runtime.storage import finished_whole

plt.switch_backend("agg")


def save(figure: Any, file: Path) -> None:
    """Write a PNG whole, without matplotlib's version in it, and free the figure."""
    with finished_whole(file, alone=True) as partial:
        figure.savefig(partial, format="png", dpi=150, metadata={"Software": None})
    plt.close(figure)
