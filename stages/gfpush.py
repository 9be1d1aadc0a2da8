"""data/graph -> data/rows: sparse rows of Π for the nodes that the method trains on or validates, shard by shard."""

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.splits import Splits
from grandplus.pipeline.folders import GRAPH, output
from grandplus.pipeline.rows import make_rows
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run
from grandplus.propagation.rows import shards
from grandplus.runtime.progress import progress


def work(settings: Settings) -> None:
    with output("gfpush", settings) as folder:
        if not settings.needs_rows:
            print(f"gfpush: {settings.model} needs no rows of Π; matrix has an effect on baselines alone", flush=True)
            return  # an empty list of files stays in the folder
        adjacency = Adjacency.load(GRAPH)
        nodes = Splits.load(GRAPH).needing_rows(unlabelled=settings.train.uses_unlabelled)
        total = len(list(shards(len(nodes))))
        for _ in progress(make_rows(settings, adjacency, nodes, folder), "gfpush", total, "shard"):
            pass


if __name__ == "__main__":
    run("gfpush", work)
