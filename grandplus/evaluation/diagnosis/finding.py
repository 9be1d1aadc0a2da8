"""What a rule has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Remark: TypeAlias = tuple[str, str]  # observation and advice, as a rule gives them


class DiagnosisWarning(UserWarning):
    """A finding of a classifier's fit, which can be filtered by this category."""


@dataclass(frozen=True)
class Finding:
    """Something that speaks against a result.

    Attributes
    ----------
    name : str
        Of the rule.
    observation : str
        What was found, with figures: a line.
    advice : str
        What to try, with values of settings: a line.

    Examples
    --------
    >>> print(Finding("underfit", "47.50 % of training nodes are right", "train.weight_decay=0.0001"))
    47.50 % of training nodes are right; try train.weight_decay=0.0001
    """

    name: str
    observation: str
    advice: str

    def __str__(self) -> str:
        return f"{self.observation}; try {self.advice}"
