"""Get the dataset's files, checked, into data/raw; or make them."""

from grandplus.pipeline.files import get_files
from grandplus.pipeline.folders import output
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run


def work(settings: Settings) -> None:
    with output("download", settings) as folder:
        get_files(settings, folder)


if __name__ == "__main__":
    run("download", work)
