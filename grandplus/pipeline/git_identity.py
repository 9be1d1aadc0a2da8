"""Who commits: DVC needs a name and an e-mail address of Git for an experiment in a changed workspace."""

from __future__ import annotations

import os
import shutil
import subprocess

NOTE = (
    "note: Git knows no user.name or no user.email, without which dvc exp run can't start in a changed workspace; "
    "set them: git config user.name 'Your Name' && git config user.email you@example.org"
)


def identity_note() -> str:
    """What to tell about Git's identity.

    Returns
    -------
    str
        The commands that set it; empty where it is set, or where there is no Git.
    """
    return "" if shutil.which("git") is None or _is_set() else NOTE


def _is_set() -> bool:
    """Whether DVC finds a name and an address for both roles: in the environment, else in Git's configuration."""
    return all(
        os.environ.get(f"GIT_{role}_{key.upper()}") or _configured(f"user.{key}")
        for role in ("AUTHOR", "COMMITTER")
        for key in ("name", "email")
    )


def _configured(key: str) -> bool:
    done = subprocess.run(["git", "config", "--get", key], capture_output=True, text=True)
    return done.returncode == 0 and bool(done.stdout.strip())
