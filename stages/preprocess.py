"""data/raw -> data/graph: a checked graph in CSR, normalised features, every trial's split."""

from pathlib import Path

from grandplus.datasets.raw import read
from grandplus.preprocess import preprocess
from grandplus.scratch import key_of
from grandplus.settings import CATALOG, Settings
from stages.common import run
from stages.folders import checked, output

RAW, GRAPH = Path("data/raw"), Path("data/graph")


def work(settings: Settings) -> None:
    used = settings.model_dump(include={"seed", "trials", "preprocess", "expect", "source"})
    with output("preprocess", key_of(**used, raw=checked(RAW)), GRAPH) as folder:
        graph, splits = preprocess(read(RAW, settings.source, CATALOG), settings)
        splits.refuse_untested()
        graph.save(folder)
        splits.save(folder)


if __name__ == "__main__":
    run("preprocess", work)
