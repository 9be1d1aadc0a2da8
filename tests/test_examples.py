"""The notebook in ``examples`` runs from top to bottom and prints what is stored in it."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "own_arrays.ipynb"


def code_cells() -> list[dict[str, Any]]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def shape_of(text: str) -> list[str]:
    """Each line's words, without numbers: these may differ in their last digit on another processor."""
    return [re.sub(r"[\d.,%]+|-", "", line).split()[:2] for line in text.splitlines()]


def test_its_cells_run_in_order_and_print_what_they_say():
    names: dict[str, Any] = {}
    for cell in code_cells():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
        stored = "".join(text for output in cell["outputs"] for text in output["text"])
        assert shape_of(printed.getvalue()) == shape_of(stored)
    others, predicted, truth = ~names["asked"], names["predicted"], names["truth"]
    right = predicted == truth
    assert right[others].mean() > names["without_graph"].score(names["X"][others], truth[others]) + 0.15
    assert right[names["confident"]].mean() > 0.95
    assert np.sum(names["confident"]) > 200


def test_it_is_small_and_executed_from_top_to_bottom():
    assert NOTEBOOK.stat().st_size < 100_000
    assert [cell["execution_count"] for cell in code_cells()] == list(range(1, len(code_cells()) + 1))
    assert all(output["output_type"] == "stream" for cell in code_cells() for output in cell["outputs"])
