"""Is one run better than another, or could chance have done it?

Two things are due to chance: the trials, and the nodes that are tested. So there are two tests of each difference.

Over trials: runs with the same splits and seeds are compared trial by trial, which removes what the trials have in
common. The interval of the mean difference is Student's, the p-value is that of a permutation test that flips signs
(every assignment of signs up to 13 trials, 10,000 drawn ones beyond). Splits that are drawn anew for each trial
overlap: then the variance is corrected for that, after Nadeau and Bengio (see `overlap_of_splits`), and the p-value is
that of Student's test. Other runs are compared by Welch's test.

Over nodes and trials: the test nodes are resampled, too. Runs on different graphs are not compared. p-values are
corrected for the number of comparisons by Holm's method.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grandplus.evaluation.node_scores import NodeScores
from grandplus.evaluation.resampling import over_nodes
from grandplus.evaluation.significance import MOST_TRIALS, fewest_trials, holm, trials_needed
from grandplus.evaluation.statistics import LEVEL, Difference, paired, welch
from grandplus.report.run import Run

NODES = {"test": "test nodes", "val": "validation nodes"}


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
    overlap : float
        Of splits that are drawn anew for each trial; else 0.
    part : {"test", "val"}
        Of the nodes that the runs are judged by.
    test : Difference
        Over trials.
    corrected : float
        Its p-value, corrected for the number of comparisons.
    beyond : Difference or None
        Over nodes and trials; None where a run doesn't say which nodes were right.
    corrected_beyond : float
        Its p-value, corrected likewise; 1 where there is none.
    comparisons : int
        Their number.
    """

    first: int
    second: int
    trials: int
    paired: bool
    overlap: float
    part: str
    test: Difference
    corrected: float
    beyond: Difference | None
    corrected_beyond: float
    comparisons: int

    @property
    def differs(self) -> bool:
        """Whether there is evidence of a difference on these nodes, at the level of 5 %."""
        return self.corrected <= LEVEL

    @property
    def differs_beyond(self) -> bool:
        """Whether there is evidence of a difference on other nodes too, at the level of 5 %."""
        return self.differs and self.corrected_beyond <= LEVEL

    def verdict(self, names: Sequence[str]) -> str:
        """What follows from it, in words.

        Parameters
        ----------
        names : sequence of str
            Of all runs.
        """
        if self.differs:
            better, other = (self.first, self.second) if self.test.difference > 0 else (self.second, self.first)
            return f"{names[better]} is better than {names[other]} {self._where}"
        words = "no evidence of a difference"
        if self.paired and not self.test.error and not self.test.difference:
            return f"{words}: trial by trial they are equal"
        return f"not decided: it takes {self._fewest} trials to show any difference" if self.too_few else words

    @property
    def too_few(self) -> bool:
        """Whether so few trials can't show any difference, however large."""
        return self.trials < self._fewest

    @property
    def _fewest(self) -> int:
        return fewest_trials(paired=self.paired, comparisons=self.comparisons, overlap=self.overlap)

    @property
    def _where(self) -> str:
        """On which nodes one run is better."""
        if self.differs_beyond:
            return f"on these {NODES[self.part]} and beyond them"
        return f"on these {NODES[self.part]}" + ("; no evidence beyond them" if self.beyond else "")

    @property
    def by(self) -> str:
        """How they were compared, in words."""
        words = f"{self.trials} pairs of trials" if self.paired else "Welch, as splits or seeds differ"
        return words + (", drawn splits" if self.overlap else "")

    @property
    def would_take(self) -> str:
        """How many trials of each run would show such a difference, in words; empty where it is shown, or is 0.

        Splits that are drawn anew share nodes, so that more of them may never show it.
        """
        if self.differs or not self.test.difference:
            return ""
        trials = trials_needed(
            self.test, self.trials, paired=self.paired, comparisons=self.comparisons, overlap=self.overlap
        )
        if trials is None and self.overlap:
            return "no number is enough"
        return f"{trials} trials" if trials else f"> {MOST_TRIALS:,} trials"


def compare(
    scores: Sequence[Sequence[float]],
    pairs: Sequence[Sequence[object]],
    subjects: Sequence[tuple[object, ...]] | None = None,
    *,
    overlaps: Sequence[Callable[[int], float]] | None = None,
    nodes: Sequence[NodeScores | None] | None = None,
    with_first: bool = False,
) -> list[Comparison]:
    """Compare every two of some runs that have the same subject, or the first one with each other one.

    A run of a single trial is compared with none: how much its scores vary is not known.

    Parameters
    ----------
    scores : sequence of sequence of float
        Of each run, one a trial.
    pairs : sequence of sequence
        Of each run, what its trials were made from. Trials of two runs are paired if these are equal, from the first
        trial to the last one of the shorter run.
    subjects : sequence of tuple, optional
        Of each run, the graph and, at the end, which of its nodes it is judged by; by default all are the same.
    overlaps : sequence of callable, optional
        Of each run, the overlap of the splits of so many of its first trials; by default all have the same split.
    nodes : sequence of NodeScores or None, optional
        Of each run, where its trials were right; by default this is not known.
    with_first : bool
        Whether only pairs with the first run are compared: p-values of fewer pairs are corrected less.

    Returns
    -------
    list of Comparison
    """
    subjects = subjects or [("test",)] * len(scores)
    overlaps, nodes = overlaps or [lambda _: 0.0] * len(scores), nodes or [None] * len(scores)
    found = []
    for first, second in itertools.combinations(range(len(scores)), 2):
        if with_first and first:
            break
        common = min(len(scores[first]), len(scores[second]))
        if common < 2 or subjects[first] != subjects[second]:
            continue
        same = list(pairs[first][:common]) == list(pairs[second][:common])
        test, used = (paired, slice(common)) if same else (welch, slice(None))
        overlap = max(overlaps[run](len(scores[run][used])) for run in (first, second))
        over_trials = test(scores[first][used], scores[second][used], overlap=overlap)
        one, other, beyond = nodes[first], nodes[second], None
        if one and other:
            beyond = over_nodes(over_trials, one.of_trials(used), other.of_trials(used), paired=same, overlap=overlap)
        p = [float(of.p) if of else 1.0 for of in (over_trials, beyond)]
        part = str(subjects[first][-1])
        found.append(Comparison(first, second, common, same, overlap, part, over_trials, p[0], beyond, p[1], 0))
    return _corrected(found)


def _corrected(found: Sequence[Comparison]) -> list[Comparison]:
    """The same with p-values that are corrected for the number of comparisons."""
    of_trials, beyond = holm([pair.corrected for pair in found]), holm([pair.corrected_beyond for pair in found])
    return [
        replace(pair, corrected=p, corrected_beyond=p_beyond, comparisons=len(found))
        for pair, p, p_beyond in zip(found, of_trials, beyond, strict=True)
    ]


def compare_runs(runs: Sequence[Run], *, with_first: bool = False) -> tuple[list[Comparison], list[str]]:
    """Compare every two runs that can be compared, or the first one with each other one.

    Parameters
    ----------
    runs : sequence of Run
    with_first : bool
        See `compare`.

    Returns
    -------
    comparisons : list of Comparison
    notes : list of str
        Which runs can't be compared, and why, in words.
    """
    nodes = [run.node_scores for run in runs]
    comparisons = compare(
        [run.accuracy for run in runs],
        [run.pairs for run in runs],
        [run.subject for run in runs],
        overlaps=[run.overlap for run in runs],
        nodes=nodes,
        with_first=with_first,
    )
    notes = []
    old = [run.name for run, known in zip(runs, nodes, strict=True) if known is None]
    if comparisons and old:
        notes.append(
            f"results of older code don't say which nodes were right, so {', '.join(old)} has no interval over nodes: "
            "run dvc repro evaluate, or the experiment again"
        )
    of_first = sum(pair.first == 0 for pair in comparisons)
    if of_first and any(pair.too_few and not replace(pair, comparisons=of_first).too_few for pair in comparisons):
        many = f"{len(comparisons)} comparisons at once take more trials than there are"
        notes.append(f"{many}: --with {runs[0].name} makes the {of_first} with it alone")
    single = [run.name for run in runs if len(run.accuracy) == 1]
    if len(runs) > 1 and single:
        notes.append(f"one trial says nothing of differences: run {', '.join(single)} with more, as -S trials=10")
    if len({run.subject[:-1] for run in runs}) > 1:
        notes.append(f"runs on different graphs are not compared: {_by_graph(runs)}; name runs on one graph")
    if len({run.subject[-1] for run in runs}) > 1:
        validated = ", ".join(run.name for run in runs if run.subject[-1] == "val")
        notes.append(f"no test node of {validated} has a label, so its accuracy is of validation nodes")
    return comparisons, notes


def _by_graph(runs: Sequence[Run]) -> str:
    """The runs on each graph, in words."""
    graphs: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        graphs.setdefault(run.subject[:-1], []).append(run)
    return ", and ".join(
        f"{', '.join(run.name for run in same)} on {', '.join(dict.fromkeys(run.dataset for run in same))} "
        f"({same[0].size})"
        for same in graphs.values()
    )
