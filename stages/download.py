"""Get the dataset's files, checked, into data/raw; or make them."""

from pathlib import Path

from grandplus.pipeline.folders import output
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run
from grandplus.pipeline.steps import get_files
from grandplus.runtime.storage import key_of

RAW = Path("data/raw")


def work(settings: Settings) -> None:
    key = key_of(source=settings.source.model_dump(), scale=settings.synthetic.scale)
    with output("download", key, RAW) as folder:
        get_files(settings, folder)


if __name__ == "__main__":
    run("download", work)
