"""Names that a new dataset may have."""

from __future__ import annotations

import pytest

from grandplus.pipeline.card import check_name
from grandplus.runtime.errors import GrandPlusError

# Read by YAML 1.1 or 1.2 as a number, a date, nothing or true; the last two by DVC's options.
NO_TEXT = ["2024", "007", "0x1F", "0o17", "0b11", "1e3", "1.5", "1_000", "null", "Null", "true", "False", "yes", "No",
           "on", "OFF", "y", "n", "2024-01-01", "nan", "Infinity"]  # fmt: skip
TEXT = ["cora", "cora_ml", "2024-spring", "v1.2.3", "_1", "e3", "graph-2024", "nullable", "x0"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NO_TEXT)
def test_a_name_that_yaml_reads_as_something_else_is_refused(name):
    with pytest.raises(GrandPlusError) as refused:
        check_name(name)
    assert str(refused.value) == (
        f"the dataset's name: is {name!r}; expected one that params.yaml and dvc exp run -S read as text; "
        f"choose another, like graph-{name}"
    )
    check_name(f"graph-{name}")


@pytest.mark.parametrize("name", TEXT)
def test_a_name_that_stays_text_may_be_chosen(name):
    check_name(name)


@pytest.mark.parametrize("name", ["", ".inf", "-1", "a/b", "a b", "a:b", "é", 3, None])
def test_a_name_that_is_no_part_of_a_path_is_refused(name):
    with pytest.raises(GrandPlusError, match="the dataset's name: "):
        check_name(name)
