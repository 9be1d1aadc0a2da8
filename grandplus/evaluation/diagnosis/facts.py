"""What rules look at: a graph with its labelled nodes, and, after training, how each trial went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grandplus.evaluation.baselines.table import BaselineScore
from grandplus.evaluation.scored import select
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Nodes, Split, Splits
from grandplus.methods.settings import MethodSettings
from grandplus.propagation.rows import Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Labelled:
    """The nodes of a trial whose labels may be looked at.

    Attributes
    ----------
    train, val : ndarray of int64
        Node numbers.
    """

    train: Nodes
    val: Nodes

    @classmethod
    def of(cls, split: Split, labels: NDArray[np.int64]) -> Self:
        """Those of a split that have a label."""
        return cls(train=split.train[labels[split.train] >= 0], val=split.val[labels[split.val] >= 0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """How one trial went.

    Attributes
    ----------
    predicted : ndarray of int64, shape (v,)
        Class numbers of its labelled validation nodes, in the order of `Labelled.val`.
    history : mapping of str to ndarray, shape (s,)
        The scores of each validation, by name.
    kept : int
        The position in the history of the validation whose parameters the model has; each method has a rule for it.
    """

    predicted: NDArray[np.int64]
    history: Mapping[str, NDArray[Any]]
    kept: int

    @classmethod
    def of(cls, predicted: NDArray[np.int64], history: Mapping[str, Sequence[float]], best_step: int) -> Self:
        """A trial whose history is as training leaves it.

        Parameters
        ----------
        predicted : ndarray of int64, shape (v,)
        history : mapping of str to sequence of float
        best_step : int
            The step whose parameters are kept, as the model notes it.
        """
        scores = {name: np.asarray(values) for name, values in history.items()}
        return cls(predicted=predicted, history=scores, kept=int(np.flatnonzero(scores["step"] == best_step)[-1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphFacts:
    """What is known before training.

    Attributes
    ----------
    graph : Graph
    labelled : sequence of Labelled
        One a trial.
    order : int or None
        N of Π, the highest power of P: with 0 no edge is used. None for a method without Π.
    """

    graph: Graph
    labelled: Sequence[Labelled]
    order: int | None

    def actual(self, trial: int) -> NDArray[np.int64]:
        """Class numbers of a trial's validation nodes."""
        return np.asarray(self.graph.labels[self.labelled[trial].val])

    @classmethod
    def of_splits(cls, graph: Graph, splits: Splits, order: int | None) -> GraphFacts:
        """The facts of a graph and its splits."""
        labels = np.asarray(graph.labels)
        labelled = [Labelled.of(splits.of(trial), labels) for trial in range(splits.trials)]
        return GraphFacts(graph=graph, labelled=labelled, order=order)

    def after(self, trials: Sequence[Trial], settings: MethodSettings, rows: Rows | None) -> Facts:
        """These facts and how training went; see `Facts`."""
        return Facts(
            graph=self.graph,
            labelled=self.labelled,
            order=self.order,
            trials=trials,
            settings=settings,
            rows=rows,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts(GraphFacts):
    """What is known after training.

    Attributes
    ----------
    trials : sequence of Trial
    settings : MethodSettings
        What they were trained with.
    rows : Rows or None
        Rows of Π that were trained on; None if the method needs none.
    baselines : mapping of str to sequence of float
        Validation accuracy of each trial, by the name of the baseline; empty where none was computed.
    search : str
        The command that looks for better settings on validation nodes; empty where there is none.
    """

    trials: Sequence[Trial]
    settings: MethodSettings
    rows: Rows | None = None
    baselines: Mapping[str, Sequence[float]] = field(default_factory=dict)
    search: str = ""

    def with_baselines(self, scores: Iterable[BaselineScore]) -> Self:
        """These facts and what baselines come to on validation nodes."""
        accuracies: dict[str, list[float]] = {}
        for score in scores:
            if score.val_accuracy is not None:
                accuracies.setdefault(score.baseline, []).append(score.val_accuracy)
        return replace(self, baselines=accuracies)

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Of validation nodes, one a trial."""
        return np.array([np.mean(trial.predicted == self.actual(t)) for t, trial in enumerate(self.trials)])

    def baseline(self, name: str) -> float:
        """The mean validation accuracy of a baseline."""
        return float(np.mean(self.baselines[name]))

    def of_trained_classes(self) -> Self:
        """These facts without the validation nodes of classes that a trial has no training node of."""
        labels = np.asarray(self.graph.labels)
        kept = [np.isin(self.actual(t), labels[nodes.train]) for t, nodes in enumerate(self.labelled)]
        return replace(
            self,
            labelled=[replace(nodes, val=nodes.val[seen]) for nodes, seen in zip(self.labelled, kept, strict=True)],
            trials=[
                replace(trial, predicted=trial.predicted[seen]) for trial, seen in zip(self.trials, kept, strict=True)
            ],
        )

    @property
    def largest_share(self) -> float:
        """Share of the validation nodes that are of the largest class, the mean of trials."""
        actual = [self.actual(t) for t in range(len(self.trials))]
        return float(np.mean([np.bincount(labels).max() / len(labels) for labels in actual]))


def facts_of_run(
    run: Mapping[str, Any],
    *,
    graph: Graph,
    splits: Splits,
    predictions: Sequence[pa.Table],
    history: pa.Table,
    best_steps: Sequence[int],
    settings: MethodSettings,
    rows: Rows | None,
) -> Facts:
    """The facts of a run, from its files.

    Parameters
    ----------
    run : mapping
        ``dataset`` and ``model``.
    graph : Graph
    splits : Splits
    predictions : sequence of pyarrow.Table
        One a trial, see `grandplus.evaluation.scored`; nodes ascend.
    history : pyarrow.Table
        Of all trials: ``trial`` and the scores of each validation.
    best_steps : sequence of int
        For each trial, the step whose parameters are kept.
    settings, rows
        See `Facts`.
    """
    of_trials = zip(select(predictions, "val", graph.classes), _by_trial(history), best_steps, strict=True)
    trials = [Trial.of(scored.predicted, columns, best_step) for scored, columns, best_step in of_trials]
    order = None if rows is None else rows.info.order
    facts = GraphFacts.of_splits(graph, splits, order).after(trials, settings, rows)
    return replace(facts, search=_search_of(**run))


def _search_of(dataset: str, model: str, **_: Any) -> str:
    """GRAND+ has a quick search of its own."""
    return f"grandplus tune {dataset}" if model == "grandplus" else f"grandplus search {dataset} --model {model}"


def _by_trial(history: pa.Table) -> Iterable[dict[str, Any]]:
    columns = {name: history[name].to_numpy() for name in history.column_names}
    for trial in np.unique(columns["trial"]):
        mine = columns["trial"] == trial
        yield {name: values[mine] for name, values in columns.items() if name != "trial"}
