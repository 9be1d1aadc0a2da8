"""Verbs on experiments where there is no Git repository: what lacks is said, and what to do."""

import pytest
from dvc.repo import Repo

from grandplus.pipeline.queue import run_queue
from grandplus.pipeline.repository import open_repo
from grandplus.report.experiments import experiments_table
from grandplus.report.gather import gather
from grandplus.runtime.errors import GrandPlusError


@pytest.fixture
def without_git(tmp_path, monkeypatch):
    """A project of DVC, as a copy of a checkout without its .git is one."""
    monkeypatch.chdir(tmp_path)
    Repo.init(no_scm=True).close()
    return tmp_path


VERBS = [experiments_table, lambda: run_queue(1), lambda: gather(["main"])]


@pytest.mark.parametrize("verb", [*VERBS, lambda: gather([])])
def test_without_git_it_is_said_how_to_get_it(without_git, verb):
    (without_git / ".dvc/config").write_text("")
    with pytest.raises(GrandPlusError, match=r"no Git repository here: .*; work in a clone, or make .*: git init && "):
        verb()


@pytest.mark.parametrize("verb", VERBS)
def test_what_needs_git_is_refused_where_dvc_does_without(without_git, verb):
    with pytest.raises(GrandPlusError, match=r"there is no Git repository here; (work in a clone|name no run)"):
        verb()


def test_a_project_without_git_can_be_opened(without_git):
    with open_repo() as repo:
        assert repo.root_dir == str(without_git)
