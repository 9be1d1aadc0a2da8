"""The portfolio: settings that suit different graphs, as plain data.

Each line says what differs from the settings that are tuned, by the names that `GrandPlusClassifier` has for its
parameters. The first line changes nothing, so that tuning can say what it has gained. Of equally good settings the
first one is taken, so those that change little stand first.
"""

from __future__ import annotations

from typing import Any

Change = dict[str, Any]

DEFAULT: Change = {}
PORTFOLIO: tuple[Change, ...] = (
    DEFAULT,
    # How far to look: less and less of a node's own features.
    {"matrix": "ppr", "order": 10},
    {"matrix": "single", "order": 2},
    {"matrix": "single", "order": 4},
    {"matrix": "avg", "order": 10},
    {"matrix": "avg", "order": 2},
    {"matrix": "avg", "order": 0, "dropnode": 0.0},  # own features alone, where edges join unlike nodes
    # How strongly to regularise.
    {"weight_decay": 1e-4},
    {"weight_decay": 1e-5},
    {"weight_decay": 1e-2},
    {"matrix": "ppr", "order": 10, "weight_decay": 1e-4},
    {"matrix": "single", "order": 2, "weight_decay": 1e-4},
    {"matrix": "single", "order": 4, "weight_decay": 1e-4},
    {"matrix": "avg", "order": 2, "weight_decay": 1e-4},
    {"matrix": "avg", "order": 0, "dropnode": 0.0, "weight_decay": 1e-4},
    # How large a model.
    {"layers": 1},
    {"layers": 1, "weight_decay": 1e-4},
    {"matrix": "single", "order": 2, "layers": 1, "weight_decay": 1e-4},
    {"matrix": "ppr", "order": 10, "layers": 1, "weight_decay": 1e-4},
    # How features are scaled; one of them applies to features of the data, the other to those made from the graph.
    {"features": "standardize"},
    {"features": "standardize", "weight_decay": 1e-2},
    {"features": "row-normalize"},
    {"features": "row-normalize", "weight_decay": 1e-4},
    {"features": "adjacency"},
    {"features": "standardized-adjacency"},
    # How many entries a row keeps.
    {"top_k": 64},
    {"matrix": "single", "order": 4, "top_k": 64},
)
