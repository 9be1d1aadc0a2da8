"""A dataset's files, by its settings: what the download stage gets."""

from __future__ import annotations

from pathlib import Path

from grandplus.datasets.fetch.fetch import Report, fetch
from grandplus.datasets.fetch.manifest import Manifest
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.folders import folder_of_growth
from grandplus.pipeline.settings import Settings


def get_files(settings: Settings, folder: Path, report: Report = print) -> None:
    """Fetch a dataset's files, or make them if it is synthetic; and fetch those of nodes and edges that came later.

    Parameters
    ----------
    settings : Settings
    folder : Path
        Of the files; it exists.
    report : callable
        Is given a line for each file that is fetched.

    Raises
    ------
    GrandPlusError
        No place delivers the files, or what arrives is wrong.
    """
    source = settings.source
    if source.synthetic is None:
        fetch(source, folder, catalog=CATALOG, expect=settings.expect, report=report)
    else:
        from grandplus.datasets.synthetic import generate  # here, as it compiles kernels

        files = generate(source.synthetic, settings.synthetic.scale, folder)
        Manifest("synthetic", dict.fromkeys(files, "")).save(folder)  # no checksums: nothing was sent
    for number, later in enumerate(source.later):
        (target := folder_of_growth(folder, number)).mkdir()
        fetch(later, target, catalog=CATALOG, report=report)
