"""Get the dataset's files, checked, into data/raw; or make them."""

from pathlib import Path

from grandplus.datasets.fetch import fetch
from grandplus.datasets.manifest import Manifest
from grandplus.scratch import key_of
from grandplus.settings import CATALOG, Settings
from stages.common import run
from stages.folders import output

RAW = Path("data/raw")


def work(settings: Settings) -> None:
    key = key_of(source=settings.source.model_dump(), scale=settings.synthetic.scale)
    with output("download", key, RAW) as folder:
        get(settings, folder)


def get(settings: Settings, folder: Path) -> None:
    """The files themselves, into an existing folder."""
    source = settings.source
    if source.synthetic is None:
        fetch(source, folder, catalog=CATALOG, expect=settings.expect)
    else:
        from grandplus.datasets.synthetic import generate

        files = generate(source.synthetic, settings.synthetic.scale, folder)
        Manifest("synthetic", dict.fromkeys(files, "")).save(folder)  # no checksums: nothing was sent


if __name__ == "__main__":
    run("download", work)
