"""data/raw -> data/graph: a checked graph in CSR, normalised features, every trial's split."""

from pathlib import Path

from grandplus.datasets.raw import read
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.folders import checked, output
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run
from grandplus.pipeline.steps import make_graph
from grandplus.runtime.progress import Progress
from grandplus.runtime.storage import key_of

RAW, GRAPH = Path("data/raw"), Path("data/graph")


def work(settings: Settings) -> None:
    used = settings.model_dump(include={"seed", "trials", "preprocess", "expect", "source"})
    key = key_of(**used, raw=checked(RAW))
    with output("preprocess", key, GRAPH) as folder, Progress("preprocess", 3, "step") as steps:
        raw = read(RAW, settings.source, CATALOG)
        steps.update()
        graph, splits = make_graph(raw, settings)
        splits.refuse_half_tested()
        steps.update()
        graph.save(folder)
        splits.save(folder)
        steps.update()


if __name__ == "__main__":
    run("preprocess", work)
