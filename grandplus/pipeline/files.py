"""A dataset's files, by its settings: what the download stage gets."""

from __future__ import annotations

from pathlib import Path

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.fetch.manifest import Manifest
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.settings import Settings


def get_files(settings: Settings, folder: Path) -> None:
    """Fetch a dataset's files, or make them if it is synthetic.

    Parameters
    ----------
    settings : Settings
    folder : Path
        Of the files; it exists.

    Raises
    ------
    GrandPlusError
        No place delivers the files, or what arrives is wrong.
    """
    source = settings.source
    if source.synthetic is None:
        fetch(source, folder, catalog=CATALOG, expect=settings.expect)
        return
    from grandplus.datasets.synthetic import generate  # here, as it compiles kernels

    files = generate(source.synthetic, settings.synthetic.scale, folder)
    Manifest("synthetic", dict.fromkeys(files, "")).save(folder)  # no checksums: nothing was sent
