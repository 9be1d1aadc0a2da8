"""``grandplus settings``: every value of the next run, and where it comes from."""

import shutil
from pathlib import Path

import pytest

from grandplus.cli.settings import settings_table
from grandplus.pipeline.card import CATALOG
from grandplus.runtime.errors import GrandPlusError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path) -> Path:
    shutil.copy(ROOT / "params.yaml", tmp_path)
    shutil.copytree(ROOT / CATALOG, tmp_path / CATALOG)
    return tmp_path


def lines_of(checkout: Path, *changes: str) -> dict[str, tuple[str, str]]:
    head, *lines = (line.split() for line in settings_table(changes, checkout).splitlines())
    assert head == ["setting", "value", "from"]
    return {key: (value, " ".join(origin)) for key, value, *origin in lines}


def test_each_value_stands_with_its_origin(checkout):
    lines = lines_of(checkout)
    assert lines["dataset"] == ("pubmed", "params.yaml")
    assert lines["matrix"] == ("avg", "params.yaml")
    assert lines["gfpush.order"] == ("4", "default")
    assert lines["gfpush.top_k"] == ("16", "card")
    assert lines["train.batchnorm"] == ("true", "card")
    assert lines["train.temperature"] == ("0.1", "default")
    assert "gfpush.alpha" not in lines  # avg has none


def test_changes_are_tried_as_dvc_takes_them(checkout):
    lines = lines_of(checkout, "dataset=cora", "matrix=heat", "gfpush.heat_time=2.5", "train.lr=1e-3")
    assert lines["gfpush.heat_time"] == ("2.5", "params.yaml")
    assert lines["gfpush.rmax"] == ("1e-07", "card")
    assert lines["train.lr"] == ("0.001", "params.yaml")
    assert lines["train.lambda_max"] == ("1.5", "card")
    assert lines_of(checkout)["dataset"] == ("pubmed", "params.yaml")  # nothing was written


def test_a_method_without_rows_shows_no_settings_of_them(checkout):
    lines = lines_of(checkout, "model=sgc", "matrix=heat")
    assert lines["model"] == ("sgc", "params.yaml")
    assert not [key for key in lines if key == "matrix" or key.startswith("gfpush.")]


def test_a_matrix_that_is_the_methods_own_is_not_that_of_the_file(checkout):
    lines = lines_of(checkout, "model=pprgo", "matrix=avg")
    assert lines["matrix"] == ("ppr", "pprgo's own")
    assert lines["gfpush.alpha"] == ("0.1", "pprgo's own")


def test_a_key_that_the_file_lacks_is_named_with_and_without_a_plus(checkout):
    for change in ("train.lrr=1", "+train.lrr=1"):
        with pytest.raises(GrandPlusError, match=r"^params.yaml: train.lrr = 1 is not a setting; .*mean train.lr\?$"):
            settings_table([change], checkout)


@pytest.mark.parametrize("key", ["root", "overrides", "1", "true", "[1, 2]"])
def test_any_key_that_is_no_setting_is_named(checkout, key):
    """Also one that is called like an argument of a function, or that YAML reads as no text."""
    with pytest.raises(GrandPlusError, match=r"^params.yaml: .* = 5 is not a setting; expected one of dataset, gfpush"):
        settings_table([f"{key}=5"], checkout)
    with (checkout / "params.yaml").open("a") as params:
        params.write(f"{key}: 5\n")
    with pytest.raises(GrandPlusError, match=r"^params.yaml: .* = 5 is not a setting; expected one of dataset, gfpush"):
        settings_table(root=checkout)


def test_a_change_that_is_none_is_refused(checkout):
    with pytest.raises(GrandPlusError, match=r"^-S is 'train.lr'; expected KEY=VALUE, like train.lr=0.005$"):
        settings_table(["train.lr"], checkout)


def test_a_wrong_value_is_refused(checkout):
    with pytest.raises(GrandPlusError, match=r"^params.yaml: train.lr is 'abc'; expected a valid number"):
        settings_table(["train.lr=abc"], checkout)
