"""Is one run better than another, or could chance have done it?

Runs with the same splits and seeds are compared trial by trial, which removes what the trials have in common: the
interval of the mean difference is Student's, the p-value is that of a permutation test that flips signs (every
assignment of signs up to 13 trials, 10,000 drawn ones beyond). Other runs are compared by Welch's t test; runs on
different graphs are not compared. p-values are corrected for the number of comparisons by Holm's method.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from grandplus.evaluation.significance import MOST_TRIALS, fewest_trials, holm, trials_needed
from grandplus.evaluation.statistics import LEVEL, Difference, paired, welch
from grandplus.report.run import Run


@dataclass(frozen=True)
class Comparison:
    """Two runs, compared.

    Attributes
    ----------
    first, second : int
        Their places in the list of runs.
    trials : int
        Of the run that has fewer.
    paired : bool
        Whether they were compared trial by trial, as far as both go; else by Welch's test.
    test : Difference
    corrected : float
        The p-value, corrected for the number of comparisons.
    comparisons : int
        That number.
    """

    first: int
    second: int
    trials: int
    paired: bool
    test: Difference
    corrected: float
    comparisons: int

    @property
    def differs(self) -> bool:
        """Whether there is evidence of a difference, at the level of 5 %."""
        return self.corrected <= LEVEL

    def verdict(self, names: Sequence[str]) -> str:
        """What follows from it, in words.

        Parameters
        ----------
        names : sequence of str
            Of all runs.
        """
        if self.differs:
            better, other = (self.first, self.second) if self.test.difference > 0 else (self.second, self.first)
            return f"{names[better]} is better than {names[other]}"
        words = "no evidence of a difference"
        if self.paired and not self.test.error and not self.test.difference:
            return f"{words}: trial by trial they are equal"
        fewest = fewest_trials(paired=self.paired, comparisons=self.comparisons)
        return words + (f": {self.trials} trials are too few to show any" if self.trials < fewest else "")

    @property
    def by(self) -> str:
        """How they were compared, in words."""
        return f"{self.trials} pairs of trials" if self.paired else "Welch, as splits or seeds differ"

    @property
    def would_take(self) -> str:
        """How many trials of each run would show such a difference, in words; empty where it is shown, or is 0."""
        if self.differs or not self.test.difference:
            return ""
        trials = trials_needed(self.test, self.trials, paired=self.paired, comparisons=self.comparisons)
        return f"{trials} trials" if trials else f"> {MOST_TRIALS:,} trials"


def compare(
    scores: Sequence[Sequence[float]], pairs: Sequence[Sequence[object]], subjects: Sequence[object] | None = None
) -> list[Comparison]:
    """Compare every two of some runs that have the same subject.

    A run of a single trial is compared with none: how much its scores vary is not known.

    Parameters
    ----------
    scores : sequence of sequence of float
        Of each run, one a trial.
    pairs : sequence of sequence
        Of each run, what its trials were made from. Trials of two runs are paired if these are equal, from the first
        trial to the last one of the shorter run.
    subjects : sequence, optional
        Of each run, the graph and which of its nodes it is judged by; by default all are the same.

    Returns
    -------
    list of Comparison
    """
    tests, kinds = {}, {}
    for first, second in itertools.combinations(range(len(scores)), 2):
        common = min(len(scores[first]), len(scores[second]))
        if common >= 2 and (subjects is None or subjects[first] == subjects[second]):
            same = list(pairs[first][:common]) == list(pairs[second][:common])
            kinds[first, second] = common, same
            tests[first, second] = (
                paired(scores[first][:common], scores[second][:common])
                if same
                else welch(scores[first], scores[second])
            )
    corrected = holm([float(test.p) for test in tests.values()])
    return [
        Comparison(*runs, *kinds[runs], test, p, len(tests))
        for (runs, test), p in zip(tests.items(), corrected, strict=True)
    ]


def compare_runs(runs: Sequence[Run]) -> tuple[list[Comparison], list[str]]:
    """Compare every two runs that can be compared.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    comparisons : list of Comparison
    notes : list of str
        Which runs can't be compared, and why, in words.
    """
    comparisons = compare([run.accuracy for run in runs], [run.pairs for run in runs], [run.subject for run in runs])
    notes = []
    single = [run.name for run in runs if len(run.accuracy) == 1]
    if len(runs) > 1 and single:
        notes.append(f"one trial says nothing of differences: run {', '.join(single)} with more, as -S trials=10")
    if len({run.subject[:-1] for run in runs}) > 1:
        notes.append("runs on different graphs are not compared: their accuracies have nothing in common")
    if len({run.subject[-1] for run in runs}) > 1:
        validated = ", ".join(run.name for run in runs if run.subject[-1] == "val")
        notes.append(f"no test node of {validated} has a label, so its accuracy is of validation nodes")
    return comparisons, notes
