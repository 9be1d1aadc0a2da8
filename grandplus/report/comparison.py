"""Is one run better than another, or could chance have done it?

Runs with the same splits and seeds are compared trial by trial, which takes out what the trials have in
common: the interval of the mean difference is Student's, the p-value that of a sign-flip permutation test
(every assignment of signs up to 13 trials, 10,000 drawn ones beyond). Others are compared by Welch's t test, and
runs on different graphs not at all.
p-values are corrected for the number of comparisons by Holm's method.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from grandplus.evaluation.statistics import (
    LEVEL,
    MOST_TRIALS,
    Difference,
    fewest_trials,
    holm,
    paired,
    trials_needed,
    welch,
)


@dataclass(frozen=True)
class Comparison:
    """Two runs, by their place in the list that was compared.

    trials : of the run that has fewer
    paired : whether they were compared trial by trial, as far as both go; else by Welch's test
    corrected : p-value, corrected for the number of comparisons
    among : that number
    """

    first: int
    second: int
    trials: int
    paired: bool
    test: Difference
    corrected: float
    among: int

    @property
    def differs(self) -> bool:
        """Whether there is evidence of a difference, at the level of 5 %."""
        return self.corrected <= LEVEL

    def verdict(self, names: Sequence[str]) -> str:
        """What may be said, in words."""
        if self.differs:
            better, other = (self.first, self.second) if self.test.difference > 0 else (self.second, self.first)
            return f"{names[better]} is better than {names[other]}"
        words = "no evidence of a difference"
        if self.paired and not self.test.error and not self.test.difference:
            return f"{words}: trial by trial they are equal"
        return words + (f": {self.trials} trials are too few to show any" if self.trials < self._least_trials else "")

    @property
    def by(self) -> str:
        """How they were compared, in words."""
        return f"{self.trials} pairs of trials" if self.paired else "Welch, as splits or seeds differ"

    @property
    def would_take(self) -> str:
        """About how many trials of each would show a difference as large as this one, four times of five."""
        if self.differs or not self.test.difference:
            return ""
        trials = trials_needed(self.test, self.trials, paired=self.paired, comparisons=self.among)
        return f"{trials} trials" if trials else f"> {MOST_TRIALS:,} trials"

    @property
    def _least_trials(self) -> int:
        return fewest_trials(paired=self.paired, comparisons=self.among)


def compare(
    scores: Sequence[Sequence[float]], pairs: Sequence[Sequence[object]], subjects: Sequence[object] | None = None
) -> list[Comparison]:
    """Compare every two of some runs that are of the same subject.

    Parameters
    ----------
    scores : of each run, one a trial
    pairs : of each run, what its trials were made from: trials of two runs are paired as far as these agree
        from the first on, and at all only if they do so to the end of the shorter one
    subjects : of each run, the graph and which of its nodes are judged; by default all are the same

    Runs of a single trial are compared with none: nothing is known about how much their scores vary.
    """
    tests, fewer = {}, {}
    for first, second in itertools.combinations(range(len(scores)), 2):
        a, b = scores[first], scores[second]
        common = min(len(a), len(b))
        if common >= 2 and (subjects is None or subjects[first] == subjects[second]):
            same = list(pairs[first][:common]) == list(pairs[second][:common])
            fewer[first, second] = common, same
            tests[first, second] = paired(a[:common], b[:common]) if same else welch(a, b)
    corrected = holm([float(test.p) for test in tests.values()])
    return [
        Comparison(*both, *fewer[both], test, p, len(tests))
        for (both, test), p in zip(tests.items(), corrected, strict=True)
    ]
