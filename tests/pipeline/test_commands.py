"""The command that is to be run next runs the method that is meant, whatever an earlier run left in params.yaml."""

import pytest

from grandplus.pipeline.commands import run_command


@pytest.mark.parametrize(
    ("left", "meant", "command"),
    [
        ("grandplus", {}, "dvc exp run -S dataset=mine"),
        ("grandplus", {"matrix": "avg"}, "dvc exp run -S dataset=mine -S model=grandplus -S matrix=avg"),
        ("gcn", {"matrix": "avg"}, "dvc exp run -S dataset=mine -S model=grandplus -S matrix=avg"),
        ("gcn", {}, "dvc exp run -S dataset=mine -S model=grandplus"),
        ("grandplus", {"model": "sgc"}, "dvc exp run -S dataset=mine -S model=sgc"),
        ("gcn", {"model": "sgc"}, "dvc exp run -S dataset=mine -S model=sgc"),
        ("sgc", {"model": "sgc"}, "dvc exp run -S dataset=mine -S model=sgc"),
    ],
)
def test_a_method_is_named_where_the_file_has_another_or_the_card_may_be_tuned_for_it(tmp_path, left, meant, command):
    (tmp_path / "params.yaml").write_text(f"model: {left}\n")
    assert run_command("mine", root=tmp_path, **meant) == command


@pytest.mark.parametrize(
    ("left", "meant", "command"),
    [
        ("avg", {}, "dvc exp run -S dataset=mine"),
        ("ppr", {}, "dvc exp run -S dataset=mine -S model=grandplus -S matrix=avg"),
        ("ppr", {"matrix": "ppr"}, "dvc exp run -S dataset=mine -S model=grandplus -S matrix=ppr"),
        ("ppr", {"model": "gcn"}, "dvc exp run -S dataset=mine -S model=gcn"),  # it has none
    ],
)
def test_a_matrix_is_named_where_an_earlier_run_has_left_another(tmp_path, left, meant, command):
    (tmp_path / "params.yaml").write_text(f"matrix: {left}\n")
    assert run_command("mine", root=tmp_path, **meant) == command


def test_a_catalog_without_settings_has_the_usual_method(tmp_path):
    assert run_command("mine", root=tmp_path) == "dvc exp run -S dataset=mine"
