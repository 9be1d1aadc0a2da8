"""What tuning found: how far each candidate came, and what the winner gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grandplus.tuning.candidates import Candidate
from grandplus.tuning.scores import Tried, best, standard_error

ONE_CLASS = "(predict the most frequent class)"  # the last row of the table


@dataclass(frozen=True)
class Outcome:
    """What tuning found.

    Attributes
    ----------
    candidates : list of Candidate
        The first is the one that was to be improved on.
    tried : list of Tried
        How far each of them came.
    winner : int
        The number of the best one; 0 if none is better than the first by more than noise.
    majority : float
        The share of validation nodes that are of the class which is most frequent there, mean of the trials: what a
        model that predicts one class for ever comes to.
    """

    candidates: list[Candidate]
    tried: list[Tried]
    winner: int
    majority: float

    @property
    def change(self) -> dict[str, Any]:
        """What the winner changes of the settings that were tuned."""
        return self.candidates[self.winner].change

    @property
    def before(self) -> float:
        """Validation accuracy of the first candidate."""
        return self.tried[0].accuracy

    @property
    def after(self) -> float:
        """Validation accuracy of the winner."""
        return self.tried[self.winner].accuracy

    def table(self) -> list[dict[str, Any]]:
        """A mapping for each candidate: the winner, then the others that were trained in full, then all others.

        Returns
        -------
        list of dict
            ``settings``: what the candidate changes. ``steps``: for how long it was trained, at most.
            ``val_accuracy``: the mean validation accuracy of its trials.
        """
        ranked = sorted(self.tried, key=lambda one: (one.number != self.winner, -one.steps, one.rank))
        return [
            {"settings": str(self.candidates[one.number]), "steps": one.steps, "val_accuracy": one.accuracy}
            for one in ranked
        ]

    def gained(self) -> str:
        """What was gained, in a sentence."""
        first = self.tried[0]
        if self.winner:
            points = 100 * (self.after - self.before)
            return (
                f"{self.candidates[self.winner]}: {self.after:.1%} of validation nodes are right, {self.before:.1%} "
                f"as it was ({points:+.1f} points, mean of {len(first.scores)} trials)"
            )
        kept = f"as it is: {self.before:.1%} of validation nodes are right (mean of {len(first.scores)} trials)"
        for other in best([one for one in self.tried[1:] if one.steps == first.steps], 1):
            if other.accuracy > self.before:
                points, noise = 100 * (other.accuracy - self.before), 100 * standard_error(first, other)
                better = self.candidates[other.number]
                return f"{kept}; {better} has {points:.1f} points more, with a standard error of {noise:.1f}"
        return f"{kept}; no other setting is better"

    def __str__(self) -> str:
        """The table as text."""
        rows = self.table()
        rows.append({"settings": ONE_CLASS, "steps": "", "val_accuracy": self.majority})
        width = max(len(row["settings"]) for row in rows)
        head = f"{'settings':<{width}}  {'steps':>5}  validation accuracy"
        return "\n".join(
            [head, *(f"{row['settings']:<{width}}  {row['steps']:>5}  {row['val_accuracy']:>19.2%}" for row in rows)]
        )
