"""data/graph -> data/baselines: what cheap classifiers predict right on the splits of this run."""

from grandplus.pipeline.folders import GRAPH, output
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run


def work(settings: Settings) -> None:
    from grandplus.evaluation.baselines.scores import score_baselines  # here, as scikit-learn takes a second
    from grandplus.evaluation.baselines.table import save_scores
    from grandplus.graph.graph import Graph
    from grandplus.graph.splits import Splits

    with output("baselines", settings) as folder:
        graph, splits = Graph.load(GRAPH), Splits.load(GRAPH)
        trials = [splits.of(trial) for trial in range(splits.trials)]
        push, weights = settings.gfpush, settings.matrix.weights()
        save_scores(score_baselines(graph, trials, weights=weights, rmax=push.rmax, top_k=push.top_k), folder)


if __name__ == "__main__":
    run("baselines", work)
