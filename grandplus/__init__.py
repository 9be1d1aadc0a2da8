"""GRAND+: semi-supervised node classification on graphs of any size.

``import grandplus as gp`` costs nothing: a name's module is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Adjacency": "graph",
    "GrandPlusClassifier": "answers.classifier",
    "GrandPlusError": "errors",
    "Graph": "graph",
    "Model": "training.model",
    "Predictor": "answers.predictor",
    "Rows": "propagation.rows",
    "Split": "splits",
    "Splits": "splits",
    "gfpush": "propagation.gfpush",
    "infer": "inference",
    "load_settings": "settings",
    "propagate": "propagation.power",
    "save_dataset": "importing.python",
    "train": "training.trainer",
    "weights": "propagation.weights",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
