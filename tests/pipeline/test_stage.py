"""What stands around a stage's work: DVC's variables, settings that are checked first, and how it ends."""

from __future__ import annotations

import errno
import os

import pytest
from processes import CHECKOUT, python

from grandplus.pipeline import stage
from grandplus.pipeline.ending import ending
from grandplus.pipeline.git_identity import NOTE
from grandplus.runtime.errors import GrandPlusError

SCRIPT = """
import os, sys
from grandplus.pipeline.stage import run

def work(settings):
    print(settings.dataset, os.environ.get("GRANDPLUS_ROOT"))
    if sys.argv[1:]:
        raise {"interrupted": KeyboardInterrupt, "mistaken": SystemError}[sys.argv[1]]

run(os.environ.get("STAGE", "train"), work)
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder in which a stage finds its settings."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/catalog").symlink_to(CHECKOUT / "data/catalog")
    (tmp_path / "params.yaml").write_bytes((CHECKOUT / "params.yaml").read_bytes())
    (tmp_path / "stage.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    for name in ("DVC_ROOT", "DVC_STAGE", "DVC_EXP_NAME", "GRANDPLUS_ROOT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def ran(checkout, *arguments, **environment):
    """Exit code, output and errors of a stage."""
    with python(checkout / "stage.py", *arguments, **environment) as process:
        return process.wait(), *process.communicate()


def test_a_stage_gets_its_settings_and_notes_what_it_took(checkout):
    assert ran(checkout) == (0, "pubmed None\n", "")
    assert '"train"' in (checkout / "reports/resources.json").read_text()


def test_the_root_is_the_checkout_that_dvc_names(checkout):
    assert ran(checkout, DVC_ROOT="/main")[1] == "pubmed /main\n"
    assert ran(checkout, DVC_ROOT="/main", GRANDPLUS_ROOT="/own")[1] == "pubmed /own\n"


@pytest.mark.parametrize(("started_by", "tied"), [("dvc", True), ("hand", False)])
def test_a_stage_is_tied_to_dvc_alone(monkeypatch, started_by, tied):
    asked = []
    monkeypatch.setattr(stage, "end_with_starter", lambda: asked.append(True))
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.delenv("DVC_STAGE", raising=False)
    if started_by == "dvc":
        monkeypatch.setenv("DVC_STAGE", "train")
    stage._follow_dvc()
    assert bool(asked) == tied


def test_a_wrong_setting_ends_a_stage_before_its_work(checkout):
    file = checkout / "params.yaml"
    file.write_text(file.read_text().replace("  top_k: null", "  top_k: 0", 1))
    code, out, errors = ran(checkout)
    assert (code, out) == (2, "")
    assert errors == "error: params.yaml: gfpush.top_k is 0; expected greater than or equal to 1\n"


def test_ctrl_c_says_that_finished_work_is_kept(checkout):
    code, _, errors = ran(checkout, "interrupted")
    assert code == 130
    assert errors == "train was interrupted; finished work is kept, so running it again goes on from there\n"


@pytest.mark.parametrize(
    ("last", "experiment", "told"), [("evaluate", "cora", True), ("train", "cora", False), ("evaluate", "", False)]
)
def test_an_experiment_says_at_its_end_how_to_set_gits_identity(checkout, last, experiment, told):
    nobody = {"HOME": str(checkout), "XDG_CONFIG_HOME": str(checkout), "GIT_CONFIG_GLOBAL": os.devnull}
    nobody |= {"GIT_CONFIG_NOSYSTEM": "1", "STAGE": last} | ({"DVC_EXP_NAME": experiment} if experiment else {})
    code, _, errors = ran(checkout, **nobody)
    assert (code, errors) == (0, f"{NOTE}\n" if told else "")


def test_a_mistake_of_ours_has_a_traceback(checkout):
    code, _, errors = ran(checkout, "mistaken")
    assert code == 1
    assert errors.startswith("Traceback")


def test_the_exit_code_is_that_of_the_work():
    assert ending(lambda: None) == 0
    assert ending(lambda: 1) == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_in_a_line(capsys, number):
    def fail():
        raise OSError(number, os.strerror(number), "data/rows/x")

    assert ending(fail) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == (
        f"error: data/rows/x: {os.strerror(number)}; "
        "free some, or set GRANDPLUS_SCRATCH to a folder with more room; finished work is kept"
    )


def test_a_mistake_of_ours_is_not_taken_for_an_error_of_the_system():
    def fail():
        raise RuntimeError("dictionary changed size during iteration")

    with pytest.raises(RuntimeError):
        ending(fail)


def test_a_mistake_of_the_user_is_told_in_a_line(capsys):
    def fail():
        raise GrandPlusError("dataset is 'x'", where="params.yaml", expected="a card")

    assert ending(fail) == 2
    assert capsys.readouterr().err == "error: params.yaml: dataset is 'x'; expected a card\n"
