"""Get the dataset's files, checked, into data/raw."""

from pathlib import Path

from grandplus.datasets.fetch import fetch
from grandplus.scratch import key_of, scratch
from grandplus.settings import CATALOG, Settings
from stages.common import run

RAW = Path("data/raw")


def work(settings: Settings) -> None:
    with scratch("download", key_of(source=settings.source.model_dump()), RAW) as folder:
        fetch(settings.source, folder, catalog=CATALOG, expect=settings.expect)


if __name__ == "__main__":
    run("download", work)
