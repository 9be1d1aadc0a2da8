"""DVC's repository of this checkout, and the Git repository that its experiments are commits of."""

from __future__ import annotations

from dvc.exceptions import NotDvcRepoError
from dvc.repo import Repo
from dvc.scm import NoSCM, SCMError

from grandplus.runtime.errors import GrandPlusError

NEW_REPOSITORY = "work in a clone, or make a repository: git init && git add . && git commit -m begin"


def open_repo() -> Repo:
    """The repository of the current folder; to be closed, as by ``with``.

    Raises
    ------
    GrandPlusError
        There is none, or none of Git, and DVC isn't told to do without.
    """
    try:
        return Repo()
    except NotDvcRepoError as error:
        raise GrandPlusError(f"{error}", fix="run from the top of the checkout") from None
    except SCMError as error:
        raise GrandPlusError(f"there is no Git repository here: {error}", fix=NEW_REPOSITORY) from None


def check_git(repo: Repo, fix: str = f"{NEW_REPOSITORY}; and dvc config core.no_scm false") -> None:
    """Refuse what needs Git, where DVC is told to do without.

    Parameters
    ----------
    repo : Repo
    fix : str
        What to do.

    Raises
    ------
    GrandPlusError
    """
    if isinstance(repo.scm, NoSCM):
        raise GrandPlusError("there is no Git repository here", fix=fix)
