"""How long training goes on, by the steps that its trials have done so far."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from tqdm import tqdm

from grandplus.methods.protocol import Scores
from grandplus.methods.settings import MethodSettings


@dataclass
class Course:
    """How far one trial has come.

    Attributes
    ----------
    step : int
        Of its latest validation.
    gained : int
        The step of the latest validation that had the highest accuracy or the lowest loss so far.
    seconds : float
        From its first validation to its latest.
    ended : bool
    """

    step: int = 0
    gained: int = 0
    seconds: float = 0.0
    ended: bool = False
    _best: tuple[float, float] = field(default=(-math.inf, math.inf), repr=False)  # accuracy and loss
    _begun: float = field(default=math.nan, repr=False)

    def note(self, scores: Scores) -> None:
        """Take note of a validation.

        Parameters
        ----------
        scores : dict
            With step, val_accuracy and val_loss.
        """
        now = time.monotonic()
        if math.isnan(self._begun):
            self._begun = now
        self.step, self.seconds = int(scores["step"]), now - self._begun
        accuracy, loss = self._best
        if scores["val_accuracy"] >= accuracy or scores["val_loss"] <= loss:
            self.gained = self.step
        self._best = max(accuracy, scores["val_accuracy"]), min(loss, scores["val_loss"])


@dataclass(frozen=True)
class Estimate:
    """The rest of the trials of a run; they may be trained side by side.

    Parameters
    ----------
    trials : int
        To train, of which some have begun.
    most : int
        The steps that a trial takes at most.
    patience : int or None
        The steps without a gain after which a trial ends; None if it has no such end.
    earlier : sequence of int
        The steps that other trials of the same settings took.

    Examples
    --------
    >>> estimate = Estimate(trials=4, most=100_000, patience=500)
    >>> estimate.text([Course(step=600, gained=400, seconds=6.0), Course(step=1000, gained=1000, seconds=10.0)])
    '00:16 left if validation improves no more, at most 33:12'
    >>> estimate.text([Course(step=900, seconds=9.0, ended=True), Course(step=1000, gained=1000, seconds=10.0)])
    'about 00:29 left'
    """

    trials: int
    most: int
    patience: int | None
    earlier: Sequence[int] = ()

    @classmethod
    def of(cls, settings: MethodSettings, labelled: int, trials: int, earlier: Sequence[int] = ()) -> Self:
        """An estimate for trials of these settings, with this many training nodes."""
        return cls(trials, settings.most_steps(labelled), settings.patience_steps(), earlier)

    def text(self, courses: Sequence[Course]) -> str:
        """Tell how much time is left.

        As long as no trial has ended, nobody knows when validation ceases to improve. So the time is told for the case
        that it has ceased by now, and the most that it can be. Afterwards, trials are taken to be as long as the ended
        ones, as far as they can be.

        Parameters
        ----------
        courses : sequence of Course
            Of the trials that have begun.

        Returns
        -------
        str
            Empty where nothing can be said.
        """
        steps, seconds = sum(course.step for course in courses), sum(course.seconds for course in courses)
        ended = [*self.earlier, *(course.step for course in courses if course.ended)]
        if not (steps and seconds):
            return ""
        pace = seconds / steps
        if ended:
            return f"about {_time(pace * self._steps_left(courses, sum(ended) / len(ended)))} left"
        most = f"at most {_time(pace * self._steps_left(courses, self.most))}"
        if self.patience is None:
            return f"{most} left"
        return f"{_time(pace * self._steps_left(courses, 0))} left if validation improves no more, {most}"

    def _steps_left(self, courses: Sequence[Course], typical: float) -> float:
        """Of the trial or process that has most of them before it."""
        running = [course for course in courses if not course.ended]
        ends = [self._end(course, typical) for course in running]
        rest = [end - course.step for end, course in zip(ends, running, strict=True)]
        all_ends = [*ends, *(course.step for course in courses if course.ended), *self.earlier]
        waiting = (self.trials - len(courses)) * sum(all_ends) / len(all_ends)
        return max([(sum(rest) + waiting) / max(len(running), 1), *rest])

    def _end(self, course: Course, typical: float) -> float:
        """The step at which a running trial ends: as the ended ones did, but not before its patience ends."""
        end = max(typical, course.gained + (self.patience or 0))
        return max(course.step, min(end, self.most))


def _time(seconds: float) -> str:
    """As a clock has it: minutes and seconds, and hours before them where there are some."""
    return str(tqdm.format_interval(seconds))
