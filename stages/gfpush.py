"""data/graph -> data/rows: sparse rows of Π for L ∪ U' ∪ validation, shard by shard."""

from pathlib import Path

from grandplus.graph.adjacency import Adjacency
from grandplus.graph.splits import Splits
from grandplus.pipeline.folders import checked, output
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run
from grandplus.pipeline.steps import make_rows
from grandplus.propagation.rows import shards
from grandplus.runtime.progress import progress
from grandplus.runtime.storage import key_of

GRAPH, ROWS = Path("data/graph"), Path("data/rows")


def work(settings: Settings) -> None:
    graph = checked(GRAPH, "indptr.npy", "indices.npy", "splits.parquet")
    adjacency, nodes = Adjacency.load(GRAPH), Splits.load(GRAPH).needing_rows()
    key = key_of(matrix=settings.matrix.model_dump(), push=settings.gfpush.model_dump(), graph=graph)
    with output("gfpush", key, ROWS) as folder:
        total = len(list(shards(len(nodes))))
        for _ in progress(make_rows(settings, adjacency, nodes, folder), "gfpush", total, "shard"):
            pass


if __name__ == "__main__":
    run("gfpush", work)
