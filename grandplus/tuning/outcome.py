"""What tuning found: how far each candidate came, and what the winner gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grandplus.tuning.candidates import Candidate
from grandplus.tuning.halving import Tried, standard_error


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
    """

    candidates: list[Candidate]
    tried: list[Tried]
    winner: int

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
        """A mapping for each candidate, the best first.

        Returns
        -------
        list of dict
            ``settings``: what the candidate changes. ``rounds``: in how many it took part. ``trials`` and
            ``val_accuracy``: how many trials the last of these had, and their mean validation accuracy.
        """
        ranked = sorted(self.tried, key=lambda one: (one.number != self.winner, -one.round, one.rank))
        return [
            {
                "settings": str(self.candidates[one.number]),
                "rounds": one.round + 1,
                "trials": len(one.scores),
                "val_accuracy": one.accuracy,
            }
            for one in ranked
        ]

    def gained(self) -> str:
        """What was gained, in a sentence."""
        trials = f"mean of {len(self.tried[0].scores)} trials"
        if self.winner:
            return (
                f"{self.candidates[self.winner]}: {self.after:.1%} of validation nodes are right, "
                f"{self.before:.1%} as it was ({100 * (self.after - self.before):+.1f} points, {trials})"
            )
        last = [one for one in self.tried[1:] if one.round == self.tried[0].round]
        best = min(last, key=lambda one: one.rank, default=None)
        kept = f"as it is: {self.before:.1%} of validation nodes are right ({trials})"
        if best is None or best.accuracy <= self.before:
            return f"{kept}; no other setting is better"
        gain, noise = 100 * (best.accuracy - self.before), 100 * standard_error(self.tried[0], best)
        better = self.candidates[best.number]
        return f"{kept}; {better} has {gain:.1f} points more, with a standard error of {noise:.1f}"

    def __str__(self) -> str:
        """The table as text, and what was gained."""
        rows = self.table()
        width = max(len(row["settings"]) for row in rows)
        head = f"{'settings':<{width}}  rounds  trials  validation accuracy"
        lines = [
            f"{row['settings']:<{width}}  {row['rounds']:>6}  {row['trials']:>6}  {row['val_accuracy']:>19.2%}"
            for row in rows
        ]
        return "\n".join([head, *lines])
