"""data/raw -> data/graph: a checked graph in CSR, normalised features, every trial's split."""

from grandplus.datasets.raw import read
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.folders import RAW, output
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run
from grandplus.runtime.progress import Progress


def work(settings: Settings) -> None:
    with output("preprocess", settings) as folder, Progress("preprocess", 3, "step") as steps:
        raw = read(RAW, settings.source, CATALOG)
        steps.update()
        graph, splits = make_graph(raw, settings)
        splits.check_tested()
        steps.update()
        graph.save(folder)
        splits.save(folder)
        steps.update()


if __name__ == "__main__":
    run("preprocess", work)
