"""Which settings scores speak for: never by less than noise."""

from __future__ import annotations

import numpy as np
import pytest

from grandplus.tuning.scores import Score, Tried, best, standard_error, winner


def by_nodes(number, *right):
    return Tried(number, 10, tuple(Score(part.mean(), 0.0, part) for part in right))


def failed(number):
    return Tried(number, 10, (Score(0.0, np.inf, np.zeros(4, bool), "the loss became nan"),))


def test_the_standard_error_is_that_of_pairs():
    """Of 8 pairs, one is won and one lost: the deviation of (1, -1, 0, ...) is .5, over the root of 8."""
    first = np.array([True, False, True, True]), np.array([False] * 4)
    other = np.array([False, True, True, True]), np.array([False] * 4)
    assert standard_error(by_nodes(0, *first), by_nodes(1, *other)) == pytest.approx(0.5 / np.sqrt(8))


def test_what_has_no_model_never_wins():
    poor = by_nodes(1, np.array([True, False, False, False]))
    assert winner(failed(0), [failed(2), poor]).number == 1
    assert winner(poor, [failed(0)]).number == 1
    assert best([failed(0), poor, failed(2)], 3) == [poor]
    assert winner(failed(0), [failed(1)]).failed == "the loss became nan"


def test_the_mean_is_over_trials():
    two = by_nodes(0, np.array([True, True]), np.array([True, False]))
    assert two.accuracy == 0.75
    assert best([by_nodes(1, np.array([True] * 7 + [False] * 3)), two], 1) == [two]
