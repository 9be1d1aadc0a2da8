"""Random numbers for kernels: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

Its states are s, s + SPREAD, s + 2 SPREAD, …; each is mixed into a random number. So the i-th number of a seed can be
computed without those before it.
"""

from __future__ import annotations

import numpy as np

from grandplus.kernels.compiled import jitable

SPREAD = np.uint64(0x9E3779B97F4A7C15)


@jitable
def mix(z):
    """64 bits mixed, so that similar states give unrelated numbers."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jitable
def uniform(state):
    """The next state, and a random number in [0, 1) with 53 random bits."""
    state += SPREAD
    return state, np.float64(mix(state) >> np.uint64(11)) * 2.0**-53
