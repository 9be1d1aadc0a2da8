"""GRAND+: semi-supervised node classification on graphs of any size.

``import grandplus as gp`` costs nothing: a name's module is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

from grandplus.runtime.library_kernels import choose_kernels

__version__ = "0.2.0"
_HOME = {
    "Adjacency": "graph.adjacency",
    "ArgumentError": "runtime.errors",
    "DiagnosisWarning": "evaluation.diagnosis.finding",
    "GrandPlusClassifier": "estimator",
    "GrandPlusError": "runtime.errors",
    "Graph": "graph.graph",
    "NodeClassifier": "estimator",
    "Predictor": "prediction.predictor",
    "Rows": "propagation.rows",
    "Split": "graph.splits",
    "Splits": "graph.splits",
    "Task": "methods.protocol",
    "fit": "methods.fitting",
    "gfpush": "propagation.gfpush",
    "load_model": "methods.files",
    "load_settings": "pipeline.settings",
    "propagate": "propagation.power",
    "propagation_weights": "propagation.matrices",
    "save_dataset": "importing.python",
    "suggest": "suggestion.suggest",
    "tune": "estimator",
}
__all__ = sorted(_HOME)

choose_kernels()


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
