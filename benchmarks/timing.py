"""The time that short calls take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

SECONDS = 0.05  # of a measurement


def least_seconds(calls: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Seconds of each call, the least of some measurements in turns."""
    return [float(least) for least in np.min([[_seconds(call) for call in calls] for _ in range(repeats)], axis=0)]


def _seconds(call: Callable[[], object]) -> float:
    call()
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() - begun < SECONDS:
        call()
        calls += 1
    return (time.perf_counter() - begun) / calls
