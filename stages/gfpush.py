"""data/graph -> data/rows: sparse rows of Π for L ∪ U' ∪ validation, shard by shard."""

from pathlib import Path

from grandplus.graph import Adjacency
from grandplus.progress import progress
from grandplus.propagation.rows import shards
from grandplus.propagation.weights import weights
from grandplus.scratch import key_of
from grandplus.settings import Settings
from grandplus.splits import Splits
from stages.common import run
from stages.folders import checked, output

GRAPH, ROWS = Path("data/graph"), Path("data/rows")


def work(settings: Settings) -> None:
    from grandplus.propagation.shards import write_shards

    push, matrix = settings.gfpush, settings.matrix
    graph = checked(GRAPH, "indptr.npy", "indices.npy", "splits.parquet")
    adjacency, nodes = Adjacency.load(GRAPH), Splits.load(GRAPH).needing_rows()
    key = key_of(matrix=matrix, push=push.model_dump(), graph=graph)
    w = weights(matrix, order=push.order, alpha=push.alpha, custom=push.weights)
    with output("gfpush", key, ROWS) as folder:
        made = write_shards(adjacency, nodes, folder, weights=w, rmax=push.rmax, top_k=push.top_k, matrix=matrix)
        total = len(list(shards(len(nodes))))
        for _ in progress(made, "gfpush", total, "shard"):
            pass


if __name__ == "__main__":
    run("gfpush", work)
