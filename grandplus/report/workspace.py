"""What lies in this checkout beside its results: notes for those who only ask for results."""

from __future__ import annotations

from grandplus.pipeline.card import PARAMS
from grandplus.pipeline.evaluated import check_reports, remarks
from grandplus.runtime.errors import GrandPlusError


def notes_on_workspace() -> list[str]:
    """What is of another run than the reports; or that the settings are such that no run would begin.

    Returns
    -------
    list of str
        A sentence for each; none if it is all one run.

    Raises
    ------
    ArtifactError
        A file of the reports is missing, damaged, or of another run than the others.
    """
    check_reports()
    try:
        return remarks()
    except GrandPlusError as error:
        return [f"a run would be refused now: {error}; if -S has set it, git checkout {PARAMS} takes it back"]
