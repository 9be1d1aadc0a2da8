"""What a run is called, and whether it has a matrix."""

import pytest

from grandplus.methods.registry import settings_of
from grandplus.report.run import matrix_of, title_of

GIVEN = {"dataset": "cora", "model": "grandplus", "matrix": "ppr"}


def test_a_method_without_rows_has_no_matrix(monkeypatch):
    assert matrix_of(GIVEN) == "ppr"
    monkeypatch.setattr(settings_of("grandplus"), "NEEDS_ROWS", False)
    assert matrix_of(GIVEN) == ""
    assert title_of(GIVEN) == "cora, grandplus"


@pytest.mark.parametrize("model", [None, "from-another-checkout"])
def test_a_method_that_is_not_known_keeps_what_it_says(model):
    assert matrix_of({"model": model, "matrix": "avg"}) == "avg"
    assert matrix_of({"model": model}) == ""
