"""How benchmarks report: one JSON line a case."""

from __future__ import annotations

import json
from typing import Any


def print_line(**line: Any) -> dict[str, Any]:
    """Print the values with four digits, and return them in full."""
    print(json.dumps(_rounded(line)), flush=True)
    return line


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value
