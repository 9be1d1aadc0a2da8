"""data/graph, data/model -> data/predictions: class probabilities of all nodes, for each trial."""

from pathlib import Path

from grandplus.pipeline.folders import checked, output
from grandplus.pipeline.settings import Settings
from grandplus.pipeline.stage import run
from grandplus.runtime.environment import device
from grandplus.runtime.storage import key_of

GRAPH, MODEL, PREDICTIONS = Path("data/graph"), Path("data/model"), Path("data/predictions")


def work(_: Settings) -> None:
    from grandplus.pipeline.trials import infer_trials

    key = key_of(device=device(), graph=checked(GRAPH), model=checked(MODEL))
    with output("infer", key, PREDICTIONS) as folder:
        infer_trials(GRAPH, MODEL, folder)


if __name__ == "__main__":
    run("infer", work)
