"""What to try, as values of settings that differ from the run's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grandplus.evaluation.diagnosis.facts import Facts, GraphFacts
from grandplus.graph.fitted import OF_NEIGHBORS, STANDARDIZED

OWN_FEATURES = "matrix=ppr with gfpush.alpha=0.8 (a node's own features count most)"
TWO_STEPS = "matrix=single with gfpush.order=2 (neighbours of neighbours count most)"
MORE_LABELS = "more labelled nodes"
OTHER_FEATURES = {  # what to try in place of each kind
    "row-normalize": "standardize",
    "as-is": "standardize",
    "standardize": "adjacency",
    "degree": "adjacency",
    "onehot-degree": "adjacency",
    "adjacency": "standardized-adjacency",
    "standardized-adjacency": "adjacency",
}
DENSE_VALUES = 2**28  # 1 GiB of features, beyond which standardizing sparse ones is no light advice


def setting(key: str, value: Any) -> str:
    """A setting as a command line has it.

    Examples
    --------
    >>> setting("train.weight_decay", 0.1 * 1e-3), setting("gfpush.top_k", 128), setting("train.lr", 1e-6)
    ('train.weight_decay=0.0001', 'gfpush.top_k=128', 'train.lr=1e-06')
    """
    return f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"


def changed(facts: Facts, **changes: Callable[[Any], Any]) -> list[str]:
    """Training settings with other values, as far as the method has them and the values are others.

    Parameters
    ----------
    facts : Facts
    **changes : callable
        By the name of the setting, what makes a new value of the run's.
    """
    olds = {key: getattr(facts.settings, key, None) for key in changes}
    news = {key: changes[key](old) for key, old in olds.items() if old is not None}
    return [setting(f"train.{key}", new) for key, new in news.items() if new != olds[key]]


def other_features(facts: GraphFacts) -> list[str]:
    """Features that are scaled, or made from the graph, in another way."""
    features, nodes = facts.graph.features, facts.graph.adjacency.nodes
    other = OTHER_FEATURES[facts.graph.fitted.kind]
    width = nodes if other in OF_NEIGHBORS else features.shape[1]
    return [] if other in STANDARDIZED and nodes * width > DENSE_VALUES else [setting("preprocess.features", other)]


def tenth(old: float) -> float:
    """A tenth of a value."""
    return old / 10


def wider(facts: Facts) -> list[str]:
    """Hidden layers of twice the width, if there are any."""
    hidden = getattr(facts.settings, "layers", 1) > 1 or getattr(facts.settings, "embed", False)
    return changed(facts, hidden=lambda old: 2 * old) if hidden else []


def farther(facts: Facts) -> list[str]:
    """Rows that take in nodes farther away, if the method has rows and their order can be chosen."""
    return [setting("gfpush.order", 2 * _order(facts))] if _order(facts) else []


def nearer(facts: Facts) -> list[str]:
    """Rows that take in only nodes nearer by, likewise."""
    return [setting("gfpush.order", _order(facts) // 2)] if _order(facts) > 1 else []


def one_of(*ways: str) -> str:
    """Ways to go, in a line.

    Examples
    --------
    >>> one_of("train.lr=0.1"), one_of("train.lr=0.1", "train.hidden=8", "more labels")
    ('train.lr=0.1', 'train.lr=0.1, train.hidden=8 or more labels')
    """
    *firsts, last = ways or ("other settings",)
    return f"{', '.join(firsts)} or {last}" if firsts else last


def _order(facts: Facts) -> int:
    """N; 0 where it is no setting of its own."""
    return facts.rows.info.order if facts.rows is not None and facts.rows.info.matrix != "custom" else 0
