"""Whether Git knows who commits, by the same places that DVC looks at."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grandplus.pipeline.git_identity import NOTE, identity_note


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository without an identity, on a machine without one."""
    for name in [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER", "EMAIL"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)


def for_dvc() -> bool:
    """Whether DVC, too, finds an identity: in a process of its own, as libgit2 looks for the home folder only once."""
    look = "from scmrepo.git import Git; print(Git().backends['pygit2'].committer.name)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True)
    assert done.returncode == 0 or "SCMError" in done.stderr, done.stderr
    return done.returncode == 0


def test_the_commands_of_the_note_set_it(repository):
    assert identity_note() == NOTE
    assert not for_dvc()
    subprocess.run(NOTE.partition("set them: ")[2], shell=True, check=True)
    assert identity_note() == ""
    assert for_dvc()


def test_the_environment_may_have_it(repository, monkeypatch):
    for role in ("AUTHOR", "COMMITTER"):
        assert identity_note() == NOTE
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@example.org")
    assert identity_note() == ""
    assert for_dvc()
