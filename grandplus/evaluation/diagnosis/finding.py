"""What a rule has found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Remark: TypeAlias = tuple[str, str]  # observation and advice, as a rule gives them

NOTHING = "nothing to remark"


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


def to_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """The content of ``reports/diagnosis.json``."""
    return {"findings": [asdict(finding) for finding in findings]}


def lines_of(findings: Sequence[Finding]) -> list[str]:
    """Two lines for each finding, or one that there is none.

    Examples
    --------
    >>> lines_of([])
    ['nothing to remark']
    >>> lines_of([Finding("underfit", "47.50 % of training nodes are right", "train.weight_decay=0.0001")])
    ['47.50 % of training nodes are right', '  try train.weight_decay=0.0001']
    """
    return [line for each in findings for line in (each.observation, f"  try {each.advice}")] or [NOTHING]
