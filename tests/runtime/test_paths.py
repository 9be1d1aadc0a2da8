"""A path is given as text or a path object; whatever reads or writes files names anything else in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import grandplus as gp
from grandplus.prediction.calibration import Calibration
from grandplus.propagation.rows import RowsInfo
from grandplus.runtime.paths import as_path

ADJACENCY = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
READERS = {
    "folder": [gp.Rows.load, RowsInfo.load, gp.Graph.load, gp.Adjacency.load, gp.Splits.load],
    "file": [gp.load_model, Calibration.load],
    "data": [gp.Predictor.load],
}


def test_text_and_paths_are_taken(tmp_path):
    for value in (str(tmp_path), tmp_path):
        assert as_path(value, "folder") == tmp_path
        assert isinstance(as_path(value, "folder"), Path)


@pytest.mark.parametrize("value", [None, 3, b"data", ["data"]])
@pytest.mark.parametrize(("name", "read"), [(name, read) for name in READERS for read in READERS[name]])
def test_anything_else_is_an_error_of_one_line(name, read, value):
    with pytest.raises(gp.ArgumentError) as refused:
        read(value)
    assert str(refused.value) == f"{name} is {value!r}; expected a path, as text or a Path"


def test_what_is_saved_needs_a_path_too():
    rows = gp.gfpush(sp.csr_array(ADJACENCY), [0, 2], weights=[0.5, 0.5], rmax=1e-4, top_k=2)
    for save in (rows.save, Calibration((1.0,), None).save):
        with pytest.raises(gp.ArgumentError, match=r"is None; expected a path"):
            save(None)
