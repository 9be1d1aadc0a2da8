"""data/graph, data/model -> data/predictions: class probabilities of all nodes, for each trial."""

from grandplus.pipeline.finished import finished_predictions
from grandplus.pipeline.folders import GRAPH, MODEL, output
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run
from grandplus.runtime.environment import device


def work(settings: Settings) -> None:
    from grandplus.pipeline.inference import infer_trials

    with output("infer", settings, device=device()) as folder:
        finished = finished_predictions(GRAPH, MODEL, settings, device())
        infer_trials(GRAPH, MODEL, folder, decision=settings.infer.decision, finished=finished)


if __name__ == "__main__":
    run("infer", work)
