"""What to try, as values of settings that differ from the run's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grandplus.evaluation.diagnosis.evidence import (
    FULL_TRAINING_ACCURACY,
    LOW_TRAINING_ACCURACY,
    best_training_accuracy,
    features_say_nothing,
    kept_training_accuracy,
)
from grandplus.evaluation.diagnosis.facts import Facts, GraphFacts
from grandplus.graph.fitted import OF_NEIGHBORS, STANDARDIZED

OWN_SHARE = 0.8  # weight of a node's own features in its row, for them to count most
OWN_FEATURES = f"matrix=ppr with gfpush.alpha={OWN_SHARE}"  # w_0 = α
TWO_STEPS = "matrix=single with gfpush.order=2 (neighbours of neighbours count most)"
MORE_LABELS = "more labelled nodes"
OTHER_SCALING = {  # what to try in place of a kind of features
    "row-normalize": "standardize",
    "as-is": "standardize",
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


def other_features(facts: Facts) -> list[str]:
    """Features that are scaled in another way; neighbours in their place only where they say nothing of classes."""
    features, nodes = facts.graph.features, facts.graph.adjacency.nodes
    other = OTHER_SCALING.get(facts.graph.fitted.kind)
    if other is None:
        return neighbors_as_features(facts)
    width = nodes if other in OF_NEIGHBORS else features.shape[1]
    return [] if other in STANDARDIZED and nodes * width > DENSE_VALUES else [setting("preprocess.features", other)]


def neighbors_as_features(facts: Facts) -> list[str]:
    """A node's neighbours in place of features that say nothing of classes."""
    says_nothing = facts.graph.fitted.kind not in OF_NEIGHBORS and features_say_nothing(facts)
    return [setting("preprocess.features", "adjacency")] if says_nothing else []


def tenth(old: float) -> float:
    """A tenth of a value."""
    return old / 10


def more_decay(old: float) -> float:
    """Ten times the weight decay; of none, a little."""
    return max(10 * old, 1e-4)


def decay_by_training(facts: Facts) -> list[str]:
    """More weight decay for a model that knows its training nodes by heart, less for one that can't learn them."""
    if kept_training_accuracy(facts) >= FULL_TRAINING_ACCURACY:
        return changed(facts, weight_decay=more_decay)
    return changed(facts, weight_decay=tenth) if best_training_accuracy(facts) < LOW_TRAINING_ACCURACY else []


def linear(facts: Facts) -> list[str]:
    """A linear model on rows of Π, if the method has rows and layers."""
    return [] if facts.order is None else changed(facts, layers=lambda old: 1)


def searched(facts: Facts) -> list[str]:
    """What looks for better settings on validation nodes."""
    return [facts.search] if facts.search else []


def wider(facts: Facts) -> list[str]:
    """Hidden layers of twice the width, if there are any."""
    hidden = getattr(facts.settings, "layers", 1) > 1 or getattr(facts.settings, "embed", False)
    return changed(facts, hidden=lambda old: 2 * old) if hidden else []


def own_features(facts: GraphFacts) -> list[str]:
    """The next step towards rows in which a node's own features count most, if the method has rows.

    DropNode drops the own node from many augmented rows, which are then divided by the little that is left. So it has
    to be off.
    """
    if facts.order is None:
        return []
    rows, settings = getattr(facts, "rows", None), getattr(facts, "settings", None)
    drops_nodes = settings is None or getattr(settings, "dropnode", 0) > 0
    if rows is None or rows.info.weights[0] < OWN_SHARE * sum(rows.info.weights):
        off = " and train.dropnode=0" if drops_nodes else ""
        return [f"{OWN_FEATURES}{off} (a node's own features count most)"]
    if drops_nodes:
        return ["train.dropnode=0 (so that no row loses a node's own features)"]
    return [f"{setting('gfpush.order', 0)} (only a node's own features count)"] if _order(facts) else []


def two_steps(facts: GraphFacts) -> list[str]:
    """Rows of the neighbours of neighbours, unless the run has them or its method has no rows."""
    rows = getattr(facts, "rows", None)
    has_them = rows is not None and (rows.info.matrix, rows.info.order) == ("single", 2)
    return [] if has_them or facts.order is None else [TWO_STEPS]


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


def _order(facts: GraphFacts) -> int:
    """N; 0 where it is no setting of its own."""
    rows = getattr(facts, "rows", None)
    return rows.info.order if rows is not None and rows.info.matrix != "custom" else 0
