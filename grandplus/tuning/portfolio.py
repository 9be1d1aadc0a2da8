"""The portfolio: settings that suit different graphs, as plain data.

Each line says what differs from the settings that are tuned, by the names that `GrandPlusClassifier` has for its
parameters. First the propagation is chosen, as it decides most. Then the settings of training are varied with it. Of
equally good settings the first one is taken. What suits which kind of graph was studied in ``experiments/defaults``.
"""

from __future__ import annotations

from typing import Any

Change = dict[str, Any]

# Which matrix, how far it looks, and how many entries its rows keep. The first line changes nothing.
PROPAGATION: tuple[Change, ...] = (
    {},
    {"matrix": "avg", "order": 4},
    {"matrix": "avg", "order": 2},
    {"matrix": "avg", "order": 1},
    {"matrix": "avg", "order": 0, "dropnode": 0.0},  # own features alone, where edges join unlike nodes
    {"matrix": "avg", "order": 8, "top_k": 128},
    {"matrix": "ppr", "order": 10, "alpha": 0.2},
    {"matrix": "ppr", "order": 10, "alpha": 0.5},
    {"matrix": "single", "order": 1},
    {"matrix": "single", "order": 2},
    {"matrix": "single", "order": 4, "top_k": 128},  # far away, where features are noisy, or there are none
    {"matrix": "single", "order": 8, "top_k": 128},
    {"top_k": 128},
    {"top_k": 32},
)

# With the propagation that was found. Of the lines on features, those apply that the data has.
TRAINING: tuple[Change, ...] = (
    {"weight_decay": 1e-3},
    {"weight_decay": 1e-4},
    {"weight_decay": 1e-2},
    {"weight_decay": 1e-5},
    {"layers": 1},
    {"hidden": 256},
    {"features": "standardize"},
    {"features": "row-normalize"},
    {"features": "adjacency"},
    {"features": "standardized-adjacency"},
    {"dropnode": 0.2},
    {"dropout_input": 0.2, "dropout_hidden": 0.2},
    {"batchnorm": True},
    {"lambda_max": 0.0},
    {"confidence": 0.7},
)
