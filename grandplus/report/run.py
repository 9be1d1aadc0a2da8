"""One run's results, as the report reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grandplus.evaluation.details import overlap_of
from grandplus.evaluation.diagnosis.finding import Finding
from grandplus.evaluation.node_scores import NodeScores
from grandplus.methods import registry
from grandplus.pipeline.usage import Taken
from grandplus.report.read import node_scores_of

GRAPH = {  # what tells a graph from others, in words
    "nodes": "nodes",
    "edges": "edges",
    "classes": "classes",
    "unlabelled_nodes": "nodes without a label",
}


@dataclass(frozen=True, eq=False)
class Run:
    """One run's results.

    Attributes
    ----------
    name : str
        Of the experiment, or a Git revision.
    details, metrics : dict
        The contents of ``reports/details.json`` and ``reports/metrics.json``.
    resources : dict of Taken
        What its stages took, of those that ran on this machine.
    findings : list of Finding or None
        What its diagnosis found; None for a run of older code, which has none.
    notes : list of str
        What lies beside it from another run, in the workspace.
    """

    name: str
    details: dict[str, Any]
    metrics: dict[str, Any]
    resources: dict[str, Taken]
    findings: list[Finding] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def accuracy(self) -> list[float]:
        """One a trial, of test nodes; of validation nodes where no test node has a label."""
        accuracy: list[float] = self.details["accuracy"][self.details["judged_by"]]
        return accuracy

    @property
    def title(self) -> str:
        """Dataset, method and, where it has one, matrix."""
        return title_of(self.details["run"])

    @property
    def matrix(self) -> str:
        """Its family of Π; empty for a method that trains on no rows of Π."""
        return matrix_of(self.details["run"])

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that differ from the card's, and a seed that isn't 0."""
        seed = {"seed": self.details["run"]["seed"]} if self.details["run"]["seed"] else {}
        return seed | {key: used for key, (_, used) in self.details["changed"].items()}

    @property
    def subject(self) -> tuple[object, ...]:
        """The graph and the part that its accuracy is of, whatever the card is called: only equal ones are compared."""
        graph = self.details["graph"]
        return (*(graph.get(fact) for fact in GRAPH), self.details["judged_by"])

    @property
    def dataset(self) -> str:
        """The name of its card."""
        return str(self.details["run"]["dataset"])

    @property
    def size(self) -> str:
        """What tells its graph from others, in words."""
        graph = self.details["graph"]
        return ", ".join(f"{graph[fact]:,} {words}" for fact, words in GRAPH.items() if graph.get(fact))

    @property
    def pairs(self) -> list[tuple[object, ...]]:
        """What each trial was made from: trials of two runs with the same value can be compared one by one."""
        return [(self.details["run"]["seed"], split) for split in self.details["splits"]]

    @property
    def node_scores(self) -> NodeScores | None:
        """Where each trial was right; None for a run of older code, which kept no such thing."""
        return node_scores_of(self.details)

    def overlap(self, trials: int | None = None) -> float:
        """Of splits that are drawn anew for each trial, of the first trials or all; 0 if these have the same one."""
        return overlap_of(self.details, trials)


def matrix_of(settings: dict[str, Any]) -> str:
    """The family of Π that a run trains on.

    Parameters
    ----------
    settings : dict
        With ``model`` and ``matrix``, as far as they are known.

    Returns
    -------
    str
        Empty where the method trains on no rows of Π; the method's own family where it has one, whatever is set.

    Examples
    --------
    >>> matrix_of({"model": "grandplus", "matrix": "avg"}), matrix_of({"model": "pprgo", "matrix": "avg"})
    ('avg', 'ppr')
    """
    model, matrix = settings.get("model"), str(settings.get("matrix") or "")
    if model not in registry.NAMES:
        return matrix
    method = registry.settings_of(model)
    return str((method.Settings.own_rows or {}).get("matrix", matrix)) if method.NEEDS_ROWS else ""


def title_of(settings: dict[str, Any]) -> str:
    """Dataset, method and, where it has one, matrix of a run.

    Examples
    --------
    >>> title_of({"dataset": "cora", "model": "grandplus", "matrix": "ppr"})
    'cora, grandplus, ppr'
    """
    names = [settings["dataset"], settings.get("model"), matrix_of(settings)]
    return ", ".join(str(name) for name in names if name)
