"""What is compared: the portfolio's changes, put into the settings of a dataset or a classifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from grandplus.graph.fitted import RAW_ROWS
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.methods.settings import MethodSettings
from grandplus.propagation.matrices import Matrix
from grandplus.propagation.settings import GFPush
from grandplus.tuning.portfolio import Change

MAX_DENSE = 2**26  # values of a dense feature matrix that is made in place of a sparse one


@dataclass(frozen=True)
class Candidate:
    """Settings to be tried.

    Parameters
    ----------
    preprocess : Preprocess
    matrix : Matrix
    gfpush : GFPush
    train : MethodSettings
    change : dict
        How they differ from those that are tuned, see `grandplus.tuning.portfolio`.
    """

    preprocess: Preprocess
    matrix: Matrix
    gfpush: GFPush
    train: MethodSettings
    change: Change = field(default_factory=dict, compare=False)

    def values(self) -> str:
        """All settings, as JSON: the same text for the same settings."""
        parts = {name: getattr(self, name).model_dump() for name in ("preprocess", "matrix", "gfpush", "train")}
        return json.dumps(parts, sort_keys=True)

    def __str__(self) -> str:
        """
        >>> from grandplus.methods.grandplus.settings import Settings
        >>> from grandplus.propagation.matrices import Single
        >>> preprocess = Preprocess(features="as-is", split="per-class")
        >>> print(Candidate(preprocess, Single(), GFPush(), Settings(), {"matrix": "single", "top_k": 64}))
        matrix=single top_k=64
        """
        return " ".join(f"{name}={value}" for name, value in self.change.items()) or "as it is"


def distinct(
    present: Sequence[Candidate], changes: Iterable[Change], resolve: Callable[[Change], Candidate], graph: Graph
) -> list[Candidate]:
    """The candidates of some changes, without those that are there already or that the graph rules out.

    Parameters
    ----------
    present : sequence of Candidate
    changes : iterable of dict
    resolve : callable
        The settings with a change.
    graph : Graph
        With the features that no change has.

    Returns
    -------
    list of Candidate
        The new ones, in the order of the changes.
    """
    known = {candidate.values() for candidate in present}
    new: list[Candidate] = []
    for change in changes:
        if _can_be(change.get("features", graph.fitted.kind), graph):
            candidate = resolve(change)
            if candidate.values() not in known:
                known.add(candidate.values())
                new.append(candidate)
    return new


def _can_be(features: str, graph: Graph) -> bool:
    """Whether a graph can have such features, and memory has room for them."""
    if features == graph.fitted.kind:
        return True
    nodes, width = map(int, graph.features.shape)
    if graph.fitted.kind in RAW_ROWS:  # there is nothing but the graph itself to make features from
        return features in RAW_ROWS and (features != "standardized-adjacency" or nodes * nodes <= MAX_DENSE)
    return features not in RAW_ROWS and (features != "standardize" or nodes * width <= MAX_DENSE)
