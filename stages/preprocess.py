"""data/raw -> data/graph: a checked graph in CSR, normalised features, every trial's split."""

from pathlib import Path

from grandplus.datasets.raw import read
from grandplus.preprocess import preprocess
from grandplus.progress import Progress
from grandplus.scratch import key_of
from grandplus.settings import CATALOG, Settings
from stages.common import run
from stages.folders import checked, output

RAW, GRAPH = Path("data/raw"), Path("data/graph")


def work(settings: Settings) -> None:
    used = settings.model_dump(include={"seed", "trials", "preprocess", "expect", "source"})
    key = key_of(**used, raw=checked(RAW))
    with output("preprocess", key, GRAPH) as folder, Progress("preprocess", 3, "step") as steps:
        raw = read(RAW, settings.source, CATALOG)
        steps.update()
        graph, splits = preprocess(raw, settings)
        splits.refuse_half_tested()
        steps.update()
        graph.save(folder)
        splits.save(folder)
        steps.update()


if __name__ == "__main__":
    run("preprocess", work)
