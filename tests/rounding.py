"""Exact roundings, to test kernels against."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def nearest(exact: Fraction) -> np.float32:
    """The float32 next to a fraction, the even one of two."""
    guess = np.float32(float(exact))
    near = [guess, np.nextafter(guess, np.float32(np.inf)), np.nextafter(guess, np.float32(-np.inf))]
    return min(near, key=lambda value: (abs(Fraction(float(value)) - exact), int(value.view(np.int32)) & 1))
